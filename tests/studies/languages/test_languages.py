"""Scores per language and nearest sentences of a pool, by loops in float64; groups, findings, command and page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.tatoeba import BOTH, PARALLEL
from blindspot.datasets.published.tatoeba.languages import ENGLISH, languages
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.uncertainty import one_group
from blindspot.errors import InputError
from blindspot.figures.theme import Scheme
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.intervals import p_of_more
from blindspot.runs.embeddings import vectors_of
from blindspot.runs.findings import Level
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.studies.findings.collection import Selection, collect, pools
from blindspot.studies.findings.wording import findings
from blindspot.studies.languages import figures
from blindspot.studies.languages.evidence import evidence, of_pool, pools_of
from blindspot.studies.languages.pooled import Nearest, Pool, best_of, biases, nearest_in, pool_of
from blindspot.studies.languages.scores import USUAL, By, Score, answer, cells_of, grouped, scores_of
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.commands import Command
from tests.support.pages import OpenApp, chart_named, table, written
from tests.support.world import World

DEMO = PARALLEL["demo-languages"]
ENCODER = "random-projection"  # letters and words: loanwords and names are all it finds
CODES = ("deu", "fra", "rus")


def computed(world: World, sets: str, codes: Sequence[str], encoder: str) -> list[Score]:
    cells = cells_of(PARALLEL[sets], PARALLEL[sets].languages(codes), encoder, world.settings)
    runs = {cell.request: run_of(world, cell.request.dataset, encoder) for cell in cells}
    return scores_of(cells, runs, world.repository)


def run_of(world: World, dataset: str, encoder: str) -> RunRecord:
    return world.run("evalrank", encoder, dataset, candidates="matches")


@pytest.fixture(scope="module")
def made(module_world: World) -> tuple[World, list[Score]]:
    return module_world, computed(module_world, "demo-languages", CODES, ENCODER)


def unit_rows(world: World, run: RunRecord) -> np.ndarray:
    rows = vectors_of(run, world.settings, world.repository).vectors.astype(np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def slow_scores(world: World, run: RunRecord) -> tuple[float, float]:
    """Hits@1 and MRR of a pair set among its matches, by loops in float64; ties within 1e-6 share the ranks."""
    dataset = fetch.load(find_dataset(run.plan.dataset), world.settings)
    assert isinstance(dataset, PairSet)
    rows = unit_rows(world, run)
    hits, reciprocal = [], []
    candidates = sorted(set(dataset.matches.tolist()))
    for query, match in zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True):
        own = rows[query] @ rows[match]
        others = [rows[query] @ rows[j] - own for j in candidates if j not in (query, match)]
        above = sum(one > 1e-6 for one in others)
        tied = sum(abs(one) <= 1e-6 for one in others)
        ranks = [above + 1 + place for place in range(tied + 1)]
        hits.append(sum(rank == 1 for rank in ranks) / len(ranks))
        reciprocal.append(sum(1 / rank for rank in ranks) / len(ranks))
    return float(np.mean(hits)), float(np.mean(reciprocal))


def slow_nearest(world: World, scores: Sequence[Score]) -> dict[str, dict[str, float]]:
    """Shares of kinds of nearest sentences by the language of the query, by loops over the files' texts."""
    texts: dict[str, tuple[set[str], set[str], np.ndarray]] = {}  # languages, English sentences, vector
    for score in scores:
        dataset = fetch.load(find_dataset(score.run.plan.dataset), world.settings)
        assert isinstance(dataset, PairSet)
        rows = unit_rows(world, score.run)
        if score.direction == "to":
            continue
        for query, match in zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True):
            english = dataset.items[match]
            for item, code in ((query, score.language.code), (match, ENGLISH)):
                known = texts.setdefault(dataset.items[item], (set(), set(), rows[item]))
                known[0].add(code)
                known[1].add(english)
    counts: dict[str, dict[str, float]] = {}
    for query, (own, meanings, vector) in texts.items():
        nearest = max((text for text in texts if text != query), key=lambda text: float(vector @ texts[text][2]))
        its, said, _ = texts[nearest]
        if its & own:
            kind = Nearest.OWN
        elif said & meanings:
            kind = Nearest.TRANSLATION
        else:
            kind = Nearest.ENGLISH if ENGLISH in its else Nearest.OTHER
        (code,) = own
        counts.setdefault(code, dict.fromkeys(Nearest, 0.0))[kind] += 1
    return {code: {kind: n / sum(own.values()) for kind, n in own.items()} for code, own in counts.items()}


