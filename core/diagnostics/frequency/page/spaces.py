"""What every view of the Frequency page stands on: the dataset, the variants' spaces, the counts."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.base import Dataset
from core.datasets.word_frequency import Frequencies
from core.diagnostics.frequency.page import counts as frequency_counts
from core.diagnostics.frequency.page.shown import Shown
from core.errors import BlindspotError
from core.runs import spaces
from core.runs.spaces import NotEncoded, Space
from core.transforms.chain import TransformChain
from core.types import Variant
from core.ui import gone
from core.ui.markdown import as_text
from core.ui.pickers import Picks
from core.ui.resources import load, repository, scheme, settings
from core.ui.variant_looks import variant_styles
from core.ui.widgets.work import encode_button, fetch_button

MOST_VARIANTS = 4  # that are shown where none are picked
FIRST_VARIANT = Variant("minilm", "none")  # what an empty store is offered
AS_IT_IS = "nothing"
TRANSFORMS = (AS_IT_IS, "center", "abtt:2", "whiten")


def gather(picks: Picks) -> Shown | None:
    """What the views show; None, having said why and what to do, where it is not there yet."""
    try:
        entry = datasets.find(picks.dataset)
        state = fetch.dataset_state(entry, settings())
        if state in (fetch.DataState.MISSING, fetch.DataState.CORRUPT):
            st.info(f"The files of {as_text(entry.title)} are not here: {entry.size}.", icon=":material/download:")
            fetch_button("Download it", f"Downloading {entry.title}", entry.id, key="frequency_fetch")
            return None
        dataset = load(entry)
        if not (variants := _variants(picks, dataset)):
            return None
        left, right = st.columns(2)
        with left:
            source = frequency_counts.choose()
        with right:
            after = _after(variants)
        frequencies = frequency_counts.frequencies(dataset, entry, source)
        if frequencies is None:
            return None
        found = spaces.open_spaces(list(dict.fromkeys([*variants, *after.values()])), dataset, settings())
    except NotEncoded as missing:
        st.info(as_text(f"Not encoded yet: {entry.size} by {', '.join(missing.encoders)}."))
        encode_button("Encode", missing.encoders, entry.id, key="frequency_encode")
        return None
    except BlindspotError as error:
        st.error(as_text(str(error)))
        return None
    _say_what_is_shown(entry, dataset, found, frequencies)
    return Shown(
        picks,
        entry,
        dataset,
        found,
        frequencies.of(found[0].items),
        after,
        variant_styles(space.variant for space in found),
        scheme(),
    )


def _variants(picks: Picks, dataset: Dataset) -> Sequence[Variant]:
    """The picked variants, else the first ones of the store whose embeddings of the dataset are here; says so. Without
    those whose encoder is gone, which may leave none."""
    if picks.variants:
        return list(gone.encoded(picks.variants, dataset, told=True))
    encoded = [v for v, is_here in gone.encoded(repository().variants(), dataset, told=False).items() if is_here]
    if len(encoded) > MOST_VARIANTS:
        st.caption(f"The first {MOST_VARIANTS} of {len(encoded):,} variants. Pick others in the sidebar.")
    return encoded[:MOST_VARIANTS] or [FIRST_VARIANT]


def _say_what_is_shown(entry: DatasetEntry, dataset: Dataset, found: Sequence[Space], frequencies: Frequencies) -> None:
    """Whose counts they are, and how many items are looked at."""
    items = found[0].items
    parts = [frequencies.about]
    if len(items) < len(dataset.items):
        whose = "all these encoders have" if len({s.variant.encoder for s in found}) > 1 else "the encoder has"
        parts.append(f"Looked at: the {len(items):,} of {len(dataset.items):,} items that {whose} a vector for.")
    if unknown := int((~frequencies.of(items).known).sum()):
        parts.append(f"Left out, since they have no frequency by these counts: {unknown:,} {entry.unit}s.")
    st.caption(as_text(" ".join(parts)))


def _after(variants: Sequence[Variant]) -> dict[Variant, Variant]:
    """Per variant its twin with the transform that the reader adds."""
    added = st.selectbox(
        "Also after",
        TRANSFORMS,
        key="after",
        bind="query-params",
        help="Every variant is shown a second time, with this transform after its own.",
    )
    if added == AS_IT_IS:
        return {}
    twins = {}
    for variant in variants:
        chain = TransformChain.parse(f"{variant.transform}+{added}")
        twin = Variant(variant.encoder, str(chain))
        if chain.steps[-1:] == TransformChain.parse(variant.transform).steps[-1:]:
            continue  # it has been done to this one
        twins[variant] = twin
    return twins
