"""Manifests: what another person needs to get a run's numbers, and what differed between two runs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import core
from core import diagnostic as diagnostics
from core.datasets.catalog import DatasetEntry
from core.datasets.kinds.base import Dataset
from core.diagnostic import FIT_ON, DiagnosticResult
from core.encoders.base import Encoder, library_versions, prompt_warning
from core.encoders.cache import Embedded
from core.store.records import RunPlan, RunRecord
from core.transforms.chain import FittedChain


def manifest_of(
    plan: RunPlan,
    encoder: Encoder,
    embedded: Embedded,
    transform: FittedChain,
    dataset: Dataset,
    entry: DatasetEntry,
    checksums: Mapping[str, str],
    result: DiagnosticResult,
    held_out: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The manifest of a run that was computed just now.

    Args:
        checksums: of the dataset's files, as they were downloaded.
        result: what the diagnostic computed, with its seeds, its device and what it chose on the way.
        held_out: facts of the dataset that the transform was fitted on instead of the run's own items.
    """
    return {
        "blindspot": core.__version__,
        "python": platform.python_version(),
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "device": result.device},
        "libraries": list(library_versions("numpy", "scipy", "numba", "duckdb", "torch", "transformers")),
        "encoder": {
            **asdict(encoder.identity),
            "device": embedded.facts.device,
            "dimension": transform.d_out,
            **({"prompts_not_applied": prompts} if (prompts := dict(encoder.info.unused_prompts)) else {}),
        },
        "embeddings": {
            "digest": plan.embedding_digest,
            "encoded_now": embedded.encoded_now,
            "truncated_share": embedded.facts.truncated_share,
        },
        "dataset": {"id": dataset.id, "digest": plan.dataset_digest, **source_of(entry, checksums)},
        "transform": {
            **transform.record(),
            "fitted_on": _fitted_on(plan, transform, dataset),
            **({"held_out": held_out} if held_out else {}),
        },
        "support": {"digest": plan.support_digest, "with": list(plan.support), "own": plan.own_support},
        "params": dict(plan.params),
        "seeds": dict(result.seeds),
        **({"chosen": dict(result.chosen)} if result.chosen else {}),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def prompt_warnings(runs: Iterable[RunRecord]) -> list[str]:
    """Per encoder that declares prompts which were not put before the texts, what to know of its scores."""
    unused = {run.plan.variant.encoder: run.manifest.get("encoder", {}).get("prompts_not_applied", {}) for run in runs}
    return [f"{encoder} {prompt_warning(prompts)}" for encoder, prompts in unused.items() if prompts]


def source_of(entry: DatasetEntry, checksums: Mapping[str, str]) -> dict[str, Any]:
    """Where a dataset came from: its revision and the checksums of its files; of a user's file how it was read."""
    if entry.own:
        files, reading = {str(entry.own.path): entry.own.sha256}, {"reading": entry.own.as_manifest()}
        return {"revision": entry.revision, "files": files, **reading}
    return {"revision": entry.revision, "files": dict(checksums)}


def _fitted_on(plan: RunPlan, transform: FittedChain, dataset: Dataset) -> str:
    if other := plan.params.get(FIT_ON):
        return f"{transform.n} items of {other}"
    preparation = diagnostics.find(plan.diagnostic).preparation(plan.params)
    if preparation and transform.n != len(dataset.items):
        return f"{transform.n} {preparation.fitted_on}"
    return f"{transform.n} {'ranked items' if plan.support_digest else 'items'} of {plan.dataset}"


# --- two of them

NOT_THERE = "–"  # what a manifest without a fact shows
# In the order in which they matter for the numbers; what is not named here comes last, by its own name.
_GROUPS = {
    "encoder": "Encoder",
    "embeddings": "Embeddings",
    "transform": "Transform",
    "dataset": "Data",
    "support": "Items ranked",
    "params": "Parameters",
    "seeds": "Seeds",
    "chosen": "Chosen",
    "blindspot": "Blindspot",
    "python": "Python",
    "libraries": "Libraries",
    "machine": "Machine",
    "finished": "When",
}
# What differs whatever two runs compute: when and where, and what was cached by then. "" stands for a whole group.
_CIRCUMSTANCES = frozenset({("When", ""), ("Machine", ""), ("Embeddings", "encoded_now")})


@dataclass(frozen=True)
class Fact:
    """A fact of two manifests.

    Attributes:
        group: what it is about ("Encoder", "Libraries", ...).
        name: its name in that group; "" where the group is the fact.
        first, second: its values, as text.
    """

    group: str
    name: str
    first: str
    second: str

    @property
    def differs(self) -> bool:
        return self.first != self.second

    @property
    def can_matter(self) -> bool:
        """Whether it can decide numbers; the day of a run and the machine's name should not."""
        return _CIRCUMSTANCES.isdisjoint({(self.group, ""), (self.group, self.name)})


def compare(first: RunRecord, second: RunRecord) -> tuple[Fact, ...]:
    """Every fact of two runs' manifests and what identifies them, those that decide the numbers first."""
    left, right = _facts(first), _facts(second)
    names = list(dict.fromkeys([*left, *right]))
    order = list(_GROUPS.values())
    names.sort(key=lambda key: order.index(key[0]) if key[0] in order else len(order))
    return tuple(
        Fact(group, name, left.get((group, name), NOT_THERE), right.get((group, name), NOT_THERE))
        for group, name in names
    )


def _facts(run: RunRecord) -> dict[tuple[str, str], str]:
    """``(group, name) -> value``."""
    plan = run.plan
    found = {
        ("Diagnostic", "id"): plan.diagnostic,
        ("Diagnostic", "version"): str(plan.diagnostic_version),
        ("Encoder", "reference"): plan.variant.encoder,
        ("Transform", "chain"): plan.variant.transform,
        ("Data", "id"): plan.dataset,
        ("Data", "digest"): plan.dataset_digest,
    }
    for key, value in run.manifest.items():
        group = _GROUPS.get(key, key)
        for name, text in _leaves(value):
            found[group, name] = text
    return found


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """A nested value as ``path -> text``; a list of ``library==version`` by its libraries."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path} {name}".strip())
    elif isinstance(value, list) and value and all(isinstance(v, str) and "==" in v for v in value):
        for entry in value:
            name, _, version = entry.partition("==")
            yield f"{path} {name}".strip(), version
    elif isinstance(value, list):
        if all(isinstance(v, str | int | float) for v in value):
            yield path, ", ".join(map(str, value)) or NOT_THERE
        else:
            for number, inner in enumerate(value, 1):
                yield from _leaves(inner, f"{path} {number}".strip())
    else:
        yield path, NOT_THERE if value is None or value == "" else str(value)
