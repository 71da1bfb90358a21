"""The queue of background work, with real runs: order, cancel, failure, what it tells, and its end."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, DatasetRef, SourceFile, find_dataset
from blindspot.datasets.fetch import DataState, FetchRequest
from blindspot.datasets.published import pairs as loaders
from blindspot.encoders.cache import TEXTS_PER_CHUNK
from blindspot.errors import BlindspotError, InputError
from blindspot.jobs import queue as jobs
from blindspot.jobs.queue import Job, JobQueue, JobState
from blindspot.runs import estimates, pipeline, requesting
from blindspot.runs.cluster import sweeps
from blindspot.runs.cluster.sweeps import ClusterSweep
from blindspot.runs.requests import EncodeRequest, Repetition, RunRequest
from blindspot.settings import ROOT, Mode, Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from blindspot.ui.widgets import work
from blindspot.workspace import demo
from tests.support.cluster_calls import Calls
from tests.support.loopback import Site, serving
from tests.support.small_world import (
    SMALL_PAIRS,
    Gate,
    GramEncoder,
    dataset_entry,
    register_dataset,
    register_encoder,
    wait_until,
)

TEXTS = 1_400  # of demo-pairs
CHUNKS = -(-TEXTS // TEXTS_PER_CHUNK)
THREAD = "blindspot-jobs"
Ask = Callable[..., RunRequest]


@pytest.fixture
def open_queue(settings: Settings, repository: Repository) -> Iterator[Callable[[], JobQueue]]:
    """Make queues that are closed at the end."""
    queues: list[JobQueue] = []

    def opened() -> JobQueue:
        queues.append(JobQueue(settings, repository))
        return queues[-1]

    yield opened
    for queue in queues:
        queue.close()
        atexit.unregister(queue.close)
    repository.database.close()


@pytest.fixture
def queue(open_queue: Callable[[], JobQueue]) -> JobQueue:
    return open_queue()


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open(1_000)  # nobody is left waiting


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, gate: Gate) -> GramEncoder:
    """An encoder in the catalog that encodes a chunk only when the gate is opened."""
    return register_encoder(monkeypatch, GramEncoder("slow", before=gate))


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> GramEncoder:
    register_dataset(monkeypatch, SMALL_PAIRS)
    return register_encoder(monkeypatch, GramEncoder("fast"))


@pytest.fixture
def ask(settings: Settings) -> Ask:
    def asked(encoder: str, transform: str = "none", dataset: str = "demo-pairs") -> RunRequest:
        return requesting.request("evalrank", encoder, transform, dataset, {}, settings)

    return asked


def job_of(queue: JobQueue, job_id: int) -> Job:
    (job,) = (job for job in queue.jobs() if job.job_id == job_id)
    return job


def ended(queue: JobQueue, job_id: int) -> Job:
    """The job once it has ended."""
    wait_until(lambda: not job_of(queue, job_id).state.active)
    return job_of(queue, job_id)


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == THREAD]


# --- running


@pytest.mark.heavy
def test_the_first_runs_of_the_demo_run_to_their_end(
    demo_cache: Path, settings: Settings, repository: Repository, queue: JobQueue
) -> None:
    shutil.copytree(demo_cache / "embeddings", settings.embeddings)
    requests = demo.first_requests(settings)
    job = ended(queue, queue.submit("Demo", requests))
    assert (job.state, job.title, job.stage, job.error) == (JobState.DONE, "Demo", "done", "")
    assert job.tasks_done == len(job.requests) == len(requests) == 3
    assert job.remaining_seconds is None
    assert len(repository.runs(diagnostic="heros", state=RunState.DONE)) == 1
    (stored,) = repository.runs(diagnostic="evalrank", state=RunState.DONE)
    elsewhere = Repository.at(demo_cache / "results.duckdb").runs(dataset="demo-pairs", encoder="minilm")
    assert stored.metrics in [run.metrics for run in elsewhere if run.plan.variant == demo.FIRST]


def test_jobs_run_one_after_another_in_the_order_of_their_arrival(
    queue: JobQueue, ask: Ask, repository: Repository, slow: GramEncoder, fast: GramEncoder, gate: Gate
) -> None:
    first = queue.submit("first", [ask("slow")])
    wait_until(lambda: gate.reached == 1)
    second = queue.submit("second", [ask("fast"), ask("fast", dataset="small-pairs")])
    third = queue.submit("third", [ask("fast", "center", "small-pairs")])
    assert [job.job_id for job in queue.active()] == [first, second, third]
    assert [job.job_id for job in queue.jobs()] == [third, second, first]
    assert [job.state for job in queue.active()] == [JobState.RUNNING, JobState.QUEUED, JobState.QUEUED]
    assert fast.encoded == 0

    gate.open(CHUNKS)
    assert ended(queue, third).state is JobState.DONE
    assert queue.active() == []
    assert [job.state for job in queue.jobs()] == [JobState.DONE] * 3
    in_order = sorted(repository.runs(), key=lambda run: run.run_seq)
    assert [str(run.plan.variant) for run in in_order] == ["slow~none", "fast~none", "fast~none", "fast~center"]
    finished = [run.finished_at for run in in_order if run.finished_at]
    assert len(finished) == 4
    assert finished == sorted(finished)


def test_queued_jobs_can_be_moved_and_the_running_one_cannot(
    queue: JobQueue, ask: Ask, repository: Repository, slow: GramEncoder, fast: GramEncoder, gate: Gate
) -> None:
    running = queue.submit("running", [ask("slow")])
    wait_until(lambda: gate.reached == 1)
    names = ("none", "center", "zscore", "pca:2")
    a, b, c, d = (queue.submit(name, [ask("fast", name, "small-pairs")]) for name in names)

    def order() -> list[int]:
        return [job.job_id for job in queue.active()]

    queue.move(d, -1)
    assert order() == [running, a, b, d, c]
    queue.move(d, -100)
    assert order() == [running, d, a, b, c]
    queue.move(a, 100)
    assert order() == [running, d, b, c, a]
    queue.move(b, 1)
    assert order() == [running, d, c, b, a]
    for gone in (running, 999):
        queue.move(gone, -1)
    queue.cancel(c)
    queue.move(c, -1)
    assert order() == [running, d, b, a]
    gate.open(CHUNKS)
    ended(queue, a)
    done = sorted(repository.runs(), key=lambda run: run.run_seq)
    assert [run.plan.variant.transform for run in done] == ["none", "pca:2", "center", "none"]


@pytest.mark.heavy
def test_old_jobs_are_forgotten(queue: JobQueue, ask: Ask, fast: GramEncoder, monkeypatch) -> None:
    monkeypatch.setattr(jobs, "ENDED_KEPT", 3)
    ids = []
    for i in range(6):
        ids.append(queue.submit(f"{i}", [ask("fast", f"abtt:{i + 1}", "small-pairs")]))
        ended(queue, ids[-1])
    assert [job.job_id for job in queue.jobs()] == ids[:1:-1]


def test_a_run_is_repeated_and_its_scores_are_compared(
    queue: JobQueue, settings: Settings, ask: Ask, repository: Repository, fast: GramEncoder
) -> None:
    request = ask("fast")
    before = pipeline.run(request, settings, repository).record
    again = Repetition(before.run_id, request)
    job = ended(queue, queue.submit(again.label, [again]))
    assert job.state is JobState.DONE
    assert job.requests == (request,)
    assert job.note == f"All {len(before.metrics)} scores are the same as those stored."
    assert repository.run(before.run_id).metrics == before.metrics

    with repository.database.transaction() as cursor:
        cursor.execute("UPDATE metric SET value = 0.125 WHERE name = 'mrr'")
    job = ended(queue, queue.submit(again.label, [again]))
    assert job.note.startswith(f"1 of {len(before.metrics)} scores differ from those stored, which stay: mrr was 0.125")
    assert repository.run(before.run_id).metrics["mrr"] == 0.125


def test_a_repetition_under_other_circumstances_is_another_run(
    queue: JobQueue, ask: Ask, repository: Repository, fast: GramEncoder
) -> None:
    request = ask("fast")
    stale = Repetition("0" * 16, request)
    job = ended(queue, queue.submit(stale.label, [stale]))
    (run,) = repository.runs()
    assert job.note.startswith(f"It is another run now, {run.run_id}:")
    assert run.state is RunState.DONE


def test_the_same_work_submitted_twice_is_one_job(
    queue: JobQueue, ask: Ask, repository: Repository, slow: GramEncoder, fast: GramEncoder, gate: Gate
) -> None:
    running, waiting = [ask("slow")], [ask("fast")]
    with ThreadPoolExecutor(8) as pool:  # as many visitors who press the same button
        ids = set(pool.map(lambda _: queue.submit("demo", running), range(16)))
    assert len(ids) == 1
    wait_until(lambda: gate.reached == 1)
    assert queue.submit("demo again", running) in ids
    queued = queue.submit("other", waiting)
    assert queued not in ids
    assert queue.submit("other again", waiting) == queued
    assert queue.submit("more", running + waiting) not in {*ids, queued}
    assert len(queue.jobs()) == 3

    gate.open(CHUNKS)
    wait_until(lambda: not queue.active())
    assert len(repository.runs()) == 2
    anew = queue.submit("demo once more", running)
    assert anew not in ids  # what has ended can be asked for again
    assert ended(queue, anew).state is JobState.DONE
    assert slow.encoded == TEXTS


# --- cancel


def test_a_queued_job_is_cancelled_at_once_and_never_runs(
    queue: JobQueue, ask: Ask, repository: Repository, slow: GramEncoder, fast: GramEncoder, gate: Gate
) -> None:
    first = queue.submit("first", [ask("slow")])
    wait_until(lambda: gate.reached == 1)
    second = queue.submit("second", [ask("fast")])
    queue.cancel(second)
    assert job_of(queue, second).state is JobState.CANCELLED
    assert [job.job_id for job in queue.active()] == [first]
    gate.open(CHUNKS)
    assert ended(queue, first).state is JobState.DONE
    assert job_of(queue, second).state is JobState.CANCELLED
    assert fast.encoded == 0
    assert [run.plan.variant.encoder for run in repository.runs()] == ["slow"]


def test_a_running_job_is_cancelled_and_continues_where_it_was(
    queue: JobQueue, ask: Ask, repository: Repository, slow: GramEncoder, fast: GramEncoder, gate: Gate
) -> None:
    requests = [ask("slow")]
    job_id = queue.submit("long", requests)
    after = queue.submit("after", [ask("fast")])
    gate.open()
    wait_until(lambda: gate.reached == 2)  # one chunk is done
    queue.cancel(job_id)
    job = ended(queue, job_id)
    assert (job.state, job.stage, job.remaining_seconds, job.error) == (JobState.CANCELLED, "cancelled", None, "")
    assert job.tasks_done == 0
    assert ended(queue, after).state is JobState.DONE  # the queue goes on
    (run,) = (run for run in repository.runs() if run.plan.variant.encoder == "slow")
    assert run.state is RunState.INTERRUPTED

    again = queue.submit("long", requests)
    assert again != job_id
    gate.open(CHUNKS)
    assert ended(queue, again).state is JobState.DONE
    assert slow.encoded == TEXTS  # no chunk was encoded twice
    assert {run.state for run in repository.runs()} == {RunState.DONE}


def test_until_the_work_notices_the_job_is_cancelling(
    monkeypatch: pytest.MonkeyPatch, queue: JobQueue, ask: Ask
) -> None:
    gate = Gate(stubborn=True)
    register_encoder(monkeypatch, GramEncoder("stubborn", before=gate))
    requests = [ask("stubborn")]
    job_id = queue.submit("stubborn", requests)
    wait_until(lambda: gate.reached == 1)
    queue.cancel(job_id)
    job = job_of(queue, job_id)
    assert (job.state, job.stage, job.remaining_seconds) == (JobState.RUNNING, "cancelling", None)
    # Whoever asks for the same now does not get the job that is about to end.
    assert queue.submit("stubborn", requests) != job_id
    gate.open(1_000)
    assert ended(queue, job_id).state is JobState.CANCELLED


def test_cancelling_what_has_ended_or_never_was_changes_nothing(queue: JobQueue, ask: Ask, fast: GramEncoder) -> None:
    job_id = queue.submit("quick", [ask("fast")])
    before = ended(queue, job_id)
    queue.cancel(job_id)
    queue.cancel(12_345)
    assert queue.jobs() == [before]
    assert before.state is JobState.DONE


# --- failure


def known_failure(cancel: CancelToken) -> None:
    raise BlindspotError("the disk\nis full", remedy="free some space")


def unknown_failure(cancel: CancelToken) -> None:
    raise ValueError("first line\n  second line")


@pytest.mark.parametrize(
    ("fails", "error"),
    [
        (known_failure, "the disk is full; free some space"),
        (unknown_failure, "unexpected ValueError: first line second line; the server's log has the details"),
    ],
)
def test_a_failure_is_told_in_one_line_and_the_queue_goes_on(
    monkeypatch: pytest.MonkeyPatch,
    queue: JobQueue,
    ask: Ask,
    repository: Repository,
    fast: GramEncoder,
    fails: Callable[[CancelToken], None],
    error: str,
) -> None:
    register_encoder(monkeypatch, GramEncoder("broken", before=fails))
    broken = queue.submit("broken", [ask("fast"), ask("broken"), ask("fast", "center")])
    after = queue.submit("after", [ask("fast", dataset="small-pairs")])
    assert ended(queue, after).state is JobState.DONE
    job = job_of(queue, broken)
    assert (job.state, job.error, job.tasks_done) == (JobState.FAILED, error, 1)
    assert job.remaining_seconds is None
    states = {run.plan.variant.encoder: run.state for run in repository.runs()}
    assert states == {"fast": RunState.DONE, "broken": RunState.INTERRUPTED}
    assert len(repository.runs(state=RunState.DONE)) == 2


# --- what it tells


def test_fraction_and_remaining_time_follow_the_work(queue: JobQueue, ask: Ask, slow: GramEncoder, gate: Gate) -> None:
    job_id = queue.submit("long", [ask("slow")])
    wait_until(lambda: gate.reached == 1)
    told = [queue._entries[job_id].job]
    for chunk in range(2, CHUNKS + 1):
        gate.open()
        wait_until(lambda chunk=chunk: gate.reached == chunk)
        told.append(queue._entries[job_id].job)
    assert [(job.stage, job.done, job.total) for job in told] == [
        ("encoding", chunk * TEXTS_PER_CHUNK, TEXTS) for chunk in range(CHUNKS)
    ]
    assert all(job.remaining_seconds is not None for job in told), "it was estimated before it began"
    fractions = [job.fraction for job in told]
    assert fractions == sorted(fractions)
    assert 0.0 <= fractions[0] < fractions[-1] < 1.0
    gate.open()
    assert ended(queue, job_id).state is JobState.DONE


def test_a_resumed_stage_does_not_count_what_was_done_before(
    open_queue: Callable[[], JobQueue], ask: Ask, slow: GramEncoder, gate: Gate
) -> None:
    requests = [ask("slow")]
    first = open_queue()
    first.submit("long", requests)
    gate.open()
    wait_until(lambda: gate.reached == 2)
    first.close()
    queue = open_queue()
    job_id = queue.submit("long", requests)
    wait_until(lambda: gate.reached == 3)
    job = job_of(queue, job_id)
    assert job.done == TEXTS_PER_CHUNK
    assert job.remaining_seconds  # at the pace so far it would be "no time at all"
    gate.open(CHUNKS)
    assert ended(queue, job_id).state is JobState.DONE


def test_of_several_runs_time_and_share_are_the_jobs(
    queue: JobQueue, ask: Ask, slow: GramEncoder, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of three runs encodes, which is most of the work; nothing is full before the end, nothing goes back."""
    requests = [ask("slow", transform) for transform in ("none", "center", "zscore")]
    told: list[Job] = []
    update = queue._update

    def noted(entry: jobs._Entry, **changes: object) -> None:
        update(entry, **changes)
        told.append(entry.job)

    monkeypatch.setattr(queue, "_update", noted)
    gate.open(CHUNKS)
    assert ended(queue, queue.submit("three", requests)).state is JobState.DONE
    running = [job for job in told if job.state is JobState.RUNNING and job.tasks_done < len(requests)]
    assert {job.tasks_done for job in running} == {0, 1, 2}
    fractions = [job.fraction for job in running]
    assert fractions == sorted(fractions)
    assert fractions[-1] < 1.0, "a stage that is done fills no bar"
    assert len({job.stage for job in running}) > 2
    for job in running:
        assert job.remaining_seconds is not None, "it was estimated before it began"
        if job.tasks_done < 2:
            assert job.remaining_seconds > 0, "there is another run to come"


