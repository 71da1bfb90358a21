"""Whatever bytes or words come in: a valid object, or one clear error; never anything else, and soon.

A few examples each, always the same ones; ``make trust`` takes a hundred times as many, and new ones.
"""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.datasets import uploads
from blindspot.datasets.user_data import files as own
from blindspot.encoders import references
from blindspot.encoders.catalog import canonical_encoder
from blindspot.encoders.table import files as table_files
from blindspot.encoders.word_vectors import files as vector_files
from blindspot.errors import BlindspotError, visible
from blindspot.runs import sweeps
from blindspot.studies.judgments import bundles, own_queries
from blindspot.transforms.chain import TransformChain
from tests.support.bundle_files import members, sample, zipped
from tests.support.tables import each

FEW, MANY = 30, 2_000
SECONDS = 5  # for one input of a few kilobytes; a parser that is quadratic takes far longer

CELLS = st.sampled_from(
    [
        *("", " ", "a", "b c", "1", "-1", "0.5", "nan", "inf", "1e999", "1" * 5_000, '"', '""', "'", "=1", "\0"),
        *("\ufeff", "\u202e", "\ud7ff", "\U0001f600", "train", "test", "yes", "[1, 2]", "[[", "{", "null", "\x1b[31m"),
        "a" * 300,
    ]
)
NAMES = st.sampled_from(
    "query match text text1 text2 label class score split word count original typo embedding dim_0 dim_1 x".split()
)
GRIDS = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6)


@st.composite
def separated(draw: st.DrawFn) -> bytes:
    """Almost a CSV file: names that are known, cells that are odd, rows of any length, maybe cut off or spoilt."""
    separator = draw(st.sampled_from([",", ";", "\t"]))
    header = draw(st.lists(NAMES, min_size=1, max_size=4))
    rows = draw(GRIDS)
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = end.join(separator.join(row) for row in [header, *rows * draw(st.integers(1, 12))])
    data = text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig"])))
    return draw(spoilt(data))


@st.composite
def objects(draw: st.DrawFn) -> bytes:
    """Almost JSON lines."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | CELLS
    values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2))
    rows = draw(st.lists(st.dictionaries(NAMES, values, max_size=4), max_size=5))
    return draw(spoilt("\n".join(json.dumps(row) for row in rows * draw(st.integers(1, 12))).encode()))


@st.composite
def spoilt(draw: st.DrawFn, data: bytes) -> bytes:
    """The same, or with some bytes changed, or cut off."""
    out = bytearray(data)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        if out:
            out[draw(st.integers(0, len(out) - 1))] = draw(st.integers(0, 255))
    return bytes(out[: draw(st.sampled_from([len(out), len(out), len(out) // 2]))])


@st.composite
def vectors(draw: st.DrawFn) -> bytes:
    """Almost word vectors: text, binary or fastText, maybe packed."""
    kind = draw(st.sampled_from(["text", "binary", "fasttext", "bytes"]))
    dimension = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(CELLS, st.lists(CELLS | st.just("0.5"), min_size=1, max_size=3)), max_size=5))
    sizes = st.integers(-1, 5) | st.sampled_from([2**31 - 1, 10**9])
    head = f"{draw(sizes)} {draw(sizes)}\n".encode() if draw(st.booleans()) else b""
    if kind == "text":
        data = head + "\n".join(f"{word} {' '.join(numbers)}" for word, numbers in rows).encode("utf-8", "replace")
    elif kind == "binary":
        data = (head or b"2 1\n") + b"".join(f"{w} ".encode() + bytes(4 * dimension) for w, _ in rows)
    elif kind == "fasttext":
        numbers = [draw(sizes) for _ in range(11)]
        data = struct.pack("<2i12id3i2q", 793_712_314, 12, *numbers, 0, 0.0, *[draw(sizes) for _ in range(5)])
        data += draw(st.binary(max_size=200))
    else:
        data = draw(st.binary(max_size=300))
    data = draw(spoilt(data))
    return draw(spoilt(gzip.compress(data))) if draw(st.booleans()) else data


@st.composite
def zips(draw: st.DrawFn) -> bytes:
    """Almost a bundle of judgments: a real one with a member changed, or bytes changed."""
    files = members(sample())
    name = draw(st.sampled_from(sorted(files)))
    files[name] = draw(spoilt(files[name]) | separated() | objects())
    return draw(spoilt(zipped(files, zipfile.ZIP_STORED)))


WORDS = st.text(max_size=30) | st.lists(
    st.sampled_from(
        [*"+:?@&=/.%~\\\0 -", "..", "dir", "hf", "vectors", "table", "file", "center", "abtt", "2", "9" * 30]
    ),
    max_size=8,
).map("".join)
TOML_PIECES = [
    *("encoders", "datasets", "diagnostics", "params", "support", "=", "[", "]", "[[", '"minilm"', "'x'", "1", "1e999"),
    *("\n", ".", ",", "{", "}", "1979-05-27", "#", '"""', "\0", "true", "nan", '"\\ud800"', "encoders = ['a']\n"),
]
TOML = st.lists(st.sampled_from(TOML_PIECES), max_size=30).map("".join)


