"""No file for spreadsheets that Blindspot writes holds a formula; numbers stay numbers, and typed files stay true."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from blindspot import cli
from blindspot.files.export import NEEDS_MARK, as_file, guarded, unguarded
from blindspot.settings import ROOT, Settings
from tests.support import sources
from tests.support.tables import each

FORMULAS = ("=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", '=HYPERLINK("http://x","y")')
FINE = ("a dog", "", '"=1"', " =1", "1-1", "é", "a\nb")


@each("text", FORMULAS)
def test_a_formula_becomes_a_text_and_comes_back(text: str) -> None:
    assert guarded(text) == f"'{text}"
    assert unguarded(guarded(text)) == text


@given(st.text())
def test_every_text_comes_back(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(tuple(set(NEEDS_MARK) - {"'"}))


def test_a_page_s_download_holds_no_formula() -> None:
    texts = [*FORMULAS, *FINE, None]
    numbers = [-float(n) for n in range(len(texts))]
    frame = pd.DataFrame({"=query": texts, "kind": pd.Categorical(texts), "score": numbers, "no": range(len(texts))})
    header, *rows = csv.reader(io.StringIO(as_file(frame, ".csv").decode(), newline=""))
    assert header == ["'=query", "kind", "score", "no"]
    wanted = [f"'{text}" for text in FORMULAS] + [*FINE, ""]
    assert [row[0] for row in rows] == [row[1] for row in rows] == wanted
    assert [float(row[2]) for row in rows] == numbers
    assert [int(row[3]) for row in rows] == list(range(len(texts)))
    again = parquet.read_table(io.BytesIO(as_file(frame, ".parquet"))).to_pydict()
    assert again["=query"] == texts


def test_the_command_line_exports_no_formula(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cpu")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("original\ttypo\n=cmd|' /C calc'!A0\t@rain falls\nit rains\t+rain falls\n", "utf-8")
    assert cli.main(["run", "heros", "--encoder", "random-projection", "--dataset", f"file:{pairs}", "--json"]) == 0
    (run_id,) = re.findall(r'"run_id": "(\w+)"', capsys.readouterr().out)
    assert cli.main(["export", run_id, "--output", str(tmp_path / "x.csv")]) == 0
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    cells = {cell for row in rows for cell in row.values()}
    assert {"'=cmd|' /C calc'!A0", "'@rain falls", "'+rain falls", "it rains"} <= cells


def test_no_other_module_writes_csv() -> None:
    """Whoever adds an export finds ``blindspot.files.export``."""
    writers = re.compile(r"\.to_csv\(|csv\.write_csv|csv\.writer|DictWriter")
    found = {str(path.relative_to(ROOT)) for path in sources.product() if writers.search(sources.text(path))}
    guarded_or_not_for_people = {"core/blindspot/files/typed_tables.py", "core/benchmarks/app_store.py"}
    assert found == {"core/blindspot/files/export.py"} | guarded_or_not_for_people
