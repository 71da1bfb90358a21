"""HEROS on rewrites of one's own names: command line, sweep, store, export; and lexical overlap from the terminal."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core import cli
from core.cli import output as cli_output
from core.datasets import catalog
from core.datasets.published.minimal_pairs import minimal_pair_set
from core.diagnostics.heros.lexical_overlap import mean_of, of_subsets
from core.encoders.transformer.word_pieces import bert_uncased
from core.settings import Settings
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder

Command = Callable[..., tuple[int, str, str]]
ROWS = [
    ("The dog runs in the park.", "A dog is running in the park.", "The dog does not run in the park.", "1"),
    ("She sings a song.", "A song is sung by her.", "She sings no song.", "2"),
    ("It rains today.", "Rain falls today.", "It does not rain today.", "3"),
    ("We like old books.", "Old books please us.", "We do not like old books.", "4"),
]
SUBSETS = ["paraphrase", "the_opposite"]


@pytest.fixture
def environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")
    monkeypatch.delenv("BLINDSPOT_MIRROR", raising=False)
    monkeypatch.setattr(cli_output, "SECONDS_BETWEEN_LINES", float("inf"))
    for name, size in (("trigrams", 3), ("bigrams", 2)):
        register_encoder(monkeypatch, GramEncoder(name, size))
    return settings


@pytest.fixture
def blindspot(capsys: pytest.CaptureFixture[str], environment: Settings) -> Command:
    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = cli.main(arguments)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    with path.open("w", encoding="utf-8", newline="") as f:
        csv.writer(f).writerows([("Original", "Paraphrase", "The opposite", "length"), *ROWS])
    return path


def test_metrics_are_named_by_subset_and_so_are_stored_rows(blindspot: Command, mine: Path, tmp_path: Path) -> None:
    asked = ("run", "heros", "--encoder", "trigrams", "--dataset", f"file:{mine}")
    code, out, err = blindspot(*asked, "--json")
    assert (code, err) == (0, "")
    (run,) = json.loads(out)["runs"]
    assert {*SUBSETS, *(f"{s}{end}" for s in SUBSETS for end in ("_sd", "_low", "_high"))} < set(run["metrics"])
    assert not [name for name in run["metrics"] if ">" in name]
    assert run["manifest"]["dataset"]["reading"]["columns"] == {
        "original": "Original",
        "paraphrase": "Paraphrase",
        "the_opposite": "The opposite",
    }
    code, out, err = blindspot(*asked)
    assert (code, err) == (0, "")
    for name in (*SUBSETS, "the_opposite_low", "accuracy"):
        assert f"│ {name} " in out
    assert "not used: 'length' (numbers)" in out
    code, out, err = blindspot("export", run["run_id"], "--output", str(tmp_path / "rows.csv"))
    assert (code, err) == (0, "")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as f:
        exported = list(csv.DictReader(f))
    assert [(r["original"], r["subset"], r["rewrite"]) for r in exported] == [
        (row[0], subset, row[1 + k]) for row in ROWS for k, subset in enumerate(SUBSETS)
    ]
    for subset in SUBSETS:
        values = [float(r["similarity"]) for r in exported if r["subset"] == subset]
        assert np.mean(values) == pytest.approx(run["metrics"][subset])
    cosine = {(r["original"], r["subset"]): float(r["cosine"]) for r in exported}
    right = sum(cosine[row[0], "paraphrase"] > cosine[row[0], "the_opposite"] for row in ROWS)
    assert run["metrics"]["accuracy"] == right / 4
    assert run["metrics"]["accuracy_chance"] == 0.5
    assert f"accuracy {right / 4:.4f}" in blindspot("runs")[1], "what stands for a run without a synonym"


def test_a_sweep_names_them_too_and_puts_the_most_accurate_first(blindspot: Command, mine: Path) -> None:
    encoders = ("--encoder", "trigrams", "--encoder", "bigrams")
    code, out, _ = blindspot("sweep", *encoders, "--dataset", f"file:{mine}", "--diagnostic", "heros")
    assert code == 0
    for name in ("accuracy", *SUBSETS):
        assert name in out
    assert "best accuracy first" in " ".join(out.split())


def test_overlap_of_minimal_pairs(blindspot: Command, mine: Path) -> None:
    code, out, err = blindspot("data", "overlap", "demo-minimal", "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    demo = catalog.find("demo-minimal").load("demo-minimal", ())
    found = of_subsets(demo, bert_uncased)
    assert list(said["overlap"]) == list(demo.subsets)
    assert {name: row["rouge_2"] for name, row in said["overlap"].items()} == {n: o.rouge_2 for n, o in found.items()}
    code, out, _ = blindspot("data", "overlap", "demo-minimal")
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith("│ mean "))
    mean = mean_of(list(found.values()))
    assert f"{100 * mean.rouge_1:.1f} │" in line
    assert "│ SICK-R " in out
    assert out.count("published") == 3
    code, out, _ = blindspot("data", "overlap", f"file:{mine}", "--json")
    assert list(json.loads(out)["overlap"]) == SUBSETS


def test_overlap_where_there_is_none(blindspot: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    code, out, err = blindspot("data", "overlap", SMALL_PAIRS.id)
    assert (code, out) == (2, "")
    assert "'small-pairs' is a pair set; expected minimal pairs or scored pairs" in err
    register_dataset(monkeypatch, minimal_pair_set("dots", ["..", "..."], {"one": ["a", "b"]}))
    code, out, _ = blindspot("data", "overlap", "dots", "--json")
    assert (code, json.loads(out)["overlap"]["one"]["rouge_1"]) == (0, None)
    assert " – " in blindspot("data", "overlap", "dots")[1]
