"""Packed bits and quantized bytes are refused as vectors, and whole numbers that are coordinates are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.in_process import matrix_of
from blindspot.encoders.packed_bits import bytes_in_words
from blindspot.encoders.served.reference import Style
from blindspot.encoders.served.styles import WrongAnswer, vectors_of
from blindspot.encoders.table.encoder import Table
from blindspot.encoders.word_vectors.files import peek, read
from blindspot.errors import BlindspotError, InputError

COORDINATES = np.random.default_rng(0).normal(size=(40, 384)).astype(np.float32)
# As sentence_transformers.quantize_embeddings makes them.
UBINARY = np.packbits(COORDINATES > 0, axis=1)
BINARY = (UBINARY.astype(np.int16) - 128).astype(np.int8)
_LOW, _HIGH = COORDINATES.min(axis=0), COORDINATES.max(axis=0)
UINT8 = ((COORDINATES - _LOW) / ((_HIGH - _LOW) / 255)).astype(np.uint8)
_SMALL = COORDINATES.reshape(320, 48)
NUMBERS = {
    "coordinates": COORDINATES,
    "quantized around zero": np.rint(127 * COORDINATES / np.abs(COORDINATES).max(axis=1, keepdims=True)),
    "the same with few dimensions": np.rint(127 * _SMALL / np.abs(_SMALL).max(axis=1, keepdims=True)),
    "as even as bits, and short of their ends": np.random.default_rng(0).integers(-98, 99, (40, 384)),
    "unpacked bits": np.unpackbits(UBINARY, axis=1),
    "counts of words": np.random.default_rng(0).poisson(0.3, (40, 384)) * 150 % 256,
    "divided as advised": UBINARY / np.float32(128),
    "too few to say": UBINARY[:1],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_whole_numbers_that_are_coordinates_are_read(name: str) -> None:
    assert bytes_in_words(NUMBERS[name].astype(np.float32)) == ""


@pytest.mark.parametrize("matrix", [UBINARY, BINARY, UINT8], ids=["ubinary", "binary", "uint8"])
def test_bytes_are_refused_from_files_programs_and_servers(matrix: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", matrix)
    (tmp_path / "t.txt").write_text("\n".join(f"text {row}" for row in range(len(matrix))), "utf-8")
    with pytest.raises(InputError, match=rf"{matrix.shape[1]} whole numbers.*np\.unpackbits"):
        Table.at(tmp_path / "t.npy").load()
    with pytest.raises(BlindspotError, match=r"np\.unpackbits"):
        matrix_of(matrix, len(matrix), "the model")
    with pytest.raises(WrongAnswer, match=f"{8 * matrix.shape[1]:,}"):
        vectors_of(Style.TEI, matrix.tolist(), len(matrix))


@pytest.mark.parametrize("ending", ["txt", "bin", "kv"])
def test_bytes_are_refused_as_word_vectors(ending: str, tmp_path: Path) -> None:
    from gensim.models import KeyedVectors

    words, path = KeyedVectors(UBINARY.shape[1], dtype=np.uint8), tmp_path / f"words.{ending}"
    words.add_vectors([f"word{row}" for row in range(len(UBINARY))], UBINARY)
    if ending == "kv":
        words.save(str(path), separately=["vectors"])
    else:
        words.save_word2vec_format(str(path), binary=ending == "bin")
    with pytest.raises(InputError, match=rf"{UBINARY.shape[1]} whole numbers.*np\.unpackbits"):
        read(path, peek(path))
