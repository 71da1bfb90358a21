"""Settings, read from the environment."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from blindspot.errors import InputError, unknown

PACKAGE = Path(__file__).resolve().parent
# What of the app is no module of the package, app.py and pages say: a folder of the installed package, or a checkout.
_INSTALLED = PACKAGE / "_app"
IS_INSTALLED = _INSTALLED.is_dir()
ROOT = _INSTALLED if IS_INSTALLED else PACKAGE.parents[1]
LAUNCH_FOLDER = ROOT if IS_INSTALLED else PACKAGE.parent  # where ``python -m blindspot`` works, installed or not
ASSETS = ROOT / "assets"


@dataclass(frozen=True)
class Variable:
    """An environment variable; both texts are Markdown of the documentation.

    Attributes:
        default: what an empty variable means.
    """

    default: str
    meaning: str


VARIABLES: Mapping[str, Variable] = {
    "BLINDSPOT_CACHE": Variable(
        "`cache/` in a checkout, your user cache folder where installed",
        "folder for embeddings, store and downloads",
    ),
    "BLINDSPOT_CACHE_LIMIT": Variable(
        "none", "most that the cache may take, such as `20GB` ([details](../guides/troubleshooting.md#the-cache-grows))"
    ),
    "BLINDSPOT_MIRROR": Variable(
        "none", "directory or base URL that serves dataset files as `<source>/<path in source>`"
    ),
    "BLINDSPOT_STORE": Variable(
        "read and written",
        "`read-only`: nothing is run or stored, and many processes can open the same store "
        "([Host a demo](../hosting.md#several-servers-of-one-store))",
    ),
    "BLINDSPOT_DEVICE": Variable(
        "`auto`",
        "`auto` (for large jobs a GPU that passed its check), `cpu`, `cuda`, `cuda:N` or `mps` "
        "([GPUs](../guides/encoders.md#gpus))",
    ),
    "BLINDSPOT_RAY": Variable(
        "none",
        "cluster that the page *Run* can send runs to: `ray://HOST:PORT`, `auto` for one that runs on this machine, or "
        "`local` to start one ([details](../guides/cluster.md#from-the-app))",
    ),
    "BLINDSPOT_RAY_FOLDER": Variable(
        "one in the cache", "folder, or address such as `s3://BUCKET/FOLDER`, that this machine and that cluster share"
    ),
    "BLINDSPOT_MODE": Variable("`local`", "`local`, or `demo` for a public server ([Host a demo](../hosting.md))"),
    "BLINDSPOT_HOSTS": Variable(
        "this machine and any address; on a demo this machine",
        "names that the server answers to, separated by commas: `demo.example.org,*.example.org`",
    ),
    "BLINDSPOT_FRAMED_BY": Variable(
        "nobody", "site that may show the app in a frame of its pages: `https://huggingface.co` for a Space"
    ),
    "BLINDSPOT_PREPARE": Variable(
        "`yes` on a demo, else `no`",
        "whether the server computes the demo by itself, and is not ready before "
        "([Host a demo](../hosting.md#the-demo-is-there-before-the-first-visitor)); `nothing`: nor loads MiniLM and "
        "compiled code before they are needed",
    ),
}
READ_ONLY = "read-only"
_RAY = re.compile(r"local|auto|ray://[^/\s?#@]+")
_HOST = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\]")
BYTES = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}  # per unit


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
        hosts: names that a server answers to, ``*.example.org`` for all below one; empty means this machine and any
            address, on a demo only this machine.
        session: on a demo, the visitor whose own texts are worked on; their results are kept apart and deleted with the
            visit. "" is shared by all.
        cache_limit: most bytes of the cache, or None.
        prepare: whether a server computes the demo by itself and is not ready before; the default on a demo.
        loads_ahead: whether a server loads MiniLM and compiled kernels before they are needed.
        read_only: whether stores are only read, so that several processes can have them open; nothing is run.
        ray: ``local``, ``auto`` or ``ray://HOST:PORT``: the cluster that the app may send runs to; "" for none.
        ray_folder: path or address of a folder that its nodes share with this machine; "" for one in the cache.
    """

    cache: Path
    mirror: str
    device: str
    mode: Mode
    hosts: tuple[str, ...] = ()
    framed_by: str = ""
    session: str = ""
    cache_limit: int | None = None
    prepare: bool = False
    loads_ahead: bool = True
    read_only: bool = False
    ray: str = ""
    ray_folder: str = ""

    @property
    def sessions(self) -> Path:
        """A demo's folders of single visitors."""
        return self.cache / "sessions"

    @property
    def home(self) -> Path:
        """The folder for results: the cache, or a visitor's part of it."""
        return self.sessions / self.session if self.session else self.cache

    @property
    def store(self) -> Path:
        return self.home / "results.duckdb"

    @property
    def embeddings(self) -> Path:
        return self.home / "embeddings"

    @property
    def data(self) -> Path:
        return self.cache / "data"

    @property
    def uploads(self) -> Path:
        return self.home / "uploads"

    @property
    def training(self) -> Path:
        return self.home / "training"

    @property
    def maps(self) -> Path:
        return self.home / "maps"

    @property
    def flows(self) -> Path:
        return self.home / "flows"

    @property
    def repairs(self) -> Path:
        """Trained repairs and their reports."""
        return self.home / "repairs"

    @property
    def hubs(self) -> Path:
        return self.home / "hubs"

    @property
    def learned(self) -> Path:
        return self.home / "learned"

    @property
    def checks(self) -> Path:
        """Reports of set-up checks."""
        return self.home / "checks"

    @property
    def packs(self) -> Path:
        """Folders of result packs of sweeps on a cluster that are not done."""
        return self.cache / "packs"

    @property
    def slurm(self) -> Path:
        """Scripts, logs and answers of jobs on Slurm."""
        return self.cache / "slurm"

    @property
    def revisions(self) -> Path:
        """Revisions of models' files, and the states of the files that they were computed from."""
        return self.cache / "revisions"

    @property
    def logs(self) -> Path:
        return self.cache / "logs"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read ``BLINDSPOT_*``; an empty variable counts as unset. Raises ``InputError`` for an invalid value."""
        env = os.environ if environment is None else environment
        device = env.get("BLINDSPOT_DEVICE") or "auto"
        if not re.fullmatch(r"auto|cpu|cuda|cuda:\d+|mps", device):
            raise InputError(f"BLINDSPOT_DEVICE is '{device}'", expected="auto, cpu, cuda, cuda:N or mps")
        mode = env.get("BLINDSPOT_MODE") or Mode.LOCAL
        if mode not in list(Mode):
            raise unknown("BLINDSPOT_MODE", mode, list(Mode))
        read_only = stores_are_read_only(env)
        prepare = env.get("BLINDSPOT_PREPARE") or ("yes" if mode == Mode.DEMO else "no")
        if prepare not in {"yes", "no", "nothing"}:
            raise InputError(f"BLINDSPOT_PREPARE is '{prepare}'", expected="yes, no or nothing")
        ray = env.get("BLINDSPOT_RAY") or ""
        if ray and not _RAY.fullmatch(ray):
            raise InputError(f"BLINDSPOT_RAY is '{ray}'", expected="ray://HOST:PORT, auto or local")
        return cls(
            cache=Path(env.get("BLINDSPOT_CACHE") or _cache()).expanduser().resolve(),
            mirror=env.get("BLINDSPOT_MIRROR") or "",
            device=device,
            mode=Mode(mode),
            hosts=_hosts(env.get("BLINDSPOT_HOSTS") or ""),
            framed_by=_site(env.get("BLINDSPOT_FRAMED_BY") or ""),
            cache_limit=_bytes("BLINDSPOT_CACHE_LIMIT", env.get("BLINDSPOT_CACHE_LIMIT") or ""),
            prepare=prepare == "yes" and not read_only,
            loads_ahead=prepare != "nothing",
            read_only=read_only,
            ray=ray,
            ray_folder=env.get("BLINDSPOT_RAY_FOLDER") or "",
        )


def stores_are_read_only(environment: Mapping[str, str] | None = None) -> bool:
    """Whether this process may only read stores (``BLINDSPOT_STORE``); raises ``InputError`` for another word."""
    value = (os.environ if environment is None else environment).get("BLINDSPOT_STORE") or ""
    if value not in {"", READ_ONLY}:
        raise InputError(f"BLINDSPOT_STORE is '{value}'", expected=f"{READ_ONLY}, or nothing")
    return value == READ_ONLY


def _cache() -> Path:
    """The default cache folder."""
    if not IS_INSTALLED:
        return ROOT / "cache"
    from platformdirs import user_cache_path

    return user_cache_path("blindspot", appauthor=False)


def _site(text: str) -> str:
    """``BLINDSPOT_FRAMED_BY``: a scheme and a host."""
    if text and not re.fullmatch(rf"https?://{_HOST.pattern}(:\d+)?", text):
        raise InputError(f"BLINDSPOT_FRAMED_BY is '{text}'", expected="a site such as https://huggingface.co")
    return text


def _hosts(text: str) -> tuple[str, ...]:
    """``BLINDSPOT_HOSTS``: names between commas, without port or ``http://``."""
    names = tuple(name.strip().lower() for name in text.split(",") if name.strip())
    for name in names:
        if not _HOST.fullmatch(name):
            raise InputError(
                f"BLINDSPOT_HOSTS names '{name}'",
                expected="names of hosts without port between commas, for example demo.example.org,*.example.org",
            )
    return names


