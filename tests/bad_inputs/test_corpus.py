"""Every bad input gets its message: one line, the right exit code, no traceback, and nothing is written.

At every edge that it reaches: the command line, and what a page calls with it. The whole corpus is `python -m pytest
tests/bad_inputs`.
"""

from __future__ import annotations

import contextlib
import json
import signal
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
import typer

from blindspot import cli
from blindspot.datasets.user_data.files import tabulate
from blindspot.errors import LONGEST_PART, InputError, visible
from blindspot.runs import encoders_here, pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.judgments import bundles, own_queries
from blindspot.studies.judgments.store import Judgments
from tests.bad_inputs import encoders, odd_files, odd_folders, others, texts
from tests.bad_inputs.case import BadInput, Edge
from tests.conftest import make_settings
from tests.support.bundle_files import sample
from tests.support.commands import python
from tests.support.loopback import serving
from tests.support.tables import each

CASES = [case for module in (texts, odd_files, odd_folders, encoders, others) for case in module.cases()]
SMALL = [case for case in CASES if not case.is_large]
LARGE = [case for case in CASES if case.is_large]
IN_A_CHILD = ("words: dataset with escape sequences",)
PATIENCE_SECONDS = 60  # a test that hangs says so
MOST_MEMORY = 2**30  # bytes, of a process that reads all the large ones, imports included
UPLOADED_AS = {"vectors", "table"}


def command(case: BadInput, target: str | Path, folder: Path) -> list[str]:
    """What is typed to give a case to the command line."""
    match case.edge:
        case Edge.TEXTS:
            return ["run", "evalrank", "--encoder", "random-projection", "--dataset", f"file:{target}"]
        case Edge.FOLDER:
            return ["run", "retrieval", "--encoder", "random-projection", "--dataset", str(target)]
        case Edge.ENCODER:
            return ["run", "evalrank", "--encoder", str(target), "--dataset", "demo-pairs"]
        case Edge.BUNDLE:
            return ["judge", "import", str(target)]
        case Edge.QUERIES:
            asked = "judge make --task comparative --encoder random-projection --encoder random-projection-64"
            return [*asked.split(), "--dataset", "demo-words", "--queries", str(target)]
        case Edge.SWEEP:
            return ["sweep", str(target)]
        case _:
            return [word.replace("{}", str(folder)) for word in case.words]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with a finished run and a set of items with votes, which nothing may touch."""
    settings = make_settings(tmp_path_factory.mktemp("bad") / "cache")
    repository = Repository.at(settings.store)
    pipeline.run(
        requesting.request("heros", "random-projection", "none", "demo-minimal", {}, settings), settings, repository
    )
    judgments = Judgments.at(settings.store)
    bundles.take_in(sample(), judgments)
    for database in (repository.database, judgments.database):
        database.close()  # else the file is written once more when it is let go
    return settings.cache


@pytest.fixture
def settings(cache: Path) -> Settings:
    return make_settings(cache)


@pytest.fixture(autouse=True)
def in_environment(environment: Settings) -> None:
    """Commands find the cache."""


@pytest.fixture(scope="module")
def built() -> typer.core.TyperGroup:
    """The command line, put together once: that takes longer than most errors."""
    return typer.main.get_command(cli.app)  # type: ignore[return-value]


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch, built: typer.core.TyperGroup) -> None:
    monkeypatch.setattr(cli, "app", built)


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file below a folder, by its path; compiled kernels are left out."""
    files = [path for path in folder.rglob("*") if path.is_file() and not {"numba", "logs"} & {*path.parts}]
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(files)}


@contextlib.contextmanager
def untouched(settings: Settings) -> Iterator[None]:
    """Nothing is written to the cache, and the store is the same to the byte."""
    before = contents(settings.cache)
    yield
    assert contents(settings.cache) == before


@contextlib.contextmanager
def in_time() -> Iterator[None]:
    """A reader that waits for ever is interrupted, and fails the test."""

    def late(*_: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check_message(case: BadInput, message: str) -> None:
    for part in case.says:
        assert part.lower() in message.lower(), message
    assert "Traceback" not in message
    assert "--debug" not in message, "it was not foreseen"
    assert message == visible(message), "no control character reaches a terminal or a page"
    assert len(message) < 4 * LONGEST_PART


# --- the corpus


def test_there_are_enough_and_each_has_its_name() -> None:
    assert len(CASES) >= 300
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.edge for case in CASES} == set(Edge) - {Edge.MIRROR}
    assert set(IN_A_CHILD) <= {case.name for case in SMALL}


