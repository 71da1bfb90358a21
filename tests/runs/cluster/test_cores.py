"""How tasks share the cores of a Ray cluster, by hand; it needs no Ray."""

from __future__ import annotations

from blindspot.runs.cluster.on_ray import shared_out


def test_tasks_share_the_cores_of_all_nodes() -> None:
    cases: dict[tuple[tuple[int, ...], int | None], tuple[int, float]] = {
        ((16,), None): (4, 4),
        ((16, 9, 0), None): (6, 4),  # a core of the second node is left over
        ((2, 16), None): (9, 2),  # as few as the smallest node has
        ((16,), 2): (2, 4),
        ((16,), 8): (8, 2),
        ((2, 2), 3): (3, 1),
        ((2,), 8): (8, 0.25),
    }
    for (cpus, workers), expected in cases.items():
        assert shared_out(cpus, workers) == expected, (cpus, workers)