# --- scores


def test_scores_are_evalranks_own_and_those_of_a_loop(made: tuple[World, list[Score]]) -> None:
    world, scores = made
    assert [(score.language.code, score.direction) for score in scores] == [(c, way) for c in CODES for way in BOTH]
    for score in scores:
        metrics = score.run.metrics
        assert score.accuracy.value == pytest.approx(metrics["hits@1"])
        assert score.mrr.value == pytest.approx(metrics["mrr"])
        assert (score.accuracy.value, score.mrr.value) == pytest.approx(slow_scores(world, score.run), abs=1e-9)
        assert (score.pairs, score.covered, metrics["background"]) == (40, 40, 40)
    assert max(score.accuracy.value for score in scores) > 0


def test_intervals_are_those_of_the_page_of_pairs(made: tuple[World, list[Score]]) -> None:
    world, scores = made
    for score in scores:
        run_id = score.run.run_id
        pairs = pair_table(ENTRY, [run_id], world.repository)
        known = one_group(pairs, [run_id], ["hits@1", "mrr"])[run_id]
        assert known["mrr"].known.units == 40, "all pairs are independent"
        for name, own in (("hits@1", score.accuracy), ("mrr", score.mrr)):
            assert own.value == pytest.approx(known[name].parts.mean())
            interval = known[name].estimate.interval
            assert own.interval is not None
            assert interval is not None
            assert (own.interval.low, own.interval.high) == pytest.approx((interval.low, interval.high))


def test_groups_are_sorted_and_their_means_unweighted(made: tuple[World, list[Score]]) -> None:
    _, scores = made
    (everything,) = grouped(scores, By.NONE)
    mean = {c: np.mean([s.accuracy.value for s in scores if s.language.code == c]) for c in CODES}
    assert [one.code for one in everything.languages] == sorted(CODES, key=lambda code: -mean[code])
    assert everything.means["from"] == pytest.approx(
        np.mean([s.accuracy.value for s in scores if s.direction == "from"])
    )
    assert {group.name for group in grouped(scores, By.SCRIPT)} == {"Latin", "Cyrillic"}
    assert {group.name for group in grouped(scores, By.FAMILY)} == {"Germanic", "Romance", "Balto-Slavic"}
    assert languages()[everything.languages[0].code].name in answer(scores)
    assert answer([]) == ""
    two = [score for score in scores if score.language in everything.languages[:2]]
    assert " 2 " in answer(two), "of how many languages it is the mean"


# --- the pool


def test_nearest_sentences_of_a_pool_by_a_loop(made: tuple[World, list[Score]]) -> None:
    world, scores = made
    pool = pool_of(scores, world.settings, world.repository)
    assert len(pool.texts) == 4 * 40, "the English sentences are the same for each language"
    found = {bias.language: bias for bias in biases(pool, Similarity.COS)}
    expected = slow_nearest(world, scores)
    assert found.keys() == expected.keys() == {*CODES, ENGLISH}
    for code, bias in found.items():
        assert (bias.queries, bias.of) == (40, 40)
        assert {str(kind): share for kind, share in bias.shares.items()} == pytest.approx(
            {str(kind): share for kind, share in expected[code].items()}
        )
        assert bias.expected == pytest.approx(39 / (159 - 3)), "three of the other sentences are translations"
        own = bias.shares[Nearest.OWN] * 40
        assert bias.p == pytest.approx(p_of_more(own, bias.wrong, bias.expected))
        assert bias.own.low <= bias.shares[Nearest.OWN] <= bias.own.high


