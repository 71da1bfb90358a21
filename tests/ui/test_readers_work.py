"""Work on what readers type and send: bounded boxes, its own process, limits, and an end when nobody waits."""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence

import psutil
import pytest

from blindspot.datasets import uploads
from blindspot.datasets.perturbations import making
from blindspot.datasets.user_data.columns import UnclearColumns
from blindspot.errors import BlindspotError, Cancelled, InputError, LibraryMissing
from blindspot.jobs import in_child
from blindspot.policy import WorkLimits
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.text_flow import CORE, Flow, draws

LIMITS = WorkLimits(seconds=30.0, bytes=2 * 2**30)


def trees(*, holding: str) -> Iterator[tuple[str, ast.Module]]:
    """Files that hold a pattern, parsed."""
    for path in sorted(CORE.rglob("*.py")):
        if re.search(holding, text := path.read_text("utf-8")):
            yield path.relative_to(CORE).as_posix(), ast.parse(text)


def test_every_box_for_text_is_bounded() -> None:
    boxes = 0
    for place, tree in trees(holding=r"\.(text_input|text_area|chat_input)\("):
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr in {"text_input", "text_area", "chat_input"}:
                boxes += 1
                assert "max_chars" in {keyword.arg for keyword in call.keywords}, f"{place}:{call.lineno}"
    assert boxes >= 27


# What pages call with a reader's text outside of its process and of a turn, and why it may: it takes a moment.
PASSING = {"blindspot.texts.same_text"}  # returns the text
REASONS: Mapping[str, Sequence[str]] = {
    "of Python or of arrays: linear in a box's length, or not of the text at all": [
        *("pathlib.Path", "Path(name.strip()).expanduser", "Path(file.name).suffix.lower", "posixpath.dirname"),
        *("functools.partial", "dataclasses.replace", "zlib.crc32", "numpy.any", "….tolist", "….exists"),
        *(f"pandas.api.types.is_{kind}_dtype" for kind in ("float", "integer", "numeric")),
        *("….get_all", "known_datasets().index"),
    ],
    "a name, looked up": [
        *(f"blindspot.datasets.catalog.{name}" for name in ("DatasetRef", "catalogued", "family_of")),
        "….entry",
        *(f"blindspot.datasets.catalog.{name}" for name in ("limits_of", "title_of")),
        *(
            "blindspot.datasets.user_data.files.is_own",
            "blindspot.datasets.user_data.files.path_of",
            "blindspot.names.in_address",
        ),
        *("blindspot.diagnostic.find_diagnostic", "blindspot.encoders.catalog.encoder_of"),
        *("blindspot.runs.inputs.rankings.opened", "blindspot.variants.Variant"),
        *("blindspot.types.digest_of_strings", "blindspot.documentation.contents.markdown"),
        "blindspot.errors.InputError",
    ],
    "models and chains that somebody typed: the policy bounds chains and their number": [
        *("blindspot.runs.requesting.request", "blindspot.runs.requesting.request_of", "blindspot.runs.sweeps.Sweep"),
        *("blindspot.runs.sweeps.expand", "blindspot.runs.estimates.estimate", "blindspot.runs.sending.sendings"),
        *("jobs().submit", "repository().finished", "blindspot.studies.judgments.making.ItemsRequest"),
        *(f"blindspot.studies.lab.grid.{name}" for name in ("Grid", "requests", "measures", "headlines", "changes")),
        *("blindspot.studies.lab.orders.orders", "blindspot.names.current().model"),
        "blindspot.studies.lab.series.ways",
        "blindspot.runs.default_models.undeployed",
    ],
    "of the dataset or of a stored run, as for whoever types nothing": [
        *("blindspot.diagnostics.evalrank.figures.pairs.rank_scatter", "blindspot.figures.theme.styles"),
        "blindspot.diagnostics.evalrank.pairs.around_match",
        *(f"blindspot.diagnostics.evalrank.what_if.{name}" for name in ("basis", "sliders")),
        *("blindspot.diagnostics.heros.browsing.in_run", "blindspot.diagnostics.heros.figures.profile.label"),
        "blindspot.diagnostics.retrieval.figures.against",
        *(f"blindspot.numerics.statistics.written.{name}" for name in ("percent", "has_half")),
        *("blindspot.figures.html_tables.ranking_table", "blindspot.space.neighbors.view.view_of_item"),
        *("blindspot.studies.threshold.pairs.of_spaces", "….doubts"),
    ],
    "a search for one text in others, once through each": [
        "blindspot.diagnostics.evalrank.browsing.containing",
        "blindspot.diagnostics.transfer.outcomes.containing",
        *("blindspot.diagnostics.heros.browsing.Filter", "blindspot.diagnostics.heros.view.sentences_view"),
        *PASSING,
    ],
    "at most ``MOST_SPELLED`` characters, some texts at a time": ["rapidfuzz.process.extract"],
    "at most ``MOST_WAYS``, for the few rewrites on a screen": ["blindspot.texts.word_changes"],
    "of what a model was asked in a turn, in time linear in it: at most 20 lines or the rewrites of one": [
        *(f"blindspot.studies.sentence.view.{name}" for name in ("sentence_view", "lines_view", "texts_of")),
    ],
    "asked in a turn": [f"blindspot.runs.why_similar.{name}" for name in ("PairOfTexts", "of_space")],
    "of what was read or made in the process before, within its limits; linear in it": [
        *("blindspot.datasets.perturbations.making.rows", "….by_kind", "pandas.DataFrame", "….first_rows"),
        *(f"blindspot.figures.html_tables.{name}" for name in ("folded", "is_long")),
        "blindspot.datasets.uploads.add",
        *(f"blindspot.datasets.training_overlap.{name}" for name in ("remember", "forget")),
        "blindspot.diagnostics.evalrank.view.overlap_view",
    ],
    "names and sizes": [
        *(f"blindspot.datasets.uploads.{name}" for name in ("shown_name", "folder_of", "folder_of_files")),
        "blindspot.datasets.perturbations.keeping.name_of",
    ],
    "short names, compared with those in the store": [
        *("blindspot.studies.judgments.raters.nickname", "blindspot.studies.judgments.types.session_name"),
        *("judgments().session", "judgments().is_facilitator"),
    ],
    "refused on a demo": [
        *(f"blindspot.runs.encoders_here.{name}" for name in ("add", "add_upload", "connect")),
        *("blindspot.store.naming.rename", "blindspot.studies.judgments.bundles.take_in"),
    ],
}
CHEAP = {called for reason in REASONS.values() for called in reason}
WITHIN = {
    "blindspot.datasets.perturbations.making.propose",
    "blindspot.datasets.perturbations.making.rewrites",
    "blindspot.studies.sentence.asking.answer",
    "blindspot.studies.sentence.asking.explained",
    "blindspot.datasets.uploads.tabulate",
    "blindspot.studies.judgments.own_queries.of_text",
    "blindspot.space.neighbors.view.view_of_text",
    "blindspot.diagnostics.evalrank.what_if.what_if",
}


