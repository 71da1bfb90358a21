"""More that a stranger may try on a hosted demo, beyond ``test_demo_mode.py``: none gets out, and none gets in.

Each attempt has a name. It must end with a message in words, leave nothing behind and show nothing of the host.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from blindspot.datasets import uploads
from blindspot.datasets.user_data import files as own
from blindspot.diagnostics.evalrank import what_if
from blindspot.errors import BlindspotError, InputError
from blindspot.files import tables as own_files
from blindspot.runs import sweeps
from blindspot.runs.sweeps import Sweep
from blindspot.studies.judgments import bundles
from blindspot.studies.judgments.store import Judgments
from blindspot.transforms.chain import TransformChain
from tests.support.bundle_files import described, members, sample, zipped
from tests.support.demo_host import SECRET, UPGRADE, Server, World, asked, keep


@dataclass(frozen=True)
class Attempt:
    name: str
    do: Callable[[World], object]


def encoder(name: str, reference: str) -> Attempt:
    return Attempt(f"encoder: {name}", lambda w: asked(w, reference.replace("HOST", str(w.secret.parent))))


def dataset(name: str, reference: str) -> Attempt:
    def attempt(w: World) -> object:
        places = {"HOST": w.secret.parent, "OTHER": w.other.place.settings.home, "MINE": w.me.place.settings.uploads}
        named = reference
        for word, folder in places.items():
            named = named.replace(word, str(folder))
        return asked(w, dataset=named)

    return Attempt(f"dataset: {name}", attempt)


def chain(name: str, text: str) -> Attempt:
    return Attempt(f"transform: {name}", lambda w: what_if.policy.check_transform(parsed(text), w.settings))


def parsed(text: str) -> str:
    return str(TransformChain.parse(text))


def upload(name: str, file: str, content: bytes) -> Attempt:
    return Attempt(f"upload: {name}", lambda w: keep(content, w.me, file))


def imported(name: str, make: Callable[[], bytes]) -> Attempt:
    return Attempt(f"import: {name}", lambda w: bundles.take_in(make(), Judgments(w.repository.database)))


DIAGNOSTICS = ("evalrank", "similarity")
PAIRS = b"query,match\na,b\nc,d\n"


def filled(contents: dict[str, bytes]) -> bytes:
    """A set as it is exported, with some members put in or replaced."""
    return zipped(members(sample()) | contents)


def claims_a_trillion_rows() -> bytes:
    """A Parquet file whose footer promises 10^12 rows; Thrift writes 2 rows as the single byte 4 after its field."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(pa.table({"query": ["a", "b"], "match": ["c", "d"]}), sink, store_schema=False)
    data = sink.getvalue()
    length = int.from_bytes(data[-8:-4], "little")
    footer, number, varint = data[-8 - length : -8], 2 * 10**12, b""
    while number >= 128:
        varint, number = varint + bytes([number & 127 | 128]), number >> 7
    varint += bytes([number])
    at = footer.rindex(b"\x16\x04\x19", 0, footer.index(b"\x19", footer.index(b"match")) + 1)
    changed = footer[: at + 1] + varint + footer[at + 2 :]
    return data[: -8 - length] + changed + len(changed).to_bytes(4, "little") + b"PAR1"


