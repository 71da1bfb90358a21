"""Quick, clean shutdown of the server on a signal, whatever it is doing.

By itself a server that computes waits for torch's import and for open connections, and sometimes aborts: threads of
C++ libraries outlive the interpreter that they call. Here the job is cancelled at once, and the process exits when the
job has noticed, or after a short wait. A process that is killed loses nothing either.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
from asyncio import Future
from contextlib import suppress
from queue import SimpleQueue
from types import FrameType

import streamlit as st
from streamlit import runtime

from blindspot.jobs.queue import JobQueue
from blindspot.store.repository import Repository
from blindspot.ui.resources import jobs, shared_repository

JOB_SECONDS = 1.6  # for the job to notice that it is cancelled: it checks every batch
STORE_SECONDS = 0.2  # for those who read or write the store at this moment
SIGNALS = ("SIGTERM", "SIGINT", "SIGQUIT", "SIGBREAK")  # those that Streamlit handles, where the system has them


@st.cache_resource(show_spinner=False)
def end_soon_when_told() -> None:
    """Make the server end soon after a signal; AppTest's mock server is left alone."""
    server = runtime.get_instance() if runtime.exists() else None
    if type(server) is not runtime.Runtime or not isinstance(stopped := server.stopped, Future):
        return
    told: SimpleQueue[int] = SimpleQueue()  # a signal handler may write to it at any moment
    watcher = threading.Thread(
        target=_end_when_told, args=(told, jobs(), shared_repository()), name="blindspot-end", daemon=True
    )
    watcher.start()
    # Handlers are set by the main thread only, where the server's loop runs.
    stopped.get_loop().call_soon_threadsafe(_listen, told, watcher)


def _listen(told: SimpleQueue[int], watcher: threading.Thread) -> None:
    """Handle the signals instead of the web server."""
    if threading.current_thread() is not threading.main_thread():
        return
    were_told = threading.Event()

    def chained(number: int) -> None:
        before = signal.getsignal(number)

        def handle(which: int, frame: FrameType | None) -> None:
            if were_told.is_set() and callable(before):
                before(which, frame)  # a second signal gets the server's own handler, which the job may not survive
            were_told.set()
            told.put(which)

        signal.signal(number, handle)

    for name in SIGNALS:
        if hasattr(signal, name):
            chained(getattr(signal, name))
    # The server may have closed before the watcher ends the process, which must not be finalised then.
    atexit.register(lambda: watcher.join() if were_told.is_set() else None)


def _end_when_told(told: SimpleQueue[int], queue: JobQueue, store: Repository) -> None:
    told.get()
    queue.close(JOB_SECONDS)
    store.database.close(STORE_SECONDS)
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # whoever read it may be gone
            stream.flush()
    os._exit(0)