def made_up_pool() -> Pool:
    """Two languages by hand: "a2" and "e2" mean the same, but "a2" is nearest to "a1"; "b1" is nearest to "e1"."""
    vectors = np.array([[1, 0.1], [1, 0.2], [0.1, 1], [0, 1], [0.5, 0.5]], dtype=np.float32)
    meanings = tuple(map(frozenset, ({3}, {4}, {3}, {3}, {4})))
    return Pool(
        ("a1", "a2", "b1", "e1", "e2"), (("a",), ("a",), ("b",), (ENGLISH,), (ENGLISH,)), vectors, None, meanings
    )


def test_kinds_of_nearest_sentences_by_hand() -> None:
    pool = made_up_pool()
    assert nearest_in(pool, Similarity.COS, np.arange(5)).tolist() == [1, 0, 3, 2, 1]
    found = {bias.language: bias for bias in biases(pool, Similarity.COS)}
    assert found["a"].shares[Nearest.OWN] == 1
    assert found["b"].shares[Nearest.TRANSLATION] == 1
    assert (found["a"].own_among_wrong, found["b"].own_among_wrong) == (1, None), "no mistake has no share of anything"
    assert found[ENGLISH].shares[Nearest.TRANSLATION] == 1
    assert found["a"].expected == pytest.approx(np.mean([1 / (4 - 2), 1 / (4 - 1)]))
    assert [example[:2] for example in found["a"].examples] == [("a1", "a2"), ("a2", "a1")]


def test_some_evenly_spaced_queries_are_looked_at_where_a_pool_is_large(made: tuple[World, list[Score]]) -> None:
    world, scores = made
    pool = pool_of(scores, world.settings, world.repository)
    some = biases(pool, Similarity.COS, most_products=1)
    assert [(bias.queries, bias.of) for bias in some] == [(20, 40)] * 4


def test_language_bias_is_a_finding(made: tuple[World, list[Score]]) -> None:
    world, scores = made
    found = biases(pool_of(scores, world.settings, world.repository), Similarity.COS)
    kinds = {one.kind: one for one in findings(evidence(found, scores))}
    assert set(kinds) == {f"own-language-first-{code}" for code in (*CODES, ENGLISH)}
    russian = kinds["own-language-first-rus"]
    assert russian.level is Level.BLIND_SPOT
    assert russian.p is not None
    assert russian.p < 1e-6
    assert russian.value > 0.8
    assert russian.runs[0].plan.dataset == "demo-rus-eng"
    assert "Russian" in russian.said()
    assert kinds["own-language-first-eng"].runs[0].plan.dataset.startswith("demo-eng-")


def test_the_languages_that_are_pooled_at_first_have_both_directions_and_the_best_scores(
    made: tuple[World, list[Score]],
) -> None:
    _, scores = made
    runs = [score.run for score in scores]
    mean = {c: np.mean([s.accuracy.value for s in scores if s.language.code == c]) for c in CODES}
    assert best_of(runs, 2) == tuple(sorted(CODES, key=lambda code: -mean[code])[:2])
    assert best_of(runs[1:]) == tuple(sorted(CODES[1:], key=lambda code: -mean[code])), "German has one direction left"
    assert best_of([]) == ()


def test_a_pool_has_the_newest_runs_of_one_model(made: tuple[World, list[Score]]) -> None:
    world, scores = made
    runs = [score.run for score in scores]
    other = run_of(world, "demo-deu-eng", "lsa")
    centered = world.run("evalrank", f"{ENCODER}~center", "demo-deu-eng", candidates="matches")
    usual = world.run("evalrank", ENCODER, "demo-pairs")
    (pool,) = pools_of([*runs, *runs, other, centered, usual])
    assert sorted(run.run_id for run in pool) == sorted(run.run_id for run in runs)
    assert pools_of([other]) == [], "no language in both directions"


