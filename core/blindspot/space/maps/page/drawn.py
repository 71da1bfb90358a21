"""Maps of the page Map; PCA replaces UMAP in all of them until every one is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.runs.spaces import Space
from blindspot.space.maps import maps
from blindspot.space.maps.maps import Map, MapRequest, Method
from blindspot.space.page import Opened
from blindspot.types import Variant
from blindspot.ui.resources import explained, settings


@dataclass(frozen=True, eq=False)
class Drawn:
    """A space with its map, and the request that was made; without a map, or with PCA for UMAP, ``why`` may say why."""

    space: Space
    request: MapRequest
    map: Map | None
    why: str = ""

    @property
    def variant(self) -> Variant:
        return self.space.variant


def draw(opened: Opened, requests: Sequence[MapRequest]) -> tuple[list[Drawn], list[MapRequest]]:
    """The maps, and the UMAPs that are still to be computed; until then all are PCA, since pictures of two methods do
    not compare."""
    out, missing = [], []
    with st.spinner("Drawing the maps …", show_time=False):
        for space, wanted in zip(opened.spaces, requests, strict=True):
            request, found, why = wanted, maps.find(wanted, space, settings()), ""
            try:
                if found is None:
                    request = replace(wanted, method=Method.PCA)
                    found = maps.principal(request, space, settings())
                    maps.check_count(wanted, len(space.items))
                    if wanted.method is Method.UMAP:
                        missing.append(wanted)
            except BlindspotError as error:
                why = explained(error)
            out.append(Drawn(space, request if found else wanted, found, why))
        if missing:
            out = [_as_pca(one) for one in out]
    return out, missing


def _as_pca(one: Drawn) -> Drawn:
    if one.map is None or one.request.method is Method.PCA:
        return one
    request = replace(one.request, method=Method.PCA)
    return replace(one, request=request, map=maps.principal(request, one.space, settings()))
