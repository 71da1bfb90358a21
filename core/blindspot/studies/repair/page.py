"""Page *Repair*: a linear map of a model's vectors, what it mends, and what it breaks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import streamlit as st

from blindspot import ui
from blindspot.datasets.catalog import DatasetEntry, DatasetRef, title_of
from blindspot.datasets.fetch import DataState, dataset_state
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet, subset_in_words
from blindspot.diagnostics.heros.training import sides
from blindspot.errors import BlindspotError, InputError
from blindspot.references import ModelRef
from blindspot.runs.training_data.examples import sources
from blindspot.studies.repair import figures, task
from blindspot.studies.repair.fitting import IN_WORDS, KEEP, RANK, SEED, Method
from blindspot.studies.repair.results import Part, Report, answer
from blindspot.studies.repair.task import RepairTask
from blindspot.texts import counted, listed
from blindspot.ui import headline
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import cached, explained, load, scheme, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import begin_with, one_named, some_named
from blindspot.ui.widgets.choices import ask_tolerated, one_of, tolerated
from blindspot.ui.widgets.missing_runs import readable
from blindspot.ui.widgets.model_choice import choose_model
from blindspot.ui.widgets.work import task_button

RANKS = (4, 8, 16, 32, 64)
KEEPS = (0, 10, 100, 1_000)
_TESTED, _TESTED_OF, _USUAL = "repair_tested", "_repair_tested_of", "usual"

HOW = r"""
- The map $M$ makes $xM$ of a vector. It is a weight per dimension; the identity plus a change of low rank; or, of
  queries alone, any linear map. The model itself is not trained.
- It is trained on **triplets**: an anchor, a positive that says the same, a negative that does not. Of minimal pairs
  these are all; of pairs and retrieval sets the negatives are what the model puts nearest to the query. The loss is
  $\log(1 + e^{-(\cos(a,p) - \cos(a,n))/0.05})$, plus *keep* times the mean squared change of the cosines of random
  pairs.
- **Held out** are triplets that share no text with what it is trained on, near-duplicates included; others decide when
  to stop. Texts that something else is evaluated on are left out of both.
- **Shuffled labels**: the same training, with a coin for which text is which, three times. **Random maps** have the
  same form and size, five of them. A model below chance (50%) gains from both, since anything that scrambles its
  vectors brings it nearer to chance; the gain counts only if it exceeds both by more than its interval.
- **Intervals** are 95%, paired, and respect that triplets share texts; $p$ is after Holm, without the held-out ones.
- **Worth it**: the gain counts, and a loss of more than the tolerance is ruled out for everything measured. **Not worth
  it**: no gain that counts, or a significant loss of more than the tolerance. Otherwise it is undecided.
