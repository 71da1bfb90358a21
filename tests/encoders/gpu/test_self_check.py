"""Self-check of a GPU: what passes, what the CPU does instead, what is kept. The GPU is made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, Encodings, Sibling
from blindspot.encoders.gpu import self_check
from blindspot.encoders.gpu.self_check import DIED, Gpu, Outcome, Outcomes, check_model, check_ranks, place_model
from blindspot.numerics.ranking import gpu as gpu_ranking
from blindspot.types import CancelToken

GPU = Gpu("cuda:3", "Made-up GPU", "its serial number, driver and torch")
MANY = 10**9  # characters
INFO = EncoderInfo("made up", 4, 1_000_000, 4_000_000, "", "", "")


@dataclass
class Model:
    """Vectors of texts by their length; ``spoil`` changes those of a device."""

    spoil: Callable[[np.ndarray, int], np.ndarray] = lambda vectors, _: vectors
    error: Exception | None = None
    info: EncoderInfo = INFO
    loads: list[str] = field(default_factory=list)

    @property
    def family(self) -> tuple[Sibling, ...]:
        return (Sibling(EncoderIdentity(reference="some", revision="1", pooling="", libraries=()), self.info),)

    def load(self) -> None:
        self.loads.append("loaded")
        if self.error:
            raise self.error

    def encode_family(self, texts: Sequence[str], _: CancelToken) -> Encodings:
        rows = np.array([[len(text), 1, 2, text.count(" ")] for text in texts], dtype=np.float32)
        return Encodings((self.spoil(rows, len(texts)),), 0)


def outcome(there: Model, dtype: str = "float32") -> Outcome:
    return check_model("some", dtype, Model(), lambda: there, "cpu", GPU.name)


def nan(vectors: np.ndarray, _: int) -> np.ndarray:
    return np.where(np.arange(len(vectors))[:, None] == 0, np.nan, vectors).astype(np.float32)


def padded(vectors: np.ndarray, texts: int) -> np.ndarray:
    """Other vectors where several texts are one batch."""
    return vectors * np.float32(1.001 if texts > 1 else 1)


def scaled(by: float) -> Callable[[np.ndarray, int], np.ndarray]:
    return lambda vectors, _: (vectors * by).astype(np.float32)


def test_a_gpu_passes_within_the_bound_of_its_precision_alone_and_in_a_batch() -> None:
    cases = {
        "the same": (Model(), "float32", True),
        "rounded otherwise": (Model(scaled(1 + 1e-6)), "float32", True),
        "TF32": (Model(scaled(1 + 3e-4)), "float32", False),
        "half": (Model(scaled(1 + 3e-4)), "float16", True),
        "bad half": (Model(scaled(1.02)), "bfloat16", False),
        "padding leaks": (Model(padded), "float32", False),
        "not a number": (Model(nan), "float32", False),
        "not a number in half": (Model(nan), "float16", False),
        "illegal access": (Model(error=RuntimeError("CUDA error: an illegal memory access\nadvice")), "float32", False),
        "any error": (Model(error=KeyError("a")), "float32", False),
    }
    found = {name: outcome(there, dtype) for name, (there, dtype, _) in cases.items()}
    assert {name: one.passed for name, one in found.items()} == {name: passes for name, (_, _, passes) in cases.items()}
    assert all(one.reason for one in found.values() if not one.passed)
    assert found["illegal access"].reason == "RuntimeError: CUDA error: an illegal memory access"
    assert min(one.of_gpu for name, one in found.items() if "error" not in name and "illegal" not in name) > 0


@pytest.mark.heavy
def test_ranks_must_be_those_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """``cpu`` is a device of torch's like any other."""
    monkeypatch.setattr(self_check, "TIMED_ITEMS", 1_024)
    assert check_ranks("cpu", GPU.name).passed
    assert not check_ranks("mps", "Apple GPU").passed
    real = self_check.rank_there
    monkeypatch.setattr(
        self_check,
        "rank_there",
        lambda *problem: replace(found := real(*problem), ties=found.ties + (found.ties == found.ties.max())),
    )
    found = check_ranks("cpu", GPU.name)
    assert "ranks are not those of the CPU" in found.reason
    assert found.difference > 0


def test_ranks_to_be_checked_have_exact_ties_near_ties_and_zero_vectors() -> None:
    matrix, queries, matches = self_check.ranks_with_ties()
    from blindspot.numerics.similarity import Similarity

    assert (len(queries), len(matrix)) == (64, 4_096)
    counts = self_check.rank_here(matrix, queries, matches, Similarity.COS)
    assert np.count_nonzero(counts.ties) > 32
    lengths = np.linalg.norm(matrix, axis=1)
    assert (lengths[queries] == 0).any()
    assert (lengths[matches] == 0).any()
    assert (counts.similarity[(counts.similarity > 0.999)] != 1).any()


def test_a_failing_device_leaves_the_ranks_to_the_cpu_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """At any call of the device's operations."""
    from blindspot.numerics.ranking.ranks import rank_pairs
    from blindspot.numerics.similarity import Similarity
    from blindspot.types import no_progress

    rng = np.random.default_rng(2)
    matrix = rng.standard_normal((300, 8)).astype(np.float32)
    queries, matches = np.arange(40, dtype=np.int32), np.arange(40, 80, dtype=np.int32)
    problem = (matrix, queries, matches, Similarity.COS, no_progress, CancelToken())
    expected, real = rank_pairs(*problem), gpu_ranking._Asked.count
    monkeypatch.setattr(gpu_ranking, "ITEMS_PER_TILE", 100)
    for failing in range(3):
        calls, said = iter(range(10)), list[str]()

        def count(self: gpu_ranking._Asked, *args: object, c: Iterator[int] = calls, f: int = failing) -> None:
            if next(c) == f:
                raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
            real(self, *args)  # type: ignore[arg-type]

        monkeypatch.setattr(gpu_ranking._Asked, "count", count)
        found = gpu_ranking.rank_pairs_on("cpu", *problem, fallback=said.append)
        assert len(said) == 1
        np.testing.assert_array_equal(found.greater, expected.greater)
        np.testing.assert_array_equal(found.ties, expected.ties)


