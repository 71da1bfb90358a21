"""Probing on made-up files in SentEval's format, against scikit-learn called by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from threadpoolctl import threadpool_limits

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN
from blindspot.datasets.kinds.probing import ProbingTask
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer import classifiers
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import InputError
from blindspot.runs import estimates
from blindspot.runs.comparison import headline_tests
from blindspot.runs.findings import Material
from blindspot.store.records import RunRecord
from blindspot.studies.findings.wording import findings
from blindspot.types import CancelToken, no_progress
from tests.support.probing_world import length_lines, word_lines, written
from tests.support.small_world import GramEncoder
from tests.support.world import World

ENTRY = find_diagnostic("probing")


@pytest.fixture
def length(world: World, tmp_path: Path) -> str:
    world.add(GramEncoder(), GramEncoder("bigrams", size=2))
    return written(tmp_path, "sentence_length.txt", length_lines())


def loaded(reference: str, world: World) -> tuple[ProbingTask, np.ndarray]:
    data = fetch.load(find_dataset(reference), world.settings)
    assert isinstance(data, ProbingTask)
    encoder = resolve_encoder("trigrams", world.settings)
    encoder.load()
    return data, encoder.encode(list(data.items), CancelToken()).astype(np.float64)


def rows_of(run: RunRecord, world: World) -> pd.DataFrame:
    return world.repository.items(ENTRY, [run.run_id], texts=True).sort_values("item_no")


def by_hand(data: ProbingTask, vectors: np.ndarray) -> tuple[float, list[str]]:
    """C and the predicted classes: learned from tr, chosen by va, asked on te."""
    parts = {part: np.flatnonzero(data.splits == part) for part in (TRAIN, DEV, TEST)}
    x, y = vectors[data.firsts], data.labels
    mean = x[parts[TRAIN]].mean(axis=0)
    x = (x - mean) / np.sqrt(((x[parts[TRAIN]] - mean) ** 2).mean())
    fits = {}
    for strength in classifiers.STRENGTHS[: classifiers.ALWAYS]:
        model = LogisticRegression(C=strength, max_iter=2_000, tol=1e-6).fit(x[parts[TRAIN]], y[parts[TRAIN]])
        fits[strength] = (model.score(x[parts[DEV]], y[parts[DEV]]), model)
    best = max(fits, key=lambda strength: (fits[strength][0], -strength))
    return best, [data.classes[k] for k in fits[best][1].predict(x[parts[TEST]])]


def test_a_file_of_sentevals_is_what_scikit_learn_makes_of_it(world: World, length: str) -> None:
    run = world.run("probing", "trigrams", length)
    data, vectors = loaded(length, world)
    strength, predicted = by_hand(data, vectors)
    given = [data.classes[k] for k in data.labels[data.splits == TEST]]
    rows = rows_of(run, world)
    assert rows["predicted"].tolist() == predicted
    assert rows["label"].tolist() == given
    right = sum(a == b for a, b in zip(given, predicted, strict=True))
    assert 1 / 3 < right / len(given) < 1, "neither trivial nor hopeless"
    m = run.metrics
    assert m["accuracy"] == pytest.approx(right / len(given))
    assert m["macro_f1"] == pytest.approx(f1_score(given, predicted, average="macro"))
    of_classes = f1_score(given, predicted, average=None, labels=data.classes)
    assert [m[f"f1@{name}"] for name in data.classes] == pytest.approx(of_classes.tolist())
    assert (m["c"], m["tested"], m["trained"], m["folds"], m["classes"]) == (strength, 20, 60, 1, 3)
    assert m["chance"] == pytest.approx(1 / 3)
    assert m["majority"] == pytest.approx(np.mean([label == "0" for label in given]))


def test_dev_chooses_and_is_never_trained_on(world: World, length: str, tmp_path: Path) -> None:
    """Other sentences in va than in tr and te change at most what is chosen."""
    run = world.run("probing", "trigrams", length)
    lines = [line for line in length_lines() if not line.startswith("va")]
    dev = [line.replace("tr\t", "va\t", 1) for line in lines if line.startswith("tr")]
    other = world.run("probing", "trigrams", written(tmp_path, "tree_depth.txt", [*lines, *dev]))
    data, vectors = loaded(other.plan.dataset, world)
    strength, predicted = by_hand(data, vectors)
    assert (other.metrics["c"], rows_of(other, world)["predicted"].tolist()) == (strength, predicted)
    assert other.metrics["trained"] == run.metrics["trained"] == 60


def test_the_perceptron_has_its_epochs_from_dev(world: World, length: str) -> None:
    first, again = (world.run("probing", "trigrams", length, classifier="mlp", seed=seed) for seed in ("1", "2"))
    assert first.metrics["epochs"] >= 1
    assert "c" not in first.metrics
    assert first.metrics["accuracy"] > first.metrics["majority"]
    assert first.run_id != again.run_id


@pytest.mark.heavy
def test_the_regression_of_many_classes_is_a_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a hidden layer, long enough and unpenalized, it is the minimum that scikit-learn finds too."""
    rng = np.random.default_rng(3)
    labels = rng.integers(4, size=400).astype(np.int32)
    features = (rng.normal(size=(4, 5))[labels] + 2 * rng.normal(size=(400, 5))).astype(np.float32)
    fit = classifiers.Examples(features, labels)
    monkeypatch.setattr(classifiers, "LOOKS", 200)
    monkeypatch.setattr(classifiers, "PATIENCE", 201)
    looks = count()
    monkeypatch.setattr(classifiers, "_right", lambda model, dev: next(looks))  # the last is the best
    with threadpool_limits(1):
        found = classifiers.perceptron(
            fit, fit, features, seed=1, report=lambda _: None, cancel=CancelToken(), hidden=()
        )
    expected = LogisticRegression(C=1e4, max_iter=5_000, tol=1e-8).fit(features.astype(np.float64), labels)
    probabilities = expected.predict_proba(features)
    assert found.by_epochs
    assert np.mean(found.predicted == probabilities.argmax(axis=1)) > 0.99
    np.testing.assert_allclose(found.probability, probabilities.max(axis=1), atol=0.02)


