"""Work of a node of a cluster: it checks that it may work for the driver, then computes requests into packs.

Driver and node exchange only what every version of Python and Blindspot can read, until both are known to be the same.
"""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import platform
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypedDict

import blindspot
from blindspot.encoders.base import versions_here
from blindspot.errors import BlindspotError, InputError
from blindspot.runs.packs import computing
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.requests import RunRequest
from blindspot.settings import PACKAGE, Settings

# A full disk, a quota that is used up, a disk that cannot be written to or is broken: no other run can succeed here.
OF_THE_NODE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
TOKEN, TOKEN_BYTES = "driver", 64
LIBRARIES = ("numpy", "scipy", "numba", "torch", "transformers", "tokenizers", "sentence-transformers")


@dataclass(frozen=True)
class Task:
    """Requests to compute into a folder of packs; none to see only whether a node may work.

    Attributes:
        folder: its address.
        token: what the driver wrote there, into ``TOKEN``; a node that reads something else has another folder.
        variables: ``BLINDSPOT_*`` of the driver, for those that the node's own environment lacks.
    """

    requests: tuple[RunRequest, ...]
    folder: str
    token: str
    variables: Mapping[str, str]


class Result(TypedDict):
    """Of one request: ``run_id``, or ``error`` and whether it was an ``InputError``."""

    number: int
    run_id: str
    computed: bool
    error: str
    is_input: bool


class Answer(TypedDict):
    """Of a node: results of the first requests, and why it cannot work for this sweep, or ""."""

    node: str
    name: str
    results: list[Result]
    refused: str


@cache
def software() -> dict[str, str]:
    """What must be the same on driver and nodes, so that ids and scores are: code, Python and libraries."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{file.relative_to(PACKAGE).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return {
        "blindspot": f"{blindspot.__version__} (code {digest.hexdigest()[:8]})",
        "python": ".".join(platform.python_version_tuple()[:2]),
        **dict(one.split("==", 1) for one in versions_here(*LIBRARIES)),
    }


def variables_of(settings: Settings) -> dict[str, str]:
    """The settings as variables, for nodes that do not say otherwise."""
    limit = f"{settings.cache_limit / 1e6:.6f}MB" if settings.cache_limit else ""
    found = {
        "BLINDSPOT_CACHE": str(settings.cache),
        "BLINDSPOT_CACHE_LIMIT": limit,
        "BLINDSPOT_MIRROR": settings.mirror,
        "BLINDSPOT_DEVICE": settings.device,
    }
    return {name: value for name, value in found.items() if value}


def limit_threads() -> None:
    """Numba's threads, as the engine limits those of OpenMP.

    For a process of the engine alone, before it compiles: numba refuses to change the number of threads that run.
    """
    os.environ.setdefault("NUMBA_NUM_THREADS", os.environ.get("OMP_NUM_THREADS") or str(os.cpu_count() or 1))


def work(drivers: Mapping[str, str], task: bytes, node: str) -> Answer:
    """Do a pickled ``Task``; raises nothing that a node can be blamed for.

    Args:
        drivers: ``software`` of the driver.
        node: the id under which the engine knows this node.
    """
    answer = Answer(node=node, name=socket.gethostname(), results=[], refused=_differs(drivers))
    if answer["refused"]:
        return answer
    wanted: Task = pickle.loads(task)  # noqa: S301 - the driver's, which could run any code here
    try:
        _check_folder(wanted)
        settings = Settings.from_environment({**wanted.variables, **os.environ})
        for result in _results(wanted, settings):
            answer["results"].append(result)
    except (BlindspotError, OSError) as error:
        answer["refused"] = str(error)
    return answer


def _differs(drivers: Mapping[str, str]) -> str:
    mine = software()
    names = [name for name in {**drivers, **mine} if drivers.get(name) != mine.get(name)]
    said = (f"{name} {mine.get(name, 'is missing')} where the driver has {drivers.get(name, 'none')}" for name in names)
    return "; ".join(said)


def _check_folder(task: Task) -> None:
    folder = folder_at(task.folder)
    if not folder.has(TOKEN) or folder.read(TOKEN, TOKEN_BYTES).decode("ascii", "replace") != task.token:
        raise BlindspotError(
            f"does not see what the driver wrote into {task.folder}: that folder is not shared",
            remedy="give --out a folder that all nodes share, or an address such as s3://bucket/sweep",
        )


def _results(task: Task, settings: Settings) -> Iterator[Result]:
    """Raises ``BlindspotError`` or ``OSError`` where the node itself is at fault."""
    numbers = {request: number for number, request in enumerate(task.requests)}
    for done in computing.compute(task.requests, settings, folder_at(task.folder)):
        number = numbers[done.request]
        if isinstance(done, computing.Packed):
            yield Result(number=number, run_id=done.run_id, computed=done.computed, error="", is_input=False)
            continue
        if is_of_node(done.error):
            raise done.error
        is_input = isinstance(done.error, InputError)
        yield Result(number=number, run_id="", computed=False, error=str(done.error), is_input=is_input)


def is_of_node(error: BaseException | None) -> bool:
    """Whether an error comes from the machine's disk, not from what was asked for."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, OSError) and error.errno in OF_THE_NODE:
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
