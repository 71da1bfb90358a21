"""A user's own list of queries: typed, or a text, CSV or TSV file."""

from __future__ import annotations

import io
import os
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from blindspot.errors import InputError
from blindspot.files.tables import csv_rows, decoded
from blindspot.files.writing import read_limited
from blindspot.studies.judgments.inventories import SENTENCES, Inventory, Ready
from blindspot.studies.judgments.types import Query
from blindspot.texts import counted, one_form, same_text

MAX_ROWS = 10_000
MAX_BYTES = 4 * 2**20
LONGEST = 500  # characters of a query
LONGEST_CATEGORY = 60
TYPES = ("txt", "csv", "tsv")
TEXT_NAMES = ("word", "query", "text")  # names of the column of queries; the first that is found
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # would turn the text beside a query around
_PARTS_OF_SPEECH = {"adjective": "adjective adj a", "adverb": "adverb adv r", "noun": "noun n", "verb": "verb v"}
_KNOWN = {
    "part_of_speech": {short: name for name, shorts in _PARTS_OF_SPEECH.items() for short in shorts.split()},
    "concreteness": {name: name for name in ("abstract", "concrete")},
}


def named(name: str) -> tuple[Ready | Inventory, int | None]:
    """The inventory of a name, of ``sentences:N`` or of the path of a file, and the number of sentences to sample.

    Raises:
        InputError: there is no such inventory, or for the reasons of ``of_file``.
    """
    ready, colon, number = name.partition(":")
    if ready == Ready.SENTENCES:
        if colon and not number.isdecimal():
            raise InputError(f"--queries is '{name}'", expected=f"{Ready.SENTENCES}:N, for example sentences:100")
        return Ready.SENTENCES, int(number) if colon else SENTENCES
    if name in (Ready.DEFAULT, Ready.SIMLEX):
        return Ready(name), None
    path = Path(name).expanduser()
    if not os.path.lexists(path):
        raise InputError(
            f"--queries is '{name}', but there is no such file",
            expected=f"{', '.join(Ready)}, {Ready.SENTENCES}:N or a file",
        )
    return of_file(path.name, read_limited(path, MAX_BYTES)), None


def of_text(text: str) -> Inventory:
    """A typed list, one word or sentence a line.

    Raises:
        InputError: no query, too many, or one that is too long or has control characters.
    """
    return _inventory("the list", _lines("the list", text), "a list of my own")


def of_file(name: str, data: bytes) -> Inventory:
    """A file: ``.csv`` and ``.tsv`` have a header and a column word, query or text, and may have the columns
    part_of_speech, concreteness and category; anything else has one query a line.

    Raises:
        InputError: what is wrong with it, naming the line.
    """
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{name} has {len(data) / 2**20:,.1f} MB", expected=f"at most {MAX_BYTES // 2**20} MB of queries"
        )
    text = decoded(name, data)
    separators = {".tsv": "\t", ".csv": ",;\t"}.get(PurePath(name).suffix.lower(), "")
    if not separators:
        return _inventory(name, _lines(name, text), name)
    header = text.partition("\n")[0]
    separator = next((s for s in separators if s in header), separators[0])
    return _inventory(name, _table(name, text, separator), name)


def _lines(name: str, text: str) -> Iterator[Query]:
    lines = enumerate(text.removeprefix("\ufeff").splitlines(), 1)
    return (Query(_text(f"{name}, line {number}", line)) for number, line in lines if line.strip())


def _table(name: str, text: str, separator: str) -> Iterator[Query]:
    numbered = csv_rows(name, io.StringIO(text, newline=""), separator)
    rows = (row for row in numbered if any(cell.strip() for cell in row[1]))
    _, header = next(rows, (1, []))
    names = [cell.strip().casefold().replace(" ", "_") for cell in header]
    column = next((name for name in TEXT_NAMES if name in names), "")
    if not column:
        raise InputError(
            f"{name} has no column of queries: {', '.join(n[:40] for n in names) or 'it is empty'}",
            expected=f"a first line with a column {', '.join(TEXT_NAMES[:-1])} or {TEXT_NAMES[-1]}",
        )
    for number, cells in rows:
        where = f"{name}, line {number}"
        if len(cells) != len(names):
            raise InputError(f"{where}: {len(cells)} cell(s)", expected=f"{len(names)}, as in the first line")
        cell = dict(zip(names, cells, strict=True))
        part_of_speech, concreteness = (_one_of(where, of, cell.get(of, "")) for of in _KNOWN)
        category = _text(where, cell.get("category", ""), LONGEST_CATEGORY, needed=False)
        yield Query(_text(where, cell[column]), part_of_speech, concreteness, category)


def _text(where: str, text: str, longest: int = LONGEST, needed: bool = True) -> str:
    cleaned = one_form(" ".join(text.split()))
    if needed and not cleaned:
        raise InputError(f"{where}: there is no query", expected="a word or a sentence")
    if len(cleaned) > longest:
        raise InputError(f"{where}: '{cleaned[:30]}…' has {len(cleaned):,} characters", expected=f"at most {longest:,}")
    if any(unicodedata.category(c) in {"Cc", "Cs"} or c in TURNS for c in cleaned):
        raise InputError(f"{where}: a control character", expected="text that can be shown")
    return cleaned


def _one_of(where: str, column: str, cell: str) -> str:
    values, key = _KNOWN[column], cell.strip().casefold()
    if key and key not in values:
        names = ", ".join(dict.fromkeys(values.values()))
        raise InputError(f"{where}: {column} is '{key[:30]}'", expected=f"{names} or nothing")
    return values.get(key, "")


def _inventory(name: str, listed: Iterable[Query], title: str) -> Inventory:
    """The distinct queries."""
    queries: dict[str, Query] = {}
    count = 0
    for count, query in enumerate(listed, 1):
        if count > MAX_ROWS:
            raise InputError(f"{name} has more than {MAX_ROWS:,} queries", remedy="take a part of it")
        queries.setdefault(same_text(query.text), query)
    if not queries:
        raise InputError(f"{name} has no queries", expected="a word or a sentence a line")
    about = f"{counted(len(queries), 'query', 'queries')} of {title}."
    if repeated := count - len(queries):
        about += f" {repeated:,} more were repetitions and are left out."
    return Inventory("own", title, tuple(queries.values()), about)
