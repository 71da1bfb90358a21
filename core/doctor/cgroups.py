"""What a container or a service may use, read from Linux's control groups; psutil sees the whole machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

UNLIMITED = 1 << 60  # version 1 writes a number near 2**63 where there is no limit


@dataclass(frozen=True)
class Limits:
    """Limits of this process's groups; None where there is none.

    Attributes:
        cores: of processor time, such as 1.5.
        memory: bytes in all.
        memory_left: bytes that are not in use yet; what the kernel can drop at once counts as left.
    """

    cores: float | None
    memory: int | None
    memory_left: int | None


@dataclass(frozen=True)
class _Names:
    """How a version of control groups calls its files."""

    memory_limit: str
    memory_used: str
    droppable: str


_V1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Names("memory.max", "memory.current", "inactive_file")


def limits(root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> Limits:
    """The tightest limits of the groups that this process is in, those above them included; none on other systems.

    Args:
        root: where the groups are mounted.
        membership: the list of this process's groups, ``NUMBER:CONTROLLERS:PATH``.
    """
    if not membership.is_file():
        return Limits(None, None, None)
    cores: list[float] = []
    memory: list[tuple[int, int]] = []
    for line in membership.read_text("utf-8", errors="replace").splitlines():
        _, controllers, path = line.split(":", 2)
        mounts = [name for name in {controllers, *controllers.split(",")} if (root / name).is_dir()]
        for mount in mounts:  # version 2 has one mount, and no name for it
            for folder in _upwards(root / mount, path):
                cores += _cores(folder)
                memory += _memory(folder, _V1 if controllers else _V2)
    return Limits(
        min(cores, default=None),
        min((limit for limit, _ in memory), default=None),
        min((max(limit - used, 0) for limit, used in memory), default=None),
    )


def _upwards(mount: Path, path: str) -> Iterator[Path]:
    """A group's folder and those above it; inside a container only some of them can be seen."""
    parts = [part for part in Path(path).parts if part not in {"/", ".."}]
    for depth in range(len(parts), -1, -1):
        yield mount.joinpath(*parts[:depth])


def _cores(folder: Path) -> list[float]:
    """Quota over period: one file in version 2, two in version 1."""
    numbers = _text(folder / "cpu.max").split() or [
        _text(folder / "cpu.cfs_quota_us"),
        _text(folder / "cpu.cfs_period_us"),
    ]
    if len(numbers) != 2 or not all(number.isdigit() for number in numbers) or not int(numbers[1]):
        return []
    return [int(numbers[0]) / int(numbers[1])]


def _memory(folder: Path, names: _Names) -> list[tuple[int, int]]:
    """Limit and use of one group."""
    limit, used = _text(folder / names.memory_limit), _text(folder / names.memory_used)
    if not (limit.isdigit() and used.isdigit()) or int(limit) >= UNLIMITED:
        return []
    facts = dict(row.split(maxsplit=1) for row in _text(folder / "memory.stat").splitlines() if " " in row)
    return [(int(limit), int(used) - int(facts.get(names.droppable, 0)))]


def _text(path: Path) -> str:
    """A small file's content; "" where it is not there or not ours to read: then there is no limit that we know of."""
    try:
        return path.read_text("utf-8").strip()
    except OSError:
        return ""
