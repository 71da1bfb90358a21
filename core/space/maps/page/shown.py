"""What the Map page stands on: the dataset, the variants' spaces, and the maps as far as they are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.base import Dataset
from core.errors import BlindspotError
from core.figures.theme import Scheme, Style
from core.numerics.neighbours.exact import ExactIndex
from core.numerics.similarity import Metric
from core.runs import spaces
from core.runs.spaces import Space
from core.space.maps import maps
from core.space.maps.maps import Map, MapRequest, Method, NoMap
from core.types import Variant
from core.ui import gone
from core.ui.markdown import as_text
from core.ui.pickers import Picks
from core.ui.resources import cached, load, repository, scheme, settings
from core.ui.variant_looks import variant_styles
from core.ui.widgets.work import encode_button, fetch_button

MOST_VARIANTS = 4
MOST_KEPT = 64  # maps in memory: half a megabyte each
FIRST_VARIANT = Variant("minilm", "none")  # what an empty store is offered


@dataclass(frozen=True, eq=False)
class Ground:
    """The spaces that are drawn, over the same items."""

    picks: Picks
    dataset: Dataset
    spaces: tuple[Space, ...]
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def metric(self) -> Metric:
        return Metric(self.picks.metric)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A space with its map; ``map`` is None, and ``why`` says why, where it cannot be drawn.

    ``request`` is what was made: PCA stands in for a UMAP that is not computed yet.
    """

    space: Space
    request: MapRequest
    map: Map | None
    why: str = ""

    @property
    def variant(self) -> Variant:
        return self.space.variant


def gather(picks: Picks) -> Ground | None:
    """The spaces; None, having said why and offered the button, where there is nothing to draw yet."""
    try:
        entry = datasets.find(picks.dataset)
        state = fetch.dataset_state(entry, settings())
        if state in {fetch.DataState.MISSING, fetch.DataState.CORRUPT}:
            st.info(f"The files of {as_text(entry.title)} are not on this machine: {as_text(entry.size)}.")
            fetch_button("Download", f"Download of {entry.title}", entry.id, key="map_fetch")
            return None
        dataset = load(entry)
        found = _open(picks, dataset)
    except BlindspotError as error:
        st.error(as_text(str(error)), icon=":material/report:")
        return None
    if not found:
        return None
    if len(found[0].items) < len(dataset.items):
        st.caption(
            f"The {len(found[0].items):,} of {len(dataset.items):,} items for which every shown encoder has a vector."
        )
    return Ground(picks, dataset, found, variant_styles(space.variant for space in found), scheme())


def _open(picks: Picks, dataset: Dataset) -> tuple[Space, ...]:
    """The spaces of the picked variants, or of the first few that are encoded; what is not encoded is offered."""
    wanted: Sequence[Variant] = picks.variants or repository().variants() or [FIRST_VARIANT]
    found = gone.encoded(wanted, dataset, told=bool(picks.variants))
    encoded = [variant for variant, is_here in found.items() if is_here]
    lacking = list(dict.fromkeys(variant.encoder for variant, is_here in found.items() if not is_here))
    shown = encoded[:MOST_VARIANTS]
    if lacking and (picks.variants or not encoded):
        offered = lacking if picks.variants else lacking[:1]
        text, button = st.columns([4, 1], vertical_alignment="center")
        text.info(as_text(f"{dataset.id} is not encoded by {', '.join(offered)} yet: {len(dataset.items):,} texts."))
        with button:
            encode_button("Encode", offered, dataset.id, key="map_encode")
    if len(encoded) > len(shown):
        st.caption(f"The first {len(shown)} of {len(encoded)} variants that are encoded; pick others in the sidebar.")
    return spaces.open_spaces(shown, dataset, settings()) if shown else ()


def draw(ground: Ground, requests: Sequence[MapRequest]) -> tuple[list[Drawn], list[MapRequest]]:
    """The maps as far as they are made, and the UMAPs that are still to be made, for which PCA stands in."""
    out, missing = [], []
    with st.spinner("Drawing the maps …", show_time=False):
        for space, wanted in zip(ground.spaces, requests, strict=True):
            request, found = wanted, _found(wanted, space)
            try:
                if found is None:
                    maps.check_count(wanted, len(space.items))
                    request = _stand_in(wanted)
                    found = _found(request, space) or maps.principal(request, space, settings())
                    if wanted.method is Method.UMAP:
                        missing.append(wanted)
                out.append(Drawn(space, request, found))
            except NoMap as reason:
                out.append(_without(space, wanted, reason))
            except BlindspotError as error:
                out.append(Drawn(space, wanted, None, str(error)))
    return out, missing


def _stand_in(wanted: MapRequest) -> MapRequest:
    return MapRequest(wanted.variant, wanted.dataset, wanted.metric, Method.PCA, wanted.among, wanted.most)


def _without(space: Space, wanted: MapRequest, reason: NoMap) -> Drawn:
    """PCA of what there is where there are too few items for UMAP, and the reason in any case."""
    if wanted.method is Method.UMAP:
        try:
            return Drawn(space, _stand_in(wanted), maps.principal(_stand_in(wanted), space, settings()), str(reason))
        except NoMap as deeper:
            return Drawn(space, wanted, None, str(deeper))
    return Drawn(space, wanted, None, str(reason))


def _found(request: MapRequest, space: Space) -> Map | None:
    """A finished map; kept, since it never changes."""
    key = request.key(space)
    kept = _kept()
    if key not in kept and (found := maps.find(request, space, settings())):
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[key] = found
    return kept.get(key)


@cached(1, shared=True)
def _kept() -> dict[str, Map]:
    return {}


@cached(8, "Preparing the search for neighbours …", shared=True)
def index_of(space: Space, metric: Metric) -> ExactIndex:
    """All items of a space, ready to be asked for neighbours."""
    return ExactIndex(space.vectors, metric)
