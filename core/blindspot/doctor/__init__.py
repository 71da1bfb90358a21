"""Checks of this installation, with remedies (``blindspot doctor``).

``examine`` changes nothing: it writes a small file to each folder of the cache and removes it, opens the store for
reading only, and uses no network except for a mirror or a cluster that is set. ``mends`` are repairs, with consent;
``not_ready`` is a quick check.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from blindspot.doctor import cluster, content, disk, machine, results, software
from blindspot.doctor.findings import Check, Finding, State, guarded
from blindspot.doctor.mending import Mend, mends
from blindspot.doctor.readiness import not_ready
from blindspot.settings import Settings
from blindspot.store.repository import Repository

__all__ = ["Finding", "Mend", "State", "examine", "examine_gpu", "mends", "not_ready", "usable_settings"]

usable_settings = software.usable_settings


def examine(
    settings: Settings,
    repository: Repository,
    environment: Mapping[str, str] | None = None,
) -> tuple[Finding, ...]:
    """Run all checks; one that breaks is a finding itself.

    Args:
        environment: that ``settings`` were read from; by default this process's.
    """
    variables = os.environ if environment is None else environment
    checks: tuple[tuple[str, str, Check], ...] = (
        (software.VERSIONS, "python", lambda: software.python(environment=variables)),
        (software.VERSIONS, "requirements", lambda: software.installed(software.REQUIREMENTS)),
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
        (disk.CACHE, "cluster", lambda: cluster.left_in_cache(settings)),
        (content.AREA_ENCODERS, content.BUNDLED, lambda: content.bundled_encoder(settings)),
        (content.AREA_DATASETS, "datasets", lambda: content.all_datasets(settings)),
        (content.AREA_DATASETS, "mirror", lambda: content.mirror(settings)),
        (content.AREA_UPLOADS, "pairs", lambda: content.all_uploads(settings)),
        (results.STORE, "file", lambda: results.store(settings, repository)),
        (cluster.CLUSTER, "nodes", lambda: cluster.nodes(settings)),
    )
    return tuple(finding for area, name, check in checks for finding in guarded(area, name, check))


def examine_gpu(settings: Settings) -> tuple[Finding, ...]:
    """Check a GPU's vectors and ranks against the CPU's; replaces the outcomes that ``auto`` goes by.

    Without a GPU, the findings say what is missing.
    """
    return guarded(machine.DEVICES, "GPU", lambda: machine.check_gpu(settings, os.environ))
