"""Self-check of a GPU, once for each model and precision; ``auto`` needs it before it uses the GPU.

The GPU's vectors of some texts, alone and padded in one batch, and its ranks with exact and near ties and zero vectors
are compared with the processor's, and both are timed. The outcome is a file in the cache, also if the GPU fails or
the process dies. A GPU that failed is not checked again until something about it changes or ``doctor --gpu`` asks.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np

from blindspot.encoders.base import EncoderInfo, Encodings, Sibling
from blindspot.encoders.transformer.backends import PROBES, difference
from blindspot.errors import BlindspotError
from blindspot.files.writing import exclusive, write_atomically
from blindspot.numerics.devices import first_line, free_memory, is_of_device, is_out_of_memory, kind_of, release
from blindspot.numerics.ranking.gpu import rank_pairs_on
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.types import CancelToken, Float32, Int32, digest_of_strings, no_progress

Result = TypeVar("Result")

FOLDER = "gpu"  # in the cache
FLOAT32 = "float32"
BOUNDS = {FLOAT32: 1e-5, "float16": 1e-2, "bfloat16": 1e-2}  # of a component, relative to the vector's length
MIXED_TEXTS = 64
TIMES_WEIGHTS, GIGABYTES_MORE = 2, 2  # free memory needed: for the weights, and for a batch
TEXTS_OF_HALF, LEAST_GAIN = 4_096, 1.2
RANKED, ITEMS, DIMENSION = 64, 4_096, 96
TIMED_QUERIES, TIMED_ITEMS, TIMED_DIMENSION = 512, 16_384, 256
# Smaller jobs run on the processor without checking a GPU: characters times parameters, about half of the
# operations. MiniLM encodes 2,000 sentences in 4 seconds on two cores.
SMALL_JOB = 3e12
SMALL_RANKING = 2e12  # products of coordinates: 10 seconds on two cores
DIED = "the process that checked it died"


@dataclass(frozen=True)
class Gpu:
    """A GPU that torch can use.

    Attributes:
        device: ``cuda:N`` or ``mps``.
        identity: changes if the GPU, its driver or torch does.
    """

    device: str
    name: str
    identity: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check.

    Attributes:
        subject: reference of the model, or "ranks".
        gpu: its name.
        reason: why it failed; "" if it passed.
        difference: largest difference of a component, relative to the vector's length; for ranks, how many differ.
        of_cpu, of_gpu: work per second: characters, or products of coordinates; 0 if it was not timed.
        start_seconds: before the first vector comes from the GPU.
        is_lasting: False if memory was short, since it may suffice the next time.
    """

    subject: str
    gpu: str
    dtype: str = FLOAT32
    reason: str = ""
    difference: float = 0.0
    of_cpu: float = 0.0
    of_gpu: float = 0.0
    start_seconds: float = 0.0
    is_lasting: bool = True

    @property
    def passed(self) -> bool:
        return not self.reason

    def pays(self, work: float) -> bool:
        """Whether the GPU does so much work sooner, its start included."""
        return self.passed and self.start_seconds + work / max(self.of_gpu, 1e-9) < work / max(self.of_cpu, 1e-9)

    def __str__(self) -> str:
        if not self.passed:
            return f"{self.gpu} is not used for {self.subject}: {self.reason}"
        what = "counts all ranks" if self.subject == RANKS else f"differs by {self.difference:.1g} with {self.subject}"
        by = " as the CPU does" if self.subject == RANKS else f" from the CPU in {self.dtype}"
        return f"{self.gpu} {what}{by}, and is {self.of_gpu / max(self.of_cpu, 1e-9):,.1f} times as fast"


RANKS = "ranks"


@dataclass(frozen=True)
class Placement:
    """The device for a job, and a sentence if that is the CPU because a GPU failed its check."""

    device: str = "cpu"
    note: str = ""


class Checkable(Protocol):
    """An encoder that runs on any device."""

    @property
    def info(self) -> EncoderInfo: ...

    @property
    def family(self) -> tuple[Sibling, ...]: ...

    def load(self) -> None: ...

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings: ...


# --- which GPU


def emptiest_gpu() -> Gpu | None:
    """The GPU with the most free memory, or Apple's; None where torch can use none."""
    import torch

    if torch.cuda.is_available():
        number = emptiest(torch.cuda.device_count())
        about = torch.cuda.get_device_properties(number)
        of_cuda = [about.name, str(getattr(about, "uuid", number)), torch.__version__, _driver()]
        return Gpu(f"cuda:{number}", about.name, digest_of_strings(of_cuda))
    if torch.backends.mps.is_available():
        return Gpu(
            "mps", "Apple GPU", digest_of_strings([platform.mac_ver()[0], platform.machine(), torch.__version__])
        )
    return None


