"""An installed package without extras: what works there, and the one line for what does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import blindspot as bs
from tests.support.base_install import BaseInstall, blocked

PAIRS, MINIMAL, SCORED, RETRIEVAL = "demo-pairs", "demo-minimal", "demo-scored", "demo-retrieval"
RANDOM_ON = ("run", "evalrank", "--encoder", "random-projection", "--dataset")
DATA_OF = {"evalrank": PAIRS, "heros": MINIMAL, "similarity": SCORED, "retrieval": RETRIEVAL}
WORDS = ("rain", "snow", "river", "stone", "bread", "garden", "engine", "letter")


@pytest.fixture(scope="module")
def base(pytestconfig: pytest.Config) -> BaseInstall:
    """Always at the same place: numba finds the kernels that it compiled for it."""
    folder = pytestconfig.rootpath / ".pytest_cache" / "base-install"
    shutil.rmtree(folder, ignore_errors=True)
    return BaseInstall(folder)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of random vectors for the texts of the demo."""
    path = tmp_path_factory.mktemp("table") / "mine.jsonl"
    rng = np.random.default_rng(3)
    texts = dict.fromkeys(text for data in DATA_OF.values() for text in bs.texts_of(data))
    path.write_text(
        "\n".join(json.dumps({"text": t, "embedding": rng.normal(size=8).tolist()}) for t in texts), "utf-8"
    )
    return f"table:{path}"


@pytest.fixture
def golden(tmp_path: Path) -> tuple[str, str]:
    """A golden set, and word vectors that have its words."""
    data, vectors = tmp_path / "golden.jsonl", tmp_path / "words.txt"
    rows = [{"query": f"{a} {b}", "match": f"{a} {b} {b}"} for a in WORDS for b in WORDS if a != b]
    data.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    rng = np.random.default_rng(4)
    lines = (f"{word} {' '.join(f'{value:.4f}' for value in rng.normal(size=6))}" for word in WORDS)
    vectors.write_text("\n".join(lines), "utf-8")
    return str(data), f"vectors:{vectors}"


def test_the_base_is_without_torch_and_streamlit() -> None:
    assert {"torch", "transformers", "streamlit", "plotly", "faiss", "umap", "gensim", "wordfreq"} <= blocked()
    assert not {"numpy", "pandas", "scipy", "numba", "duckdb", "pyarrow", "typer", "blindspot"} & blocked()


@pytest.mark.process
def test_diagnostics_and_studies_need_no_extra(
    base: BaseInstall, table: str, golden: tuple[str, str], tmp_path: Path
) -> None:
    data, vectors = golden
    both = ("--encoder", table, "--encoder", "random-projection")
    report, baseline = tmp_path / "report.md", tmp_path / "gate.json"
    commands = [
        ["--help"],
        ["list"],
        ["data", "list"],
        *(["run", diagnostic, "--dataset", on, *both] for diagnostic, on in DATA_OF.items()),
        ["run", "evalrank", "--dataset", f"file:{data}", "--encoder", vectors, "--transform", "center"],
        ["run", "retrieval", "--dataset", RETRIEVAL, "--encoder", "bm25"],
        ["run", "transfer", "--dataset", "demo-negation", "--encoder", "random-projection-64"],
        ["run", "geometry", "--dataset", PAIRS, "--encoder", table],
        ["run", "categorization", "--dataset", "demo-categories", "--encoder", "random-projection"],
        ["runs", "--json"],
        ["compare", table, "random-projection"],
        ["neighbors", "rain", "--dataset", PAIRS, "--encoder", "random-projection"],
        ["findings"],
        ["report", "--out", str(report)],
        ["map", "--method", "pca", "--dataset", PAIRS, "--encoder", table, "--out", str(tmp_path / "map.csv")],
        ["audit", data],
        ["gate", "--encoder", vectors, "--data", data, "--record", str(baseline)],
        ["gate", "--encoder", vectors, "--data", data, "--baseline", str(baseline), "--max-drop", "0.5"],
        ["doctor", "--json"],
    ]
    said = dict(zip(map(tuple, commands), base.commands(*commands), strict=True))
    assert not {arguments: one.err for arguments, one in said.items() if one.code}
    assert report.stat().st_size > 1_000
    # What is optional is no fault.
    found = said["doctor", "--json"].json["findings"]
    assert {one["state"] for one in found if one["area"] == "versions" and one["name"] != "environment"} == {"ok"}
    assert {one["name"] for one in found} >= {"extra encoders", "extra app", "numpy", "torch", "minilm"}


MISSING = (
    (("run", "evalrank", "--dataset", PAIRS, "--encoder", "minilm"), "torch", "encoders"),
    (("run", "evalrank", "--dataset", PAIRS, "--encoder", "hf:org/name"), "torch", "encoders"),
    ((*RANDOM_ON, PAIRS, "--transform", "flow"), "torch", "encoders"),
    ((*RANDOM_ON, "demo-words"), "gensim", "words"),
    (("map", "--dataset", PAIRS, "--encoder", "random-projection", "--out", "map.csv"), "umap", "app"),
    (("report", "--out", "report.html"), "plotly", "app"),
    (("app",), "streamlit", "app"),
)


@pytest.mark.process
def test_what_needs_an_extra_names_it(base: BaseInstall, subtests: pytest.Subtests) -> None:
    every = base.commands(*(arguments for arguments, _, _ in MISSING))
    for said, (arguments, library, extra) in zip(every, MISSING, strict=True):
        with subtests.test(" ".join(arguments)):
            assert (said.code, said.out) == (1, "")
            line = said.err.splitlines()[-1]
            assert f" needs {library}, which is not installed; " in line
            assert line.endswith(f'pip install "encoder-blindspot[{extra}]"')


@pytest.mark.process
def test_the_python_api_gives_the_same_numbers_and_its_own_error(base: BaseInstall) -> None:
    found = base.evaluated(
        """
import json
import blindspot.api as bs
run = bs.retrieval("random-projection", "demo-retrieval")
failed = {}
for name, work in (("model", lambda: bs.evalrank("minilm", "demo-pairs")), ("figure", run.figure)):
    try:
        work()
    except bs.LibraryMissing as error:
        assert isinstance(error, bs.BlindspotError) and isinstance(error.__cause__, ImportError)
        failed[name] = (error.library, error.extra)
print(json.dumps({"metrics": dict(run.metrics), "rows": len(run.pairs()), "html": run._repr_html_(), "failed": failed}))
"""
    )
    here = bs.run("retrieval", "random-projection", RETRIEVAL)
    assert found["metrics"] == dict(here.metrics)
    assert found["rows"] == len(here.pairs())
    assert found["html"] == here._repr_html_()
    assert found["failed"] == {"model": ["torch", "encoders"], "figure": ["plotly", "app"]}
