"""Random vectors of character n-grams: the baseline of an untrained encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, library_versions
from blindspot.encoders.tokens import Token, TokenParts, mean_of
from blindspot.types import CancelToken, Float32, Float64, Int64

SIZES = (3, 4, 5)  # characters of an n-gram
TEXTS_PER_BATCH = 512
NGRAMS_PER_BATCH = 16_384
MOST_KNOWN_VALUES = 2**25  # of cached word vectors: 128 MiB
SEED = 0x5EED
UInt64 = NDArray[np.uint64]


@dataclass(frozen=True)
class RandomProjection:
    """Mean over a text's words of the mean over each word's character n-grams of random vectors of +1 and -1.

    A word is lower-cased and put between boundary marks, ``<word>``; its n-grams have 3 to 5 characters, as in fastText
    (Bojanowski et al. 2017). An n-gram's vector follows from its characters by integer arithmetic, so it is the same in
    every process and on every machine. Vectors of fewer dimensions are prefixes of those of more. A text without a word
    has the vector of the empty word, ``<>``.
    """

    reference: str
    info: EncoderInfo
    device = "cpu"
    encodes_alone = True
    _known: dict[str, Float32] = field(default_factory=dict, repr=False, compare=False)

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(
            reference=self.reference,
            revision="1",
            pooling=f"mean over words of the mean over character {SIZES[0]}- to {SIZES[-1]}-grams",
            libraries=library_versions("numpy"),
        )

    def load(self) -> None:
        """No-op: there are no weights."""

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        out = np.empty((len(texts), self.info.dimension), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_PER_BATCH):
            cancel.check()
            part = texts[start : start + TEXTS_PER_BATCH]
            out[start : start + len(part)] = self._texts(part)
        return out

    def token_parts(self, text: str) -> TokenParts:
        """See ``TokenVectors``: word by word."""
        words = text.split() or [""]
        counted = np.ones(len(words), dtype=np.bool_)
        return mean_of([Token(word) for word in words], self._texts([word.lower() for word in words]), counted)

    def _texts(self, texts: Sequence[str]) -> Float64:
        """``[n, d]``; word vectors are cached as long as there is room."""
        words, average = _average(texts)
        new = [word for word in words if word not in self._known]
        if len(self._known) + len(new) > MOST_KNOWN_VALUES // self.info.dimension:
            self._known.clear()
            new = words
        self._known.update(zip(new, _words(new, self.info.dimension), strict=True))
        product: Float64 = average @ np.stack([self._known[word] for word in words])
        return product


def _average(texts: Sequence[str]) -> tuple[list[str], Any]:
    """The distinct words, and the sparse matrix ``[n, w]`` that takes their mean per text."""
    from scipy.sparse import csr_array

    numbers: dict[str, int] = {}
    columns: list[int] = []
    starts = [0]
    weights: list[float] = []
    for text in texts:
        words = text.lower().split() or [""]
        columns += [numbers.setdefault(word, len(numbers)) for word in words]
        weights += [1.0 / len(words)] * len(words)
        starts.append(len(columns))
    # In text order, repeated words twice, so that the sum is bit-identical in every batch.
    shape = (len(texts), len(numbers))
    return list(numbers), csr_array((np.array(weights), np.array(columns), np.array(starts)), shape=shape)


def _words(words: Sequence[str], dimension: int) -> Float32:
    """``[w, d]``: the mean of the n-grams' vectors; sums of whole numbers, hence exact."""
    if not words:
        return np.empty((0, dimension), dtype=np.float32)
    hashes, owners = _ngrams(words)
    ones = np.zeros((len(words), dimension), dtype=np.int32)
    for start in range(0, len(hashes), NGRAMS_PER_BATCH):
        part = owners[start : start + NGRAMS_PER_BATCH]
        bits = _bits(hashes[start : start + NGRAMS_PER_BATCH], dimension)
        firsts = np.flatnonzero(np.diff(part, prepend=-1))
        longest = int(np.diff(firsts, append=len(part)).max())
        fits = np.uint8 if longest < 256 else np.int32  # four times as fast where it does
        ones[part[firsts]] += np.add.reduceat(bits, firsts, axis=0, dtype=fits)
    counts = np.bincount(owners, minlength=len(words))[:, None]
    return ((2 * ones - counts) / counts).astype(np.float32)


def _ngrams(words: Sequence[str]) -> tuple[UInt64, Int64]:
    """A hash for every n-gram of every word, and the number of its word, in word order."""
    marked = [f"<{word}>" for word in words]
    characters = np.frombuffer("".join(marked).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    lengths = np.array([len(word) for word in marked], dtype=np.int64)
    owner = np.repeat(np.arange(len(words)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(characters))  # characters to the end of the word
    hashes, owners = [], []
    for size in SIZES:
        # A word that is shorter than all n-grams (only "<>" is) counts as a whole.
        length = np.minimum(size, lengths[owner]) if size == SIZES[0] else np.full(len(owner), size)
        at = np.flatnonzero(left >= length)
        mixed = np.full(len(at), np.uint64(SEED + size), dtype=np.uint64)
        for offset in range(size):
            inside = offset < length[at]
            mixed[inside] = _mix(mixed[inside] ^ characters[at[inside] + offset])
        hashes.append(mixed)
        owners.append(owner[at])
    together = np.concatenate(owners)
    order = np.argsort(together, kind="stable")
    return np.concatenate(hashes)[order], together[order]


def _bits(hashes: UInt64, dimension: int) -> NDArray[np.uint8]:
    """``[k, d]`` of 0 and 1; each block of 64 bits is mixed from the hash and the block's number."""
    blocks = np.arange(1, -(-dimension // 64) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = _mix(hashes[:, None] + blocks[None, :]).astype("<u8")
    return np.unpackbits(mixed.view(np.uint8).reshape(len(hashes), -1), axis=1, count=dimension, bitorder="little")


def _mix(values: UInt64) -> UInt64:
    """SplitMix64 (Steele et al. 2014): every bit of the input changes each bit of the result half of the time."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
