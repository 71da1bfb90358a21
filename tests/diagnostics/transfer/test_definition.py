"""The diagnostic ``transfer`` through the pipeline: what it stores, what it says without overlap, what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN, UNSPLIT, LabeledTexts
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer import classifiers, definition, features
from blindspot.diagnostics.transfer.classifiers import STRENGTHS
from blindspot.diagnostics.transfer.definition import CHOSEN, CLASSIFIERS, check_classes, compute
from blindspot.encoders.bag_of_words import BagOfWords
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, Cancelled, InputError
from blindspot.runs import pipeline
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.texts import same_text
from blindspot.types import CancelToken, Float32, no_progress
from tests.support.small_world import GramEncoder
from tests.support.world import World

ENTRY = find_diagnostic("transfer")
TOPICS = {
    "food": "bread cheese apple butter salt pepper soup honey rice noodle".split(),
    "music": "violin drum melody chord piano trumpet choir opera rhythm cello".split(),
    "sea": "wave shore harbour tide anchor sailor whale coral beach storm".split(),
}


def texts(seed: int, size: int = 90) -> list[Example]:
    """Five words each, three of them of the text's topic."""
    rng = np.random.default_rng(seed)
    everything = [word for words in TOPICS.values() for word in words]
    out = []
    for i in range(size):
        topic = list(TOPICS)[int(rng.integers(3)) if i > 5 else i % 3]
        words = [*rng.choice(TOPICS[topic], 3), *rng.choice(everything, 2)]
        out.append(Example(topic, " ".join(map(str, rng.permutation(words)))))
    return out


def dataset_of(examples: Sequence[Example], name: str = "topics") -> LabeledTexts:
    return labeled_texts(name, tuple(TOPICS), examples)


FOLDED = texts(1)
FOLDED += [replace(FOLDED[0], first=FOLDED[0].first.upper()), FOLDED[1], Example("sea", FOLDED[2].first)]
SPLIT = [replace(e, split=part) for e, part in zip(texts(2, 120), ([TRAIN] * 3 + [TEST]) * 30, strict=True)]
SPLIT += [replace(SPLIT[0], split=TEST), replace(SPLIT[1], split=TEST)]  # they stand in training


def rows_of(record: RunRecord, world: World) -> pd.DataFrame:
    return world.repository.items(ENTRY, [record.run_id], texts=False)


@pytest.fixture
def folded(world: World) -> LabeledTexts:
    dataset = dataset_of(FOLDED)
    world.add(GramEncoder(), dataset)
    return dataset


@pytest.fixture
def split(world: World) -> LabeledTexts:
    dataset = dataset_of(SPLIT)
    world.add(GramEncoder(), dataset)
    return dataset


def expected_scores(rows: pd.DataFrame, dataset: LabeledTexts) -> dict[str, float]:
    labels = [dataset.classes[dataset.labels[i]] for i in rows["item_no"]]
    predicted = rows["predicted"].tolist()
    right = sum(a == b for a, b in zip(labels, predicted, strict=True))
    return {
        "accuracy": right / len(labels),
        "macro_f1": f1_score(labels, predicted, average="macro"),
        "f1@sea": f1_score(labels, predicted, average=None, labels=["sea"])[0],
        "tested": len(labels),
        "overlap": rows["repeated"].sum(),
    }


def assert_scores(metrics: Mapping[str, float], rows: pd.DataFrame, dataset: LabeledTexts) -> None:
    expected = expected_scores(rows, dataset)
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)


# --- what is stored


