"""A set of items with its votes as one file, to move to another machine, and as tables for analysis.

The file is a zip of ``set.json`` (about the set), ``items.csv`` or ``items.parquet`` (a row per item and option) and
``votes.csv`` or ``votes.parquet``. A file is not trusted: the set's id, a digest of everything but the title and the
time, is computed again, so that a damaged or edited file is refused as a whole. Facilitators' keys are not in it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import struct
import threading
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from io import BytesIO
from itertools import groupby
from pathlib import Path
from tempfile import mkstemp
from typing import Any, NoReturn
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from blindspot.errors import DataCorrupt, InputError
from blindspot.files import typed_tables
from blindspot.files.tables import MAX_CELL
from blindspot.files.typed_tables import Cell, Column, Kind, TableFormat
from blindspot.files.writing import cannot_write, make_folder
from blindspot.studies.judgments.raters import nickname, pseudonym, rater_key
from blindspot.studies.judgments.store import Judgments, Merged
from blindspot.studies.judgments.types import DIGITS, NOT_ASKED, Item, ItemSet, Query, Task, Vote
from blindspot.variants import Variant

VERSION = 1  # of the file
MOST_BYTES = 32 * 2**20  # of the file
MOST_BYTES_OF_SET = 4 * 2**20
MOST_OPTIONS = 100_000  # rows of the items
MOST_VOTES = 500_000
MOST_VARIANTS = 200
LONGEST_TITLE = 300
LONGEST_SESSION = 100
SET = "set.json"
SECRET_BYTES = 32
_SECRETS = threading.Lock()
_ENTRY = b"PK\x01\x02"  # begins an entry of a zip's directory
_MOST_ENTRIES = 20
_WANTED = f"{SET} with items and votes as .csv or .parquet"
_AGAIN = "the file was damaged or edited: export it again where it comes from"
_wrong = partial(InputError, remedy=_AGAIN)
# What set.json must hold: the type in Python and in JSON, and the most characters of a string.
_FIELDS = {
    "task": (str, "string", LONGEST_TITLE),
    "title": (str, "string", LONGEST_TITLE),
    "variants": (list, "array", 0),
    "manifest": (dict, "object", 0),
    "created_at": (str, "string", LONGEST_TITLE),
    "set_id": (str, "string", DIGITS),
}


class Part(StrEnum):
    """The tables of a set."""

    ITEMS = "items"
    VOTES = "votes"


_COLUMNS = {
    Part.ITEMS: (
        Column("item_no", Kind.COUNT),
        Column("query"),
        Column("part_of_speech"),
        Column("concreteness"),
        Column("category"),
        Column("band"),
        Column("k", Kind.COUNT, optional=True),
        Column("option_no", Kind.COUNT),
        Column("option"),
        Column("own"),  # the variants that gave this option, joined by |
    ),
    Part.VOTES: (
        Column("session"),
        Column("rater"),
        Column("item_no", Kind.COUNT),
        Column("option_no", Kind.COUNT, optional=True),  # empty for "I don't know these words"
        Column("option"),
        Column("seconds", Kind.SECONDS, optional=True),
        Column("voted_at", Kind.TIME),
    ),
}


@dataclass(frozen=True)
class Bundle:
    """A set of items with votes on it."""

    items: ItemSet
    votes: tuple[Vote, ...]


# --- writing


def collect(
    judgments: Judgments,
    set_id: str,
    without: Collection[str] = (),
    named: Callable[[Vote], str] = lambda vote: vote.rater,
) -> Bundle:
    """A stored set with its votes.

    Args:
        without: sessions to leave out, with their votes.
        named: gives a vote's rater the name in the file.

    Raises:
        InputError: there is no such set (any more).
    """
    items = judgments.find_set(set_id)
    if items is None:
        raise InputError(f"there is no set of items '{set_id}'", remedy="it may have been removed meanwhile")
    votes = judgments.votes(set_id, without=without)
    return Bundle(items, tuple(replace(vote, rater=named(vote)) for vote in votes))


def under_pseudonyms(secret: bytes, set_id: str, but_in: Collection[str] = ()) -> Callable[[Vote], str]:
    """For ``collect``: pseudonyms instead of nicknames, except in some sessions."""
    return lambda vote: vote.rater if vote.session in but_in else pseudonym(secret, set_id, vote.rater)


def secret_in(folder: Path) -> bytes:
    """The key of a server's pseudonyms, created when first needed: a rater has the same pseudonym in every file.

    Raises:
        BlindspotError: it cannot be written, or the file has no key.
    """
    path = folder / "pseudonyms.key"
    with _SECRETS:
        if not path.exists():
            try:
                make_folder(folder)
                number, temporary = mkstemp(dir=folder, prefix=".", suffix=".tmp")  # readable by its owner only
                with os.fdopen(number, "wb") as file:
                    file.write(secrets.token_bytes(SECRET_BYTES))
                Path(temporary).replace(path)
            except OSError as error:
                raise cannot_write(path, error) from error
    secret = path.read_bytes()
    if len(secret) != SECRET_BYTES:
        raise DataCorrupt(f"{path} is no secret", remedy="delete it: another one is made, and pseudonyms change")
    return secret


def table(bundle: Bundle, part: Part, form: TableFormat) -> bytes:
    """The content of a file with the items or the votes."""
    rows = _item_rows(bundle.items) if part is Part.ITEMS else _vote_rows(bundle)
    return typed_tables.write(rows, _COLUMNS[part], form)


def pack(bundle: Bundle, form: TableFormat) -> bytes:
    """The content of the zip; equal bundles give equal bytes."""
    items = bundle.items
    described = {
        "version": VERSION,
        "set_id": items.set_id,
        "task": items.task.value,
        "title": items.title,
        "variants": [str(variant) for variant in items.variants],
        "manifest": dict(items.manifest),
        "created_at": items.created_at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
    members = {SET: json.dumps(described, ensure_ascii=False, indent=2).encode("utf-8")}
    members |= {f"{part}.{form}": table(bundle, part, form) for part in Part}
    sink = BytesIO()
    with ZipFile(sink, "w", ZIP_DEFLATED) as file:
        for name, content in members.items():
            entry = ZipInfo(name)  # dated 1980, so that the time of writing does not change the bytes
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            file.writestr(entry, content)
    return sink.getvalue()


def _item_rows(items: ItemSet) -> Iterator[tuple[Cell, ...]]:
    names = [_escaped(str(variant)) for variant in items.variants]
    for item in items.items:
        query = item.query
        about = (query.text, query.part_of_speech, query.concreteness, query.category, item.band, item.k)
        for number, option in enumerate(item.options):
            variants_of_option = "|".join(name for name, of in zip(names, item.own, strict=True) if of == number)
            yield (item.item_no, *about, number, option, variants_of_option)


def _vote_rows(bundle: Bundle) -> Iterator[tuple[Cell, ...]]:
    for vote in bundle.votes:
        option = "" if vote.option is None else bundle.items.items[vote.item_no].options[vote.option]
        yield (vote.session, vote.rater, vote.item_no, vote.option, option, vote.seconds, vote.voted_at)


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("|", "\\|")


# --- reading


def unpack(data: bytes) -> Bundle:
    """The bundle in a file that ``pack`` made.

    Raises:
        InputError: the file is no such zip, or something in it is wrong; the message is one line.
    """
    members = _members(data)
    described = _described(members[SET])
    rows: dict[Part, list[list[Cell]]] = {}
    for part, most in ((Part.ITEMS, MOST_OPTIONS), (Part.VOTES, MOST_VOTES)):
        name = next(name for name in members if name.startswith(f"{part}."))
        form = TableFormat(name.rpartition(".")[2])
        rows[part] = typed_tables.read(members[name], _COLUMNS[part], form, name, most)
    if described["task"] not in list(Task):
        _refuse(described, "task", f"one of {', '.join(Task)}")
    variants = _variants(described["variants"])
    items = ItemSet(
        Task(described["task"]),
        described["title"],
        variants,
        tuple(_items(rows[Part.ITEMS], variants)),
        described["manifest"],
        _time(described),
    )
    if items.set_id != described["set_id"]:
        raise _wrong(f"the items are not those of the set '{described['set_id']}' that {SET} names")
    return Bundle(items, tuple(_votes(rows[Part.VOTES], items)))


def take_in(data: bytes, judgments: Judgments) -> tuple[Bundle, Merged]:
    """Read a file as a whole, then store what is new; nothing is stored if ``unpack`` raises ``InputError``."""
    bundle = unpack(data)
    return bundle, judgments.merge(bundle.items, bundle.votes)


def _members(data: bytes) -> dict[str, bytes]:
    """The contents by name; refuses what is too large or not expected."""
    if len(data) > MOST_BYTES:
        raise InputError(f"the file has {len(data):,} bytes", expected=f"at most {MOST_BYTES:,}")
    # Counted in the bytes: zipfile would make an object for each of a million entries.
    if data.count(_ENTRY) > _MOST_ENTRIES:
        raise InputError("the zip has very many files", expected=_WANTED)
    try:
        with ZipFile(BytesIO(data)) as file:
            _check_names([entry.filename for entry in file.infolist()])
            return {entry.filename: _content(file, entry) for entry in file.infolist()}
    except (BadZipFile, EOFError, OSError, ValueError, RuntimeError, struct.error, zlib.error) as error:
        # RuntimeError: a member with a password, or with an unknown compression
        why = " ".join(str(error).split())[:200]
        raise InputError(f"the file is no zip, or a broken one: {why}", expected=f"a zip of {_WANTED}") from error


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not re.fullmatch(r"set\.json|(items|votes)\.(csv|parquet)", name):
            raise InputError(f"the zip has {name[:60]!a}", expected=f"nothing but {_WANTED}")
    for what in ("set", *Part):
        matching = [name for name in names if name.partition(".")[0] == what]
        if len(matching) != 1:
            raise InputError(f"the zip has {len(matching) or 'no'} files of '{what}'", expected=_WANTED)


def _content(file: ZipFile, entry: ZipInfo) -> bytes:
    name = entry.filename
    if stat.S_ISLNK(entry.external_attr >> 16):  # harmless here, but nobody makes one by accident
        raise InputError(f"{name} is a link", expected="a plain zip", remedy="pack it again")
    if entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:  # others may need gigabytes to unpack a byte
        raise InputError(f"{name} is packed in an unusual way", expected="a plain zip", remedy="pack it again")
    most = MOST_BYTES_OF_SET if name == SET else typed_tables.MOST_BYTES
    with file.open(entry) as member:
        content = member.read(most + 1)  # the size in the directory may be a lie
    if len(content) > most:
        raise InputError(f"{name} unpacks to more than {most:,} bytes", expected="no more than that")
    return content


# --- set.json


def _described(data: bytes) -> dict[str, Any]:
    """The content of set.json, with all of ``_FIELDS``."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_object)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # "\ud800" is JSON, but no text
    except (ValueError, RecursionError) as error:
        raise _wrong(f"{SET} is broken: {str(error)[:200]}") from error
    if not isinstance(value, dict):
        raise _wrong(f"{SET} has no object")
    version = value.get("version")
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"the file has the version {str(version)[:20]}",
            expected=str(VERSION),
            remedy="a newer Blindspot wrote it: update this one",
        )
    for name, (kind, in_json, longest) in _FIELDS.items():
        if not isinstance(value.get(name), kind):
            _refuse(value, name, f"a JSON {in_json}")
        if longest and (length := len(value[name])) > longest:
            raise InputError(f"the '{name}' in {SET} has {length:,} characters", expected=f"at most {longest}")
    return value