@pytest.mark.hostile
@each("case", SMALL, ids=lambda case: case.name)
def test_every_edge_says_what_is_wrong(
    case: BadInput, settings: Settings, whole: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = case.make(tmp_path)
    with untouched(settings), in_time():
        code = cli.main(command(case, target, tmp_path))
        said = capsys.readouterr()
        on_page = on_a_page(case, target, tmp_path, settings)
    assert (code, said.out) == (case.code, ""), said.err
    assert said.err.startswith("error: ")
    assert len(said.err.splitlines()) == 1
    check_message(case, said.err.removesuffix("\n"))
    if on_page is not None:
        check_message(case, on_page)


def on_a_page(case: BadInput, target: str | Path, folder: Path, settings: Settings) -> str | None:
    """What is said to whoever gives it to a page: uploads the file, or types the reference on the page Models; None
    where a page has no such field, or a browser cannot send such a file."""
    scheme, _, path = str(target).partition(":") if case.edge is Edge.ENCODER else ("", "", str(target))
    file = Path(path)
    can_be_sent = _can_be_sent(file)
    sent = file.read_bytes() if can_be_sent else b""
    read: Callable[[], object]
    if case.edge is Edge.ENCODER and (scheme not in UPLOADED_AS or not can_be_sent):
        read = partial(encoders_here.add, str(target), settings, Repository.at(settings.store))
    elif case.edge is Edge.ENCODER:
        files = [(f.name, f.read_bytes()) for f in sorted(folder.iterdir()) if f.suffix in {file.suffix, ".txt"}]
        read = partial(encoders_here.add_upload, files, settings, Repository.at(settings.store))
    elif not can_be_sent:
        return None
    elif case.edge is Edge.TEXTS:
        read = partial(_as_uploaded, file.name, sent)
    elif case.edge is Edge.BUNDLE:
        read = partial(bundles.take_in, sent, Judgments.at(settings.store))
    elif case.edge is Edge.QUERIES and len(sent) <= own_queries.MAX_BYTES:
        read = partial(own_queries.of_file, file.name, sent)
    else:
        return None
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value)


def _as_uploaded(name: str, data: bytes) -> object:
    return tabulate(Path(name), data).contents()


def _can_be_sent(file: Path) -> bool:
    try:
        file.name.encode("utf-8")
        return stat.S_ISREG(file.stat().st_mode) and file.stat().st_size < 2**28
    except (OSError, ValueError):
        return False


@pytest.mark.process
@pytest.mark.parametrize("name", IN_A_CHILD)
def test_in_a_process_of_its_own(name: str, settings: Settings, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    words = command(case, case.make(tmp_path), tmp_path)
    with untouched(settings):
        done = python("-m", "blindspot", *words, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stdout) == (case.code, ""), done.stderr
    assert len(done.stderr.splitlines()) == 1
    check_message(case, done.stderr.removesuffix("\n"))


READ_ALL = """
import json, resource, sys
from pathlib import Path
from blindspot import cli
for words in json.loads(sys.stdin.read()):
    print(cli.main(words), flush=True)
status = Path("/proc/self/status")  # there ru_maxrss starts at the peak of the process that started this one
if status.is_file():
    print(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_what_is_large_is_refused_in_little_memory(settings: Settings, tmp_path: Path) -> None:
    """Ten million columns, and kilobytes that unpack to terabytes: all in one process of less than a gigabyte."""
    commands = []
    for number, case in enumerate(LARGE):
        folder = tmp_path / str(number)
        folder.mkdir()
        commands.append(command(case, case.make(folder), folder))
    with untouched(settings):
        done = python("-c", READ_ALL, given=json.dumps(commands), timeout=2 * PATIENCE_SECONDS)
    *codes, kilobytes = done.stdout.split()
    lines = done.stderr.splitlines()
    assert codes == [str(case.code) for case in LARGE], done.stderr
    assert len(lines) == len(LARGE)
    for case, line in zip(LARGE, lines, strict=True):
        check_message(case, line)
    assert int(kilobytes) * 1024 < MOST_MEMORY


# --- a mirror that serves something else


@pytest.mark.server
@pytest.mark.parametrize(
    ("content", "says"), [case[1:] for case in others.mirrors()], ids=[c[0] for c in others.mirrors()]
)
def test_a_mirror_that_serves_something_else(
    content: bytes,
    says: Sequence[str],
    settings: Settings,
    whole: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from blindspot.datasets.catalog import find_dataset

    file = find_dataset("ws353").files[0]
    with serving() as mirror, untouched(settings), in_time():
        mirror.files[f"/{file.source}/{file.path}"] = content
        monkeypatch.setenv("BLINDSPOT_MIRROR", mirror.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        code = cli.main(["data", "fetch", "ws353"])
    said = capsys.readouterr()
    assert (code, said.out) == (1, ""), said.err
    assert all(part in said.err for part in says), said.err
    assert len(said.err.splitlines()) == 1