# --- where a job is done


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has the GPU, with 80 GB free."""
    monkeypatch.setattr(self_check, "emptiest_gpu", lambda: GPU)
    monkeypatch.setattr(self_check, "may_have_gpu", lambda: True)
    monkeypatch.setattr(self_check, "free_memory", lambda _: 80 * 10**9)


def place(there: Model, folder: Path, characters: int = MANY, encoder: Model | None = None) -> self_check.Placement:
    return place_model(encoder or Model(), ("1", "float32"), "float32", lambda _: there, characters, folder)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in seconds, which only models that work let pass."""
    now = [0.0]

    def tick() -> float:
        now[0] += 1e-6
        return now[0]

    monkeypatch.setattr(self_check, "perf_counter", tick)
    return now


@pytest.mark.usefixtures("here")
def test_a_large_job_goes_to_a_gpu_that_passed_and_is_checked_once(tmp_path: Path, clock: list[float]) -> None:
    def slow(vectors: np.ndarray, _: int) -> np.ndarray:
        clock[0] += 1
        return vectors

    class Starting(Model):
        def load(self) -> None:
            super().load()
            clock[0] += 5

    there = Starting()
    assert place(there, tmp_path, encoder=Model(slow)).device == GPU.device
    assert there.loads == ["loaded"]
    assert place(there, tmp_path, encoder=Model(slow)).device == GPU.device
    assert there.loads == ["loaded"], "the outcome is kept"
    assert place(there, tmp_path, characters=1).device == "cpu", "it would not pay"
    Outcomes(tmp_path).forget()
    assert place(there, tmp_path, characters=10) == self_check.Placement(), "a small job makes no check"
    assert there.loads == ["loaded"]


@pytest.mark.usefixtures("here")
def test_whatever_fails_the_cpu_does_the_job_and_the_reason_is_said_again_each_time(tmp_path: Path) -> None:
    there = Model(scaled(1.1))
    first, second = place(there, tmp_path), place(there, tmp_path)
    assert first == second
    assert first.device == "cpu"
    assert "Made-up GPU" in first.note
    assert "differ by 0.099 " in first.note
    assert there.loads == ["loaded"]


@pytest.mark.usefixtures("here")
def test_short_memory_is_no_lasting_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Model(error=RuntimeError("CUDA error: out of memory"))
    assert "out of memory" in place(broken, tmp_path).note
    large = Model(info=replace(INFO, memory_bytes=50 * 10**9))
    full = place(Model(), tmp_path, encoder=large)
    assert full.device == "cpu"
    assert "80.0 GB are free, and it needs 102.0 GB" in full.note
    assert place(Model(), tmp_path).note == ""
    monkeypatch.setattr(self_check, "free_memory", lambda _: 1)
    assert "0.0 GB are free" in place(Model(), tmp_path).note


@pytest.mark.usefixtures("here")
def test_a_check_that_killed_its_process_is_not_tried_again(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    with pytest.raises(Killed):
        place(Model(spoil=raising(Killed())), tmp_path)
    there = Model()
    assert DIED in place(there, tmp_path).note
    assert there.loads == []


def raising(error: BaseException) -> Callable[[np.ndarray, int], np.ndarray]:
    def spoil(_: np.ndarray, __: int) -> np.ndarray:
        raise error

    return spoil


def test_another_driver_or_torch_asks_for_another_check(tmp_path: Path) -> None:
    outcomes, checks = Outcomes(tmp_path), list[str]()

    def check() -> Outcome:
        checks.append("checked")
        return Outcome("some", GPU.name)

    for gpu in (GPU, GPU, replace(GPU, identity="another driver"), replace(GPU, device="cuda:0")):
        outcomes.of(["1", "float32"], gpu, "some", check)
    outcomes.of(["1", "float16"], GPU, "some", check)
    assert len(checks) == 3
    assert len(list(outcomes.all())) == 3


def test_the_emptiest_gpu_is_taken_and_one_that_does_not_answer_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    free = {"cuda:0": 10, "cuda:1": 30, "cuda:2": 20}

    def answer(device: str) -> int:
        if device == "cuda:3":
            raise RuntimeError("CUDA error: all CUDA-capable devices are busy or unavailable")
        return free[device]

    monkeypatch.setattr(self_check, "free_memory", answer)
    assert self_check.emptiest(4) == 1


def test_half_precision_is_offered_where_it_pays(clock: list[float]) -> None:
    def taking(seconds: float, by: float) -> Callable[[np.ndarray, int], np.ndarray]:
        def spoil(vectors: np.ndarray, texts: int) -> np.ndarray:
            clock[0] += seconds if texts > self_check.MIXED_TEXTS else 0
            return (vectors * by).astype(np.float32)

        return spoil

    models = {
        "float32": Model(taking(0.1, 1)),
        "float16": Model(taking(0.01, 1 + 1e-3)),
        "bfloat16": Model(taking(0.01, 1 + 4e-3)),
    }
    found = self_check.half_precision(Model(), models.__getitem__)
    assert found is not None
    assert found.dtype == "float16"
    assert found.times_as_fast > 1.5
    assert 1e-4 < found.difference < 2e-3
    assert self_check.half_precision(Model(), lambda _: models["float32"]) is None
