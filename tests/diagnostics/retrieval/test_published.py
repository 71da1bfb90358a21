"""Published preferences of dense retrievers: what is read, intervals against those of the tables, and the view."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.entries import SourceFile
from blindspot.diagnostics.retrieval import published
from blindspot.diagnostics.retrieval.published import BIASES, FILES, Preference, read
from blindspot.errors import DataCorrupt
from blindspot.files.writing import sha256_of
from blindspot.settings import Settings

ROW = {"Model": "A ", "mean_diff": 0.5, "std_diff": 2.0, "n": 25, "ttest_pvalue": 0.2, "acc": 0.6}


def test_a_row_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([ROW, {k: v for k, v in ROW.items() if k != "acc"}]), "utf-8")
    first, second = read("brevity", path)
    assert first == Preference("brevity", "A", 0.5, 2.0, 25, 0.2, 0.6)
    assert second.share is None
    assert first.effect == 0.25
    assert first.interval.high - first.effect == pytest.approx(2.0639 / 5, abs=1e-4)  # t of 24 degrees of freedom


@pytest.mark.parametrize("content", ["{", "[1]", '[{"Model": "A"}]'])
def test_another_form_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(content, "utf-8")
    with pytest.raises(DataCorrupt, match=r"t\.json"):
        read("brevity", path)


def test_tables_are_downloaded_once(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mirror" / "small"
    folder.mkdir(parents=True)
    (folder / "t.json").write_text(json.dumps([ROW]), "utf-8")
    file = SourceFile("small", "t.json", "", (folder / "t.json").stat().st_size, sha256_of(folder / "t.json"))
    monkeypatch.setattr(published, "FILES", {"brevity": file})
    at = replace(settings, mirror=str(tmp_path / "mirror"))
    assert not published.is_here(at)
    published.bring(at)
    assert published.is_here(at)
    assert [row.model for row in published.load(at)] == ["A"]


@pytest.mark.realdata
def test_intervals_are_those_of_the_tables(shared_settings: Settings) -> None:
    published.bring(shared_settings)
    rows = published.load(shared_settings)
    assert {bias: sum(row.bias == bias for row in rows) for bias in BIASES} == {
        "brevity": 8,
        "literal": 8,
        "position": 6,
        "repetition": 6,
        "tail": 6,
        "relation": 6,
    }
    with_ends = 0
    for bias, file in FILES.items():
        for row, entry in zip(
            [row for row in rows if row.bias == bias],
            json.loads(fetch.local_path(file, shared_settings).read_text("utf-8")),
            strict=True,
        ):
            assert row.effect * math.sqrt(row.n) == pytest.approx(entry["Paired t-Test Statistic"], rel=1e-6)
            if "ttest_ci_low_stats" in entry:
                with_ends += 1
                assert row.interval.low * row.sd == pytest.approx(entry["ttest_ci_low_stats"], rel=1e-6)
                assert row.interval.high * row.sd == pytest.approx(entry["ttest_ci_high_stats"], rel=1e-6)
    assert with_ends == 14
