"""Files that readers take along: every button of every page, drawn first, pressed after something has changed.

The buttons are found in the source and not listed: one that no row of ``PLACES`` draws fails the first test. What is
pressed is what Streamlit kept for the press, as it does when the browser asks.
"""

from __future__ import annotations

import ast
import asyncio
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest
import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager, MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest

import blindspot
from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import find_dataset
from blindspot.errors import InputError
from blindspot.jobs import visitors
from blindspot.jobs.visitors import Visitor
from blindspot.runs import pipeline, requesting
from blindspot.settings import ASSETS, Mode, Settings
from blindspot.space.maps import page as map_view
from blindspot.store.repository import Repository
from blindspot.studies.judgments.page import judged_set as judgment_state
from blindspot.studies.judgments.page.judged_set import Judged
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Ballot, Task
from tests.support import sources
from tests.support.judgment_samples import comparative_set, intruder_set
from tests.support.pages import OpenApp, switch_page
from tests.support.run_history import choose_rows
from tests.support.small_world import GramEncoder, register_encoder

CORE = Path(blindspot.__file__).parent.resolve()
MECHANISM = CORE / "ui" / "widgets" / "downloads.py"
SCORED = b"text1,text2,score\n" + b"".join(b"a cat %d,the cat %d,%d\n" % (i, i * i, i) for i in range(24))
ANSWERS = b"query,document\n" + b"".join(b"where is cat %d?,the cat %d is on mat %d\n" % (i, i, i) for i in range(12))
TEXTS = {
    "evalrank": ("own_pairs.csv", (ASSETS / "demo" / "own_pairs.csv").read_bytes()),
    "heros": ("own_minimal.tsv", (ASSETS / "demo" / "own_minimal.tsv").read_bytes()),
    "similarity": ("scores.csv", SCORED),
    "transfer": ("own_labelled.csv", (ASSETS / "demo" / "own_labelled.csv").read_bytes()),
    "retrieval": ("answers.csv", ANSWERS),
}
INTRUDER, COMPARATIVE = intruder_set(queries=2), comparative_set(queries=6)
KEY = "the-facilitators-key"


@dataclass(frozen=True)
class Place:
    """Where a page draws buttons: its address, and the upload that is picked ("" where none is)."""

    page: str
    data: str = ""
    query: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.page


PLACES = (
    Place("compare_votes", query=(("view", "results"), ("judged_training", "true"))),
    Place("evalrank", "evalrank", (("view", "pairs"), ("training_data", "true"))),
    Place("heros", "heros", (("view", "sentences"), ("training_data", "true"))),
    Place("similarity", "similarity", (("view", "pairs"),)),
    Place("transfer", "transfer", (("view", "items"),)),
    Place("retrieval", "retrieval", (("view", "queries"),)),
    Place("map", "evalrank", (("picture", "pca"),)),
    Place("threshold", "similarity"),
    Place("run", "evalrank"),
    Place("findings", "evalrank"),
    Place("data"),
    Place("intruder", query=(("view", "items"),)),
    Place("compare_votes", query=(("view", "items"),)),
)


@dataclass(frozen=True)
class Drawn:
    """A button that stands on a page.

    Attributes:
        calls: file and line of every call that led to it, below the tests.
    """

    place: Place
    name: str
    manager: MediaFileManager
    file_id: str
    calls: frozenset[tuple[str, int]]

    def press(self) -> bytes:
        url = self.manager.execute_deferred(self.file_id)
        return self.manager._storage.get_file(url.rpartition("/")[2].partition(".")[0]).content  # type: ignore[attr-defined]


