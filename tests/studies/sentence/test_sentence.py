"""A sentence and its rewrites, or some lines: the numbers, and that page, command and function show the same."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from html import escape
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import blindspot as bs
from blindspot import policy
from blindspot.datasets import uploads
from blindspot.datasets.perturbations.rules import RULES
from blindspot.encoders.catalog import ENCODERS, entry_of, resolve_encoder
from blindspot.errors import InputError
from blindspot.runs import own_scale
from blindspot.settings import Settings
from blindspot.space.neighbors import free_text
from blindspot.studies.sentence.asking import MOST_LINES, MOST_MODELS, try_sentence
from blindspot.studies.sentence.page import EXAMPLES
from blindspot.studies.sentence.view import APART, LinesView, SentenceView
from blindspot.types import CancelToken
from blindspot.variants import Variant
from tests.support.commands import Command
from tests.support.pages import OpenApp, written

SENTENCE = "Anna paid 5 dollars before the meeting with Peter."
GERMAN = "Der Hund hat 3 Katzen nicht gesehen, aber die Katze schläft."
LINES = ("The ferry does not run in winter.", "In winter there is no ferry service.", "The soup was too salty.")
RANDOM, SMALL = Variant("random-projection", "none"), Variant("random-projection-64", "none")


def one(settings: Settings, *variants: Variant, text: str = SENTENCE) -> SentenceView:
    view = try_sentence(variants, [text], settings)
    assert isinstance(view, SentenceView)
    return view


encoder_at = cache(resolve_encoder)


def cosine(variant: Variant, first: str, second: str, settings: Settings) -> float:
    """Encoded one by one, with nothing kept, in Python's own numbers."""
    encoder = encoder_at(variant.encoder, settings)
    x, y = (encoder.encode([text], CancelToken())[0].astype(float).tolist() for text in (first, second))
    return math.fsum(a * b for a, b in zip(x, y, strict=True)) / (math.hypot(*x) * math.hypot(*y))


def test_rewrites_are_those_of_make_minimal_pairs(blindspot: Command, settings: Settings, tmp_path: Path) -> None:
    for text in (SENTENCE, "He isn't at home, is he?", GERMAN, "Пациент принимает 2 таблетки."):
        (tmp_path / "one.txt").write_text(text, "utf-8")
        said = blindspot.json("make", "minimal-pairs", "--texts", str(tmp_path / "one.txt"), "--preview", "50")
        view = one(settings, RANDOM, text=text)
        made = {(row["kind"], row["rewrite"], row["change"], row["meaning"] == "kept") for row in said["preview"]}
        assert {(r.rule, r.text, r.change, r.keeps) for r in view.rewrites} == made
        passed = {rule for over in view.passed_over for rule in over.rules}
        assert passed | {RULES[r.rule].kind for r in view.rewrites} == {rule.kind for rule in RULES.values()}
    assert {r.rule for r in one(settings, RANDOM, text=GERMAN).rewrites} >= {"number", "typo", "case", "word_order"}
    assert "it looks German, and the rule is English" in one(settings, RANDOM, text=GERMAN).passed_in_words()


@pytest.mark.heavy
def test_similarities_are_those_of_minilm(shared_settings: Settings) -> None:
    variants = [Variant("minilm", "none"), Variant("minilm-static", "none")]
    view = one(shared_settings, *variants)
    assert len(view.rewrites) >= 19
    for rewrite in view.rewrites:
        for variant, value in zip(variants, rewrite.similarities, strict=True):
            assert value == pytest.approx(cosine(variant, SENTENCE, rewrite.text, shared_settings), abs=1e-6)
    pair = try_sentence(variants, LINES[:2], shared_settings)
    assert isinstance(pair, LinesView)
    for variant, compared in zip(variants, pair.models, strict=True):
        assert compared.similarities[0][1] == pytest.approx(cosine(variant, *LINES[:2], shared_settings), abs=1e-6)
        assert compared.contributions is not None
        assert compared.contributions.cells.sum() == pytest.approx(compared.similarities[0][1], abs=1e-6)
    # Some texts are longer than it reads: which ones is said, though a batch only counts them.
    long = "word " * 300
    encoded = free_text.encode(
        [long, "short"], resolve_encoder("minilm", shared_settings), own_scale.sentences(), CancelToken()
    )
    assert [found.truncated for found in encoded] == [True, False]
    cut = one(shared_settings, variants[0], text=long.strip())
    assert cut.models[0].notes


