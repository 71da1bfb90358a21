"""A user's own list of queries: typed, or a text, CSV or TSV file."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from core.errors import InputError
from core.studies.judgement.inventories import Inventory
from core.studies.judgement.types import Query
from core.texts import one_form, same_text

MAX_ROWS = 10_000
MAX_BYTES = 4 * 2**20
LONGEST = 500  # characters of a query
LONGEST_ABOUT = 60  # of what is said of it
TYPES = ("txt", "csv", "tsv")
TEXT_NAMES = ("word", "query", "text")  # of the column of the queries; the first that is there
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # the direction of whatever stands beside a word
_PARTS_OF_SPEECH = {
    short: name
    for name, shorts in {
        "adjective": "adjective adj a",
        "adverb": "adverb adv r",
        "noun": "noun n",
        "verb": "verb v",
    }.items()
    for short in shorts.split()
}
_CONCRETENESS = ("abstract", "concrete")


@dataclass(frozen=True)
class OwnQueries:
    """What was read.

    Attributes:
        queries: distinct, but for capitals.
        repeated: how many more stood there.
    """

    queries: tuple[Query, ...]
    repeated: int


def of_text(text: str, name: str = "the list") -> OwnQueries:
    """One word or sentence a line.

    Raises:
        InputError: none, too many, or one that is too long or cannot be shown.
    """
    lines = ((number, line) for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1))
    return _distinct(name, ((number, Query(_text(name, number, line))) for number, line in lines if line.strip()))


def of_file(name: str, data: bytes) -> OwnQueries:
    """A file: ``.csv`` and ``.tsv`` have a header and a column word, query or text, and may have the columns
    part_of_speech, concreteness and category; anything else has one query a line.

    Raises:
        InputError: what is wrong with it, naming the line.
    """
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{name} has {len(data) / 2**20:,.1f} MB", expected=f"at most {MAX_BYTES // 2**20} MB of queries"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 (byte {error.start})", remedy="save it as UTF-8") from error
    ending = PurePath(name).suffix.lower()
    if ending not in {".csv", ".tsv"}:
        return of_text(text, name)
    separators = "\t" if ending == ".tsv" else ",;\t"
    header = text.partition("\n")[0]
    separator = next((s for s in separators if s in header), separators[0])
    return _distinct(name, _table(name, text, separator))


def _table(name: str, text: str, separator: str) -> Iterator[tuple[int, Query]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = _rows(name, reader)
    _, header = next(rows, (1, []))
    names = [cell.strip().casefold().replace(" ", "_") for cell in header]
    column = next((names.index(n) for n in TEXT_NAMES if n in names), None)
    if column is None:
        raise InputError(
            f"{name} has no column of queries: {', '.join(n[:40] for n in names) or 'it is empty'}",
            expected=f"a first line with a column {', '.join(TEXT_NAMES[:-1])} or {TEXT_NAMES[-1]}",
        )
    for number, cells in rows:
        if len(cells) != len(names):
            raise InputError(
                f"{name}, line {number}: {len(cells)} cell(s)", expected=f"{len(names)}, as in the first line"
            )
        cell = dict(zip(names, cells, strict=True))
        yield (
            number,
            Query(
                _text(name, number, cells[column]),
                _part_of_speech(name, number, cell.get("part_of_speech", "")),
                _concreteness(name, number, cell.get("concreteness", "")),
                _text(name, number, cell.get("category", ""), LONGEST_ABOUT, needed=False),
            ),
        )


def _rows(name: str, reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Rows that have something in them, with the number of the line on which each begins."""
    number = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield number, cells
            number = getattr(reader, "line_num", number) + 1
    except csv.Error as error:
        raise InputError(
            f"{name}, the row that begins in line {number}: {error}",
            expected='cells that hold a separator or a quote in double quotes, quotes in them doubled ("")',
        ) from error


def _text(name: str, line: int, text: str, longest: int = LONGEST, needed: bool = True) -> str:
    found = one_form(" ".join(text.split()))
    if needed and not found:
        raise InputError(f"{name}, line {line}: there is no query", expected="a word or a sentence")
    if len(found) > longest:
        raise InputError(
            f"{name}, line {line}: '{found[:30]}…' has {len(found):,} characters", expected=f"at most {longest:,}"
        )
    if any(unicodedata.category(c) in {"Cc", "Cs"} or c in TURNS for c in found):
        raise InputError(f"{name}, line {line}: a control character", expected="text that can be shown")
    return found


def _part_of_speech(name: str, line: int, text: str) -> str:
    key = text.strip().casefold()
    if key and key not in _PARTS_OF_SPEECH:
        raise InputError(
            f"{name}, line {line}: part_of_speech is '{key[:30]}'", expected="adjective, adverb, noun, verb or nothing"
        )
    return _PARTS_OF_SPEECH.get(key, "")


def _concreteness(name: str, line: int, text: str) -> str:
    key = text.strip().casefold()
    if key and key not in _CONCRETENESS:
        raise InputError(f"{name}, line {line}: concreteness is '{key[:30]}'", expected="abstract, concrete or nothing")
    return key


def _distinct(name: str, rows: Iterator[tuple[int, Query]]) -> OwnQueries:
    queries: dict[str, Query] = {}
    repeated = 0
    for count, (_, query) in enumerate(rows, 1):
        if count > MAX_ROWS:
            raise InputError(f"{name} has more than {MAX_ROWS:,} queries", remedy="take a part of it")
        key = same_text(query.text)
        repeated += key in queries
        queries.setdefault(key, query)
    if not queries:
        raise InputError(f"{name} has no queries", expected="a word or a sentence a line")
    return OwnQueries(tuple(queries.values()), repeated)


def inventory(found: OwnQueries, source: str) -> Inventory:
    """A user's queries as an inventory; ``source`` is what they call it."""
    count = len(found.queries)
    about = f"{count:,} {'query' if count == 1 else 'queries'} of {source}."
    if found.repeated:
        about += f" {found.repeated:,} more were repetitions and are left out."
    return Inventory("own", source, found.queries, about)