def emptiest(gpus: int) -> int:
    """The number of the CUDA device with the most free memory; a device that does not answer comes last."""

    def free(number: int) -> int:
        try:
            return free_memory(f"cuda:{number}")
        except Exception as error:
            if not is_of_device(error):
                raise
            return -1

    return max(range(gpus), key=free) if gpus > 1 else 0


@cache
def _driver() -> str:
    for path in (Path("/proc/driver/nvidia/version"), Path("/sys/module/amdgpu/version")):
        with suppress(OSError):
            return path.read_text("utf-8", errors="replace").strip()
    import torch

    return str(getattr(torch._C, "_cuda_getDriverVersion", lambda: "")())


# --- the check of a model


def mixed_texts(count: int = MIXED_TEXTS) -> tuple[str, ...]:
    """Short and long texts of made-up words."""
    rng = np.random.default_rng(53)
    starts, ends = "b d f g k l m n p r s t v sh tr".split(), "an el in or us et al om ir ab ey".split()
    words = [a + b for a in starts for b in ends]
    out = []
    for i in range(count):
        length = int(rng.integers(1, 6 if i % 4 else 48))
        out.append(" ".join(words[k] for k in rng.integers(0, len(words), length)) + (".", "?", " 7!", "")[i % 4])
    return tuple(out)


def check_model(
    reference: str, dtype: str, on_cpu: Checkable, on_gpu: Callable[[], Checkable], device: str, gpu: str
) -> Outcome:
    """Compare vectors and time both.

    Args:
        on_gpu: builds the same model on the GPU, not loaded yet.
    """
    start = Outcome(reference, gpu, dtype)
    return _guarded(start, device, lambda: _compare_vectors(start, on_cpu, on_gpu))


def _compare_vectors(start: Outcome, on_cpu: Checkable, on_gpu: Callable[[], Checkable]) -> Outcome:
    never, texts, bound = CancelToken(), [*mixed_texts(), *PROBES], BOUNDS[start.dtype]
    on_cpu.load()
    expected, cpu_seconds = _timed(lambda: on_cpu.encode_family(texts, never).vectors, 1)
    began = perf_counter()
    there = on_gpu()
    there.load()
    there.encode_family(texts[:1], never)
    start_seconds = perf_counter() - began
    alone = [there.encode_family([text], never).vectors for text in texts]
    together, gpu_seconds = _timed(lambda: there.encode_family(texts, never).vectors, 2)
    worst = 0.0
    for pooling, vectors in enumerate(expected):
        for others in (np.concatenate([of_text[pooling] for of_text in alone]), together[pooling]):
            by = difference(vectors, others)
            worst = by if not by <= worst else worst  # NaN stays
    characters = sum(map(len, texts))
    how = "are not all numbers" if np.isnan(worst) else f"differ by {worst:.2g} of their length"
    return replace(
        start,
        reason="" if worst <= bound else f"its vectors in {start.dtype} {how}, and at most {bound:g} is expected",
        difference=worst if worst <= bound else -1.0,
        of_cpu=characters / cpu_seconds,
        of_gpu=characters / gpu_seconds,
        start_seconds=start_seconds,
    )


def too_full(info: EncoderInfo, device: str) -> str:
    """Why a model does not fit on a GPU together with a batch; "" if it does."""
    needed = TIMES_WEIGHTS * info.memory_bytes + GIGABYTES_MORE * 10**9
    try:
        free = free_memory(device)
    except Exception as error:
        if not is_of_device(error):
            raise
        return f"it does not answer: {first_line(error)}"
    return f"{free / 1e9:.1f} GB are free, and it needs {needed / 1e9:.1f} GB" if free < needed else ""


def _guarded(start: Outcome, device: str, check: Callable[[], Outcome]) -> Outcome:
    """The outcome of a check; whatever it raises is a reason to do the job on the CPU."""
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - told at the run and by the doctor
        reason, is_lasting = f"{type(error).__name__}: {first_line(error)}", not is_out_of_memory(error)
    release(device)
    return replace(start, reason=reason, is_lasting=is_lasting)


def _timed(work: Callable[[], Result], times: int) -> tuple[Result, float]:
    """The result, and the seconds that the last of several calls took."""
    for _ in range(times):
        began = perf_counter()
        result = work()
        seconds = perf_counter() - began
    return result, seconds


