"""What differed between two runs: their manifests laid beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.store.records import RunRecord

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
