"""Ray as an engine: tasks, no actors."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from blindspot.errors import BlindspotError, InputError, naming_extras
from blindspot.runs.cluster import node
from blindspot.runs.cluster.engine import Ended, Needs
from blindspot.texts import counted

SCHEME, AUTO, LOCAL = "ray", "auto", "local"
CLIENT_PORT = 10001
PATIENCE_SECONDS = 5.0  # for a port to answer
CHECK_SECONDS = 120.0  # for every node to import what it needs
RETRIES = 2  # of a task whose worker or node died
CPUS_WITH_WEIGHTS = 4  # of a model with weights, on nodes that have as many
NODE_ID = "ray.io/node-id"  # a label that every node has


def _on_node(software: dict[str, str], task: bytes) -> node.Answer:
    import ray

    return node.work(software, task, ray.get_runtime_context().get_node_id(), process_is_ours=True)


def shared_out(cpus: Sequence[int], workers: int | None) -> tuple[int, float]:
    """How many tasks work at the same time on nodes with so many cores, and how many cores each has.

    Args:
        workers: how many are to work side by side, with no more threads than there are cores; None for what the nodes
            have room for.
    """
    total = max(sum(cpus), 1)
    each = max(1, min([CPUS_WITH_WEIGHTS, *(n for n in cpus if n)]))
    if not workers:
        return max(sum(n // each for n in cpus), 1), each
    return workers, max(1, min(each, total // workers)) if total >= workers else total / workers


class RayEngine:
    """Nodes of a Ray cluster.

    Args:
        address: ``ray`` for the cluster of ``RAY_ADDRESS``, one that runs on this machine, or else this machine alone;
            ``auto`` for one of the first two, ``local`` for the last; ``ray://HOST:PORT`` for a cluster elsewhere,
            through its Ray Client server.
        workers: most tasks at the same time; None for what the nodes have room for.
        gpus: per task of a model with weights; None for 1 where the cluster has any and ``device`` is not the CPU.
        option: that named the address, for errors.

    Raises:
        LibraryMissing: Ray is not installed.
        InputError: the cluster has no GPU, and one is asked for.
        BlindspotError: the cluster cannot be reached, or runs another version of Ray or Python.
    """

    def __init__(
        self,
        address: str,
        workers: int | None = None,
        gpus: float | None = None,
        device: str = "auto",
        option: str = "--on",
    ) -> None:
        with naming_extras(f"{option} {address}"):
            import ray
        self._ray: Any = ray
        _connect(ray, address, option)
        self._refs: dict[Any, int] = {}
        try:
            self._fit(workers, gpus, device)
        except BlindspotError:
            ray.shutdown()
            raise
        self._work = ray.remote(_on_node)
        self.title = f"{address}: {counted(len(self._alive()), 'node')}, {counted(self.workers, 'task')} at a time"

    def _fit(self, workers: int | None, gpus: float | None, device: str) -> None:
        resources = [alive["Resources"] for alive in self._alive()]
        cpus = [int(node_resources.get("CPU", 0)) for node_resources in resources]
        self._memory = max((int(node_resources.get("memory", 0)) for node_resources in resources), default=0)
        has_gpu = any(node_resources.get("GPU", 0) for node_resources in resources)
        if gpus and not has_gpu:
            raise InputError(f"--gpus-per-task is {gpus:g}, and no node of the cluster has a GPU")
        self._gpus = (1.0 if has_gpu and device != "cpu" else 0.0) if gpus is None else gpus
        self.limit = workers
        self.workers, self._cpus = shared_out(cpus, workers)

    def nodes(self) -> frozenset[str]:
        return frozenset(alive["NodeID"] for alive in self._alive())

    def _alive(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0)]

    def check(self, task: bytes) -> list[Ended]:
        names = {alive["NodeID"]: alive["NodeName"] for alive in self._alive()}
        mine = node.software()
        refs = {self._options(id_, num_cpus=0, max_retries=RETRIES).remote(mine, task): id_ for id_ in names}
        ended = []
        ready, late = self._ray.wait(list(refs), num_returns=len(refs), timeout=CHECK_SECONDS) if refs else ([], [])
        for ref in ready:
            answered = self._ended(ref, 0)
            if answered.answer is None:
                refused = f"cannot work: {answered.lost}"
                answer = node.Answer(node=refs[ref], name=names[refs[ref]], results=[], refused=refused)
                answered = Ended(0, answer)
            ended.append(answered)
        for ref in late:
            self._ray.cancel(ref, force=True)
            refused = f"did not answer in {CHECK_SECONDS:.0f} s"
            ended.append(Ended(0, node.Answer(node=refs[ref], name=names[refs[ref]], results=[], refused=refused)))
        return ended

    def _options(self, label: str, **options: Any) -> Any:
        return self._work.options(label_selector={NODE_ID: label}, **options)

    def submit(self, number: int, task: bytes, needs: Needs, avoid: Collection[str]) -> None:
        options: dict[str, Any] = {
            "num_cpus": self._cpus if needs.on_gpu or self._cpus < 1 else 1,
            "max_retries": RETRIES,
        }
        if self._memory:  # Ray counts, and does not limit, memory: an estimate above all nodes must not wait forever
            options["memory"] = min(needs.memory_bytes, self._memory)
        if needs.on_gpu and self._gpus:
            options["num_gpus"] = self._gpus
        if avoid:
            options["label_selector"] = {NODE_ID: f"!in({','.join(sorted(avoid))})"}
        self._refs[self._work.options(**options).remote(node.software(), task)] = number

    def wait(self, seconds: float) -> list[Ended]:
        if not self._refs:
            return []
        ready, _ = self._ray.wait(list(self._refs), num_returns=1, timeout=seconds)
        if ready:
            ready, _ = self._ray.wait(list(self._refs), num_returns=len(self._refs), timeout=0)
        return [self._ended(ref, self._refs.pop(ref)) for ref in ready]

    def _ended(self, ref: Any, number: int) -> Ended:
        errors = self._ray.exceptions
        try:
            return Ended(number, self._ray.get(ref))
        except errors.RayTaskError as error:
            cause = error.cause if isinstance(error, errors.RayTaskError) else error
            return Ended(number, None, node.in_one_line(cause))
        except errors.RayError as error:
            return Ended(number, None, f"its worker died {RETRIES + 1} times: {node.in_one_line(error)}")

    def cancel(self, number: int) -> None:
        for ref in [ref for ref, of in self._refs.items() if of == number]:
            del self._refs[ref]
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(ref, force=True)

    def close(self) -> None:
        for ref in self._refs:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(ref, force=True)
        self._refs.clear()
        self._ray.shutdown()


def _connect(ray: Any, address: str, option: str) -> None:
    """Connect this process to a cluster, or start one here; raises ``BlindspotError``."""
    # Set by Ray's own documentation: no reports of use; the first also without a network.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray._private.worker._worker_logs_enabled = False  # of a node that died, into stdout
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    if address == LOCAL:
        with _in_one_line("a cluster that is started on this machine"):
            ray.init(LOCAL, include_dashboard=False, **quiet)
        return
    if address in {SCHEME, AUTO}:
        cluster = os.environ.get("RAY_ADDRESS", "")
        if match := re.fullmatch(r"([^/]+):(\d+)", cluster):
            _knock(f"RAY_ADDRESS {cluster}", match[1], int(match[2]))
        with _in_one_line(cluster or "the cluster on this machine"):
            ray.init(**({"address": AUTO} if address == AUTO else {"include_dashboard": False}), **quiet)
        return
    host, port = _host_of(address, option)
    _knock(address, host, port)
    with _in_one_line(address):
        ray.init(f"{SCHEME}://{host}:{port}", **quiet)


def _knock(address: str, host: str, port: int) -> None:
    """Raise ``BlindspotError`` where nothing answers; Ray itself would try for minutes."""
    try:
        socket.create_connection((host, port), PATIENCE_SECONDS).close()
    except OSError as error:
        raise _unreachable(address, str(error.strerror or error)) from error


def _host_of(address: str, option: str) -> tuple[str, int]:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or CLIENT_PORT
    except ValueError:
        host, port = None, 0
    if not host or parts.scheme != SCHEME or parts.path.strip("/") or parts.query or parts.username:
        raise InputError(f"{option} {address}", expected=f"ray, or ray://HOST:PORT, such as ray://head:{CLIENT_PORT}")
    return host, port


@contextmanager
def _in_one_line(address: str) -> Iterator[None]:
    try:
        yield
    except (ConnectionError, RuntimeError, ValueError, OSError, TimeoutError) as error:
        if "ersion mismatch" in str(error):
            why = " ".join(str(error).split())
            raise BlindspotError(
                f"{address} runs other versions: {why}", remedy="install the same here and there"
            ) from error
        raise _unreachable(address, node.in_one_line(error)) from error


def _unreachable(address: str, why: str) -> BlindspotError:
    return BlindspotError(
        f"cannot reach {address}: {why}",
        remedy=f"check that it runs (ray status), that Ray Client's port, usually {CLIENT_PORT}, is open, and that "
        "RAY_AUTH_MODE=token is set if it wants a token",
    )
