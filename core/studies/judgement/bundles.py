"""A set of items with its votes as one file, to take to another machine, and as tables for analysis.

The file is a zip of ``set.json`` (what the set is), ``items.csv`` or ``items.parquet`` (a row per item and option) and
``votes.csv`` or ``votes.parquet``. Nothing of it is believed: the set's id is computed anew from what the file says
(a digest of all of it but the title and the time), so that what is damaged or edited is refused as a whole. No key of a
session's facilitator is in it.
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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from io import BytesIO
from itertools import groupby
from pathlib import Path
from tempfile import mkstemp
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from core.errors import DataCorrupt, InputError
from core.files import typed_tables as plain_tables
from core.files.typed_tables import Cell, Column, Kind, TableFormat
from core.files.writing import cannot_write, make_folder
from core.studies.judgement.raters import nickname, pseudonym, rater_key
from core.studies.judgement.store import Judgements, Merged
from core.studies.judgement.types import DIGITS, NOT_ASKED, Item, ItemSet, Query, Task, Vote
from core.types import Variant

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
_ENTRY = b"PK\x01\x02"  # how an entry of a zip's directory begins
_MOST_ENTRIES = 20
_AGAIN = "the file was damaged or edited: export it again where it comes from"


class Part(StrEnum):
    """The tables of a set."""

    ITEMS = "items"
    VOTES = "votes"


ITEM_COLUMNS = (
    Column("item_no", Kind.COUNT),
    Column("query"),
    Column("part_of_speech"),
    Column("concreteness"),
    Column("category"),
    Column("band"),
    Column("k", Kind.COUNT, optional=True),
    Column("option_no", Kind.COUNT),
    Column("option"),
    Column("own"),  # the variants whose own option it is, joined by |
)
VOTE_COLUMNS = (
    Column("session"),
    Column("rater"),
    Column("item_no", Kind.COUNT),
    Column("option_no", Kind.COUNT, optional=True),  # nothing for "I don't know these words"
    Column("option"),
    Column("seconds", Kind.SECONDS, optional=True),
    Column("voted_at", Kind.TIME),
)


@dataclass(frozen=True)
class Bundle:
    """A set of items with votes on it."""

    items: ItemSet
    votes: tuple[Vote, ...]


# --- writing


def collect(
    judgements: Judgements,
    set_id: str,
    without: Collection[str] = (),
    named: Callable[[Vote], str] = lambda vote: vote.rater,
) -> Bundle:
    """A stored set with its votes.

    Args:
        without: sessions whose votes are left out.
        named: what a vote's rater is called in the file.

    Raises:
        InputError: there is no such set (any more).
    """
    items = judgements.find_set(set_id)
    if items is None:
        raise InputError(f"there is no set of items '{set_id}'", remedy="it may have been removed meanwhile")
    votes = judgements.votes(set_id, without=without)
    return Bundle(items, tuple(replace(vote, rater=named(vote)) for vote in votes))


def under_pseudonyms(secret: bytes, set_id: str, but_in: Collection[str] = ()) -> Callable[[Vote], str]:
    """For ``collect``: pseudonyms in place of nicknames, but for the raters of some sessions."""

    def named(vote: Vote) -> str:
        return vote.rater if vote.session in but_in else pseudonym(secret, set_id, vote.rater)

    return named


def secret_in(folder: Path) -> bytes:
    """What the pseudonyms of a server are made with; written when it is first needed, and kept: a rater then has the
    same one in every file.

    Raises:
        BlindspotError: it cannot be written, or what is there is no secret.
    """
    path = folder / "pseudonyms.key"
    with _SECRETS:
        if not path.exists():
            try:
                make_folder(folder)
                number, temporary = mkstemp(dir=folder, prefix=".", suffix=".tmp")  # for its owner's eyes alone
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
    """The items, or the votes, of a set as the content of a CSV or Parquet file."""
    if part is Part.ITEMS:
        return plain_tables.write(_item_rows(bundle.items), ITEM_COLUMNS, form)
    return plain_tables.write(_vote_rows(bundle), VOTE_COLUMNS, form)


def pack(bundle: Bundle, form: TableFormat) -> bytes:
    """The content of a zip that holds the set and its votes; the same again for the same."""
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
            entry = ZipInfo(name)  # of 1980: when it is written says nothing
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
            own = "|".join(name for name, of in zip(names, item.own, strict=True) if of == number)
            yield (item.item_no, *about, number, option, own)


def _vote_rows(bundle: Bundle) -> Iterator[tuple[Cell, ...]]:
    for vote in bundle.votes:
        option = "" if vote.option is None else bundle.items.items[vote.item_no].options[vote.option]
        yield (vote.session, vote.rater, vote.item_no, vote.option, option, vote.seconds, vote.voted_at)


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("|", "\\|")


# --- reading


def unpack(data: bytes) -> Bundle:
    """What ``pack`` made a file of.

    Raises:
        InputError: it is no such file, or something in it is not as it must be; in one line.
    """
    members = _members(data)
    described = _described(members[SET])
    rows: dict[Part, list[list[Cell]]] = {}
    for part, columns, most in ((Part.ITEMS, ITEM_COLUMNS, MOST_OPTIONS), (Part.VOTES, VOTE_COLUMNS, MOST_VOTES)):
        name = next(name for name in members if name.startswith(f"{part}."))
        form = TableFormat(name.rpartition(".")[2])
        rows[part] = plain_tables.read(members[name], columns, form, name, most)
    variants = _variants(described)
    items = ItemSet(
        task=_task(described),
        title=_text(described, "title", LONGEST_TITLE),
        variants=variants,
        items=tuple(_items(rows[Part.ITEMS], variants)),
        manifest=_of_kind(described, "manifest", dict),
        created_at=_time(described),
    )
    claimed = _text(described, "set_id", DIGITS)
    if items.set_id != claimed:
        raise InputError(f"the items are not those of the set '{claimed}' that {SET} names", remedy=_AGAIN)
    return Bundle(items, tuple(_votes(rows[Part.VOTES], items)))


def take_in(data: bytes, judgements: Judgements) -> tuple[Bundle, Merged]:
    """Read a file wholly, then store what is not here yet.

    Raises:
        InputError: see ``unpack``; nothing is stored then.
    """
    bundle = unpack(data)
    return bundle, judgements.merge(bundle.items, bundle.votes)


def _members(data: bytes) -> dict[str, bytes]:
    """The contents by their names, as many and as large as they may be."""
    wanted = f"{SET} with items and votes as .csv or .parquet"
    if len(data) > MOST_BYTES:
        raise InputError(f"the file has {len(data):,} bytes", expected=f"at most {MOST_BYTES:,}")
    # Counted in the bytes: the zipfile module would make an object of each of a million entries.
    if data.count(_ENTRY) > _MOST_ENTRIES:
        raise InputError("the zip holds very many files", expected=wanted)
    try:
        with ZipFile(BytesIO(data)) as file:
            _check_names([entry.filename for entry in file.infolist()], wanted)
            return {entry.filename: _content(file, entry) for entry in file.infolist()}
    except (BadZipFile, EOFError, OSError, ValueError, RuntimeError, struct.error, zlib.error) as error:
        # RuntimeError: a member with a password, or packed in a way that Python does not know
        why = " ".join(str(error).split())[:200]
        raise InputError(f"the file is no zip, or a broken one: {why}", expected=f"a zip of {wanted}") from error


def _check_names(names: Sequence[str], wanted: str) -> None:
    for name in names:
        if not re.fullmatch(r"set\.json|(items|votes)\.(csv|parquet)", name):
            raise InputError(f"the zip holds {name[:60]!a}", expected=f"nothing but {wanted}")
    for what in ("set", *Part):
        found = [name for name in names if name.partition(".")[0] == what]
        if len(found) != 1:
            raise InputError(f"the zip holds {len(found) or 'no'} files of '{what}'", expected=wanted)


def _content(file: ZipFile, entry: ZipInfo) -> bytes:
    name = entry.filename
    if stat.S_ISLNK(entry.external_attr >> 16):  # nothing is unpacked to a disk; but what made it meant no good
        raise InputError(f"{name} is a link", expected="a plain zip", remedy="pack it again")
    if entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:  # others may ask for gigabytes before a byte is read
        raise InputError(f"{name} is packed in an unusual way", expected="a plain zip", remedy="pack it again")
    most = MOST_BYTES_OF_SET if name == SET else plain_tables.MOST_BYTES
    with file.open(entry) as member:
        content = member.read(most + 1)  # not what the directory says: a bomb says little
    if len(content) > most:
        raise InputError(f"{name} unpacks to more than {most:,} bytes", expected="no more than that")
    return content


# --- set.json


def _described(data: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_object)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # "\ud800" is JSON, and no text
    except (ValueError, RecursionError) as error:
        raise InputError(f"{SET} is broken: {str(error)[:200]}", remedy=_AGAIN) from error
    if not isinstance(value, dict):
        raise InputError(f"{SET} holds no object", remedy=_AGAIN)
    version = value.get("version")
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"the file has the version {str(version)[:20]}",
            expected=str(VERSION),
            remedy="a newer Blindspot wrote it: update this one",
        )
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(members)
    if len(out) < len(members):
        raise ValueError("a name is there twice")
    return out


def _of_kind(described: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    value = described.get(name)
    if not isinstance(value, kind):
        said = "nothing" if value is None else f"{str(value)[:40]!r}"
        raise InputError(f"{SET} says {said} for '{name}'", expected=f"a JSON {_JSON[kind]}", remedy=_AGAIN)
    return value


_JSON: Mapping[type[Any], str] = {str: "string", list: "array", dict: "object"}


def _text(described: Mapping[str, Any], name: str, longest: int) -> str:
    text: str = _of_kind(described, name, str)
    if len(text) > longest:
        raise InputError(f"the '{name}' in {SET} has {len(text):,} characters", expected=f"at most {longest}")
    return text


def _task(described: Mapping[str, Any]) -> Task:
    name = _text(described, "task", LONGEST_TITLE)
    if name not in list(Task):
        raise InputError(f"{SET} says '{name[:40]}' for 'task'", expected=f"one of {', '.join(Task)}", remedy=_AGAIN)
    return Task(name)


def _variants(described: Mapping[str, Any]) -> tuple[Variant, ...]:
    names = _of_kind(described, "variants", list)
    if (
        not 1 <= len(names) <= MOST_VARIANTS
        or len(set(map(str, names))) < len(names)
        or any(
            not isinstance(n, str) or len(n) > plain_tables.LONGEST_CELL or str(Variant.parse(n)) != n for n in names
        )
    ):
        raise InputError(
            f"the variants in {SET} are not as they must be",
            expected=f"1 to {MOST_VARIANTS} different ones, each as encoder{Variant.SEPARATOR}transform",
            remedy=_AGAIN,
        )
    return tuple(Variant.parse(name) for name in names)


def _time(described: Mapping[str, Any]) -> datetime:
    text = _text(described, "created_at", LONGEST_TITLE)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass  # said below, as where there is no zone
    raise InputError(f"{SET} says '{text[:40]}' for 'created_at'", expected=Kind.TIME, remedy=_AGAIN)


# --- the tables


def _items(rows: Sequence[Sequence[Any]], variants: Sequence[Variant]) -> Iterator[Item]:
    places = {_escaped(str(variant)): place for place, variant in enumerate(variants)}
    for number, (item_no, of_item) in enumerate(groupby(rows, key=lambda row: row[0])):
        lines = list(of_item)
        if item_no != number:
            raise InputError(f"item {item_no} stands where item {number} belongs", remedy=_AGAIN)
        if len({tuple(line[:7]) for line in lines}) > 1:
            raise InputError(f"the rows of item {item_no} differ in more than the option", remedy=_AGAIN)
        if [line[7] for line in lines] != list(range(len(lines))):
            raise InputError(f"the options of item {item_no} are not numbered 0, 1, 2, ...", remedy=_AGAIN)
        if len(lines) < 2 or len({line[8] for line in lines}) < len(lines):
            raise InputError(f"item {item_no} has one option, or one of them twice", remedy=_AGAIN)
        own = [NOT_ASKED] * len(variants)
        for option_no, names in enumerate(line[9] for line in lines):
            for name in re.findall(r"(?:[^|\\]|\\.)+", names, re.DOTALL):
                place = places.get(name)
                if place is None or own[place] != NOT_ASKED:
                    said = "is unknown" if place is None else "has two options of its own"
                    raise InputError(f"item {item_no}: the variant '{name[:60]}' {said}", remedy=_AGAIN)
                own[place] = option_no
        _, text, part_of_speech, concreteness, category, band, k = lines[0][:7]
        query = Query(text, part_of_speech, concreteness, category)
        yield Item(number, query, band, k, tuple(line[8] for line in lines), tuple(own))


def _votes(rows: Sequence[Sequence[Any]], items: ItemSet) -> Iterator[Vote]:
    seen: set[tuple[str, str, int]] = set()
    for session, rater, item_no, option_no, option, seconds, voted_at in rows:
        if item_no >= len(items.items):
            raise InputError(f"a vote is on item {item_no}", expected=f"0 to {len(items.items) - 1}", remedy=_AGAIN)
        options = items.items[item_no].options
        if option_no is not None and option_no >= len(options):
            raise InputError(
                f"a vote on item {item_no} is for option {option_no}",
                expected=f"0 to {len(options) - 1}, or nothing",
                remedy=_AGAIN,
            )
        if option != ("" if option_no is None else options[option_no]):
            raise InputError(
                f"a vote on item {item_no} is for '{option[:40]}', which is not its option {option_no}", remedy=_AGAIN
            )
        if nickname(rater) != rater:
            raise InputError(f"the nickname '{rater[:40]}' has spaces or letters in a form that is not kept")
        if len(session) > LONGEST_SESSION or any(unicodedata.category(c) == "Cc" for c in session):
            raise InputError(f"there is no session by the name {session[:40]!r}", remedy=_AGAIN)
        key = (session, rater_key(rater), item_no)
        if key in seen:
            raise InputError(f"two votes of '{rater}' on item {item_no}", expected="one", remedy=_AGAIN)
        seen.add(key)
        yield Vote(session, rater, item_no, option_no, seconds, voted_at)
