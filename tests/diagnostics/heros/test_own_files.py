"""HEROS on a user's own file, with HEROS's subsets or others: command line, sweep, store and export."""

from __future__ import annotations

import csv
import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.published.minimal_pairs import SUBSETS
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data.minimal_pairs import OwnMinimalPairs
from blindspot.diagnostics.heros.definition import ENTRY, ORDERINGS
from blindspot.settings import ASSETS, Settings
from blindspot.store.repository import Repository
from tests.support.commands import Command
from tests.support.heros_table import FIRST_ROWS, demo_file
from tests.support.heros_world import run_heros

EXAMPLE = ASSETS / "demo" / "own_minimal.tsv"
ROWS = [
    ("The dog runs in the park.", "A dog is running in the park.", "The dog does not run in the park.", "1"),
    ("She sings a song.", "A song is sung by her.", "She sings no song.", "2"),
    ("It rains today.", "Rain falls today.", "It does not rain today.", "3"),
    ("We like old books.", "Old books please us.", "We do not like old books.", "4"),
]
OWN_SUBSETS = ["paraphrase", "the_opposite"]
pytestmark = pytest.mark.usefixtures("environment", "encoders")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with rewrites of other names than HEROS's."""
    path = tmp_path / "mine.csv"
    with path.open("w", encoding="utf-8", newline="") as f:
        csv.writer(f).writerows([("Original", "Paraphrase", "The opposite", "length"), *ROWS])
    return path


def test_a_file_is_run_and_its_reading_is_kept(blindspot: Command, tmp_path: Path) -> None:
    path = Path(shutil.copy(EXAMPLE, tmp_path / "mine.tsv"))
    asked = ("run", "heros", "--encoder", "trigrams", "--dataset", f"file:{path}")
    (run,) = blindspot(*asked, "--json").json["runs"]
    dataset = run["manifest"]["dataset"]
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (run["dataset"], dataset["revision"], dataset["files"]) == (f"file:{path}", sha256, {str(path): sha256})
    contents = own.read(path)
    assert isinstance(contents, OwnMinimalPairs)
    assert dataset["reading"] == contents.as_manifest()
    assert dataset["reading"]["rows"] == 6

    said = blindspot(*asked)
    assert said.code == 0
    assert f"run {run['run_id']}: found in the store\n" in said.out
    assert f"read {contents.summary}" in said.out
    path.write_text(path.read_text("utf-8").replace("qiuckly", "quikcly"), "utf-8")
    (changed,) = blindspot(*asked, "--json").json["runs"]
    assert changed["computed"]
    assert changed["run_id"] != run["run_id"]


def test_it_is_no_set_of_pairs_and_the_list_names_the_form(blindspot: Command) -> None:
    said = blindspot("run", "evalrank", "--encoder", "trigrams", "--dataset", f"file:{EXAMPLE}")
    assert said.code == 2
    assert "a minimal-pair set; expected a pair set" in said.error
    listed = blindspot("list", "datasets").out
    for part in ("file:PATH", "query and match", "a column original and any of synonym, antonym"):
        assert part in listed


@pytest.mark.heavy
def test_every_number_of_subsets_is_computed_stored_and_listed(
    settings: Settings, blindspot: Command, tmp_path: Path
) -> None:
    """One subset has no ordering rate, and so no headline; more have those of their pairs."""
    repository = Repository.at(settings.store)
    for subsets in [(s,) for s in SUBSETS] + [SUBSETS[:n] for n in range(2, 7)]:
        record = run_heros(settings, "trigrams", f"file:{demo_file(tmp_path, subsets)}")
        assert set(subsets) == {s for s in SUBSETS if s in record.metrics}
        rates = {f"{a}>{b}" for a, b in ORDERINGS if {a, b} <= set(subsets)}
        assert rates == {name for name in record.metrics if ">" in name and not name.endswith(("_low", "_high"))}
        assert record.coverage["pairs"] == 8 * len(subsets)
        frame = repository.items(ENTRY, [record.run_id], texts=True)
        assert frame["subset"].tolist() == list(subsets) * 8
        for subset in subsets:
            rows = frame[frame["subset"] == subset]
            assert rows["rewrite"].tolist() == [row[subset] for row in FIRST_ROWS]
            assert rows["original"].tolist() == [row["original"] for row in FIRST_ROWS]
    said = blindspot("runs")
    assert (said.code, said.err) == (0, "")
    assert said.out.count(f"│ {ENTRY.title}") == 11
    assert said.out.count("synonym>antonym") == sum({"synonym", "antonym"} <= set(SUBSETS[:n]) for n in range(2, 7))
    said = blindspot("run", "heros", "--encoder", "bigrams", "--dataset", f"file:{tmp_path / 'typo.csv'}")
    assert (said.code, said.err) == (0, "")
    assert "typo_sd" in said.out


def test_metrics_are_named_by_subset_and_so_are_stored_rows(blindspot: Command, mine: Path, tmp_path: Path) -> None:
    asked = ("run", "heros", "--encoder", "trigrams", "--dataset", f"file:{mine}")
    (run,) = blindspot(*asked, "--json").json["runs"]
    assert {f"{s}{end}" for s in OWN_SUBSETS for end in ("", "_sd")} < set(run["metrics"])
    assert not [name for name in run["metrics"] if ">" in name]
    assert run["manifest"]["dataset"]["reading"]["columns"] == {
        "original": "Original",
        "paraphrase": "Paraphrase",
        "the_opposite": "The opposite",
    }
    said = blindspot(*asked)
    assert (said.code, said.err) == (0, "")
    for name in (*OWN_SUBSETS, "the_opposite_sd", "accuracy"):
        assert f"│ {name} " in said.out
    assert "not used: 'length' (numbers)" in said.out
    said = blindspot("export", run["run_id"], "--output", str(tmp_path / "rows.csv"))
    assert (said.code, said.err) == (0, "")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as f:
        exported = list(csv.DictReader(f))
    assert [(r["original"], r["subset"], r["rewrite"]) for r in exported] == [
        (row[0], subset, row[1 + k]) for row in ROWS for k, subset in enumerate(OWN_SUBSETS)
    ]
    for subset in OWN_SUBSETS:
        values = [float(r["similarity"]) for r in exported if r["subset"] == subset]
        assert np.mean(values) == pytest.approx(run["metrics"][subset])
    cosine = {(r["original"], r["subset"]): float(r["cosine"]) for r in exported}
    right = sum(cosine[row[0], "paraphrase"] > cosine[row[0], "the_opposite"] for row in ROWS)
    assert run["metrics"]["accuracy"] == right / 4
    assert run["metrics"]["accuracy_chance"] == 0.5
    assert f"accuracy {right / 4:.3f}" in blindspot("runs").out, "the headline of a run without a synonym"


def test_a_sweep_names_them_too_and_puts_the_most_accurate_first(blindspot: Command, mine: Path) -> None:
    encoders = ("--encoder", "trigrams", "--encoder", "bigrams")
    said = blindspot("sweep", *encoders, "--dataset", f"file:{mine}", "--diagnostic", "heros")
    assert said.code == 0
    for name in ("accuracy", *OWN_SUBSETS):
        assert name in said.out
    assert "best accuracy first" in " ".join(said.out.split())


def test_lexical_overlap_of_a_file(blindspot: Command, mine: Path) -> None:
    assert list(blindspot("data", "overlap", f"file:{mine}", "--json").json["overlap"]) == OWN_SUBSETS
