"""What pages keep: different arguments never share an entry, and what Streamlit would hash a sample of is none."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.runtime.uploaded_file_manager import UploadedFile

import blindspot
from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.entries import DatasetEntry, SourceFile
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.chunked import ChunkedSentences
from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.probing import ProbingTask
from blindspot.datasets.kinds.relations import Analogies, Categories, Events, Outliers
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published.retrieval import Document, Judgment, Query, retrieval_dataset
from blindspot.datasets.training_overlap import TrainingSet
from blindspot.datasets.uploads import SentFolder
from blindspot.datasets.user_data.files import OwnTable, tabulate
from blindspot.datasets.word_frequency import Frequencies
from blindspot.diagnostic import all_diagnostics, find_diagnostic
from blindspot.diagnostics.evalrank.pairs import PairTable
from blindspot.diagnostics.evalrank.view import Others
from blindspot.diagnostics.evalrank.what_if import Basis
from blindspot.diagnostics.frequency.page import neighbors
from blindspot.diagnostics.frequency.page.frequency_view import FrequencyView
from blindspot.diagnostics.heros.page.heros_view import HerosView
from blindspot.diagnostics.retrieval.outcomes import QueryTable
from blindspot.diagnostics.similarity.learned import Learned
from blindspot.diagnostics.similarity.pairs import ScoredTable
from blindspot.diagnostics.transfer.outcomes import Outcomes
from blindspot.diagnostics.transfer.page.classifiers import Crossed
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.spaces import Space
from blindspot.store.db import Database
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.evidence.scores import Measure as EvidenceMeasure
from blindspot.studies.evidence.scores import ScoreTable
from blindspot.studies.findings.collection import RunsOf
from blindspot.studies.judgments.page.votes import Votes
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import ItemSet
from blindspot.studies.sentence import page as sentence
from blindspot.studies.threshold.pairs import Measured
from blindspot.ui.resources import KEYS, cached
from blindspot.ui.widgets.texts.why_similar import Asked
from blindspot.variants import Variant
from tests.support import store_samples
from tests.support.judgment_samples import intruder_set
from tests.support.tables import each

REFUSED = {np.ndarray, np.memmap, pd.DataFrame, pd.Series}
ONE = Variant("minilm", "none")
ZEROS = np.zeros(2, dtype=np.int32)
ONES = np.ones(2, dtype=np.int32)


def part(kind: type, **known: object) -> Any:
    """An object of which only some attributes are known: those that its key may look at."""
    made = kind.__new__(kind)
    for name, value in known.items():
        object.__setattr__(made, name, value)
    return made


def hashed() -> dict[type, list[Callable[[Any], object]]]:
    """The classes that the cached functions of all modules know a key of, with these keys."""
    found: dict[type, list[Callable[[Any], object]]] = {}
    for module in pkgutil.walk_packages(blindspot.__path__, "blindspot."):
        if ".page" not in module.name and ".ui" not in module.name and ".workspace" not in module.name:
            continue
        for function in vars(importlib.import_module(module.name)).values():
            info = getattr(function, "_info", None)
            for kind, key in (getattr(info, "hash_funcs", None) or {}).items():
                if key not in found.setdefault(kind, []):
                    found[kind].append(key)
    return found


@pytest.fixture
def run(tmp_path: Path) -> RunRecord:
    repository = Repository.at(tmp_path / "runs.duckdb")
    store_samples.store_run(repository, "0123456789abcdef", store_samples.pair_set())
    return store_samples.only_run(repository)


@pytest.fixture
def different(tmp_path: Path, run: RunRecord) -> dict[type, list[Any]]:
    """Of every class that is hashed objects that are all different, the last ones in one respect from the first."""
    other = replace(run, plan=replace(run.plan, run_id="f" * 16))
    pairs = store_samples.pair_set(2)
    texts = pairs.items
    space = Space(ONE, pairs, np.arange(4), np.zeros((4, 2), dtype=np.float32), "a")
    frequencies = Frequencies(np.zeros(4), np.ones(4), 10.0, "words", "", "a")
    file, changed = tmp_path / "file.txt", tmp_path / "changed.txt"
    file.write_text("a")
    changed.write_text("ab")
    table = tabulate(tmp_path / "own.csv", b"a,b\nc,d\ne,f\n", header=True)
    columns = ("0123 similarity", "0123 rank")
    frame = pd.DataFrame(np.zeros((2, 2)), columns=columns)
    outcomes = Outcomes(
        np.arange(2), ("x", "y"), ZEROS, Dependence.of_examples(np.arange(2)), np.array([True, False]), ["a", "b"], (),
        {"0": ONES}, {"0": ONES},
    )  # fmt: skip
    learned = Learned({}, np.zeros(2), np.arange(2), np.arange(2), {"linear": np.zeros(2)}, np.zeros(2), 1.0, 1)
    measure = EvidenceMeasure("evalrank", "demo-pairs", "mrr", "MRR", 1, "word")
    scores = ScoreTable((ONE,), ("a",), (measure,), np.zeros((1, 1)))
    crossed = Crossed("task", (ONE,), ("a",), [[run]], np.zeros((1, 1)))
    votes = Votes("a", None, (), "digest")
    items = intruder_set()
    evalrank = find_diagnostic("evalrank")
    entry = DATASETS["demo-pairs"]
    source = SourceFile("source", "file.txt", "", 1, "a" * 64)
    stores = [tmp_path / "one.duckdb", tmp_path / "other.duckdb"]
    return {
        RunRecord: [run, other],
        Space: [space, replace(space, digest="b")],
        **{type(entry): [entry, entry.at_version(99)] for entry in all_diagnostics().values()},
        DatasetEntry: [
            entry,
            DATASETS["demo-minimal"],
            replace(entry, revision="b"),
            replace(entry, files=(source,)),
            replace(entry, files=(replace(source, sha256="b" * 64),)),
        ],
        SentFolder: [
            SentFolder(Path("a"), {Path("a/b"): b"1"}),
            SentFolder(Path("a"), {Path("a/b"): b"2"}),
            SentFolder(Path("a"), {Path("a/c"): b"1"}),
            SentFolder(Path("b"), {Path("b/b"): b"1"}),
        ],
        SourceFile: [source, replace(source, path="other.txt"), replace(source, sha256="b" * 64)],
        Frequencies: [frequencies, replace(frequencies, digest="b"), replace(frequencies, source="others")],
        UploadedFile: [part(UploadedFile, file_id="a"), part(UploadedFile, file_id="b")],
        PairSet: [pairs, store_samples.pair_set(2, "other"), replace(pairs, matches=pairs.queries)],
        MinimalPairSet: [
            MinimalPairSet("a", texts, ZEROS, {"x": ONES}),
            MinimalPairSet("a", texts, ZEROS, {"y": ONES}),
            MinimalPairSet("a", texts, ZEROS, {"x": ZEROS}),
        ],
        ScoredPairs: [ScoredPairs("a", texts, ("s",), ZEROS, ZEROS, ONES, np.array([x, 1.0])) for x in (0.0, 0.5)],
        Vocabulary: [Vocabulary("a", texts, np.arange(1.0, 5.0), size, ZEROS) for size in (10.0, 11.0)],
        LabeledTexts: [
            LabeledTexts("a", texts, ("x", "y"), ZEROS, ZEROS[:0], labels, ZEROS.astype(np.int8))
            for labels in (ZEROS, ONES)
        ],
        ProbingTask: [
            ProbingTask("a", texts, ("x", "y"), ZEROS, ZEROS[:0], labels, ZEROS.astype(np.int8), "tree_depth")
            for labels in (ZEROS, ONES)
        ],
        RetrievalDataset: [
            retrieval_dataset(
                "a", [Query("q", "x")], [Document(d, "", "y"), Document("e", "", "z")], [Judgment(0, 0, g)]
            )
            for d, g in (("d", 1), ("d", 2), ("f", 1))
        ],
        Analogies: [
            Analogies("a", texts, ("s",), ("",), ZEROS, np.tile(np.arange(3, dtype=np.int32), (2, 1)), answers, 4)
            for answers in (ZEROS, ONES)
        ],
        Variant: [ONE, Variant("minilm", "center"), Variant("other", "none")],
        Categories: [Categories("a", texts, ("x", "y"), np.arange(2, dtype=np.int32), n) for n in (ZEROS, ONES)],
        Outliers: [
            Outliers("a", texts, ("g", "h"), ZEROS, np.array([[1, 2], [1, -1]], dtype=np.int32), n)
            for n in (ZEROS, ZEROS + 3)
        ],
        ChunkedSentences: [
            ChunkedSentences("a", texts, ("B-NP", "O"), ZEROS, tags, np.array([0, 1, 2]), ZEROS.astype(np.int8))
            for tags in (ZEROS, ONES)
        ],
        Events: [Events("a", texts, ZEROS, ZEROS + 1, ZEROS + 2, n) for n in (ZEROS, ZEROS + 3)],
        OwnTable: [
            table,
            tabulate(tmp_path / "other.csv", b"a,b\nc,d\ne,f\n", header=True),
            tabulate(tmp_path / "own.csv", b"a,b\nc,d\ne,f\n", header=False),
            tabulate(tmp_path / "own.csv", b"a,b\nc,d\ne,g\n", header=True),
        ],
        type(file): [file, changed, tmp_path / "gone.txt"],
        PairTable: [part(PairTable, rows={run_id: None}) for run_id in ("0123", "4567")],
        QueryTable: [part(QueryTable, rows={run_id: frame}) for run_id in ("0", "1")],
        Others: [Others(one, None, None) for one in (run, other)],
        TrainingSet: [TrainingSet("a", 1, frozenset({"x", text}), frozenset()) for text in ("y", "z")],
        Basis: [part(Basis, run=one) for one in (run, other)],
        neighbors._Asked: [part(neighbors._Asked, counts=digest) for digest in ("a", "b")],
        Asked: [
            part(Asked, key="run", texts=("a", "b")),
            part(Asked, key="other", texts=("a", "b")),
            part(Asked, key="run", texts=("b", "a")),
        ],
        sentence.Asked: [
            part(sentence.Asked, variant=variant, revision=revision)
            for variant, revision in ((ONE, "a"), (ONE, "b"), (Variant("other", "none"), "a"))
        ],
        FrequencyView: [
            part(FrequencyView, spaces=[space], frequencies=frequencies),
            part(FrequencyView, spaces=[replace(space, digest="b")], frequencies=frequencies),
            part(FrequencyView, spaces=[space], frequencies=replace(frequencies, digest="b")),
        ],
        HerosView: [
            part(HerosView, runs=[run], subsets=["x", "y"]),
            part(HerosView, runs=[other], subsets=["x", "y"]),
            part(HerosView, runs=[run], subsets=["y", "x"]),
        ],
        Measured: [part(Measured, digest=digest) for digest in ("a", "b")],
        ScoredTable: [ScoredTable(frame, {name: np.zeros(2)}) for name in ("0", "1")],
        Learned: [
            learned,
            replace(learned, predicted={"linear": np.array([1.0, -1.0])}),  # of the same sum
            replace(learned, gold=np.ones(2)),
        ],
        Crossed: [
            crossed,
            replace(crossed, runs=[[other]]),
            replace(crossed, task="other"),
            replace(crossed, classifiers=("b",)),
        ],
        Outcomes: [outcomes, outcomes.without_overlap(), replace(outcomes, predicted={"1": ONES})],
        RunsOf: [
            RunsOf(evalrank, (run,), (), ()),
            RunsOf(evalrank, (other,), (), ()),
            RunsOf(evalrank, (run,), (other,), ()),
            RunsOf(evalrank, (run,), pooled=True),
            RunsOf(evalrank.at_version(99), (run,), (), ()),
        ],
        ItemSet: [items, intruder_set(5)],
        Judgments: [Judgments(Database(path)) for path in stores],
        Votes: [
            votes,
            *(
                replace(votes, **{name: value})
                for name, value in (
                    ("set_id", "b"),
                    ("session", ""),
                    ("without", ("x",)),
                    ("digest", "b"),
                    ("left_out", ("x",)),
                )
            ),
        ],
        Repository: [Repository.at(stores[0]), _with_run(stores[1])],
        ScoreTable: [
            scores,
            replace(scores, values=np.ones((1, 1))),
            replace(scores, families=("b",)),
            replace(scores, variants=(Variant("minilm", "center"),)),
        ],
    }


def _with_run(path: Path) -> Repository:
    repository = Repository.at(path)
    store_samples.store_run(repository, "run", store_samples.pair_set())
    return repository


def test_every_class_that_is_hashed_has_its_examples(different: dict[type, list[Any]]) -> None:
    assert set(hashed()) == set(different) | REFUSED
    assert set(KINDS.values()) <= set(KEYS)


def test_different_arguments_share_no_entry(different: dict[type, list[Any]]) -> None:
    for kind, keys in hashed().items():
        if kind in REFUSED:
            continue
        for key in keys:
            kept = cached(100, keys={kind: key})(_called)
            _CALLS.clear()
            numbers = [kept(one) for one in different[kind]]
            assert numbers == list(range(len(numbers))), kind
            assert [kept(one) for one in different[kind]] == numbers, kind  # and each has its own again
            kept.clear()


_CALLS: list[object] = []


def _called(value: object) -> int:
    _CALLS.append(value)
    return len(_CALLS) - 1


def test_a_file_that_changes_is_another_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path))
    source = SourceFile("source", "file.txt", "", 0, "")
    kept = cached(10)(_called)
    _CALLS.clear()
    path = tmp_path / "data" / "source" / "file.txt"
    assert kept(source) == 0
    path.parent.mkdir(parents=True)
    path.write_text("a")
    assert kept(source) == 1
    path.write_text("longer")
    assert kept(source) == 2
    assert kept(source) == 2


@each("value", [np.zeros(2), pd.DataFrame({"a": [1]}), pd.Series([1]), (np.zeros(2),), {"a": [np.zeros(2)]}], ids=repr)
def test_arrays_and_tables_are_no_arguments(value: object) -> None:
    with pytest.raises(Exception, match="no key of a cache"):
        cached(10)(_called)(value)