def test_what_is_counted(settings: Settings) -> None:
    view = one(settings, RANDOM, SMALL, Variant("random-projection", "center"))
    for number, judged in enumerate(view.models):
        values = {r.rule: r.similarities[number] or math.nan for r in view.rewrites}
        keeping = {r.rule for r in view.rewrites if r.keeps and r.kind not in APART}
        changing = {r.rule for r in view.rewrites if not r.keeps}
        lowest = min(values[rule] for rule in keeping)
        above = {rule for rule in changing if values[rule] > lowest + 1e-6}
        assert {r.rule for r in view.rewrites if r.above[number]} == above
        assert (judged.above, judged.changing, judged.lowest) == (len(above), len(changing), lowest)
        assert values[judged.lowest_rule] == lowest
        assert judged.said.startswith(f"{len(above) or 'None'} of {len(changing)} rewrites that change the meaning")
    for keeps in (True, False):
        first = [r.similarities[0] or math.nan for r in view.group(keeps=keeps)]
        assert first == sorted(first, reverse=True)
    assert {r.kind for r in view.group(keeps=True, is_counted=False)} == set(APART)
    for text, said in (("Hi", "No rule that"), ("12 34", "No rule that changes"), ("…", "No rule that changes")):
        assert one(settings, RANDOM, text=text).models[0].said.startswith(said), text


def test_words_without_a_vector_are_named(settings: Settings, tmp_path: Path) -> None:
    """A rewrite that changes only such words has similarity 1, which says nothing about the model's meaning of it."""
    (tmp_path / "few.vec").write_text("the 1 0 0\na 0 1 0\nis 0.5 0.5 0\ncamera 0 0 1\n", "utf-8")
    words = Variant(f"vectors:{tmp_path / 'few.vec'}", "none")
    (judged,) = one(settings, words, text="The camera is not ready.").models
    assert judged.notes == ("It has no vector for “not”, “ready”, “perhaps” and “raedy”: such words do not count.",)
    (judged,) = one(settings, words, text="Nobody knows.").models
    assert (judged.said, judged.notes) == ("It has no vector for this sentence: it knows none of its words.", ())
    assert not one(settings, RANDOM).models[0].notes

    many = " ".join(f"w{i}" for i in range(12))
    view = try_sentence([words, RANDOM], (f"The {many}", "The camera is a camera", "Nobody"), settings)
    named = ", ".join(f"“w{i}”" for i in range(8))
    assert [model.notes for model in view.models] == [
        (
            "No vector, since it knows none of the words: line 3.",
            f"It has no vector for {named} and 4 more: such words do not count.",
        ),
        (),
    ]


def test_a_models_own_scale(settings: Settings) -> None:
    data = own_scale.sentences()
    encoder = resolve_encoder("random-projection-64", settings)
    vectors = encoder.encode(data.items, CancelToken()).astype(np.float64)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = list(zip(data.firsts.tolist(), data.seconds.tolist(), strict=True))
    same = [float(units[a] @ units[b]) for (a, b), score in zip(pairs, data.scores, strict=True) if score >= 4.5]
    subjects, judged = sorted({a for a, _ in pairs}), {frozenset(pair) for pair in pairs}
    apart = [float(units[a] @ units[b]) for a, b in combinations(subjects, 2) if frozenset((a, b)) not in judged]

    own_scale._ground.cache_clear()
    found = own_scale.ground_of(SMALL, replace(settings, read_only=True), CancelToken()).scale
    assert found is not None
    assert not settings.embeddings.exists(), "a store that is only read gets nothing"
    for spread, values in ((found.paraphrases, same), (found.unrelated, apart)):
        assert spread.pairs == len(values) >= 50
        assert spread.median == pytest.approx(median(values))
        assert sum(spread.low <= value <= spread.high for value in values) / len(values) == pytest.approx(0.9, abs=0.03)
    assert found.place(found.unrelated.median) == found.place(-1.0) == 0.0
    assert found.place(found.paraphrases.median) == found.place(1.0) == 1.0
    assert found.place((found.paraphrases.median + found.unrelated.median) / 2) == pytest.approx(0.5)
    assert math.isnan(own_scale.Scale(found.paraphrases, found.unrelated).place(0.5))

    own_scale._ground.cache_clear()
    assert own_scale.ground_of(SMALL, settings, CancelToken()).scale == found
    stored = {path.name: path.stat().st_mtime_ns for path in settings.embeddings.glob("*.npy")}
    own_scale._ground.cache_clear()
    assert own_scale.ground_of(SMALL, settings, CancelToken()).scale == found
    assert {path.name: path.stat().st_mtime_ns for path in settings.embeddings.glob("*.npy")} == stored != {}


def test_lines_and_where_two_models_disagree(settings: Settings) -> None:
    lines = (*LINES, "I found the soup oversalted.", "It is raining.", LINES[0])
    view = try_sentence([RANDOM, SMALL], lines, settings)
    assert isinstance(view, LinesView)
    for variant, compared in zip((RANDOM, SMALL), view.models, strict=True):
        for i, j in combinations(range(len(lines)), 2):
            expected = cosine(variant, lines[i], lines[j], settings)
            assert compared.similarities[i][j] == compared.similarities[j][i] == pytest.approx(expected, abs=1e-6)
        assert compared.contributions is None
    gaps = {}
    for i, j in combinations(range(len(lines)), 2):
        places = [m.scale.place(m.similarities[i][j] or 0.0) for m in view.models if m.scale]
        gaps[i, j] = abs(places[0] - places[1])
    largest = sorted(gaps.values(), reverse=True)[: len(view.disagreements)]
    assert [gaps[found.lines] for found in view.disagreements] == pytest.approx(largest)
    assert all(found.places[0] > found.places[1] for found in view.disagreements)
    assert len(view.disagreements) >= 3


