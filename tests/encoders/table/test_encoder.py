"""Precomputed embeddings: every format, equality of texts, and every bad file refused in one line."""

from __future__ import annotations

import csv
import io
import json
import logging
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from blindspot.encoders.catalog import canonical_encoder, resolve_encoder
from blindspot.encoders.table.encoder import Table
from blindspot.encoders.table.files import read
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.tables import each

TEXTS = ("A dog runs.", 'He said "no", twice', "größe", "two\tparts", " spaced ", "A dog")
VECTORS = np.random.default_rng(4).normal(size=(len(TEXTS), 5)).astype(np.float32)


def as_lists(vectors: np.ndarray = VECTORS) -> list[list[float]]:
    return [[float(v) for v in row] for row in vectors]


def as_parquet(path: Path, texts: Any = TEXTS, vectors: Any = None, kind: Any = None) -> None:
    lists = pa.array(as_lists() if vectors is None else vectors, kind or pa.list_(pa.float32()))
    parquet.write_table(
        pa.table({"id": pa.array(range(len(texts))), "embedding": lists, "text": pa.array(texts)}), path
    )


def as_csv(path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "id", "embedding"])
        writer.writerows([t, i, json.dumps(v)] for i, (t, v) in enumerate(zip(TEXTS, as_lists(), strict=True)))


def as_columns(path: Path) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["dim_1", "dim_0", *(f"dim_{i}" for i in range(2, 5)), "text"])
        for text, (a, b, *more) in zip(TEXTS, as_lists(), strict=True):
            writer.writerow([b, a, *more, text])


def as_tsv(path: Path) -> None:
    texts = [text.replace("\t", " ") for text in TEXTS]
    rows = "".join(f"{json.dumps(v)}\t{t}\n" for t, v in zip(texts, as_lists(), strict=True))
    path.write_text("embedding\ttext\n" + rows, "utf-8")


def as_jsonl(path: Path) -> None:
    rows = [{"text": t, "embedding": v} for t, v in zip(TEXTS, as_lists(), strict=True)]
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")


def as_npy(path: Path, dtype: str = "float32", end: str = "\n") -> None:
    np.save(path, VECTORS.astype(dtype))
    path.with_suffix(".txt").write_bytes("".join(text + end for text in TEXTS).encode())


WRITERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "parquet": ("t.parquet", as_parquet),
    "parquet of doubles": ("t.parquet", lambda p: as_parquet(p, kind=pa.list_(pa.float64()))),
    "parquet of fixed size": ("t.parquet", lambda p: as_parquet(p, kind=pa.list_(pa.float32(), 5))),
    "parquet of large lists": ("t.parquet", lambda p: as_parquet(p, kind=pa.large_list(pa.float32()))),
    "csv": ("t.csv", as_csv),
    "csv of columns": ("t.csv", as_columns),
    "tsv": ("t.tsv", as_tsv),
    "jsonl": ("t.jsonl", as_jsonl),
    "npy": ("t.npy", as_npy),
    "npy of doubles": ("t.npy", lambda p: as_npy(p, ">f8")),
    "npz": ("t.npz", lambda p: np.savez(p, vectors=VECTORS, texts=np.array(TEXTS), labels=np.arange(len(TEXTS)))),
    "npz, packed": ("t.npz", lambda p: np.savez_compressed(p, VECTORS.astype(">f8"), np.array(TEXTS))),
    "npz of bytes": ("t.npz", lambda p: np.savez(p, a=VECTORS, b=np.array([text.encode() for text in TEXTS]))),
    "npz and texts": ("t.npz", lambda p: (as_npy(p.with_suffix(".npy")), np.savez(p, VECTORS))),
    "npy with carriage returns": ("t.npy", lambda p: as_npy(p, end="\r\n")),
}


