"""Folders of result packs, here or anywhere that fsspec reaches; a file in them is complete or absent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from blindspot.errors import BlindspotError, InputError, naming_extras, visible
from blindspot.files.writing import delete_file, read_limited, write_atomically

# Where a file that is being written cannot be seen by readers before it is complete, and renaming is copying.
_WHOLE_AT_ONCE = frozenset({"memory", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss"})
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class Folder(Protocol):
    """A folder whose files are named by relative paths with ``/``, such as ``runs/0a1b.json``."""

    @property
    def address(self) -> str:
        """The folder, for messages."""
        ...

    def names(self, below: str) -> list[str]:
        """Names of the files in one of its folders, sorted; none where there is no such folder."""
        ...

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        ...

    def read(self, name: str, most: int) -> bytes:
        """The content of a file; raises ``InputError`` where it is missing, larger than ``most`` bytes or no file."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all; raises ``BlindspotError``."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if it is there; raises ``BlindspotError``."""
        ...


def folder_at(address: str) -> Folder:
    """The folder at a path or an address such as ``s3://bucket/sweep``; need not exist.

    Raises:
        InputError: nothing here can reach such an address.
        LibraryMissing: what would is not installed.
    """
    return RemoteFolder(address) if _URL.match(address) else LocalFolder(Path(address).expanduser())


class LocalFolder:
    """A folder of this machine, or one that is mounted."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def address(self) -> str:
        return str(self._path)

    def names(self, below: str) -> list[str]:
        try:
            return sorted(path.name for path in (self._path / below).iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"cannot read {self._path / below}: {error.strerror or error}") from error

    def has(self, name: str) -> bool:
        return (self._path / name).is_file()

    def read(self, name: str, most: int) -> bytes:
        return read_limited(self._path / name, most)

    def write(self, name: str, data: bytes) -> None:
        write_atomically(self._path / name, lambda file: file.write(data))

    def remove(self, name: str) -> None:
        delete_file(self._path / name)


class RemoteFolder:
    """A folder that fsspec reaches."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        try:
            with naming_extras(self._address):
                from fsspec.core import url_to_fs

                self._files, self._root = url_to_fs(self._address, use_listings_cache=False)
        except (ImportError, ValueError) as error:  # ValueError: an unknown protocol
            raise InputError(
                f"cannot reach {self._address}: {error}", expected="a folder, s3://..., gs://... or another of fsspec's"
            ) from error
        protocols = self._files.protocol
        names = {protocols} if isinstance(protocols, str) else set(protocols)
        self._whole_at_once = not names.isdisjoint(_WHOLE_AT_ONCE)

    @property
    def address(self) -> str:
        return self._address

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def names(self, below: str) -> list[str]:
        try:
            paths = self._files.ls(self._path(below), detail=False)
        except FileNotFoundError:
            return []
        except Exception as error:  # each service has errors of its own
            raise self._failed("read", below, error) from error
        return sorted(str(path).rstrip("/").rpartition("/")[2] for path in paths)

    def has(self, name: str) -> bool:
        try:
            return bool(self._files.isfile(self._path(name)))
        except Exception as error:
            raise self._failed("read", name, error) from error

    def read(self, name: str, most: int) -> bytes:
        path = self._path(name)
        try:
            size = int(self._files.size(path))
            data = bytes(self._files.cat_file(path, end=most)) if size <= most else b""
        except FileNotFoundError as error:
            raise InputError(f"there is no file {self._address}/{name}") from error
        except Exception as error:
            raise self._failed("read", name, error) from error
        if size > most:
            raise InputError(f"{self._address}/{name} has {size:,} bytes", expected=f"at most {most:,}")
        return data

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        try:
            if self._whole_at_once:
                self._files.pipe_file(path, data)
                return
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            temporary = f"{path}.{uuid4().hex[:8]}.tmp"
            try:
                self._files.pipe_file(temporary, data)
                self._files.mv(temporary, path)
            except BaseException:
                self._remove(temporary)
                raise
        except Exception as error:
            raise self._failed("write", name, error) from error

    def remove(self, name: str) -> None:
        try:
            self._remove(self._path(name))
        except Exception as error:
            raise self._failed("remove", name, error) from error

    def _remove(self, path: str) -> None:
        if self._files.exists(path):
            self._files.rm_file(path)

    def _failed(self, done: str, name: str, error: Any) -> BlindspotError:
        why = visible(next(iter(str(error).strip().splitlines()), "") or type(error).__name__)[:200]
        return BlindspotError(
            f"cannot {done} {self._address}/{name}: {why}",
            remedy="check the address and who may use it, then try again",
        )