def _refuse(described: dict[str, Any], name: str, expected: str) -> NoReturn:
    value = described.get(name)
    value_text = "nothing" if value is None else f"{str(value)[:40]!r}"
    raise _wrong(f"{SET} says {value_text} for '{name}'", expected=expected)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(members)
    if len(out) < len(members):
        raise ValueError("a name is there twice")
    return out


def _variants(names: list[Any]) -> tuple[Variant, ...]:
    texts = [name for name in names if isinstance(name, str) and len(name) <= MAX_CELL]
    variants = tuple(dict.fromkeys(Variant.parse(text) for text in texts))
    if [str(variant) for variant in variants] != names or not 1 <= len(names) <= MOST_VARIANTS:
        raise _wrong(
            f"the variants in {SET} are not as they must be",
            expected=f"1 to {MOST_VARIANTS} different ones, each as encoder{Variant.SEPARATOR}transform",
        )
    return variants


def _time(described: dict[str, Any]) -> datetime:
    try:
        moment = datetime.fromisoformat(described["created_at"])
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass  # refused like a time without a zone
    _refuse(described, "created_at", Kind.TIME)


# --- the tables


def _items(rows: Sequence[Sequence[Any]], variants: Sequence[Variant]) -> Iterator[Item]:
    places = {_escaped(str(variant)): number for number, variant in enumerate(variants)}
    for number, (item_no, of_item) in enumerate(groupby(rows, key=lambda row: row[0])):
        lines = list(of_item)
        if item_no != number:
            raise _wrong(f"item {item_no} is where item {number} belongs")
        if len({tuple(line[:7]) for line in lines}) > 1:
            raise _wrong(f"the rows of item {item_no} differ in more than the option")
        if [line[7] for line in lines] != list(range(len(lines))):
            raise _wrong(f"the options of item {item_no} are not numbered 0, 1, 2, ...")
        if len(lines) < 2 or len({line[8] for line in lines}) < len(lines):
            raise _wrong(f"item {item_no} has one option, or one of them twice")
        options = [NOT_ASKED] * len(variants)
        for option_no, names in enumerate(line[9] for line in lines):
            for name in re.findall(r"(?:[^|\\]|\\.)+", names, re.DOTALL):
                variant_number = places.get(name)
                if variant_number is None or options[variant_number] != NOT_ASKED:
                    problem = "is unknown" if variant_number is None else "has two options of its own"
                    raise _wrong(f"item {item_no}: the variant '{name[:60]}' {problem}")
                options[variant_number] = option_no
        _, text, part_of_speech, concreteness, category, band, k = lines[0][:7]
        query = Query(text, part_of_speech, concreteness, category)
        yield Item(number, query, band, k, tuple(line[8] for line in lines), tuple(options))


