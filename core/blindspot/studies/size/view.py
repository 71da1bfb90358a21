"""View of a grid of sizes, the same on the page and by the command: every setting against full size.

A setting's score is tested against that of full size by the diagnostic's own paired test, with p-values corrected after
Holm over its main scores, as everywhere. What it loses at most is the upper bound of a one-sided interval of the paired
drop (``blindspot.numerics.statistics.tolerance``), each at ``1 - 0.05 / k`` for k settings, so that with 95% confidence
all bounds hold at once (Bonferroni). A setting that changes no item has the lowest one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindspot.datasets.kinds.own_columns import OwnColumn, choices_of
from blindspot.diagnostic import Diagnostic
from blindspot.errors import InputError
from blindspot.numerics.statistics.compare import ItemScores, PairedTest, Verdict
from blindspot.numerics.statistics.compare import gains as gains_of
from blindspot.numerics.statistics.estimate import Sure
from blindspot.numerics.statistics.intervals import ALPHA, Interval, level_of_each
from blindspot.numerics.statistics.pairs import Dependence, exact_share
from blindspot.numerics.statistics.tolerance import Drop, drop
from blindspot.numerics.statistics.written import SCORE, interval, number, p_in_cell
from blindspot.runs.comparison import ends, headline_tests
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.size import speed
from blindspot.studies.size.grid import Setting
from blindspot.texts import counted, first_upper, in_sentence
from blindspot.types import Bool, Float64, Int64

ROUNDING = 1e-9  # of an item's part, within which two runs agree
FEWEST_OF_A_KIND = 5  # items
NAMED = ("value", "p_corrected", "loses_at_most", "changed", "lost", "won")  # of a cell, as JSON


@dataclass(frozen=True)
class Cell:
    """A setting's run against that of full size.

    Attributes:
        interval: 95% interval of the score, None where it has none.
        difference: the score minus that of full size; None for full size itself.
        drop: how far the score is below full size; None if it has no bounds.
        changed, lost, won: shares of items that do differently, worse and better than at full size.
    """

    setting: Setting
    run: RunRecord
    value: float
    interval: Interval | None
    difference: PairedTest | None = None
    drop: Drop | None = None
    changed: float = 0.0
    lost: float = 0.0
    won: float = 0.0

    @property
    def p(self) -> float | None:
        """Before the correction."""
        return None if self.difference is None else self.difference.p

    @property
    def p_corrected(self) -> float | None:
        """As everywhere for these two: over the main scores of the diagnostic; None where there is no test."""
        return None if self.difference is None else self.difference.p_corrected

    @property
    def is_full(self) -> bool:
        return self.difference is None

    @property
    def loses_at_most(self) -> float | None:
        """With 95% confidence for all settings at once; None where nothing is known, 0 of full size."""
        return 0.0 if self.is_full else None if self.drop is None else self.drop.high

    @property
    def is_worse(self) -> bool:
        """Whether its score is significantly below that of full size."""
        return self.difference is not None and self.difference.verdict is Verdict.WORSE

    @property
    def is_tested(self) -> bool:
        return self.p_corrected is not None


@dataclass(frozen=True)
class LostItem:
    """An item that does worse at a setting than at full size.

    Attributes:
        full, here: its parts in the score; None if the score is not a mean of such parts.
        change: below 0.
        in_settings: how many smaller settings lose it.
    """

    number: int
    text: str
    full: float | None
    here: float | None
    change: float
    in_settings: int


@dataclass(frozen=True, eq=False)
class SizeView:
    """A grid as far as it is computed, the full size first.

    Attributes:
        numbers, texts: of the m items, ascending.
        gains: ``[m, s]``, a column per cell: what each item does better than at full size.
        parts: ``[m, s]``, the items' parts in the score; None of a score that is no mean of them (a correlation).
        known: dependence of the items.
    """

    entry: Diagnostic
    score: str
    cells: tuple[Cell, ...]
    numbers: Int64
    texts: tuple[str, ...]
    gains: Float64
    parts: Float64 | None
    known: Dependence

    @property
    def title(self) -> str:
        """The score for people."""
        return self.entry.title_of(self.score)

    @property
    def full(self) -> Cell:
        return self.cells[0]

    @property
    def lost(self) -> Bool:
        """Which items do worse than at full size, ``[m, s]``."""
        return np.asarray(self.gains < -ROUNDING)

    @property
    def not_worse(self) -> Cell | None:
        """The smallest tested setting that is not significantly worse than full size; the better of equal ones."""
        return _smallest([cell for cell in self.cells if cell.is_tested and not cell.is_worse])

    def within(self, tolerance: float) -> Cell | None:
        """The smallest setting that loses at most ``tolerance``, with 95% confidence for all settings at once."""
        bounded = [cell for cell in self.cells if not cell.is_full and cell.loses_at_most is not None]
        return _smallest([cell for cell in bounded if (cell.loses_at_most or 0.0) <= tolerance])

    @property
    def front(self) -> tuple[Cell, ...]:
        """The settings that no other one beats in both bytes and score, the smallest first."""
        order = sorted(self.cells, key=lambda cell: (cell.setting.bytes_per_text, -cell.value))
        out: list[Cell] = []
        for cell in order:
            if not out or cell.value > out[-1].value:
                out.append(cell)
        return tuple(out)

    def rows(self, measured: speed.Measured | None) -> list[dict[str, object]]:
        """A row per setting, for tables; ``measured`` are search times, where there are any."""
        return [self._row(cell, measured) for cell in self.cells]

    def _row(self, cell: Cell, measured: speed.Measured | None) -> dict[str, object]:
        timing = measured.of(cell.setting) if measured else None
        times = {"faiss ms": timing.faiss_ms if timing else None, "own ms": timing.own_ms if timing else None}
        return {
            "dimensions": cell.setting.dimension,
            "precision": cell.setting.way,
            "MB per million": cell.setting.bytes_per_text,
            "score": cell.value,
            "95% CI": interval(cell.interval, SCORE),
            "change": None if cell.is_full else cell.value - self.full.value,
            "p (Holm)": "" if cell.p_corrected is None else p_in_cell(cell.p_corrected, cell.p),
            "loses at most": None if cell.is_full else cell.loses_at_most,
            "changed": None if cell.is_full else cell.changed,
            "lost": None if cell.is_full else cell.lost,
            "Pareto": cell in self.front,
            **(times if measured else {}),
        }

    def lost_items(self, setting: int) -> list[LostItem]:
        """What the setting at ``setting`` loses: items that most settings lose first, then the largest loss."""
        in_settings = self.lost[:, 1:].sum(axis=1)
        order = np.lexsort((self.gains[:, setting], -in_settings))
        return [
            LostItem(
                int(self.numbers[i]),
                self.texts[i],
                None if self.parts is None else float(self.parts[i, 0]),
                None if self.parts is None else float(self.parts[i, setting]),
                float(self.gains[i, setting]),
                int(in_settings[i]),
            )
            for i in order[self.lost[order, setting]].tolist()
        ]

    def as_json(
        self, tolerance: float, measured: speed.Measured | None, columns: Sequence[OwnColumn] = ()
    ) -> dict[str, Any]:
        """Shares are fractions, undefined values None.

        Args:
            measured: search times, where there are any.
            columns: of the dataset, by which lost items are counted.
        """
        not_worse, within = self.not_worse, self.within(tolerance)
        timings = [measured.of(cell.setting) if measured else None for cell in self.cells]
        return {
            "diagnostic": self.entry.id,
            "score": self.score,
            "tolerance": tolerance,
            "answer": list(answer(self, tolerance)),
            "not_worse": not_worse.setting.chain if not_worse else None,
            "within": within.setting.chain if within else None,
            "machine": measured.machine if measured else None,
            "settings": [
                {
                    "dimension": cell.setting.dimension,
                    "precision": cell.setting.precision,
                    "rescored": cell.setting.rescored,
                    "transform": cell.setting.chain,
                    "run_id": cell.run.run_id,
                    "bytes": cell.setting.bytes_per_text,
                    "bytes_besides": cell.setting.bytes_besides,
                    **ends(cell.interval),
                    **{name: getattr(cell, name) for name in NAMED},
                    "on_front": cell in self.front,
                    "faiss_ms": timing.faiss_ms if timing else None,
                    "own_ms": timing.own_ms if timing else None,
                    "kinds": [
                        {"column": kind.column, "kind": kind.kind, "items": kind.items, "lost": kind.lost}
                        for kind in lost_by_kind(self, setting, columns)
                    ],
                }
                for setting, (cell, timing) in enumerate(zip(self.cells, timings, strict=True))
            ],
        }


def _smallest(cells: Sequence[Cell]) -> Cell | None:
    return min(cells, key=lambda cell: (cell.setting.bytes_per_text, -cell.value), default=None)


def size_view(entry: Diagnostic, by_setting: Sequence[tuple[Setting, RunRecord]], repository: Repository) -> SizeView:
    """The settings that are computed, against full size, which is the first.

    Raises:
        InputError: the score is not made of items, or lower is better.
    """
    runs = [run for _, run in by_setting]
    score = entry.headline_of(runs[0].metrics)
    scores = [by_score.get(score) for run in runs for by_score in entry.item_scores([run], repository)]
    first = scores[0]
    if first is None or not (declared := entry.declared(score)) or not declared.higher_is_better:
        raise InputError(f"{score} of {entry.id} is not made of items", expected="EvalRank, HEROS or retrieval")
    tests = headline_tests(entry, [(run, runs[0]) for run in runs[1:]], repository) if len(runs) > 1 else []
    cells = [Cell(by_setting[0][0], runs[0], first.value, tests[0].b_interval if tests else None)]
    parts, gains = [first.parts], [np.zeros(len(first.parts))]
    for index, (test, scored) in enumerate(zip(tests, scores[1:], strict=True)):
        setting, run = by_setting[index + 1]
        if scored is None or not np.array_equal(scored.numbers, first.numbers):
            raise InputError(f"run {run.run_id} is on other items", expected="the items of full size")
        parts.append(scored.parts)
        gain = gains_of(scored, first)
        gains.append(gain)
        cells.append(
            Cell(
                setting,
                run,
                scored.value,
                test.a_interval,
                test,
                _drop(first, scored, len(tests), declared.range[1] - declared.range[0]),
                float((np.abs(gain) > ROUNDING).mean()),
                float((gain < -ROUNDING).mean()),
                float((gain > ROUNDING).mean()),
            )
        )
    return SizeView(
        entry,
        score,
        tuple(cells),
        first.numbers,
        tuple(first.texts),
        np.stack(gains, axis=1),
        np.stack(parts, axis=1) if first.is_mean else None,
        first.known,
    )


def _drop(full: ItemScores, reduced: ItemScores, settings: int, most: float) -> Drop | None:
    if reduced.known.refusal:
        return None
    drop_found = drop(
        full.value - reduced.value,
        full.parts - reduced.parts,
        reduced.known,
        0.0,
        ALPHA / settings,
        most,
        reduced.is_mean,
    )
    return None if drop_found.high is None or not math.isfinite(drop_found.high) else drop_found


# --- which items are lost first


@dataclass(frozen=True)
class KindLost:
    """Items of a kind, a value of the dataset's column ``column``, that a setting loses.

    Attributes:
        share: its interval holds for all kinds of the column at once, since the largest are shown.
    """

    column: str
    kind: str
    items: int
    lost: int
    share: Sure


def words_column(texts: Sequence[str]) -> OwnColumn:
    """A column that every dataset has: thirds of the items by their number of words."""
    counts = np.array([len(text.split()) for text in texts])
    low, high = (int(value) for value in np.quantile(counts, [1 / 3, 2 / 3]))
    codes = (counts > low).astype(np.uint8) + (counts > high)
    values = (f"up to {low} words", f"{low + 1} to {high} words", f"more than {high} words")
    return OwnColumn("length", values, codes.astype(np.uint8))


def lost_by_kind(view: SizeView, setting: int, columns: Sequence[OwnColumn]) -> list[KindLost]:
    """What the setting at ``setting`` loses of each kind, column by column, the largest share first.

    Args:
        columns: of the dataset, with an entry per row.
    """
    lost = view.lost[:, setting]
    out: list[KindLost] = []
    every = [(name, column.groups(view.numbers)) for name, column in choices_of(columns).items()]
    every.append(("length", words_column(view.texts).groups(np.arange(len(view.texts)))))
    for name, groups in every:
        lost_groups = []
        enough = [(kind, inside) for kind, inside in groups if int(inside.sum()) >= FEWEST_OF_A_KIND]
        level = level_of_each(len(enough))
        for kind, inside in enough:
            sure = exact_share(lost[inside].astype(np.float64), view.known.among(inside), level)
            lost_groups.append(KindLost(name, kind, int(inside.sum()), int((inside & lost).sum()), sure))
        out += sorted(lost_groups, key=lambda group: -group.share.value) if len(lost_groups) > 1 else []
    return out


# --- in words


def megabytes(setting: Setting) -> str:
    """MB that a million texts take, and the MB of the floats used only to compare the best again."""
    besides = f" (and {setting.bytes_besides:,} MB of floats, which can be on disk)" if setting.rescored else ""
    return f"{setting.bytes_per_text:,} MB{besides}"


def answer(view: SizeView, tolerance: float) -> tuple[str, ...]:
    """Sentences: the smallest setting that is not significantly worse, and the smallest that loses at most the
    tolerance."""
    if len(view.cells) < 2:
        return ("No smaller setting is computed yet.",)
    title, full, at_full = in_sentence(view.title), view.full, number(view.full.value, SCORE)
    out = []
    if not any(cell.is_tested for cell in view.cells):
        why = next((cell.difference.refusal for cell in view.cells if cell.difference), "")
        return (f"No setting can be tested against full size: {why}.",)
    if (smallest := view.not_worse) is None:
        out.append(f"Every smaller setting has a significantly lower {title} than full size ({at_full}).")
    else:
        limit = smallest.loses_at_most
        bound = (
            "how much it loses at most is not known" if limit is None else f"it loses at most {number(limit, SCORE)}"
        )
        if limit is not None and smallest.changed == 0:
            bound = f"none of {counted(len(view.numbers), 'item')} changed, so {bound}"
        out += [
            f"The smallest setting without a significant loss of {title}: {smallest.setting.label}, "
            f"{megabytes(smallest.setting)} per million texts instead of {megabytes(full.setting)}.",
            f"{first_upper(title)} is {number(smallest.value, SCORE)} instead of {at_full}; {bound} (95% confidence "
            "for all settings at once).",
        ]
    if (within := view.within(tolerance)) is None:
        out.append(f"No smaller setting is shown to lose at most {tolerance:g}.")
    elif within is smallest:
        out.append(f"It is also the smallest that is shown to lose at most {tolerance:g}.")
    else:
        out.append(
            f"The smallest that is shown to lose at most {tolerance:g}: {within.setting.label}, "
            f"{megabytes(within.setting)} ({title} {number(within.value, SCORE)}, at most "
            f"{within.loses_at_most:.3f} lost)."
        )
    return tuple(out)
