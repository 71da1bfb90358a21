"""Settings, read from the environment (DESIGN section 6)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.errors import InputError, unknown

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets"
VARIABLES = ("BLINDSPOT_CACHE", "BLINDSPOT_MIRROR", "BLINDSPOT_DEVICE", "BLINDSPOT_MODE")  # all that are read


class Mode(StrEnum):
    """``demo`` is a hosted server that strangers may use."""

    LOCAL = "local"
    DEMO = "demo"


@dataclass(frozen=True)
class Settings:
    """Where things are kept and what they run on.

    Attributes:
        cache: folder for embeddings, the store and downloaded data.
        mirror: directory or base URL that serves dataset files as ``<source>/<path in source>``, or "".
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N`` or ``mps``.
        mode: local use or a hosted demo.
    """

    cache: Path
    mirror: str
    device: str
    mode: Mode

    @property
    def store(self) -> Path:
        return self.cache / "results.duckdb"

    @property
    def embeddings(self) -> Path:
        return self.cache / "embeddings"

    @property
    def data(self) -> Path:
        return self.cache / "data"

    @property
    def uploads(self) -> Path:
        return self.cache / "uploads"

    @property
    def maps(self) -> Path:
        return self.cache / "maps"

    @property
    def flows(self) -> Path:
        return self.cache / "flows"

    @property
    def hubs(self) -> Path:
        return self.cache / "hubs"

    @property
    def learned(self) -> Path:
        return self.cache / "learned"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read ``BLINDSPOT_*``; an unset or empty variable means the default.

        Raises:
            InputError: a variable has a value that means nothing.
        """
        env = os.environ if environment is None else environment
        device = env.get("BLINDSPOT_DEVICE") or "auto"
        if not re.fullmatch(r"auto|cpu|cuda|cuda:\d+|mps", device):
            raise InputError(f"BLINDSPOT_DEVICE is '{device}'", expected="auto, cpu, cuda, cuda:N or mps")
        mode = env.get("BLINDSPOT_MODE") or Mode.LOCAL
        if mode not in list(Mode):
            raise unknown("BLINDSPOT_MODE", mode, list(Mode))
        return cls(
            cache=Path(env.get("BLINDSPOT_CACHE") or ROOT / "cache").expanduser().resolve(),
            mirror=env.get("BLINDSPOT_MIRROR") or "",
            device=device,
            mode=Mode(mode),
        )


def prepare_runtime(settings: Settings) -> None:
    """Set what compiled libraries read from the environment; call before torch or numba is first imported.

    Threads that wait for each other sleep instead of spinning: where another program wants a core (a second
    user of a hosted demo, a browser on a laptop), spinning makes encoding several times slower.
    """
    os.environ.setdefault("NUMBA_CACHE_DIR", str(settings.cache / "numba"))
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
