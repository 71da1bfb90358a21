"""What is wrong with this installation, and what to do about it (``python -m core doctor``).

``examine`` changes nothing: a small file is written to each folder of the cache and removed again, the store is opened
for reading only. No network is used, but for a mirror that is set. ``mends`` is what can be put right, with consent;
``not_ready`` a quick look, for machines that ask often.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from core.doctor import content, disk, machine, results, software
from core.doctor.findings import Check, Finding, State, guarded
from core.doctor.mending import Mend, mends
from core.doctor.readiness import not_ready
from core.settings import Settings
from core.store.repository import Repository

__all__ = ["Finding", "Mend", "State", "examine", "mends", "not_ready", "usable_settings"]

usable_settings = software.usable_settings


def examine(
    settings: Settings,
    repository: Repository,
    environment: Mapping[str, str] | None = None,
    requirements: Path = software.REQUIREMENTS,
) -> tuple[Finding, ...]:
    """Look at everything, area by area; a check that breaks is a finding itself.

    Args:
        environment: the variables that ``settings`` were read from; those of this process if left out.
        requirements: the file of pins that installed versions are held against.
    """
    variables = os.environ if environment is None else environment
    checks: tuple[tuple[str, str, Check], ...] = (
        (software.VERSIONS, "python", lambda: software.python(environment=variables)),
        (software.VERSIONS, "requirements", lambda: software.requirements(requirements)),
        (software.SETTINGS, "variables", lambda: software.variables(variables)),
        (machine.DEVICES, "device", lambda: machine.device(settings, variables)),
        (machine.DEVICES, "processor", machine.processor),
        (disk.CACHE, "folder", lambda: disk.writable(settings)),
        (disk.CACHE, "NUMBA_CACHE_DIR", lambda: disk.kernels(settings, variables)),
        (disk.CACHE, "free space", lambda: disk.free_space(settings)),
        (disk.CACHE, "size", lambda: disk.usage(settings)),
        (disk.CACHE, "embeddings", lambda: disk.embeddings(settings)),
        (disk.CACHE, "computed", lambda: disk.computed(settings)),
        (disk.CACHE, "unfinished", lambda: disk.unfinished(settings)),
        (content.ENCODERS, content.BUNDLED, lambda: content.bundled_encoder(settings)),
        (content.DATASETS, "datasets", lambda: content.all_datasets(settings)),
        (content.DATASETS, "mirror", lambda: content.mirror(settings)),
        (content.UPLOADS, "pairs", lambda: content.all_uploads(settings)),
        (results.STORE, "file", lambda: results.store(settings, repository)),
    )
    return tuple(finding for area, name, check in checks for finding in guarded(area, name, check))
