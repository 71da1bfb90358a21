"""Files of word vectors: every supported format, and every bad file refused in one line."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import lzma
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.word_vectors import text as vector_text
from blindspot.encoders.word_vectors.encoder import WordVectors
from blindspot.encoders.word_vectors.files import peek, read
from blindspot.encoders.word_vectors.words import VectorFormat
from blindspot.errors import InputError
from blindspot.settings import ROOT
from blindspot.types import CancelToken, Float32
from tests.support.tables import each

WORDS = ("the", "Paris", "paris", "größe", "日本", "1990", "n't", "</s>", "0.5", "e-mail", ",", "\u00a0nbsp")
DIMENSION = 7
VECTORS = np.random.default_rng(3).normal(size=(len(WORDS), DIMENSION)).astype(np.float32)


def row(word: str, vector: Float32) -> str:
    return " ".join([word, *(repr(float(value)) for value in vector)])


def plain_text(path: Path, end: str = "\n", header: str = "") -> None:
    path.write_bytes((header + "".join(row(w, v) + end for w, v in zip(WORDS, VECTORS, strict=True))).encode())


def headed_text(path: Path, end: str = "\n") -> None:
    plain_text(path, end, f"{len(WORDS)} {DIMENSION}\n")


def by_gensim(path: Path, **options: bool) -> None:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(DIMENSION)
    vectors.add_vectors(list(WORDS), VECTORS)
    vectors.save_word2vec_format(str(path), sort_attr="none", **options)


def binary_bytes(words: tuple[str | bytes, ...] = WORDS, vectors: Float32 = VECTORS, end: bytes = b"\n") -> bytes:
    encoded = [w if isinstance(w, bytes) else w.encode() for w in words]
    rows = [w + b" " + v.astype("<f4").tobytes() + end for w, v in zip(encoded, vectors, strict=True)]
    return f"{len(words)} {vectors.shape[1]}\n".encode() + b"".join(rows)


def words_and_vectors(path: Path) -> tuple[list[str], Float32]:
    table = read(path, peek(path))
    return list(table.index), table.matrix


def keyed(path: Path, **options: int) -> None:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(DIMENSION)
    vectors.add_vectors(list(WORDS), VECTORS)
    vectors.save(str(path), **options)


WRITERS: dict[str, tuple[Callable[[Path], object], VectorFormat]] = {
    "GloVe": (plain_text, VectorFormat.PLAIN_TEXT),
    "GloVe with tabs": (
        lambda p: (plain_text(p), p.write_bytes(p.read_bytes().replace(b" ", b"\t"))),
        VectorFormat.PLAIN_TEXT,
    ),
    "carriage returns": (lambda p: plain_text(p, "\r\n"), VectorFormat.PLAIN_TEXT),
    "no last line end": (lambda p: (plain_text(p), p.write_bytes(p.read_bytes()[:-1])), VectorFormat.PLAIN_TEXT),
    "byte order mark": (lambda p: plain_text(p, header="\ufeff"), VectorFormat.PLAIN_TEXT),
    "fastText .vec": (lambda p: headed_text(p, " \n"), VectorFormat.HEADED_TEXT),
    "two spaces": (
        lambda p: (headed_text(p), p.write_bytes(p.read_bytes().replace(b" -", b"  -"))),
        VectorFormat.HEADED_TEXT,
    ),
    "word2vec text of gensim": (by_gensim, VectorFormat.HEADED_TEXT),
    "GloVe of gensim": (lambda p: by_gensim(p, write_header=False), VectorFormat.PLAIN_TEXT),
    "word2vec binary of gensim": (lambda p: by_gensim(p, binary=True), VectorFormat.WORD2VEC_BINARY),
    "KeyedVectors of gensim": (keyed, VectorFormat.GENSIM),
    "KeyedVectors of an older protocol": (lambda p: keyed(p, pickle_protocol=2), VectorFormat.GENSIM),
    "KeyedVectors of a newer protocol": (lambda p: keyed(p, pickle_protocol=5), VectorFormat.GENSIM),
    "word2vec binary with line feeds": (lambda p: p.write_bytes(binary_bytes()), VectorFormat.WORD2VEC_BINARY),
}


@each("packed", [False, True], ids=["", "gz"])
@each("name", WRITERS)
def test_a_file_gives_the_words_and_vectors_that_were_written(
    name: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_text, "BLOCK", 200)  # several blocks
    write, expected = WRITERS[name]
    path = tmp_path / "vectors.any"
    write(path)
    if packed:
        path = path.with_name("vectors.any.gz")
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    head = peek(path)
    assert (head.format, head.dimension) == (expected, DIMENSION)
    words, vectors = words_and_vectors(path)
    assert words == list(WORDS)
    np.testing.assert_array_equal(vectors, VECTORS)
    assert vectors.dtype == np.float32
    info = WordVectors.at(path).info
    assert (info.parameters, info.memory_bytes) == (VECTORS.size, VECTORS.nbytes)


def test_a_packed_file_gives_what_is_in_it(tmp_path: Path) -> None:
    """Whatever it is called."""
    text = "2 3\nNew York 1 2 3\nrain 4 5 6\n"
    for name, content in {
        "v.vec.bz2": bz2.compress(text.encode()),
        "v.vec.xz": lzma.compress(text.encode()),
        "v.zip": zipped(**{"v.vec": text}),
        "v.txt": bz2.compress(text.encode()),
    }.items():
        words, vectors = words_and_vectors(write(tmp_path / name, content))
        assert words == ["New York", "rain"], name
        np.testing.assert_array_equal(vectors, [[1, 2, 3], [4, 5, 6]])


def test_keyed_vectors_are_those_that_gensim_loads(tmp_path: Path) -> None:
    """With the matrix beside the file."""
    from gensim.models import KeyedVectors

    path = tmp_path / "v.kv"
    keyed(path, sep_limit=0)
    assert (tmp_path / "v.kv.vectors.npy").is_file()
    encoder = WordVectors.at(path)
    loaded = KeyedVectors.load(str(path))
    words, vectors = words_and_vectors(path)
    assert words == loaded.index_to_key
    np.testing.assert_array_equal(vectors, loaded.vectors)
    np.testing.assert_array_equal(encoder.encode(["Paris"], CancelToken())[0], loaded["Paris"])
    revision = encoder.identity.revision
    np.save(tmp_path / "v.kv.vectors.npy", VECTORS[::-1])
    assert WordVectors.at(path).identity.revision != revision
    np.save(tmp_path / "v.kv.vectors.npy", VECTORS[:3])
    assert "12 words and vectors of the shape (3, 7)" in refusal(path)
    (tmp_path / "v.kv.vectors.npy").unlink()
    assert "has no vectors" in refusal(path.rename(tmp_path / "w.kv"))


class Runs:
    """What a pickle must not do."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.system, ("touch owned",)


