"""The word vectors of the ready sweep: brought from a mirror, and what is told where there is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.datasets import vector_sources
from blindspot.datasets.entries import SourceFile
from blindspot.errors import DataCorrupt
from blindspot.files.writing import sha256_of
from blindspot.settings import Settings
from tests.conftest import make_settings

CONTENT = "cat 1 0 0\ndog 0 1 0\n"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A mirror that has one small file of the source ``small``."""
    path = tmp_path / "mirror" / "small" / "vectors.txt"
    path.parent.mkdir(parents=True)
    path.write_text(CONTENT)
    return tmp_path / "mirror"


@pytest.fixture
def here(mirror: Path) -> SourceFile:
    path = mirror / "small" / "vectors.txt"
    return SourceFile("small", "vectors.txt", "", path.stat().st_size, sha256_of(path))


def test_files_come_from_the_mirror_once_and_are_then_here_without_it(
    settings: Settings, mirror: Path, here: SourceFile
) -> None:
    mirrored = replace(settings, mirror=str(mirror))
    brought = vector_sources.bring(mirrored, files=[here])
    assert brought.missing == ()
    assert [path.read_text() for path in brought.paths] == [CONTENT]
    assert brought.paths[0].is_relative_to(settings.data)
    (mirror / "small" / "vectors.txt").unlink()
    assert vector_sources.bring(mirrored, files=[here]) == brought
    assert vector_sources.bring(settings, files=[here]) == brought


def test_what_cannot_be_had_is_told_with_what_to_do_and_stops_nothing_else(
    settings: Settings, mirror: Path, here: SourceFile
) -> None:
    elsewhere = replace(here, path="other.txt")
    without = vector_sources.bring(settings, files=[here])
    assert without.paths == ()
    assert without.missing == (
        "vectors.txt is only in a mirror: set BLINDSPOT_MIRROR to a folder or URL that has small/vectors.txt",
    )
    some = vector_sources.bring(replace(settings, mirror=str(mirror)), files=[elsewhere, here])
    assert [path.name for path in some.paths] == ["vectors.txt"]
    assert len(some.missing) == 1
    assert some.missing[0].startswith(f"other.txt: the mirror has no {mirror}")


def test_a_mirror_that_serves_something_else_is_refused(settings: Settings, mirror: Path, here: SourceFile) -> None:
    (mirror / "small" / "vectors.txt").write_text(CONTENT.replace("1", "2"))
    with pytest.raises(DataCorrupt, match="not the file"):
        vector_sources.bring(replace(settings, mirror=str(mirror)), files=[here])


def test_all_files_are_pinned_and_only_those_without_an_address_need_a_mirror() -> None:
    assert all(file.is_pinned and file.size for file in vector_sources.VECTOR_FILES)
    assert [file.source for file in vector_sources.VECTOR_FILES if not file.url] == ["word_vectors", "word_vectors"]


@pytest.mark.realdata
def test_the_real_files_are_the_pinned_ones(shared_settings: Settings, tmp_path: Path) -> None:
    brought = vector_sources.bring(make_settings(tmp_path / "cache", shared_settings.mirror))
    assert len(brought.paths) == len(vector_sources.VECTOR_FILES)
    assert brought.missing == ()
