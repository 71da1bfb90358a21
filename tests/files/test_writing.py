"""Files that appear whole or not at all, and locks that can be waited for and given up."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import pytest

from blindspot.errors import BlindspotError, Cancelled
from blindspot.files.writing import delete_file, exclusive, exclusive_now, make_folder, sha256_of, write_atomically
from blindspot.settings import ROOT
from blindspot.types import CancelToken


def test_sha256_is_that_of_the_bytes(tmp_path: Path) -> None:
    data = bytes(range(256)) * 5_000
    (tmp_path / "f").write_bytes(data)
    assert sha256_of(tmp_path / "f") == hashlib.sha256(data).hexdigest()


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "f.bin"

    def write(file: BinaryIO) -> None:
        file.write(b"half")
        file.flush()
        assert not path.exists()
        file.write(b" and half")

    write_atomically(path, write)
    assert path.read_bytes() == b"half and half"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "f.bin"
    path.write_bytes(b"old")

    def write(file: BinaryIO) -> None:
        file.write(b"new")
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        write_atomically(path, write)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    def write(file: BinaryIO) -> None:
        with Path("/dev/full").open("wb", buffering=0) as full:
            full.write(b"x")

    if not Path("/dev/full").exists():
        pytest.skip("needs a device that is always full")
    with pytest.raises(BlindspotError) as caught:
        write_atomically(tmp_path / "f.bin", write)
    assert str(caught.value).startswith(f"cannot write {tmp_path / 'f.bin'}: No space left on device; free some space")
    assert caught.value.exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for call in (make_folder, lambda p: write_atomically(p / "f", lambda f: None)):
        with pytest.raises(BlindspotError, match="cannot write"):
            call(tmp_path / "file" / "folder")
    with pytest.raises(BlindspotError, match="cannot write"), exclusive(tmp_path / "file" / "lock", CancelToken()):
        pytest.fail("the block must not run")


def test_one_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        with exclusive(tmp_path / "lock", CancelToken()):
            inside.append(number)
            most.append(len(inside))
            threading.Event().wait(0.01)
            inside.remove(number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))
    assert most == [1] * 8
    assert not (tmp_path / "lock").exists()


def test_a_wait_can_be_cancelled(tmp_path: Path) -> None:
    cancel = CancelToken()
    ran = threading.Event()

    def wait() -> None:
        with exclusive(tmp_path / "lock", cancel):
            ran.set()

    with ThreadPoolExecutor(1) as pool, exclusive(tmp_path / "lock", CancelToken()):
        waiting = pool.submit(wait)
        cancel.cancel()
        with pytest.raises(Cancelled):
            waiting.result(timeout=20)
    assert not ran.is_set()
    with exclusive(tmp_path / "lock", CancelToken()):
        ran.set()


@pytest.mark.process
def test_a_killed_holder_lets_go(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom blindspot.files.writing import exclusive\n"
        "from blindspot.types import CancelToken\n"
        "with exclusive(Path(sys.argv[1]), CancelToken()):\n    print('held', flush=True)\n    time.sleep(60)"
    )
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        os.kill(child.pid, signal.SIGKILL)
    assert path.exists(), "nobody was left to remove it"
    with exclusive(path, CancelToken()):
        pass
    assert not path.exists()


def test_a_lock_that_somebody_holds_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with exclusive_now(path) as is_ours:
        assert is_ours
        with ThreadPoolExecutor(1) as pool:

            def second() -> bool:
                with exclusive_now(path) as also:
                    return also

            assert not pool.submit(second).result()
        assert path.exists(), "the one that holds it removes it"
    assert not path.exists()


def test_deleting_a_link_leaves_what_it_leads_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("x", "utf-8")
    link.symlink_to(target)
    delete_file(link)
    delete_file(link)
    assert target.exists()
    assert not link.is_symlink()


def test_what_cannot_be_deleted_is_said(tmp_path: Path) -> None:
    with pytest.raises(BlindspotError, match="cannot delete"):
        delete_file(tmp_path)  # a folder