def test_pickles_of_other_things_are_refused_and_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gensim.models import FastText, KeyedVectors, Word2Vec

    monkeypatch.chdir(tmp_path)
    evil = KeyedVectors(DIMENSION)
    evil.add_vectors(list(WORDS), VECTORS)
    evil.own = Runs()
    evil.save("evil.kv")
    evil.own, evil.vectors = None, np.array([[Runs()]])
    evil.save("objects.kv")
    evil.vectors = np.ones((len(WORDS), 2), dtype=np.int64)
    evil.save("integers.kv")
    texts = [["a", "b", "c"]]
    Word2Vec(texts, vector_size=4, min_count=1, epochs=1, workers=1).save("whole.kv")
    FastText(texts, vector_size=4, min_count=1, epochs=1, bucket=10, workers=1).wv.save("ngrams.kv")
    keyed(tmp_path / "good.kv")
    write(tmp_path / "cut.kv", (tmp_path / "good.kv").read_bytes()[:-200])
    for name, said in {
        "evil.kv": "pickle with posix.system",
        "objects.kv": "posix.system",
        "integers.kv": "vectors of i8",
        "whole.kv": "pickle",
        "ngrams.kv": "is a pickle",
        "cut.kv": "damaged pickle, or cut short",
    }.items():
        assert said in refusal(tmp_path / name), name
    assert not (tmp_path / "owned").exists()