def test_folds_test_every_example_once_and_repeated_texts_together(folded: LabeledTexts, world: World) -> None:
    record = world.run("transfer", "trigrams", "topics")
    rows = rows_of(record, world)
    metrics = record.metrics
    assert rows["item_no"].tolist() == list(range(len(FOLDED)))
    assert_scores(metrics, rows, folded)
    assert metrics["accuracy"] > metrics["majority"] + 0.2
    assert metrics["accuracy_low"] < metrics["accuracy"] < metrics["accuracy_high"]
    assert metrics["macro_f1_low"] < metrics["macro_f1"] < metrics["macro_f1_high"]
    assert (metrics["folds"], metrics["classes"], metrics["trained"]) == (10, 3, len(FOLDED))
    repeated = rows["repeated"].to_numpy() == 1
    assert np.flatnonzero(repeated).tolist() == [0, 1, 2, 90, 91, 92]
    fold = rows["fold"].to_numpy()
    assert fold[[0, 1, 2]].tolist() == fold[[90, 91, 92]].tolist()
    clean = rows[~repeated]
    assert metrics["accuracy_without_overlap"] == pytest.approx(expected_scores(clean, folded)["accuracy"])
    assert metrics["macro_f1_without_overlap"] == pytest.approx(expected_scores(clean, folded)["macro_f1"])
    assert metrics["accuracy_without_overlap_low"] <= metrics["accuracy_without_overlap"]
    assert metrics["majority"] == pytest.approx(max(np.bincount(folded.labels)) / len(FOLDED))


def test_a_prescribed_split_with_and_without_what_stands_in_training(split: LabeledTexts, world: World) -> None:
    record = world.run("transfer", "trigrams", "topics")
    rows, metrics = rows_of(record, world), record.metrics
    assert rows["item_no"].tolist() == [*range(3, 120, 4), 120, 121]
    assert rows["fold"].unique().tolist() == [0]
    assert_scores(metrics, rows, split)
    assert (metrics["trained"], metrics["tested"], metrics["overlap"], metrics["folds"]) == (90, 32, 2, 1)
    clean = expected_scores(rows[rows["repeated"] == 0], split)
    assert metrics["accuracy_without_overlap"] == pytest.approx(clean["accuracy"])
    train = np.bincount(split.labels[split.splits == TRAIN])
    tested = split.labels[split.splits == TEST]
    assert metrics["majority"] == pytest.approx((tested == train.argmax()).mean())
    assert metrics["majority_without_overlap"] == pytest.approx((tested[:-2] == train.argmax()).mean())


def test_the_manifest_says_what_was_drawn_and_what_was_chosen(folded: LabeledTexts, world: World) -> None:
    record = world.run("transfer", "trigrams", "topics", seed="3")
    assert record.manifest["seeds"]["folds and weights"] == 3
    chosen = record.manifest["chosen"]
    assert list(chosen) == [f"C, fold {i}" for i in range(10)]
    assert set(chosen.values()) <= set(classifiers.STRENGTHS)
    assert record.metrics["c"] == np.median(list(chosen.values()))


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_once_more_gives_the_same_bits(split: LabeledTexts, classifier: str, world: World) -> None:
    request = world.request("transfer", "trigrams", "topics", classifier=classifier)
    first, again = (pipeline.run(request, world.settings, world.repository, again=again) for again in (False, True))
    assert again.computed
    assert again.changed == {}
    assert first.record.metrics["accuracy"] > 0.6
    chosen = first.record.manifest["chosen"]
    names = ["epochs, fold 0" if classifier.startswith("mlp") else "C, fold 0"]
    assert list(chosen) == [*names, *(["z-norm, fold 0"] if classifier == CHOSEN else [])]
    assert first.record.metrics["epochs" if classifier.startswith("mlp") else "c"] in chosen.values()


@pytest.mark.parametrize("noise", [0.0, 2_000.0])
def test_z_norm_is_chosen_where_it_gets_more_of_dev_right(noise: float) -> None:
    """A dimension of large noise hides the others, unless each is divided by its own spread; by hand from both runs."""
    dataset = dataset_of(SPLIT)
    rng = np.random.default_rng(2)
    vectors = np.column_stack([embedded(dataset), noise * rng.normal(size=(len(dataset.items), 8))]).astype(np.float32)
    plan, rows = definition._splits(dataset, 1)[0], vectors[dataset.firsts]

    def of_dev(name: str) -> int:
        scaling = features.Scaling.fit(rows, plan.training, each=name.endswith("znorm"))
        fit, dev = (scaling.apply(rows, part) for part in (plan.fit, plan.dev))
        models = [LogisticRegression(C=c, max_iter=2_000).fit(fit, dataset.labels[plan.fit]) for c in STRENGTHS]
        return max(int(np.sum(model.predict(dev) == dataset.labels[plan.dev])) for model in models)

    has_znorm = of_dev("logreg-znorm") > of_dev("logreg")
    assert has_znorm == (noise > 0)
    found = computed(vectors, dataset, CHOSEN)
    assert found.pop("znorm") == has_znorm
    assert found == computed(vectors, dataset, "logreg-znorm" if has_znorm else "logreg")


