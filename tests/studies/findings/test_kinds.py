"""The table of kinds: what its templates may say, whatever the evidence."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import replace

import pytest

from blindspot.diagnostic import all_diagnostics
from blindspot.numerics.statistics.estimate import Estimate, Measured, Unit
from blindspot.numerics.statistics.intervals import Interval
from blindspot.runs.findings.evidence import Evidence
from blindspot.studies.findings.kinds import KINDS, SHARED
from blindspot.studies.findings.wording import fill, findings
from blindspot.ui.navigation import places
from tests.support import sources
from tests.support.finding_runs import run_record
from tests.support.tables import each

ALL = [(name, kind) for table in (*KINDS.values(), SHARED) for name, kind in table.items()]
ESTIMATE = Estimate(0.126, Interval(0.08, 0.19), "a method", Unit.PAIRS, 40, 40.0)


def fields(template: str) -> Iterator[tuple[str, str]]:
    """Name and spec of each fact, those of alternatives too."""
    for _, name, spec, _ in string.Formatter().parse(template):
        if name is not None:
            yield name, spec or ""
            if inner := re.match(r"[?]|each ", spec or ""):
                yield from fields((spec or "")[inner.end() :])


@each("name", sorted({name for name, _ in ALL}))
def test_sentences_are_whole_and_every_interval_is_that_of_the_number_before_it(name: str) -> None:
    for _, kind in (one for one in ALL if one[0] == name):
        assert re.search(r"[.}]$", kind.sentence)
        assert {field for field, _ in fields(kind.sentence)} & {*string.ascii_uppercase, "models", "warning"}
        assert "95% CI" not in kind.sentence
        for template in (kind.sentence, kind.test):
            scores = ("", "")  # the last number but for counts, and how it is written
            for field, spec in fields(template):
                if spec.startswith("ci "):
                    assert (field, spec) == (scores[0], f"ci {scores[1]}")
                elif re.fullmatch(r"[+]?[.]\d(f|%|pp)", spec):
                    scores = (field, spec)
        assert kind.page in {"", *(place.stem for place in places())}


def test_no_diagnostic_has_sentences_or_addresses_of_its_own() -> None:
    for path in sources.package():
        if "diagnostics" in path.parts:
            assert not re.search(r"\b(sentence|address)=", sources.text(path)), path


def test_the_table_is_of_diagnostics_that_are_there() -> None:
    assert set(KINDS) <= set(all_diagnostics())


def test_numbers_are_written_as_templates_say() -> None:
    facts = {
        "value": ESTIMATE,
        "scores": [0.5, 0.25],
        "gap": -0.024,
        "n": 1,
        "many": 1200,
        "weak": False,
        "kinds": ["a", "b", "c"],
        "orders": [{"name": "x", "value": Measured(0.5, None)}, {"name": "y", "value": ESTIMATE}],
        "p": 1e-9,
    }
    for template, text in (
        ("{A} gets {value:.1%}{value:ci .0%}", "{A} gets 12.6% (95% CI 8 to 19%)"),
        ("{gap:+.1pp} points, {gap:+.2f}", "−2.4 points, −0.02"),
        ("{n:count query/queries}, {many:count text}, {many:,}, {many}", "1 query, 1,200 texts, 1,200, 1,200"),
        ("{weak:?hardly|{value:.2f}} {n:?once|}", "0.13 once"),
        ("{A} before {scores:models .2f}", "{A} before {B} (0.50) and {C} (0.25)"),
        ("{orders:each {name} in {value:.0%}{value:ci .0%}}", "x in 50% and y in 13% (95% CI 8 to 19%)"),
        ("{kinds:list} over {value:units}, {p:p}", "a, b and c over 40 independent pairs, p ≤ 0.0001"),
        ("{value:test}", "sign flips of the paired difference, allowing for rare large differences"),
    ):
        assert fill(template, facts) == text
    of_texts = {"value": replace(ESTIMATE, method="Wilson, dyadic-robust")}
    assert fill("{value:test}", of_texts) == "t of the dyadic-robust standard error", "signs of texts are not flipped"
    with pytest.raises(KeyError):
        fill("{value:.0%} of {texts:,}", facts)


def test_a_finding_leads_to_its_page_with_the_parameters_that_are_not_the_usual_ones() -> None:
    run = run_record("evalrank", metric="l2", protocol="definition")
    facts = {"is_one": True, "others": 2, "title": "EvalRank", "version": 2}
    evidence = [Evidence(kind, (run,), 1.0, 2, facts=facts) for kind in ("other-items", "older-version")]
    assert [(found.page, found.address) for found in findings(evidence)] == [
        ("evalrank", {"metric": "l2"}),
        ("run", {}),
    ]
