"""Matrix on disk, filled row by row in any order, so that memory does not grow with its rows."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import numpy as np

from blindspot.files.writing import cannot_write, make_folder
from blindspot.types import Float32, Int64

# Errors of a file system that cannot reserve space.
_NO_RESERVE = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})


class MatrixFile:
    """``[rows, columns] float32`` in a ``.npy`` file that is complete or absent, the same as ``np.save`` writes.

    Space is reserved at once, so that a full disk is an error before the work; rows that are not written are zeros.
    Use it as a context: an unfinished file is removed at its end.

    Args:
        temporary: where it is written, on the same disk; an old file is overwritten. By default beside ``path``.

    Raises:
        BlindspotError: the disk is full or read-only.
    """

    def __init__(self, path: Path, rows: int, columns: int, temporary: Path | None = None) -> None:
        self._path, self.shape = path, (rows, columns)
        self._temporary = temporary or path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
        make_folder(self._temporary.parent)
        header = BytesIO()
        facts = {"descr": "<f4", "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(header, facts)
        self._start, self._bytes_per_row = header.tell(), 4 * columns
        try:
            self._file = self._temporary.open("wb", buffering=0)
            self._write(header.getvalue(), 0)
            self._reserve(self._start + rows * self._bytes_per_row)
        except OSError as error:
            self.close()
            raise cannot_write(path, error) from error

    def __enter__(self) -> MatrixFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reserve(self, size: int) -> None:
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self._file.fileno(), 0, size)
            except OSError as error:
                if error.errno not in _NO_RESERVE:
                    raise
        self._file.truncate(size)

    def write(self, rows: Int64, vectors: Float32) -> None:
        """Write ``vectors [k, columns]`` into ``rows [k]``; consecutive rows are written in one piece."""
        order = np.argsort(rows, kind="stable")
        rows, data = rows[order], np.ascontiguousarray(vectors[order], dtype="<f4")
        ends = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
        try:
            for begin, end in pairwise(ends):
                if begin < end:
                    self._write(data[begin:end].data.cast("B"), self._place(int(rows[begin])))
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def _place(self, row: int) -> int:
        return self._start + row * self._bytes_per_row

    def _write(self, data: bytes | memoryview, index: int) -> None:
        self._file.seek(index)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]

    def finish(self) -> None:
        """Give the file its name."""
        try:
            os.fsync(self._file.fileno())
            self._file.close()
            self._temporary.replace(self._path)
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def close(self) -> None:
        """Remove the file if it is not finished."""
        if hasattr(self, "_file"):
            self._file.close()
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)