@dataclass(frozen=True)
class HalfPrecision:
    """What a model gains and loses by computing in half precision on a GPU.

    Attributes:
        times_as_fast: compared with float32 on the GPU.
        difference: of a component from float32 on the CPU, relative to the vector's length.
    """

    dtype: str
    times_as_fast: float
    difference: float


def half_precision(on_cpu: Checkable, there: Callable[[str], Checkable]) -> HalfPrecision | None:
    """The more accurate of the two half precisions, if they are faster and accurate enough; None if neither is.

    Args:
        there: builds the same model on the GPU in a precision.
    """
    never, texts, few = CancelToken(), mixed_texts(TEXTS_OF_HALF), mixed_texts()
    expected, seconds, precisions = on_cpu.encode_family(few, never).vectors, dict[str, float](), []
    for dtype in BOUNDS:
        encoder = there(dtype)
        encoder.load()
        vectors = encoder.encode_family(few, never).vectors
        _, seconds[dtype] = _timed(lambda e=encoder: e.encode_family(texts, never), 2)  # type: ignore[misc]
        by = max(difference(of_cpu, other) for of_cpu, other in zip(expected, vectors, strict=True))
        precisions.append(HalfPrecision(dtype, seconds[FLOAT32] / seconds[dtype], by))
    paying = [
        precision
        for precision in precisions
        if precision.times_as_fast >= LEAST_GAIN and precision.difference <= BOUNDS[precision.dtype]
    ]
    return min(paying, key=lambda precision: precision.difference, default=None)


# --- the check of ranks


def check_ranks(device: str, gpu: str) -> Outcome:
    """Compare counts for both similarities, and time both."""
    start = Outcome(RANKS, gpu)
    if kind_of(device) == "mps":
        return replace(start, reason="it has no float64, which near ties need")
    return _guarded(start, device, lambda: _compare_ranks(start, device))


def _compare_ranks(start: Outcome, device: str) -> Outcome:
    matrix, queries, matches = ranks_with_ties()
    differing = 0
    for metric in Similarity:
        ours, theirs = rank_there(device, matrix, queries, matches, metric), rank_here(matrix, queries, matches, metric)
        differing += int(np.count_nonzero((ours.greater != theirs.greater) | (ours.ties != theirs.ties)))
    rng = np.random.default_rng(4)
    matrix = rng.standard_normal((TIMED_ITEMS, TIMED_DIMENSION), dtype=np.float32)
    queries = np.arange(TIMED_QUERIES, dtype=np.int32)
    matches = queries + np.int32(TIMED_QUERIES)
    _, cpu_seconds = _timed(lambda: rank_here(matrix, queries, matches, Similarity.COS), 2)
    _, gpu_seconds = _timed(lambda: rank_there(device, matrix, queries, matches, Similarity.COS), 2)
    work, checked = float(TIMED_QUERIES) * TIMED_ITEMS * TIMED_DIMENSION, len(Similarity) * RANKED
    return replace(
        start,
        reason=f"{differing} of {checked} ranks are not those of the CPU" if differing else "",
        difference=float(differing),
        of_cpu=work / cpu_seconds,
        of_gpu=work / gpu_seconds,
    )


def ranks_with_ties() -> tuple[Float32, Int32, Int32]:
    """64 queries among 4,096 items; some items, queries and matches are copies, near copies or zero vectors."""
    rng = np.random.default_rng(5)
    matrix = rng.standard_normal((ITEMS, DIMENSION), dtype=np.float32)
    quarter = ITEMS // 4
    nearly = 1 + 1e-7 * rng.standard_normal((quarter, DIMENSION), dtype=np.float32)
    matrix[quarter : 2 * quarter], matrix[2 * quarter : 3 * quarter] = matrix[:quarter], matrix[:quarter] * nearly
    matrix[3 * quarter : 3 * quarter + RANKED] = 0.0
    queries = rng.permutation(ITEMS)[:RANKED].astype(np.int32)
    matches = ((queries + quarter * (1 + np.arange(RANKED) % 3)) % ITEMS).astype(np.int32)
    queries[:4], matches[4:8] = 3 * quarter, 3 * quarter + 1
    return matrix, queries, matches


def rank_here(matrix: Float32, queries: Int32, matches: Int32, metric: Similarity) -> RankCounts:
    return rank_pairs(matrix, queries, matches, metric, no_progress, CancelToken())


