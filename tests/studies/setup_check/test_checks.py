"""Checks of the set-up on made-up vectors: axes and origin, replicas, the part of a text that is read, tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from blindspot.encoders.transformer import layers
from blindspot.encoders.transformer.layers import Edit, Token
from blindspot.studies.setup_check import demo, reading, stability, vectors
from blindspot.studies.setup_check.models import Model
from blindspot.studies.setup_check.results import Result, State
from blindspot.studies.setup_check.space import constant_columns, space
from blindspot.types import Float32, Float64
from tests.support.tables import each

RNG = np.random.default_rng(1)
COMMON = RNG.standard_normal(48)  # as of real models, whose vectors have a direction in common


def unit(rows: Float64) -> Float32:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


THEIRS = unit(RNG.standard_normal((120, 48)) + 0.5 * COMMON)
AXES = RNG.permutation(48)
SIGNS = np.where(np.arange(48) % 4, 1.0, -1.0)
TURN = np.linalg.qr(RNG.standard_normal((48, 48)))[0]
SCALES = RNG.uniform(0.5, 2.0, 48)


# --- axes and origin


@each(
    ("change", "words"),
    [
        (lambda v: v[:, AXES], "are in other places"),
        (lambda v: -v, "48 are negated"),
        (lambda v: v * SIGNS, "12 are negated"),
        (lambda v: (v * SIGNS)[:, AXES], "and 12 are negated"),
        (lambda v: v @ TURN, "rotated"),
        (lambda v: 3 * v @ TURN, "rotated"),
        (lambda v: v - v.mean(axis=0), "centered"),
        (lambda v: unit(v - v.mean(axis=0)), "centered"),
        (lambda v: unit((v - v.mean(axis=0)) / v.std(axis=0)), "standardized"),
        (lambda v: unit(v * SCALES), "standardized"),
        (lambda v: v + 0.002 * RNG.standard_normal(v.shape), ""),
        (lambda v: 5 * v, ""),
        (lambda v: unit(v + 0.2 * RNG.standard_normal(v.shape)), ""),
        (lambda v: RNG.standard_normal(v.shape), ""),
        (lambda v: v[::-1], ""),
    ],
)
def test_other_axes_and_origins_are_named_and_nothing_else(change: Callable[[Float32], Float64], words: str) -> None:
    found = space(np.asarray(change(THEIRS), dtype=np.float32), THEIRS)
    assert found.verdict is (State.WRONG if words else State.OK)
    assert words in f"{found.evidence} {found.advice}"


@each(
    ("vectors", "zero"),
    [
        (np.pad(THEIRS, ((0, 0), (0, 16))), 16),
        (np.pad(THEIRS, ((0, 0), (16, 0))), 16),
        (THEIRS, 0),
        (THEIRS * (np.arange(48) % 2), 0),  # as of a sparse model
    ],
)
def test_padding_is_zeros_at_one_end(vectors: Float32, zero: int) -> None:
    assert len(constant_columns(vectors)) == zero


def test_padding_is_told_from_another_model() -> None:
    padded = np.pad(THEIRS, ((0, 0), (0, 16)))
    assert "16 at one end are zero" in vectors.dimension(padded, THEIRS).evidence
    assert vectors.dimension(padded, None).verdict is State.LOOK
    assert "another model" in vectors.dimension(np.tile(THEIRS, 2), THEIRS).advice


# --- what no check explains


def agreement(own: Float32, wrong: set[str]) -> Result:
    return demo.agreement(own, THEIRS, None, ["plain"] * len(own), wrong)


def test_another_model_and_what_differs_are_told_apart_and_other_checks_named_only_if_they_say_why() -> None:
    other, similar = unit(RNG.standard_normal(THEIRS.shape)), unit(THEIRS + 0.05 * RNG.standard_normal(THEIRS.shape))
    assert "Another model" in agreement(other, set()).evidence
    assert "Another model" in agreement(other, {"accents"}).evidence
    assert "Something differs" in agreement(similar, set()).evidence
    for explained in (agreement(other, {"pooling"}), agreement(THEIRS[:, AXES], {"space"})):
        assert "The other checks say" in explained.advice
    assert agreement(THEIRS, set()).verdict is State.OK


# --- replicas


def repeated(answer: Callable[[int], Float32]) -> Result:
    requests = [n for n in range(80) if RNG.random() < 0.4] + list(range(80, 92))
    one = np.stack([answer(n) for n in requests])
    return stability.repeat(THEIRS[:8], THEIRS[:8], one, requests, "a text")


@pytest.mark.parametrize("number", range(2, 13))
def test_one_replica_of_up_to_twelve_that_differs_is_met(number: int) -> None:
    found = repeated(lambda n: THEIRS[1] if n % number == 1 else THEIRS[0])
    assert found.verdict is State.WRONG
    assert "2 different vectors" in found.evidence
    assert "several replicas" in found.evidence
    every = int(str(found.figures["every"]))
    assert every == 1 or every % number == 0
    assert every > 1 or number > 5


def test_dropout_is_not_called_replicas() -> None:
    found = repeated(lambda _: unit(THEIRS[:1] + 0.05 * RNG.standard_normal((1, 48)))[0])
    assert found.verdict is State.WRONG
    assert "replicas answer" not in found.evidence
    assert "dropout" in found.advice
    assert repeated(lambda _: THEIRS[0]).verdict is State.OK


# --- the part of a text that is read


def reader(part: Callable[[Sequence[str]], Sequence[str]]) -> Model:
    """Vectors of some of a text's words, in their order."""

    def encode(texts: Sequence[str]) -> Float32:
        out = np.zeros((len(texts), 16))
        for row, text in enumerate(texts):
            for place, word in enumerate(part(text.split())):
                out[row] += np.cos(np.arange(16) * (sum(word.encode()) + 7 * place))
        return unit(out)

    return Model(encode)


