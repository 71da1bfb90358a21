"""Slurm as an engine: a job per task, by submitit.

What Slurm should know besides (partition, account, time limit) is in its own variables, such as ``SBATCH_PARTITION``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from blindspot.errors import BlindspotError, naming_extras, visible
from blindspot.numerics.threads import cores
from blindspot.runs.cluster import node
from blindspot.runs.cluster.engine import Ended, Needs

SLURM, LOCAL = "slurm", "local"  # as submitit names them; local: processes of this machine
WORKERS = 8  # jobs at the same time, unless more are asked for
CPUS = 4
SPARE_MEMORY = 1.5  # an estimate is a guess, and Slurm kills what takes more
SPARE_SECONDS, LEAST_MINUTES = 10, 60  # times the estimated seconds; at least
SECONDS_BETWEEN_LOOKS = 0.2


class SlurmEngine:
    """Jobs of a Slurm cluster, whose nodes share ``folder`` for scripts, logs and answers.

    Args:
        workers: most jobs at the same time; None for ``WORKERS``, here for as many as have ``CPUS`` cores.
        gpus: per job of a model with weights.
        cluster: ``SLURM`` or ``LOCAL``.

    Raises:
        LibraryMissing: submitit is not installed.
        BlindspotError: there is no Slurm here.
    """

    def __init__(self, folder: Path, workers: int | None, gpus: float | None, cluster: str = SLURM) -> None:
        with naming_extras(f"--on {SLURM}"):
            import submitit
        try:
            self._executor = submitit.AutoExecutor(folder=folder, cluster=cluster)
        except (RuntimeError, OSError) as error:
            raise BlindspotError(
                f"cannot reach Slurm: {_line(error)}", remedy="run this where sbatch and srun are"
            ) from error
        self.workers = self.limit = workers or (WORKERS if cluster == SLURM else max(1, cores() // CPUS))
        self.title = f"{cluster}: {self.workers} jobs at a time"
        self._gpus, self._jobs = int(gpus or 0), dict[int, Any]()

    def nodes(self) -> None:
        """Not known."""

    def check(self, task: bytes) -> list[Ended]:  # noqa: ARG002 - each task checks for itself
        return []

    def submit(self, number: int, task: bytes, needs: Needs, avoid: Collection[str]) -> None:
        minutes = max(LEAST_MINUTES, round(SPARE_SECONDS * needs.seconds / 60))
        more: Mapping[str, Any] = {"slurm_exclude": ",".join(sorted(avoid))} if avoid else {}
        self._executor.update_parameters(
            name="blindspot",
            timeout_min=minutes,
            mem_gb=round(SPARE_MEMORY * needs.memory_bytes / 1e9 + 0.5),
            cpus_per_task=CPUS if needs.on_gpu else 1,
            gpus_per_node=self._gpus if needs.on_gpu else 0,
            **more,
        )
        try:
            self._jobs[number] = self._executor.submit(_on_host, node.software(), task)
        except (RuntimeError, OSError) as error:
            raise BlindspotError(f"Slurm refuses a job: {_line(error)}") from error

    def wait(self, seconds: float) -> list[Ended]:
        began = monotonic()
        while True:
            done = [number for number, job in self._jobs.items() if job.done()]
            if done or not self._jobs or monotonic() - began > seconds:
                return [self._ended(number, self._jobs.pop(number)) for number in done]
            sleep(SECONDS_BETWEEN_LOOKS)

    def _ended(self, number: int, job: Any) -> Ended:
        try:
            return Ended(number, job.result())
        except (RuntimeError, OSError) as error:  # its own error, with a traceback from there
            return Ended(number, None, f"job {job.job_id} ended without an answer: {_line(error)}")

    def cancel(self, number: int) -> None:
        if job := self._jobs.pop(number, None):
            job.cancel(check=False)

    def close(self) -> None:
        for number in list(self._jobs):
            self.cancel(number)


def _on_host(software: dict[str, str], task: bytes) -> node.Answer:
    import socket

    return node.work(software, task, socket.gethostname(), process_is_ours=True)


def _line(error: BaseException) -> str:
    last = next(iter(reversed(str(error).strip().splitlines())), "")
    return visible(last or type(error).__name__)[:300]