def test_the_worst_language_of_a_pool_is_one_of_all_findings(made: tuple[World, list[Score]]) -> None:
    world, scores = made
    every = findings(evidence(biases(pool_of(scores, world.settings, world.repository), Similarity.COS), scores))
    (one,) = findings(of_pool([score.run for score in scores], world.repository, world.settings))
    assert one.value == max(each.value for each in every)
    assert one.p == pytest.approx(min(1, len(every) * min(each.p for each in every if each.p is not None)))
    assert one.address == {"lang_set": "demo-languages", "lang_enc": ENCODER, "lang_pool_on": "true"}
    chosen = Selection((Variant(ENCODER, "none"),))
    collected = collect(world.repository, world.settings, chosen)
    (shown,) = [each.finding for each in collected.discoveries if each.finding.kind == one.kind]
    assert shown.said() == one.said()
    assert {score.run.run_id for score in scores} <= set(collected.runs)
    there = replace(chosen, datasets=("demo-rus-eng",))
    elsewhere = replace(chosen, datasets=("demo-pairs",))
    assert [len(pools(world.repository, each)) for each in (chosen, there, elsewhere)] == [1, 1, 0]
    assert pools(world.repository, Selection()) == [], "it knows no meaning"
    named = Selection(runs=tuple(score.run.run_id for score in scores[:2]))
    ((own,),) = ([runs.chosen for runs in pools(world.repository, named)],)
    assert {run.plan.dataset for run in own} == {"demo-deu-eng", "demo-eng-deu"}


def test_post_processing_is_not_pooled(made: tuple[World, list[Score]]) -> None:
    world, _ = made
    cells = cells_of(DEMO, DEMO.languages(["deu"]), ENCODER, world.settings, transform="center")
    runs = {
        c.request: world.run("evalrank", f"{ENCODER}~center", c.request.dataset, candidates="matches") for c in cells
    }
    with pytest.raises(InputError, match="each language apart"):
        pool_of(scores_of(cells, runs, world.repository), world.settings, world.repository)


# --- MiniLM on the real sentences


@pytest.mark.realdata
def test_minilm_on_real_sentences_by_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The smaller files, for the loops' sake."""
    world = World(make_settings(tmp_path / "real", os.environ["BLINDSPOT_MIRROR"]), monkeypatch)
    scores = computed(world, "tatoeba", ["tel", "swg"], "minilm")
    for score in scores:
        assert (score.accuracy.value, score.mrr.value) == pytest.approx(slow_scores(world, score.run), abs=1e-6)
    at = {(score.language.code, score.direction): score.accuracy.value for score in scores}
    assert at["swg", "from"] > at["tel", "from"], "MiniLM was trained on English, to which Swabian is closer"
    assert {score.pairs for score in scores} == {234, 112}


@pytest.mark.realdata
def test_sentences_that_differ_by_case_alone_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Egyptian Arabic's file two English sentences do."""
    world = World(make_settings(tmp_path / "real", os.environ["BLINDSPOT_MIRROR"]), monkeypatch)
    scores = computed(world, "tatoeba", ["arz"], ENCODER)
    assert {(score.pairs, score.accuracy.units, score.mrr.units) for score in scores} == {(477, 476, 476)}


# --- figures, page, command


def test_a_dot_plot_of_all_112_languages(made: tuple[World, list[Score]]) -> None:
    _, (score, *_) = made
    every = [
        Score(one, way, score.run, score.accuracy, score.mrr, 40, 40)
        for one in PARALLEL["tatoeba"].languages()
        for way in BOTH
    ]
    for by in By:
        groups = grouped(every, by)
        figure = figures.language_dots(groups, every, "accuracy", Scheme.DARK)
        headings = sum(bool(group.name) for group in groups)
        assert [len(trace.x) for trace in figure.data] == [112, 112]
        assert len(figure.layout.yaxis.ticktext) == 112 + headings
        assert len({trace.marker.symbol for trace in figure.data}) == 2, "not by color alone"


@pytest.fixture
def settings(made: tuple[World, list[Score]]) -> Settings:
    return made[0].settings


