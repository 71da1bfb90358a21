"""A set with its votes as a file: the round trip is exact, what is here is not doubled, and nothing wrong gets in."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from blindspot.errors import InputError
from blindspot.files.typed_tables import TableFormat
from blindspot.studies.judgments import bundles
from blindspot.studies.judgments.bundles import Bundle, Part
from blindspot.studies.judgments.store import Judgments, Merged
from blindspot.studies.judgments.types import NOT_ASKED, Ballot, Item, ItemSet, Query, Task, Vote
from blindspot.variants import Variant
from tests.support.bundle_files import SAMPLE, described, edited, members, sample, swapped, zipped
from tests.support.judgment_samples import MADE_AT, comparative_set, intruder_set
from tests.support.tables import each

# --- there and back

FORMULAS = ["=1+1", "@x", "-2", "'=1"]
ODD = ["", "None", "nan", "a,b", 'say "a"', "two\nlines\r\n", "\u202eright\u200f", "\ufeff", "|", "\\"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(FORMULAS + ODD)
TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
VALUES = TEXTS | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.none()
NAMES = st.sampled_from(["Anna", "Ben", "Zoë", "=Carl", "-D", "李", "'Eve"])


@st.composite
def made_bundles(draw: st.DrawFn) -> Bundle:
    variants = draw(st.lists(st.builds(Variant, TEXTS, st.just("none")), min_size=1, max_size=3, unique=True))
    items = []
    for number in range(draw(st.integers(1, 3))):
        options = draw(st.lists(TEXTS, min_size=2, max_size=4, unique=True))
        own = draw(st.tuples(*[st.integers(NOT_ASKED, len(options) - 1)] * len(variants)))
        query = draw(st.builds(Query, TEXTS, TEXTS, TEXTS, TEXTS))
        items.append(Item(number, query, draw(TEXTS), draw(st.none() | st.integers(1, 50)), tuple(options), own))
    task, title, manifest = draw(st.tuples(st.sampled_from(Task), TEXTS, st.dictionaries(TEXTS, VALUES)))
    made = ItemSet(task, title, tuple(variants), tuple(items), manifest, draw(TIMES))
    keys = st.tuples(st.sampled_from(["", "group", "=1"]), NAMES, st.sampled_from(made.items))
    cast = []
    for session, rater, item in draw(st.lists(keys, unique=True, max_size=4)):
        option = draw(st.none() | st.integers(0, len(item.options) - 1))
        cast.append(Vote(session, rater, item.item_no, option, draw(st.none() | st.floats(0, 1e6)), draw(TIMES)))
    return Bundle(made, tuple(cast))


@pytest.mark.heavy
@pytest.mark.parametrize("form", TableFormat)
@settings(max_examples=60, deadline=None)
@given(bundle=made_bundles())
def test_a_file_holds_exactly_what_was_put_in(form: TableFormat, bundle: Bundle) -> None:
    found = bundles.unpack(bundles.pack(bundle, form))
    assert found == bundle
    assert found.items.set_id == bundle.items.set_id


def test_pseudonyms_tell_raters_apart_and_nothing_else(store: Judgments, tmp_path: Path) -> None:
    made, other = intruder_set(), comparative_set()
    for items in (made, other):
        store.add_set(items)
        store.vote(Ballot(items.set_id, "", "Anna"), 0, 0, 1.5)
    store.vote(Ballot(made.set_id, "group", "ANNA"), 1, 0, 1.5)
    store.vote(Ballot(made.set_id, "mine", "Ben"), 1, 0, 1.5)
    secret = bundles.secret_in(tmp_path)
    assert bundles.secret_in(tmp_path) == secret
    assert (tmp_path / "pseudonyms.key").stat().st_mode & 0o077 == 0, "others on the machine can read it"

    def raters(set_id: str, key: bytes = secret) -> list[str]:
        named = bundles.under_pseudonyms(key, set_id, but_in=["mine"])
        bundle = bundles.unpack(bundles.pack(bundles.collect(store, set_id, named=named), TableFormat.CSV))
        return [vote.rater for vote in bundle.votes]

    alone, group, mine = raters(made.set_id)
    assert alone == group, "capitals make no other rater, nor does a session"
    assert mine == "Ben"
    assert raters(made.set_id) == [alone, group, mine], "from file to file"
    assert raters(other.set_id) != [alone], "another set tells nothing"
    assert raters(made.set_id, b"other" * 8)[0] != alone, "whoever guesses the nickname could check it"


@pytest.mark.parametrize("form", TableFormat)
@pytest.mark.parametrize("made", [intruder_set(), comparative_set()], ids=lambda made: made.task.value)
def test_from_one_machine_to_another(store: Judgments, tmp_path: Path, made: ItemSet, form: TableFormat) -> None:
    store.add_set(made)
    store.add_session("group", {made.task: made.set_id}, "the facilitator's key")
    for session, rater, option in (("", "Anna", 0), ("group", "Ben", None), ("group", "=1+1", 1)):
        store.vote(Ballot(made.set_id, session, rater), 0, option, 1.5)
    data = bundles.pack(bundles.collect(store, made.set_id), form)
    with store.database.cursor() as cursor:
        ((kept,),) = cursor.execute("SELECT key_digest FROM judgment_session").fetchall()
    assert not any(kept.encode() in content or b"facilitator" in content for content in members(data).values())

    other = Judgments.at(tmp_path / "other.duckdb")
    assert bundles.take_in(data, other)[1] == Merged(True, 3, 0, 0)
    assert other.find_set(made.set_id) == made
    assert other.votes(made.set_id) == store.votes(made.set_id)
    assert other.sessions() == [], "a session stays where its facilitator is"
    assert bundles.take_in(data, other)[1] == Merged(False, 0, 3, 0)
    other.vote(Ballot(made.set_id, "", "Cleo"), 0, None)
    store.undo(Ballot(made.set_id, "", "Anna"))
    store.vote(Ballot(made.set_id, "", "anna"), 0, 2)
    again = bundles.pack(bundles.collect(store, made.set_id), form)
    assert bundles.take_in(again, other)[1] == Merged(False, 0, 2, 1)
    assert len(other.votes(made.set_id)) == 4
    once, again = (bundles.pack(bundles.collect(other, made.set_id), form) for _ in range(2))
    assert once == again
    other.database.close()


def test_votes_of_a_session_can_be_left_out(store: Judgments) -> None:
    store.merge(SAMPLE.items, SAMPLE.votes)
    assert bundles.collect(store, SAMPLE.items.set_id).votes == SAMPLE.votes[:1] + SAMPLE.votes[3:] + SAMPLE.votes[1:3]
    left = bundles.collect(store, SAMPLE.items.set_id, ["reading group"])
    assert {vote.session for vote in left.votes} == {""}
    with pytest.raises(InputError, match="there is no set of items 'gone'"):
        bundles.collect(store, "gone")


def test_the_tables_as_a_reader_sees_them() -> None:
    items = bundles.table(SAMPLE, Part.ITEMS, TableFormat.CSV).decode().split("\r\n")
    assert items[:4] == [
        "item_no,query,part_of_speech,concreteness,category,band,k,option_no,option,own",
        "0,query0,noun,concrete,category 0,rare,1,0,a0at1,minilm~none",
        "0,query0,noun,concrete,category 0,rare,1,1,b0at1,minilm-static~none",
        "0,query0,noun,concrete,category 0,rare,1,2,c0at1,lsa~center",
    ]
    assert items[4] == "1,query0,noun,concrete,category 0,rare,5,0,ab0at5,minilm~none|minilm-static~none"
    cast = bundles.table(SAMPLE, Part.VOTES, TableFormat.CSV).decode().split("\r\n")
    assert cast == [
        "session,rater,item_no,option_no,option,seconds,voted_at",
        ",Anna,0,0,a0at1,2.5,2026-01-02T03:04:05.000000+00:00",
        ",Anna,1,,,2.5,2026-01-02T03:04:06.000000+00:00",
        ",Ben,0,2,c0at1,2.5,2026-01-02T03:04:07.000000+00:00",
        "reading group,Anna,0,1,b0at1,2.5,2026-01-02T03:04:05.000000+00:00",
        "",
    ]
    table = parquet.read_table(pa.BufferReader(bundles.table(SAMPLE, Part.VOTES, TableFormat.PARQUET)))
    assert table.column("voted_at").to_pylist()[0] == MADE_AT
    assert table.column("option_no").to_pylist() == [0, None, 2, 1]


# --- what is wrong


def more(name: str) -> bytes:
    return zipped(members(sample()) | {name: b"{}"})


def twice() -> bytes:
    sink = BytesIO(sample())
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(sink, "a") as file:
        file.writestr("set.json", b"{}")
    return sink.getvalue()


def locked() -> bytes:
    data = bytearray(sample())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1  # its flag says that there is a password
    return bytes(data)


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "the file is no zip, or a broken one: File is not a zip file; expected a zip of set.json"),
    "text": (lambda: b"item_no,query\r\n" * 100, "the file is no zip, or a broken one"),
    "half": (lambda: sample()[:800], "the file is no zip, or a broken one"),
    "password": (locked, "password required"),
    "packing": (lambda: zipped(members(sample()), zipfile.ZIP_LZMA), "unusual way"),
    "no set": (lambda: edited(set=None), "the zip has no files of 'set'; expected set.json with items"),
    "traversal": (lambda: more("../../set.json"), "the zip has '../../set.json'; expected nothing but set.json"),
    "other": (lambda: more("x.py"), "the zip has 'x.py'; expected nothing but"),
    "two tables": (lambda: more("items.parquet"), "the zip has 2 files of 'items'"),
    "twice": (twice, "the zip has 2 files of 'set'"),
    "bomb": (lambda: edited(set=b" " * 5_000_000), "set.json unpacks to more than 4,194,304 bytes"),
    "json": (lambda: edited(set=b"{"), "set.json is broken"),
    "json surrogate": (lambda: described(title="\ud800"), "set.json is broken"),
    "json list": (lambda: edited(set=b"[]"), "set.json has no object"),
    "json twice": (lambda: edited(set=b'{"version": 1, "version": 1}'), "a name is there twice"),
    "version": (lambda: described(version=2), "the file has the version 2; expected 1; a newer Blindspot wrote it"),
    "no version": (lambda: described(version=...), "the file has the version None; expected 1"),
    "task": (lambda: described(task="absolute"), "set.json says 'absolute' for 'task'; expected one of intruder"),
    "title": (lambda: described(title="x" * 301), "the 'title' in set.json has 301 characters; expected at most 300"),
    "no title": (lambda: described(title=...), "set.json says nothing for 'title'; expected a JSON string"),
    "variants": (lambda: described(variants=["a~none", "a~none"]), "the variants in set.json are not as they must be"),
    "no variants": (lambda: described(variants=[]), "the variants in set.json are not as they must be"),
    "variant 3": (lambda: described(variants=[3]), "the variants in set.json are not as they must be"),
    "manifest": (lambda: described(manifest=[]), "set.json says '[]' for 'manifest'; expected a JSON object"),
    "time": (lambda: described(created_at="today"), "set.json says 'today' for 'created_at'; expected a time"),
    "time zone": (lambda: described(created_at="2026-01-02"), "set.json says '2026-01-02' for 'created_at'"),
    "another rule": (lambda: described(manifest={"seed": 8}), "the items are not those of the set"),
    "another task": (lambda: described(task="intruder"), "the items are not those of the set"),
    "edited": (lambda: edited(items=swapped("a0at1", "z0at1")), "the items are not those of the set"),
    "own": (lambda: edited(items=swapped("lsa~center", "")), "the items are not those of the set"),
    "columns": (lambda: edited(items=swapped("query,", "")), "items.csv has the columns item_no, part_of_speech"),
    "item missing": (lambda: edited(items=swapped("0,query0", "7,query0")), "item 7 is where item 0 belongs"),
    "item torn": (lambda: edited(items=swapped("query0", "query9")), "the rows of item 0 differ in more than"),
    "options": (lambda: edited(items=swapped("1,1,b0at1", "1,3,b0at1")), "the options of item 0 are not numbered"),
    "same option": (lambda: edited(items=swapped("b0at1", "a0at1")), "item 0 has one option, or one of them twice"),
    "variant": (lambda: edited(items=swapped("lsa~center", "elmo~none")), "the variant 'elmo~none' is unknown"),
    "own twice": (lambda: edited(items=swapped("lsa~center", "minilm~none")), "has two options of its own"),
    "vote columns": (lambda: edited(votes=swapped("rater,", "name,")), "votes.csv has the columns session, name"),
    "vote item": (lambda: edited(votes=swapped("Ben,0,2,", "Ben,12,2,")), "a vote is on item 12; expected 0 to 11"),
    "vote option": (lambda: edited(votes=swapped("Ben,0,2,", "Ben,0,3,")), "is for option 3; expected 0 to 2"),
    "vote text": (lambda: edited(votes=swapped("Ben,0,2,", "Ben,0,1,")), "for 'c0at1', which is not its option 1"),
    "don't know": (lambda: edited(votes=swapped("Ben,0,2,", "Ben,0,,")), "for 'c0at1', which is not its option"),
    "nickname": (lambda: edited(votes=swapped("Ben", "B" * 500)), "has 500 characters; expected at most 40"),
    "no nickname": (lambda: edited(votes=swapped("Ben", "")), "there is no nickname"),
    "spaces": (lambda: edited(votes=swapped("Ben", " Ben")), "the nickname ' Ben' has spaces"),
    "session": (lambda: edited(votes=swapped("reading group", "r" * 101)), "there is no session by the name"),
}


@each("what", BAD)
def test_a_file_that_is_wrong_is_refused_in_a_line_and_nothing_is_stored(store: Judgments, what: str) -> None:
    make, message = BAD[what]
    with pytest.raises(InputError) as caught:
        bundles.take_in(make(), store)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    assert not store.database.path.exists(), "the store was not even opened"


def test_a_file_that_is_too_large_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MOST_BYTES", 100)
    with pytest.raises(InputError, match=r"the file has [\d,]+ bytes; expected at most 100"):
        bundles.unpack(sample())


@pytest.mark.hostile
@pytest.mark.parametrize("form", TableFormat)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_damage_gets_in(form: TableFormat, data: st.DataObject) -> None:
    """Bytes of the file changed at random: an error of ours, or what was in it before (times of entries, say)."""
    whole = bytearray(bundles.pack(SAMPLE, form))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = bundles.unpack(bytes(whole))
    except InputError:
        return
    assert found == SAMPLE


def test_the_title_is_no_part_of_the_id(store: Judgments) -> None:
    store.merge(SAMPLE.items, SAMPLE.votes)
    renamed = Bundle(replace(SAMPLE.items, title="Renamed"), SAMPLE.votes)
    assert bundles.take_in(bundles.pack(renamed, TableFormat.CSV), store)[1] == Merged(False, 0, 4, 0)
    assert [one.title for one in store.sets()] == ["Four words"]
