"""Table of contents of the documentation, and the text of each page.

The site (``make docs``) and the app's page *Documentation* show the same pages in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from blindspot.documentation import generated
from blindspot.settings import ROOT

DOCS = ROOT / "docs"
CONTENTS: Mapping[str, Mapping[str, str]] = {  # path by title, by section
    "Start": {
        "Blindspot": "index.md",
        "From the demo to your own model": "start.md",
        "Try a sentence": "guides/try.md",
    },
    "Guides": {
        "Your own encoder": "guides/encoders.md",
        "Check the set-up": "guides/setup-check.md",
        "Your own data": "guides/data.md",
        "Minimal pairs from your texts": "guides/make-minimal-pairs.md",
        "Run diagnostics": "guides/run.md",
        "Read the findings": "guides/findings.md",
        "Compare two models": "guides/compare.md",
        "Draw a threshold": "guides/threshold.md",
        "Look inside the space": "guides/space.md",
        "Try post-processing": "guides/lab.md",
        "Choose a size": "guides/size.md",
        "Compare languages": "guides/languages.md",
        "Train on what went wrong": "guides/training-data.md",
        "Repair frozen vectors": "guides/repair.md",
        "Ask people": "guides/judgments.md",
        "Sweep many models": "guides/sweeps.md",
        "Sweep on several machines": "guides/cluster.md",
        "Share results": "guides/packs.md",
        "Does a score predict use?": "guides/evidence.md",
        "Quote a number": "guides/quote.md",
        "Use it from Python": "guides/python.md",
        "Run it in CI": "guides/ci.md",
        "Host a demo": "hosting.md",
        "When something is wrong": "guides/troubleshooting.md",
    },
    "Diagnostics": {
        "All diagnostics": "diagnostics/index.md",
        "EvalRank": "diagnostics/evalrank.md",
        "HEROS": "diagnostics/heros.md",
        "Similarity": "diagnostics/similarity.md",
        "Analogy": "diagnostics/analogy.md",
        "Categorization": "diagnostics/categorization.md",
        "Outlier detection": "diagnostics/outliers.md",
        "Thematic fit": "diagnostics/thematic_fit.md",
        "Chunking": "diagnostics/chunking.md",
        "Geometry": "diagnostics/geometry.md",
        "Frequency": "diagnostics/frequency.md",
        "Transfer": "diagnostics/transfer.md",
        "Learning curve": "diagnostics/learning_curve.md",
        "Probing": "diagnostics/probing.md",
        "Retrieval": "diagnostics/retrieval.md",
        "Long texts": "diagnostics/long_texts.md",
    },
    "Reference": {
        "Command line": "reference/cli.md",
        "Settings": "reference/settings.md",
        "Datasets": "reference/datasets.md",
        "Encoders and transforms": "reference/encoders.md",
        "Store": "reference/store.md",
    },
    "Design": {
        "Layers": "design/layers.md",
        "How a run comes to be": "design/runs.md",
        "Exact ranks": "design/ranks.md",
        "Intervals and tests": "statistics.md",
        "How fast": "design/benchmarks.md",
        "Beyond one machine": "design/large.md",
    },
}
HOME = "index.md"


def titles() -> Mapping[str, str]:
    """Title by path, in reading order."""
    return {path: title for pages in CONTENTS.values() for title, path in pages.items()}


@cache
def markdown(path: str) -> str:
    """The Markdown of a page; raises ``KeyError`` if the contents do not list it."""
    if path not in titles():
        raise KeyError(path)
    make = generated.makers().get(path)
    return make() if make else (DOCS / path).read_text("utf-8")
