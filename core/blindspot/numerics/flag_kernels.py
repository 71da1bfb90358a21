"""Bits that say how scores of rows compare with bounds, by vector instructions chosen here.

Compilers find neither the processor's products of bytes (VNNI), four times as fast as float32, nor a way to compare
scores while they are in registers. So these loops are written as LLVM's instructions. Where the processor has no
products of bytes, slower instructions give the same numbers.

Import only inside functions that run in a worker, as ``blindspot.numerics.kernels``. numba caches by file: what these
functions need of other files must not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from blindspot.types import Float32, Int8, Int32, UInt8, UInt64

STRIP = 64  # columns whose flags fill a word
QUAD = 4  # bytes of a row that are multiplied and added at once, in each lane
ROWS = 6  # rows whose sums are in registers together: these and one vector of each operand fill them

_BYTE, _INT, _FLOAT, _WORD = ir.IntType(8), ir.IntType(32), ir.FloatType(), ir.IntType(64)


class _Code:
    """Instructions for vectors of as many lanes as the processor has.

    Attributes:
        lanes: numbers of 32 bits in a vector.
        at_once: vectors of a row whose sums are in registers together.
    """

    def __init__(self, context: Any, builder: Any) -> None:
        _, _, features = context.codegen().magic_tuple()
        has = features.split(",").__contains__
        self.builder = builder
        self.lanes, self.at_once = (16, 4) if has("+avx512f") else (8, 2)
        self._has_products = has("+avx512vnni") if self.lanes == 16 else has("+avxvnni")
        self.ints, self.floats = ir.VectorType(_INT, self.lanes), ir.VectorType(_FLOAT, self.lanes)
        self.bytes = ir.VectorType(_BYTE, QUAD * self.lanes)

    def load(self, address: Any, kind: Any) -> Any:
        value = self.builder.load(self.builder.bitcast(address, kind.as_pointer()))
        value.align = 1
        return value

    def store(self, value: Any, address: Any) -> None:
        self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer())).align = 1

    def in_every_lane(self, value: Any) -> Any:
        vector = ir.VectorType(value.type, self.lanes)
        nothing, first = ir.Constant(vector, ir.Undefined), ir.Constant(self.ints, [0] * self.lanes)
        return self.builder.shuffle_vector(self.builder.insert_element(nothing, value, _INT(0)), nothing, first)

    def multiply_and_add(self, x: Any, y: Any, more: Any) -> Any:
        """``x * y + more`` of floats, rounded once where that is as fast."""
        return self._call(f"llvm.fmuladd.v{self.lanes}f32", self.floats, x, y, more)

    def add_products(self, sums: Any, left: Any, right: Any) -> Any:
        """Add the products of each lane's bytes: ``left`` from 0 to 255, ``right`` from -128 to 127."""
        if self._has_products:
            sides = [self.builder.bitcast(side, self.ints) for side in (left, right)]  # as all versions of LLVM have it
            return self._call(f"llvm.x86.avx512.vpdpbusd.{32 * self.lanes}", self.ints, sums, *sides)
        wide = ir.VectorType(_INT, QUAD * self.lanes)
        products = self.builder.mul(self.builder.zext(left, wide), self.builder.sext(right, wide))
        for byte in range(QUAD):
            places = ir.Constant(self.ints, [QUAD * lane + byte for lane in range(self.lanes)])
            one = self.builder.shuffle_vector(products, ir.Constant(wide, ir.Undefined), places)
            sums = self.builder.add(sums, one)
        return sums

    def _call(self, name: str, result: Any, *values: Any) -> Any:
        kind = ir.FunctionType(result, [value.type for value in values])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), values)


