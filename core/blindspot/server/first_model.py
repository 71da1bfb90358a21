"""MiniLM, loaded by the server before a reader tries a sentence: importing torch and reading weights takes seconds."""

from __future__ import annotations

import logging

from blindspot.errors import BlindspotError
from blindspot.server.kernels import wait_until_idle
from blindspot.settings import Settings

log = logging.getLogger(__name__)


def ready_model(settings: Settings) -> None:
    """Load MiniLM and measure its own scale once the first page is drawn; writes nothing, never raises."""
    try:
        wait_until_idle()
        from blindspot.runs import own_scale
        from blindspot.types import CancelToken
        from blindspot.variants import Variant

        own_scale.ground_of(Variant("minilm", "none"), settings, CancelToken(), keeps=False)
    except (BlindspotError, OSError, ImportError, RuntimeError) as error:
        log.warning("MiniLM will be loaded when it is needed: %s", error)
