"""Repairs from request to report: scores by loops and by ordinary runs, leaks, shuffled labels, bad input."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, Cancelled, InputError
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.training_data.evaluated import evaluated
from blindspot.runs.training_data.near_duplicates import key_of
from blindspot.studies.repair import fitting, measuring, task
from blindspot.studies.repair.examples import Vectors, examples_of, vectors_of
from blindspot.studies.repair.fitting import Map, Method, Triplets
from blindspot.studies.repair.measuring import Maps
from blindspot.studies.repair.results import Ends, Measure, Part, Report, Worth, answer
from blindspot.studies.repair.task import RepairTask
from blindspot.transforms import repairs
from blindspot.types import CancelToken, no_progress
from tests.support.small_world import GramEncoder
from tests.support.world import World

ENCODER = "trigrams"
TESTS = tuple(map(DatasetRef, ("demo-minimal", "demo-pairs", "demo-scored")))
LEARNABLE, RANDOM_LABELS, PLANTED = "learnable", "random-labels", "planted"


def word(rng: np.random.Generator) -> str:
    letters = zip(rng.choice(list("bdfgklmnprstvz"), 4), rng.choice(list("aeiou"), 4), strict=True)
    return "".join(a + b for a, b in letters)


def pairs(name: str, n: int, seed: int, *, by_chance: bool = False) -> MinimalPairSet:
    """Originals of four words; a paraphrase has one other word, and an opposite one other word and a marker.

    By chance, a coin decides which of the two is called which.
    """
    rng = np.random.default_rng(seed)
    originals, same, opposite = list[str](), list[str](), list[str]()
    for _ in range(n):
        words = [word(rng) for _ in range(5)]
        rewrites = [" ".join([*words[:3], word(rng), words[4]]), " ".join(["wixq", *words[:4]])]
        if by_chance and rng.random() < 0.5:
            rewrites.reverse()
        originals.append(" ".join(words))
        same.append(rewrites[0])
        opposite.append(rewrites[1])
    return minimal_pair_set(name, originals, {"paraphrase": same, "negation": opposite})


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "STEPS", 150)
        patch.setattr(measuring, "ASKED", 60)
        patch.setattr(task, "SHUFFLED", 2)
        yield


@pytest.fixture(scope="module")
def made(module_world: World) -> tuple[World, RepairTask, Report]:
    module_world.add(
        GramEncoder(ENCODER),
        GramEncoder("bigrams", 2),
        pairs(LEARNABLE, 240, 0),
        pairs(RANDOM_LABELS, 240, 1, by_chance=True),
    )
    asked = RepairTask.of(ENCODER, DatasetRef(LEARNABLE), module_world.settings, keep=10, rank=4, tests=TESTS)
    return module_world, asked, done(asked, module_world)


def done(asked: RepairTask, world: World) -> Report:
    return task.make(asked, world.settings, world.repository, no_progress, CancelToken())


@pytest.mark.trains
def test_held_out_scores_by_a_loop(made: tuple[World, RepairTask, Report]) -> None:
    world, asked, report = made
    encoder = resolve_encoder(ENCODER, world.settings)
    examples = examples_of(
        encoder,
        DatasetRef(LEARNABLE),
        TESTS,
        (),
        asked.seed,
        world.settings,
        world.repository,
        no_progress,
        CancelToken(),
    )
    matrix = task.repair_of(report, world.settings).matrix.astype(np.float64)
    dataset = fetch.load(find_dataset(LEARNABLE), world.settings)
    vectors = encoder.encode(list(dataset.items), CancelToken()).astype(np.float64)

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    def share(mapped: np.ndarray) -> float:
        right = 0.0
        for one in examples.tested:
            a, p, n = (mapped[dataset.items.index(text)] for text in one.texts)
            lead = cosine(a, p) - cosine(a, n)
            right += 0.5 if abs(lead) <= 1e-6 else float(lead > 0)
        return right / len(examples.tested)

    first = report.held_out
    assert first.part is Part.HELD_OUT
    assert first.items == len(examples.tested) == report.tested
    assert first.before == pytest.approx(share(vectors))
    assert first.after == pytest.approx(share(vectors @ matrix))
    assert first.change.value == pytest.approx(first.after - first.before)


@pytest.mark.trains
def test_it_gains_where_there_is_something_to_learn(made: tuple[World, RepairTask, Report]) -> None:
    _, _, report = made
    assert report.gains
    first = report.held_out
    assert first.random is not None
    assert first.shuffled is not None
    assert first.after > max(first.before, first.random, first.shuffled)


@pytest.mark.trains
@pytest.mark.parametrize("method", Method)
def test_labels_by_chance_give_no_gain(made: tuple[World, RepairTask, Report], method: Method) -> None:
    world, *_ = made
    report = done(
        RepairTask.of(
            ENCODER, DatasetRef(RANDOM_LABELS), world.settings, method=method, rank=4, tests=[DatasetRef("demo-scored")]
        ),
        world,
    )
    assert 0.35 < report.held_out.before < 0.65, "about as many as by chance, so that scrambling gains nothing"
    assert not report.gains
    assert not report.held_out.change.is_gain
    assert report.verdict() is Worth.NOT_WORTH
    assert ("demo-scored" in report.not_tested) is method.is_of_queries, "its texts do not ask"


def of_kinds(name: str, n: int, seed: int) -> MinimalPairSet:
    """``pairs`` with a second negative, which has another marker, and a second positive, which has a letter less."""
    first = pairs(name, n, seed)

    def column(numbers: np.ndarray) -> list[str]:
        return [first.items[int(number)] for number in numbers]

    originals, same, opposite = map(column, (first.originals, *first.rewrites.values()))
    more = {"antonym": [f"{text} qvaz" for text in originals], "typo": [text[:2] + text[3:] for text in originals]}
    return minimal_pair_set(name, originals, {"paraphrase": same, "negation": opposite, **more})


@pytest.mark.trains
def test_one_kind_is_trained_on_and_the_others_share_no_text_with_it(made: tuple[World, RepairTask, Report]) -> None:
    world, *_ = made
    world.add(of_kinds("kinds", 240, 8))
    encoder = resolve_encoder(ENCODER, world.settings)
    examples = examples_of(
        encoder,
        DatasetRef("kinds"),
        [DatasetRef("demo-scored")],
        ["negation"],
        1,
        world.settings,
        world.repository,
        no_progress,
        CancelToken(),
    )
    assert {one.kind for one in (*examples.trained, *examples.tested)} == {"negation"}
    assert {one.kind for one in examples.elsewhere} == {"antonym"}
    trained = {key_of(text) for one in examples.trained for text in one.texts}
    assert not trained & {key_of(text) for one in examples.elsewhere for text in one.texts}
    # An original brings one triplet with either positive; whatever is trained on takes its originals along.
    assert len(examples.elsewhere) == 2 * 240 - len(examples.trained)
    asked = RepairTask.of(
        ENCODER, DatasetRef("kinds"), world.settings, kinds=["negation"], rank=4, tests=[DatasetRef("demo-scored")]
    )
    report = done(asked, world)
    assert report.kinds == ("negation",)
    assert [(one.part, one.kind) for one in report.measures if one.dataset == "kinds"] == [
        (Part.HELD_OUT, ""),
        (Part.HELD_OUT, "paraphrase as positive"),
        (Part.HELD_OUT, "typo as positive"),
        (Part.KINDS, "antonym"),
        (Part.KINDS, "paraphrase as positive"),
        (Part.KINDS, "typo as positive"),
    ]
    with pytest.raises(InputError, match="of the kind 'role_swap'"):
        done(
            RepairTask.of(
                ENCODER, DatasetRef("kinds"), world.settings, kinds=["role_swap"], tests=[DatasetRef("demo-scored")]
            ),
            world,
        )


@pytest.mark.trains
def test_a_positive_before_all_negatives_by_a_loop(made: tuple[World, RepairTask, Report]) -> None:
    world, *_ = made
    world.add(of_kinds("items", 240, 9))
    encoder = resolve_encoder(ENCODER, world.settings)
    report = done(
        RepairTask.of(ENCODER, DatasetRef("items"), world.settings, rank=4, tests=[DatasetRef("demo-scored")]), world
    )
    found = next(one for one in report.measures if one.kind == measuring.FIRST)
    examples = examples_of(
        encoder,
        DatasetRef("items"),
        [DatasetRef("demo-scored")],
        (),
        fitting.SEED,
        world.settings,
        world.repository,
        no_progress,
        CancelToken(),
    )
    dataset = examples.vectors.dataset
    matrix = task.repair_of(report, world.settings).matrix.astype(np.float64)
    for score, mapped in ((found.before, examples.vectors.matrix), (found.after, examples.vectors.matrix @ matrix)):
        units = mapped / np.linalg.norm(mapped, axis=1, keepdims=True)
        points = list[float]()
        for anchor, positive in dict.fromkeys((one.anchor, one.positive) for one in examples.tested):
            negatives = [one.negative for one in examples.tested if (one.anchor, one.positive) == (anchor, positive)]
            own, *others = (
                float(units[dataset.items.index(anchor)] @ units[dataset.items.index(text)])
                for text in (positive, *negatives)
            )
            assert len(others) == 2
            tied = sum(abs(own - other) <= 1e-6 for other in others)
            points.append(0.0 if any(other > own + 1e-6 for other in others) else 1 / (1 + tied))
        assert found.items == len(points)
        assert score == pytest.approx(np.mean(points))


@pytest.mark.trains
def test_a_map_that_changes_nothing_rules_out_what_so_many_units_can(made: tuple[World, RepairTask, Report]) -> None:
    """With a share p of units that differ, none of n does in (1 - p)^n of the samples: 2.5% at the interval's end."""
    world, *_ = made
    dataset = fetch.load(find_dataset(LEARNABLE), world.settings)
    matrix = np.random.default_rng(0).standard_normal((len(dataset.items), 8)).astype(np.float32)
    vectors = Vectors(dataset, matrix, np.ones(len(matrix), dtype=np.bool_))
    rows = np.arange(200, dtype=np.int64)
    still = fitting.nothing(8)
    tested = measuring.Tested(
        Part.HELD_OUT,
        Maps(still, still, (still,), (still,)),
        vectors,
        Triplets(rows, rows + 200, rows + 400),
        Dependence.of_groups(rows, Unit.SENTENCES),
    )
    found = tested.in_order("", np.ones(200, dtype=np.bool_))
    assert found.change.value == 0
    assert found.change.high is not None
    assert (1 - found.change.high) ** 200 == pytest.approx(0.025)
    assert found.change.low == -found.change.high
    assert not found.may_lose(0.02)
    assert found.may_lose(0.01)
    report = replace(made[2], measures=(found, replace(found, part=Part.KINDS)), moved=0.0, steps=0)
    assert report.verdict() is Worth.NOT_WORTH
    assert answer(report)[0].lower().startswith(Worth.NOT_WORTH.value)