def test_the_page_shows_what_is_computed(open_app: OpenApp, made: tuple[World, list[Score]]) -> None:
    world, scores = made
    address = {"lang_set": "demo-languages", "lang_enc": ENCODER}
    first = open_app(world.cache, "languages")
    assert first.selectbox(key="lang_set").value == "demo-languages", "nothing of Tatoeba is computed"
    app = open_app(world.cache, "languages", **address)
    assert not app.exception
    figure = chart_named(app, "lang_dots")
    assert sorted(len(trace["x"]) for trace in figure["data"]) == [3, 3]
    assert answer(scores).split(". ")[0][:40] in written(app)
    assert len(table(app, "filtered")) == 6
    app.text_input(key="lang_search").set_value("cyrillic").run()
    assert len(table(app, "filtered")) == 2
    app.text_input(key="lang_search").set_value("klingon").run()
    assert not app.exception
    app.text_input(key="lang_search").set_value("").run()
    app.toggle(key="lang_pool_on").set_value(True).run()
    assert not app.exception
    assert len(chart_named(app, "lang_nearest")["data"]) == len(Nearest)
    assert len(table(app, "a translation")) > 0


def test_a_page_without_runs_offers_them(open_app: OpenApp, tmp_path: Path) -> None:
    assert open_app(tmp_path, "languages").selectbox(key="lang_set").value == "tatoeba", "nothing is computed"
    app = open_app(tmp_path, "languages", lang_set="demo-languages")
    assert not app.exception
    assert any(button.key == "lab_run_languages" for button in app.button)


def test_the_command_as_a_table_and_as_json(blindspot: Command, made: tuple[World, list[Score]]) -> None:
    _, scores = made
    small = ("languages", "--encoder", ENCODER, "--data", "demo-languages", "--languages", "German, fra, rus")
    found = blindspot.json(*small, "--pooled", "--by", "script")
    assert [(one["language"], one["accuracy"], one["run_id"]) for one in found["scores"]] == [
        (score.language.code, score.accuracy.value, score.run.run_id) for score in scores
    ]
    assert [one["language"] for one in found["pooled"]] == [*CODES, ENGLISH]
    assert {one["group"] for one in found["groups"]} == {"Latin", "Cyrillic"}
    assert found["left_out"] == []
    assert len(found["findings"]) == 4
    said = blindspot.out(*small)
    assert "Russian" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--languages", "Germn"), "did you mean 'German'"),
        (("--languages", "eng"), "English"),
        (("--data", "tatoba"), "did you mean 'tatoeba'"),
        (("--encoder", "minilmm"), "did you mean 'minilm'"),
        (("--pooled", "--transform", "center"), "each language apart"),
    ],
)
def test_what_is_wrong_is_one_line(blindspot: Command, more: tuple[str, ...], said: str) -> None:
    found = blindspot("languages", "--encoder", ENCODER, "--data", "demo-languages", *more)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_a_script_without_vectors_is_left_out_with_a_line(blindspot: Command, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    vocabulary = "the train to coast der zug an die küste fährt um halb acht my sister in is on open library".split()
    vocabulary += [word.casefold() for text in german_and_english() for word in text.rstrip(".?").split()]
    rng = np.random.default_rng(0)
    rows = [f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=8))}" for word in dict.fromkeys(vocabulary)]
    words.write_text("\n".join(rows) + "\n", encoding="utf-8")
    asked = (
        "languages",
        "--encoder",
        f"vectors:{words}",
        "--data",
        "demo-languages",
        "--languages",
        "deu,cmn",
        "--json",
    )
    found = blindspot(*asked)
    assert found.code == 0, found.err
    assert "Mandarin Chinese is left out" in found.err


def german_and_english() -> list[str]:
    found: list[str] = []
    for direction in BOTH:
        dataset = find_dataset(DEMO.member("deu", direction)).load("", ())
        found += dataset.items
    return found


def test_the_first_choice_of_languages() -> None:
    for name, codes in USUAL.items():
        assert {one.code for one in PARALLEL[name].languages(codes)} == set(codes)