@each(
    ("part", "name", "words"),
    [
        (lambda words: words[:60], "beginning", 60),
        (lambda words: words[-60:], "end", 60),
        (lambda words: words if len(words) <= 60 else [*words[:30], *words[-30:]], "ends", 60),
        (lambda words: words, "beginning", None),
    ],
)
def test_the_part_that_is_read_is_found(
    part: Callable[[Sequence[str]], Sequence[str]], name: str, words: int | None
) -> None:
    found = reading.limit_of(reader(part), 300)
    assert found.part == name
    assert found.words == (words if words is None else pytest.approx(words, abs=1))
    meant = reading.limit_of(reader(lambda words: words[:60]), 300)
    verdict = reading.limit(found, 0, meant).verdict
    assert verdict is (State.WRONG if name != "beginning" else State.OK)
    assert reading.limit(found, 0, None).verdict is (
        State.LOOK if name != "beginning" or words == 60 else State.OK  # 60 words are few
    )


def test_no_model_is_said_to_read_fewer_words_than_any_does() -> None:
    assert reading.limit_of(reader(lambda words: words[:4]), 300).words == reading.FEWEST


# --- tokens


@each(
    ("edit", "expected"),
    [
        (Edit.NONE, "CabS"),
        (Edit.NO_SPECIAL, "ab"),
        (Edit.SPECIAL_TWICE, "CCabSS"),
        (Edit.NO_FIRST, "abS"),
        (Edit.NO_LAST, "Cab"),
        (Edit.NO_FIRST_PIECE, "CbS"),
        (Edit.NO_LAST_PIECE, "CaS"),
        (Edit.LAST_TWICE, "CabSS"),
    ],
)
def test_tokens_are_changed_at_their_ends(edit: Edit, expected: str) -> None:
    tokens = [Token(ord(sign), int(sign.isupper())) for sign in "CabS"]
    assert "".join(chr(token.id) for token in edit.apply(tokens)) == expected
    alone = [Token(ord("a"), 0)]
    assert edit.apply(alone), "a text keeps a token"


def test_readings_of_three_tokens_and_a_padding_by_hand() -> None:
    """Between a first and a last special token of 1 and 6 lies a piece of 2; the padding's 9 counts nowhere."""
    layer = torch.tensor([[[1.0], [2.0], [6.0], [9.0]]])
    mask, pieces = torch.tensor([[1, 1, 1, 0]]), torch.tensor([[0, 1, 0, 0]])
    values = {reading: vectors.item() for reading, vectors in layers._read([layer, 2 * layer], layer, mask, pieces)}
    for number, factor in ((0, 1.0), (1, 2.0)):
        expected = {"mean over tokens": 3, "mean without special tokens": 2, "first token": 1, "last token": 6}
        for pooling, value in (expected | {"maximum over tokens": 6}).items():
            assert values[layers.Reading(number, pooling)] == pytest.approx(factor * value), pooling
    assert values[layers.FIRST_LAST] == pytest.approx(6.0), "both of these layers are the last one"
    assert values[layers.STATIC] == pytest.approx(2.0)
