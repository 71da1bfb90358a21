"""Ways out of a hosted demo that a stranger may try; each must end with a message and leave nothing behind.

They are listed by where they are tried: at the functions that the pages call, at the store, over HTTP at a running
server, and in the pages themselves (``tests/ui/test_demo_pages.py``; in a browser ``tests/browser``).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import tomllib
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from blindspot import policy
from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.fetch import FetchRequest
from blindspot.datasets.user_data import files as own
from blindspot.errors import BlindspotError, InputError
from blindspot.jobs import visitors
from blindspot.jobs.queue import JobQueue
from blindspot.jobs.visitors import Visitor
from blindspot.runs import encoders_here as encoder_library
from blindspot.runs import requesting, sweeps
from blindspot.runs.requests import EncodeRequest, Repetition, RunRequest
from blindspot.runs.sweeps import Sweep
from blindspot.server import headers as hosting
from blindspot.settings import ROOT, Mode, Settings
from blindspot.space.neighbors import free_text
from blindspot.studies.judgments import making, own_queries
from blindspot.studies.judgments.making import ItemsRequest
from blindspot.studies.judgments.types import Task
from blindspot.variants import Variant
from tests.support.demo_host import PAIRS, SECRET, UPGRADE, Answer, Server, World, asked, keep, until
from tests.support.tables import each

MINILM = Variant("minilm", "none")


def run(dataset: str, encoder: str = "minilm", **params: str) -> RunRequest:
    return RunRequest("evalrank", Variant(encoder, "none"), DatasetRef(dataset), tuple(params.items()))


@dataclass(frozen=True)
class Way:
    """Something that is tried, and a part of the message that it ends with."""

    name: str
    attempt: Callable[[World], object]
    says: str


def with_rows(count: int) -> bytes:
    return b"query,match\n" + b"".join(f"a{i},b{i}\n".encode() for i in range(count))


def of_columns(count: int) -> bytes:
    return ",".join(f"c{i}" for i in range(count)).encode() + b"\n" + b"x," * (count - 1) + b"x\n"


CATALOG, FILES = "encoder of the catalog", "files cannot be named"
WAYS = [
    # model references
    Way("a folder of the host as encoder", lambda w: asked(w, f"dir:{w.secret.parent}"), CATALOG),
    Way("a model of the hub", lambda w: asked(w, "hf:elsewhere/model"), CATALOG),
    Way("a table of the host as encoder", lambda w: asked(w, f"table:{w.secret}"), CATALOG),
    Way("vectors by a climbing path", lambda w: asked(w, "vectors:../../../../etc/passwd"), CATALOG),
    Way("whether a file is there, asked by a parameter", lambda w: asked(w, "vectors:~root/.bashrc?x=1"), CATALOG),
    Way("an encoder typed on the page Run", lambda w: sweeps.expand(sweep(encoder="dir:/"), w.settings), CATALOG),
    Way("an encoder added to the library", lambda w: encoder_library.add("dir:/", w.settings, w.repository), "added"),
    Way(
        "an encoder uploaded",
        lambda w: encoder_library.add_upload([("v.txt", b"a 1 2\n")], w.settings, w.repository),
        "added",
    ),
    Way("an encoder removed", lambda w: encoder_library.remove("minilm", w.settings, w.repository), "removed"),
    Way(
        "an encoder for items of raters",
        lambda w: making.check(items(w, encoder="table:/etc/passwd"), w.settings),
        CATALOG,
    ),
    Way("an encoder slipped into the queue", lambda w: w.queue.submit("x", [run("demo-pairs", "dir:/")]), CATALOG),
    Way(
        "encoding slipped into the queue",
        lambda w: w.queue.submit("x", [EncodeRequest("hf:a/b", DatasetRef("ws353"))]),
        CATALOG,
    ),
    # paths and other visitors' texts
    Way("a file of the host as dataset", lambda w: asked(w, dataset=f"file:{w.secret}"), FILES),
    Way("a file by a climbing path", lambda w: asked(w, dataset="file:../../etc/passwd"), FILES),
    Way(
        "a file of the host whose named columns climb to the visitor's uploads",
        lambda w: asked(w, dataset=f"file:{w.secret}?query=a&match=b{'/..' * 20}{w.upload.path}"),
        FILES,
    ),
    Way("a file to fit a transform on", lambda w: asked(w, fit_on=f"file:{w.secret}"), FILES),
    Way("a file named by a sweep", lambda w: sweeps.expand(sweeps.read_toml(w.sweep), w.settings), FILES),
    Way(
        "a file slipped into the queue",
        lambda w: w.queue.submit("x", [run(f"file:{w.secret}")], w.me.name, w.me.place),
        FILES,
    ),
    Way(
        "a file to fit on slipped into the queue",
        lambda w: w.queue.submit("x", [run("demo-pairs", fit_on=f"file:{w.secret}")]),
        FILES,
    ),
    Way("a download of a file", lambda w: w.queue.submit("x", [FetchRequest(DatasetRef(f"file:{w.secret}"))]), FILES),
    Way("items made of a file", lambda w: making.check(items(w, dataset=f"file:{w.secret}"), w.settings), FILES),
    Way("a file that was found, loaded", lambda w: fetch.load(find_dataset(f"file:{w.secret}"), w.settings), FILES),
    Way("another visitor's upload", lambda w: asked(w, dataset=w.upload.reference), FILES),
    Way(
        "another visitor's upload, from one's own place",
        lambda w: requesting.request("evalrank", "minilm", "none", w.upload.reference, {}, w.me.place.settings),
        FILES,
    ),
    Way(
        "another visitor's upload, by climbing out of one's own folder",
        lambda w: w.queue.submit("x", [run(climbing(w))], w.me.name, w.me.place),
        FILES,
    ),
    Way("another visitor's upload, removed", lambda w: uploads.remove(w.upload, w.me.place.settings), "no upload"),
    Way("an upload that all would see", lambda w: keep(PAIRS, shared(w)), "all visitors see"),
    Way("data downloaded from outside", lambda w: fetch.load(find_dataset("ws353"), w.settings), "downloads nothing"),
    # too much
    Way("an upload of too many bytes", lambda w: keep(b"query,match\n" + b"a,b\n" * 600_000, w.me), "bytes"),
    Way("an upload of too many rows", lambda w: keep(with_rows(2_001), w.me), "2,001 rows"),
    Way("an upload with a long cell", lambda w: keep(b"query,match\na," + b"x" * 2_001, w.me), "in one cell"),
    Way("an upload of many columns", lambda w: keep(of_columns(51), w.me), "51 columns"),
    Way("an upload that unpacks", lambda w: keep(b"PAR1", w.me, "bomb.parquet"), "not accepted here"),
    Way("too many uploads", lambda w: [keep(PAIRS + b"%d,x\n" % i, w.me) for i in range(9)], "at most 5"),
    Way("a long text to be placed", lambda w: free_text.place("a " * 2_000, (), w.settings), "4,000 characters"),
    Way("more work than one visitor may ask for", lambda w: flood(w, 1), "each visitor"),
    Way("more work than all may ask for", lambda w: flood(w, 20), "queue is full"),
    # what all share
    Way("a stored run computed again", lambda w: w.queue.submit("x", [Repetition("r", run("demo-pairs"))]), "again"),
    Way("queries of one's own, for all raters", lambda w: making.check(own_items(w), w.settings), "visitor's own"),
    Way("a title of one's own, for all raters", lambda w: making.check(titled(w), w.settings), "visitor's own"),
    Way(
        "items of an upload, for all raters",
        lambda w: w.queue.submit("x", [items(w, dataset=w.upload.reference)], w.other.name, w.other.place),
        "not made of uploads",
    ),
]


def sweep(encoder: str) -> Sweep:
    return Sweep(("minilm", encoder), ("none",), ("demo-pairs",), ("evalrank",))


def items(w: World, encoder: str = "minilm", dataset: str = "demo-words") -> ItemsRequest:
    return ItemsRequest(Task.INTRUDER, (Variant(encoder, "none"),), DatasetRef(dataset))


def own_items(w: World) -> ItemsRequest:
    return replace(items(w), inventory=own_queries.of_text("insult\nslander"))


def titled(w: World) -> ItemsRequest:
    return replace(items(w), title="buy this")


def shared(w: World) -> Visitor:
    return Visitor("", replace(w.me.place, settings=w.settings), w.queue)


def climbing(w: World) -> str:
    inside = w.me.place.settings.uploads / "x" / ".." / ".." / ".." / w.other.name / "uploads"
    return f"{own.PREFIX}{inside / w.upload.path.parent.name / w.upload.path.name}"


def flood(w: World, visitors_: int) -> None:
    """So many visitors ask for ten runs each while the worker is held up; all of it is cancelled at the end."""
    with held_queue(w) as (queue, _):
        for visitor in range(visitors_):
            for number in range(20 if visitors_ == 1 else 10):
                queue.submit("x", [run("demo-pairs", seed=f"{visitor}-{number}")], f"visitor-{visitor}")


@contextmanager
def held_queue(w: World) -> Iterator[tuple[JobQueue, threading.Event]]:
    """A queue whose first job lasts until the end, and what says that it has begun."""
    held, begun = threading.Event(), threading.Event()

    def hold(*_: object) -> str:
        begun.set()
        held.wait(120)
        return ""

    queue = JobQueue(w.settings, w.repository)
    queue._do = hold  # type: ignore[method-assign]  # what runs does not matter here, only that something does
    try:
        yield queue, begun
    finally:
        held.set()
        queue.close()


@pytest.mark.hostile
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_a_way_out_ends_with_a_message_and_leaves_nothing(way: Way, world: World) -> None:
    before = world.files()
    kept = [path for path in before if world.me.name in path]
    with pytest.raises(BlindspotError, match=way.says) as refused:
        way.attempt(world)
    said = str(refused.value)
    assert SECRET not in said
    assert "Traceback" not in said
    after = {path: content for path, content in world.files().items() if world.me.name not in path or path in kept}
    assert after == before
    assert world.queue.jobs() == []
    assert not world.settings.store.exists() or world.repository.runs() == []


def test_there_are_at_least_forty_ways() -> None:
    assert len(WAYS) >= 40
    assert len({way.name for way in WAYS}) == len(WAYS)


# --- what is allowed


@pytest.mark.heavy
def test_what_is_computed_of_an_upload_is_the_visitors_and_goes_with_them(world: World) -> None:
    visitor = visitors.begin(world.settings, world.queue)
    upload = keep(PAIRS + b"a third,the third\n", visitor)
    place = visitor.place
    request = requesting.request("evalrank", "random-projection", "none", upload.reference, {}, place.settings)
    world.queue.submit("mine", [request], visitor.name, place)
    until(lambda: not world.queue.active())
    (job,) = world.queue.jobs()
    assert (job.state, job.error, job.is_private) == ("done", "", True)
    assert [r.plan.dataset for r in place.repository.runs()] == [upload.reference]
    assert not world.settings.store.exists() or world.repository.runs() == []
    assert not world.settings.embeddings.exists(), "its embeddings are among everybody's"
    home = place.settings.home
    assert home.is_dir()
    visitors.end(visitor)
    assert not home.exists()


def test_only_who_asked_may_cancel_and_the_last_of_them_does(world: World) -> None:
    with held_queue(world) as (queue, begun):
        queue.submit("first", [run("demo-pairs")], "a")
        assert begun.wait(120)
        waiting = queue.submit("second", [run("demo-words")], "a")
        last = queue.submit("third", [run("ws353")], "a")
        assert queue.submit("second", [run("demo-words")], "b") == waiting
        queue.move(last, -1)
        assert [job.job_id for job in queue.active()][1:] == [waiting, last], "a visitor moved it"
        queue.cancel(waiting, "c")
        assert state(queue, waiting) == "queued"
        queue.cancel(waiting, "a")
        assert state(queue, waiting) == "queued", "somebody else still wants it"
        queue.leave("b")
        assert state(queue, waiting) == "cancelled"
        queue.leave("a")
        assert state(queue, last) == "cancelled"


def test_visitors_take_turns_in_the_queue_and_the_first_job_has_a_place(world: World) -> None:
    with held_queue(world) as (queue, begun):
        queue.submit("runs", [run("demo-pairs", seed="0")], "greedy")
        assert begun.wait(120)
        for number in range(1, 4):
            queue.submit(f"greedy {number}", [run("demo-pairs", seed=f"{number}")], "greedy")
        for name in ("b", "c"):
            queue.submit(name, [run("demo-pairs", seed=name)], name)
        queue.submit("b again", [run("demo-pairs", seed="b again")], "b")
        order = [job.title for job in queue.active()]
        assert order == ["runs", "greedy 1", "b", "c", "greedy 2", "b again", "greedy 3"]
        full = policy.DEMO.queued_in_all or 0
        for visitor in range((full - len(order)) // 10 + 1):
            tasks = min(10, full - sum(len(job.tasks) for job in queue.active()))
            queue.submit("more", [run("demo-pairs", seed=f"{visitor}-{task}") for task in range(tasks)], f"v{visitor}")
        for owner, tasks in (("b", 1), ("new", 2)):
            with pytest.raises(InputError, match="queue is full"):
                queue.submit("x", [run("demo-pairs", seed=f"x{task}") for task in range(tasks)], owner)
        queue.submit("the first of a visitor", [run("demo-pairs", seed="first")], "new")


def test_an_unexpected_error_is_not_told_to_strangers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError(SECRET)

    queue = JobQueue(world.settings, world.repository)
    monkeypatch.setattr(queue, "_do", fail)
    queue.submit("x", [run("demo-pairs")])
    until(lambda: not queue.active())
    (job,) = queue.jobs()
    assert job.error.startswith("unexpected; the server's log")
    assert SECRET not in job.error
    queue.close()


def test_a_demo_takes_from_the_mirror_that_its_host_named(world: World, tmp_path: Path) -> None:
    with_mirror = replace(world.settings, mirror=str(tmp_path))
    with pytest.raises(BlindspotError, match="the mirror has no"):  # it looked there
        fetch.load(find_dataset("ws353"), with_mirror)


@pytest.mark.process
def test_what_killed_servers_left_of_visitors_is_cleared(tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path, mirror="", device="cpu", mode=Mode.DEMO)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    alive = os.getppid()
    for name in (f"{dead.pid}-{'a' * 32}", f"{os.getpid()}-{'b' * 32}", f"{alive}-{'c' * 32}"):
        (settings.sessions / name).mkdir(parents=True)
    visitors.clear_left_over(settings)
    assert [path.name for path in settings.sessions.iterdir()] == [f"{alive}-{'c' * 32}"]


def state(queue: JobQueue, job_id: int) -> str:
    return next(str(job.state) for job in queue.jobs() if job.job_id == job_id)


def test_a_machine_of_ones_own_has_no_such_limits(settings: Settings) -> None:
    assert policy.of(settings) is policy.LOCAL
    policy.check_encoder("dir:/", settings)
    policy.check_dataset("file:/etc/passwd", settings)
    policy.LOCAL.uploads.check_table(10**6, 10**3, 10**6)


# --- the store


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT content FROM read_text('{secret}')",
        "SELECT * FROM glob('/etc/*')",
        "ATTACH '{folder}/new.duckdb' AS other",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "EXPORT DATABASE '{folder}/out'",
        "INSTALL httpfs",
        "LOAD '{folder}/evil.duckdb_extension'",
        "SELECT * FROM read_parquet('https://elsewhere.invalid/x.parquet')",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SELECT * FROM in_python",
    ],
)
def test_no_statement_reaches_past_the_store(statement: str, world: World) -> None:
    in_python = duckdb.sql("SELECT 1 AS one").to_arrow_table()  # noqa: F841 - found by its name, if it is
    text = statement.format(secret=world.secret, folder=world.secret.parent)
    before = world.files()
    for repository in (world.repository, world.other.place.repository):
        with pytest.raises(duckdb.Error), repository.database.cursor() as cursor:
            cursor.execute(text).fetchall()
    assert world.files() == before


# --- over HTTP


@pytest.mark.process
@pytest.mark.server
@pytest.mark.parametrize(
    ("ask", "status"),
    [
        (lambda s: s.ask("/", Host="elsewhere.invalid"), 400),
        (lambda s: s.ask("/", Host="demo.example.org.elsewhere.invalid"), 400),
        (lambda s: s.ask("/", Host="evil-demo.example.org"), 400),
        (lambda s: s.ask("/_stcore/stream", **UPGRADE, Host="elsewhere.invalid"), 400),
        (lambda s: s.ask("/_stcore/stream", **UPGRADE, Origin="https://elsewhere.invalid"), 403),
        (lambda s: s.ask("/_stcore/stream", **UPGRADE, Origin="null"), 403),
        (lambda s: s.ask("/_stcore/metrics"), 404),
        (lambda s: s.ask("/_stcore/agent/openapi.json"), 404),
        (lambda s: s.ask("/_stcore/agent/mcp", "POST", b"{}"), 404),
        (lambda s: s.ask("/_stcore/upload_file/a/b", "PUT", Content_Length=str(3 * 2**20)), 413),
        (lambda s: s.ask("/_stcore/upload_file/a/b", "PUT", Transfer_Encoding="chunked"), 411),
        (lambda s: s.ask("/_stcore/upload_file/a/b", "PUT", b"x"), 403),  # no token of a page of ours
        (lambda s: s.ask("/_stcore/health", "POST", Content_Length=str(2**30)), 413),
    ],
)
def test_a_request_is_refused(ask: Callable[[Server], Answer], status: int, server: Server) -> None:
    answer = ask(server)
    assert answer.status == status, answer
    assert len(answer.body) < 200
    assert "Traceback" not in answer.body


@pytest.mark.process
@pytest.mark.server
@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/static/../../../../../../etc/passwd",
        "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/media/..%2f..%2f..%2fetc%2fpasswd",
        "/component/x/../../../../etc/passwd",
        "/app/static/../app.py",
        "/pages/../core/settings.py",
        "/cache/results.duckdb",
        "//elsewhere.invalid/%2e%2e",
    ],
)
def test_no_path_of_the_server_is_a_path_of_its_disk(path: str, server: Server) -> None:
    """Some are answered with the page, as any address is, which then says that there is no such page."""
    answer = server.ask(path)
    assert "root:" not in answer.body
    assert "blindspot.settings" not in answer.body
    assert "elsewhere.invalid" not in answer.headers.get("location", "")
    if answer.status == 200:
        assert "<title>Streamlit</title>" in answer.body


@pytest.mark.process
@pytest.mark.server
def test_every_answer_has_the_headers(server: Server) -> None:
    for host in ("demo.example.org", "a.demo.example.org", "DEMO.example.org:443", f"127.0.0.1:{server.port}"):
        answer = server.ask("/evalrank", Host=host)
        assert answer.status == 200, host
        content = answer.headers["content-security-policy"]
        assert "default-src 'none'" in content
        assert "frame-ancestors 'none'" in content
        assert "unsafe-inline" not in content.partition("script-src")[2].partition(";")[0]
        assert "http" not in content.replace("https:", "http:")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert "content-security-policy" in server.ask("/", Host="elsewhere.invalid").headers
    assert "content-security-policy" in server.ask("/_stcore/metrics").headers
    assert json.loads(server.ask("/_stcore/host-config").body)["enforceDownloadInNewTab"] is False


@pytest.mark.process
@pytest.mark.server
def test_a_page_names_the_large_scripts_that_it_will_load(server: Server) -> None:
    """All that the browser is to fetch is there; other answers name none."""
    for address in ("/", "/evalrank"):
        named = server.ask(address).headers["link"].split(", ")
        assert all(one.endswith("; rel=modulepreload; fetchpriority=low") for one in named)
        scripts = [one.partition(">")[0].removeprefix("<") for one in named]
        assert scripts[0].startswith("static/js/PlotlyChart.")
        assert any("/DataFrame." in script for script in scripts)
        assert len(set(scripts)) == len(scripts)
        assert {server.ask(f"/{script}").status for script in scripts} == {200}
        page = server.ask(address)
        assert not [script for script in scripts if script in page.body], "the page has links of its own"
        assert sum(len(name) + len(value) + 4 for name, value in page.headers.items()) < 3_500, "what proxies take"
    assert "link" not in server.ask("/_stcore/health").headers
    assert "link" not in server.ask(f"/{scripts[0]}").headers


# --- more than there is room for


def page_of(server: Server, **options: Any) -> ClientConnection:
    """An open page that has said nothing yet."""
    address = f"ws://127.0.0.1:{server.port}/_stcore/stream"
    return connect(address, subprotocols=["streamlit"], max_size=None, **options)  # type: ignore[list-item]


@pytest.mark.process
@pytest.mark.server
def test_so_many_pages_and_no_more(server: Server) -> None:
    most = policy.DEMO.pages_in_all or 0
    with ExitStack() as stack:
        for _ in range(most):
            stack.enter_context(page_of(server))
        assert server.ask("/").status == 200, "what is open keeps others from the front end"
        with pytest.raises(InvalidStatus) as refused, page_of(server):
            pass
        assert refused.value.response.status_code == 503
    until(lambda: can_open(server))


def can_open(server: Server) -> bool:
    try:
        with page_of(server):
            return True
    except InvalidStatus:
        return False


@pytest.mark.process
@pytest.mark.server
@pytest.mark.parametrize("megabytes", [5, 40])
def test_a_page_that_says_too_much_at_once_is_closed(megabytes: int, server: Server) -> None:
    with page_of(server) as page:
        with suppress(ConnectionClosed):
            page.send(b"\0" * (megabytes * 2**20))
        with pytest.raises(ConnectionClosed):
            page.recv(60)
    assert server.ask("/").status == 200


@pytest.mark.process
@pytest.mark.server
def test_messages_that_unpack_are_not_taken(server: Server) -> None:
    """Two hundred megabytes would arrive as 200 kB; the server offers no compression, and reads none."""
    with page_of(server, compression="deflate") as page:
        assert page.response is not None
        assert "sec-websocket-extensions" not in page.response.headers
        packed = zlib.compress(b"\0" * (200 * 2**20))
        header = bytes([0b1100_0010, 0x80 | 127]) + len(packed).to_bytes(8, "big")  # the bit that says "compressed"
        page.socket.sendall(header + b"\0\0\0\0" + packed)  # a mask of zeros changes nothing
        with pytest.raises(ConnectionClosed):
            page.recv(60)
    assert server.ask("/").status == 200


@pytest.mark.process
@pytest.mark.server
def test_files_in_forms_are_bounded_by_page(server: Server) -> None:
    """A page is asked for nothing: its address for files is in what the server says first."""
    token = server.ask("/_stcore/health").headers["set-cookie"].partition(";")[0].partition("=")[2]
    with page_of(server) as page:
        start = BackMsg()
        start.rerun_script.query_string = ""
        page.send(start.SerializeToString())
        said = ForwardMsg()
        while said.WhichOneof("type") != "new_session":
            said.ParseFromString(bytes(page.recv(60)))  # type: ignore[arg-type]
        address = f"/_stcore/upload_file/{said.new_session.initialize.session_id}"
        sent = form(b"x" * (2 * 2**20))
        headers = {"Cookie": f"_streamlit_xsrf={token}", "X_Xsrftoken": token, "Content_Type": FORM_TYPE}
        statuses = [server.ask(f"{address}/{number}", "PUT", sent, **headers).status for number in range(10)]
    assert policy.DEMO.uploads_kept is not None
    fit = policy.DEMO.uploads_kept[0] // len(sent)
    assert statuses == [204] * fit + [413] * (10 - fit)


FORM_TYPE = "multipart/form-data; boundary=edge"


def form(content: bytes) -> bytes:
    head = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    return head + content + b"\r\n--edge--\r\n"


@each(
    ("kept", "already", "status"),
    [((0, 0), 0, 200), ((0, 256 * 2**20), 0, 503), ((16 * 2**20, 0), 0, 413), ((0, 0), 20, 503)],
)
def test_files_in_forms_are_bounded_in_all(kept: tuple[int, int], already: int, status: int) -> None:
    said: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            said.append(message["status"])

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    demo = hosting.Demo(app, may=policy.DEMO, kept=lambda _page: kept)
    demo._open = [("other", 9)] * already
    path = "/_stcore/upload_file/a/b"
    asyncio.run(
        demo({"type": "http", "method": "PUT", "path": path, "headers": [(b"content-length", b"9")]}, receive, send)
    )
    assert said == [status]
    assert len(demo._open) == already, "a place is given back"


@each("value", ["http://a.org", "a.org:443", "a b", "*", "a.*", "/etc"])
def test_hosts_are_names(value: str) -> None:
    with pytest.raises(InputError, match="BLINDSPOT_HOSTS"):
        Settings.from_environment({"BLINDSPOT_HOSTS": value})
    assert Settings.from_environment({"BLINDSPOT_HOSTS": "A.org, *.b.org,"}).hosts == ("a.org", "*.b.org")


@pytest.mark.heavy
def test_streamlit_is_set_up_for_strangers() -> None:
    """No telemetry, no question to a server outside at the start, no traceback on screen, no interface for programs."""
    found = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert found["browser"] == {"gatherUsageStats": False, "serverAddress": "localhost"}
    assert found["client"]["showErrorDetails"] == "none"
    assert found["server"]["enableCORS"] is True
    assert found["server"]["enableXsrfProtection"] is True
    assert not found["server"].keys() & {"enableAgentApi", "enableStaticServing", "trustedUserHeaders"}