@pytest.mark.heavy
@pytest.mark.parametrize("ngrams", [True, False])
@pytest.mark.parametrize("packed", [False, True], ids=["", "gz"])
def test_a_fasttext_model_gives_what_gensim_and_its_vec_give(tmp_path: Path, packed: bool, ngrams: bool) -> None:
    from gensim.models.fasttext import FastText, load_facebook_vectors, save_facebook_model

    sentences = [["ein", "Haus", "größer", "als", "日本"], ["kein", "Haus", "ist", "größer"], ["</s>", "ein"]] * 3
    size = {"bucket": 50, "min_n": 2, "max_n": 4} if ngrams else {"min_n": 0, "max_n": 0}
    model = FastText(sentences, vector_size=5, min_count=1, epochs=2, workers=1, **size)
    path = tmp_path / "model.bin"
    save_facebook_model(model, str(path))
    theirs = (
        load_facebook_vectors(str(path)) if ngrams else model.wv
    )  # gensim saves those without, but cannot read them
    if packed:
        path = tmp_path / "model.bin.gz"
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    assert peek(path).format is VectorFormat.FASTTEXT_BINARY
    words, vectors = words_and_vectors(path)
    assert words == theirs.index_to_key
    for word, vector in zip(words, vectors, strict=True):
        # gensim gives </s> n-grams; fastText does not (Dictionary::initNgrams).
        expected = theirs.vectors_vocab[theirs.key_to_index[word]] if word == "</s>" else theirs[word]
        np.testing.assert_allclose(vector, expected, rtol=0, atol=1e-6)

    vec = tmp_path / "model.vec"
    theirs.save_word2vec_format(str(vec), sort_attr="none")
    of_vec = dict(zip(*words_and_vectors(vec), strict=True))
    for word, vector in zip(words, vectors, strict=True):
        if word != "</s>":
            np.testing.assert_allclose(vector, of_vec[word], rtol=0, atol=1e-6)


# --- oddities that real files have


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "words", "vectors"),
    [
        pytest.param(
            ". . . 1 2\na 3 4\nat name@domain.com 5 6\nb 7 8\nc 8 9\n",
            [". . .", "a", "at name@domain.com", "b", "c"],
            [[1, 2], [3, 4], [5, 6], [7, 8], [8, 9]],
            id="words with spaces",
        ),
        # GloVe Twitter has one; no text can name it, but it is among the file's vectors.
        pytest.param("a 1 2\n 3 4\n\u0085 5 6\n", ["a", "", "\u0085"], [[1, 2], [3, 4], [5, 6]], id="no word"),
        pytest.param("2 2\n\na 1 2\n  \nb 3 4\n\n\n", ["a", "b"], [[1, 2], [3, 4]], id="blank lines"),
        # Only binary files can have a line feed in a word; those before a word end the row before. Found by fuzzing.
        pytest.param(
            binary_bytes(("a", "b\nc", "\n", "d"), np.arange(8, dtype=np.float32).reshape(4, 2)),
            ["a", "b\nc", "", "d"],
            [[0, 1], [2, 3], [4, 5], [6, 7]],
            id="line feeds in words",
        ),
    ],
)
def test_oddities_are_read(content: str | bytes, words: list[str], vectors: list[list[int]], tmp_path: Path) -> None:
    found, rows = words_and_vectors(write(tmp_path / "v", content))
    assert (found, rows.tolist()) == (words, vectors)


@pytest.mark.parametrize("form", ["text", "binary"])
def test_of_duplicates_the_first_is_kept_and_they_are_counted(
    form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_text, "BLOCK", 8)
    words, vectors = ("a", "b", "a", "A", "b", "c"), np.arange(12, dtype=np.float32).reshape(6, 2)
    content = "".join(row(w, v) + "\n" for w, v in zip(words, vectors, strict=True))
    path = write(tmp_path / "v", content if form == "text" else binary_bytes(words, vectors))
    encoder = WordVectors.at(path)
    with caplog.at_level(logging.WARNING):
        encoder.load()
        encoder.vocabulary()
    assert [r.getMessage() for r in caplog.records] == [f"{path}: 2 duplicate words; the first entry of each is kept"]
    assert encoder.duplicates == 2
    np.testing.assert_array_equal(encoder.vocabulary(), vectors[[0, 1, 3, 5]])