def test_page_command_and_function_show_one_view(
    open_app: OpenApp, blindspot: Command, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ["--encoder", RANDOM.encoder, "--encoder", SMALL.encoder]
    names = [RANDOM.encoder, SMALL.encoder]
    for texts in ([SENTENCE], list(LINES), list(LINES[:2])):
        function = bs.try_sentence(names, texts[0] if len(texts) == 1 else texts, store=settings.cache)
        said = blindspot.json("try", *texts, *models)
        assert said == _plain(function.as_json())
        assert names[1] in blindspot.out("try", *texts, *models)
    sentence = bs.try_sentence(names, SENTENCE, store=settings.cache)
    assert isinstance(sentence, SentenceView)

    unlisted = entry_of(SMALL.encoder)
    assert unlisted
    monkeypatch.setitem(ENCODERS, SMALL.encoder, unlisted)  # the page offers what is listed
    app = open_app(settings.cache, "try_it", sentence=SENTENCE, try_models=[str(RANDOM), str(SMALL)])
    (tables,) = (table for table in html(app) if 'role="table"' in table)
    for judged in sentence.models:
        assert f"<b>{judged.label}</b>: {escape(judged.said)}" in tables
    for rewrite in sentence.rewrites:
        assert (f"{rewrite.name}: " in tables) is rewrite.is_counted
        assert all(f"{value:.3f}" in tables for value in rewrite.similarities if rewrite.is_counted)
    assert tables.count("<ins") >= 4
    assert tables.count('title="more similar') == sum(sum(rewrite.above) for rewrite in sentence.rewrites)
    assert "Not applied: date" in tables
    assert SENTENCE not in "".join(path.read_text("utf-8", "ignore") for path in files(settings)), "nothing is stored"
    app.toggle(key="try_apart").set_value(True).run()
    assert "position 10: " in "".join(html(app))

    for example in EXAMPLES[0], EXAMPLES[2]:
        app.button_group(key="try_examples").set_value(example).run()
        assert app.text_input(key="sentence").value == example
        assert app.button_group(key="try_examples").value is None, "it can be pressed again"
    assert "tablets" in "".join(html(app))
    assert app.query_params["sentence"] == app.text_input(key="sentence").value
    app.text_input(key="sentence").set_value("x" * 1_900).run()
    assert "sentence" not in app.query_params
    assert "too long for a link" in written(app)
    app.button(key="try_keep").click().run()
    assert "no rule can change any" not in written(app)
    assert "row" in "".join(box.value for box in app.warning), "there are too few rewrites of it"

    app.text_input(key="sentence").set_value(SENTENCE).run()
    app.button(key="try_keep").click().run()
    (upload,) = uploads.found(settings)
    assert app.session_state["data"] == upload.reference
    assert "is now selected" in app.success[0].value

    app.segmented_control(key="view").set_value("lines").run()
    app.text_area(key="lines").set_value("one line").run()
    assert "second line" in app.info[0].value
    app.text_area(key="lines").set_value("\n\n".join(LINES)).run()
    assert app.query_params["lines"] == "\n\n".join(LINES)
    assert sum("Similarities of the lines" in table for table in html(app)) == 2
    assert any("see most differently" in table for table in html(app))
    app.text_area(key="lines").set_value("\n".join(LINES[:2])).run()
    assert "add up to" in written(app)

    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = open_app(settings.cache, "try_it", sentence="y" * 2_000, try_models=str(RANDOM))
    assert policy.DEMO.line == 300
    assert "the sentence has 301 characters" in app.warning[0].value


def html(app: AppTest) -> list[str]:
    return [element.proto.body for element in app.get("html")]


def files(settings: Settings) -> list[Path]:
    return [path for path in settings.cache.rglob("*") if path.is_file()]


def _plain(value: object) -> object:
    """As JSON has it."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def test_what_is_refused(blindspot: Command) -> None:
    ours = ("--encoder", "random-projection")
    for texts, message in (
        ([" "], "the sentence is empty"),
        (["a", " "], "line 2 is empty"),
        (["a"] * (MOST_LINES + 1), f"{MOST_LINES + 1} lines"),
        (["a" * 2_001], "the sentence has 2,001 characters"),
    ):
        assert message in blindspot.error("try", *texts, *ours)
    assert "has no vectors" in blindspot.error("try", SENTENCE, "--encoder", "bm25")
    many = [f"random-projection{size}" for size in ("", "-64", "-1024")] + ["lsa", "minilm"]
    assert f"1 to {MOST_MODELS}" in blindspot.error("try", SENTENCE, *(x for m in many for x in ("--encoder", m)))
    for model, text in ((np.ones((3, 2)), SENTENCE), ("random-projection", [1, 2]), ("random-projection", [])):
        with pytest.raises(InputError):
            bs.try_sentence(model, text)
    letters = bs.try_sentence(lambda texts: [[t.count(c) + 1 for c in "abcde"] for t in texts], SENTENCE, name="abc")
    assert letters.models[0].label == "abc"
