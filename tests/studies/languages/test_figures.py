"""The figure of languages: shares in percent, marks at 0 whole, and numbers beside a few marks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from blindspot.datasets.published.tatoeba import BOTH
from blindspot.figures.theme import Scheme
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.studies.languages.figures import language_dots
from blindspot.studies.languages.scores import FROM, Group, Score


def score(code: str, way: str, value: float) -> Score:
    estimate = Estimate(value, Interval(value, value + 0.1), "Wilson", Unit.PAIRS, 40, 40.0)
    language = SimpleNamespace(code=code, name=code.upper(), kin="kin", script="Latin")
    made = SimpleNamespace(
        language=language, direction=way, accuracy=estimate, of=lambda _: estimate, pairs=40, covered=40
    )
    return cast(Score, made)


def test_a_few_languages_have_their_numbers_beside_the_marks_and_groups_keep_their_means() -> None:
    codes = ["fra", "tur"]
    scores = [score(code, way, 0.0 if way == FROM else 0.455) for code in codes for way in BOTH]
    group = Group("Latin", dict.fromkeys(BOTH, 0.2275), tuple(s.language for s in scores[::2]))
    figure = language_dots([group], scores, "accuracy", Scheme.LIGHT)
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert sorted(text for text in texts if not text.startswith("mean")) == ["0.0%", "0.0%", "45.5%", "45.5%"]
    (means,) = [text for text in texts if text.startswith("mean")]
    assert means.count("22.8%") + means.count("22.7%") == 2
    assert figure.layout.xaxis.tickformat == ".0%"
    assert {trace.cliponaxis for trace in figure.data} == {False}
    many = [score(f"l{number}", way, 0.5) for number in range(40) for way in BOTH]
    group = Group("", {}, tuple(s.language for s in many[::2]))
    figure = language_dots([group], many, "mrr", Scheme.LIGHT)
    assert not figure.layout.annotations
    assert figure.layout.xaxis.tickformat is None