@pytest.mark.parametrize("form", ["text", "binary"])
def test_words_that_are_not_utf8_are_read_and_counted(
    form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    odd = b"gr\xf6\xdfe"
    content = binary_bytes(("a", odd, "größe"), VECTORS[:3])
    if form == "text":
        content = b"a 1 2\n" + odd + b" 3 4\n" + "größe 5 6\n".encode()
    with caplog.at_level(logging.WARNING):
        words, _ = words_and_vectors(write(tmp_path / "v", content))
    assert words == ["a", "gr\ufffd\ufffde", "größe"]
    assert "1 words are not UTF-8" in caplog.text


# --- what is refused


def fasttext_bytes(tmp_path: Path) -> bytes:
    from gensim.models.fasttext import FastText, save_facebook_model

    model = FastText([["a", "b", "c"]], vector_size=4, min_count=1, epochs=1, bucket=10, workers=1)
    save_facebook_model(model, str(tmp_path / "whole.bin"))
    return (tmp_path / "whole.bin").read_bytes()


def fasttext_header(**changes: int) -> bytes:
    values = {"magic": 793_712_314, "version": 12, "dim": 4, "ws": 5, "epoch": 1, "min": 1, "neg": 5, "wng": 1}
    values |= {"loss": 2, "model": 2, "bucket": 10, "minn": 3, "maxn": 6, "lr": 100, "t": 0}
    values |= {"size": 3, "nwords": 3, "nlabels": 0, "ntokens": 9, "pruned": -1}
    return struct.pack("<2i12id3i2q", *(values | changes).values())


def zipped(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


GOOD = "a 1 2 3\nb 4 5 6\nc 7 8 9\n"
BINARY = binary_bytes()
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "blank": ("\n \n", "is empty"),
    "infinity": (GOOD + "dog 1 -inf 3\ncat nan 1 1\n", "line 4: the vector of 'dog' contains an infinite value"),
    "too large for float32": (GOOD + "dog 1 1e39 3\n", "line 4: the vector of 'dog' contains an infinite value"),
    "NaN in binary": (
        binary_bytes(("a", "dog"), np.array([[1, 2], [np.nan, 1]])),
        "word 2: the vector of 'dog' contains NaN",
    ),
    "long row": (GOOD + "dog 1 2 3 4\n", "line 4: 4 numbers in the row of 'dog'; expected 3"),
    "short and long": ("a 1 2 3\nb 4 5\nc 7 8 9 10\n", "line 2: 2 numbers in the row of 'b'"),
    "short with two spaces, long": ("a 1 2 3\nb 4  5\nc 7\t8 9 10\n", "line 2: 2 numbers in the row of 'b'"),
    "glued numbers": ("a 1 2 3\nb 0.1-0.2  3\n", "line 2: 1 numbers in the row of 'b'; expected 3"),
    "two points": ("a 1 2 3\nb 0.1.2  3 4\n", "line 2: 2 numbers in the row of 'b'; expected 3"),
    "a word alone": (GOOD + "dog\n", "line 4: 0 numbers in the row of 'dog'"),
    "no numbers": (GOOD + "dog 1 x 3\n", "line 4: 1 numbers in the row of 'dog'; expected 3, as in other lines; 'x'"),
    "underscored": (GOOD + "dog 1 1_0 3\n", "line 4: 1 numbers in the row of 'dog'"),
    "a number a line": ("1\n2\n", "has no word vectors"),
    "binary": (bytes(range(1, 256)) + bytes(99), "is a binary file of no known kind"),
    "UTF-16": (GOOD.encode("utf-16"), "is UTF-16"),
    "UTF-32": (GOOD.encode("utf-32"), "is UTF-32"),
    "zip": (b"PK\x03\x04" + bytes(99), "is a damaged packed file, or cut short"),
    "zip of two": (zipped(a=GOOD, b=GOOD), "is a zip archive of 2 files: a, b"),
    "bzip2 cut": (bz2.compress(GOOD.encode())[:30], "is a damaged packed file, or cut short"),
    "bzip2 damaged": (b"BZh9" + b"x" * 99, "is a damaged packed file"),
    "xz cut": (lzma.compress(GOOD.encode())[:40], "is a damaged packed file, or cut short"),
    "xz damaged": (b"\xfd7zXZ\x00" + b"x" * 99, "is a damaged packed file, or cut short"),
    "npy": (b"\x93NUMPY" + bytes(99), "name it table:PATH"),
    "a header and nothing": ("3 2\n", "has 4 bytes, but its header promises 3 words of 2 numbers"),
    "no words promised": ("0 2\n", "says 0 words of 2 numbers"),
    "3 GB promised": ("1000000 750\n" + GOOD, "but its header promises 1,000,000 words of 750 numbers"),
    "3 GB promised in binary": (b"107142858 7\n" + BINARY[5:], "its header promises 107,142,858 words of 7"),
    "an absurd dimension": ("3 1000000000\n" + GOOD, "says 3 words of 1,000,000,000 numbers"),
    "an absurd number": ("9" * 18 + " 3\n" + GOOD, "promises 999,999,999,999,999,999 words"),
    "binary cut short": (BINARY[:-9], "breaks off, or is damaged, at word 12 of 12"),
    "binary with half a word": (binary_bytes(WORDS[:2], VECTORS[:2], b"")[:-5], "at word 2 of 2"),
    "binary with more": (BINARY + b"more" + BINARY, "goes on after the 12 words that its header promises"),
    "fastText header cut short": (fasttext_header()[:40], "is cut short amid its header"),
    "fastText classifier": (fasttext_header(model=3, nlabels=2), "is a fastText classifier"),
    "fastText 3 GB": (fasttext_header(nwords=10**7, size=10**7, dim=80), "promises 10,000,000 words of 80 numbers"),
    "fastText words cut short": (fasttext_header() + b"a\0" + bytes(9) + b"b" * 99, "breaks off"),
    "fastText without an end": (fasttext_header(dim=1) + b"x" * 10**5, "breaks off, or is damaged, after 0 of 3"),
    "gzip damaged": (gzip.compress(GOOD.encode())[:12] + b"xxxxxxxx" * 9, "is a damaged packed file, or cut short"),
    "gzip of a pickle": (gzip.compress(pickle.dumps([1])), "is a pickle"),
    "gzip with 3 GB promised": (gzip.compress(b"1000000 750\n" + GOOD.encode()), "line 2: 3 numbers in the row of 'a'"),
    "gzip of binary with 3 GB promised": (gzip.compress(b"750000000 7\n" + BINARY[5:]), "at word 13 of 750,000,000"),
    "gzip of nothing": (gzip.compress(b""), "is empty"),
    "a line without an end": ("a" + " 0.1" * 10**6, "numbers a line"),
}


def refusal(path: Path) -> str:
    """What is said, by the time that the file is loaded."""
    with pytest.raises(InputError) as caught:
        WordVectors.at(path).load()
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert str(path) in message
    assert "\n" not in message
    return message


@each("name", REFUSED)
@each("ending", [".txt", ".bin"])
def test_a_bad_file_is_refused_in_one_line(name: str, ending: str, tmp_path: Path) -> None:
    content, said = REFUSED[name]
    assert said in refusal(write(tmp_path / f"bad{ending}", content))


@pytest.mark.parametrize("share", [0.2, 0.35, 0.5, 0.8, 0.999])
def test_a_fasttext_model_cut_short_is_refused(share: float, tmp_path: Path) -> None:
    whole = fasttext_bytes(tmp_path)
    path = write(tmp_path / "cut.bin", whole[: int(len(whole) * share)])
    message = refusal(path)
    assert "breaks off" in message or "cut short" in message
    assert "cut short" in refusal(write(tmp_path / "cut.bin.gz", gzip.compress(whole)[: int(len(whole) * share / 3)]))


def test_a_fasttext_model_with_a_damaged_matrix_is_refused(tmp_path: Path) -> None:
    whole = fasttext_bytes(tmp_path)
    shape = struct.pack("<2q", 13, 4)
    assert whole.count(shape) == 1
    damaged = write(tmp_path / "m.bin", whole.replace(shape, struct.pack("<2q", 10**9, 4)))
    assert "its matrix is 1,000,000,000 x 4; expected 13 x 4" in refusal(damaged)
    at = whole.index(shape) - 1
    quantised = write(tmp_path / "q.bin", whole[:at] + b"\1" + whole[at + 1 :])
    assert "is a quantised fastText model" in refusal(quantised)


def test_a_name_that_promises_gzip_is_not_believed(tmp_path: Path) -> None:
    assert "is not a gzip file" in refusal(write(tmp_path / "v.txt.gz", GOOD))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "none.txt")
    assert "is a folder" in refusal(tmp_path)
    if Path("/dev/zero").exists():
        assert "is no regular file" in refusal(Path("/dev/zero"))