class _Array:
    """Memory of an array."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        self._builder = builder
        self._start = builder.bitcast(array.data, _BYTE.as_pointer())
        self._strides = cgutils.unpack_tuple(builder, array.strides)

    def at(self, *places: Any, beyond: int = 0) -> Any:
        """Address of an entry, or of the first of a row, and so many bytes beyond."""
        address = self._start
        for place, stride in zip(places, self._strides, strict=False):
            address = self._builder.gep(address, [self._builder.mul(place, stride)])
        return self._builder.gep(address, [_WORD(beyond)])


@dataclass(frozen=True)
class _Block:
    """Scores that are in registers together.

    Attributes:
        row: the first row.
        rows: how many.
        strip: the columns' strip.
        columns: where each vector begins in it.
    """

    code: _Code
    row: Any
    rows: int
    strip: Any
    columns: Sequence[int]

    def number(self, row: int) -> Any:
        """A row's number."""
        return self.code.builder.add(self.row, _WORD(row))

    @property
    def first(self) -> Any:
        """The strip's first column."""
        return self.code.builder.mul(self.strip, _WORD(STRIP))


def _products(block: _Block, left: _Array, right: _Array, starts: _Array, quads: Any) -> list[list[Any]]:
    """Products of bytes, as floats: of every row, the vectors."""
    code, builder = block.code, block.code.builder
    sums = [[cgutils.alloca_once(builder, code.ints) for _ in block.columns] for _ in range(block.rows)]
    for at, column in enumerate(block.columns):
        start = code.load(starts.at(block.first, beyond=4 * column), code.ints)
        for line in sums:
            builder.store(start, line[at])
    with cgutils.for_range(builder, quads) as loop:
        others = [code.load(right.at(block.strip, loop.index, beyond=QUAD * c), code.bytes) for c in block.columns]
        for row, line in enumerate(sums):
            quad = code.load(left.at(block.number(row), builder.mul(loop.index, _WORD(QUAD))), _INT)
            own = builder.bitcast(code.in_every_lane(quad), code.bytes)
            for total, other in zip(line, others, strict=True):
                builder.store(code.add_products(builder.load(total), own, other), total)
    return [[builder.sitofp(builder.load(total), code.floats) for total in line] for line in sums]


def _row_terms(block: _Block, row: int, terms: _Array, first: int, end: int) -> list[Any]:
    """Some of a row's terms."""
    places = [terms.at(block.number(row), _WORD(term)) for term in range(first, end)]
    return [block.code.in_every_lane(block.code.load(place, _FLOAT)) for place in places]


def _column_terms(block: _Block, column: int, terms: _Array, first: int, end: int) -> list[Any]:
    """Some of the columns' terms."""
    places = [terms.at(_WORD(term), block.first, beyond=4 * column) for term in range(first, end)]
    return [block.code.load(place, block.code.floats) for place in places]


def _scores(block: _Block, lines: Sequence[Sequence[Any]], left_terms: _Array, right_terms: _Array) -> list[list[Any]]:
    """Scores of products."""
    found: list[list[Any]] = [[] for _ in lines]
    for at, column in enumerate(block.columns):
        steps, heads = _column_terms(block, column, right_terms, 0, 2)
        for row, line in enumerate(lines):
            (head,) = _row_terms(block, row, left_terms, 0, 1)
            more = block.code.builder.fmul(head, heads)
            found[row].append(block.code.multiply_and_add(line[at], steps, more))
    return found


