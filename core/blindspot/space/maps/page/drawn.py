"""The maps: the UMAPs that are computed, or PCA for all models if none is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from blindspot.errors import BlindspotError
from blindspot.runs.spaces import Space
from blindspot.space.maps import maps
from blindspot.space.maps.maps import Map, MapRequest, Method
from blindspot.space.page import Opened
from blindspot.ui.resources import explained, settings
from blindspot.variants import Variant

NOT_YET = "Its UMAP is not computed yet."


@dataclass(frozen=True, eq=False)
class Drawn:
    """A space with its map and the request for it; ``why`` may explain a missing map, or PCA in place of UMAP."""

    space: Space
    request: MapRequest
    map: Map | None
    why: str = ""

    @property
    def variant(self) -> Variant:
        return self.space.variant


def draw(opened: Opened, requests: Sequence[MapRequest]) -> tuple[list[Drawn], list[MapRequest]]:
    """The maps, and the UMAPs that are still to be computed; PCA for all if there is no UMAP yet, since pictures by two
    methods cannot be compared."""
    out, missing = [], []
    with st.spinner("Drawing the maps …", show_time=False):
        for space, wanted in zip(opened.spaces, requests, strict=True):
            request, map_found, why = wanted, maps.find(wanted, space, settings()), ""
            try:
                if map_found is None:
                    request = replace(wanted, method=Method.PCA)
                    map_found = maps.principal(request, space, settings())
                    maps.check_count(wanted, len(space.items))
                    if wanted.method is Method.UMAP:
                        missing.append(wanted)
            except BlindspotError as error:
                why = explained(error)
            out.append(Drawn(space, request if map_found else wanted, map_found, why))
        if missing and any(drawn_map.map and drawn_map.request.method is Method.UMAP for drawn_map in out):
            lacking = {request.variant for request in missing}
            out = [
                replace(drawn_map, request=wanted, map=None, why=NOT_YET) if drawn_map.variant in lacking else drawn_map
                for drawn_map, wanted in zip(out, requests, strict=True)
            ]
    return out, missing