@each("form", WRITERS)
def test_a_table_gives_what_stands_in_it(form: str, tmp_path: Path, settings: Settings) -> None:
    name, write = WRITERS[form]
    write(tmp_path / name)
    encoder = resolve_encoder(f"table:{tmp_path / name}", settings)
    known = [text.replace("\t", " ") for text in TEXTS] if form == "tsv" else list(TEXTS)
    vectors = encoder.encode([*known[::-1], "a dog", "A dog ", "spaced", ""], CancelToken())
    np.testing.assert_array_equal(vectors[: len(TEXTS)], VECTORS[::-1])
    assert np.isnan(vectors[len(TEXTS) :]).all()
    assert vectors.dtype == np.float32
    info = encoder.info
    assert (info.dimension, info.parameters, info.is_partial) == (5, 0, True)
    assert 4 * 5 * len(TEXTS) <= info.memory_bytes <= 4 * 5 * (len(TEXTS) + 1)  # a header may be counted


def test_either_file_of_a_pair_may_be_named(tmp_path: Path, settings: Settings) -> None:
    as_npy(tmp_path / "t.npy")
    assert canonical_encoder(f"table:{tmp_path / 't.txt'}") == f"table:{tmp_path / 't.npy'}"
    by_text, by_array = (resolve_encoder(f"table:{tmp_path / name}", settings) for name in ("t.txt", "t.npy"))
    assert by_text.identity == by_array.identity
    (tmp_path / "t.txt").write_text("\n".join(reversed(TEXTS)), "utf-8")
    assert resolve_encoder(f"table:{tmp_path / 't.npy'}", settings).identity.revision != by_array.identity.revision


def test_of_duplicate_texts_the_first_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    as_parquet(tmp_path / "t.parquet", ["a", "b", "a", "A", "b", "a"])
    encoder = Table.at(tmp_path / "t.parquet")
    with caplog.at_level(logging.WARNING):
        vectors = encoder.encode(["a", "b", "A"], CancelToken())
    np.testing.assert_array_equal(vectors, VECTORS[[0, 1, 3]])
    assert encoder.duplicates == 3
    (record,) = caplog.records
    assert record.getMessage().endswith("t.parquet: 3 duplicate texts; the first row of each is kept")


def test_quotes_around_all_cells_of_a_column_are_no_part_of_the_texts(tmp_path: Path) -> None:
    for header in ("text\tdim_0\tdim_1", '"text"\t"dim_0"\t"dim_1"', '"text"\tdim_0\tdim_1'):
        (tmp_path / "t.tsv").write_text(f'{header}\n"a b"\t1\t2\n"say ""so"""\t3\t4\n', "utf-8")
        assert list(read(tmp_path / "t.tsv").index) == ["a b", 'say "so"'], header
    (tmp_path / "t.tsv").write_text('text\tembedding\n"a"\t"[1, 2]"\n"b"\t"[3, 4]"\n', "utf-8")
    assert read(tmp_path / "t.tsv").matrix.tolist() == [[1, 2], [3, 4]]
    (tmp_path / "t.tsv").write_text('text\tdim_0\n"a"\t1\nb\t2\n', "utf-8")
    assert list(read(tmp_path / "t.tsv").index) == ['"a"', "b"], "some cells alone: they are text"


def test_a_table_of_many_blocks_and_long_cells(tmp_path: Path) -> None:
    vectors = np.random.default_rng(5).normal(size=(3_000, 3)).astype(np.float32)
    texts = [f"text {i}" for i in range(3_000)]
    as_parquet(tmp_path / "t.parquet", texts, as_lists(vectors))
    np.testing.assert_array_equal(Table.at(tmp_path / "t.parquet").encode(texts, CancelToken()), vectors)
    limit = csv.field_size_limit()
    long = np.arange(20_000, dtype=np.float32) + 0.5
    (tmp_path / "t.csv").write_text(f'text,embedding\na,"{as_lists(long[None])[0]}"\n', "utf-8")
    np.testing.assert_array_equal(Table.at(tmp_path / "t.csv").encode(["a"], CancelToken()), long[None])
    assert csv.field_size_limit() == limit


# --- what is refused