def test_chance_counts_the_classes_that_an_answer_can_have(length: str, world: World) -> None:
    data, vectors = loaded(length, world)
    lost = np.where(data.labels == 0, DEV, data.splits).astype(np.int8)
    for splits, classes in ((data.splits, len(data.classes)), (lost, len(data.classes) - 1)):
        found = ENTRY.compute(vectors, replace(data, splits=splits), ENTRY.check_params({}), no_progress, CancelToken())
        assert found.metrics["chance"] == 1 / classes


@pytest.mark.heavy
def test_a_thousand_words_are_read_from_vectors_that_count_them(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifiers, "LOOKS", 1)  # forty take two minutes
    world.add(GramEncoder())
    reference = written(tmp_path, "word_content.txt", word_lines(1_000))
    run = world.run("probing", "trigrams", reference)
    m = run.metrics
    assert (m["classes"], m["tested"], m["trained"], m["chance"]) == (1_000, 2_000, 6_000, 0.001)
    assert m["accuracy"] > 0.1, "a hundredfold of what guessing gives"
    assert "epochs" in m
    assert not [name for name in m if name.startswith("f1@")], "a thousand scores that the rows have"
    rows = rows_of(run, world)
    assert m["accuracy"] == pytest.approx(np.mean(rows["predicted"] == rows["label"]))
    assert m["macro_f1"] == pytest.approx(
        f1_score(
            rows["label"],
            rows["predicted"],
            average="macro",
            labels=sorted(set(rows["label"]) | set(rows["predicted"])),
        )
    )
    world.add(GramEncoder("bigrams", size=2))
    other = world.run("probing", "bigrams", reference)
    found = findings(ENTRY.evidence(Material((run, other), (), world.repository, world.settings)))
    kinds = [one.kind for one in found]
    assert kinds.count("learned") == 2
    assert not [kind for kind in kinds if kind.startswith("class-missed")], "not one finding for each of 1,000 words"


def test_findings_name_the_property_and_open_the_page(world: World, length: str) -> None:
    run = world.run("probing", "trigrams", length)
    found = findings(ENTRY.evidence(Material((run,), (), world.repository, world.settings)))
    learned = next(one for one in found if one.kind == "learned")
    assert learned.said(str).startswith("Sentence length ")
    assert (learned.page, learned.diagnostic) == ("probing", "probing")


def test_two_models_are_compared_sentence_by_sentence(world: World, length: str) -> None:
    a, b = (world.run("probing", name, length) for name in ("trigrams", "bigrams"))
    (one,) = headline_tests(ENTRY, [(a, b)], world.repository)
    right = [(rows := rows_of(run, world))["predicted"] == rows["label"] for run in (a, b)]
    assert one.value == pytest.approx(np.mean(right[0]) - np.mean(right[1]))
    assert (one.wins, one.losses) == tuple(int(((x) & ~(y)).sum()) for x, y in (right, right[::-1]))
    assert one.wins + one.losses + one.alike == 20


def test_a_probing_task_is_no_transfer_task_and_the_other_way_round(world: World, length: str) -> None:
    with pytest.raises(InputError, match="probing"):
        world.run("transfer", "trigrams", length)
    with pytest.raises(InputError, match="labeled texts"):
        world.run("probing", "trigrams", "demo-negation")


@pytest.mark.heavy
def test_many_classes_are_estimated_to_take_longer(world: World, tmp_path: Path) -> None:
    world.add(GramEncoder())
    seconds = []
    for classes in (10, 1_000):
        lines = word_lines(classes, (6_000 // classes, 2_000 // classes, 2_000 // classes))
        request = world.request("probing", "trigrams", written(tmp_path, f"words_{classes}.txt", lines))
        seconds.append(estimates.estimate([request], world.settings, None).seconds)
    assert seconds[1] > 1.1 * seconds[0]