def _votes(rows: Sequence[Sequence[Any]], items: ItemSet) -> Iterator[Vote]:
    seen: set[tuple[str, str, int]] = set()
    for session, rater, item_no, option_no, option, seconds, voted_at in rows:
        if item_no >= len(items.items):
            raise _wrong(f"a vote is on item {item_no}", expected=f"0 to {len(items.items) - 1}")
        options = items.items[item_no].options
        if option_no is not None and option_no >= len(options):
            raise _wrong(
                f"a vote on item {item_no} is for option {option_no}", expected=f"0 to {len(options) - 1}, or nothing"
            )
        if option != ("" if option_no is None else options[option_no]):
            raise _wrong(f"a vote on item {item_no} is for '{option[:40]}', which is not its option {option_no}")
        if nickname(rater) != rater:
            raise InputError(f"the nickname '{rater[:40]}' has spaces or letters in a form that is not kept")
        if len(session) > LONGEST_SESSION or any(unicodedata.category(c) == "Cc" for c in session):
            raise _wrong(f"there is no session by the name {session[:40]!r}")
        key = (session, rater_key(rater), item_no)
        if key in seen:
            raise _wrong(f"two votes of '{rater}' on item {item_no}", expected="one")
        seen.add(key)
        yield Vote(session, rater, item_no, option_no, seconds, voted_at)