def npy(array: Any, lines: str = "a\nb\n", **options: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        np.save(folder / "t.npy", array, **options)
        (folder / "t.txt").write_text(lines, "utf-8")

    return write


def raw(name: str, content: str | bytes, lines: str = "a\nb\n") -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "t.txt").write_text(lines, "utf-8")
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def columns(**named: Any) -> Callable[[Path], None]:
    return lambda folder: parquet.write_table(pa.table(named), folder / "t.parquet")


def header(shape: str, descr: str = "'<f4'", body: int = 16) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(body)


def cut(write: Callable[[Path], None], name: str) -> Callable[[Path], None]:
    def write_less(folder: Path) -> None:
        write(folder / name)
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[: len(whole) * 2 // 3])

    return write_less


def npz(**arrays: Any) -> Callable[[Path], None]:
    return lambda folder: np.savez_compressed(folder / "t.npz", **arrays)


def archived(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


TWO = np.ones((2, 2), dtype=np.float32)
F32 = pa.list_(pa.float32())
# File, content and what is said of it.
CONTENTS: dict[str, tuple[str, str | bytes, str]] = {
    "ending": ("t.xlsx", "x", "t.xlsx"),
    "other columns": ("t.csv", "word,vec\na,[1]\n", "no column 'text' and 'embedding'; it has word, vec"),
    "no text column": ("t.csv", "dim_0,dim_1\n1,2\n", "no column 'text'; it has dim_0, dim_1"),
    "a gap in columns": ("t.csv", "text,dim_0,dim_2\na,1,2\n", "no column 'embedding'"),
    "two of a column": ("t.csv", "text,text,embedding\na,b,[1]\n", "two columns 'text'"),
    "short row": ("t.csv", 'text,embedding\na,"[1, 2]"\nb\n', "line 3: 1 cell(s); expected 2"),
    "a program": ("t.csv", b"\x7fELF\x02\x01\x01\r\x00\n", "is a program (ELF); expected a text file"),
    "a Parquet file": ("t.tsv", b"PAR1" + bytes(40), "is a Parquet file"),
    "line ends of an old Mac": ("t.csv", "text,dim_0\ra,1\r", "a carriage return inside a cell"),
    "quotes that end": ("t.tsv", "text\tdim_0\n" + '"a"\t1\n' * 60 + "b\t2\n", "line 62: 'b' is not in quotes"),
    "open quote": ("t.csv", 'text,embedding\na,"[1, 2]\n', "begins in line 2"),
    "nested": ("t.csv", 'text,embedding\na,"[[1, 2]]"\n', "line 2: the embedding has the shape (1, 2)"),
    "no numbers": ("t.csv", "text,embedding\na,one\n", "line 2: the embedding is no list of numbers: 'one'"),
    "no number": ("t.csv", "text,dim_0\na,one\n", "line 2: the embedding is no list of numbers: 'one'"),
    "texts for numbers": ("t.csv", 'text,embedding\na,"[""1""]"\n', "is no list of numbers"),
    "no cell": ("t.csv", "text,embedding\n,[1]\n", "line 2: there is no text"),
    "NaN": ("t.csv", "text,embedding\na,[1]\ndog,[NaN]\n", "line 3: the embedding of 'dog' contains NaN"),
    "1e39": ("t.csv", "text,embedding\ndog,[1e39]\n", "line 2: the embedding of 'dog' contains an infinite"),
    "Latin-1": ("t.csv", b"text,embedding\ngr\xf6\xdfe,[1]\n", "is not UTF-8 (the byte 0xf6)"),
    "broken JSON": ("t.jsonl", '{"text": "a", "embedding": [1]}\n{"text"\n', "line 2: broken JSON"),
    "no object": ("t.jsonl", "[1]\n", "line 1: not a JSON object"),
    "JSON of others": ("t.jsonl", '{"text": "a", "vec": [1]}\n', "no column 'embedding'; it has text, vec"),
    "JSON null": ("t.jsonl", '{"text": null, "embedding": [1]}\n', "line 1: there is no text"),
    "JSON number": ("t.jsonl", '{"text": 5.5, "embedding": [1]}\n', "line 1: 5.5 is not text"),
    "npz that is none": ("t.npz", "PK", "is damaged, cut short or encrypted"),
    "npz of a pickle": ("t.npz", pickle.dumps([1]), "is a pickle, which can run code when read"),
    "npz by another": ("t.npz", archived(**{"a.txt": b"a"}), "is damaged, cut short or encrypted: EOF: reading magic"),
    "npz with 3 GB": ("t.npz", archived(**{"a.npy": header("(750000000, 1)")}), "header claims an array of shape"),
    "JSON hole": ("t.jsonl", '{"text": "a", "embedding": [1, null]}\n', "is no list of numbers"),
    "JSON truth": ("t.jsonl", '{"text": "a", "embedding": [true]}\n', "is no list of numbers"),
    "JSON nothing": ("t.jsonl", '{"text": "a", "embedding": []}\n', "has the shape (0,)"),
    "JSON ragged": ("t.jsonl", '{"text": "a", "embedding": [[1], [1, 2]]}\n', "is no list of numbers"),
    "no parquet": ("t.parquet", "text,embedding\n", "not a Parquet file"),
    "npy pickle": ("t.npy", pickle.dumps([1]), "is a pickle, which can run code when read"),
    "npy of another kind": ("t.npy", "text", "is not what its name says"),
    "npy 3 GB": ("t.npy", header("(750000000, 1)"), "144 bytes, but its header claims an array of shape"),
    "npy absurd": ("t.npy", header(f"({10**30}, {10**30})"), "its header claims an array of shape"),
    "npy less than nothing": ("t.npy", header("(-1, 2)"), "has the shape (-1, 2)"),
    "npy header cut": ("t.npy", header("(2, 2)")[:60], "has a damaged header"),
}
# Texts, embeddings, and what is said of a Parquet file with these.
COLUMNS: dict[str, tuple[Any, Any, str]] = {
    "parquet of numbers": (["a"], [1.0], "the column embedding has double"),
    "parquet of texts in lists": (["a"], [["1"]], "has list<element: string>"),
    "parquet null": (["a", None], pa.array([[1], [2]], F32), "row 2: there is no text"),
    "parquet null embedding": (["a", "b"], pa.array([[1], None], F32), "row 2: there is no embedding"),
    "parquet hole": (["a"], pa.array([[1, None]], F32), "row 1: a number of the embedding is missing"),
    "parquet ragged": (
        ["a", "b"],
        pa.array([[1], [1, 2]], F32),
        "row 2: 2 numbers in the embedding of 'b'; expected 1",
    ),
    "parquet NaN": (["a", "b"], pa.array([[1], [float("nan")]], F32), "row 2: the embedding of 'b' contains NaN"),
    "parquet of texts that are none": ([7.5], pa.array([[1]], F32), "row 1: 7.5 is not text"),
    "parquet without rows": (pa.array([], pa.string()), pa.array([], F32), "has columns and no rows"),
}


def test_integers_are_read_as_numbers_and_as_names(tmp_path: Path) -> None:
    """Vectors in int8, and texts that are ids."""
    as_int8 = pa.array([[1, -2], [3, 4]], pa.list_(pa.int8()))
    columns(text=[7, 8], embedding=as_int8)(tmp_path)
    npy(np.array([[1, -2], [3, 4]], dtype=np.int8), "7\n8")(tmp_path)
    np.savez(tmp_path / "t.npz", ids=np.array([7, 8]), labels=np.array([1, 1]), v=np.array([[1, -2], [3, 4]]))
    (tmp_path / "t.jsonl").write_text('{"text": 7, "embedding": [1, -2]}\n{"text": 8, "embedding": [3, 4]}\n', "utf-8")
    for name in ("t.parquet", "t.npy", "t.npz", "t.jsonl"):
        found = Table.at(tmp_path / name).encode(["8", "7"], CancelToken())
        assert found.tolist() == [[3, 4], [1, -2]], name


REFUSED: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    **{name: (file, raw(file, content), said) for name, (file, content, said) in CONTENTS.items()},
    **{name: ("t.parquet", columns(text=texts, embedding=rows), said) for name, (texts, rows, said) in COLUMNS.items()},
    "parquet of others": ("t.parquet", columns(text=["a"], vec=[1.0]), "no column 'embedding'; it has text, vec"),
    "parquet of none of them": (
        "t.parquet",
        columns(chunk=["a"], vector=pa.array([[1.0]], F32)),
        "no column 'text' and 'embedding'; it has chunk, vector; expected the columns text and embedding",
    ),
    "parquet cut": ("t.parquet", cut(as_parquet, "t.parquet"), "not a Parquet file"),
    "npz without texts": ("t.npz", npz(a=TWO), "does not say which texts its 2 rows are of: it has a (float32 of"),
    "npz of objects": ("t.npz", npz(a=TWO, b=np.array(["x", "y"], dtype=object)), "b (objects, which are pickles of"),
    "npz of two": ("t.npz", npz(a=TWO, b=TWO, c=np.array(["x", "y"])), "has 2 matrices of numbers: it has a ("),
    "npz of two texts": ("t.npz", npz(a=TWO, b=np.array(["x", "y"]), c=np.array(["x", "z"])), "does not say which"),
    "npz of none": ("t.npz", npz(c=np.array(["x", "y"])), "has 0 matrices of numbers"),
    "npz NaN": ("t.npz", npz(a=np.array([[1.0], [np.nan]]), b=np.array(["x", "y"])), "row 2: the embedding of 'y'"),
    "npz bomb": ("t.npz", npz(zeros=np.zeros((10**5, 100)), texts=np.array(["a"])), "unpacks to more than"),
    "npy NaN": ("t.npy", npy(np.array([[1.0], [np.inf]])), "row 2: the embedding of 'b' contains an infinite value"),
    "npy flat": ("t.npy", npy(np.ones(2, dtype=np.float32)), "an array of float32 of shape (2,)"),
    "npy deep": ("t.npy", npy(np.ones((2, 1, 1))), "an array of float64 of shape (2, 1, 1)"),
    "npy of flags": ("t.npy", npy(np.ones((2, 2), dtype=bool)), "an array of bool of shape (2, 2)"),
    "npy complex": ("t.npy", npy(np.ones((2, 2), dtype=complex)), "an array of complex128"),
    "npy nothing": ("t.npy", npy(np.ones((0, 2))), "has the shape (0, 2)"),
    "npy fewer texts": ("t.txt", npy(TWO, "a"), "has 1 lines and "),
    "npy cut": ("t.npy", cut(as_npy, "t.npy"), "it is cut short or damaged"),
    "no texts": ("t.npy", lambda folder: np.save(folder / "t.npy", TWO), "there is no file"),
    "no array": ("t.txt", lambda folder: (folder / "t.txt").write_text("a"), "there is no file"),
}


@each("name", REFUSED)
def test_a_bad_table_is_refused_in_one_line(name: str, tmp_path: Path, settings: Settings) -> None:
    file, write, said = REFUSED[name]
    write(tmp_path)
    with pytest.raises(InputError) as caught:
        resolve_encoder(f"table:{tmp_path / file}", settings).load()
    message = str(caught.value)
    assert said in message
    assert str(tmp_path / "t.") in message
    assert "\n" not in message


def test_a_pickle_is_never_read(tmp_path: Path, settings: Settings) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "owned",)

    trap = pickle.dumps(Trap())
    pickle.loads(trap)
    (tmp_path / "owned").unlink()  # so it works
    for name in ("t.npy", "t.bin", "t.txt", "t.parquet", "t.csv", "t.jsonl"):
        (tmp_path / name).write_bytes(trap)
        for scheme in ("table", "vectors"):
            with pytest.raises(InputError):
                resolve_encoder(f"{scheme}:{tmp_path / name}", settings).load()
    np.save(tmp_path / "t.npy", np.array([[Trap()]]), allow_pickle=True)
    with pytest.raises(InputError):
        resolve_encoder(f"table:{tmp_path / 't.npy'}", settings).load()
    assert not (tmp_path / "owned").exists()
