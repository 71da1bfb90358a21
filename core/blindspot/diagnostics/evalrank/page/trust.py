"""View *trust* of the EvalRank page: effects of each choice of counting, and overlap with a training set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from blindspot.datasets import training_overlap
from blindspot.datasets.catalog import DATASETS, DatasetEntry
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.training_overlap import Overlap, TrainingSet, overlap
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.evalrank.definition import CANDIDATES
from blindspot.diagnostics.evalrank.figures.choices import choices_table
from blindspot.diagnostics.evalrank.further import ranked_pairs, scores_by_group
from blindspot.diagnostics.evalrank.page import comparability
from blindspot.diagnostics.evalrank.page.pairs import encode_again
from blindspot.diagnostics.evalrank.page.shown import BY_RUNS, EvalRankView
from blindspot.diagnostics.evalrank.pairs import MeanScore, PairTable, rows_of_runs
from blindspot.diagnostics.evalrank.trust import (
    BY_GROUP,
    Choice,
    as_toolkit,
    choices,
    other_candidates,
    other_protocol,
    other_support,
    pairs_of,
    score_of_run,
    with_first_items,
    with_other_candidates,
)
from blindspot.errors import BlindspotError
from blindspot.files.tables import MAX_ROWS
from blindspot.policy import MOST_NAMED
from blindspot.runs import requesting
from blindspot.runs.embeddings import ComparedTwice, EmbeddingsGone
from blindspot.store.records import RunRecord
from blindspot.ui.boundary import redraw_page
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import DEFAULT_PROTOCOL, PROTOCOLS
from blindspot.ui.resources import allowed, cached, explained, on_disk, repository, scheme, settings
from blindspot.ui.turns import for_reader
from blindspot.ui.widgets import dataset_offer, tables
from blindspot.ui.widgets.work import run_button
from blindspot.variants import Variant

TOOLKIT = PROTOCOLS[1]
AMONG_MATCHES = "among matches only, without other queries and background as candidates"
STS_TRAIN = "STS-B train"
_FORGOTTEN = "_training_forgotten"  # digest of the training set that the reader does not want to be warned of
BUILT_IN, UPLOADED, ON_SERVER = "STS-Benchmark, training part", "upload a file", "a file on the server"


def show(shown: EvalRankView) -> None:
    run = _run(shown)
    found = _from_rows(shown.entry, run, shown.pairs, shown.filtered)
    found += _among_fewer(shown, run)
    protocol = other_protocol(run, shown.entry, repository())
    candidates = other_candidates(run, shown.entry, repository())
    found += _by_protocol(shown, run, protocol) + _by_support(shown, run) + _by_candidates(shown, candidates)
    found += _by_groups(run)
    st.html(choices_table(found, scheme(), "What each choice does to the score"))
    st.caption("Δ: difference from the first row, the score shown above.")
    _both_candidates(shown, found)
    comparability.coverage_notes([run])
    _not_computed(shown, run, protocol, candidates)
    _why_published_numbers_differ(run, protocol)
    st.subheader("Was the model trained on these pairs?", anchor=False)
    _training(shown)


def _run(shown: EvalRankView) -> RunRecord:
    by_variant = {run.plan.variant: run for run in shown.runs}
    variant: Variant = st.selectbox(
        "Model", list(by_variant), format_func=lambda v: v.label, key="trust_of", persist_state="session", width=420
    )
    return by_variant[variant]


@cached(32, keys=BY_RUNS)
def _from_rows(entry: Diagnostic, run: RunRecord, pairs: PairTable, filtered: bool) -> list[Choice]:
    rows = rows_of_runs(entry, [run.run_id], repository())[run.run_id]
    return choices(rows, pairs_of(rows, pairs.frame), filtered=filtered)


def _among_fewer(shown: EvalRankView, run: RunRecord) -> list[Choice]:
    """The score without the frequent words of the background, if there are any (the paper's table 4)."""
    dataset = DATASETS.get(run.plan.dataset)
    if dataset is None or not dataset.core_texts or run.plan.params["protocol"] != DEFAULT_PROTOCOL:
        return []
    try:
        score = _without_frequent_words(shown.entry, run, shown.filtered, dataset.core_texts)
    except EmbeddingsGone as gone:
        encode_again(gone, run, key="trust_again")
        return []
    except ComparedTwice:
        return []
    return [
        Choice(
            "background",
            "without frequent words",
            score,
            f"Matches compete only with the {dataset.core_texts:,} words of the similarity sets, not with the most "
            "frequent words of English (the ablation in the paper's table 4). Transforms are not refitted.",
        )
    ]


@cached(64, "Ranking among fewer words …")
def _without_frequent_words(entry: Diagnostic, run: RunRecord, filtered: bool, first: int) -> MeanScore:
    return with_first_items(run, first, settings(), repository(), entry).score(filtered)


def _by_groups(run: RunRecord) -> list[Choice]:
    """The score without texts of the same group, per own column of the pairs' file."""
    try:
        scores = _scores_by_group(run)
    except EmbeddingsGone as gone:
        encode_again(gone, run, key="trust_groups_again")
        return []
    except ComparedTwice:
        return []
    return [Choice("groups", name, score, BY_GROUP.format(name=name)) for name, score in scores.items()]


@cached(64, "Ranking by groups …")
def _scores_by_group(run: RunRecord) -> Mapping[str, MeanScore]:
    return scores_by_group(run, *ranked_pairs(run, repository()), settings(), repository())


def _by_protocol(shown: EvalRankView, run: RunRecord, other: RunRecord | None) -> list[Choice]:
    if other is None:
        return []
    score = score_of_run(other, shown.entry, repository(), filtered=shown.filtered)
    label = other.plan.variant.label
    if other.plan.params["protocol"] == TOOLKIT:
        meaning = "As the published toolkit counts: the similarity of the match is rounded differently from all others."
        if as_toolkit(run.plan.variant.transform) != run.plan.variant.transform:
            meaning += " It also always centers the embeddings."
    else:
        meaning = f"By definition, exact and with ties: {label}."
    return [Choice("protocol", other.plan.params["protocol"], score, meaning)]


def _by_support(shown: EvalRankView, run: RunRecord) -> list[Choice]:
    """The score on the other support, where it is stored."""
    if not run.plan.support_digest:
        return []
    other = other_support(run, shown.entry, repository())
    if other is None:
        return []
    c = other.coverage
    items = f"{c['items_covered']:,} of {c['items']:,} texts"
    meaning = (
        f"On all texts that this model covers ({items}); not comparable with other models."
        if other.plan.own_support
        else f"On the texts that all compared models cover ({items})."
    )
    way = "own" if other.plan.own_support else "common"
    return [Choice("support", way, score_of_run(other, shown.entry, repository(), filtered=shown.filtered), meaning)]


def _by_candidates(shown: EvalRankView, other: RunRecord | None) -> list[Choice]:
    if other is None:
        return []
    score = score_of_run(other, shown.entry, repository(), filtered=shown.filtered)
    background = f"{other.metrics['background']:,.0f} texts"
    if shown.among_matches:
        meaning = f"All {background} of the dataset compete, other queries included, as in the paper."
        return [Choice(CANDIDATES.name, "all texts", score, meaning)]
    meaning = f"Only the {background} that are a match of some query compete: neither other queries nor background."
    return [Choice(CANDIDATES.name, "matches only", score, meaning)]


def _both_candidates(shown: EvalRankView, found: Sequence[Choice]) -> None:
    own = next(choice.score for choice in found if choice.is_shown)
    other = next((choice.score for choice in found if choice.about == CANDIDATES.name), None)
    if other is not None:
        every, matches = (other, own) if shown.among_matches else (own, other)
        st.markdown(
            f"With all texts as candidates Hits@1 is **{every.hits_at_1:.4f}** (MRR {every.mrr:.4f}), among matches "
            f"only **{matches.hits_at_1:.4f}** (MRR {matches.mrr:.4f})."
        )


def _not_computed(
    shown: EvalRankView, run: RunRecord, protocol: RunRecord | None, candidates: RunRecord | None
) -> None:
    """Offer the runs of the choices that are not stored."""
    plan = run.plan
    transform, other = plan.variant.transform, TOOLKIT
    if plan.params["protocol"] == TOOLKIT:
        other, transform = DEFAULT_PROTOCOL, as_toolkit(transform)
    if protocol is None:
        said = f"Not computed yet: the score by the protocol *{other}*."
        _offer(said, run, transform, {**plan.params, "protocol": other}, key="trust_protocol")
    if plan.support_digest and not plan.own_support and other_support(run, shown.entry, repository()) is None:
        said = "Not computed yet: the score on all texts that this model covers itself."
        _offer(said, run, plan.variant.transform, plan.params, key="trust_support")
    has_others = shown.among_matches or run.metrics["background"] > shown.pairs.frame["match_no"].nunique()
    if candidates is None and has_others:
        said = (
            f"Not computed yet: the score {'with all texts as candidates' if shown.among_matches else AMONG_MATCHES}."
        )
        params = with_other_candidates(plan.params)
        _offer(said, run, plan.variant.transform, params, key="trust_candidates", support=plan.support)


def _offer(
    said: str,
    run: RunRecord,
    transform: str,
    params: Mapping[str, str],
    *,
    key: str,
    support: Sequence[str] = (),
) -> None:
    try:
        request = requesting.request(
            run.plan.diagnostic, run.plan.variant.encoder, transform, run.plan.dataset, params, settings(), support
        )
    except BlindspotError as error:
        st.caption(f"{said} {as_text(explained(error))}")
        return
    text, button = st.columns([4, 1], vertical_alignment="center")
    text.info(said)
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
    found = _overlap(shown.pairs, training)
    _remember(shown, training, found)
    m, both, any_text = len(found.both), int(found.both.sum()), int(found.any_text.sum())
    st.markdown(
        f"**{both:,} of {m:,} pairs** ({both / m:.1%}) occur in {as_text(training.name)} ({training.rows:,} rows) with "
        f"both texts in one row; {any_text:,} ({any_text / m:.1%}) with at least one text in any row."
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
    _scores(shown, found)
    st.caption(
        "Texts are compared without case, Unicode form, spaces and punctuation. The candidates stay the same; the mean "
        "is over fewer pairs."
    )


def _remember(shown: EvalRankView, training: TrainingSet, found: Overlap) -> None:
    """Keep the overlap with a training set that the reader named, as a warning at the score."""
    if not allowed().changes or training.name == BUILT_IN:
        return
    folder, digest = settings().training, shown.runs[0].plan.dataset_digest
    known = training.digest in {kept.digest for kept in training_overlap.remembered(folder, digest)}
    if not known and training.digest != st.session_state.get(_FORGOTTEN):
        try:
            training_overlap.remember(folder, digest, training, found)
        except BlindspotError as error:
            st.error(as_text(explained(error)), icon=":material/error:")
            return
        st.rerun()  # the score above says it too
    if found.both.any():
        forget = "Forget this training set" if known else "Remember it at the score"
        st.button(forget, key="training_forget", on_click=_forget, args=(folder, digest, training.digest, known))


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
        ways.append(BUILT_IN)
    if allowed().server_files:
        ways += [UPLOADED, ON_SERVER]
    if not ways:
        st.info("Uploads are off in this demo. Run Blindspot on your own machine for this.")
        return None
    way = st.segmented_control("Training set", ways, default=ways[0], required=True, key=f"training_{len(ways)}")
    try:
        if way == BUILT_IN and sources is not None:
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
    return None if scored is None else _part(scored, STS_TRAIN)


@cached(4, shared=True)
def _part(scored: ScoredPairs, part: str) -> TrainingSet:
    return training_overlap.of_scored_pairs(BUILT_IN, scored, part)


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
def _overlap(pairs: PairTable, training: TrainingSet) -> Overlap:
    return overlap(pairs.frame["query"].tolist(), pairs.frame["match"].tolist(), training)


def _scores(shown: EvalRankView, found: Overlap) -> None:
    """A row per variant: the score on all pairs, on those in the training set, and on the rest."""
    rows = rows_of_runs(shown.entry, [run.run_id for run in shown.runs], repository())
    frame = shown.pairs.frame
    every = np.ones(len(found.both), dtype=np.bool_)
    parts = {"all": every, "seen": found.both, "rest": ~found.both, "no text": ~found.any_text}
    parts = {name: part for name, part in parts.items() if part.any()}
    out = []
    for run in shown.runs:
        values = rows[run.run_id].aligned(frame["item_no"].to_numpy(), shown.filtered)
        means = {name: values[part].mean() for name, part in parts.items()}
        out.append(
            {"model": run.plan.variant.label}
            | {f"MRR {name}": mean["mrr"] for name, mean in means.items()}
            | {"Δ MRR rest": means["rest"]["mrr"] - means["all"]["mrr"]}
            | {f"Hits@1 {name}": means[name]["hits@1"] for name in ("all", "rest")}
            | {"Δ Hits@1 rest": means["rest"]["hits@1"] - means["all"]["hits@1"]}
        )
    table = pd.DataFrame(out)
    helps = {
        "all": "All pairs.",
        "seen": "Pairs with both texts in one row of the training set.",
        "rest": "The other pairs.",
        "no text": "Pairs with no text in the training set.",
    }
    config = {}
    for name in table.columns[1:]:
        last = name.split(" ", 1)[1].removeprefix("MRR ").removeprefix("Hits@1 ")
        difference = name.startswith("Δ")
        config[name] = st.column_config.NumberColumn(
            format="%+.4f" if difference else "%.4f",
            width=95,
            help="The score on the rest minus that on all pairs." if difference else helps[last],
        )
    tables.draw(table, hide_index=True, key="training_scores", column_config=config)
