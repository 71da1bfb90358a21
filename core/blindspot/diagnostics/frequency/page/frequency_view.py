"""Dataset, spaces and counts that all views of the Frequency page share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import DATASETS, DatasetEntry, DatasetRef, title_of
from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.word_frequency import (
    WORDFREQ,
    Frequencies,
    by_vocabulary,
    by_wordfreq,
    of_vocabulary,
    seems_english,
)
from blindspot.errors import BlindspotError
from blindspot.figures.theme import Scheme, Style
from blindspot.runs.spaces import NotEncoded, Space, open_spaces
from blindspot.ui import gone
from blindspot.ui.markdown import as_text
from blindspot.ui.options import asked_for, options
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, explained, load, repository, scheme, settings
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets.addressed import one_named
from blindspot.ui.widgets.work import encode_button, fetch_button
from blindspot.variants import Variant

MOST_VARIANTS = 4  # where none are picked
FIRST_VARIANT = Variant("minilm", "none")  # offered to an empty store
AS_IT_IS = "nothing"
TRANSFORMS = (AS_IT_IS, "center", "abtt:2", "whiten")
AUTO = "auto"  # defaults never enter the address, so it must never change


@dataclass(frozen=True, eq=False)
class FrequencyView:
    """Contents of a view.

    Attributes:
        entry: of the dataset; ``entry.unit`` is what one item is called.
        spaces: one per variant, all over the same k items (``spaces[0].items``), those before a transform first.
        frequencies: ``[k]``, row i for item ``spaces[0].items[i]``; NaN if the counts do not have the item.
        after: the post-processed copy of each variant that has one; its space is in ``spaces``.
    """

    picks: Picks
    entry: DatasetEntry
    dataset: Dataset
    spaces: Sequence[Space]
    frequencies: Frequencies
    after: Mapping[Variant, Variant]
    styles: Mapping[Variant, Style]
    scheme: Scheme

    @property
    def key(self) -> tuple[str, ...]:
        """Identifies the content for a cache."""
        return (*(space.digest for space in self.spaces), self.frequencies.digest)


def gather(picks: Picks) -> FrequencyView | None:
    """The view's contents; None if something is missing, which the page then offers to get."""
    try:
        entry = picks.dataset.entry()
        if not _has_files(entry):
            st.info(f"The files of {as_text(entry.title)} are not here: {entry.size}.", icon=":material/download:")
            fetch_button("Download it", f"Downloading {title_of(entry.id)}", entry.id, key="frequency_fetch")
            return None
        dataset = load(entry)
        if not (variants := _variants(picks, dataset)):
            return None
        with options():
            source = _pick_counts()
            after = _pick_transform(variants)
        frequencies = _frequencies(dataset, entry, source)
        if frequencies is None:
            return None
        if frequencies.source == WORDFREQ and not seems_english(dataset.items, frequencies.zipf):
            st.caption(
                ":material/warning: These texts seem not to be English, but the frequencies are those of English "
                "words: choose other counts under *Options*."
            )
        spaces = open_spaces(list(dict.fromkeys([*variants, *after.values()])), dataset, settings())
    except NotEncoded as missing:
        st.info(as_text(f"Not encoded yet: {entry.size} by {', '.join(missing.encoders)}."))
        encode_button("Encode", missing.encoders, entry.id, key="frequency_encode")
        return None
    except BlindspotError as error:
        st.error(as_text(explained(error)))
        return None
    items = spaces[0].items
    counts = frequencies.of(items)
    parts = [frequencies.about]
    if len(items) < len(dataset.items):
        whose = "all these models have" if len({s.variant.encoder for s in spaces}) > 1 else "the model has"
        parts.append(f"Only the {len(items):,} of {len(dataset.items):,} items that {whose} a vector for.")
    if unknown := int((~counts.known).sum()):
        parts.append(f"Left out, without a known frequency: {unknown:,} {entry.unit}s.")
    with options():
        st.caption(as_text(" ".join(parts)))
    styles = variant_styles(space.variant for space in spaces)
    return FrequencyView(picks, entry, dataset, spaces, counts, after, styles, scheme())


def _has_files(entry: DatasetEntry) -> bool:
    state = fetch.dataset_state(entry, settings())
    return state not in (fetch.DataState.MISSING, fetch.DataState.CORRUPT)


