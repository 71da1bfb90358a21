"""Files that users name: opened safely, unpacked within limits, hashed once."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from blindspot.errors import InputError
from blindspot.files.writing import LFS_POINTER, require_regular, sha256_of
from blindspot.types import digest_of_strings

GZIP, BZIP2, XZ, ZIP = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04"
LONGEST_MAGIC = len(XZ)
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError)
# First bytes of other kinds of files; no file is unpickled or run.
KNOWN_OTHERS = {
    b"\x7fELF": "a program (ELF)",
    b"MZ\x90": "a program",
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"PK\x05\x06": "a zip archive: unpack it first",
    b"%PDF": "a PDF",
    LFS_POINTER: "a pointer of Git LFS, without the content: fetch it with git lfs pull",
    b"\xff\xfe\x00\x00": "UTF-32: save it as UTF-8",  # before UTF-16, with which it begins
    b"\xff\xfe": "UTF-16: save it as UTF-8",
    b"\xfe\xff": "UTF-16: save it as UTF-8",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array: name it table:PATH, with its texts beside it",
    b"PAR1": "a Parquet file: name it table:PATH",
    **{bytes([0x80, protocol]): "a pickle, which can run code when read" for protocol in range(2, 6)},
}
BLOCK = 2**20
ALWAYS_UNPACKED = 64 * 2**20  # bytes that any packed file may unpack to
MOST_RATIO = 20  # unpacked to packed bytes, for larger files


def kind_of_other(head: bytes) -> str:
    """Description of a file of another kind that begins with ``head``, or ""."""
    return next((what for magic, what in KNOWN_OTHERS.items() if head.startswith(magic)), "")


def require_file(path: Path) -> None:
    """Raises ``InputError`` unless the path is a regular file with content."""
    if not require_regular(path):
        raise InputError(f"{path} is empty (0 bytes)", remedy="copy or download it again")


class _Unpacked(io.RawIOBase):
    """An unpacked stream; refuses to grow out of proportion (zip bombs)."""

    def __init__(self, path: Path, unpacked: IO[bytes], packed_size: int) -> None:
        self._path = path
        self._file = unpacked
        self._most = max(ALWAYS_UNPACKED, MOST_RATIO * packed_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if self._file.tell() > self._most:
            raise InputError(
                f"{self._path} unpacks to more than {self._most:,} bytes",
                expected=f"at most {MOST_RATIO} times its size: real files pack to a half or a fourth",
                remedy="unpack it yourself where you trust it",
            )
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacking gzip, bzip2, xz and zip (of one file) whatever its name.

    Raises:
        InputError: no such file, unreadable, damaged, or a zip of several files; also while it is being read.
    """
    require_file(path)
    try:
        with path.open("rb") as raw:
            head = raw.read(LONGEST_MAGIC)
            raw.seek(0)
            if is_packed(head):
                with _unpacked(path, head, raw) as unpacked:
                    yield cast(IO[bytes], _Unpacked(path, unpacked, path.stat().st_size))
            elif path.suffix.lower() == ".gz":
                raise InputError(f"{path} is not a gzip file", expected="gzip, as its name says")
            else:
                yield raw
    except DAMAGED as error:
        raise InputError(
            f"{path} is a damaged packed file, or cut short: {error}", remedy="copy or download it again"
        ) from error
    except OSError as error:
        if error.errno is None:  # of bz2
            raise InputError(f"{path} is a damaged packed file: {error}", remedy="copy or download it again") from error
        raise InputError(f"cannot read {path}: {error.strerror or error}", remedy="check its permissions") from error


def is_packed(head: bytes) -> bool:
    """Whether ``opened`` unpacks a file that begins with ``head``."""
    return head.startswith((GZIP, BZIP2, XZ, ZIP))


