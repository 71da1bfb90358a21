"""``python -m core runs compare``: do two runs differ by more than chance?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from core import cli_output as output
from core import comparison
from core.errors import InputError
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository


def compare(
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="a run id, or how it begins")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="another, over the same content")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Whether two runs differ by more than chance, item by item."""
    repository = Repository.at(Settings.from_environment().store)
    one, other = repository.run(first), repository.run(second)
    entry = comparison.entry_of_both(one, other)
    if entry.id not in COMPARISONS:
        raise InputError(
            f"runs of {entry.id} cannot be compared", expected=f"two runs of {' or '.join(sorted(COMPARISONS))}"
        )
    COMPARISONS[entry.id](one, other, repository, as_json)


def _heros(first: RunRecord, second: RunRecord, repository: Repository, as_json: bool) -> None:
    tests = comparison.compare_orderings(first, second, repository)
    one, other = (run.plan.variant.label for run in (first, second))
    said = comparison.verdict(tests, one, other)
    if as_json:
        orderings = [
            {"ordering": t.ordering, "first_rate": t.first_rate, "second_rate": t.second_rate}
            | {"difference": t.difference, **asdict(t.test), "p_corrected": t.p_corrected}
            for t in tests
        ]
        output.print_json(_both(first, second) | {"orderings": orderings, "verdict": said})
        return
    output.print_table(
        f"HEROS on {first.plan.dataset}: A is {one}, B is {other}",
        ["ordering", "A", "B", "A - B", "only A", "only B", "alike", "p (McNemar)", "p (Holm)"],
        [
            [
                t.ordering,
                *(f"{rate:.4f}" for rate in (t.first_rate, t.second_rate)),
                f"{t.difference:+.4f}",
                *(str(n) for n in (t.test.first_better, t.test.second_better, t.test.alike)),
                *(f"{p:.3g}" for p in (t.test.p_value, t.p_corrected)),
            ]
            for t in tests
        ],
    )
    print("\n".join(said))


def _both(first: RunRecord, second: RunRecord) -> dict[str, Any]:
    """What is compared with what."""
    runs = {
        name: {"run_id": r.run_id, "encoder": r.plan.variant.encoder, "transform": r.plan.variant.transform}
        for name, r in (("first", first), ("second", second))
    }
    return {"diagnostic": first.plan.diagnostic, "dataset": first.plan.dataset, **runs}


# Per diagnostic, what prints the comparison of two of its runs.
COMPARISONS: Mapping[str, Callable[[RunRecord, RunRecord, Repository, bool], None]] = {"heros": _heros}