def test_another_seed_makes_other_folds(folded: LabeledTexts, world: World) -> None:
    folds = [rows_of(world.run("transfer", "trigrams", "topics", seed=seed), world)["fold"].tolist() for seed in "12"]
    assert folds[0] != folds[1]


def test_what_was_transformed_for_one_classifier_serves_the_others(split: LabeledTexts, world: World) -> None:
    kept = []
    for classifier in CLASSIFIERS:
        world.run("transfer", "trigrams~center", "topics", classifier=classifier)
        kept.append(next(iter(pipeline._LAST_TRANSFORMED.values()))[0])
    assert all(array is kept[0] for array in kept)


def test_texts_without_a_vector_are_left_out(folded: LabeledTexts, world: World) -> None:
    lacks = frozenset(folded.items[10:90:4])
    world.add(GramEncoder("partial", lacks=lacks.__contains__))
    record = world.run("transfer", "partial", "topics")
    rows = rows_of(record, world)
    expected = [i for i, example in enumerate(FOLDED) if example.first not in lacks]
    assert rows["item_no"].tolist() == expected
    assert record.coverage["examples_covered"] == len(expected) < record.coverage["examples"] == len(FOLDED)
    assert_scores(record.metrics, rows, folded)


# --- by itself


def embedded(dataset: LabeledTexts) -> Float32:
    return GramEncoder().encode(dataset.items, CancelToken())


def computed(embeddings: Float32, dataset: LabeledTexts, classifier: str = "logreg") -> dict[str, float]:
    params = {"classifier": classifier, "seed": "1"}
    return dict(compute(embeddings, dataset, params, no_progress, CancelToken()).metrics)


def test_neither_length_nor_offset_of_the_vectors_matters() -> None:
    dataset = dataset_of(SPLIT)
    vectors = embedded(dataset)
    here, there = computed(vectors, dataset), computed(64 * vectors + 16, dataset)
    assert there == pytest.approx(here, abs=1e-3)


