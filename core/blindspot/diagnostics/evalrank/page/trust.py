"""View *trust* of the EvalRank page: effects of each choice of counting, and overlap with a training set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig
from streamlit.runtime.uploaded_file_manager import UploadedFile

from blindspot.datasets import training_overlap
from blindspot.datasets.catalog import DatasetEntry
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.training_overlap import TrainingSet
from blindspot.diagnostics.evalrank.definition import CANDIDATES
from blindspot.diagnostics.evalrank.figures.choices import choices_table
from blindspot.diagnostics.evalrank.page import comparability
from blindspot.diagnostics.evalrank.page.evalrank_view import BY_RUNS, EvalRankView
from blindspot.diagnostics.evalrank.page.pairs import encode_again
from blindspot.diagnostics.evalrank.pairs import PairTable
from blindspot.diagnostics.evalrank.trust import Choice, as_toolkit, with_other_candidates
from blindspot.diagnostics.evalrank.view import (
    STS_BENCHMARK,
    Others,
    OverlapView,
    TrustView,
    overlap_view,
    ranked_again,
    sts_benchmark,
    trust_view,
)
from blindspot.errors import BlindspotError
from blindspot.files.tables import MAX_ROWS
from blindspot.numerics.statistics.written import CHANGE, SCORE, number, percent
from blindspot.policy import MOST_NAMED
from blindspot.runs import requesting
from blindspot.runs.embeddings import EmbeddingsGone
from blindspot.store.records import RunRecord
from blindspot.ui.boundary import redraw_page
from blindspot.ui.headline import subject_first
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import DEFAULT_PROTOCOL, PROTOCOLS
from blindspot.ui.resources import allowed, cached, explained, on_disk, repository, scheme, settings
from blindspot.ui.turns import for_reader
from blindspot.ui.widgets import dataset_offer, tables
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

TOOLKIT = PROTOCOLS[1]
AMONG_MATCHES = "among matches only, without other queries and background as candidates"
_FORGOTTEN = "_training_forgotten"  # digest of the training set that the reader does not want to be warned of
UPLOADED, ON_SERVER = "upload a file", "a file on the server"


def show(shown: EvalRankView) -> None:
    run = _run(shown)
    others = Others.of(run, repository())
    view = _stored(run, shown.pairs, shown.filtered, others)
    try:
        view = view.with_choices(_ranked_again(run, shown.filtered))
    except EmbeddingsGone as gone:
        encode_again(gone, run, key="trust_again")
    st.html(choices_table(view.choices, scheme(), "What each choice does to the score"))
    st.caption("Δ: difference from the first row, the score shown above.")
    _both_candidates(shown, view)
    comparability.coverage_notes([run])
    _not_computed(shown, run, others)
    _why_published_numbers_differ(run, others.protocol)
    st.subheader("Was the model trained on these pairs?", anchor=False)
    _training(shown)


def _run(shown: EvalRankView) -> RunRecord:
    by_variant = {run.plan.variant: run for run in subject_first(shown.runs, shown.picks)}
    variant: Variant = st.selectbox(
        "Model", list(by_variant), format_func=lambda v: v.label, key="trust_of", persist_state="session", width=420
    )
    return by_variant[variant]


@cached(32, keys={**BY_RUNS, Others: lambda others: others.run_ids})
def _stored(run: RunRecord, pairs: PairTable, filtered: bool, others: Others) -> TrustView:
    return trust_view(run, pairs.frame, others, repository(), filtered=filtered)


@cached(64, "Ranking again …")
def _ranked_again(run: RunRecord, filtered: bool) -> list[Choice]:
    return ranked_again(run, settings(), repository(), filtered=filtered)


def _both_candidates(shown: EvalRankView, view: TrustView) -> None:
    score, other = view.choices[0].score, view.of(CANDIDATES.name)
    if other is not None:
        every, matches = (other.score, score) if shown.among_matches else (score, other.score)
        st.markdown(
            f"With all texts as candidates Hits@1 is **{number(every.hits_at_1, SCORE)}** "
            f"(MRR {number(every.mrr, SCORE)}), among matches only "
            f"**{number(matches.hits_at_1, SCORE)}** (MRR {number(matches.mrr, SCORE)})."
        )


def _not_computed(shown: EvalRankView, run: RunRecord, others: Others) -> None:
    """Offer the runs of the choices that are not stored."""
    plan = run.plan
    transform, other = plan.variant.transform, TOOLKIT
    if plan.params["protocol"] == TOOLKIT:
        other, transform = DEFAULT_PROTOCOL, as_toolkit(transform)
    if others.protocol is None:
        text = f"Not computed yet: the score by the protocol *{other}*."
        _offer(text, run, transform, {**plan.params, "protocol": other}, key="trust_protocol")
    if plan.covered_digest and not plan.own_covered and others.covered is None:
        text = "Not computed yet: the score on all texts that this model covers itself."
        _offer(text, run, plan.variant.transform, plan.params, key="trust_covered")
    has_others = shown.among_matches or run.metrics["background"] > shown.pairs.frame["match_no"].nunique()
    if others.candidates is None and has_others:
        text = (
            f"Not computed yet: the score {'with all texts as candidates' if shown.among_matches else AMONG_MATCHES}."
        )
        params = with_other_candidates(plan.params)
        _offer(text, run, plan.variant.transform, params, key="trust_candidates", covered_by=plan.covered_by)


def _offer(
    sentence: str,
    run: RunRecord,
    transform: str,
    params: Mapping[str, str],
    *,
    key: str,
    covered_by: Sequence[str] = (),
) -> None:
    try:
        request = requesting.request(
            run.plan.diagnostic, run.plan.variant.encoder, transform, run.plan.dataset, params, settings(), covered_by
        )
    except BlindspotError as error:
        st.caption(f"{sentence} {as_text(explained(error))}")
        return
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(sentence)
    with button:
        run_button("Compute it", request.label, [request], key=key, primary=False)


def _why_published_numbers_differ(run: RunRecord, other: RunRecord | None) -> None:
    with st.container(border=True, key="why_published"):
        st.markdown("**Why published numbers differ**")
        if other is None:
            st.markdown(
                "Published EvalRank scores come from a toolkit that computes the similarity of the match in a separate "
                "product. It is rounded differently, so a match often outranks itself and loses a rank. Compute both "
                "protocols to see both numbers for this model."
            )
            return
        toolkit, definition = (run, other) if run.plan.params["protocol"] == TOOLKIT else (other, run)
        st.markdown(comparability.both_protocols(toolkit, definition))


# --- overlap with a training set


def _training(shown: EvalRankView) -> None:
    st.markdown(
        "A model may score well on pairs it has been trained on. Add your training data to check for overlap and to "
        "see the score without these pairs."
    )
    training = _training_set(shown)
    if training is None:
        return
    overlap = _overlap(shown.pairs, training)
    _remember(shown, training, overlap)
    m, both, any_text = overlap.pairs, overlap.both, overlap.any_text
    st.markdown(
        f"**{both:,} of {m:,} pairs** ({percent(both / m, 1)}) occur in {as_text(training.name)} ({training.rows:,} "
        f"rows) with both texts in one row; {any_text:,} ({percent(any_text / m, 1)}) with at least one text in any "
        "row."
    )
    if not any_text:
        st.caption("No overlap: the scores above remain.")
        return
    if both == m:
        st.info(
            "All pairs occur in it, so none is left to score. Test the model on other pairs.",
            icon=":material/block:",
        )
        return
    _scores(shown, overlap)
    st.caption(
        "Texts are compared without case, Unicode form, spaces and punctuation. The candidates stay the same; the mean "
        "is over fewer pairs."
    )


def _remember(shown: EvalRankView, training: TrainingSet, overlap: OverlapView) -> None:
    """Keep the overlap with a training set that the reader named, and warn of it at the score."""
    if not allowed().changes or training.name == STS_BENCHMARK:
        return
    folder, digest = settings().training, shown.runs[0].plan.dataset_digest
    is_remembered = training.digest in {kept.digest for kept in training_overlap.remembered(folder, digest)}
    if not is_remembered and training.digest != st.session_state.get(_FORGOTTEN):
        try:
            training_overlap.remember(folder, digest, training, overlap.found)
        except BlindspotError as error:
            st.error(as_text(explained(error)), icon=":material/error:")
            return
        st.rerun()  # the score above says it too
    if overlap.both:
        forget = "Forget this training set" if is_remembered else "Remember it at the score"
        st.button(
            forget, key="training_forget", on_click=_forget, args=(folder, digest, training.digest, is_remembered)
        )


def _forget(folder: Path, dataset_digest: str, digest: str, forget: bool) -> None:
    st.session_state[_FORGOTTEN] = digest if forget else ""
    if forget:
        training_overlap.forget(folder, dataset_digest, digest)
        redraw_page()  # the score above no longer says it


def _training_set(shown: EvalRankView) -> TrainingSet | None:
    """The reader's choice; None without one, or after saying what is wrong with it."""
    ways = []
    sources = dataset_offer.entry_of(shown.picks.dataset)
    if sources is not None and sources.id == "evalrank-sent-sources":
        ways.append(STS_BENCHMARK)
    if allowed().server_files:
        ways += [UPLOADED, ON_SERVER]
    if not ways:
        st.info("Uploads are off in this demo. Run Blindspot on your own machine for this.")
        return None
    way = st.segmented_control("Training set", ways, default=ways[0], required=True, key=f"training_{len(ways)}")
    try:
        if way == STS_BENCHMARK and sources is not None:
            return _built_in(sources)
        return _uploaded() if way == UPLOADED else _on_server()
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        return None