def _file(name: str, read: Callable[[Path], object]) -> Callable[[Path, bytes], object]:
    def run(folder: Path, data: bytes) -> object:
        (folder / "t.txt").write_text("a\nb\n")
        (folder / name).write_bytes(data)
        return read(folder / name)

    return run


def _vectors(path: Path) -> object:
    return vector_files.read(path, vector_files.peek(path))


def _table(path: Path) -> object:
    return table_files.peek(path), table_files.read(path)


def _references(word: str) -> None:
    for read in (canonical_encoder, own.path_of, uploads.safe_name, TransformChain.parse):
        _only_known_errors(lambda read=read: read(word))  # type: ignore[misc]
    for scheme in ("dir", "hf", "vectors", "table"):
        _only_known_errors(lambda scheme=scheme: canonical_encoder(f"{scheme}:{word}"))  # type: ignore[misc]
    _only_known_errors(lambda: references.ModelParams.parse(word, word))


def _only_known_errors(read: Callable[[], object]) -> None:
    """An error that is one line of printable text, or none at all."""
    try:
        read()
    except BlindspotError as error:
        message = str(error)
        assert message
        assert message == visible(" ".join(message.split()))


TARGETS: dict[str, tuple[st.SearchStrategy[bytes], Callable[[Path, bytes], object]]] = {
    "csv": (separated(), lambda _, data: own.parse(Path("t.csv"), data)),
    "tsv": (separated(), lambda _, data: own.parse(Path("t.tsv"), data)),
    "jsonl": (objects(), lambda _, data: own.parse(Path("t.jsonl"), data)),
    "no header": (separated(), lambda _, data: own.tabulate(Path("t.csv"), data, header=False).contents()),
    "labeled": (separated(), lambda _, data: own.parse(Path("t.csv"), b"text,label\n" + data)),
    "scored": (separated(), lambda _, data: own.parse(Path("t.csv"), b"text1,text2,score\n" + data)),
    "queries": (separated(), lambda _, data: own_queries.of_file("q.csv", data)),
    "vectors": (vectors(), _file("t.bin", _vectors)),
    "table, csv": (separated(), _file("t.csv", _table)),
    "table, jsonl": (objects(), _file("t.jsonl", _table)),
    "table, npy": (st.binary(max_size=200).map(b"\x93NUMPY".__add__), _file("t.npy", _table)),
    "table, parquet": (st.binary(max_size=200).map(lambda b: b"PAR1" + b + b"PAR1"), _file("t.parquet", _table)),
    "bundle": (zips(), lambda _, data: bundles.unpack(data)),
    "sweep": (TOML.map(str.encode), _file("s.toml", sweeps.read_toml)),
    "references": (
        WORDS.map(lambda word: word.encode("utf-8", "surrogatepass")),
        lambda _, data: _references(data.decode("utf-8", "surrogatepass")),
    ),
}


def _fuzz(name: str, folder: Path, examples: int, *, anew: bool) -> None:
    inputs, read = TARGETS[name]

    @given(inputs)
    @hypothesis_settings(
        max_examples=examples,
        derandomize=not anew,
        database=None,
        deadline=SECONDS * 1000,
        suppress_health_check=list(HealthCheck),
    )
    def run(data: bytes) -> None:
        _only_known_errors(lambda: read(folder, data))

    run()


@pytest.mark.hostile
@each("name", TARGETS)
def test_a_few(name: str, tmp_path: Path) -> None:
    _fuzz(name, tmp_path, FEW, anew=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_many(name: str, tmp_path: Path) -> None:
    _fuzz(name, tmp_path, MANY, anew=True)
