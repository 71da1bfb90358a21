"""Flags against slow comparisons in float64, by the instructions of this processor and of others."""

from __future__ import annotations

import platform
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.numerics import coarse, flagging
from blindspot.numerics.coarse import Coded
from blindspot.types import Bool, Float32, Float64, UInt64
from tests.support.commands import python

NEAR = 1e-3  # scores that close to a bound may be on either side of it, by rounding


def as_booleans(flags: UInt64, columns: int) -> Bool:
    """``[2, q, columns]``; no flag is set beyond them."""
    bits = np.unpackbits(flags.view(np.uint8), axis=2, bitorder="little").astype(np.bool_)
    assert not bits[:, :, columns:].any()
    return bits[:, :, :columns]


def slowly(scores: Float64, left: Float32, right: Float32) -> tuple[Bool, Bool]:
    """What ``flag_products`` says, and where rounding may not decide otherwise; for scores ``[q, columns]``."""
    q, columns = scores.shape
    said, sure = np.zeros((2, 2, q, columns), dtype=np.bool_)
    for i in range(q):
        for c in range(columns):
            bound = float(left[i, 1]) * float(right[2, c])
            for at, beyond in enumerate((scores[i, c] + bound - left[i, 2], scores[i, c] - bound - left[i, 3])):
                said[at, i, c], sure[at, i, c] = beyond > 0, abs(beyond) > NEAR
    return said, sure


def test_bits_by_hand() -> None:
    """Two rows of 66 columns: each column's number is its score; at least 64 or 2, above 64 or 2."""
    scores = np.full((2, 128), np.inf, dtype=np.float32)  # what is beyond the columns does not count
    scores[:, :66] = np.arange(66)
    left = flagging.left_terms(np.array([64, 2], np.float32), np.array([64, 2], np.float32))
    flags = flagging.flag_scores(scores, left, flagging.right_terms(np.zeros(66, np.float32)))
    assert flags.tolist() == [[[0, 0b11], [2**64 - 4, 0b11]], [[0, 0b10], [2**64 - 8, 0b11]]]


def test_bounds_are_added_and_subtracted() -> None:
    scores = np.zeros((1, 64), dtype=np.float32)
    left = flagging.left_terms(np.ones(1, np.float32), -np.ones(1, np.float32), rest=2.0)
    rests = np.array([0.0, 0.25, 0.5, 0.75], np.float32)  # off by 0, 0.5, 1, 1.5
    flags = flagging.flag_scores(scores, left, flagging.right_terms(rests))
    assert as_booleans(flags, 4).tolist() == [[[False, False, True, True]], [[True, True, False, False]]]


@given(
    seed=st.integers(0, 2**32 - 1),
    q=st.integers(1, 20),
    columns=st.integers(1, 140),
    d=st.integers(1, 90),
    share=st.floats(0, 1),
)
@settings(deadline=None, max_examples=150)
def test_flags_are_those_of_a_slow_comparison(seed: int, q: int, columns: int, d: int, share: float) -> None:
    """Of codes and of scores; any number of rows, of columns and of codes, the largest and smallest among these."""
    random = np.random.default_rng(seed)
    codes = random.choice([-128, -127, -1, 0, 5, 127], (q + columns, d)).astype(np.int8)
    steps = random.uniform(0, 2 / d / 127**2, q + columns).astype(np.float32)
    codes[:: q + 3], steps[:: q + 3] = 0, 0  # rows of zeros
    own, others = (Coded(codes[p], steps[p], *np.zeros((2, len(codes[p])))) for p in (slice(q), slice(q, None)))
    heads, rests = random.uniform(-1, 1, (2, q + columns)).astype(np.float32)
    low = random.uniform(-1, 1, q).astype(np.float32)
    left = flagging.left_terms(low, low, rest=abs(rests[:q]), head=heads[:q])
    in_steps = flagging.left_terms(low, low, rest=abs(rests[:q]), step=own.steps * 127, head=heads[:q])
    right = flagging.right_terms(abs(rests[q:]), others.steps * 127, heads[q:])
    width = max(1, round(share * d))
    products = codes[:q, :width].astype(np.float64) @ codes[q:, :width].astype(np.float64).T
    scores = products * np.outer(own.steps * 127, right[0, :columns]) + np.outer(heads[:q], heads[q:])

    whole, others_whole = own.first(width), others.first(width)
    by_codes = as_booleans(coarse.flag_products(whole, others_whole, width, in_steps, right), columns)
    room = flagging.in_room(flagging.room_for_scores(q, columns), q, columns)
    room[:, :columns] = scores
    by_scores = as_booleans(flagging.flag_scores(room, left, right), columns)
    said, sure = slowly(scores, left, right)
    assert np.array_equal(by_codes[sure], said[sure])
    assert np.array_equal(by_scores[sure], said[sure])


ELSEWHERE = """
import numpy as np
from tests.numerics.test_flagging import test_flags_are_those_of_a_slow_comparison as flags, test_bits_by_hand as bits
bits()
for q, columns, d, share in ((1, 1, 1, 1.0), (13, 140, 90, 1.0), (6, 64, 64, 0.5), (5, 63, 33, 0.3)):
    flags.hypothesis.inner_test(seed=q, q=q, columns=columns, d=d, share=share)
"""

COMPILED = """
import numba
from blindspot.numerics import flag_kernels
array = lambda kind, n: numba.types.Array(kind, n, "C")
kinds = numba.uint8, numba.int8, numba.int32, numba.float32, numba.float32, numba.uint64
flag_kernels.flag_products.compile((*map(array, kinds, (2, 4, 1, 2, 2, 3)), numba.int64))
print(next(iter(flag_kernels.flag_products.inspect_asm().values())))
"""


def on(processor: str, features: str, program: str, folder: str) -> str:
    """What a program says where numba compiles for another processor."""
    import os

    env = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features, "NUMBA_CACHE_DIR": folder}
    done = python("-c", program, env=os.environ | env)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.mark.process
def test_a_processor_without_these_instructions_says_the_same(tmp_path: object) -> None:
    on("generic", "", ELSEWHERE, str(tmp_path))


@pytest.mark.process
@pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions of x86")
@pytest.mark.parametrize(
    ("processor", "features", "instruction"),
    [
        ("cascadelake", "+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512vnni", r"vpdpbusd\s.*%zmm"),
        ("alderlake", "+avx2,+fma,+avxvnni", r"\{vex\}\s+vpdpbusd\s.*%ymm"),
        ("haswell", "+avx2,+fma", r"vfmadd.*%ymm"),
    ],
)
def test_products_of_bytes_are_taken_where_the_processor_has_them(
    processor: str, features: str, instruction: str, tmp_path: object
) -> None:
    """Compiled only: this machine may not have them."""
    found = on(processor, features, COMPILED, str(tmp_path))
    assert re.search(instruction, found)
    assert ("vpdpbusd" in found) == ("vnni" in features)
