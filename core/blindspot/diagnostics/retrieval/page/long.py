"""The view *long* of the page Retrieval: the place of the answer in a passage, and the length of unrelated ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval.long_texts import evidence
from blindspot.diagnostics.retrieval.long_texts.arranged import LENGTHS, NOTHING_TO_MOVE, Arrangement
from blindspot.diagnostics.retrieval.long_texts.definition import CHANGES, ENTRY, FEW, LATER, LONGER, TEST
from blindspot.diagnostics.retrieval.page.retrieval_view import RetrievalView
from blindspot.encoders.catalog import passages_of
from blindspot.figures.dots import dot, dots
from blindspot.figures.theme import Scheme, Style, ink
from blindspot.numerics.statistics.estimate import Measured
from blindspot.numerics.statistics.written import CHANGE, p_in_words, with_ci
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.runs.same_items import on_same_items
from blindspot.store.records import RunRecord
from blindspot.texts import counted
from blindspot.ui import gone
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, load, repository, settings
from blindspot.ui.variant_looks import variant_styles
from blindspot.ui.widgets import dataset_offer, missing_runs, tables
from blindspot.variants import Variant

COUNTS = ("passages", "cut", "documents", "no_vector", "unmatched", "cosine_first", "mrr_first")
BY_LENGTH = tuple(f"{name}_{n}" for n in LENGTHS for name in ("unrelated", "words"))
ENDS = tuple(f"{name}{end}" for name in CHANGES for end in ("", "_low", "_high"))


def show(shown: RetrievalView) -> None:
    """The models that the page shows."""
    _show([run.plan.variant for run in shown.runs], shown.picks.dataset, shown.scheme)


def show_alone(picks: Picks, scheme: Scheme) -> None:
    """The models of runs of this diagnostic, where there are no scores of retrieval."""
    if runs := missing_runs.stored(ENTRY, picks, picks.dataset, {}):
        _show(list(dict.fromkeys(run.plan.variant for run in runs)), picks.dataset, scheme)


def _show(variants: Sequence[Variant], dataset: DatasetRef, scheme: Scheme) -> None:
    """Both changes of every model with intervals, what it does not read, and the numbers."""
    stored = repository().finished(ENTRY, dataset=dataset, metrics=[*COUNTS, *BY_LENGTH, *ENDS])
    of_variant = {run.plan.variant: run for run in on_same_items(stored, own=True)}
    wanted = [v for v in variants if v.encoder.has_vectors and passages_of(v.encoder) is None]
    if runs := [of_variant[variant] for variant in wanted if variant in of_variant]:
        _changes(runs, scheme)
    if missing := gone.usable([variant for variant in wanted if variant not in of_variant]):
        if not runs and (why := _why_none(dataset)):
            st.info(why, icon=":material/info:")
            return
        with st.container(border=True, key="no_long_texts"):
            what = f"Position and length for {', '.join(v.label for v in missing)} on {tables.dataset_title(dataset)}"
            request = partial(_requests, missing, dataset)
            missing_runs.offer_line(what, "Run it", what, request, key="run_long_texts", primary=not runs)
    if not wanted:
        st.info("Only models that encode whole documents as vectors have this view.")


def _why_none(dataset: DatasetRef) -> str:
    """Why a run would fail, before anybody starts it; "" if nothing speaks against it or the texts are not here."""
    entry = dataset.entry()
    texts = load(entry) if dataset_offer.is_here(entry) else None
    if not isinstance(texts, RetrievalDataset) or _has_passages(texts):
        return ""
    return f"{tables.dataset_title(dataset)} has {NOTHING_TO_MOVE}."


@cached(4, "Splitting documents into sentences …", shared=True)
def _has_passages(texts: RetrievalDataset) -> bool:
    return len(Arrangement.of(texts).queries) > 0


def _requests(variants: Sequence[Variant], dataset: DatasetRef) -> list[RunRequest]:
    return [requesting.request(ENTRY.id, v.encoder, v.transform, dataset, {}, settings()) for v in variants]


def _changes(runs: Sequence[RunRecord], scheme: Scheme) -> None:
    styles = variant_styles(run.plan.variant for run in runs)
    st.markdown("\n".join(map(_sentence, runs)))
    st.subheader("Where the answer is", anchor=False)
    st.plotly_chart(
        _figure(runs, {f"cosine_{where}_change": f"answer {where}" for where in LATER}, styles, scheme, CHANGE),
        key="answer_places",
    )
    st.caption(
        "Cosine of query and passage less that with the answering sentence first, mean over passages. Bars: 95% CI "
        f"over passages, none below {FEW}. p: {TEST}. So with few passages it can be above 0.05 where the interval "
        "leaves out 0. A model that averages words is at 0."
    )
    st.subheader("How long unrelated passages are", anchor=False)
    st.plotly_chart(
        _figure(runs, {f"unrelated_{n}_change": f"{n} sentences" for n in LONGER}, styles, scheme, "+.3f"),
        key="answer_lengths",
    )
    st.caption(
        "Mean cosine of the first sentences of unrelated passages, less that of one sentence of the same passages."
    )
    for run in runs:
        st.caption(as_text(_unread(run)))
    _table(runs)


def _figure(
    runs: Sequence[RunRecord], names: Mapping[str, str], styles: Mapping[Variant, Style], scheme: Scheme, spec: str
) -> object:
    rows = [
        dot(run.plan.variant, title, measured)
        for name, title in names.items()
        for run in runs
        if (measured := _change(run, name)) is not None
    ]
    shown = [title for title in names.values() if any(row["name"] == title for row in rows)]
    figure = dots(rows, styles, scheme, axis="change of the cosine", names=shown, spec=spec)
    figure.add_vline(x=0, line={"color": ink(scheme), "width": 1, "dash": "dot"})
    return figure


def _change(run: RunRecord, name: str) -> Measured | None:
    return ENTRY.measured(run.metrics, name)


def _sentence(run: RunRecord) -> str:
    """What changes when the answer moves from the first to the last place, and whether that can be chance."""
    label = f"- **{as_text(run.plan.variant.label)}**"
    cosine, mrr = (_change(run, f"{name}_last_change") for name in ("cosine", "mrr"))
    if cosine is None or mrr is None:
        return f"{label} reads no passage whole: nothing can be said."
    return (
        f"{label}: with the answer last instead of first, the cosine of query and passage changes by "
        f"{with_ci(cosine, CHANGE)}{_tested(run)}; MRR by {with_ci(mrr, '+.3f')}."
    )


def _tested(run: RunRecord) -> str:
    """The p-value as *Findings* has it before its correction over all findings; it is stricter than the interval."""
    rows = evidence.counts(repository().items(ENTRY, [run.run_id], texts=False))
    _, p = evidence.moved(evidence.passages_of(rows).changes()[evidence.LAST])
    return "" if math.isnan(p) else f", {p_in_words(p)}"


def _unread(run: RunRecord) -> str:
    """Passages that are left out since the model does not read them whole."""
    label, n = run.plan.variant.label, int(run.metrics["passages"])
    text = f"{label}: {counted(n, 'passage')} among {counted(int(run.metrics['documents']), 'document')}"
    most = int(run.manifest.get("encoder", {}).get("max_length", 0))
    if "cut" not in run.metrics:
        return f"{text}; how much of them it reads is not known: a change may be truncation."
    if cut := int(run.metrics["cut"]):
        text += f"; {cut:,} more are left out, whose end it does not read (more than {most:,} tokens)"
    if missing := int(run.metrics["no_vector"]):
        text += f"; {missing:,} without a vector are left out"
    return f"{text}."


def _columns() -> list[tuple[str, str, str, str]]:
    """Title, score, format and help of each column."""
    out = [("passages", "passages", "%d", ""), ("not read whole", "cut", "%d", "Left out")]
    for name, title in (("cosine", "cosine"), ("mrr", "MRR")):
        out.append((f"{title}, first", f"{name}_first", "%.3f", "With the answering sentence first"))
        out += [(f"{title}, {where} less first", f"{name}_{where}_change", "%+.3f", "") for where in LATER]
    for n in LENGTHS:
        what = "the first sentence" if n == 1 else f"the first {n} sentences, of passages with as many"
        out.append((f"unrelated, {n}", f"unrelated_{n}", "%.3f", f"Mean cosine of unrelated passages: {what}"))
        out.append((f"words in {n}", f"words_{n}", "%.0f", f"Mean number of words: {what}"))
    return out


def _table(runs: Sequence[RunRecord]) -> None:
    columns = _columns()
    rows = [
        {"model": run.plan.variant.label, **{title: run.metrics.get(score) for title, score, _, _ in columns}}
        for run in runs
    ]
    formats = {t: st.column_config.NumberColumn(format=form, help=about or None) for t, _, form, about in columns}
    with st.expander("All numbers as a table", icon=":material/table:"):
        tables.draw(rows, key="long_texts_table", placeholder="–", column_config=formats)
