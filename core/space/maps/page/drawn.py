"""Maps of the page Map; PCA replaces a UMAP that is not computed yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from core.errors import BlindspotError
from core.runs.spaces import Space
from core.space.maps import maps
from core.space.maps.maps import Map, MapRequest, Method
from core.space.page import Opened
from core.types import Variant
from core.ui.resources import settings


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
    """The maps, and the UMAPs that are still to be computed."""
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
                why = str(error)
            out.append(Drawn(space, request if found else wanted, found, why))
    return out, missing
