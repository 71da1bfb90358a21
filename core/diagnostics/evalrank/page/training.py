"""The card of the EvalRank page that compares the pairs with a training set which the reader names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.diagnostics.evalrank import training_overlap
from core.diagnostics.evalrank.page.shown import BY_RUNS, Shown
from core.diagnostics.evalrank.pairs import PairTable, rows_of_runs
from core.diagnostics.evalrank.training_overlap import Overlap, TrainingSet, overlap
from core.errors import BlindspotError
from core.files import tables as own_files
from core.ui.markdown import as_text
from core.ui.resources import allowed, cached, on_disk, repository, settings
from core.ui.widgets import dataset_offer

STS_TRAIN = "STS-B train"
_FORGOTTEN = "_training_forgotten"  # digest of the training set that the reader wants no warning of
BUILT_IN, UPLOADED, ON_SERVER = "STS-Benchmark, training part", "a file of yours", "a file on the server"


def card(shown: Shown) -> None:
    """How many of the pairs occur in a training set, and every encoder's score on the rest."""
    st.markdown(
        "An encoder that saw a pair in training need not understand it. Name what yours was trained on: the pairs that "
        "occur in it are counted, and left out of the score."
    )
    training = _training_set(shown)
    if training is None:
        return
    found = _overlap(shown.pairs, training)
    _remember(shown, training, found)
    m, both, any_text = len(found.both), int(found.both.sum()), int(found.any_text.sum())
    st.markdown(
        f"**{both:,} of {m:,} pairs** ({both / m:.1%}) stand in {as_text(training.name)} ({training.rows:,} rows) with "
        f"both texts in one row, {any_text:,} ({any_text / m:.1%}) with at least one text anywhere in it."
    )
    if not any_text:
        st.caption("None of the texts occurs in it: the scores are as above.")
        return
    if both == m:
        st.info(
            "No pair is left to score without them. Test the model on pairs that it was not trained on.",
            icon=":material/block:",
        )
        return
    _scores(shown, found)
    st.caption(
        "Case, Unicode form, spaces and punctuation of the texts do not matter. The candidates stay the same; only the "
        "pairs that the mean is over are fewer."
    )


def _remember(shown: Shown, training: TrainingSet, found: Overlap) -> None:
    """Keep what was found of a training set that the reader named, so that it stands at the score from now on."""
    if not allowed().changes or training.name == BUILT_IN:
        return
    folder, digest = settings().training, shown.runs[0].plan.dataset_digest
    known = training.digest in {kept.digest for kept in training_overlap.remembered(folder, digest)}
    if not known and training.digest != st.session_state.get(_FORGOTTEN):
        try:
            training_overlap.remember(folder, digest, training, found)
        except BlindspotError as error:
            st.error(as_text(str(error)), icon=":material/error:")
            return
        st.rerun()  # the score above says it too
    if found.both.any():
        forget = "Forget this training set" if known else "Remember it at the score"
        st.button(forget, key="training_forget", on_click=_forget, args=(folder, digest, training.digest, known))


def _forget(folder: Path, dataset_digest: str, digest: str, forget: bool) -> None:
    st.session_state[_FORGOTTEN] = digest if forget else ""
    if forget:
        training_overlap.forget(folder, dataset_digest, digest)


def _training_set(shown: Shown) -> TrainingSet | None:
    """What the reader names; None while nothing is named, or something is wrong with it, which is said."""
    ways = []
    sources = dataset_offer.entry_of(shown.picks.dataset)
    if sources is not None and sources.id == "evalrank-sent-sources":
        ways.append(BUILT_IN)
    if allowed().server_files:
        ways += [UPLOADED, ON_SERVER]
    if not ways:
        st.info("A demo that strangers share takes no uploads. Run Blindspot on a machine of your own for this.")
        return None
    way = st.segmented_control("Training set", ways, default=ways[0], required=True, key=f"training_{len(ways)}")
    try:
        if way == BUILT_IN and sources is not None:
            return _built_in(sources)
        return _uploaded() if way == UPLOADED else _on_server()
    except BlindspotError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return None


def _built_in(entry: DatasetEntry) -> TrainingSet | None:
    if not dataset_offer.is_here(entry):
        dataset_offer.offer(entry, "How many pairs come from STS-Benchmark's training part", key="fetch_training")
        return None
    scored = dataset_offer.scored_pairs(entry)
    return None if scored is None else _part(scored, STS_TRAIN)


@cached(4, shared=True)
def _part(scored: ScoredPairs, part: str) -> TrainingSet:
    return training_overlap.of_scored_pairs(BUILT_IN, scored, part)


def _uploaded() -> TrainingSet | None:
    file = st.file_uploader(
        "A .txt with a text per line (or texts of one example with tabs between), or a .csv, .tsv, .jsonl or .parquet "
        f"with columns of text; at most {own_files.MAX_ROWS:,} rows. It is read for this and not kept.",
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
    return training_overlap.parse(Path(file.name), file.getvalue(), header)


def _on_server() -> TrainingSet | None:
    name = st.text_input(
        "Path of a .txt, .csv, .tsv, .jsonl or .parquet on the machine that runs Blindspot", key="training_path"
    )
    if not name.strip():
        return None
    return _read(Path(name.strip()).expanduser())


@cached(2, "Reading the training set …", shared=True, keys={type(Path()): on_disk})
def _read(path: Path) -> TrainingSet:
    return training_overlap.read_file(path)


@cached(8, shared=True, keys={**BY_RUNS, TrainingSet: lambda training: training.digest})
def _overlap(pairs: PairTable, training: TrainingSet) -> Overlap:
    return overlap(pairs.frame["query"].tolist(), pairs.frame["mate"].tolist(), training)


def _scores(shown: Shown, found: Overlap) -> None:
    """A row per variant: all pairs, those that stand in the training set, and the rest."""
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
            {"variant": run.plan.variant.label}
            | {f"MRR {name}": mean["mrr"] for name, mean in means.items()}
            | {"Δ MRR rest": means["rest"]["mrr"] - means["all"]["mrr"]}
            | {f"Hits@1 {name}": means[name]["hits@1"] for name in ("all", "rest")}
            | {"Δ Hits@1 rest": means["rest"]["hits@1"] - means["all"]["hits@1"]}
        )
    table = pd.DataFrame(out)
    helps = {
        "all": "All pairs.",
        "seen": "The pairs with both texts in one row of the training set.",
        "rest": "The other pairs.",
        "no text": "The pairs none of whose texts stands in the training set.",
    }
    config = {}
    for name in table.columns[1:]:
        last = name.split(" ", 1)[1].removeprefix("MRR ").removeprefix("Hits@1 ")
        difference = name.startswith("Δ")
        config[name] = st.column_config.NumberColumn(
            format="%+.4f" if difference else "%.4f",
            width=95,
            help="The score on the rest less that on all pairs." if difference else helps[last],
        )
    st.dataframe(table, hide_index=True, key="training_scores", column_config=config)
