"""``blindspot doctor``: all findings on stdout, what to do about each, and an exit code for scripts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from blindspot.settings import PACKAGE, Settings
from tests.support.commands import Command, python
from tests.support.loopback import free_port

PATIENCE_SECONDS = 300


@pytest.fixture(autouse=True)
def environment(environment: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return environment


@pytest.mark.process
def test_a_fresh_installation_has_no_problems(child: Command, environment: Settings) -> None:
    """In a process of its own, as a person starts it."""
    done = child("doctor")
    assert (done.code, done.err) == (0, "")
    assert "No problems." in done.out
    for title in ("Versions", "Settings", "Devices", "Cache", "Encoders", "Datasets", "Uploads", "Store"):
        assert f"\n{title} " in f"\n{done.out}"
    absent = [line for line in done.out.splitlines() if "not downloaded" in line]
    assert len(absent) == 2, "one line of the table and one note, however many datasets nobody downloaded"
    assert "blindspot data fetch" in done.out
    assert not environment.cache.exists()


@pytest.mark.server
def test_problems_are_listed_with_what_to_do(
    blindspot: Command, environment: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("BLINDSPOT_MIRROR", mirror)
    monkeypatch.setenv("BLINDSPOT_CACH", "somewhere")
    monkeypatch.setenv("BLINDSPOT_DEVICE", "gpu")
    environment.cache.write_text("a file", "utf-8")
    said = blindspot("doctor")
    assert said.code == 1
    summary = said.out.partition("\n4 problems:\n")[2].splitlines()
    assert [line.partition(": ")[0].strip() for line in summary[0:8:2]] == [
        "settings, BLINDSPOT_DEVICE",
        "settings, BLINDSPOT_CACH",
        "cache, folder",
        "datasets, mirror",
    ]
    assert all(line.startswith("    -> ") for line in summary[1:8:2])
    assert "    -> did you mean BLINDSPOT_CACHE? Rename or unset it" in summary
    assert f"  datasets, mirror: {mirror} does not answer" in said.out
    (line,) = said.err.splitlines()
    assert line.startswith("error: the doctor found 4 problems: settings BLINDSPOT_DEVICE, settings BLINDSPOT_CACH, ")


def test_json(blindspot: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    said = blindspot("doctor", "--json")
    assert (said.code, said.err) == (0, "")
    assert list(said.json) == ["findings", "problems"]
    assert said.json["problems"] == 0
    assert {tuple(finding) for finding in said.json["findings"]} == {("area", "name", "state", "what", "remedy")}
    assert {finding["state"] for finding in said.json["findings"]} <= {"ok", "note"}

    monkeypatch.setenv("BLINDSPOT_DEVICE", "cuda:99")
    said = blindspot("doctor", "--json")
    assert said.code == 1
    assert said.json["problems"] == 1
    (problem,) = [finding for finding in said.json["findings"] if finding["state"] == "problem"]
    assert (problem["area"], problem["name"]) == ("devices", "device")
    assert "BLINDSPOT_DEVICE=auto" in problem["remedy"]
    assert said.err.startswith("error: the doctor found 1 problem: devices device; ")
    assert len(said.err.splitlines()) == 1


def test_a_name_that_is_no_text_is_shown_all_the_same(
    blindspot: Command, environment: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", os.fsdecode(bytes(tmp_path / "c") + b"\xff"))
    said = blindspot("doctor", "--json")
    assert said.code == 0
    assert f"{tmp_path}/c\ufffd" in said.out


@pytest.mark.process
def test_a_library_that_is_missing_is_one_line() -> None:
    """Without site-packages none of the requirements is there."""
    command = ("-S", "-m", "blindspot", "doctor")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = python(*command, env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: a library is missing or broken: No module named ")
    assert line.endswith(f"; install the requirements: {sys.executable} -m pip install -r requirements.txt")
    done = python(*command, "--debug", env=environment)
    assert done.stderr.startswith("Traceback")


def test_it_is_among_the_commands(blindspot: Command) -> None:
    assert " doctor " in blindspot.out("--help")
