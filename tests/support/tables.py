"""Tables of cheap cases, tested as one test: each case is a subtest, which fails with its own message."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]
Name = Callable[[Any], object]


def each(
    names: str | Sequence[str], cases: Iterable[Any], ids: Iterable[object] | Name | None = None
) -> Callable[[Test], Test]:
    """``pytest.mark.parametrize`` for cases that take no time: one test that goes on after a case that fails.

    All cases of a test share its fixtures but ``tmp_path`` and ``monkeypatch``, so a case must leave alone what the
    next one reads.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [_row(case, len(columns)) for case in cases]
    given = list(ids) if ids is not None and not callable(ids) else None

    def decorate(test: Test) -> Test:
        own = inspect.signature(test)
        is_nested = "subtests" in own.parameters  # a table of tables

        @functools.wraps(test)
        def table(subtests: pytest.Subtests, **fixtures: Any) -> None:
            passed_on = {**fixtures, "subtests": subtests} if is_nested else dict(fixtures)
            assert rows, "a table without cases tests nothing"
            for number, (name, values) in enumerate(rows):
                label = given[number] if given else name or _label(values, ids)
                if "tmp_path" in fixtures:
                    passed_on["tmp_path"] = fixtures["tmp_path"] / str(number)
                    passed_on["tmp_path"].mkdir()
                with pytest.MonkeyPatch.context() as patch, subtests.test(f"{label}"):
                    if "monkeypatch" in fixtures:
                        passed_on["monkeypatch"] = patch
                    test(**passed_on, **dict(zip(columns, values, strict=True)))

        fixtures = [parameter for parameter in own.parameters.values() if parameter.name not in {*columns, "subtests"}]
        first = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=pytest.Subtests)
        table.__signature__ = own.replace(parameters=[first, *fixtures])  # type: ignore[attr-defined]
        return table

    return decorate


def _row(case: Any, width: int) -> tuple[str, Sequence[Any]]:
    """A case's id, if it has one, and its values."""
    if hasattr(case, "values") and hasattr(case, "marks"):  # pytest.param
        assert not case.marks, "a case with a mark is a test of its own"
        return str(case.id or ""), case.values
    return "", [case] if width == 1 else case


def _label(values: Sequence[Any], ids: object) -> str:
    labels = (ids(value) if callable(ids) else None for value in values)
    return ", ".join(
        repr(value)[:80] if label is None else str(label) for label, value in zip(labels, values, strict=True)
    )
