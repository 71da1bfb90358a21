"""Pytest plugin: a test that fails if a new model is worse than the old one on a golden set, beyond chance.

Every pytest run loads this module where Blindspot is installed, so it imports nothing else until a marked test runs.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from _pytest.outcomes import Failed

if TYPE_CHECKING:
    from blindspot.studies.gate.verdict import Verdict

MARK = "blindspot"
RECORD = "--blindspot-record"
UNDECIDED = ("fail", "skip", "pass")
OPTIONS = (
    *("model", "data", "baseline", "score", "max_drop", "alpha", "allow_easy", "undecided"),
    *("name", "columns", "store", "device", "params"),
)


class UndecidedWarning(pytest.PytestWarning):
    """The golden set is too small or too easy to tell, and the test asked to pass then."""


class CouldNotRun(Failed):
    """There is no verdict, though mark and golden set are right: a server is down, a library is missing, ..."""


class Gate:
    """The gate of one test: called with a model, it fails, skips or passes the test.

    Attributes:
        is_called: whether the test has used it.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self.is_called = False

    def __call__(self, model: Any = None, **options: Any) -> Verdict:
        """Gate on a model.

        Args:
            model: the new model; the mark's model if left out. A reference such as ``minilm`` or ``dir:PATH``, a
                SentenceTransformer, a function from a list of texts to an array, or an array.
            options: replace those of the mark: ``data`` and ``baseline`` (the old model, or a .json file with its
                scores), ``score``, ``max_drop``, ``alpha``, ``allow_easy``, ``name``, ``columns``, ``store``,
                ``device``, a dict ``params`` of the diagnostic, and ``undecided``: ``"fail"`` (unless given),
                ``"skip"`` or ``"pass"``.

        Returns:
            The verdict, if the test may pass. If a baseline was recorded, the test is skipped.
        """
        __tracebackhide__ = True
        self.is_called = True
        from blindspot.errors import BlindspotError, InputError

        options = self._marked() | options | ({} if model is None else {"model": model})
        try:
            if self._item.config.getoption(RECORD) and _is_recorded(options.get("baseline")):
                self._record(options)
            verdict, undecided = self._judge(options)
        except InputError as error:
            failure = Failed(str(error), pytrace=False)
        except BlindspotError as error:
            failure = CouldNotRun(str(error), pytrace=False)
        else:
            return self._conclude(verdict, undecided)
        raise failure

    def _marked(self) -> dict[str, Any]:
        """The options of all marks of the test; nearer ones replace those of its class and module."""
        options: dict[str, Any] = {}
        for mark in reversed([*self._item.iter_markers(MARK)]):
            if mark.args:
                pytest.fail(f"mark {MARK}: options are named, as in {MARK}(data=...)", pytrace=False)
            options |= mark.kwargs
        return options

    def _judge(self, options: Mapping[str, Any]) -> tuple[Verdict, str]:
        from blindspot import api
        from blindspot.errors import unknown

        rest = self._checked(options)
        undecided = str(rest.pop("undecided", UNDECIDED[0]))
        if undecided not in UNDECIDED:
            raise unknown("answer to an undecided gate", undecided, UNDECIDED)
        params = dict(rest.pop("params", {}))
        return api.gate(rest.pop("model"), rest.pop("data"), rest.pop("baseline"), **rest, **params), undecided

    def _record(self, options: Mapping[str, Any]) -> NoReturn:
        from blindspot import api

        rest = self._checked(options)
        params = dict(rest.pop("params", {}))
        kept = {name: rest[name] for name in ("name", "columns", "store", "device") if name in rest}
        api.record(rest["model"], rest["data"], rest["baseline"], **kept, **params)
        pytest.skip(f"recorded {rest['baseline']}")

    def _checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Known options, with files found."""
        from blindspot.errors import InputError, unknown

        for name in options:
            if name not in OPTIONS:
                raise unknown(f"option of the mark {MARK}", name, OPTIONS)
        for name in ("model", "data", "baseline"):
            if options.get(name) is None:
                what = "blindspot_gate(model)" if name == "model" else f"{name}= in the mark"
                raise InputError(f"the test {self._item.name} names no {name}", expected=what)
        options_here = dict(options)
        options_here["data"] = self._near(options_here["data"])
        if _is_recorded(options_here["baseline"]):
            options_here["baseline"] = path = Path(self._near(options_here["baseline"]))
            if not path.is_absolute() and not path.exists():  # to be recorded, or to be named as missing
                options_here["baseline"] = self._item.path.parent / path
        return options_here

    def _near(self, named: Any) -> Any:
        """The path of a file beside the test, if there is one of that name; otherwise ``named`` itself."""
        if not isinstance(named, str | os.PathLike):
            return named
        path = self._item.path.parent / named
        return path if path.exists() else named

    def _conclude(self, verdict: Verdict, undecided: str) -> Verdict:
        __tracebackhide__ = True
        from blindspot.studies.gate.verdict import Outcome
        from blindspot.studies.gate.written import as_text

        line = f"{verdict.outcome}: {' '.join(verdict.sentences)}"
        self._item.user_properties.append((MARK, line))
        if verdict.outcome is Outcome.FAILED or (verdict.outcome is Outcome.UNDECIDED and undecided == "fail"):
            pytest.fail(as_text(verdict), pytrace=False)
        if verdict.outcome is Outcome.UNDECIDED:
            if undecided == "skip":
                pytest.skip(line)
            self._item.warn(UndecidedWarning(line))
        return verdict


_GATE = pytest.StashKey[Gate]()


def _is_recorded(baseline: object) -> bool:
    return isinstance(baseline, str | os.PathLike) and os.fspath(baseline).endswith(".json")


def _gate_of(item: pytest.Item) -> Gate:
    return item.stash.setdefault(_GATE, Gate(item))


@pytest.fixture
def blindspot_gate(request: pytest.FixtureRequest) -> Gate:
    """Gate of this test, with the options of its marks: ``blindspot_gate(model)``."""
    return _gate_of(request.node)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup(MARK).addoption(
        RECORD, action="store_true", help="write the baselines (.json) of gated tests instead of comparing with them"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARK}(data, baseline, max_drop=0.02, alpha=0.05, score='', undecided='fail', model=None, ...): fail if the "
        "model is worse than the baseline on the golden set, beyond chance",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a gate that could not run as an error, not a failure, on the terminal and in JUnit, like a fixture's."""
    report = yield
    if call.excinfo is not None and call.excinfo.errisinstance(CouldNotRun):
        report.when = "setup"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Gate a marked test that has not used its gate, with the model of its mark; without a model it fails."""
    yield
    if item.get_closest_marker(MARK) and not _gate_of(item).is_called:
        _gate_of(item)()