@pytest.mark.heavy
def test_pages_leave_readers_texts_to_their_process() -> None:
    """Whatever takes longer than a moment is handed to ``for_reader``, or done in a turn."""
    found = sorted(Flow(PASSING).uses())
    outside = {use.called for use in found if not use.is_within}
    assert [use for use in found if not use.is_within and use.called not in CHEAP] == []
    assert sorted(CHEAP - outside) == [], "nothing calls these any more"
    assert {use.called for use in found if use.is_within} >= WITHIN


# --- the process


@pytest.fixture
def children() -> Iterator[list[psutil.Process]]:
    """The children that there are now and at the end none."""
    before = {child.pid for child in psutil.Process().children()}
    yield []
    with in_child._LOCK:
        kept = list(in_child._IDLE)
        in_child._IDLE.clear()
    for child in kept:
        child.end()
    assert {child.pid for child in psutil.Process().children()} <= before


@pytest.mark.process
def test_a_child_answers_as_the_function_does(children: list[psutil.Process], settings: Settings) -> None:
    texts, cancel = ("Anna paid 5 dollars on Monday.", "He did not see the red house."), CancelToken()
    assert repr(in_child.call(making.propose, (texts, (), 1), LIMITS, cancel)) == repr(making.propose(texts, (), 1))
    (first,) = [child.pid for child in in_child_processes()]
    table = in_child.call(uploads.tabulate, ("a.csv", b"query,match\na,b\nc,d\n", True, settings), LIMITS, cancel)
    assert table == uploads.tabulate("a.csv", b"query,match\na,b\nc,d\n", True, settings)
    with pytest.raises(InputError, match="no rule can change") as refused:
        in_child.call(making.propose, (("…",), (), 1), LIMITS, cancel)
    assert type(refused.value) is InputError
    with pytest.raises(RuntimeError, match="the log has"):
        in_child.call(os.listdir, ("/nowhere",), LIMITS, cancel)
    assert [child.pid for child in in_child_processes()] == [first], "it is kept for the next call"


@pytest.mark.process
def test_a_child_ends_with_its_time_its_memory_or_its_reader(children: list[psutil.Process]) -> None:
    with pytest.raises(InputError, match="longer than 0 s"):
        in_child.call(time.sleep, (60,), WorkLimits(0.1, 2**30), CancelToken())
    with pytest.raises(InputError, match="more memory"):
        in_child.call(bytes, (2**31,), WorkLimits(30.0, 2**30), CancelToken())

    class Leaves(CancelToken):
        looks = 0

        def check(self) -> None:
            self.looks += 1
            if self.looks > 3:
                raise Cancelled

    with pytest.raises(Cancelled):
        in_child.call(time.sleep, (60,), LIMITS, Leaves())
    assert in_child_processes() == []


def in_child_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "blindspot.jobs.in_child" in child.cmdline()]


def test_errors_cross_processes_with_their_class() -> None:
    import pickle

    for error in (
        InputError("a", expected="b", remedy="c"),
        BlindspotError("x"),
        Cancelled(),
        LibraryMissing("who", "torch", "encoders"),
        UnclearColumns("unclear"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_errors_are_told_by_one_function() -> None:
    """What an error says may name folders of the server: pages let ``explained`` say it."""
    told = re.compile(r"str\(error\)|\{error\}|\{error!")
    texts = {path.relative_to(CORE).as_posix(): path.read_text("utf-8") for path in CORE.rglob("*.py")}
    found = [f"{place}: {line}" for place, text in texts.items() if draws(place) for line in told.findall(text)]
    assert sorted(found) == ["ui/boundary.py: str(error)", "ui/widgets/work.py: {error}"], (
        "a crash's, a job's own words"
    )