@pytest.mark.heavy
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_embeddings_that_are_mostly_zeros_get_the_same_scores(classifier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The regression takes them sparse and does not subtract the mean; an example of 90 may turn."""
    dataset = dataset_of(texts(11))
    words = resolve_encoder("bag-of-words", Settings.from_environment({}))
    assert isinstance(words, BagOfWords)
    words.fit(dataset.items, CancelToken())
    embeddings = words.encode(dataset.items, CancelToken())[:, :100]
    assert 0 < np.count_nonzero(embeddings) < 0.1 * embeddings.size
    sparse = computed(embeddings, dataset, classifier)
    monkeypatch.setattr(features, "compact", lambda rows: rows)
    assert sparse == pytest.approx(computed(embeddings, dataset, classifier), abs=0.03)  # L-BFGS stops elsewhere


def test_two_texts_by_their_difference_and_product() -> None:
    """Whether two texts have the same words stands in neither of them."""
    examples, rng = texts(4, 240), np.random.default_rng(4)
    pairs = []
    for i, (one, other) in enumerate(zip(examples[:120], examples[120:], strict=True)):
        second = " ".join(map(str, rng.permutation(one.first.split()))) if i % 2 else other.first
        pairs.append(Example("sea" if i % 2 else "food", one.first, second, TEST if i % 5 == 0 else TRAIN))
    dataset = dataset_of(pairs)
    metrics = computed(embedded(dataset), dataset)
    assert metrics["majority"] == 0.5
    assert metrics["accuracy"] > 0.9


# --- nothing is learned from what is tested, where labels are a coin's


COPIES: dict[str, Callable[[str, str], tuple[str, str]]] = {
    "swapped": lambda one, other: (other, one),
    "in another Unicode form": lambda one, other: (normalize("NFD", one), normalize("NFD", other)),
    "in capitals": lambda one, other: (one.upper(), other),
}


@pytest.mark.parametrize("copy", COPIES)
def test_a_pair_and_its_copy_are_on_one_side(copy: str) -> None:
    """Labels are drawn by a coin, and each pair has its label twice: who has seen the copy knows the answer."""
    rng = np.random.default_rng(31)
    pairs = [(f"caf\u00e9 {i}", f"th\u00e9 {i}") for i in range(150)]
    examples = []
    for pair, heads in zip(pairs, rng.random(150) < 0.5, strict=True):
        examples += [Example("sea" if heads else "food", *texts) for texts in (pair, COPIES[copy](*pair))]
    dataset = dataset_of(examples)
    vector_of = dict.fromkeys(map(same_text, dataset.items))
    vector_of |= {text: rng.standard_normal(200) for text in vector_of}
    vectors = np.stack([vector_of[same_text(text)] for text in dataset.items]).astype(np.float32)
    metrics = computed(vectors, dataset)
    assert metrics["overlap"] == metrics["tested"] == 300
    assert abs(metrics["accuracy"] - 0.5) < 3 * 0.5 / np.sqrt(150)
    assert metrics["shared_text"] == 0


def shared_by_hand(dataset: LabeledTexts, fold: Sequence[int]) -> list[bool]:
    """Which examples share a text with an example of another fold."""
    sides = [
        {same_text(dataset.items[a]), same_text(dataset.items[b])}
        for a, b in zip(dataset.firsts, dataset.seconds, strict=True)
    ]
    return [any(one & other and fold[i] != fold[j] for j, other in enumerate(sides)) for i, one in enumerate(sides)]


def pairs_of(queries: int, each: int) -> LabeledTexts:
    """Each query beside some documents of its own."""
    rng = np.random.default_rng(queries)
    rows = [
        Example(("food", "sea")[int(rng.integers(2))], f"query {q}", f"document {q} {d}")
        for q in range(queries)
        for d in range(each)
    ]
    return dataset_of(rows)


@pytest.mark.parametrize(("queries", "each", "apart"), [(40, 4, True), (6, 20, False)])
def test_pairs_that_share_a_text_stay_together_where_they_can(queries: int, each: int, apart: bool) -> None:
    dataset = pairs_of(queries, each)
    vectors = np.random.default_rng(1).standard_normal((len(dataset.items), 8)).astype(np.float32)
    found = compute(vectors, dataset, {"classifier": "logreg", "seed": "1"}, no_progress, CancelToken())
    shared = shared_by_hand(dataset, found.items["fold"].to_pylist())
    assert found.metrics["shared_text"] == sum(shared)
    assert (sum(shared) == 0) == apart
    assert found.metrics["folds"] == 10


def test_a_label_that_hangs_on_one_of_two_texts_is_no_score() -> None:
    """A coin per query, and each query in ten pairs: who has learned one of them knows the others' label too."""
    rng = np.random.default_rng(5)
    coins = rng.random(60) < 0.5
    rows = [
        Example("sea" if coins[q] else "food", f"query {q}", f"document {rng.integers(10**9)}")
        for q in range(60)
        for _ in range(10)
    ]
    dataset = dataset_of(rows)
    vectors = rng.standard_normal((len(dataset.items), 200)).astype(np.float32)
    assert abs(computed(vectors, dataset)["accuracy"] - 0.5) < 3 * 0.5 / np.sqrt(60)


def test_a_prescribed_test_part_says_what_it_shares_with_training() -> None:
    learned = [Example(("food", "sea")[i % 2], f"one {i}", f"other {i}", TRAIN) for i in range(40)]
    asked = [("Other 0", "one  0"), ("one 1", "new"), ("newer", "other 2"), ("one 3", "one 4"), ("unseen", "unheard")]
    dataset = dataset_of([*learned, *(Example("food", *texts, TEST) for texts in asked)])
    metrics = computed(embedded(dataset), dataset)
    assert (metrics["tested"], metrics["overlap"], metrics["shared_text"]) == (5, 1, 3)


def test_vectors_that_are_all_alike_get_the_majority() -> None:
    dataset = dataset_of(SPLIT)
    for classifier in CLASSIFIERS:
        metrics = computed(np.full((len(dataset.items), 5), 0.3, dtype=np.float32), dataset, classifier)
        assert metrics["accuracy"] == metrics["majority"]


def test_a_test_part_that_is_all_in_training_has_no_scores_without_overlap() -> None:
    half = [replace(e, split=TRAIN) for e in texts(5, 60)]
    metrics = computed(embedded(d := dataset_of([*half, *(replace(e, split=TEST) for e in half)])), d)
    assert metrics["overlap"] == metrics["tested"] == 60
    assert not [name for name in metrics if "without_overlap" in name]


def test_every_metric_is_declared() -> None:
    dataset = dataset_of(SPLIT)
    declared = {metric.name for metric in ENTRY.metrics}
    found = {name for classifier in (CHOSEN, "mlp") for name in computed(embedded(dataset), dataset, classifier)}
    assert {name for name in found if "@" not in name} == declared
    assert {name for name in found if "@" in name} == {f"f1@{name}" for name in TOPICS}


def test_progress_goes_up_and_a_cancel_ends_it() -> None:
    dataset = dataset_of(FOLDED)
    told: list[tuple[str, float]] = []

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        told.append((stage, done / total if fraction is None else fraction))

    params = {"classifier": "logreg", "seed": "1"}
    compute(embedded(dataset), dataset, params, progress, CancelToken())
    shares = [share for name, share in told if name == "training"]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)

    cancel, steps = CancelToken(), []

    def cancelling(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        steps.append(stage)
        if len(steps) == 4:
            cancel.cancel()

    with pytest.raises(Cancelled):
        compute(embedded(dataset), dataset, params, cancelling, cancel)
    assert len(steps) == 4


# --- what is refused


LANDED = [e for e in FOLDED if e.label != "sea"]
LANDED_SPLIT = [e for e in SPLIT if e.label != "sea"]


def part(label: str, first: str, split: int = UNSPLIT) -> Example:
    return Example(label, first, split=split)


def test_what_is_no_number_is_refused() -> None:
    dataset = dataset_of(SPLIT)
    vectors = embedded(dataset)
    vectors[7, 3] = np.nan
    with pytest.raises(BlindspotError, match="hold something that is no number"):
        computed(vectors, dataset)


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([replace(e, label="sea") for e in FOLDED], "all examples of 'topics' to learn from are of one class, 'sea'"),
        ([*LANDED, part("sea", "x")], "'sea' of 'topics' has 1 different text to"),
        ([*LANDED, part("sea", "x"), part("sea", "X"), part("sea", "y")], "'sea' of 'topics' has 2 different texts to"),
        ([e for e in SPLIT if e.label != "sea" or e.split == TEST], "'sea' of 'topics' has 0 different texts to"),
        ([*LANDED_SPLIT, part("sea", "x", TRAIN)], "'sea' of 'topics' has 1 different text to"),
        ([replace(e, split=TRAIN) for e in SPLIT], "no example in its test part"),
        ([replace(e, split=TEST) for e in SPLIT], "no example in its training part"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_in_a_line(examples: list[Example], message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        check_classes(dataset_of(examples))
    assert "\n" not in str(error.value)


def test_with_a_dev_part_one_text_of_a_class_will_do() -> None:
    dataset = dataset_of([*LANDED_SPLIT, part("sea", "x", TRAIN), part("food", "y", DEV)])
    check_classes(dataset)
    assert computed(embedded(dataset), dataset)["folds"] == 1