ATTEMPTS = [
    encoder("the folder that it runs in", "dir:."),
    encoder("somebody's home", "dir:~root"),
    encoder("the root by /proc", "dir:/proc/self/root"),
    encoder("the file of the secret", "dir:HOST/secret.csv"),
    encoder("the environment", "table:/proc/self/environ"),
    encoder("an endless file", "vectors:/dev/zero"),
    encoder("the server's own input", "vectors:/dev/stdin"),
    encoder("a share of another machine", "table:\\\\elsewhere\\share\\x.npy"),
    encoder("an address", "http://elsewhere.invalid/model"),
    encoder("a model at a revision", "hf:org/name@main"),
    encoder("a climbing name on the hub", "hf:../../etc"),
    encoder("a dataset as encoder", "file:/etc/passwd"),
    encoder("capitals", "DIR:/etc"),
    encoder("a blank in front", " dir:/etc"),
    encoder("wide letters", "\uff44\uff49\uff52\uff1a/etc"),
    encoder("a climbing name", "../minilm"),
    encoder("a zero byte", "minilm\0"),
    encoder("a line end", "minilm\ndir:/etc"),
    encoder("five thousand letters", "x" * 5_000),
    encoder("parameters of a model", "minilm?trust_remote_code=true"),
    dataset("the environment", "file:/proc/self/environ"),
    dataset("an endless file", "file:/dev/zero"),
    dataset("an address of a file", "file://localhost/etc/passwd"),
    dataset("a key in a home", "file:~/.ssh/id_rsa"),
    dataset("the folder that it runs in", "file:."),
    dataset("nothing", "file:"),
    dataset("a zero byte", "file:/etc/passwd\0.csv"),
    dataset("escaped by percent", "file:%2fetc%2fpasswd"),
    dataset("the store", "file:HOST/cache/results.duckdb"),
    dataset("the key of the pseudonyms", "file:HOST/cache/pseudonyms.key"),
    dataset("the log of jobs", "file:HOST/cache/logs/jobs.jsonl"),
    dataset("another visitor's store", "file:OTHER/results.duckdb"),
    dataset("another visitor's folder", "file:OTHER/uploads"),
    dataset("the folder of one's own uploads", "file:MINE"),
    dataset("up from one's own uploads", "file:MINE/../../../../secret.csv"),
    dataset("a name that begins like one's own folder", "file:MINE-and-more/x.csv"),
    dataset("capitals", "FILE:/etc/passwd"),
    dataset("a blank in front", " file:/etc/passwd"),
    dataset("a climbing name", "demo-pairs/../../secret.csv"),
    dataset("a line end", "ws353\nfile:/etc/passwd"),
    dataset("a name of Windows", "file:C:\\Windows\\win.ini"),
    dataset("an address", "https://elsewhere.invalid/x.csv"),
    chain("8,192 dimensions, twenty times", "+".join(["random-project:8192"] * 20)),
    chain("8,192 dimensions", "random-project:8192"),
    chain("five steps", "center+zscore+normalize+center+zscore"),
    chain("a thousand steps", "+".join(["center"] * 1_000)),
    chain("a million plus signs", "+" * 1_000_000),
    chain("a negative number", "abtt:-1"),
    chain("a number with an exponent", "pca:1e9"),
    chain("a number of thirty digits", "pca:" + "9" * 30),
    chain("Arabic digits", "pca:\u0663"),
    chain("a command", "center;id"),
    chain("a name of Python", "__import__"),
    chain("none, thirty times", "+".join(["none"] * 30)),
    Attempt(
        "sweep: a thousand chains for every dataset",
        lambda w: sweeps.expand(
            Sweep(("minilm",), tuple(f"pca:{n}" for n in range(1, 1_002)), ("demo-pairs", "ws353"), DIAGNOSTICS),
            w.settings,
        ),
    ),
    upload("a Parquet file that promises 10^12 rows", "a.parquet", claims_a_trillion_rows()),
    upload("JSON a million levels deep", "a.jsonl", b"[" * 1_000_000 + b"\n"),
    upload("objects 300,000 levels deep", "a.jsonl", b'{"a":' * 300_000 + b"1" + b"}" * 300_000),
    upload("a number of two million digits", "a.jsonl", b'{"query":"a","match":' + b"9" * 2_000_000 + b"}\n"),
    upload("an object of 150,000 names", "a.jsonl", b"{" + b",".join(b'"%x":1' % i for i in range(150_000)) + b"}\n"),
    upload("a header of a million columns", "a.csv", b"a," * 999_999 + b"b\n1\n"),
    upload("a name of a column that is a book", "a.csv", b"q" * 100_000 + b",match\na,b\n"),
    upload("a quote that never ends", "a.csv", b'query,match\n"' + b"x\n" * 900_000),
    upload("an image named .csv", "a.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 1_000),
    upload("a font named .csv", "a.tsv", b"\0\1\0\0\0\x0c\0\x80\0\3\0\x40" + bytes(range(256)) * 1_000),
    upload("an archive named .csv", "a.csv", b"PK\x03\x04" + bytes(1_000)),
    upload("UTF-16 named .csv", "a.csv", "query,match\na,b\n".encode("utf-16")),
    upload("a zero byte", "a.csv", b"query,match\na\0,b\nc,d\n"),
    upload("a program", "a.csv.exe", PAIRS),
    upload("no ending", "pairs", PAIRS),
    upload("an ending alone", ".csv", PAIRS),
    upload("a page", "a.html", b"<script>alert(1)</script>"),
    upload("a drawing with a script", "a.svg", b"<svg onload='alert(1)'/>"),
    upload("packed", "a.csv.gz", PAIRS),
    upload("writing turned around", "harmless\u202evsc.exe", PAIRS),
    upload("a name of 5,000 characters", "n" * 5_000 + ".exe", PAIRS),
    imported("an archive of 10,000 members", lambda: filled({f"{i}.csv": b"" for i in range(10_000)})),
    imported("an archive in an archive", lambda: filled({"items.csv": filled({})})),
    imported("a member that climbs", lambda: filled({"../../items.csv": b""})),
    imported("an absolute member", lambda: filled({"/etc/cron.d/x": b""})),
    imported("a member that unpacks to gigabytes", lambda: filled({"votes.csv": b"0" * (80 * 2**20)})),
    imported("deep JSON", lambda: filled({"set.json": b"[" * 200_000})),
    imported("another set's name", lambda: described(set_id="0" * 16)),
    imported("a time before all times", lambda: described(created_at="-9999-01-01T00:00:00Z")),
    imported("a title of a megabyte", lambda: described(title="x" * 2**20)),
    imported("variants of another shape", lambda: described(variants={"a": 1})),
    imported("a script instead of a zip", lambda: b"#!/bin/sh\nid\n"),
]


@pytest.mark.hostile
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_an_attempt_ends_with_a_message_and_leaves_nothing(attempt: Attempt, world: World) -> None:
    before = world.files()
    with pytest.raises(BlindspotError) as refused:
        attempt.do(world)
    said = str(refused.value)
    assert SECRET not in said
    assert "Traceback" not in said
    assert str(world.settings.cache) not in said or attempt.name.startswith("dataset"), "a path of the server"
    assert len(said) < 3_000
    assert "\u202e" not in said
    assert "\n" not in said
    assert world.files() == before
    assert world.queue.jobs() == []
    assert Judgments(world.repository.database).sets() == []


@pytest.mark.hostile
def test_a_promise_of_a_trillion_rows_is_refused_at_home_too() -> None:
    """A demo takes no Parquet; nothing is read, or reserved, for what the footer says."""
    from pyarrow import BufferReader, parquet

    data = claims_a_trillion_rows()
    assert parquet.ParquetFile(BufferReader(data)).metadata.num_rows == 10**12
    with pytest.raises(InputError, match="1,000,000,000,000 rows"):
        own_files.tabulate(Path("a.parquet"), data)


# --- over HTTP


@dataclass(frozen=True)
class Request:
    name: str
    ask: Callable[[Server], object]
    statuses: frozenset[int]


def request(name: str, ask: Callable[[Server], object], *statuses: int) -> Request:
    return Request(name, ask, frozenset(statuses))


def host(name: str, value: str) -> Request:
    return request(f"host: {name}", lambda s: s.ask("/", Host=value), 400)


def origin(name: str, value: str) -> Request:
    return request(f"origin: {name}", lambda s: s.ask("/_stcore/stream", **UPGRADE, Origin=value), 403)


def path(name: str, value: str, *statuses: int) -> Request:
    return request(f"path: {name}", lambda s: s.ask(value), *(statuses or (404,)))


def length(name: str, value: str, *statuses: int) -> Request:
    return request(
        f"length: {name}", lambda s: s.ask("/_stcore/upload_file/a/b", "PUT", Content_Length=value), *statuses
    )


REQUESTS = [
    host("a user in front", "demo.example.org@elsewhere.invalid"),
    host("an address", "http://demo.example.org"),
    host("a list", "demo.example.org, elsewhere.invalid"),
    host("a path", "elsewhere.invalid/demo.example.org"),
    host("the machine by number", "2130706433"),
    host("a wildcard", "*.demo.example.org.invalid"),
    origin("a longer name", "http://127.0.0.1.elsewhere.invalid"),
    origin("the name as a fragment", "https://elsewhere.invalid#127.0.0.1"),
    origin("a file", "file://"),
    origin("an extension", "chrome-extension://abc"),
    path("figures of memory", "/_stcore/metrics/"),
    path("figures, escaped", "/_stcore/%6detrics"),
    path("the interface for programs", "/_stcore/agent"),
    path("what it offers", "/_stcore/agent/openapi.json?x=1"),
    path("a media file that is not there", "/media/" + "0" * 64 + ".csv", 404),
    path("a component that is not there", "/component/../../app.py", 200, 400, 404),
    path("another page's uploads", "/_stcore/upload_file/a/b", 200, 405),
    length("negative", "-1", 400, 413),
    length("signed", "+5", 400, 413),
    length("with an exponent", "1e3", 400, 413),
    length("hexadecimal", "0x10", 400, 413),
    length("of thirty digits", "9" * 30, 400, 413),
    request("method: TRACE", lambda s: s.ask("/", "TRACE"), 405, 501),
    request("method: DELETE of a page", lambda s: s.ask("/", "DELETE"), 405),
    request("method: an invented one", lambda s: s.ask("/", "STEAL"), 405, 501),
    request("upload: removed without a token", lambda s: s.ask("/_stcore/upload_file/a/b", "DELETE"), 403),
]


@pytest.mark.hostile
@pytest.mark.process
@pytest.mark.server
@pytest.mark.parametrize("tried", REQUESTS, ids=lambda tried: tried.name)
def test_a_request_gets_nothing(tried: Request, server: Server) -> None:
    answer = tried.ask(server)
    assert answer.status in tried.statuses, answer  # type: ignore[attr-defined]
    body = answer.body  # type: ignore[attr-defined]
    assert "root:" not in body
    assert "import streamlit" not in body
    assert "Traceback" not in body


@pytest.mark.hostile
def test_there_are_a_hundred_attempts_beyond_those_of_the_first_round() -> None:
    names = [attempt.name for attempt in ATTEMPTS] + [tried.name for tried in REQUESTS]
    assert len(set(names)) == len(names)
    assert len(names) >= 100


# --- what is taken is taken under a name that does no harm


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("gnp\u202ecsv.\u2066pairs.csv", "gnpcsv.pairs.csv"),
        ("..\\..\\pairs.csv", "pairs.csv"),
        ("a\x00b\n.csv", "ab.csv"),
        ("n" * 5_000 + ".csv", "n" * 50 + "…" + "n" * 16 + ".csv"),
    ],
)
def test_a_file_s_name_is_shown_without_what_cannot_be_seen(sent: str, shown: str, world: World) -> None:
    assert uploads.shown_name(sent) == shown
    read = uploads.tabulate(sent, PAIRS, True, world.me.place.settings)
    assert str(read.table.path) == shown
    kept = own.PREFIX + uploads.safe_name(sent)
    assert kept.isprintable()
    assert len(kept) < 120
