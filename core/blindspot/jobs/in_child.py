"""Functions run in a child process that can be ended at any moment: work on what strangers send.

Python cannot end a thread that is inside of a regular expression or a parser. A child runs at low priority, has
limits of time and memory, and is killed when its reader has left. After its answer it is kept for the next call for
a while, since a new one takes half a second to start. ``python -m blindspot.jobs.in_child BYTES`` is the child.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, BinaryIO, TypeVar

from blindspot.errors import BlindspotError, InputError, visible
from blindspot.policy import WorkLimits
from blindspot.settings import LAUNCH_FOLDER
from blindspot.types import CancelToken

T = TypeVar("T")
log = logging.getLogger(__name__)
LOOK_SECONDS = 0.05
IDLE_SECONDS = 20.0  # of a child that is kept
_NICE = 10
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # each takes room that the limit counts
_MARGIN_SECONDS = 5  # after which a child ends by itself, should its parent not
_TOO_MUCH = "shorten the text, or take fewer of them"


_LOCK = threading.Lock()
_IDLE: list[_Child] = []


def call(function: Callable[..., T], args: tuple[Any, ...], limits: WorkLimits, cancel: CancelToken) -> T:
    """``function(*args)`` in a child: a function of a module, arguments and result are pickled.

    Raises:
        InputError: it takes longer, or more memory, than the limits.
        BlindspotError: what the function raises, or "failed", if it was no error of ours; the log has the traceback.

    Whatever ``cancel.check`` raises ends the child.
    """
    asked = pickle.dumps((function, args, limits.seconds))
    child = _taken(limits)
    is_done = False
    try:
        child.tell(asked)
        until = monotonic() + limits.seconds
        while (answer := child.heard(LOOK_SECONDS)) is None:
            cancel.check()
            if monotonic() > until:
                raise too_long(limits.seconds)
        is_done = True
    finally:
        child.keep() if is_done else child.end()
    if isinstance(answer, BaseException):
        raise answer
    result: T = answer[0]
    return result


def too_long(seconds: float) -> InputError:
    return InputError(f"this takes longer than {seconds:.0f} s here", remedy=_TOO_MUCH)


def _taken(limits: WorkLimits) -> _Child:
    with _LOCK:
        while _IDLE:
            child = _IDLE.pop()
            if child.limits == limits and child.is_running():
                return child
            child.end()
    return _Child(limits)


class _Child:
    """A child process that takes one call at a time."""

    def __init__(self, limits: WorkLimits) -> None:
        self.limits = limits
        self._process = subprocess.Popen(  # noqa: S603 - our own module, no shell
            [sys.executable, "-m", "blindspot.jobs.in_child", str(limits.bytes)],
            cwd=LAUNCH_FOLDER,
            env=os.environ | dict.fromkeys(_THREADS, "1"),
            stdin=subprocess.PIPE,  # when it closes, the child ends
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._timer: threading.Timer | None = None
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()

    def is_running(self) -> bool:
        if self._timer is not None:
            self._timer.cancel()
        return self._process.poll() is None

    def tell(self, asked: bytes) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):  # it has ended: the listener says so
                self._process.stdin.write(asked)
                self._process.stdin.flush()

    def heard(self, seconds: float) -> Any:
        """The answer: an error, or a tuple of the result; None if there is none yet."""
        with suppress(Empty):
            return self._answers.get(timeout=seconds)
        return None

    def keep(self) -> None:
        """Wait for another call, and end if none comes soon."""
        self._timer = threading.Timer(IDLE_SECONDS, self._end_idle)
        self._timer.daemon = True
        with _LOCK:
            _IDLE.append(self)
        self._timer.start()

    def _end_idle(self) -> None:
        with _LOCK:
            if self not in _IDLE:
                return
            _IDLE.remove(self)
        self.end()

    def end(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL) if os.name == "posix" else self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def _listen(self, stream: BinaryIO) -> None:
        with stream:
            try:
                while True:
                    self._answers.put(pickle.load(stream))  # noqa: S301 - of our own process
            except (EOFError, OSError, pickle.UnpicklingError):
                self._answers.put(InputError("this takes more memory than there is for it", remedy=_TOO_MUCH))


# --- the child's side


def _answer(function: Callable[..., Any], args: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps((function(*args),))
    except MemoryError:
        raise
    except BlindspotError as error:
        return pickle.dumps(error)
    except Exception:
        log.exception("a reader's work failed")
        return pickle.dumps(RuntimeError("a reader's work failed in its process; the log has the traceback above"))


def main(most_bytes: int) -> None:
    """Answer calls until the input ends; too much memory ends the process, which its parent understands."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print too
    if os.name == "posix":
        import resource

        os.nice(_NICE)
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            function, args, seconds = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own process
        except EOFError:
            return
        if os.name == "posix":
            signal.alarm(int(seconds) + _MARGIN_SECONDS)
        answers.write(_answer(function, args))
        answers.flush()
        if os.name == "posix":
            signal.alarm(0)


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    try:
        main(int(sys.argv[1]))
    except MemoryError:
        os._exit(1)
    except BrokenPipeError as error:  # the parent is gone
        log.info("%s", visible(str(error)))