def _flag(
    block: _Block, lines: Sequence[Sequence[Any]], left_terms: _Array, right_terms: _Array, flags: _Array
) -> None:
    """Write the bits of scores."""
    code, builder = block.code, block.code.builder
    for at, column in enumerate(block.columns):
        (rests,) = _column_terms(block, column, right_terms, 2, 3)
        for row, line in enumerate(lines):
            rest, low, high = _row_terms(block, row, left_terms, 1, 4)
            highest = code.multiply_and_add(rest, rests, line[at])
            lowest = code.multiply_and_add(builder.fneg(rest), rests, line[at])
            both = builder.fcmp_ordered(">=", highest, low), builder.fcmp_ordered(">", lowest, high)  # of NaN neither
            for which, true in enumerate(both):
                bits = builder.bitcast(true, ir.IntType(code.lanes))
                code.store(bits, flags.at(_WORD(which), block.number(row), block.strip, beyond=column // 8))


def _flag_products_of(rows: int) -> Any:
    """A function for compiled code: ``flag_products`` of so many rows with one strip."""

    @intrinsic  # type: ignore[untyped-decorator]
    def flag_strip(
        _typing: Any,
        left: Any,
        right: Any,
        starts: Any,
        left_terms: Any,
        right_terms: Any,
        flags: Any,
        quads: Any,
        row: Any,
        strip: Any,
    ) -> Any:
        kinds = (left, right, starts, left_terms, right_terms, flags)

        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            arrays = [_Array(context, builder, kind, value) for kind, value in zip(kinds, values, strict=False)]
            code, (quads, row, strip) = _Code(context, builder), values[len(kinds) :]
            for first in range(0, STRIP, code.lanes * code.at_once):
                columns = [first + code.lanes * vector for vector in range(code.at_once)]
                block = _Block(code, row, rows, strip, columns)
                products = _products(block, arrays[0], arrays[1], arrays[2], quads)
                _flag(block, _scores(block, products, arrays[3], arrays[4]), arrays[3], arrays[4], arrays[5])
            return context.get_dummy_value()

        return types.void(*kinds, quads, row, strip), generate

    return flag_strip


_flag_products_of_rows, _flag_products_of_one = _flag_products_of(ROWS), _flag_products_of(1)


@intrinsic  # type: ignore[untyped-decorator]
def _flag_scores_of_one(
    _typing: Any, scores: Any, left_terms: Any, right_terms: Any, flags: Any, row: Any, strip: Any
) -> Any:
    kinds = (scores, left_terms, right_terms, flags)

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        arrays = [_Array(context, builder, kind, value) for kind, value in zip(kinds, values, strict=False)]
        code, (row, strip) = _Code(context, builder), values[len(kinds) :]
        block = _Block(code, row, 1, strip, range(0, STRIP, code.lanes))
        line = [code.load(arrays[0].at(row, block.first, beyond=4 * c), code.floats) for c in block.columns]
        _flag(block, [line], arrays[1], arrays[2], arrays[3])
        return context.get_dummy_value()

    return types.void(*kinds, row, strip), generate


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def flag_products(
    left: UInt8,
    right: Int8,
    starts: Int32,
    left_terms: Float32,
    right_terms: Float32,
    flags: UInt64,
    quads: int,
) -> None:
    """How scores of rows by products of bytes compare with two bounds of their row.

    Row i's score with column c is ``right_terms[0, c]`` times its product, plus ``left_terms[i, 0] * right_terms[1,
    c]``. It is off by ``left_terms[i, 1] * right_terms[2, c]``: with this added, it may be at least ``left_terms[i,
    2]``; with this subtracted, above ``left_terms[i, 3]``. Where that is NaN, as for columns that only fill a strip,
    it is neither.

    Args:
        left: ``[rows, >= 4 quads] uint8``, the bytes plus 128.
        right: ``[strips, >= quads, 64, 4] int8``.
        starts: ``[64 strips] int32``, -128 times the sum of each column's bytes.
        left_terms: ``[rows, 4] float32``.
        right_terms: ``[3, 64 strips] float32``.
        flags: ``[2, rows, strips] uint64``, written, for either bound: bit b of word s is column ``64 s + b``.
        quads: how many bytes to multiply, by four.
    """
    rows, strips = len(left_terms), flags.shape[2]
    last = rows - rows % ROWS
    for row in range(0, last, ROWS):
        for strip in range(strips):
            _flag_products_of_rows(left, right, starts, left_terms, right_terms, flags, quads, row, strip)
    for row in range(last, rows):
        for strip in range(strips):
            _flag_products_of_one(left, right, starts, left_terms, right_terms, flags, quads, row, strip)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def flag_scores(scores: Float32, left_terms: Float32, right_terms: Float32, flags: UInt64) -> None:
    """How scores compare with the bounds of their row, see ``flag_products``; ``scores`` are read."""
    for row in range(len(left_terms)):
        for strip in range(flags.shape[2]):
            _flag_scores_of_one(scores, left_terms, right_terms, flags, row, strip)
