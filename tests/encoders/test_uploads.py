"""Uploaded files: those that make an encoder, their names on disk, and deletion of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.encoders.uploads import delete_upload, endings, store_upload, upload_of
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import Settings
from tests.support.tables import each


def root(settings: Settings) -> Path:
    return settings.cache / "uploads" / "encoders"


@each(
    ("files", "scheme", "stored"),
    [
        (["GoogleNews vectors.txt"], "vectors", ["GoogleNews-vectors.txt"]),
        (["w.VEC"], "vectors", ["w.vec"]),
        (["w.bin"], "vectors", ["w.bin"]),
        (["glove.6B.txt.gz"], "vectors", ["glove-6B.txt.gz"]),
        (["t.parquet"], "table", ["t.parquet"]),
        (["t.CSV"], "table", ["t.csv"]),
        (["b.txt", "a.npy"], "table", ["a.npy", "a.txt"]),
        (["a.npy", "a.txt"], "table", ["a.npy", "a.txt"]),
        (["../../etc/passwd.txt"], "vectors", ["passwd.txt"]),
        (["..\\..\\x?y=z#.txt"], "vectors", ["x-y-z.txt"]),
        (["日本.txt"], "vectors", ["upload.txt"]),
        (["x" * 300 + ".txt"], "vectors", ["x" * 80 + ".txt"]),
    ],
)
def test_files_are_kept_under_a_safe_name(settings: Settings, files: list[str], scheme: str, stored: list[str]) -> None:
    upload = store_upload([(name, name.encode()) for name in files], settings)
    assert upload.is_new
    assert upload.folder.parent == root(settings)
    assert sorted(path.name for path in upload.folder.iterdir()) == stored
    assert upload.reference == f"{scheme}:{upload.folder / stored[0]}"
    kept = {(upload.folder / name).read_bytes() for name in stored}
    assert kept == {name.encode() for name in files}
    assert upload_of(upload.reference, settings) == upload.folder.resolve()


def test_the_same_content_is_one_upload(settings: Settings) -> None:
    first = store_upload([("a.txt", b"x")], settings)
    again = store_upload([("b.txt", memoryview(b"x"))], settings)
    assert (again.reference, again.is_new) == (first.reference, False)
    assert store_upload([("a.vec", b"x")], settings).reference != first.reference, "another ending, another reading"
    assert store_upload([("a.txt", b"y")], settings).reference != first.reference


def test_an_upload_that_was_interrupted_is_completed(settings: Settings) -> None:
    files = [("a.npy", b"rows"), ("a.txt", b"texts")]
    upload = store_upload(files, settings)
    (upload.folder / "a.npy").unlink()  # the texts are written first
    assert store_upload(files, settings) == upload
    assert (upload.folder / "a.npy").read_bytes() == b"rows"


@each("files", [[], ["a.npy"], ["a.exe"], ["a.txt", "b.txt"], ["a.npy", "a.txt", "b.txt"], ["a"], [".txt"], ["a.npz"]])
def test_other_files_make_no_encoder(settings: Settings, files: list[str]) -> None:
    with pytest.raises(InputError, match="these files make no encoder") as caught:
        store_upload([(name, b"x") for name in files], settings)
    assert ".parquet" in caught.value.expected
    assert not settings.cache.exists()


def test_every_ending_is_offered_once(settings: Settings) -> None:
    assert {"txt", "vec", "bin", "gz", "parquet", "csv", "npy"} <= set(endings())
    assert len(endings()) == len(set(endings()))


def test_only_uploads_are_deleted(settings: Settings, tmp_path: Path) -> None:
    upload = store_upload([("a.txt", b"x")], settings)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "a.txt").write_text("x", "utf-8")
    link = root(settings) / "link"
    link.symlink_to(precious)
    for target in (
        precious / "a.txt",
        upload.folder / ".." / ".." / ".." / ".." / "precious" / "a.txt",
        link / "a.txt",
        root(settings) / "a.txt",
        upload.folder / "deeper" / "a.txt",
    ):
        assert upload_of(f"vectors:{target}", settings) is None, target
    assert upload_of(f"dir:{upload.folder / 'a.txt'}", settings) is None
    for folder in (precious, link, root(settings), settings.cache, upload.folder / ".."):
        with pytest.raises(BlindspotError, match="not deleted"):
            delete_upload(folder, settings)
    assert (precious / "a.txt").exists()
    delete_upload(upload.folder, settings)
    assert not upload.folder.exists()
