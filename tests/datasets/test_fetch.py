"""Fetching: resumed, verified, all or nothing; against a real HTTP server on the loopback interface."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetEntry, SourceFile, find_dataset
from blindspot.datasets.fetch import DataState
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published import pairs as loaders
from blindspot.errors import BlindspotError, Cancelled, DataCorrupt, DataMissing, InputError
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support import heros_table
from tests.support.loopback import Site, free_port, serving

CONTENT = random.Random(7).randbytes(300_001)
PATH = "data/some file.bin"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        site.files["/some%20file.bin"] = CONTENT
        yield site


def source_file(url: str, content: bytes = CONTENT, path: str = PATH) -> SourceFile:
    """A file pinned to ``content``, whatever the URL really serves."""
    return SourceFile("loop", path, url, len(content), hashlib.sha256(content).hexdigest())


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """The file in the mirror ``tmp_path / "mirror"``."""
    path = tmp_path / "mirror" / "loop" / PATH
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def mirrored(settings: Settings, origin: Path, tmp_path: Path) -> Settings:
    return replace(settings, mirror=str(tmp_path / "mirror"))


@pytest.fixture
def file(site: Site) -> SourceFile:
    return source_file(f"{site.url}/some file.bin")


def part_of(file: SourceFile, settings: Settings) -> Path:
    target = fetch.local_path(file, settings)
    return target.with_name(f"{target.name}.part")


def names_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@contextmanager
def refused(kind: type[BlindspotError], *fragments: str) -> Iterator[None]:
    """An error in one line that says what was wrong and what to do."""
    with pytest.raises(kind) as caught:
        yield
    said = str(caught.value)
    assert "\n" not in said
    assert caught.value.remedy
    assert [fragment for fragment in fragments if fragment not in said] == []


def assert_fetched(file: SourceFile, settings: Settings) -> None:
    """The right content under the final name, and nothing beside it."""
    target = fetch.local_path(file, settings)
    assert target.read_bytes() == CONTENT
    assert names_in(target.parent) == [target.name]


# --- downloading


@pytest.mark.server
def test_a_file_is_downloaded_under_its_final_name_only_when_complete(
    site: Site, file: SourceFile, settings: Settings
) -> None:
    target = fetch.local_path(file, settings)
    told: list[tuple[str, int, int]] = []

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        assert not target.exists()
        told.append((stage, done, total))

    assert fetch.fetch_file(file, settings, progress) == target
    assert_fetched(file, settings)
    done = [at for _, at, _ in told]
    assert {(stage, total) for stage, _, total in told} == {("fetching some file.bin", len(CONTENT))}
    assert done == sorted(set(done))
    assert (done[0], done[-1]) == (0, len(CONTENT))
    assert len(done) > 3


@pytest.mark.server
def test_a_broken_connection_is_tried_again_from_where_it_broke(
    site: Site, file: SourceFile, settings: Settings
) -> None:
    site.breaks += [0, 100_000]
    fetch.fetch_file(file, settings)
    assert_fetched(file, settings)
    assert site.ranges == [None, None, "bytes=100000-"]


@pytest.mark.server
def test_what_came_before_a_lasting_failure_is_kept_and_resumed(
    site: Site, file: SourceFile, settings: Settings
) -> None:
    site.breaks += [50_000, 50_000, 50_000]
    with refused(DataMissing, file.url, "150,000 bytes are kept", "BLINDSPOT_MIRROR"):
        fetch.fetch_file(file, settings)
    assert not fetch.local_path(file, settings).exists()
    assert part_of(file, settings).read_bytes() == CONTENT[:150_000]

    told: list[int] = []
    fetch.fetch_file(file, settings, lambda stage, done, total, fraction=None: told.append(done))
    assert_fetched(file, settings)
    assert site.ranges[-1] == "bytes=150000-"
    assert told[0] == 150_000


@pytest.mark.server
def test_a_server_that_ignores_ranges_sends_everything_again(site: Site, file: SourceFile, settings: Settings) -> None:
    site.honours_range = False
    site.breaks.append(100_000)
    fetch.fetch_file(file, settings)
    assert_fetched(file, settings)
    assert site.ranges == [None, "bytes=100000-"]


@pytest.mark.server
@pytest.mark.parametrize(
    "left_over",
    [b"", b"\0" * 1_000, b"\0" * len(CONTENT), b"\0" * (len(CONTENT) + 1), CONTENT],
    ids=["nothing", "wrong beginning", "wrong content", "too long", "all but renamed"],
)
def test_what_an_earlier_process_left_does_not_spoil_the_file(
    file: SourceFile, settings: Settings, left_over: bytes
) -> None:
    part = part_of(file, settings)
    part.parent.mkdir(parents=True)
    part.write_bytes(left_over)
    fetch.fetch_file(file, settings)
    assert_fetched(file, settings)


@pytest.mark.server
def test_redirects_are_followed(site: Site, file: SourceFile, settings: Settings) -> None:
    site.redirects["/old"] = "/some%20file.bin"
    fetch.fetch_file(replace(file, url=f"{site.url}/old"), settings)
    assert_fetched(file, settings)


@pytest.mark.server
def test_a_complete_file_is_not_downloaded_again(site: Site, file: SourceFile, settings: Settings) -> None:
    fetch.fetch_file(file, settings)
    fetch.fetch_file(file, settings)
    assert len(site.ranges) == 1


# --- what the source may do wrong


@pytest.mark.server
@pytest.mark.parametrize(
    ("served", "complaint"),
    [
        (b"\0" + CONTENT[1:], "sha256"),
        (CONTENT[:-1], "300,000 bytes instead of 300,001"),
        (b"", "0 bytes instead of 300,001"),
        (CONTENT + b"\0", "more bytes come than the 300,001 expected"),
    ],
    ids=["corrupt", "truncated", "empty", "longer"],
)
def test_a_wrong_file_is_refused_and_thrown_away(
    site: Site, file: SourceFile, settings: Settings, served: bytes, complaint: str
) -> None:
    site.files["/some%20file.bin"] = served
    with refused(DataCorrupt, complaint, "BLINDSPOT_MIRROR"):
        fetch.fetch_file(file, settings)
    assert not [n for n in names_in(fetch.local_path(file, settings).parent) if not n.endswith(".lock")]

    site.files["/some%20file.bin"] = CONTENT
    fetch.fetch_file(file, settings)
    assert_fetched(file, settings)


@pytest.mark.server
def test_a_source_that_ends_before_the_kept_part_is_called_truncated(
    site: Site, file: SourceFile, settings: Settings
) -> None:
    part = part_of(file, settings)
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[:150_000])
    site.files["/some%20file.bin"] = CONTENT[:1_000]
    with refused(DataCorrupt, "1,000 bytes instead of 300,001"):
        fetch.fetch_file(file, settings)
    assert site.ranges == ["bytes=150000-", None]


@pytest.mark.server
def test_a_missing_file_is_named_with_the_answer(site: Site, file: SourceFile, settings: Settings) -> None:
    del site.files["/some%20file.bin"]
    with refused(DataMissing, file.url, "404", "BLINDSPOT_MIRROR"):
        fetch.fetch_file(file, settings)
    assert len(site.ranges) == 1
    assert not part_of(file, settings).exists()


@pytest.mark.server
def test_redirects_in_a_circle_are_given_up(site: Site, file: SourceFile, settings: Settings) -> None:
    site.redirects["/round"] = "/round"
    with refused(DataMissing, "/round", "redirect"):
        fetch.fetch_file(replace(file, url=f"{site.url}/round"), settings)


@pytest.mark.server
def test_no_network(settings: Settings) -> None:
    file = source_file(f"http://127.0.0.1:{free_port()}/x")
    with refused(DataMissing, file.url, "refused", "check the network"):
        fetch.fetch_file(file, settings)
    assert not fetch.local_path(file, settings).exists()


# --- mirrors


@pytest.mark.server
def test_a_mirror_folder_is_copied_from(file: SourceFile, mirrored: Settings, origin: Path) -> None:
    origin.write_bytes(CONTENT)
    told: list[int] = []
    fetch.fetch_file(
        replace(file, url="http://127.0.0.1:1/never"),
        mirrored,
        lambda stage, done, total, fraction=None: told.append(done),
    )
    assert_fetched(file, mirrored)
    assert origin.read_bytes() == CONTENT
    assert (told[0], told[-1]) == (0, len(CONTENT))


@pytest.mark.server
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_mirror_url_is_asked_for_source_and_path(
    site: Site, file: SourceFile, settings: Settings, slash: str
) -> None:
    site.files = {"/base/loop/data/some%20file.bin": CONTENT}
    fetch.fetch_file(replace(file, url="http://127.0.0.1:1/never"), replace(settings, mirror=f"{site.url}/base{slash}"))
    assert_fetched(file, settings)


@pytest.mark.server
def test_a_mirror_without_the_file(file: SourceFile, settings: Settings, tmp_path: Path) -> None:
    with refused(DataMissing, "no such folder", "<source>/<path in source>", "correct BLINDSPOT_MIRROR"):
        fetch.fetch_file(file, replace(settings, mirror=str(tmp_path / "no such folder")))


@pytest.mark.server
@pytest.mark.parametrize("served", [CONTENT[:-1], b"\0" + CONTENT[1:], CONTENT + b"\0"])
def test_a_mirror_with_another_file(file: SourceFile, mirrored: Settings, origin: Path, served: bytes) -> None:
    origin.write_bytes(served)
    with refused(DataCorrupt, "BLINDSPOT_MIRROR"):
        fetch.fetch_file(file, mirrored)
    assert origin.read_bytes() == served
    assert not part_of(file, mirrored).exists()
    assert not fetch.local_path(file, mirrored).exists()


@pytest.mark.server
@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that refuses to be read")
def test_a_mirror_that_cannot_be_read(file: SourceFile, mirrored: Settings, origin: Path) -> None:
    origin.symlink_to("/proc/self/mem")
    with refused(DataMissing, f"cannot read {origin}"):
        fetch.fetch_file(file, mirrored)


@pytest.mark.server
@pytest.mark.parametrize("mirror", ["http://", "http://127.0.0.1:port"])
def test_a_mirror_that_is_no_url(file: SourceFile, settings: Settings, mirror: str) -> None:
    with refused(DataMissing, "BLINDSPOT_MIRROR"):
        fetch.fetch_file(file, replace(settings, mirror=mirror))


# --- the disk


@pytest.mark.server
def test_a_cache_that_cannot_be_written(file: SourceFile, settings: Settings) -> None:
    settings.cache.mkdir()
    settings.data.write_text("a file where the folder should be")
    with refused(BlindspotError, "cannot write", "BLINDSPOT_CACHE"):
        fetch.fetch_file(file, settings)


@pytest.mark.server
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk(file: SourceFile, settings: Settings) -> None:
    part = part_of(file, settings)
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    with refused(BlindspotError, "No space left", "free some space"):
        fetch.fetch_file(file, settings)
    assert not fetch.local_path(file, settings).exists()


# --- cancelling, and several at once


@pytest.mark.server
def test_a_cancelled_download_goes_on_later(site: Site, file: SourceFile, settings: Settings) -> None:
    cancel = CancelToken()

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        if done > 100_000:
            cancel.cancel()

    with pytest.raises(Cancelled):
        fetch.fetch_file(file, settings, progress, cancel)
    kept = part_of(file, settings).read_bytes()
    assert 100_000 < len(kept) < len(CONTENT)
    assert CONTENT.startswith(kept)
    assert not fetch.local_path(file, settings).exists()

    fetch.fetch_file(file, settings)
    assert_fetched(file, settings)
    assert site.ranges == [None, f"bytes={len(kept)}-"]


@pytest.mark.server
def test_threads_that_want_the_same_file_download_it_once(site: Site, file: SourceFile, settings: Settings) -> None:
    site.gate.clear()
    with ThreadPoolExecutor(4) as pool:
        fetching = [pool.submit(fetch.fetch_file, file, settings) for _ in range(4)]
        while not site.ranges:
            threading.Event().wait(0.01)
        site.gate.set()
        paths = {future.result() for future in fetching}
    assert paths == {fetch.local_path(file, settings)}
    assert len(site.ranges) == 1
    assert_fetched(file, settings)


@pytest.mark.server
def test_whoever_waits_for_the_same_file_can_cancel(site: Site, file: SourceFile, settings: Settings) -> None:
    site.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fetch.fetch_file, file, settings)
        while not site.ranges:
            threading.Event().wait(0.01)
        cancel = CancelToken()
        second = pool.submit(fetch.fetch_file, file, settings, cancel=cancel)
        cancel.cancel()
        with pytest.raises(Cancelled):
            second.result(timeout=300)
        assert not first.done()
        site.gate.set()
        first.result(timeout=300)
    assert_fetched(file, settings)


# --- datasets

PAIRS = b"A dog runs.\tA hound runs.\nA hound runs.\tA dog runs.\n"
BACKGROUND = b"It rains.\nA dog runs.\n"


@pytest.fixture
def entry(site: Site) -> DatasetEntry:
    site.files = {"/pairs.txt": PAIRS, "/background.txt": BACKGROUND}
    return DatasetEntry(
        id="loop-pairs",
        title="Pairs on the loopback interface",
        description="",
        kind=DatasetKind.PAIR_SET,
        unit="sentence",
        size="",
        licence="",
        citation="",
        url=site.url,
        revision="1",
        files=(
            source_file(f"{site.url}/pairs.txt", PAIRS, "pairs.txt"),
            source_file(f"{site.url}/background.txt", BACKGROUND, "background.txt"),
        ),
        load=lambda dataset_id, paths: loaders.evalrank(dataset_id, pairs=paths[0], background=paths[1:]),
    )


@pytest.mark.server
def test_loading_fetches_what_is_missing(site: Site, entry: DatasetEntry, settings: Settings) -> None:
    assert fetch.dataset_state(entry, settings) is DataState.MISSING
    dataset = fetch.load(entry, settings)
    assert dataset.id == "loop-pairs"
    assert dataset.items == ("A dog runs.", "A hound runs.", "It rains.")
    assert fetch.dataset_state(entry, settings) is DataState.DOWNLOADED
    fetch.local_path(entry.files[1], settings).unlink()
    assert fetch.dataset_state(entry, settings) is DataState.MISSING
    assert fetch.load(entry, settings).content_digest == dataset.content_digest
    assert len(site.ranges) == 3


@pytest.mark.server
@pytest.mark.parametrize("damaged", [PAIRS[:-10], PAIRS.replace(b"dog", b"cat"), b""])
def test_a_corrupt_file_in_the_cache_is_reported_with_the_command_that_repairs_it(
    site: Site, entry: DatasetEntry, settings: Settings, damaged: bytes
) -> None:
    fetch.load(entry, settings)
    path = fetch.local_path(entry.files[0], settings)
    path.write_bytes(damaged)
    assert fetch.dataset_state(entry, settings) is DataState.CORRUPT
    asked = len(site.ranges)
    with refused(DataCorrupt, str(path), "blindspot data fetch loop-pairs"):
        fetch.load(entry, settings)
    assert path.read_bytes() == damaged
    assert len(site.ranges) == asked

    fetch.fetch_dataset(entry, settings)
    assert len(site.ranges) == asked + 1, "only the corrupt file is downloaded again"
    assert fetch.dataset_state(entry, settings) is DataState.DOWNLOADED
    assert len(fetch.load(entry, settings).queries) == 2


@pytest.mark.server
def test_a_file_that_cannot_be_repaired_stays_corrupt(site: Site, entry: DatasetEntry, settings: Settings) -> None:
    fetch.load(entry, settings)
    fetch.local_path(entry.files[0], settings).write_bytes(b"")
    site.files["/pairs.txt"] = PAIRS[:-1]
    with pytest.raises(DataCorrupt):
        fetch.fetch_dataset(entry, settings)
    assert fetch.dataset_state(entry, settings) is DataState.CORRUPT


@pytest.mark.server
def test_built_in_data_needs_no_network(settings: Settings) -> None:
    demo = find_dataset("demo-pairs")
    unreachable = replace(settings, mirror=f"http://127.0.0.1:{free_port()}")
    assert fetch.dataset_state(demo, unreachable) is DataState.BUILT_IN
    assert fetch.fetch_dataset(demo, unreachable) == ()
    assert len(fetch.load(demo, unreachable).items) == 1_400
    assert not settings.data.exists()


@pytest.mark.server
def test_progress_of_a_dataset_counts_the_bytes_of_all_that_is_wanted(site: Site, settings: Settings) -> None:
    contents = {"/a": b"a" * 1_000, "/b": b"b" * 200_000, "/c": b"c" * 3_000}
    site.files.update(contents)
    files = tuple(source_file(f"{site.url}{path}", content, path[1:]) for path, content in contents.items())
    entry = replace(find_dataset("demo-pairs"), id="three", files=files)
    fetch.fetch_file(files[0], settings)
    told: list[tuple[str, int, int]] = []

    def progress(stage: str, done: int, total: int, fraction: float | None = None) -> None:
        told.append((stage, done, total))

    assert [path.name for path in fetch.fetch_dataset(entry, settings, progress)] == ["a", "b", "c"]
    assert {total for _, _, total in told} == {203_000}
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[0] == ("fetching b", 0, 203_000)
    assert told[-1] == ("fetching c", 203_000, 203_000)


# --- files whose checksum nobody declared

TABLE = b"Original\tRewrite\na\tb\n"


@pytest.fixture
def unpinned(site: Site, entry: DatasetEntry) -> DatasetEntry:
    """A dataset like ``heros``: its loader is all that can judge what came."""
    site.files = {"/table.tsv": TABLE}
    file = SourceFile("loop", "table.tsv", f"{site.url}/table.tsv", size=0, sha256="")

    def load(dataset_id: str, paths: tuple[Path, ...]) -> PairSet:
        rows = [line.split("\t") for line in paths[0].read_text("utf-8").splitlines()]
        if rows[0] != ["Original", "Rewrite"]:
            raise InputError(f"{paths[0]} has the columns {rows[0]}", expected="Original and Rewrite")
        return loaders.pair_set(dataset_id, [(one, other) for one, other in rows[1:]], ())

    return replace(entry, files=(file,), load=load)


def record_of(file: SourceFile, settings: Settings) -> Path:
    return fetch.local_path(file, settings).with_name("table.tsv.sha256")


@pytest.mark.server
@pytest.mark.parametrize("by", [fetch.load, fetch.fetch_dataset])
def test_the_first_use_records_a_checksum(site: Site, unpinned: DatasetEntry, settings: Settings, by) -> None:
    (file,) = unpinned.files
    assert fetch.recorded_checksum(file, settings) == ""
    by(unpinned, settings)
    assert fetch.recorded_checksum(file, settings) == hashlib.sha256(TABLE).hexdigest()
    assert fetch.dataset_state(unpinned, settings) is DataState.DOWNLOADED
    fetch.load(unpinned, settings)
    assert len(site.ranges) == 1


@pytest.mark.server
def test_a_file_that_was_put_there_by_hand_is_taken(unpinned: DatasetEntry, settings: Settings) -> None:
    (file,) = unpinned.files
    path = fetch.local_path(file, settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(TABLE)
    fetch.load(unpinned, settings)
    assert fetch.recorded_checksum(file, settings) == hashlib.sha256(TABLE).hexdigest()


@pytest.mark.server
def test_what_changed_since_its_first_use_is_corrupt(site: Site, unpinned: DatasetEntry, settings: Settings) -> None:
    (file,) = unpinned.files
    fetch.load(unpinned, settings)
    path = fetch.local_path(file, settings)
    path.write_bytes(TABLE + b"c\td\n")
    with refused(DataCorrupt, "is corrupt: sha256", "data fetch loop-pairs"):
        fetch.load(unpinned, settings)
    fetch.fetch_dataset(unpinned, settings)
    assert path.read_bytes() == TABLE

    path.unlink()
    site.files["/table.tsv"] = TABLE + b"e\tf\n"  # another version
    with refused(DataCorrupt, "if it is a newer version that you want, delete", str(record_of(file, settings))):
        fetch.load(unpinned, settings)
    assert not path.exists()
    record_of(file, settings).unlink()
    assert "f" in fetch.load(unpinned, settings).items


@pytest.mark.server
@pytest.mark.parametrize("by", [fetch.load, fetch.fetch_dataset])
def test_what_the_loader_does_not_accept_is_thrown_away(
    site: Site, unpinned: DatasetEntry, settings: Settings, by
) -> None:
    (file,) = unpinned.files
    site.files["/table.tsv"] = b"<html>Please log in</html>"
    told = (f"{file.url}", "was deleted", "expected Original and Rewrite")
    with refused(DataCorrupt, *told):
        by(unpinned, settings)
    assert names_in(fetch.local_path(file, settings).parent) == []
    site.files["/table.tsv"] = TABLE
    by(unpinned, settings)


@pytest.mark.server
def test_a_rest_of_an_unknown_version_is_not_gone_on_with(
    site: Site, unpinned: DatasetEntry, settings: Settings
) -> None:
    (file,) = unpinned.files
    part = part_of(file, settings)
    part.parent.mkdir(parents=True)
    part.write_bytes(b"Original\tRewrite\nan older row\t")
    assert fetch.load(unpinned, settings).items == ("a", "b")


@pytest.mark.server
def test_what_never_ends_is_refused(
    site: Site, unpinned: DatasetEntry, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MAX_UNKNOWN_BYTES", len(TABLE) - 1)
    with pytest.raises(DataCorrupt, match="more bytes come"):
        fetch.load(unpinned, settings)


def test_heros_from_a_mirror(settings: Settings, tmp_path: Path) -> None:
    """A file like the published one: seven columns, two of them called Negation, 1,000 rows."""
    (tmp_path / "heros").mkdir()
    with_mirror = replace(settings, mirror=str(tmp_path))
    heros_table.write(
        tmp_path / "heros" / "heros.tsv", heros_table.AS_PUBLISHED, heros_table.MAIN_LAST, (heros_table.ROWS * 5)[:999]
    )
    with pytest.raises(DataCorrupt, match="999 row"):
        fetch.load(find_dataset("heros"), with_mirror)
    heros_table.write(
        tmp_path / "heros" / "heros.tsv", heros_table.AS_PUBLISHED, heros_table.MAIN_LAST, heros_table.ROWS * 5
    )
    heros_table.check_is_demo(fetch.load(find_dataset("heros"), with_mirror), heros_table.ROWS * 5)
    assert fetch.dataset_state(find_dataset("heros"), settings) is DataState.DOWNLOADED
