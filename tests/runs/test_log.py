"""The log of jobs: content of lines, rotation, and no line lost between processes."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.fetch import FetchRequest
from blindspot.errors import BlindspotError, Cancelled
from blindspot.jobs.queue import JobQueue, JobState
from blindspot.runs import log as joblog
from blindspot.runs.log import JobLine, path_of, recorded
from blindspot.runs.requests import EncodeRequest
from blindspot.settings import ROOT, Settings
from blindspot.store.repository import Repository
from tests.support.commands import Command

WRITE = """
import sys
from blindspot.runs import log as joblog
from blindspot.runs.log import JobLine
from blindspot.settings import Settings
joblog.MAX_BYTES = 2_000
for number in range(20):
    joblog.write(Settings.from_environment(), JobLine("run", run_id=f"{sys.argv[1]}-{number}"))
"""


def lines(settings: Settings) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path_of(settings).read_text("utf-8").splitlines()]


def test_a_run_of_the_command_line_has_a_line(blindspot: Command, settings: Settings) -> None:
    command = "run evalrank --encoder random-projection-64 --transform center --dataset demo-pairs --json".split()
    (run,) = blindspot(*command).json["runs"]
    assert "blindspot.jobs" not in blindspot(*command).err  # a command line has its own words
    first, second = lines(settings)
    assert {k: first[k] for k in ("kind", "diagnostic", "variant", "dataset", "run_id", "outcome")} == {
        "kind": "run",
        "diagnostic": "evalrank",
        "variant": "random-projection-64 + center",
        "dataset": "demo-pairs",
        "run_id": run["run_id"],
        "outcome": "computed",
    }
    assert 0 < first["seconds"] < 600
    assert 10**7 < first["peak_bytes"] < 10**11
    assert (second["run_id"], second["outcome"]) == (run["run_id"], "found")


@pytest.mark.heavy
def test_so_has_what_else_it_computes(blindspot: Command, settings: Settings, tmp_path: Path) -> None:
    of_them = "--dataset demo-pairs --encoder random-projection-64".split()
    blindspot.out("hubs", *of_them)
    blindspot.out("map", *of_them, "--method", "pca", "--out", str(tmp_path / "map.csv"))
    blindspot.out("judge", "make", *of_them, "--task", "intruder", "--queries", "sentences:20")
    found = [(line["kind"], line["variant"], line["dataset"], line["outcome"]) for line in lines(settings)]
    of_all = ("random-projection-64", "demo-pairs", "computed")
    assert [line for line in found if line[0] != "encode"] == [(kind, *of_all) for kind in ("hubs", "map", "items")]


def test_what_the_worker_does_has_lines(settings: Settings, repository: Repository) -> None:
    queue = JobQueue(settings, repository)
    queue.submit(
        "Two",
        [EncodeRequest("random-projection-64", DatasetRef("demo-pairs")), FetchRequest(DatasetRef("evalrank-sent"))],
    )
    finished = threading.Event()
    while any(job.state.active for job in queue.jobs()):
        finished.wait(0.05)
    (job,) = queue.jobs()
    queue.close()
    assert job.state is JobState.FAILED  # there is no network
    encoded, fetched = lines(settings)
    assert (encoded["kind"], encoded["variant"], encoded["outcome"]) == ("encode", "random-projection-64", "computed")
    assert (fetched["kind"], fetched["dataset"], fetched["outcome"]) == ("fetch", "evalrank-sent", "failed")
    assert fetched["error"].startswith("DataMissing at blindspot/datasets/fetch.py:")


@pytest.mark.parametrize(
    ("error", "outcome", "begins"),
    [
        (BlindspotError("the text 'my secret' at https://me:password@host"), "failed", "BlindspotError"),
        (ValueError("my secret"), "failed", "ValueError"),
        (Cancelled(), "cancelled", ""),
        (KeyboardInterrupt(), "interrupted", "KeyboardInterrupt"),
    ],
)
def test_how_it_ended_and_no_word_of_the_message(
    settings: Settings, error: BaseException, outcome: str, begins: str
) -> None:
    with pytest.raises(type(error)), recorded(settings, JobLine("map")):
        raise error
    (line,) = lines(settings)
    assert line["outcome"] == outcome
    assert line.get("error", "").startswith(begins)
    assert "secret" not in json.dumps(line)
    assert "password" not in json.dumps(line)


@pytest.mark.process
def test_a_server_says_it_on_stderr_too(settings: Settings) -> None:
    code = (
        "from blindspot.runs import log as joblog; from blindspot.runs.log import JobLine\n"
        "from blindspot.settings import Settings\n"
        "joblog.echo_to_stderr(); joblog.echo_to_stderr()\n"
        "line = JobLine('run', 'heros', 'minilm', 'demo-minimal', 'abc', 1.25, 5*10**8)\n"
        "joblog.write(Settings.from_environment(), line)"
    )
    command, environment = [sys.executable, "-c", code], {"BLINDSPOT_CACHE": str(settings.cache)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    assert line.endswith(" run heros minilm on demo-minimal: computed in 1.2 s, peak 500 MB, run abc")


@pytest.mark.process
def test_processes_take_turns_and_files_are_kept_small(settings: Settings) -> None:
    command = [sys.executable, "-c", WRITE]
    environment = {"BLINDSPOT_CACHE": str(settings.cache)}
    writers = [subprocess.Popen([*command, str(n)], cwd=ROOT, env=environment) for n in range(3)]
    assert [writer.wait(300) for writer in writers] == [0, 0, 0]
    files = sorted(settings.logs.glob("jobs.jsonl*"))
    assert 2 < len(files) <= 1 + joblog.FILES_KEPT
    assert max(file.stat().st_size for file in files) <= 2_000
    kept = [json.loads(line)["run_id"] for file in files for line in file.read_text("utf-8").splitlines()]
    assert sorted(kept) == sorted(f"{writer}-{number}" for writer in range(3) for number in range(20))


def test_a_log_that_cannot_be_written_stops_nothing(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    path_of(settings).mkdir(parents=True)  # a folder in place of the file
    with caplog.at_level(logging.WARNING), recorded(settings, JobLine("run")):
        pass
    assert "the log of jobs has no line of this: [Errno 21] Is a directory" in caplog.text
    path_of(settings).rmdir()
    settings.logs.rmdir()
    settings.logs.write_text("a file", "utf-8")  # a file in place of the folder
    with caplog.at_level(logging.WARNING), recorded(settings, JobLine("run")):
        pass
    assert "the log of jobs has no line of this: cannot write" in caplog.text
    assert settings.logs.read_text("utf-8") == "a file"
