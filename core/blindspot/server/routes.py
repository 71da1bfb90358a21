"""Routes of the web server besides the pages. Nothing here imports Streamlit: app.py does.

``/_stcore/health`` is Streamlit's liveness check, ``/ready`` ours of readiness: pages and jobs work.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any

from blindspot.collector import collector_paused
from blindspot.errors import BlindspotError
from blindspot.server.preparation import Preparation
from blindspot.settings import Settings, prepare_runtime

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

log = logging.getLogger(__name__)

READY = "/ready"
FRESH_SECONDS = 2.0  # how long a response is cached
LOOK_SECONDS = 0.5
MOST_BUSY = 0.2  # of a core: what the process may use and still count as idle
PATIENCE_SECONDS = 60.0  # for it to be idle
PREPARATION = Preparation()  # of this process's server


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Import ``blindspot.ui`` while the first browser still loads Streamlit's front end; then prepare a hosted demo,
    the kernels of rankings, and MiniLM.

    Only that module first: every page imports it, so it waits for this thread instead of deadlocking with it.
    """
    settings = Settings.from_environment()
    PREPARATION.begin(settings)
    threading.Thread(target=_start, args=(settings,), name="blindspot-start", daemon=True).start()
    yield


def _start(settings: Settings) -> None:
    with collector_paused():
        import_module("blindspot.ui")
    for name, load in (("kernels", ready_kernels), ("model", ready_model)) if settings.loads_ahead else ():
        threading.Thread(target=load, args=(settings,), name=f"blindspot-{name}", daemon=True).start()
    PREPARATION.run(settings)


def ready_kernels(settings: Settings) -> None:
    """Compile what is not compiled yet, then load it, both once the first page is drawn; never raises.

    A page would wait for numba's import (a third of a second) and, in a fresh cache, for the compiler (seconds).
    Compiling uses another process; loading holds the interpreter for half a second.
    """
    try:
        wait_until_idle()
        prepare_runtime(settings)
        from blindspot.numerics import warm_up

        warm_up.compile_elsewhere()
        wait_until_idle()
        warm_up.warm_up()
    except (BlindspotError, OSError, ImportError, RuntimeError) as error:
        log.warning("rankings will compile their kernels when they are needed: %s", error)


def wait_until_idle() -> None:
    """Return when the process does next to nothing, or its patience ends."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    used = time.process_time()
    while time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
        before, used = used, time.process_time()
        if used - before < MOST_BUSY * LOOK_SECONDS:
            return


def kept(page: str) -> tuple[int, int]:
    """Bytes of the files in a page's forms, and in those of all pages."""
    from blindspot.ui.resources import bytes_in_forms  # Streamlit is loaded by now

    return bytes_in_forms(page)


class Readiness:
    """Responds 200 if this server is ready, else 503 with the names of what is wrong, as JSON.

    ``{"ready": false, "reasons": ["preparing"], "preparing": {"done": 3, "of": 36, "remaining_seconds": 40.5}}``

    Strangers may ask; ``blindspot doctor --ready`` reports the details on the machine itself.
    """

    def __init__(self, settings: Settings, preparation: Preparation) -> None:
        self._settings = settings
        self._preparation = preparation
        self._lock = threading.Lock()
        self._looked = float("-inf")
        self._reasons: tuple[str, ...] = ()
        self._cache_was: int | None = None  # its number on the disk

    def reasons(self) -> tuple[str, ...]:
        """Names of what is wrong: ``cache``, ``store``, ``weights``."""
        from blindspot import doctor  # imports nearly everything
        from blindspot.store.repository import Repository

        with self._lock:
            if time.monotonic() - self._looked > FRESH_SECONDS:
                repository = Repository.at(self._settings.store)
                gone = self._gone()  # before the store is looked for, which makes its folder
                findings = doctor.not_ready(self._settings, repository, in_server=True)
                self._reasons = tuple(dict.fromkeys([*gone, *(finding.name for finding in findings)]))
                self._looked = time.monotonic()
            return self._reasons

    def _gone(self) -> list[str]:
        """``cache`` if that folder was deleted while the server runs: a new one in its place lacks the results and
        uploads that pages still show."""
        try:
            inode: int | None = self._settings.cache.stat().st_ino
        except FileNotFoundError:
            inode = None
        if self._cache_was is None:
            self._cache_was = inode
        return [] if self._cache_was == inode else ["cache"]

    def __call__(self, _request: Request) -> Response:
        from starlette.responses import JSONResponse

        reasons, progress = self.reasons(), self._preparation.progress
        body: dict[str, object] = {"ready": not reasons and progress is None}
        if not body["ready"]:
            body["reasons"] = [*reasons, *(["preparing"] if progress else [])]
        if progress:
            body["preparing"] = asdict(progress)
        return JSONResponse(body, 200 if body["ready"] else 503, headers={"cache-control": "no-store"})


def routes(settings: Settings | None = None) -> list[BaseRoute]:
    """Routes for ``streamlit.starlette.App``; raises ``InputError`` for an invalid environment variable."""
    from starlette.routing import Route

    readiness = Readiness(settings or Settings.from_environment(), PREPARATION)

    def ready(request: Request) -> Response:  # a plain function: Starlette calls it in a thread, for it may wait
        return readiness(request)

    return [Route(READY, ready, methods=["GET"])]


def ready_model(settings: Settings) -> None:
    """Load MiniLM and measure its own scale once the first page is drawn: importing torch and reading weights takes
    seconds; writes nothing, never raises."""
    try:
        wait_until_idle()
        from blindspot.runs import own_scale
        from blindspot.types import CancelToken
        from blindspot.variants import Variant

        own_scale.ground_of(Variant("minilm", "none"), settings, CancelToken(), keeps=False)
    except (BlindspotError, OSError, ImportError, RuntimeError) as error:
        log.warning("MiniLM will be loaded when it is needed: %s", error)
