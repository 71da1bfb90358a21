"""TREC's files: documents, topics, and ranked lists of search engines (runs)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from blindspot.datasets.published.retrieval import one_line
from blindspot.errors import InputError

_DOCUMENT = re.compile(r"<doc(?:\s[^<>]*)?>", re.IGNORECASE)
_TOPIC = re.compile(r"<top(?:ic)?(?:\s[^<>]*)?>", re.IGNORECASE)
_NUMBER = re.compile(r"""number\s*=\s*["']([^"'<>]+)["']""", re.IGNORECASE)
_ANY = re.compile(r"<[^<>]*>")
_TITLES = ("title", "headline", "head", "hl")
_TEXTS = ("text", "body", "abstract", "contents")
_QUERY_FIELDS = ("title", "query", "question")
_LABELS = re.compile(r"^\s*(?:number|topic)\s*:", re.IGNORECASE)


class Found(NamedTuple):
    """A document or query in a file; ``line`` is where it begins, ``unread`` names its further texts."""

    line: int
    id: str
    title: str
    text: str
    metadata: Mapping[str, Any]
    unread: tuple[str, ...] = ()


def documents(path: Path, text: str) -> Iterator[Found]:
    """Documents: ``<DOC>`` with a ``<DOCNO>``, perhaps a title, and texts."""
    for line, _, block in _blocks(path, text, _DOCUMENT, "doc"):
        number = one_line(_field(block, "docno"))
        if not number:
            raise InputError(f"{path}, line {line}: no <DOCNO>", expected="one in each <DOC>")
        title = next(filter(None, (_plain(_field(block, name)) for name in _TITLES)), "")
        parts = [_plain(part) for name in _TEXTS for part in _fields(block, name)]
        yield Found(line, number, title, " ".join(filter(None, parts)), {})


def topics(path: Path, text: str) -> Iterator[Found]:
    """Topics: ``<top>`` with ``<num>`` and ``<title>``, or ``<topic number="1">`` with ``<query>``."""
    for line, mark, block in _blocks(path, text, _TOPIC, "top"):
        named = _NUMBER.search(mark)
        number = named[1].strip() if named else one_line(_LABELS.sub("", _field(block, "num")))
        if not number:
            raise InputError(f"{path}, line {line}: no <num>", expected="a number in each topic")
        query = next(filter(None, (_plain(_LABELS.sub("", _field(block, name))) for name in _QUERY_FIELDS)), "")
        yield Found(line, number, "", query, {})


def _blocks(path: Path, text: str, begins: re.Pattern[str], name: str) -> Iterator[tuple[int, str, str]]:
    """Line, opening mark and content of each element."""
    marks = list(begins.finditer(text))
    if not marks:
        raise InputError(f"{path}, line 1: no <{name}>", expected=f"TREC's <{name}> ... </{name}>, or JSON lines")
    line, counted_to = 1, 0
    for number, mark in enumerate(marks):
        line += text.count("\n", counted_to, mark.start())
        counted_to = mark.start()
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        yield line, mark[0], text[mark.end() : end]


def _fields(block: str, name: str) -> Iterator[str]:
    """Contents of the elements with a name; an unclosed element ends where the next begins, as in old topics."""
    for mark in re.finditer(rf"<{name}(?:\s[^<>]*)?>", block, re.IGNORECASE):
        rest = block[mark.end() :]
        closed = re.search(rf"</{name}\s*>", rest, re.IGNORECASE)
        following = rest.find("<")
        yield rest[: closed.start() if closed else following if following >= 0 else len(rest)]


def _field(block: str, name: str) -> str:
    return next(_fields(block, name), "")


def _plain(block: str) -> str:
    return one_line(html.unescape(_ANY.sub(" ", block)))