@contextmanager
def _unpacked(path: Path, head: bytes, raw: IO[bytes]) -> Iterator[IO[bytes]]:
    if not head.startswith(ZIP):
        open_by = {GZIP: gzip.open, BZIP2: bz2.open, XZ: lzma.open}
        with next(how for magic, how in open_by.items() if head.startswith(magic))(raw) as unpacked:  # type: ignore[operator]
            yield unpacked
        return
    with zipfile.ZipFile(raw) as archive:
        names = [member.filename for member in archive.infolist() if not member.is_dir()]
        if len(names) != 1:
            raise InputError(
                f"{path} is a zip archive of {len(names)} files: {', '.join(names)[:200]}",
                expected="one file in it",
                remedy="unpack it, and name the file",
            )
        if archive.infolist()[0].flag_bits & 1:
            raise InputError(f"{path} is an encrypted zip archive", remedy="unpack it, and name the file")
        with archive.open(names[0]) as unpacked:
            yield unpacked


def array_header(file: IO[bytes]) -> tuple[tuple[int, ...], Any]:
    """Shape and type of an array in numpy's format; the file is then at its numbers. Raises what numpy does."""
    major, _ = np.lib.format.read_magic(file)
    reader = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(file)
    return shape, dtype


def array_of(path: Path) -> Any:
    """The memory-mapped ``[n, d]`` numbers of a .npy file; raises ``InputError``. Pickles are never read."""
    with opened(path) as file:
        head = file.read(16)
        if not head.startswith(b"\x93NUMPY"):
            kind = kind_of_other(head) or "not what its name says"
            raise InputError(f"{path} is {kind}", expected="an array as numpy.save writes it")
        file.seek(0)
        try:
            shape, dtype = array_header(file)
        except (ValueError, SyntaxError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(f"{path} has a damaged header: {error}", remedy="write it again") from error
        start = file.tell()
    if len(shape) != 2 or dtype.kind not in "fiu" or dtype.itemsize > 8:
        kind = "objects (a pickle)" if dtype.hasobject else str(dtype)
        raise InputError(
            f"{path} is an array of {kind} of shape {shape}",
            expected="two dimensions, [texts, numbers], of floats (16 to 64 bits) or integers",
        )
    if min(shape) < 1:
        raise InputError(f"{path} has the shape {shape}", expected="at least one text and one number")
    size, wanted = path.stat().st_size, start + math.prod(shape) * dtype.itemsize
    if size != wanted:
        raise InputError(
            f"{path} has {size:,} bytes, but its header claims an array of shape {shape}",
            expected=f"{wanted:,} bytes",
            remedy="it is cut short or damaged: write it again",
        )
    return np.load(path, mmap_mode="r", allow_pickle=False)


def revision_of(files: Sequence[Path]) -> str:
    """16 digits that tell one content of files from another."""
    checksums = [sha256_once(file) for file in files]
    return (checksums[0] if len(checksums) == 1 else digest_of_strings(checksums))[:16]


def sha256_once(path: Path) -> str:
    """Hex sha256 of a file, cached until the file changes; raises ``InputError`` if unreadable."""
    require_file(path)
    try:
        state = state_of(path)
        if (hashed := _HASHED.get()) is not None:
            hashed[path] = state
        return _sha256(path, state)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}", remedy="check its permissions") from error


_HASHED: ContextVar[dict[Path, tuple[int, ...]] | None] = ContextVar("hashed", default=None)


@contextmanager
def hashed_files() -> Iterator[dict[Path, tuple[int, ...]]]:
    """Context that collects the files whose content is asked for in it, with their states (``state_of``)."""
    hashed: dict[Path, tuple[int, ...]] = {}
    token = _HASHED.set(hashed)
    try:
        yield hashed
    finally:
        _HASHED.reset(token)


def lines_once(path: Path) -> int:
    """Number of lines of the unpacked file, cached until the file changes."""
    require_file(path)
    return _lines(path, state_of(path))


def state_of(path: Path) -> tuple[int, ...]:
    """A key that differs after any change of a file: a copy put in its place can have its size and mtime, but not its
    inode, and whatever sets an mtime sets the ctime too."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev


@lru_cache(maxsize=256)
def _sha256(path: Path, _state: tuple[int, ...]) -> str:
    return sha256_of(path)


@lru_cache(maxsize=256)
def _lines(path: Path, _state: tuple[int, ...]) -> int:
    count, last = 0, b"\n"
    with opened(path) as file:
        while block := file.read(BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")