class Recorder:
    """Sees every file that a page offers, beside what Streamlit does with it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.drawn: list[Drawn] = []
        self.visitors: list[Visitor] = []
        self.place = Place("")
        offer, begin = MediaFileManager.add_deferred, visitors.begin

        def offering(manager: MediaFileManager, *args: object, **kwargs: object) -> str:
            file_id = offer(manager, *args, **kwargs)  # type: ignore[arg-type]
            frame, calls = sys._getframe(1), []
            while frame is not None:
                calls.append((str(Path(frame.f_code.co_filename).resolve()), frame.f_lineno))
                frame = frame.f_back  # type: ignore[assignment]
            self.drawn.append(Drawn(self.place, str(kwargs["file_name"]), manager, file_id, frozenset(calls)))
            return file_id

        def beginning(*args: object) -> Visitor:
            self.visitors.append(begin(*args))  # type: ignore[arg-type]
            return self.visitors[-1]

        patch.setattr(MediaFileManager, "add_deferred", offering)
        patch.setattr(visitors, "begin", beginning)


@dataclass
class World:
    """A server with every button drawn, for one reader."""

    settings: Settings
    home: Settings
    repository: Repository
    judgments: Judgments
    recorder: Recorder
    uploads: dict[str, uploads.Upload]

    def shown(self, private: bool) -> list[Drawn]:
        """Buttons for files of the reader's own texts, or all others."""
        return [drawn for drawn in self.recorder.drawn if bool(drawn.place.data) is private]


@pytest.fixture
def world_of(open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., World]:
    for name, size in (("trigrams", 3), ("bigrams", 2)):
        register_encoder(monkeypatch, GramEncoder(name, size))
    recorder = Recorder(monkeypatch)
    return lambda mode, places=PLACES: draw(open_app, tmp_path / "cache", monkeypatch, recorder, mode, places)


def draw(
    open_app: OpenApp,
    cache: Path,
    patch: pytest.MonkeyPatch,
    recorder: Recorder,
    mode: Mode,
    places: Sequence[Place],
) -> World:
    """Runs on uploads of each kind that the places show, votes, and the places opened."""
    patch.setenv("BLINDSPOT_MODE", mode)
    app = open_app(cache, "overview")
    settings = Settings.from_environment({"BLINDSPOT_CACHE": str(cache), "BLINDSPOT_DEVICE": "cpu"})
    home, repository = settings, Repository.at(settings.store)
    if mode is Mode.DEMO:
        (me,) = recorder.visitors
        home, repository = me.place.settings, me.place.repository
    found = {}
    for diagnostic in TEXTS.keys() & {place.data for place in places}:
        name, data = TEXTS[diagnostic]
        found[diagnostic] = upload = uploads.add(uploads.tabulate(name, data, True, home).contents(), data, home)
        for encoder in ("trigrams", "bigrams"):
            pipeline.run(
                requesting.request(diagnostic, encoder, "none", upload.reference, {}, home),
                home, repository, keep_embeddings=True
            )  # fmt: skip
    judgments = Judgments.at(settings.store)
    for items in (INTRUDER, COMPARATIVE):
        judgments.add_set(items)
        judgments.vote(Ballot(items.set_id, "", "Ada"), 0, 0, 9.0)
    for item in COMPARATIVE.items[3::3]:  # enough to train on
        judgments.vote(Ballot(COMPARATIVE.set_id, "", "Ada"), item.item_no, 0, 9.0)
    for place in places:
        recorder.place = place
        if place.data:
            pick(app, found[place.data].reference)
        switch_page(app, place.page)
        for name, value in place.query:
            app.query_params[name] = value
        if place.page == "map":
            texts = fetch.load(find_dataset(found[place.data].reference), home)
            app.session_state[map_view.SELECTED] = (texts.texts_digest, (0, 1))
        app.run()
        if place.page == "data":
            app.text_area(key="make_texts").set_value("She went home.\nHe did not see the dog.").run()
        if place.page == "run":
            choose_rows(app, repository.runs(diagnostic=place.data)[0].run_id)
    return World(settings, home, repository, judgments, recorder, found)


def pick(app: AppTest, reference: str) -> None:
    app.switch_page("pages/data.py").run()
    app.selectbox(key="data").set_value(reference).run()


@contextmanager
def moved(folder: Path) -> Iterator[None]:
    away = folder.with_name("moved-away")
    folder.rename(away)
    yield
    away.rename(folder)


def refused(drawn: list[Drawn], says: str) -> None:
    assert drawn
    for button in drawn:
        with pytest.raises(MediaFileStorageError, match=says):
            button.press()


def delivered(drawn: list[Drawn]) -> None:
    assert drawn
    for button in drawn:
        assert button.press(), button.place


# --- finding them


def calls(path: Path, names: tuple[str, ...]) -> list[ast.Call]:
    if not any(name in sources.text(path) for name in names):
        return []
    return [n for n in ast.walk(sources.tree(path)) if isinstance(n, ast.Call) and ast.unparse(n.func) in names]


