"""Footer of a Parquet file in plain Python: how much each column chunk claims to hold.

``pyarrow``'s ``RowGroupMetaData.column`` builds a column's metadata outside of any handler: where the footer is damaged
(counts of levels that do not fit the column, for one), C++ throws and the whole process ends. All other ways of reading
report errors, so only this one is replaced. The footer is a struct of Thrift's compact protocol (parquet.thrift).
"""

from __future__ import annotations

import io
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

_MAGIC = b"PAR1"
_TAIL = 8  # bytes: the footer's length and the magic number
_GROUPS, _COLUMNS, _ROWS, _META, _VALUES, _UNPACKED = 4, 1, 3, 3, 5, 6  # fields of parquet.thrift
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13
_LONG = 15  # elements: so many or more follow as a number


@dataclass(frozen=True)
class Chunk:
    """A column in a row group, as the footer describes it; nothing says that this is true.

    Attributes:
        path: of the column, such as "embedding.list.element".
        rows: of its row group.
        values: its numbers or texts, those in lists one by one.
        unpacked: bytes, uncompressed.
    """

    path: str
    rows: int
    values: int
    unpacked: int


def column_chunks(file: IO[bytes], paths: Sequence[str]) -> list[list[Chunk]]:
    """The chunks of each row group.

    Args:
        file: at any position.
        paths: of the columns in their order, from the schema: the footer's own may differ.

    Raises:
        ValueError: this is no footer, or its groups have other columns.
    """
    try:
        root = _Compact(_footer(file)).struct()
        return [_chunks(group, paths) for group in root.get(_GROUPS, [])]
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("its footer is damaged") from error


def _footer(file: IO[bytes]) -> bytes:
    end = file.seek(0, io.SEEK_END)
    file.seek(max(end - _TAIL, 0))
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > end - _TAIL:
        raise ValueError("it has no footer")
    file.seek(end - _TAIL - length)
    return file.read(length)


def _chunks(group: dict[int, Any], paths: Sequence[str]) -> list[Chunk]:
    columns, rows = group[_COLUMNS], group[_ROWS]
    if len(columns) != len(paths):
        raise ValueError(f"its footer has {len(columns)} columns in a group of rows and {len(paths)} in the schema")
    metas = [column[_META] for column in columns]
    claims = [(rows, meta[_VALUES], meta[_UNPACKED]) for meta in metas]
    return [Chunk(path, *map(operator.index, numbers)) for path, numbers in zip(paths, claims, strict=True)]


class _Compact:
    """A reader of Thrift's compact protocol; ``IndexError`` at the end of the data."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def struct(self) -> dict[int, Any]:
        """Values by the numbers of their fields."""
        out: dict[int, Any] = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._integer()
            kind = header & 15
            out[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind)
        return out

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("its footer has a number that is too long")

    def _integer(self) -> int:
        """Of a zigzag code."""
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):  # in a list, where a truth value takes a byte
            return self._byte()
        if kind <= _I64:
            return self._integer()
        if kind in (_DOUBLE, _BINARY, _UUID):
            return self._bytes({_DOUBLE: 8, _UUID: 16}[kind] if kind != _BINARY else self._varint())
        if kind in (_LIST, _SET):
            header = self._byte()
            size = header >> 4 if header >> 4 < _LONG else self._varint()
            return [self._value(header & 15) for _ in range(size)]
        if kind == _MAP:
            size = self._varint()
            kinds = self._byte() if size else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(size)]
        if kind == _STRUCT:
            return self.struct()
        raise ValueError(f"its footer has a value of the unknown kind {kind}")

    def _bytes(self, size: int) -> bytes:
        start, self.place = self.place, self.place + size
        if self.place > len(self.data):
            raise IndexError(size)
        return self.data[start : self.place]
