"""Driver of a sweep on a cluster: it hands out groups, the longest first, and takes packs into the store as they come.

Nodes write packs into a folder that all share, so no finished work is lost with a worker, a node or the driver: the
same sweep starts from the packs that are there.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from uuid import uuid4

from blindspot.errors import BlindspotError, InputError
from blindspot.runs.cluster import node
from blindspot.runs.cluster.engine import Ended, Engine, Needs
from blindspot.runs.cluster.node import Answer, Result, Task
from blindspot.runs.computing import Done, Failed
from blindspot.runs.packs import groups, importing
from blindspot.runs.packs.folders import Folder
from blindspot.runs.pipeline import RunOutcome
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository

SECONDS_BETWEEN_LOOKS = 1.0
MOST_REFUSALS = 3  # of a piece, by nodes that may not work, where nobody knows how many others there are
Watch = Callable[[int, float | None], object]  # number of requests done, seconds left


@dataclass(frozen=True)
class Note:
    """A line for the user: a node that is left out, a run that failed on one node only."""

    text: str


@dataclass(frozen=True)
class _Piece:
    """Requests for one worker. ``failed`` says why they are tried again, ``avoid`` on which nodes not; ``refusals``
    counts the nodes that could not work on them."""

    requests: tuple[RunRequest, ...]
    needs: Needs
    avoid: frozenset[str] = frozenset()
    failed: dict[RunRequest, BlindspotError] = field(default_factory=dict)
    was_lost: bool = False
    refusals: int = 0


def run(
    requests: Sequence[RunRequest],
    engine: Engine,
    folder: Folder,
    settings: Settings,
    repository: Repository,
    watch: Watch,
) -> Iterator[Done | Failed | Note]:
    """Compute requests on an engine's nodes, and take their runs into the store, each exactly once.

    A node with another version, without the folder or with a full disk is left out, and the others go on. A request
    that fails is tried once more on another node; so is one that was lost with its worker, alone this time.

    Raises:
        BlindspotError: the folder or the store cannot be written to, or no node may work.
    """
    return _Driver(requests, engine, folder, settings, repository, watch).run()


class _Driver:
    def __init__(
        self,
        requests: Sequence[RunRequest],
        engine: Engine,
        folder: Folder,
        settings: Settings,
        repository: Repository,
        watch: Watch,
    ) -> None:
        self._engine, self._folder, self._settings, self._repository = engine, folder, settings, repository
        self._watch = watch
        self._token = uuid4().hex
        self._refused: dict[str, str] = {}  # why, by node
        made = groups.of_requests(requests, settings, engine.workers)
        self._todo = deque(
            _Piece(g.requests, Needs(g.seconds + g.load_seconds, g.memory_bytes, g.has_weights)) for g in made
        )
        self._at_work: dict[int, _Piece] = {}
        self._number, self._done = 0, 0
        seconds = [piece.needs.seconds for piece in self._todo]
        self._seconds, self._seconds_done = sum(seconds), 0.0
        self._expected = groups.makespan(seconds, max(engine.workers, 1))

    def run(self) -> Iterator[Done | Failed | Note]:
        if not self._todo:
            return
        self._folder.write(node.TOKEN, self._token.encode("ascii"))
        began = monotonic()
        try:
            for ended in self._engine.check(self._pickled(())):
                yield from self._of_check(ended)
            self._watch(0, self._left(0.0))
            while self._todo or self._at_work:
                self._hand_out()
                for ended in self._engine.wait(SECONDS_BETWEEN_LOOKS):
                    piece = self._at_work.pop(ended.task)
                    yield from self._of_answer(piece, ended.answer) if ended.answer else self._of_loss(piece, ended)
                yield from self._without_a_node()
                self._watch(self._done, self._left(monotonic() - began))
        finally:
            self._engine.close()

    # --- handing out

    def _pickled(self, requests: tuple[RunRequest, ...]) -> bytes:
        return pickle.dumps(Task(requests, self._folder.address, self._token, node.variables_of(self._settings)))

    def _hand_out(self) -> None:
        while self._todo and (self._engine.limit is None or len(self._at_work) < self._engine.limit):
            piece = self._todo.popleft()
            self._number += 1
            self._at_work[self._number] = piece
            avoid = piece.avoid | self._refused.keys()
            self._engine.submit(self._number, self._pickled(piece.requests), piece.needs, avoid)

    def _left(self, seconds: float) -> float | None:
        """Seconds that the rest takes, judging by the finished part; the estimate as long as nothing is finished."""
        if self._seconds_done:
            return seconds * (self._seconds / self._seconds_done - 1)
        return self._expected - seconds if seconds < self._expected else None

    # --- what comes back

    def _of_check(self, ended: Ended) -> Iterator[Note]:
        if ended.answer is None:
            yield Note(ended.lost)
        elif ended.answer["refused"]:
            yield self._refuse(ended.answer)

    def _of_answer(self, piece: _Piece, answer: Answer) -> Iterator[Done | Failed | Note]:
        self._seconds_done += piece.needs.seconds * len(answer["results"]) / len(piece.requests)
        again: dict[RunRequest, BlindspotError] = {}
        for result in answer["results"]:
            request = piece.requests[result["number"]]
            if result["run_id"]:
                if request in piece.failed:
                    yield Note(f"{request.label} was computed on another node; first, {piece.failed[request]}")
                yield self._stored(request, result)
                self._done += 1
            elif request not in piece.failed and self._others(answer["node"]):
                again[request] = _error(result, answer)
            else:
                yield Failed(request, piece.failed.get(request) or _error(result, answer))
                self._done += 1
        if again:
            needs = replace(piece.needs, seconds=0.0)
            self._todo.append(_Piece(tuple(again), needs, piece.avoid | {answer["node"]}, again))
        if answer["refused"]:
            if answer["node"] not in self._refused:
                yield self._refuse(answer)
            if rest := piece.requests[len(answer["results"]) :]:
                yield from self._of_rest(piece, rest, answer)

    def _of_rest(self, piece: _Piece, rest: tuple[RunRequest, ...], answer: Answer) -> Iterator[Failed]:
        """Hand out again what is left of a node that may not work, or give it up."""
        share = piece.needs.seconds * len(rest) / len(piece.requests)
        if self._engine.nodes() is None and piece.refusals + 1 >= MOST_REFUSALS:
            self._seconds_done += share
            self._done += len(rest)
            error = BlindspotError(f"{MOST_REFUSALS} nodes may not work; {_named(answer)}: {answer['refused']}")
            yield from (Failed(request, error) for request in rest)
            return
        needs = replace(piece.needs, seconds=share)
        self._todo.appendleft(replace(piece, requests=rest, needs=needs, refusals=piece.refusals + 1))

    def _of_loss(self, piece: _Piece, ended: Ended) -> Iterator[Failed]:
        """Try several lost requests one by one, so that one that kills its worker takes no other with it."""
        if piece.was_lost and len(piece.requests) == 1:
            self._seconds_done += piece.needs.seconds
            self._done += 1
            yield Failed(piece.requests[0], BlindspotError(ended.lost))
            return
        needs = replace(piece.needs, seconds=piece.needs.seconds / len(piece.requests))
        alone = replace(piece, needs=needs, was_lost=len(piece.requests) == 1)
        self._todo.extend(replace(alone, requests=(request,)) for request in piece.requests)

    def _stored(self, request: RunRequest, result: Result) -> Done | Failed:
        try:
            imported = importing.import_pack(self._folder, self._repository, result["run_id"])
        except InputError as error:
            return Failed(request, error)
        record = self._repository.runs(run_id=imported.run_id, state=RunState.DONE)[0]
        return Done(request, RunOutcome(record, computed=imported.is_new))

    # --- nodes

    def _refuse(self, answer: Answer) -> Note:
        self._refused[answer["node"]] = f"{answer['name']}: {answer['refused']}"
        return Note(f"node {_named(answer)} is left out: {answer['refused']}")

    def _others(self, mine: str) -> bool:
        """Whether another node may work."""
        nodes = self._engine.nodes()
        return nodes is not None and bool(nodes - self._refused.keys() - {mine})

    def _without_a_node(self) -> Iterator[Failed]:
        """Give up what no node may do any more; raises ``BlindspotError`` if that is everything."""
        nodes = self._engine.nodes()
        if not nodes:  # not known, or new ones may come
            return
        if not nodes - self._refused.keys():
            first = next(iter(self._refused.values()))
            raise BlindspotError(
                f"no node can work for this sweep; {first}",
                remedy="correct that (restart the app if its code was changed since), then start the same sweep again",
            )
        for number, piece in list(self._at_work.items()):
            if piece.failed and not nodes - self._refused.keys() - piece.avoid:
                self._engine.cancel(number)
                del self._at_work[number]
                self._done += len(piece.requests)
                yield from (Failed(request, piece.failed[request]) for request in piece.requests)


def _named(answer: Answer) -> str:
    return answer["name"] if answer["name"] == answer["node"] else f"{answer['name']} ({answer['node'][:8]})"


def _error(result: Result, answer: Answer) -> BlindspotError:
    kind = InputError if result["is_input"] else BlindspotError
    return kind(f"on node {_named(answer)}: {result['error']}")
