"""Work of a node of a cluster: it checks that it may work for the driver, then computes requests into packs.

Driver and node exchange only what every version of Python and Blindspot can read, until both are known to be the same.
"""

from __future__ import annotations

import errno
import hashlib
import logging
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
from blindspot.errors import BlindspotError, InputError, visible
from blindspot.runs import computing
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.results import PackResults
from blindspot.runs.requests import RunRequest
from blindspot.settings import PACKAGE, Settings, prepare_runtime

log = logging.getLogger(__name__)
# A full disk, a quota that is used up, a disk that cannot be written to or is broken: no other run can succeed here.
OF_THE_NODE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
TOKEN, TOKEN_BYTES = "driver", 64
LIBRARIES = ("numpy", "scipy", "numba", "torch", "transformers", "tokenizers", "sentence-transformers")


@dataclass(frozen=True)
class Task:
    """Requests to compute into a folder of packs; none to only check whether a node may work.

    Attributes:
        folder: its address.
        token: what the driver wrote into ``TOKEN`` there; a node that reads something else sees another folder.
        variables: ``BLINDSPOT_*`` of the driver, for those that the node's own environment lacks.
    """

    requests: tuple[RunRequest, ...]
    folder: str
    token: str
    variables: Mapping[str, str]


class Result(TypedDict):
    """Result of one request: ``run_id``, or ``error`` and whether it was an ``InputError``."""

    number: int
    run_id: str
    computed: bool
    error: str
    is_input: bool


class Answer(TypedDict):
    """A node's answer: results of its first requests, and why it cannot work for this sweep, or ""."""

    node: str
    name: str
    results: list[Result]
    refused: str


@cache
def software() -> dict[str, str]:
    """What must be the same on driver and nodes for equal ids and scores: code, Python and libraries."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{file.relative_to(PACKAGE).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return {
        "blindspot": f"{blindspot.__version__} (code {digest.hexdigest()[:8]})",
        "python": ".".join(platform.python_version_tuple()[:2]),
        **dict(line.split("==", 1) for line in versions_here(*LIBRARIES)),
    }


def variables_of(settings: Settings) -> dict[str, str]:
    """The settings as variables, for nodes whose own environment does not set them."""
    limit = f"{settings.cache_limit / 1e6:.6f}MB" if settings.cache_limit else ""
    variables = {
        "BLINDSPOT_CACHE": str(settings.cache),
        "BLINDSPOT_CACHE_LIMIT": limit,
        "BLINDSPOT_MIRROR": settings.mirror,
        "BLINDSPOT_DEVICE": settings.device,
    }
    return {name: value for name, value in variables.items() if value}


def work(drivers: Mapping[str, str], task: bytes, node: str, *, process_is_ours: bool = False) -> Answer:
    """Do a pickled ``Task``; raises nothing that a node can be blamed for.

    Args:
        drivers: ``software`` of the driver.
        node: the id under which the engine knows this node.
        process_is_ours: whether this process does nothing else, so that variables of its libraries may be set.
    """
    answer = Answer(node=node, name=socket.gethostname(), results=[], refused=_differs(drivers))
    if answer["refused"]:
        return answer
    wanted: Task = pickle.loads(task)  # noqa: S301 - the driver's, which could run any code here
    try:
        _check_folder(wanted)
        settings = Settings.from_environment({**wanted.variables, **os.environ})
        if process_is_ours and wanted.requests:
            _prepare_process(settings)
        for result in _results(wanted, settings):
            answer["results"].append(result)
    except (BlindspotError, OSError) as error:
        answer["refused"] = str(error)
    return answer


def _prepare_process(settings: Settings) -> None:
    """Folder of kernels, and as many threads of numba as the engine allows OpenMP for this task.

    Later tasks of the process keep that number: numba refuses to change it once threads run.
    """
    prepare_runtime(settings)
    if threads := os.environ.get("OMP_NUM_THREADS"):
        os.environ.setdefault("NUMBA_NUM_THREADS", threads)


def _differs(drivers: Mapping[str, str]) -> str:
    mine = software()
    names = [name for name in {**drivers, **mine} if drivers.get(name) != mine.get(name)]
    differences = (
        f"{name} {mine.get(name, 'is missing')} where the driver has {drivers.get(name, 'none')}" for name in names
    )
    return "; ".join(differences)


def _check_folder(task: Task) -> None:
    folder = folder_at(task.folder)
    if not folder.has(TOKEN) or folder.read(TOKEN, TOKEN_BYTES).decode("ascii", "replace") != task.token:
        raise BlindspotError(
            f"does not see what the driver wrote into {task.folder}: that folder is not shared",
            remedy="name one that all nodes share, or an address such as s3://bucket/sweep (--out, or "
            "BLINDSPOT_RAY_FOLDER for the app)",
        )


def _results(task: Task, settings: Settings) -> Iterator[Result]:
    """Raises ``BlindspotError`` where the node itself is at fault; any other error is one request's."""
    results, number = PackResults(folder_at(task.folder)), 0
    while True:
        try:
            for done in computing.compute(task.requests[number:], settings, results):
                yield _result(number, done)
                number += 1
            return
        except BlindspotError:
            raise
        except Exception as error:  # a model's library may raise anything, on this node alone
            log.exception("%s failed", task.requests[number].label)
            failed = BlindspotError(in_one_line(error))
            failed.__cause__ = error
            yield _result(number, computing.Failed(task.requests[number], failed))
            number += 1


def _result(number: int, done: computing.Done | computing.Failed) -> Result:
    if isinstance(done, computing.Done):
        run_id = done.outcome.record.run_id
        return Result(number=number, run_id=run_id, computed=done.computed, error="", is_input=False)
    if is_of_node(done.error):
        raise done.error
    is_input = isinstance(done.error, InputError)
    return Result(number=number, run_id="", computed=False, error=str(done.error), is_input=is_input)


def in_one_line(error: BaseException) -> str:
    first = next(iter(str(error).strip().splitlines()), "")
    return visible(f"{type(error).__name__}: {first}" if first else type(error).__name__)[:300]


def is_of_node(error: BaseException | None) -> bool:
    """Whether the machine's disk is to blame for an error, not the request."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, OSError) and error.errno in OF_THE_NODE:
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
