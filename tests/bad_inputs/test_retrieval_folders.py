"""Damaged folders of queries, documents and judgments: an error in one line that names the folder, or harmless."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blindspot.datasets.user_data import retrieval_folder
from blindspot.errors import InputError
from blindspot.settings import ASSETS
from tests.support.retrieval_folders import TREC, folder

PIECES = (b'"', b"\n", b"\t", b"<", b">", b"{", b"}", b"null", b"1e999", b"\\ud800", b"</TEXT>", b"<DOC>", b"\xff", b"")


def check(path: Path, file: Path, data: st.DataObject) -> None:
    whole = file.read_bytes()
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged)))
        damaged[at : at + data.draw(st.integers(0, 200))] = data.draw(st.sampled_from(PIECES))
    file.write_bytes(bytes(damaged))
    said = f"{path}: read"
    try:
        dataset = retrieval_folder.read(path).loaded("x")
        assert dataset.counts.relevant > 0
        assert all(text.strip() for text in dataset.items)
    except InputError as error:
        said = str(error)
    finally:
        file.write_bytes(whole)
    assert str(path) in said
    assert "\n" not in said


def fuzzed(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    files = sorted(file for file in path.rglob("*") if file.is_file())

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def run(data: st.DataObject) -> None:
        check(path, data.draw(st.sampled_from(files)), data)

    run()


@pytest.mark.hostile
def test_damage_to_beir(tmp_path: Path) -> None:
    fuzzed(lambda at: Path(shutil.copytree(ASSETS / "demo" / "retrieval", at / "beir")), tmp_path)


@pytest.mark.hostile
def test_damage_to_trec(tmp_path: Path) -> None:
    fuzzed(lambda at: folder(at, TREC), tmp_path)
