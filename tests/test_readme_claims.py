"""The README's first insights: the numbers that the pages show for the demo, in the same order."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from blindspot.datasets.catalog import find_dataset
from blindspot.diagnostics.heros.published import heros_profiles
from blindspot.runs import pipeline
from blindspot.settings import ROOT, Settings
from blindspot.store.repository import Repository
from blindspot.studies.findings.collection import Selection, collect
from blindspot.variants import Variant
from blindspot.workspace import demo
from tests.conftest import make_settings
from tests.support.pages import OpenApp

MINILM = Variant("minilm", "none")


def figures(text: str) -> list[str]:
    """The numbers of a text as they are written."""
    return re.findall(r"\d+(?:[.,]\d+)*%?", text.replace("**", "").replace("95% ", ""))


def check_said(sentence: str) -> None:
    """README and tutorial have the sentence's numbers in one paragraph, one after the other, in whatever words."""
    wanted = figures(sentence)
    assert wanted
    for name in ("README.md", "docs/start.md"):
        paragraphs = re.split(r"\n\s*\n|\n\d\. ", (ROOT / name).read_text("utf-8"))
        rows = [figures(paragraph) for paragraph in paragraphs]
        there = any(row[i : i + len(wanted)] == wanted for row in rows for i in range(len(row)))
        assert there, f"{name} does not say {wanted}: {sentence}"


def first_figures(open_app: OpenApp, cache: Path, page: str, **address: str) -> str:
    """What a page says first in numbers."""
    app = open_app(cache, page, model=str(MINILM), **address)
    return next(str(element.value) for element in app.markdown if figures(str(element.value)))


@pytest.mark.heavy
def test_what_is_said_of_evalrank_is_what_page_and_findings_show(open_app: OpenApp, demo_cache: Path) -> None:
    check_said(first_figures(open_app, demo_cache, "evalrank"))
    settings = make_settings(demo_cache)
    repository = Repository.at(settings.store)
    runs = repository.runs(diagnostic="evalrank", dataset="demo-pairs", variants=[MINILM])
    found = collect(repository, settings, Selection(runs=tuple(run.run_id for run in runs)))
    (first,) = {one.finding.said() for one in found.discoveries if one.finding.kind == "outranked-by-changed-meaning"}
    check_said(first)


@pytest.mark.heavy
def test_what_is_said_of_heros_is_what_its_page_shows(open_app: OpenApp, demo_cache: Path, settings: Settings) -> None:
    shutil.copytree(demo_cache / "embeddings", settings.embeddings)
    request = next(r for r in demo.first_requests(settings) if r.diagnostic == "heros")
    metrics = pipeline.run(request, settings, Repository.at(settings.store)).record.metrics
    check_said(f"{metrics['negation_antonym']:.3f} {metrics['synonym']:.3f}")
    check_said(first_figures(open_app, settings.cache, "heros", data="demo-minimal"))
    # Of the published MiniLM the negated clause comes first, of the demo's sentences the synonym: the page says so.
    (profile,) = [row for row in heros_profiles() if row.model == "MiniLM L6 v2 (all)"]
    limits = find_dataset("demo-minimal").limits
    for subset in ("negation_main", "synonym"):
        assert f"({profile.means[subset]:.3f})" in limits
    assert profile.means["negation_main"] > profile.means["synonym"]
    assert metrics["negation_main"] < metrics["synonym"]
