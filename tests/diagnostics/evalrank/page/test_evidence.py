"""Addresses of EvalRank's findings: the page takes them as they are."""

from __future__ import annotations

import pytest

from blindspot.diagnostics.evalrank.evidence import evidence
from blindspot.runs.findings import Finding, Material
from blindspot.studies.findings.wording import findings
from tests.support.pages import OpenApp
from tests.support.small_world import GramEncoder
from tests.support.world import World


def made(small: World) -> list[Finding]:
    small.add(GramEncoder("bigrams", 2), GramEncoder("random-projection", 1))
    runs = [small.run("evalrank", variant, "small-pairs") for variant in ("trigrams", "bigrams")]
    base = small.run("evalrank", "random-projection", "small-pairs")
    return findings(evidence(Material(runs, [base], small.repository, small.settings)))


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["outranked-by-hubs", "raw-ranks-unfair"])
def test_the_address_of_a_finding_opens_its_view(small: World, open_app: OpenApp, kind: str) -> None:
    finding = next(one for one in made(small) if one.kind == kind)
    address = {"view": "pairs", **finding.address, "item": finding.address.get("item", "0")}
    app = open_app(small.cache, finding.page, data=finding.dataset, **address)
    assert not app.exception
    for key, value in address.items():
        if key in app.session_state:
            assert str(app.session_state[key]).casefold() == value.casefold(), key
        else:
            assert (key, address["view"]) == ("item", "trust")


def test_the_view_of_kinds_shows_the_measure_of_the_address(small: World, open_app: OpenApp) -> None:
    small.run("evalrank", "trigrams", "small-pairs")
    address = {"view": "kinds of pair", "by": "length", "kinds_measure": "Hits@1", "ranks": "filtered"}
    app = open_app(small.cache, "evalrank", data="small-pairs", **address)
    assert not app.exception
    assert app.session_state["kinds_measure"] == "hits@1"
    assert app.session_state["by"] == "length"
    assert app.session_state["ranks"] == "filtered"