def _built_in(entry: DatasetEntry) -> TrainingSet | None:
    if not dataset_offer.is_here(entry):
        dataset_offer.offer(entry, "How many pairs come from the training part of STS-Benchmark", key="fetch_training")
        return None
    scored = dataset_offer.scored_pairs(entry)
    return None if scored is None else _sts_benchmark(scored)


@cached(4, shared=True)
def _sts_benchmark(scored: ScoredPairs) -> TrainingSet:
    return sts_benchmark(scored)


def _uploaded() -> TrainingSet | None:
    file = st.file_uploader(
        "A .txt file with one text per line (texts of one example separated by tabs), or a .csv, .tsv, .jsonl or "
        f".parquet file with columns of text; at most {MAX_ROWS:,} rows. It is not kept.",
        type=list(training_overlap.FORMATS),
        key="training_file",
    )
    if file is None:
        return None
    header = True
    if file.name.lower().endswith((".csv", ".tsv")):
        header = st.checkbox("The first line names the columns", value=True, key=f"training_header_{file.file_id}")
    return _parsed(file, header)


@cached(2, "Reading the training set …", shared=True)
def _parsed(file: UploadedFile, header: bool) -> TrainingSet:
    return for_reader(training_overlap.parse, Path(file.name), file.getvalue(), header)


