"""Grid of sizes: numbers of dimensions by precisions, some rescored, and the ordinary runs that fill it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import Diagnostic, all_diagnostics, find_diagnostic
from blindspot.encoders.catalog import encoder_of, model_alone
from blindspot.errors import InputError, unknown
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.texts import counted
from blindspot.transforms.codes import RESCORE, bytes_of

FLOAT = "float32"
PRECISIONS = (FLOAT, "int8", "int8-decoded", "binary", "int8-docs", "binary-docs")
USUAL_PRECISIONS = (FLOAT, "int8", "binary")
USUAL_DIMENSIONS = (384, 256, 128, 64, 32)
ROUND_DIMENSIONS = (1024, 768, 512, *USUAL_DIMENSIONS, 16)
MOST_SETTINGS = 60
LARGEST = 100_000  # dimensions that anybody asks for


class By(StrEnum):
    """Way to keep fewer dimensions."""

    TRUNCATE = "truncate"
    PCA = "pca"


@dataclass(frozen=True)
class Setting:
    """A number of dimensions in a precision; ``chain`` is the transform that gets there from the model's vectors.

    The ``rescored`` best hits of a search are compared again in float32; 0 for none.
    """

    dimension: int
    precision: str
    chain: str
    rescored: int = 0

    @property
    def bytes_per_text(self) -> int:
        """Bytes of what is searched; also the MB (10^6 bytes) that a million texts take."""
        return bytes_of((self.precision,), self.dimension)

    @property
    def bytes_besides(self) -> int:
        """Bytes of the vector that is used only to compare the best again; it can stay on disk."""
        return bytes_of((), self.dimension) if self.rescored else 0

    @property
    def way(self) -> str:
        """The precision, and what is compared again."""
        return f"{self.precision}, best {self.rescored:,} again" if self.rescored else self.precision

    @property
    def label(self) -> str:
        return f"{self.dimension:,} dimensions in {self.way}{' in float32' if self.rescored else ''}"


def chain_of(dimension: int, precision: str, full: int, by: By = By.TRUNCATE, rescored: int = 0) -> str:
    """The transform that keeps ``dimension`` of ``full`` dimensions in a precision, and compares the best again."""
    steps = ([] if dimension == full else [f"{by}:{dimension}"]) + ([] if precision == FLOAT else [precision])
    return "+".join([*steps, *([f"{RESCORE}:{rescored}"] if rescored else [])]) or "none"


def settings_of(
    full: int,
    dimensions: Sequence[int],
    precisions: Sequence[str],
    by: By = By.TRUNCATE,
    rescored: Sequence[int] = (),
) -> tuple[Setting, ...]:
    """All settings of a model of ``full`` dimensions, the full size in float32 first; larger ones are left out.

    Args:
        rescored: how many of the best to compare again; each number is a setting of every precision but float32.

    Raises:
        InputError: a list is empty, an unknown precision, no whole number from 1 up, none that is small enough, or too
            many settings.
    """
    for name, given in (("number of dimensions", dimensions), ("precision", precisions)):
        if not given:
            raise InputError(f"there is no {name}", expected="at least one")
    for precision in precisions:
        if precision not in PRECISIONS:
            raise unknown("precision", precision, PRECISIONS)
    for number in rescored:
        if not 1 <= number <= LARGEST:
            raise InputError(f"{number:,} texts to compare again", expected=f"a number from 1 to {LARGEST:,}")
    for dimension in dimensions:
        if not 1 <= dimension <= LARGEST:
            raise InputError(f"a setting of {dimension:,} dimensions", expected=f"a number from 1 to {LARGEST:,}")
    kept = sorted({dimension for dimension in dimensions if dimension <= full}, reverse=True)
    if not kept:
        raise InputError(
            f"the model has {full} dimensions, fewer than all of {', '.join(map(str, dimensions))}",
            expected=f"at most {full}",
        )
    every = [(d, precision, m) for d in kept for precision in precisions for m in (0, *sorted(rescored))]
    made = dict.fromkeys([(full, FLOAT, 0), *(setting for setting in every if setting[1] != FLOAT or not setting[2])])
    if len(made) > MOST_SETTINGS:
        raise InputError(f"a grid of {counted(len(made), 'setting')}", expected=f"at most {MOST_SETTINGS}")
    return tuple(Setting(d, precision, chain_of(d, precision, full, by, m), m) for d, precision, m in made)


def dimensions_of(full: int) -> tuple[int, ...]:
    """Dimensions to offer for a model of ``full``: its own, three quarters, half, and round numbers below."""
    parts = {full, 3 * full // 4, full // 2} - {0}
    return tuple(sorted(parts | {number for number in ROUND_DIMENSIONS if number < full}, reverse=True))


def measured_by_item() -> list[Diagnostic]:
    """The diagnostics whose scores are made of items, so that a loss has an interval."""
    return [entry for entry in all_diagnostics().values() if entry.judges_sizes]


def entry_of(dataset: DatasetRef, diagnostic: str = "") -> Diagnostic:
    """The diagnostic to measure with: the one asked for, or the first of the dataset's kind whose runs are per item.

    Raises:
        InputError: an unknown id, or one whose runs are not per item.
    """
    able = measured_by_item()
    if diagnostic:
        entry = next((entry for entry in able if entry is find_diagnostic(diagnostic)), None)
        what = f"the scores of {diagnostic} are not made of items"
    else:
        kind = dataset.entry().kind
        entry = next((entry for entry in able if entry.dataset_kind is kind), None)
        what = f"no diagnostic of a {kind.in_words} has scores that are made of items"
    if entry is None:
        raise InputError(what, expected=f"one of {', '.join(entry.id for entry in able)}, and data that it runs on")
    return entry


@dataclass(frozen=True)
class Grid:
    """The settings of a model on a dataset, and their runs in the same order; the first is the full size."""

    entry: Diagnostic
    encoder: str
    dataset: DatasetRef
    settings: tuple[Setting, ...]
    requests: tuple[RunRequest, ...]

    @property
    def full(self) -> Setting:
        return self.settings[0]


def grid_of(
    encoder: str,
    dataset: DatasetRef,
    dimensions: Sequence[int],
    precisions: Sequence[str],
    settings: Settings,
    *,
    by: By = By.TRUNCATE,
    rescored: Sequence[int] = (),
    diagnostic: str = "",
    params: dict[str, str] | None = None,
) -> Grid:
    """A grid, checked as far as possible without work.

    Raises:
        InputError: see ``settings_of``, ``entry_of`` and ``requesting.request``; a model without vectors, or with a
            transform of its own.
    """
    model = model_alone(encoder)
    entry = entry_of(dataset, diagnostic)
    made = settings_of(encoder_of(model, settings).info.dimension, dimensions, precisions, by, rescored)
    requests = tuple(
        requesting.request(entry.id, model, setting.chain, dataset, params or {}, settings) for setting in made
    )
    return Grid(entry, model, requests[0].dataset, made, requests)