def rank_there(device: str, matrix: Float32, queries: Int32, matches: Int32, metric: Similarity) -> RankCounts:
    """Raises ``BlindspotError`` if the CPU would have to count."""
    return rank_pairs_on(device, matrix, queries, matches, metric, no_progress, CancelToken(), fallback=_refuse)


def _refuse(sentence: str) -> None:
    raise BlindspotError(sentence)


# --- what is kept


@dataclass(frozen=True)
class Outcomes:
    """The checks' outcomes on disk, a file each."""

    folder: Path

    def all(self) -> Iterator[Outcome]:
        for path in sorted(self.folder.glob("*.json")):
            if (outcome := _read(path)) is not None:
                yield outcome

    def forget(self) -> None:
        for path in self.folder.glob("*.json"):
            path.unlink(missing_ok=True)

    def kept(self, key: Sequence[str], gpu: Gpu) -> Outcome | None:
        """The stored outcome of a check that finished; None if there is none."""
        outcome = _read(self._path(key, gpu))
        return None if outcome is None or outcome.reason == DIED else outcome

    def of(self, key: Sequence[str], gpu: Gpu, subject: str, check: Callable[[], Outcome]) -> Outcome:
        """The outcome stored for this model and GPU, or that of a check made now."""
        if (outcome := self.kept(key, gpu)) is not None:
            return outcome
        path = self._path(key, gpu)
        with exclusive(path.with_suffix(".lock"), CancelToken()):
            if (outcome := _read(path)) is not None:  # written by another process, perhaps one that died
                return outcome
            # A driver can end the process, which leaves this outcome to the next one.
            _write(path, Outcome(subject, gpu.name, reason=DIED))
            outcome = check()
            if outcome.is_lasting:
                _write(path, outcome)
            else:
                path.unlink(missing_ok=True)
        return outcome

    def _path(self, key: Sequence[str], gpu: Gpu) -> Path:
        return self.folder / f"{digest_of_strings([*key, gpu.identity])[:24]}.json"


def _read(path: Path) -> Outcome | None:
    try:
        return Outcome(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # no file, or one of another version
        return None


def _write(path: Path, outcome: Outcome) -> None:
    write_atomically(path, lambda f: f.write(json.dumps(asdict(outcome)).encode()))


# --- where a job is done


def place_model(
    encoder: Checkable, key: Sequence[str], dtype: str, on: Callable[[str], Checkable], characters: int, folder: Path
) -> Placement:
    """The device that encodes so many characters soonest: the CPU, or the emptiest GPU if it passed.

    Args:
        encoder: on the CPU, loaded or not.
        key: revision, precision and libraries.
        on: builds the same encoder on a device.
        folder: where outcomes are stored.
    """
    if not may_have_gpu() or (gpu := _answering_gpu()) is None:
        return Placement()
    reference, outcomes = encoder.family[0].identity.reference, Outcomes(folder)
    outcome = outcomes.kept(key, gpu)
    if outcome is None and characters * max(1, encoder.info.parameters) < SMALL_JOB:
        return Placement()
    if reason := too_full(encoder.info, gpu.device):
        return _placed(Outcome(reference, gpu.name, dtype, reason), gpu, characters)
    if outcome is None:

        def check() -> Outcome:
            return check_model(reference, dtype, encoder, lambda: on(gpu.device), gpu.device, gpu.name)

        outcome = outcomes.of(key, gpu, reference, check)
    return _placed(outcome, gpu, characters)


def place_ranking(products: float, folder: Path) -> Placement:
    """As ``place_model``, for counting ranks; ``products`` counts the products of coordinates that it takes."""
    if not may_have_gpu() or products < SMALL_RANKING or (gpu := _answering_gpu()) is None or gpu.device == "mps":
        return Placement()
    outcome = Outcomes(folder).of([RANKS], gpu, RANKS, lambda: check_ranks(gpu.device, gpu.name))
    return _placed(outcome, gpu, products)


def _placed(outcome: Outcome, gpu: Gpu, work: float) -> Placement:
    if outcome.pays(work):
        return Placement(gpu.device)
    return Placement(note="" if outcome.passed else f"The CPU was used: {outcome}.")


def _answering_gpu() -> Gpu | None:
    try:
        return emptiest_gpu()
    except Exception as error:
        if not is_of_device(error):
            raise
        return None  # the doctor reports it


def may_have_gpu() -> bool:
    """Whether it is worth importing torch, which takes seconds, to look for a GPU."""
    drivers = ("/proc/driver/nvidia", "/dev/dxg", "/dev/kfd")
    return "torch" in sys.modules or sys.platform in {"win32", "darwin"} or any(Path(d).exists() for d in drivers)
