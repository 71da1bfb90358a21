"""HEROS on a user's own minimal pairs: the command line and the store, also with a few of the subsets."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core import cli
from core import diagnostic as diagnostics
from core.cli import output as cli_output
from core.datasets.own import files as own
from core.datasets.own.minimal_pairs import OwnMinimalPairs
from core.datasets.published.minimal_pairs import SUBSETS
from core.diagnostics.heros.definition import ORDERINGS
from core.encoders.cache import EmbeddingCache
from core.runs import pipeline
from core.settings import ASSETS, Settings
from core.store.repository import Repository
from tests.support.heros_table import FIRST_ROWS, demo_file
from tests.support.small_world import GramEncoder, register_encoder

ENTRY = diagnostics.find("heros")
EXAMPLE = ASSETS / "demo" / "own_minimal.tsv"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")
    monkeypatch.delenv("BLINDSPOT_MIRROR", raising=False)
    monkeypatch.setattr(cli_output, "SECONDS_BETWEEN_LINES", float("inf"))
    register_encoder(monkeypatch, GramEncoder("trigrams", 3))
    register_encoder(monkeypatch, GramEncoder("bigrams", 2))
    return settings


@pytest.fixture
def blindspot(capsys: pytest.CaptureFixture[str], environment: Settings) -> Command:
    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = cli.main(arguments)
        return code, *capsys.readouterr()

    return run


def test_a_file_is_run_and_its_reading_is_kept(environment: Settings, blindspot: Command, tmp_path: Path) -> None:
    """By a real encoder; the scores are those of a loop over its embeddings."""
    path = Path(shutil.copy(EXAMPLE, tmp_path / "mine.tsv"))
    asked = ("run", "heros", "--encoder", "random-projection", "--dataset", f"file:{path}")
    code, out, err = blindspot(*asked, "--json")
    assert (code, err) == (0, "")
    (run,) = json.loads(out)["runs"]
    dataset = run["manifest"]["dataset"]
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (run["dataset"], dataset["revision"], dataset["files"]) == (f"file:{path}", sha256, {str(path): sha256})
    contents = own.read(path)
    assert isinstance(contents, OwnMinimalPairs)
    assert dataset["reading"] == contents.as_manifest()
    assert dataset["reading"]["rows"] == 6

    embedded = EmbeddingCache(environment.embeddings).read(run["manifest"]["embeddings"]["digest"])
    vectors = np.asarray(embedded.matrix, dtype=np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    items = contents.dataset("x").items
    vector = {text: vectors[i] for i, text in enumerate(items)}
    first, second = contents.originals[:3], contents.originals[3:]
    cos_avg = math.fsum(float(vector[a] @ vector[b]) for a in first for b in second) / 9
    for subset, rewrites in contents.rewrites.items():
        cosines = [float(vector[a] @ vector[b]) for a, b in zip(contents.originals, rewrites, strict=True)]
        expected = math.fsum((c - cos_avg) / (1 - cos_avg) for c in cosines) / 6
        assert run["metrics"][subset] == pytest.approx(expected, abs=1e-12)

    code, out, _ = blindspot(*asked)
    assert code == 0
    assert f"run {run['run_id']}: found in the store\n" in out
    assert f"read {contents.summary}" in out
    path.write_text(path.read_text("utf-8").replace("qiuckly", "quikcly"), "utf-8")
    (changed,) = json.loads(blindspot(*asked, "--json")[1])["runs"]
    assert changed["computed"]
    assert changed["run_id"] != run["run_id"]


def test_it_is_no_set_of_pairs_and_the_list_names_the_form(blindspot: Command) -> None:
    code, out, err = blindspot("run", "evalrank", "--encoder", "trigrams", "--dataset", f"file:{EXAMPLE}")
    assert (code, out) == (2, "")
    assert "a minimal-pair set; expected a pair set" in err
    assert len(err.splitlines()) == 1
    listed = blindspot("list", "datasets")[1].splitlines()[-1]
    assert "file:PATH" in listed
    assert "query and mate" in listed
    assert "a column original and any of synonym, antonym" in listed


def test_every_number_of_subsets_is_computed_stored_and_listed(
    environment: Settings, blindspot: Command, tmp_path: Path
) -> None:
    """One subset has no ordering rate, and so no headline; more have those of their pairs."""
    repository = Repository.at(environment.store)
    for subsets in [(s,) for s in SUBSETS] + [SUBSETS[:n] for n in range(2, 7)]:
        path = demo_file(tmp_path, subsets)
        request = pipeline.request("heros", "trigrams", "none", f"file:{path}", {}, environment)
        record = pipeline.run(request, environment, repository).record
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
    code, out, err = blindspot("runs")
    assert (code, err) == (0, "")
    assert out.count("│ heros") == 11
    assert out.count("synonym>antonym") == sum({"synonym", "antonym"} <= set(SUBSETS[:n]) for n in range(2, 7))
    code, out, err = blindspot("run", "heros", "--encoder", "bigrams", "--dataset", f"file:{tmp_path / 'typo.csv'}")
    assert (code, err) == (0, "")
    assert "typo_sd" in out