def _variants(picks: Picks, dataset: Dataset) -> Sequence[Variant]:
    """The picked variants, else the first stored ones that have embeddings of the dataset here. Variants of an encoder
    that is gone are left out, so there may be none."""
    if picks.variants:
        return list(gone.encoded(picks.variants, dataset, are_picked=True))
    references = gone.encoded(repository().variants(), dataset, are_picked=False)
    encoded = picks.subject_first(asked_for(picks, (variant for variant, is_here in references.items() if is_here)))
    if len(encoded) > MOST_VARIANTS:
        st.caption(f"The first {MOST_VARIANTS} of {len(encoded):,} models. Pick others under Models.")
    return encoded[:MOST_VARIANTS] or [FIRST_VARIANT]


def _pick_transform(variants: Sequence[Variant]) -> dict[Variant, Variant]:
    """A copy of each variant with the transform that the reader adds."""
    added = st.selectbox(
        "Compare with post-processing",
        TRANSFORMS,
        key="after",
        format_func=lambda added: "none" if added == AS_IT_IS else added,
        bind="query-params",
        help="Shows every model a second time, with this post-processing after its own.",
    )
    copies: dict[Variant, Variant] = {}
    for variant in variants if added != AS_IT_IS else ():
        chain = Variant(variant.encoder, f"{variant.transform}+{added}").chain
        if chain.steps[-1:] != variant.chain.steps[-1:]:  # not transformed so already
            copies[variant] = Variant(variant.encoder, str(chain))
    return copies


# --- counts


def _pick_counts() -> str:
    """The id of a source of counts; ``AUTO`` is the dataset's own counts where it has some, else wordfreq."""
    catalogued = [e.id for e in DATASETS.values() if e.kind is DatasetKind.VOCABULARY and e.files]
    uploaded = [u.reference for u in uploads.found(settings()) if u.kind is DatasetKind.VOCABULARY]
    chosen = one_named(
        "Counts from",
        [AUTO, WORDFREQ, *catalogued, *uploaded],
        index=0,
        key="counts",
        name=lambda source: source if source in (AUTO, WORDFREQ) else title_of(source),
        help="Source of word frequencies: wordfreq, a vocabulary of the page *Data*, or your own upload (columns word "
        "and count). auto: the dataset's own counts if it has any, else wordfreq.",
    )
    return str(chosen)


def _frequencies(dataset: Dataset, entry: DatasetEntry, source: str) -> Frequencies | None:
    """Frequencies of all items of a dataset; None, with an offer to download the counts, if these are not here.

    Raises:
        BlindspotError: the counts cannot be read, or have none of the items.
    """
    if isinstance(dataset, Vocabulary) and source in (AUTO, entry.id):
        return _of_vocabulary(dataset, f"Frequencies are the dataset's own. {entry.description}")
    if source in (AUTO, WORDFREQ):
        frequencies = _by_wordfreq(dataset)
    else:
        counted = DatasetRef(source).entry()
        if not _has_files(counted):
            st.info(f"The counts of {as_text(counted.title)} are not on this machine yet.", icon=":material/download:")
            fetch_button("Download", f"Download of {counted.title}", counted.id, key="frequency_fetch_counts")
            return None
        vocabulary = load(counted)
        if not isinstance(vocabulary, Vocabulary):
            raise BlindspotError(f"'{counted.id}' has no counts", expected=f"a {DatasetKind.VOCABULARY}")
        frequencies = _by_vocabulary(dataset, vocabulary, counted)
    if not frequencies.known.any():
        raise BlindspotError(
            f"none of the {len(dataset.items):,} items has a frequency by these counts", remedy="choose other counts"
        )
    return frequencies


_of_vocabulary = cached(4, shared=True)(of_vocabulary)
_by_wordfreq = cached(8, "Looking frequencies up …", shared=True)(by_wordfreq)


@cached(8, "Looking frequencies up …", shared=True)
def _by_vocabulary(dataset: Dataset, vocabulary: Vocabulary, entry: DatasetEntry) -> Frequencies:
    about = (
        f"Frequencies are those of {entry.title} ({entry.size}); items that it lacks are left out. Of a text of "
        "several words it is the mean Zipf frequency (log10 of occurrences per billion) of those that it has."
    )
    return by_vocabulary(dataset, vocabulary, about)