MEMORY_OF = r"""
import re, sys
from pathlib import Path
from blindspot.encoders.word_vectors import binary as vector_binary
from blindspot.encoders.word_vectors import text as vector_text
from blindspot.encoders.word_vectors.encoder import WordVectors
from blindspot.errors import InputError
import gensim.models.fasttext
vector_text.BLOCK = 2**20
def peak():  # the system's own maxrss begins with that of the parent
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
before = peak()
try:
    encoder = WordVectors.at(Path(sys.argv[1]))
    encoder.load()
    print(encoder.vocabulary().nbytes, end=" ")
except InputError:
    print("refused", end=" ")
print((peak() - before) * 1024)
"""


def memory_of(path: Path) -> tuple[str, int]:
    """Bytes of the matrix, or that it was refused; and by how much reading raised the process's peak."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY_OF, str(path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    said, grown = done.stdout.split()
    return said, int(grown)


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("name", ["3 GB promised", "gzip with 3 GB promised", "gzip of binary with 3 GB promised"])
def test_a_promise_takes_no_memory(name: str, tmp_path: Path) -> None:
    said, grown = memory_of(write(tmp_path / "bad", REFUSED[name][0]))
    assert said == "refused"
    assert grown < 2**26


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_reading_needs_the_matrix_and_a_few_blocks(tmp_path: Path) -> None:
    """Of a file of many blocks: one more copy of the matrix would not go unseen."""
    line = " 1" * 499
    path = write(tmp_path / "v.txt", "".join(f"w{i} {i % 2}{line}\n" for i in range(25_000)))
    said, grown = memory_of(path)
    assert int(said) == 4 * 500 * 25_000
    assert grown < int(said) + 20 * 2**20


@pytest.mark.parametrize("end", [False, True])
def test_counts_are_no_dimension(tmp_path: Path, *, end: bool) -> None:
    """A word, how often it occurs, and its vector: cosines would be those of the counts."""
    counts = [str(9000 // (n + 1)) for n in range(len(WORDS))]
    lines = [row(word, vector).split(" ") for word, vector in zip(WORDS, VECTORS, strict=True)]
    cells = [[*line, n] if end else [line[0], n, *line[1:]] for line, n in zip(lines, counts, strict=True)]
    told = "".join(" ".join(line) + "\n" for line in cells)
    path = write(tmp_path / "counts.txt", told)
    assert f"the {'last' if end else 'first'} number of every line is whole" in refusal(path)
    path = write(tmp_path / "meant.txt", f"{len(WORDS)} {DIMENSION + 1}\n{told}")
    assert read(path, peek(path)).matrix.shape == (len(WORDS), DIMENSION + 1)


@pytest.mark.parametrize("value", [0, 1.5])
def test_equal_vectors_are_refused(tmp_path: Path, value: float) -> None:
    content = "".join(f"w{i}{f' {value}' * 4}\n" for i in range(6))
    assert "all 6 vectors are" in refusal(write(tmp_path / "v.txt", content))


def test_words_that_are_no_text_are_refused(tmp_path: Path) -> None:
    words = tuple(bytes([200 + i, 250, 129]) for i in range(12))
    vectors = np.random.default_rng(1).normal(size=(12, 3)).astype(np.float32)
    path = tmp_path / "v.bin"
    path.write_bytes(binary_bytes(words, vectors))
    assert "12 of 12 words are no text" in refusal(path)