@pytest.mark.parametrize("is_known", [True, False])
def test_the_time_of_one_run_is_that_of_all_its_stages(
    queue: JobQueue, ask: Ask, slow: GramEncoder, gate: Gate, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """Expected to take 1,000 s: no stage of it, each of which takes a moment, says otherwise."""
    request = ask("slow")
    found = estimates.RunEstimate(request, False, 1_000.0 if is_known else None, 0, 0, False)
    monkeypatch.setattr(estimates, "estimate", lambda *_: estimates.Estimate((found,), (), 0, {}))
    told: list[Job] = []
    update = queue._update

    def noted(entry: jobs._Entry, **changes: object) -> None:
        update(entry, **changes)
        told.append(entry.job)

    monkeypatch.setattr(queue, "_update", noted)
    gate.open(CHUNKS)
    assert ended(queue, queue.submit("one", [request])).state is JobState.DONE
    running = [job for job in told if job.state is JobState.RUNNING and not job.tasks_done]
    assert len({job.stage for job in running}) > 2
    if is_known:
        assert all(900 < (job.remaining_seconds or 0.0) <= 1_000 for job in running)
        assert all(job.fraction < 0.1 for job in running)
    else:
        assert {job.remaining_seconds for job in running} == {None}


def test_the_outlook_by_hand() -> None:
    """Runs of 10, 2 and 4 s as expected, of a machine that takes twice as long."""
    outlook = jobs._Outlook((10.0, 2.0, 4.0), in_seconds=True)
    assert outlook.remaining(0.0, None) == 16.0
    assert outlook.remaining(6.0, None) == 10.0
    assert outlook.remaining(15.0, None) == 6.0, "it takes longer than expected: at least what comes after it is left"
    assert outlook.remaining(15.0, 5.0) == 11.0, "the stage says when it ends"
    assert [outlook.is_late(at, stage) for at, stage in ((6.0, None), (15.0, None), (15.0, 5.0))] == [0, 1, 0]
    outlook.spent.append(20.0)
    outlook.task_began = 20.0
    pace = (20 + jobs.ASSUMED_SECONDS) / (10 + jobs.ASSUMED_SECONDS)
    assert outlook.remaining(21.0, None) == pytest.approx(2 * pace - 1 + 4 * pace)
    assert outlook.share(21.0, 7.0) == 21 / 28
    assert outlook.share(22.0, 22.0) == 21 / 28, "a bar does not go back"


def test_the_time_left_goes_on_while_nothing_is_told(settings: Settings, repository: Repository) -> None:
    """A task of 10 s began at 100 s, told that at 101 s, and says nothing more."""
    job = Job(1, "Demo", (), state=JobState.RUNNING, stage="making a map", remaining_seconds=13.0)
    outlook = jobs._Outlook((10.0, 4.0), in_seconds=True, task_began=100.0)
    entry = jobs._Entry(job, jobs.Place(settings, repository), 1, outlook=outlook, told=101.0)
    assert (entry.seen(104.0).remaining_seconds, entry.seen(104.0).task_seconds) == (10.0, 4.0)
    late = entry.seen(230.0)
    assert (late.remaining_seconds, late.task_seconds) == (None, 130.0), "no time stands still for two minutes"
    assert "making a map, for 2 min already" in work._describe(late)
    assert "left" in work._describe(entry.seen(104.0))
    entry.job, entry.stage_left = replace(job, remaining_seconds=204.0), 200.0
    assert entry.seen(230.0).remaining_seconds is not None, "its stage says when it ends"


def test_without_an_estimate_the_pace_is_that_of_the_tasks_that_are_done() -> None:
    outlook = jobs._Outlook((1.0, 1.0, 1.0))
    assert outlook.remaining(5.0, 3.0) is None
    assert outlook.share(5.0, None) == 0.0
    outlook.spent.append(6.0)
    outlook.task_began = 6.0
    assert outlook.remaining(8.0, None) == 4.0 + 6.0


def test_a_run_that_cannot_be_estimated_fails_at_its_turn_only(
    queue: JobQueue, ask: Ask, fast: GramEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ask("fast")
    gone = replace(known, dataset=DatasetRef("gone-since"))
    job = ended(queue, queue.submit("two", [known, replace(gone, params=known.params)]))
    assert (job.state, job.tasks_done) == (JobState.FAILED, 1)
    assert "gone-since" in job.error


# --- a cluster


def held_cluster(monkeypatch: pytest.MonkeyPatch) -> tuple[Calls, list[str], threading.Event]:
    """A cluster whose nodes wait for an event, and the names of those that were asked for something."""
    met, go_on = list[str](), threading.Event()

    def wait(node: str) -> None:
        met.append(node)
        go_on.wait(60)

    engine = Calls(before=wait)
    monkeypatch.setattr(sweeps, "engine_of", lambda *_: engine)
    return engine, met, go_on


def test_a_sweep_on_a_cluster_leaves_this_machine_free(
    queue: JobQueue, ask: Ask, repository: Repository, fast: GramEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, met, go_on = held_cluster(monkeypatch)
    requests = (ask("fast", dataset="small-pairs"), ask("fast", "center", dataset="small-pairs"))
    first = queue.submit("on the cluster", [ClusterSweep(requests)])
    wait_until(lambda: bool(met))
    second = queue.submit("here", [ask("fast")])
    assert ended(queue, second).state is JobState.DONE
    job = job_of(queue, first)
    assert (job.state, job.requests, job.on_cluster) == (JobState.RUNNING, requests, True)
    assert job.encoders == {"fast"}
    go_on.set()
    assert ended(queue, first).state is JobState.DONE
    assert engine.closed == 1
    assert len(repository.runs(state=RunState.DONE)) == 3


def test_a_sweep_on_a_cluster_is_cancelled(
    queue: JobQueue, ask: Ask, fast: GramEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, met, go_on = held_cluster(monkeypatch)
    first = queue.submit("first", [ClusterSweep((ask("fast", dataset="small-pairs"),))])
    waiting = queue.submit("second", [ClusterSweep((ask("fast"),))])
    wait_until(lambda: bool(met))
    queue.cancel(waiting)
    assert job_of(queue, waiting).state is JobState.CANCELLED
    queue.cancel(first)
    go_on.set()
    assert ended(queue, first).state is JobState.CANCELLED
    assert engine.closed == 1


def test_on_a_demo_nothing_is_sent_to_a_cluster(settings: Settings, repository: Repository, ask: Ask) -> None:
    demo_queue = JobQueue(replace(settings, mode=Mode.DEMO, ray="local"), repository)
    with pytest.raises(InputError):
        demo_queue.submit("sweep", [ClusterSweep((ask("minilm"),))], "somebody")
    demo_queue.close()


# --- downloads


CONTENT = b"a text\tits match\nanother\tone\n" + b"x" * 200_000 + b"\ty\n"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server with the file of the dataset ``distant``, which is in the catalog."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as site:
        site.files["/pairs.txt"] = CONTENT
        sha256 = hashlib.sha256(CONTENT).hexdigest()
        file = SourceFile("distant", "pairs.txt", f"{site.url}/pairs.txt", len(CONTENT), sha256)
        entry = replace(
            dataset_entry(SMALL_PAIRS),
            id="distant",
            files=(file,),
            load=lambda dataset_id, paths: loaders.evalrank(dataset_id, paths[0], ()),
        )
        monkeypatch.setitem(DATASETS, "distant", entry)
        yield site


def distant_state(settings: Settings) -> DataState:
    return fetch.dataset_state(find_dataset("distant"), settings)


@pytest.mark.server
def test_a_download_is_a_job_beside_runs(
    queue: JobQueue, settings: Settings, ask: Ask, repository: Repository, fast: GramEncoder, site: Site
) -> None:
    wanted = [FetchRequest(DatasetRef("distant"))]
    site.gate.clear()
    job_id = queue.submit("Download", wanted)
    wait_until(lambda: job_of(queue, job_id).stage == "fetching pairs.txt")
    assert queue.submit("Download, another visitor", wanted) == job_id
    job = job_of(queue, job_id)
    assert (job.requests, job.total) == ((), len(CONTENT))
    both = queue.submit("both", [FetchRequest(DatasetRef("distant")), ask("fast", dataset="distant")])
    assert both != job_id
    site.gate.set()
    assert ended(queue, job_id).state is JobState.DONE
    assert distant_state(settings) is DataState.DOWNLOADED
    job = ended(queue, both)
    assert (job.state, job.tasks_done, len(job.tasks), len(job.requests)) == (JobState.DONE, 2, 2, 1)
    assert [run.plan.dataset for run in repository.runs(state=RunState.DONE)] == ["distant"]
    assert len(site.ranges) == 1


@pytest.mark.server
def test_a_cancelled_download_goes_on_where_it_was(queue: JobQueue, settings: Settings, site: Site) -> None:
    site.gate.clear()
    job_id = queue.submit("Download", [FetchRequest(DatasetRef("distant"))])
    wait_until(lambda: job_of(queue, job_id).done > 0)
    queue.cancel(job_id)
    site.gate.set()
    assert ended(queue, job_id).state is JobState.CANCELLED
    assert distant_state(settings) is DataState.MISSING
    assert ended(queue, queue.submit("Download", [FetchRequest(DatasetRef("distant"))])).state is JobState.DONE
    assert site.ranges == [None, "bytes=1-"]
    assert distant_state(settings) is DataState.DOWNLOADED


@pytest.mark.server
def test_a_download_repairs_and_a_failed_one_says_what_to_do(queue: JobQueue, settings: Settings, site: Site) -> None:
    path = fetch.local_path(find_dataset("distant").files[0], settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"z" * len(CONTENT))
    content = site.files.pop("/pairs.txt")
    job = ended(queue, queue.submit("Repair", [FetchRequest(DatasetRef("distant"))]))
    assert job.state is JobState.FAILED
    assert "404" in job.error
    assert "BLINDSPOT_MIRROR" in job.error
    assert distant_state(settings) is DataState.CORRUPT
    site.files["/pairs.txt"] = content
    assert ended(queue, queue.submit("Repair", [FetchRequest(DatasetRef("distant"))])).state is JobState.DONE
    assert distant_state(settings) is DataState.DOWNLOADED


# --- the end


def test_close_ends_the_thread_in_the_middle_of_a_job(
    queue: JobQueue, ask: Ask, repository: Repository, slow: GramEncoder, fast: GramEncoder, gate: Gate
) -> None:
    before = len(workers())
    job_id = queue.submit("long", [ask("slow")])
    queue.submit("never", [ask("fast")])
    wait_until(lambda: gate.reached == 1)
    queue.close()  # waits two seconds at most
    assert len(workers()) == before - 1
    assert job_of(queue, job_id).state is JobState.CANCELLED
    assert fast.encoded == 0
    assert [run.state for run in repository.runs()] == [RunState.INTERRUPTED]
    queue.close()  # once more does no harm


def test_close_ends_an_idle_thread(queue: JobQueue) -> None:
    before = len(workers())
    queue.close()
    assert len(workers()) == before - 1


def test_close_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch, queue: JobQueue, ask: Ask) -> None:
    assert jobs.JOIN_SECONDS == 2.0
    monkeypatch.setattr(jobs, "JOIN_SECONDS", 0.05)
    gate = Gate(stubborn=True)
    register_encoder(monkeypatch, GramEncoder("stubborn", before=gate))
    job_id = queue.submit("stubborn", [ask("stubborn")])
    wait_until(lambda: gate.reached == 1)
    queue.close()
    assert job_of(queue, job_id).state is JobState.RUNNING  # close came back before the work
    gate.open(1_000)
    assert ended(queue, job_id).state is JobState.CANCELLED


SERVER = """
import signal, sys
import pytest
from blindspot.runs import requesting
from blindspot.jobs.queue import JobQueue
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from tests.support.small_world import Gate, GramEncoder, register_encoder, wait_until

settings, gate = Settings.from_environment(), Gate()
register_encoder(pytest.MonkeyPatch(), GramEncoder("slow", before=gate))
queue = JobQueue(settings, Repository.at(settings.store))
queue.submit("long", [requesting.request("evalrank", "slow", "none", "demo-pairs", {}, settings)])
gate.open()
wait_until(lambda: gate.reached == 2)
if sys.argv[1] == "interrupted":
    signal.raise_signal(signal.SIGINT)
"""


@pytest.mark.process
@pytest.mark.parametrize(("how", "code"), [("ends", 0), ("interrupted", -signal.SIGINT)])
def test_a_process_that_ends_takes_its_job_with_it(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository, how: str, code: int
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    child = subprocess.run(
        [sys.executable, "-c", SERVER, how], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert child.returncode == code, child.stderr
    assert child.stderr == "" or how == "interrupted"
    (run,) = repository.runs()
    assert run.state is RunState.INTERRUPTED
    with repository.database.cursor() as cursor:
        assert cursor.execute("SELECT process_id FROM run").fetchall() == [(0,)]  # given up, not just left
    assert len(list(settings.embeddings.glob("*.parts/*.npz"))) == 1  # the chunk that was done is kept


def test_encoding_is_a_job_too(queue: JobQueue, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    encoder = register_encoder(monkeypatch, GramEncoder("encodes"))
    job_id = queue.submit("Encode", [EncodeRequest("encodes", DatasetRef(SMALL_PAIRS.id))])
    job = ended(queue, job_id)
    assert job.state is JobState.DONE
    assert encoder.encoded == len(SMALL_PAIRS.items)
    assert (job.encoders, job.datasets, job.requests) == ({"encodes"}, {SMALL_PAIRS.id}, ())
