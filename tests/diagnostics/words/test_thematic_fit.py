"""Thematic fit: by hand, by loops, with words that are missing, and its file as words and as sentences."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.relations import Events
from blindspot.datasets.published.meaning_changes import ATYPICAL, TYPICAL, dtfit
from blindspot.datasets.published.word_relations import Event, events, read_dtfit, read_own_events
from blindspot.diagnostics.heros.definition import right_of
from blindspot.diagnostics.words.thematic_fit import ENTRY, compute, fit, right
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, DataCorrupt, InputError
from blindspot.runs.comparison import headline_tests
from blindspot.settings import ASSETS, Settings
from blindspot.types import CancelToken, Float64, no_progress
from tests.support.small_world import GramEncoder
from tests.support.world import World


def cosine(a: Float64, b: Float64) -> float:
    norms = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(a @ b) / norms if norms else 0.0


def mean_of_units(vectors: list[Float64]) -> Float64:
    total = np.zeros(len(vectors[0]))
    for vector in vectors:
        total = total + vector / np.linalg.norm(vector)
    return total / len(vectors)


def reference(vectors: Float64, data: Events, event: int) -> dict[str, tuple[float, float]]:
    """Cosines of both patients, by what they are compared with; without ``others`` if the verb has none."""
    typical, atypical = data.typical.tolist(), data.atypical.tolist()
    verb = int(data.verbs[event])
    compared = {
        "event": mean_of_units([vectors[data.agents[event]], vectors[verb]]),
        "verb": vectors[verb],
        "agent": vectors[data.agents[event]],
    }
    own = {typical[event], atypical[event]}
    fillers = {typical[i] for i in range(len(typical)) if data.verbs[i] == verb} - own
    if fillers:
        compared["others"] = mean_of_units([vectors[i] for i in sorted(fillers)])
    return {
        name: (cosine(vectors[typical[event]], with_), cosine(vectors[atypical[event]], with_))
        for name, with_ in compared.items()
    }


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_it_is_that_of_the_loops(m: int, verbs: int, dimension: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(20, dimension)) * rng.uniform(0.1, 9, size=(20, 1))
    patients = np.stack([rng.permutation(10)[:2] for _ in range(m)]).astype(np.int32)
    who, what = rng.integers(10, 14, m).astype(np.int32), rng.integers(14, 14 + verbs, m).astype(np.int32)
    data = Events("x", tuple(map(str, range(20))), who, what, patients[:, 0], patients[:, 1])
    found = fit(vectors, data)
    for event in range(m):
        expected = reference(vectors, data, event)
        assert (found.fillers[event] > 0) == ("others" in expected)
        for name, cosines in expected.items():
            assert getattr(found, name)[event] == pytest.approx(cosines, abs=1e-9)


def test_by_hand() -> None:
    data = events("x", [Event("actor", "won", "award", "battle"), Event("general", "won", "battle", "award")])
    of = {"actor": [1, 0, 0], "general": [0, 1, 0], "won": [0, 0, 1], "award": [2, 0, 0], "battle": [0, 3, 3]}
    result = compute(np.array([of[word] for word in data.items], float), data, {}, no_progress, CancelToken())
    # The actor is nearer to the award, the verb to the battle: 0.71 with the first mean, 0.5 to it; both fit by both.
    assert result.items["hit"].to_pylist() == [1.0, 1.0]
    assert result.items["hit_verb"].to_pylist() == [0.0, 1.0]
    assert result.items["hit_agent"].to_pylist() == [1.0, 1.0]
    assert result.items["fillers"].to_pylist() == [0, 0], "the other event's patient is its own atypical one"
    assert "accuracy_fillers" not in result.metrics
    assert result.metrics["accuracy_verb"] == 0.5
    assert result.items["cosine_typical"].to_pylist() == pytest.approx([np.sqrt(0.5), 1.0])
    assert right(np.array([[0.5, 0.5 + 1e-9], [0.2, 0.1], [0.1, 0.2]])).tolist() == [0.5, 1.0, 0.0]
    with pytest.raises(BlindspotError, match="NaN"):
        compute(np.full((len(data.items), 3), np.nan), data, {}, no_progress, CancelToken())


DONE = events(
    "toy-events",
    [
        Event("walker", "walked", "walks", "oslo"),
        Event("talker", "walked", "talks", "mice"),
        Event("talker", "talked", "winter", "talks"),
    ],
)


def test_events_with_a_word_without_a_vector_are_left_out(world: World) -> None:
    world.add(DONE, GramEncoder(), GramEncoder("lacks", lacks=lambda text: text == "mice"))
    run = world.run("thematic_fit", "lacks", DONE.id)
    assert run.coverage == {
        "events": 3, "events_covered": 2, "items": len(DONE.items), "items_covered": len(DONE.items) - 1,
    }  # fmt: skip
    rows = world.repository.items(ENTRY, [run.run_id], texts=True)
    assert rows["item_no"].tolist() == [0, 2]
    assert rows[["agent", "verb", "typical", "atypical"]].values.tolist()[1] == ["talker", "talked", "winter", "talks"]
    assert run.metrics["with_fillers"] == 0
    whole, other = (world.run("thematic_fit", name, DONE.id) for name in ("trigrams", "random-projection"))
    (found,) = headline_tests(ENTRY, [(whole, other)], world.repository)
    assert found.value == pytest.approx(whole.metrics["accuracy"] - other.metrics["accuracy"])
    world.add(GramEncoder("none", lacks=lambda text: text.endswith("ed")))
    with pytest.raises(InputError, match="no event of 'toy-events' is left"):
        world.run("thematic_fit", "none", DONE.id)


HEADER = '"ItemNum","Sentence","Plausibility","Voice"\n'
ACTOR = '"1","The actor won the award.","Plausible","active"\n"1","The actor won the battle.","Implausible","active"\n'
TRASH = '"2","The man hid the pan.","Implausible","active"\n"2","The man hid the trash can.","Plausible","active"\n'


def test_the_file_is_read_as_words_and_as_sentences(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(HEADER + ACTOR + TRASH)
    assert read_dtfit(path) == [Event("actor", "won", "award", "battle"), Event("man", "hid", "trash can", "pan")]
    found = dtfit("s", path)
    assert found.rows(0, 1) == [
        (0, "The actor won something.", TYPICAL, "The actor won the award."),
        (0, "The actor won something.", ATYPICAL, "The actor won the battle."),
    ]
    assert right_of(found.subsets) == TYPICAL
    assert found.own_columns[0].cells == ["won", "hid"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ACTOR.replace("The actor", "An actor"), "line 2: no sentence"),
        (ACTOR.replace('"active"', '"passive"', 1), "line 2: no sentence"),
        (ACTOR + ACTOR, "line 4: event 1 again"),
        (ACTOR.splitlines()[0], "event 1 lacks a sentence"),
        (ACTOR.replace("actor won the battle", "actor lost the battle"), "event 1 lacks a sentence"),
        (ACTOR.replace("battle", "award"), "two different patients"),
        ("", "has 0 events"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / "f.csv"
    path.write_text(HEADER + rows)
    with pytest.raises(DataCorrupt, match=message):
        events("x", read_dtfit(path))


def test_built_in_verbs_have_other_typical_patients() -> None:
    found = events("x", read_own_events(ASSETS / "demo" / "events.tsv"))
    assert np.unique(found.verbs, return_counts=True)[1].min() >= 2


@pytest.mark.realdata
def test_the_file_and_minilm_on_it(shared_settings: Settings) -> None:
    """Every sentence is that of an event, and MiniLM's answers are the loop's."""
    entry = find_dataset("thematic-fit-dtfit")
    data = fetch.load(entry, shared_settings)
    (file,) = entry.files
    with fetch.local_path(file, shared_settings).open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    for column, plausibility in ((data.typical, "Plausible"), (data.atypical, "Implausible")):
        said = [row["Sentence"] for row in rows if row["Plausibility"] == plausibility]
        assert said == [
            f"The {data.items[a]} {data.items[v]} the {data.items[p]}."
            for a, v, p in zip(data.agents.tolist(), data.verbs.tolist(), column.tolist(), strict=True)
        ]
    vectors = resolve_encoder("minilm", shared_settings).encode(list(data.items), CancelToken())
    found = compute(vectors, data, {}, no_progress, CancelToken())
    slow, right_by = vectors.astype(np.float64), {"event": 0, "verb": 0, "agent": 0, "others": 0}
    for event in range(len(data.verbs)):
        for name, (typical, atypical) in reference(slow, data, event).items():
            right_by[name] += typical > atypical
    names = {"event": "accuracy", "verb": "accuracy_verb", "agent": "accuracy_agent", "others": "accuracy_fillers"}
    for name, score in names.items():
        m = found.metrics["with_fillers" if name == "others" else "cases"]
        assert found.metrics[score] == pytest.approx(right_by[name] / m, abs=1e-12), "no patients are tied"