"""


def show() -> None:
    """The page."""
    picks = ui.page("Repair", "Can a map of its vectors mend what a model orders wrongly, and what does it break?")
    with ui.errors_shown():
        top = st.container()
        if (asked := _form(picks)) is not None:
            _study(asked, top)
    ui.how(HOW)


def _form(picked: Picks) -> RepairTask | None:
    """The repair asked for, or None with a note on what is wrong."""
    if (picks := readable(sources(), picked)) is None:
        return None
    left, right = st.columns([2, 5])
    encoder = choose_model("repair_enc", left, lambda model: _is_repaired(model, picks.dataset))
    usual = [Method.LOW_RANK.value, Method.WEIGHTS.value, Method.QUERIES.value]
    about = "\n".join(f"- {name}: {IN_WORDS[Method(name)]}" for name in usual)
    method = one_of("Map", usual, "repair_method", about, container=right)
    with ui.options():
        rank = one_of("Rank", RANKS, "repair_rank", "Of the low-rank map.", default=RANK)
        keep = one_of(
            "Keep",
            KEEPS,
            "repair_keep",
            "How much other cosines should stay as they are: more is less damage, and less gain.",
            default=int(KEEP),
        )
    kinds = _kinds(picks)
    try:
        return _as_tested(
            RepairTask.of(
                encoder,
                picks.dataset,
                settings(),
                method=method,
                rank=int(rank),
                keep=float(keep),
                kinds=kinds,
            )
        )
    except InputError as error:
        st.info(as_text(explained(error)), icon=":material/info:")
        return None


def _is_repaired(model: ModelRef, dataset: DatasetRef) -> bool:
    """Whether there is a report with the usual settings, whatever it was tested on."""
    try:
        return bool(task.kept(RepairTask.of(model, dataset, settings()), settings()))
    except InputError:  # the form says why not
        return False


def _as_tested(asked: RepairTask) -> RepairTask:
    """The repair that the reader chooses where a command tested it on other datasets, or with another seed."""
    kept = task.kept(asked, settings())
    others = {task.path_of(other, settings()).stem: other for other in kept if other != asked}
    by_id = {_USUAL: asked, **others}
    about = task.path_of(asked, settings()).stem
    if st.session_state.get(_TESTED_OF, about) != about:  # of another model
        st.session_state.pop(_TESTED, None)
        st.query_params.pop(_TESTED, None)
    st.session_state[_TESTED_OF] = about
    if not others:
        return asked
    begin_with(_TESTED, lambda: None if asked in kept else next(iter(others)))
    chosen = one_named(
        "Tested on",
        list(by_id),
        index=0,
        key=_TESTED,
        name=lambda repair_id: _tests_in_words(by_id[repair_id]),
        width=420,
        help="A repair leaves out texts of what it is tested on. Others than the usual datasets are those of "
        "`blindspot repair --test-on`.",
    )
    return by_id[chosen or _USUAL]


def _tests_in_words(asked: RepairTask) -> str:
    tests = listed(list(map(title_of, asked.tests))) or "Minimal pairs and tasks that are here"
    return tests if asked.seed == SEED else f"{tests}, seed {asked.seed}"


def _kinds(picks: Picks) -> Sequence[str]:
    """The kinds of negatives to train on; none for all, and where the dataset has no several kinds, or is not here."""
    entry = picks.dataset.entry()
    try:
        is_here = entry.kind is DatasetKind.MINIMAL_PAIR_SET and _state(entry) is not DataState.MISSING
        minimal_set = load(entry) if is_here else None
        kinds = sides(minimal_set.subsets)[1] if isinstance(minimal_set, MinimalPairSet) else []
    except BlindspotError:  # training says what is wrong
        return ()
    if len(kinds) < 2:
        return ()
    return some_named(
        "Train on",
        kinds,
        key="repair_kind",
        name=subset_in_words,
        width=420,
        placeholder="All kinds of change",
        help="Kinds of negatives. The dataset's other kinds are tested on, with texts that were not trained on.",
    )


@cached(8)
def _state(entry: DatasetEntry) -> DataState:
    return dataset_state(entry, settings())


def _study(asked: RepairTask, top: st.delta_generator.DeltaGenerator) -> None:
    report = task.find(asked, settings())
    if report is None:
        st.markdown(
            f"{IN_WORDS[asked.method].capitalize()} is trained and tested on this machine in a few minutes. Texts of "
            "datasets that it is tested on are encoded first, where they are not yet."
        )
    is_old = report is not None and not _is_of_today(report)
    if report is None or is_old:
        task_button("Train and test", "Training …", asked.label, [asked], key="repair_train")
    if report is None:
        return
    with top:
        first, *rest = answer(report, tolerated("repair_drop"))
        headline.show(f"**{as_text(first)}** {as_text(' '.join(rest))}")
    shown = [measure for measure in report.measures if measure.counts]
    st.plotly_chart(
        figures.changes(shown, tolerated("repair_drop"), scheme()),
        key="repair_changes",
        config={"displayModeBar": False},
    )
    st.caption(
        "Change of each score against the model alone, with 95% intervals; n in parentheses, see the table. After the "
        "colon is the kind of negative, or of positive, or the score. Open marks: random maps of the same size, and "
        "training on shuffled labels. Dotted: the tolerated loss."
    )
    _table(report)
    _use(report, asked)


def _is_of_today(report: Report) -> bool:
    try:
        is_current = task.is_of_today(report, settings())
    except BlindspotError as error:
        st.caption(as_text(f"The model cannot be used now: {explained(error)}"))
        return True
    if not is_current:
        st.warning("The model has changed since this repair was trained. Train it again.")
    return is_current


def _table(report: Report) -> None:
    text = st.column_config.TextColumn
    tables.draw(
        report.rows,
        key="repair_table",
        placeholder="–",
        height="content",
        column_config={
            "measured on": text(width=265),
            "n": text(width=150),
            "over random": text(help="The repair less random maps, with its 95% interval."),
            "over shuffled": text(help="The repair less training on shuffled labels, with its 95% interval."),
            "random": text(help="Random maps of the same form and size, the mean of several."),
            "shuffled": text(help="Trained on shuffled labels, the mean of several."),
        },
    )
    ask_tolerated("repair_drop", "Of a score elsewhere. It decides the verdict.")


def _use(report: Report, asked: RepairTask) -> None:
    """What it was trained on, and how to use it."""
    sentences = [
        f"Trained on {counted(report.trained, 'triplet')}, stopped by {report.stopped:,} others after "
        f"{report.steps:,} steps, tested on {report.tested:,}; {counted(report.components, 'group')} of triplets that "
        "share a text."
    ]
    sentences += [f"Left out: {count:,}, {reason}." for reason, count in report.left_out.items()]
    sentences += [f"Not tested on {title_of(reference)}: {why}." for reference, why in report.not_tested.items()]
    st.caption(as_text(" ".join([*sentences, report.warning]).strip()))
    tables.show_limits(measured.dataset for part in Part for measured in report.of(part))
    if not report.moved:
        return
    st.markdown("Apply it in any diagnostic as this post-processing of the model:")
    st.code(report.chain, language=None)
    st.caption(
        as_text(f"It was trained on texts of {title_of(report.dataset)}: there, only the scores above are held out.")
    )
    if Method(report.method).is_of_queries:
        st.caption("It works where a diagnostic tells queries from documents, and is exported as two models.")
    st.markdown("Write it as a folder that sentence-transformers loads:")
    st.code(command(asked), language="sh")


def command(asked: RepairTask) -> str:
    """The command that exports a repair."""
    words = ["blindspot", "repair", "--encoder", asked.encoder, "--data", asked.dataset]
    usual = (
        ("--method", asked.method, Method.LOW_RANK),
        ("--rank", asked.rank, RANK),
        ("--keep", asked.keep, KEEP),
        ("--seed", asked.seed, SEED),
    )
    words += [word for name, value, default in usual if value != default for word in (name, f"{value}")]
    words += [word for kind in asked.kinds for word in ("--kind", kind)]
    words += [word for test in asked.tests for word in ("--test-on", test)]
    return shlex.join([*words, "--output", "repaired"])
