"""Encoder references that carry parameters: ``SCHEME:TARGET?name=value&name=value`` (DESIGN section 6)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote, unquote

from core.errors import InputError, unknown
from core.files.writing import require_name


class Pooling(StrEnum):
    """How token vectors become one vector; ``published`` is whatever the model's own folder says."""

    PUBLISHED = "published"
    CLS = "cls"
    LAST_AVG = "last-avg"
    FIRST_LAST_AVG = "first-last-avg"
    STATIC = "static"


class Dtype(StrEnum):
    """Precision in which the weights are held and the layers computed."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"


SHORTEST_MAX_LENGTH = 3  # two special tokens and one of the text


@dataclass(frozen=True)
class ModelParams:
    """What the query of a ``dir:`` or ``hf:`` reference says; None where it leaves the model's own value.

    Attributes:
        max_length: tokens, special ones included, after which a text is cut off.
        prompt: text put before every input.
        dtype: precision.
        pooling: how token vectors become one vector.
    """

    max_length: int | None = None
    prompt: str | None = None
    dtype: Dtype = Dtype.FLOAT32
    pooling: Pooling = Pooling.PUBLISHED

    @classmethod
    def parse(cls, query: str, reference: str) -> ModelParams:
        """Read ``max_length=128&prompt=query%3A%20``; values are percent-decoded, a ``+`` is a plus.

        Raises:
            InputError: a parameter that there is not, one given twice, or a value that means nothing.
        """
        values: dict[str, str] = {}
        for part in query.split("&") if query else []:
            name, equals, value = part.partition("=")
            if name not in _PARAMS:
                raise unknown("parameter of an encoder reference", name, _PARAMS)
            if not equals or name in values:
                raise InputError(
                    f"'{name}' is given {'twice' if equals else 'without a value'} in '{reference}'",
                    expected=f"{name}=VALUE once",
                )
            values[name] = unquote(value)
        length = values.get("max_length")
        if length is not None and not (re.fullmatch(r"[0-9]{1,7}", length) and int(length) >= SHORTEST_MAX_LENGTH):
            raise InputError(
                f"max_length is '{length}' in '{reference}'", expected=f"a number of tokens from {SHORTEST_MAX_LENGTH}"
            )
        for name, kind in (("dtype", Dtype), ("pooling", Pooling)):
            if name in values and values[name] not in list(kind):
                raise unknown(name, values[name], list(kind))
        return cls(
            max_length=None if length is None else int(length),
            prompt=values.get("prompt"),
            dtype=Dtype(values.get("dtype", Dtype.FLOAT32)),
            pooling=Pooling(values.get("pooling", Pooling.PUBLISHED)),
        )

    def __str__(self) -> str:
        """The query in its one canonical form: sorted by name, defaults left out."""
        given = {
            "dtype": None if self.dtype is Dtype.FLOAT32 else self.dtype.value,
            "max_length": self.max_length,
            "pooling": None if self.pooling is Pooling.PUBLISHED else self.pooling.value,
            "prompt": self.prompt,
        }
        return "&".join(f"{name}={quote(str(value), safe='')}" for name, value in given.items() if value is not None)


_PARAMS = ("dtype", "max_length", "pooling", "prompt")


@dataclass(frozen=True)
class DirReference:
    """``dir:PATH[?PARAMS]``: a model's folder on this machine, its path absolute."""

    path: Path
    params: ModelParams

    @classmethod
    def parse(cls, reference: str) -> DirReference:
        """Raises ``InputError`` where no path is named or a parameter is wrong."""
        target, query = _split(reference)
        if not target:
            raise InputError("'dir:' names no folder", expected="dir:PATH, for example dir:models/my-encoder")
        require_name(target, "dir:PATH of a folder")
        return cls(_folder(target, reference), ModelParams.parse(query, reference))

    def __str__(self) -> str:
        return _joined(f"dir:{self.path}", self.params)


@dataclass(frozen=True)
class HubReference:
    """``hf:ORG/NAME[@REVISION][?PARAMS]``: a model of the hub; no revision means its main branch."""

    repo: str
    revision: str
    params: ModelParams

    @classmethod
    def parse(cls, reference: str) -> HubReference:
        """Raises ``InputError`` where this is no name of a repository or a parameter is wrong."""
        target, query = _split(reference)
        match = re.fullmatch(r"(\w[\w.-]*/\w[\w.-]*)(?:@(\w[\w./-]*))?", target, re.ASCII)
        if not match or ".." in target:
            raise InputError(
                f"'{reference}' names no model of the hub",
                expected="hf:ORG/NAME or hf:ORG/NAME@REVISION, for example hf:sentence-transformers/all-MiniLM-L6-v2",
            )
        return cls(match[1], match[2] or "", ModelParams.parse(query, reference))

    def __str__(self) -> str:
        return _joined(f"hf:{self.repo}" + (f"@{self.revision}" if self.revision else ""), self.params)


@dataclass(frozen=True)
class FileReference:
    """``vectors:PATH`` or ``table:PATH``: a file on this machine, its path absolute. There are no parameters."""

    scheme: str
    path: Path

    @classmethod
    def parse(cls, reference: str) -> FileReference:
        """Raises ``InputError`` where no path is named, none that a system could have, or a parameter is given."""
        scheme, _, target = reference.partition(":")
        path, mark, query = target.partition("?")
        if not path:
            raise InputError(f"'{scheme}:' names no file", expected=f"{scheme}:PATH")
        require_name(target, f"{scheme}:PATH of a file")
        try:
            if mark and _absolute(target).exists():  # the mark is part of the name
                return cls(scheme, _absolute(target))
            if query:
                raise InputError(
                    f"'{reference}' has parameters ('?{query}'), and there is no file {_absolute(target)}",
                    expected=f"{scheme}:PATH, which takes none",
                    remedy=f"write {scheme}:{path}",
                )
            return cls(scheme, _absolute(path))
        except (OSError, ValueError, RuntimeError) as error:  # a name too long, a zero character, no such user
            raise InputError(f"'{reference}' names no file: {error}", expected=f"{scheme}:PATH") from error

    def __str__(self) -> str:
        return f"{self.scheme}:{self.path}"


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - resolve() would follow links


def _folder(target: str, reference: str) -> Path:
    try:
        return _absolute(target)
    except RuntimeError as error:  # no such user
        raise InputError(f"'{reference}' names no folder: {error}", expected="dir:PATH") from error


def _split(reference: str) -> tuple[str, str]:
    """Target and query of a reference whose scheme is known."""
    target, _, query = reference.partition(":")[2].partition("?")
    return target, query


def _joined(target: str, params: ModelParams) -> str:
    query = str(params)
    return f"{target}?{query}" if query else target