def _bytes(name: str, value: str) -> int | None:
    """A size such as 20GB; None if the variable is not set, ``InputError`` below a megabyte."""
    if not value:
        return None
    units = {unit.lower(): factor for unit, factor in BYTES.items()}
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s*([A-Za-z]+)", value, re.ASCII)
    factor = units.get(match[2].lower()) if match else None
    count = int(float(match[1]) * factor) if match and factor else 0
    if count < BYTES["MB"]:
        raise InputError(
            f"{name} is '{value}'", expected=f"a number and a unit ({', '.join(BYTES)}), such as 20GB, at least 1MB"
        )
    return count


def prepare_runtime(settings: Settings) -> None:
    """Set variables of compiled libraries; call before torch or numba is first imported.

    Waiting threads sleep instead of spinning: if another program wants a core, spinning makes encoding several times
    slower.
    """
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(_folder_of_kernels(settings.cache / "numba"))
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _folder_of_kernels(folder: Path) -> Path:
    """``folder``, or this process's own copy if it cannot be written: numba needs a writable folder."""
    try:
        with tempfile.TemporaryFile(dir=next(parent for parent in (folder, *folder.parents) if parent.exists())):
            return folder
    except OSError:
        temporary = Path(tempfile.mkdtemp(prefix="blindspot-numba-"))
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        if folder.is_dir():
            shutil.copytree(folder, temporary, dirs_exist_ok=True)
        return temporary