def test_ties_share_the_point() -> None:
    leads = np.array([0.1, 0.2, 0.0, 0.3, 0.0, 0.0, 0.1, -0.1])
    item = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    assert measuring.is_first(leads, item).tolist() == pytest.approx([1, 1 / 2, 1 / 3, 0])
    assert measuring.in_order(leads).tolist() == [1, 1, 0.5, 1, 0.5, 0.5, 1, 0]


@pytest.mark.trains
def test_a_model_below_chance_gains_from_shuffled_labels_and_that_is_no_gain(
    made: tuple[World, RepairTask, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positives with more noise than negatives: nothing can be learned, and whatever scrambles vectors gains."""
    monkeypatch.setattr(fitting, "STEPS", 600)
    rng = np.random.default_rng(0)
    m, d = 900, 12
    anchors = rng.standard_normal((m, d))
    noise = [0.9 * rng.standard_normal((m, d)), 0.5 * rng.standard_normal((m, d))]
    matrix = np.concatenate([anchors, *(anchors + one for one in noise)]).astype(np.float32)
    dataset = fetch.load(find_dataset(LEARNABLE), made[0].settings)
    vectors = Vectors(dataset, matrix, np.ones(3 * m, dtype=np.bool_))
    rows = np.arange(m, dtype=np.int64)
    every = Triplets(rows, rows + m, rows + 2 * m)
    train, stop, test = (
        Triplets(rows[a:b], rows[a:b] + m, rows[a:b] + 2 * m) for a, b in ((0, 500), (500, 600), (600, m))
    )
    assert measuring.in_order(fitting.nothing(d).leads(matrix, every)).mean() < 0.2

    def of_shuffled(seed: int) -> Map:
        return fitting.fit(
            matrix,
            train.shuffled(seed),
            stop.shuffled(seed + 10),
            Method.QUERIES,
            no_progress,
            CancelToken(),
            keep=0.0,
            seed=seed,
        )

    repair, *others = map(of_shuffled, (5, 6, 7))
    random = tuple(fitting.random_map(repair, Method.QUERIES, seed) for seed in range(5))
    maps = Maps(fitting.nothing(d), repair, random, tuple(others))
    known = Dependence.of_groups(test.anchor, Unit.SENTENCES)
    tested = measuring.Tested(Part.HELD_OUT, maps, vectors, test, known)
    found = tested.in_order("", np.ones(len(test), dtype=np.bool_))
    assert found.change.is_gain, "over doing nothing"
    report = replace(made[2], measures=(found,))
    assert not report.gains
    assert report.verdict() is Worth.NOT_WORTH


@pytest.mark.trains
def test_damage_is_that_of_ordinary_runs(made: tuple[World, RepairTask, Report]) -> None:
    world, _, report = made
    for name, diagnostic, score in (("demo-pairs", "evalrank", "mrr"), ("demo-scored", "similarity", "spearman")):
        one = next(m for m in report.of(Part.DAMAGE) if m.dataset == name and m.counts)
        assert one.before == pytest.approx(world.run(diagnostic, ENCODER, name).metrics[score])
        assert one.after == pytest.approx(world.run(diagnostic, f"{ENCODER}~{report.chain}", name).metrics[score])
    kept = list(world.settings.repairs.glob("*.npz"))
    assert f"{report.chain.partition(':')[2]}.npz" in {path.name for path in kept}
    chains = {str(run.plan.variant.transform) for run in world.repository.runs()}
    assert chains <= {"none", report.chain}, "random maps are nobody's results"


@pytest.mark.trains
def test_neighbors_kept_by_a_loop(made: tuple[World, RepairTask, Report]) -> None:
    world, *_ = made
    encoder = resolve_encoder(ENCODER, world.settings)
    vectors = vectors_of(find_dataset("demo-pairs"), encoder, world.settings, no_progress, CancelToken())
    d = vectors.matrix.shape[1]
    maps = [Map(np.random.default_rng(i).standard_normal((d, d)).astype(np.float32), False) for i in range(2)]
    found = measuring.neighbors_kept(vectors, Maps(fitting.nothing(d), maps[0], (maps[1],), ()))
    places = np.arange(len(vectors.matrix))
    asking = np.sort(np.random.default_rng(measuring.DRAWN_SEED).choice(places, measuring.ASKED, replace=False))

    def near(matrix: np.ndarray, row: int) -> set[int]:
        mapped = vectors.matrix.astype(np.float64) @ matrix
        units = mapped / np.maximum(np.linalg.norm(mapped, axis=1, keepdims=True), 1e-300)
        scores = units @ units[row]
        scores[row] = -np.inf
        return set(np.argsort(-scores)[: measuring.NEIGHBORS].tolist())

    sampled = asking[:20]
    own = measuring.nearest(maps[0], vectors, sampled, places, measuring.NEIGHBORS)
    for row, line in zip(sampled.tolist(), own, strict=True):
        expected = near(maps[0].matrix.astype(np.float64), row)
        assert len(expected & set(line.tolist())) >= measuring.NEIGHBORS - 1, "equal texts may tie"
    assert 0 <= found.after < 1
    assert found.change.value == pytest.approx(found.after - 1)
    assert not found.counts


@pytest.mark.trains
def test_no_evaluated_text_is_trained_on_in_another_case_or_spacing(made: tuple[World, RepairTask, Report]) -> None:
    world, *_ = made
    demo = fetch.load(find_dataset("demo-minimal"), world.settings)
    scored = fetch.load(find_dataset("demo-scored"), world.settings)
    clean = pairs(PLANTED, 200, 3)

    def column(numbers: Sequence[int]) -> list[str]:
        return [clean.items[number] for number in numbers]

    originals, same, opposite = map(column, (clean.originals, *clean.rewrites.values()))
    for row, text in enumerate([*demo.items[:20], *scored.items[:20]]):
        disguised = (text.upper(), f"  {text.replace(' ', '   ')} ", text.title(), text.lower() + " ")[row % 4]
        (originals, same, opposite)[row % 3][row] = disguised
    planted = minimal_pair_set(PLANTED, originals, {"paraphrase": same, "negation": opposite})
    world.add(planted)
    examples = examples_of(
        resolve_encoder(ENCODER, world.settings),
        DatasetRef(PLANTED),
        TESTS,
        (),
        1,
        world.settings,
        world.repository,
        no_progress,
        CancelToken(),
    )
    theirs = {key_of(text) for text in evaluated(PLANTED, TESTS, (), world.settings, world.repository).texts}
    assert theirs >= {key_of(text) for text in demo.items}
    used = [text for one in (*examples.trained, *examples.tested) for text in one.texts]
    assert not theirs & set(map(key_of, used))
    assert sum(examples.left_out.values()) >= 40
    trained = {key_of(text) for one in examples.trained for text in one.texts}
    tested = {key_of(text) for one in examples.tested for text in one.texts}
    assert not trained & tested
    rows = {part: set(getattr(examples, part).rows.tolist()) for part in ("train", "stop", "test")}
    for one, other in itertools.combinations(rows.values(), 2):
        assert not one & other


@pytest.mark.trains
def test_a_report_is_found_again(made: tuple[World, RepairTask, Report]) -> None:
    world, asked, report = made
    assert task.find(asked, world.settings) == report
    assert task.is_of_today(report, world.settings)
    assert task.find(replace(asked, seed=9), world.settings) is None
    again = done(asked, world)
    assert again.chain == report.chain, "the same data give the same repair"
    assert Report.of_json(json.loads(json.dumps(report.to_json()))) == report
    path = task.path_of(asked, world.settings)
    whole = path.read_bytes()
    path.write_text("{}")
    assert task.find(asked, world.settings) is None
    path.write_bytes(whole)


@pytest.mark.trains
def test_a_repair_fits_its_own_model_alone(made: tuple[World, RepairTask, Report]) -> None:
    world, _, report = made
    with pytest.raises(InputError, match="another model's vectors"):
        world.request("heros", f"bigrams~{report.chain}", LEARNABLE)
    with pytest.raises(BlindspotError, match="not on this machine"):
        world.request("heros", f"{ENCODER}~repair:0123456789ab", LEARNABLE)
    with pytest.raises(InputError, match="a repair of its vectors"):
        RepairTask.of("lsa", DatasetRef(LEARNABLE), world.settings)


@pytest.mark.trains
def test_a_cancelled_repair_leaves_nothing(made: tuple[World, RepairTask, Report]) -> None:
    world, asked, _ = made
    before = set(world.settings.repairs.iterdir())
    for stage in (fitting.STAGE, "testing on"):
        cancel = CancelToken()

        def progress(
            at: str,
            done: int,
            total: int,
            fraction: float | None = None,
            stage: str = stage,
            cancel: CancelToken = cancel,
        ) -> None:
            if at.startswith(stage):
                cancel.cancel()

        with pytest.raises(Cancelled):
            task.make(replace(asked, seed=77), world.settings, world.repository, progress, cancel)
        assert set(world.settings.repairs.iterdir()) == before


@pytest.mark.parametrize(
    ("encoder", "dataset", "said"),
    [
        (GramEncoder("constant", constant=True), pairs("p1", 240, 5), "same direction"),
        (
            GramEncoder("half", lacks=lambda text: len(set(text)) % 2 == 0 or text < "m"),
            pairs("p2", 240, 6),
            "has a vector for",
        ),
        (GramEncoder("plain"), pairs("p3", 6, 7), "triplets"),
        (
            GramEncoder("plain"),
            minimal_pair_set("p4", ["one text", "two texts"], {"paraphrase": ["a text", "some texts"]}),
            "known to change the meaning",
        ),
    ],
)
def test_bad_input_is_one_line(world: World, encoder: GramEncoder, dataset: MinimalPairSet, said: str) -> None:
    world.add(encoder, dataset)
    asked = RepairTask.of(encoder.reference, DatasetRef(dataset.id), world.settings, tests=[DatasetRef("demo-scored")])
    with pytest.raises(InputError, match=said) as found:
        done(asked, world)
    assert "\n" not in str(found.value)
    assert not list(world.settings.repairs.glob("*"))


@pytest.mark.trains
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"encoder": "bm25"}, "without vectors"),
        ({"encoder": "trigrams~center"}, "has a transform"),
        ({"dataset": DatasetRef("demo-scored")}, "has no triplets"),
        ({"rank": 0}, "rank"),
        ({"keep": -1.0}, "weight"),
        ({"tests": [DatasetRef(LEARNABLE)]}, "trained on"),
    ],
)
def test_what_cannot_be_asked_for(made: tuple[World, RepairTask, Report], change: dict[str, object], said: str) -> None:
    world, *_ = made
    given = {"encoder": ENCODER, "dataset": DatasetRef(LEARNABLE), **change}
    with pytest.raises(InputError, match=said):
        RepairTask.of(settings=world.settings, **given)  # type: ignore[arg-type]


# --- the verdict


def measure(part: Part, change: Ends, **more: object) -> Measure:
    filled = {"p_corrected": 0.001, "over_random": change, "over_shuffled": change} | more
    return Measure(part, "demo-pairs", "", 9, "pairs", 0.4, 0.4 + change.value, change, 0.4, 0.4, **filled)  # type: ignore[arg-type]


GAIN = measure(Part.HELD_OUT, Ends(0.3, 0.2, 0.4))


@pytest.mark.trains
@pytest.mark.parametrize(
    ("measures", "verdict"),
    [
        ([GAIN, measure(Part.DAMAGE, Ends(-0.001, -0.01, 0.01))], Worth.WORTH),
        ([GAIN, measure(Part.DAMAGE, Ends(-0.1, -0.15, -0.05))], Worth.NOT_WORTH),
        ([GAIN, measure(Part.KINDS, Ends(-0.1, -0.15, -0.05))], Worth.NOT_WORTH),
        ([GAIN, measure(Part.DAMAGE, Ends(-0.1, -0.15, -0.05), counts=False)], Worth.OPEN),
        ([GAIN, measure(Part.DAMAGE, Ends(-0.1, -0.25, 0.05), p_corrected=0.3)], Worth.OPEN),
        ([GAIN, measure(Part.DAMAGE, Ends(-0.01, None, None, "too few"), p_corrected=None)], Worth.OPEN),
        ([GAIN], Worth.OPEN),
        (
            [measure(Part.HELD_OUT, Ends(0.1, -0.1, 0.3)), measure(Part.DAMAGE, Ends(0.0, -0.001, 0.001))],
            Worth.NOT_WORTH,
        ),
        ([replace(GAIN, over_random=Ends(0.1, -0.1, 0.3))], Worth.NOT_WORTH),
        ([replace(GAIN, over_shuffled=Ends(0.1, -0.1, 0.3))], Worth.NOT_WORTH),
    ],
)
def test_the_verdict(made: tuple[World, RepairTask, Report], measures: list[Measure], verdict: Worth) -> None:
    report = replace(made[2], measures=tuple(measures))
    assert report.verdict() is verdict
    said = answer(report)
    assert said[0].lower().startswith(verdict.value)
    assert all(one.endswith(".") for one in said)


@pytest.mark.trains
def test_a_loss_within_the_tolerance_is_none(made: tuple[World, RepairTask, Report]) -> None:
    report = replace(made[2], measures=(GAIN, measure(Part.DAMAGE, Ends(-0.03, -0.04, -0.025))))
    assert report.verdict(0.02) is Worth.NOT_WORTH
    assert report.verdict(0.05) is Worth.WORTH


@pytest.mark.trains
def test_the_catalog_entry_of_the_usual_tests_is_not_the_trained_one(made: tuple[World, RepairTask, Report]) -> None:
    world, *_ = made
    found = measuring.usual_tests("demo-minimal", world.settings)
    assert "demo-minimal" not in found
    assert "demo-pairs" not in found, "it has the same sentences"
    assert {"demo-minimal", "demo-scored"} <= set(measuring.usual_tests(LEARNABLE, world.settings))
    assert repairs.find(world.settings.repairs, "0" * 12) is None
