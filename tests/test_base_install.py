"""An installed package without extras: what works there, and the one line for what does not."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from blindspot import api as bs
from blindspot.errors import EXTRAS
from tests.support.base_install import BaseInstall, blocked

PAIRS, MINIMAL, SCORED, RETRIEVAL = "demo-pairs", "demo-minimal", "demo-scored", "demo-retrieval"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseInstall:
    return BaseInstall(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Vectors of the pairs' texts: of a text and its negation alike, otherwise at random."""
    path = tmp_path_factory.mktemp("table") / "mine.jsonl"
    rng = np.random.default_rng(3)
    texts = [text for data in (PAIRS, MINIMAL, SCORED, RETRIEVAL) for text in bs.texts(data)]
    lines = [{"text": text, "embedding": rng.normal(size=8).tolist()} for text in dict.fromkeys(texts)]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return f"table:{path}"


def test_nothing_of_an_extra_is_in_the_base() -> None:
    assert set().union(*EXTRAS.values()) - {"httpx2"} <= blocked() | {"httpx2"}
    assert not {"numpy", "pandas", "duckdb", "numba", "typer", "blindspot"} & blocked()


def test_diagnostics_and_studies_need_no_extra(base: BaseInstall, table: str, tmp_path: Path) -> None:
    both, runs = ["--encoder", table, "--encoder", "random-projection"], ["evalrank", "heros", "similarity", "retrieval"]
    commands = [
        ["--help"],
        ["list"],
        ["data", "list"],
        *(
            ["run", diagnostic, "--dataset", data, *both]
            for diagnostic, data in zip(runs, (PAIRS, MINIMAL, SCORED, RETRIEVAL), strict=True)
        ),
        ["run", "retrieval", "--dataset", RETRIEVAL, "--encoder", "bm25"],
        ["run", "transfer", "--dataset", "demo-negation", "--encoder", "lsa"],
        ["run", "geometry", "--dataset", PAIRS, "--encoder", table],
        ["run", "categorization", "--dataset", "demo-categories", "--encoder", "random-projection"],
        ["findings"],
        ["report", "--out", str(tmp_path / "report.md")],
        ["export", "--help"],
        ["map", "--method", "pca", "--dataset", PAIRS, "--encoder", table, "--out", str(tmp_path / "map.csv")],
        ["doctor"],
    ]
    for arguments, said in zip(commands, base.commands(*commands), strict=True):
        assert said.code == 0, (arguments, said.err)
