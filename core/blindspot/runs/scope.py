"""Results that readers narrow down to: those on some datasets, of some diagnostics."""

from __future__ import annotations

from dataclasses import dataclass, replace

from blindspot.datasets.catalog import title_of
from blindspot.datasets.user_data.files import is_own
from blindspot.diagnostic import find_diagnostic
from blindspot.errors import InputError, unknown
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.texts import listed


@dataclass(frozen=True)
class Scope:
    """Datasets and diagnostics by their ids; none of either means all."""

    datasets: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()

    def has(self, diagnostic: str, dataset: str) -> bool:
        return (not self.diagnostics or diagnostic in self.diagnostics) and (
            not self.datasets or dataset in self.datasets
        )

    def as_stored(self, repository: Repository) -> Scope:
        """The same datasets by the names that their runs have: a file that was moved, or a copy, has others' runs."""
        names = list[str]()
        for name in self.datasets:
            names += [run.plan.dataset for run in repository.runs(dataset=name, metrics=[])] or [name]
        return replace(self, datasets=tuple(dict.fromkeys(names)))

    def check(self, repository: Repository) -> None:
        """Raise ``InputError`` for a dataset or diagnostic without a finished run; it names the nearest with one."""
        if self == EVERYTHING:
            return
        plans = [run.plan for run in repository.runs(state=RunState.DONE, metrics=[])]
        for names, tested, link in (
            (map(_called, self.datasets), {_called(plan.dataset) for plan in plans}, "on"),
            (self.diagnostics, {plan.diagnostic for plan in plans}, "of"),
        ):
            for name in names:
                if name not in tested:
                    nearest = unknown("", name, tested, every="blindspot runs")
                    raise InputError(
                        f"there is no finished run {link} {name}", expected=nearest.expected, remedy=nearest.remedy
                    )

    @property
    def nothing(self) -> InputError:
        """The error where some models have no results in this scope."""
        on = f" on {listed(list(map(title_of, self.datasets)))}" if self.datasets else ""
        titles = [find_diagnostic(name).title for name in self.diagnostics]
        return InputError(
            f"these models have no results{f' of {listed(titles)}' if titles else ''}{on} to show",
            remedy="leave out --dataset, --diagnostic or --metric, or list the runs with: blindspot runs",
        )


EVERYTHING = Scope()


def _called(dataset: str) -> str:
    """What people type for a dataset."""
    return title_of(dataset) if is_own(dataset) else dataset
