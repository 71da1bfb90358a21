"""Memory limits of a container or a service, from Linux's control groups; psutil sees the whole machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

UNLIMITED = 1 << 60  # version 1 writes a number near 2**63 for no limit
# File names per version of control groups: limit, usage, and the entry of memory.stat that the kernel can drop.
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = ("memory.max", "memory.current", "inactive_file")


@dataclass(frozen=True)
class MemoryLimit:
    """Bytes that this process's groups may use in all, and what is left of them; None for no limit.

    Memory that the kernel can drop at once counts as left.
    """

    total: int | None
    left: int | None


def memory_limit(root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> MemoryLimit:
    """The tightest limits of this process's groups and those above; none on other systems.

    Args:
        root: mount point of the groups.
        membership: list of this process's groups, ``NUMBER:CONTROLLERS:PATH``.
    """
    limits: list[tuple[int, int]] = []
    for line in _text(membership).splitlines():
        _, controllers, path = line.split(":", 2)
        mounts = [name for name in {controllers, *controllers.split(",")} if (root / name).is_dir()]
        for mount in mounts:  # version 2 has one mount without a name
            for folder in _upwards(root / mount, path):
                limits += _limit_and_use(folder, *(_V1 if controllers else _V2))
    left = (max(limit - used, 0) for limit, used in limits)
    return MemoryLimit(min((limit for limit, _ in limits), default=None), min(left, default=None))


def _upwards(mount: Path, path: str) -> Iterator[Path]:
    """A group's folder and those above it; inside a container only some of them are visible."""
    parts = [part for part in Path(path).parts if part not in {"/", ".."}]
    for depth in range(len(parts), -1, -1):
        yield mount.joinpath(*parts[:depth])


def _limit_and_use(folder: Path, limit_name: str, used_name: str, droppable: str) -> list[tuple[int, int]]:
    limit, used = _text(folder / limit_name), _text(folder / used_name)
    if not (limit.isdigit() and used.isdigit()) or int(limit) >= UNLIMITED:
        return []
    facts = dict(row.split(maxsplit=1) for row in _text(folder / "memory.stat").splitlines() if " " in row)
    return [(int(limit), int(used) - int(facts.get(droppable, 0)))]


def _text(path: Path) -> str:
    """A small file's content; "" if it is missing or unreadable, which means no known limit."""
    try:
        return path.read_text("utf-8", errors="replace").strip()
    except OSError:
        return ""