def test_files_leave_by_one_mechanism() -> None:
    offering = [path for path in sources.product() if ".download_button" in sources.text(path)]
    assert offering == [MECHANISM], "others use blindspot.ui.widgets.downloads"
    (only,) = calls(MECHANISM, ("st.download_button",))
    data = next(ast.unparse(keyword.value) for keyword in only.keywords if keyword.arg == "data")
    assert data.startswith("_Delivery("), "a file that is made when the page is drawn"


@pytest.mark.heavy
@pytest.mark.parametrize("mode", Mode)
def test_every_file_is_decided_on_when_it_is_asked_for(
    mode: Mode, world_of: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_of(mode)
    own, others = world.shown(private=True), world.shown(private=False)
    lines = {line for drawn in (*own, *others) for line in drawn.calls}
    for path in sources.package():
        for call in calls(path, ("downloads.button", "downloads.tables")):
            spans = {(str(path), line) for line in range(call.lineno, (call.end_lineno or 0) + 1)}
            assert spans & lines, f"{path}, line {call.lineno}: no place of this test draws this file"

    assert not any(part in drawn.name for drawn in own for part in ("/", "sessions", str(world.settings.cache.name)))
    delivered(own)
    delivered(others)

    with moved(world.home.uploads):  # datasets removed: at home the runs on them stay, and what is stored is shown
        refused(own, "deleted") if mode is Mode.DEMO else delivered(own)
        delivered(others)
    if mode is Mode.DEMO:
        with moved(world.home.home):
            refused(own, "deleted")
            delivered(others)
    delivered(own)

    made_of_runs = [drawn for drawn in own if drawn.place.page != "map"]
    for run in world.repository.runs():
        world.repository.delete(run)
    refused(made_of_runs, "no runs")

    if mode is Mode.LOCAL:  # the same pages, when the server has become a demo: a file of the server is nobody's now
        monkeypatch.setenv("BLINDSPOT_MODE", "demo")
        st.cache_resource.clear()
        refused(own, "cannot be named")
        delivered(others)
        assert b"Ada" not in b"".join(drawn.press() for drawn in others)
    else:
        visitors.end(world.recorder.visitors[0])
        refused([*own, *others], "visit has ended")
        assert not world.home.home.exists(), "a press brought it back"


def test_a_refusal_is_one_line_of_the_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Streamlit logs a traceback for whatever its press raises; strangers could fill the disk with them."""

    def refuse() -> bytes:
        raise InputError("these texts have been deleted", remedy="upload them again")

    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    request = BackendOperationRequest()
    request.deferred_file.file_id = manager.add_deferred(refuse, "text/csv", "0.1")
    answer = asyncio.run(DeferredFileHandler(lambda: manager).handle(request, ""))
    assert answer.error_msg
    (line,) = [record for record in caplog.records if record.name.startswith("streamlit.runtime.backend")]
    assert line.getMessage() == "a file was not delivered: these texts have been deleted; upload them again"
    assert line.exc_info is None


# --- votes


def unpacked(data: bytes) -> str:
    if not data.startswith(b"PK"):
        return data.decode()
    with zipfile.ZipFile(BytesIO(data)) as file:
        return "\n".join(file.read(name).decode() for name in file.namelist())


@pytest.mark.heavy
@pytest.mark.parametrize("mode", Mode)
def test_votes_of_a_session_that_is_opened_after_the_page_was_drawn_stay(
    mode: Mode, world_of: Callable[..., World]
) -> None:
    world = world_of(mode, [place for place in PLACES if place.page in {"intruder", "compare_votes"}])
    files = [drawn for drawn in world.recorder.drawn if not drawn.name.startswith("training")]
    assert {drawn.name.partition("-")[0] for drawn in files} == {"judgments", "items", "votes"}
    world.judgments.add_session("late", {Task.INTRUDER: INTRUDER.set_id, Task.COMPARATIVE: COMPARATIVE.set_id}, KEY)
    for items in (INTRUDER, COMPARATIVE):
        world.judgments.vote(Ballot(items.set_id, "late", "Bob"), 0, 1, 9.0)

    def said() -> str:
        return "\n".join(unpacked(drawn.press()) for drawn in files)

    before = said()
    assert "late" not in before
    assert ("Ada" in before) is (mode is Mode.LOCAL), "on a demo nicknames leave"
    world.judgments.reveal("late", True)
    shown = said()
    assert "late" in shown
    assert ("Bob" in shown) is (mode is Mode.LOCAL)
    world.judgments.reveal("late", False)
    assert said() == before, "another pseudonym, or what is hidden again"
    for items in (INTRUDER, COMPARATIVE):
        world.judgments.remove_set(items.set_id)
    refused(files, "no set of items")


@pytest.fixture
def team(open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Mode, str], AppTest]:
    """A facilitator's page, with a vote of their session."""

    def opened(mode: Mode, view: str) -> AppTest:
        monkeypatch.setenv("BLINDSPOT_MODE", mode)
        store = Judgments.at(tmp_path / "results.duckdb")
        store.add_set(INTRUDER)
        store.add_session("team", {Task.INTRUDER: INTRUDER.set_id}, KEY)
        store.vote(Ballot(INTRUDER.set_id, "team", "Bob"), 0, 1, 9.0)
        return open_app(tmp_path, "intruder", session="team", facilitator=KEY, view=view)

    return opened


def replaced(folder: Path) -> Judgments:
    """The session, removed, and opened by somebody else under its name."""
    store = Judgments.at(folder / "results.duckdb")
    store.remove_set(INTRUDER.set_id)
    store.add_set(INTRUDER)
    store.add_session("team", {Task.INTRUDER: INTRUDER.set_id}, "another's key")
    store.vote(Ballot(INTRUDER.set_id, "team", "Cleo"), 0, 1, 9.0)
    return store


@pytest.mark.parametrize("mode", Mode)
def test_a_facilitators_old_files_have_nothing_of_anothers_session(
    mode: Mode, team: Callable[[Mode, str], AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(monkeypatch)
    team(mode, "items")
    files = [drawn for drawn in recorder.drawn if not drawn.name.startswith("items")]
    assert len(files) == 2
    assert all("Bob" in unpacked(drawn.press()) for drawn in files), "their own raters by name"
    replaced(tmp_path)
    assert not any(word in unpacked(drawn.press()) for drawn in files for word in ("Cleo", "team"))


@pytest.mark.parametrize("mode", Mode)
def test_a_facilitators_old_key_reveals_nothing_of_anothers_session(
    mode: Mode, team: Callable[[Mode, str], AppTest], tmp_path: Path
) -> None:
    app = team(mode, "sessions")
    assert app.button(key="session_reveal").label == "Reveal the results"
    store = replaced(tmp_path)
    app.button(key="session_reveal").click().run()
    assert not store.session("team").revealed  # type: ignore[union-attr]


def test_what_a_reader_may_see_is_asked_anew(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fragment is drawn again with what its page was drawn with."""
    store = Judgments.at(settings.store)
    monkeypatch.setattr(judgment_state, "judgments", lambda: store)
    store.add_set(INTRUDER)
    store.add_session("team", {Task.INTRUDER: INTRUDER.set_id}, KEY)
    session = store.session("team")
    rater, chief = Judged(Task.INTRUDER, INTRUDER, session), Judged(Task.INTRUDER, INTRUDER, session, KEY)
    assert (rater.sees_votes, chief.sees_votes, chief.facilitates) == (False, True, True)
    store.reveal("team", True)
    assert rater.sees_votes
    store.reveal("team", False)
    assert (rater.sees_votes, chief.sees_votes) == (False, True)
    store.remove_set(INTRUDER.set_id)
    assert (rater.sees_votes, chief.sees_votes, chief.facilitates) == (False, False, False)
    assert KEY not in repr(chief)


# --- what a press changes


def test_a_press_that_changes_things_is_decided_on_when_it_comes(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page was drawn on a machine of one's own; by now the server is a demo."""
    store = Judgments.at(tmp_path / "results.duckdb")
    store.add_set(INTRUDER)
    app = open_app(tmp_path, "intruder", view="items")
    app.button(key="judgment_remove").click().run()
    assert app.button(key="judgment_remove_yes")
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    st.cache_resource.clear()
    app.button(key="judgment_remove_yes").click().run()
    assert [found.set_id for found in store.sets()] == [INTRUDER.set_id]
