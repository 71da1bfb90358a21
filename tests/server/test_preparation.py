"""The preparation of a hosted demo, with work that takes no time; the demo itself is in ``tests/browser``."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from queue import Queue

import pytest

from blindspot.errors import BlindspotError
from blindspot.files.writing import exclusive_now
from blindspot.jobs import demo
from blindspot.jobs.queue import HOST, JobQueue, Task
from blindspot.numerics.similarity import Similarity
from blindspot.runs import own_scale
from blindspot.server import preparation, routes
from blindspot.server.preparation import LOCK, Preparation, Progress
from blindspot.settings import Mode, Settings
from blindspot.types import CancelToken
from blindspot.ui import resources
from blindspot.variants import Variant
from tests.support.small_world import SMALL_PAIRS, Gate, GramEncoder, wait_until
from tests.support.tables import each
from tests.support.world import World


@pytest.fixture
def small(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(settings, monkeypatch)


@pytest.fixture
def hosted(small: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """A hosted demo whose whole demo are 14 runs of a small encoder; ``small`` has its store."""
    small.add(SMALL_PAIRS, GramEncoder())
    settings = replace(small.settings, mode=Mode.DEMO, prepare=True)
    queue = JobQueue(settings, small.repository)
    monkeypatch.setattr(resources, "jobs", lambda: queue)
    wanted: list[Task] = [
        small.request("evalrank", f"trigrams~{chain}", "small-pairs", metric=metric)
        for chain in ("none", "center", "zscore", "abtt:1", "abtt:2", "pcr:1", "center+truncate:9")
        for metric in Similarity
    ]
    monkeypatch.setattr(demo, "demo_tasks", lambda _settings: wanted)
    yield settings
    queue.close()


def answer(settings: Settings, prepared: Preparation) -> tuple[int, dict[str, object]]:
    response = routes.Readiness(settings, prepared)(None)  # type: ignore[arg-type]
    return response.status_code, json.loads(bytes(response.body))


@pytest.mark.heavy
def test_a_server_is_ready_when_all_of_the_demo_is_stored(hosted: Settings, small: World) -> None:
    prepared = Preparation()
    prepared.begin(hosted)
    status, said = answer(hosted, prepared)
    assert (status, said["ready"], said["reasons"]) == (503, False, ["preparing"])
    assert said["preparing"] == {"done": 0, "of": 0, "remaining_seconds": None, "failed": False}
    prepared.run(hosted)  # more tasks than a visitor may ask for
    assert answer(hosted, prepared) == (200, {"ready": True})
    assert len(small.repository.runs()) == 14
    (job,) = resources.jobs().jobs()
    assert job.owners == {HOST}

    # a server that begins later, as after a kill, computes what is missing
    gone = small.repository.runs()[0]
    small.repository.delete(gone)
    prepared.begin(hosted)
    prepared.run(hosted)
    log = (hosted.cache / "logs" / "jobs.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["outcome"] for line in log].count("computed") == 15
    assert len(small.repository.runs()) == 14


def test_nothing_is_prepared_unless_wanted(settings: Settings) -> None:
    prepared = Preparation()
    prepared.begin(settings)
    prepared.run(settings)
    assert answer(settings, prepared) == (200, {"ready": True})


def test_visitors_can_neither_cancel_it_nor_are_kept_out_by_it(hosted: Settings, small: World) -> None:
    gate = Gate()
    small.add(GramEncoder("slow", before=gate))
    queue = resources.jobs()
    number = queue.submit("Demo", [small.request("evalrank", "slow", "small-pairs")] * 1, HOST)
    job = next(job for job in queue.jobs() if job.job_id == number)
    assert not queue.may_cancel(job, "somebody")
    queue.cancel(number, "somebody")
    queue.check_room(12, "somebody")
    gate.open(100)
    wait_until(lambda: not queue.active())


@pytest.mark.heavy
def test_of_two_servers_on_one_cache_one_computes(hosted: Settings, small: World) -> None:
    with exclusive_now(hosted.cache / LOCK) as held:
        assert held  # by another server
        prepared = Preparation()
        prepared.begin(hosted)
        thread = threading.Thread(target=prepared.run, args=(hosted,), daemon=True)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
        assert resources.jobs().jobs() == []
        assert answer(hosted, prepared)[0] == 503
    thread.join(60)
    assert answer(hosted, prepared) == (200, {"ready": True})


@pytest.mark.heavy
def test_what_fails_is_tried_again(hosted: Settings, small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Progress | None] = []
    prepared = Preparation()

    def lost(_settings: Settings) -> list[Task]:
        raise BlindspotError("the disk is full")

    def later(_seconds: float) -> None:
        seen.append(prepared.progress)
        monkeypatch.setattr(
            demo, "demo_tasks", lambda _settings: [small.request("evalrank", "trigrams", "small-pairs")]
        )

    monkeypatch.setattr(demo, "demo_tasks", lost)
    monkeypatch.setattr(preparation, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(preparation.time, "sleep", later)
    prepared.begin(hosted)
    prepared.run(hosted)
    assert seen[0] == Progress(failed=True)
    assert prepared.progress is None


@each("loads_ahead", [True, False])
def test_a_server_loads_ahead_unless_told_otherwise(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, loads_ahead: bool
) -> None:
    loaded: Queue[str] = Queue()
    for name in ("ready_kernels", "ready_model"):
        monkeypatch.setattr(routes, name, lambda _settings, name=name: loaded.put(name))
    routes._start(replace(settings, loads_ahead=loads_ahead))
    expected = ["ready_kernels", "ready_model"] if loads_ahead else []
    assert sorted(loaded.get(timeout=60) for _ in expected) == expected
    assert loaded.empty()


@pytest.mark.heavy
def test_the_first_model_is_ready_before_anybody_tries_a_sentence(settings: Settings) -> None:
    own_scale._ground.cache_clear()
    routes.ready_model(settings)
    assert own_scale._ground.cache_info().currsize == 1
    assert not settings.embeddings.exists(), "what nobody asked for is not kept"
    found = own_scale.ground_of(Variant("minilm", "none"), settings, CancelToken()).scale
    assert found is not None
    assert own_scale._ground.cache_info().misses == 1
    assert found.unrelated.high < found.paraphrases.low