def _on_server() -> TrainingSet | None:
    name = st.text_input(
        "Path of a .txt, .csv, .tsv, .jsonl or .parquet on the machine that runs Blindspot",
        key="training_path",
        max_chars=MOST_NAMED,
    )
    if not name.strip():
        return None
    return _read(Path(name.strip()).expanduser())


@cached(2, "Reading the training set …", shared=True, keys={type(Path()): on_disk})
def _read(path: Path) -> TrainingSet:
    return training_overlap.read_file(path)


@cached(8, shared=True, keys={**BY_RUNS, TrainingSet: lambda training: training.digest})
def _overlap(pairs: PairTable, training: TrainingSet) -> OverlapView:
    return overlap_view(pairs, training)


PARTS = {
    "all": "All pairs.",
    "seen": "Pairs with both texts in one row of the training set.",
    "rest": "The other pairs.",
    "no_text": "Pairs with no text in the training set.",
}


def _scores(shown: EvalRankView, overlap: OverlapView) -> None:
    """A row per variant: the score on all pairs, on those in the training set, and on the rest."""
    scores = [{n: part.by(shown.filtered) for n, part in overlap.scores[run.run_id].items()} for run in shown.runs]
    number = st.column_config.NumberColumn
    columns: dict[str, list[Any]] = {"model": [run.plan.variant.label for run in shown.runs]}
    config: dict[str, ColumnConfig] = {}

    def add(name: str, values: list[float], spec: str, about: str) -> None:
        columns[name], config[name] = values, number(format=spec, width=95, help=about)

    for part, about in PARTS.items():
        if any(score[part].pairs for score in scores):
            add(f"MRR {part.replace('_', ' ')}", [score[part].mrr for score in scores], f"%{SCORE}", about)
    less = "The score on the rest minus that on all pairs."
    add("Δ MRR rest", [score["rest"].mrr - score["all"].mrr for score in scores], f"%{CHANGE}", less)
    for part in ("all", "rest"):
        add(f"Hits@1 {part}", [score[part].hits_at_1 for score in scores], f"%{SCORE}", PARTS[part])
    add("Δ Hits@1 rest", [score["rest"].hits_at_1 - score["all"].hits_at_1 for score in scores], f"%{CHANGE}", less)
    tables.draw(columns, key="training_scores", column_config=config)
