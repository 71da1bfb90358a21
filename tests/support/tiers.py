"""Tiers of the tests, by what a test does: ``make test`` < ``make check`` < ``make trust``.

A test without a mark of ``MARKS`` is of the first tier. It may not do what the marks name, and a test that takes more
than ``MOST_SECONDS`` of processor time fails the run: both are watched while it runs.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

MARKS = {
    "browser": "drives a real Chromium",
    "realdata": "needs the real evaluation data (set BLINDSPOT_MIRROR)",
    "server": "starts a server: the app's, or one of embeddings or files",
    "process": "starts another process",
    "trains": "trains a network",
    "matrix": "opens the app again where a test of the first tier does, at over half a second, or several times",
    "hostile": "one of a corpus of hostile inputs",
    "heavy": "takes over a second of processor time for another reason",
    "slow": "takes minutes (kills, crowds, half precision) or is of benchmarks and pictures; make trust runs them",
}
WHOLE_FILE = re.compile(rf"^pytestmark = \[?pytest\.mark\.({'|'.join(MARKS)})\b", re.MULTILINE)
FIRST, REST, CHECK, TRUST = "first", "rest", "check", "trust"
MOST_SECONDS = 1.5  # on a machine that takes STEPS_SECONDS for a million steps of a loop; more on a slower one
STEPS_SECONDS = 0.06
# The same test took 0.7 and 1.7 s on two days on machines whose loops are as fast: they share their caches with others.
# Another took 1.2 and 3.1.
FLUCTUATION = 3
EXAMPLES = 20  # that hypothesis tries at most in the first tier
# What libraries ask the machine when they are imported.
QUESTIONS = {"lscpu", "ldconfig", "uname", "gcc", "cc", "ld", "/sbin/ldconfig", "sysctl"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tier",
        choices=(FIRST, REST, CHECK, TRUST),
        default=CHECK,
        help="first: tests without a mark; rest: all others but slow ones, and properties with more examples; "
        "check: first and rest (the default); trust: slow ones",
    )


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    # No test is timed by hypothesis: on a busy machine every one is slow.
    hypothesis_settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    hypothesis_settings.load_profile("untimed")
    if config.getoption("tier") == FIRST:
        os.environ.pop("BLINDSPOT_MIRROR", None)  # no test of this tier can read it
    config.pluginmanager.register(Watch(config), "watch")
    config.pluginmanager.register(Told(config), "told")


def marks_of(item: pytest.Item) -> set[str]:
    """Its marks of ``MARKS``; its keywords have the names of folders, too, such as tests/server."""
    return MARKS.keys() & {mark.name for mark in item.iter_markers()}


def is_selected(item: pytest.Item, tier: str) -> bool:
    marks = marks_of(item)
    if tier == TRUST or "slow" in marks:
        return tier == TRUST and "slow" in marks
    if tier == REST:
        return bool(marks) or _most_examples(item) > EXAMPLES  # properties once more, with other and more examples
    return not marks or tier == CHECK


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """True, in the first tier, of files whose tests all have a mark, unless named: importing them takes seconds."""
    if config.getoption("tier") != FIRST or any(Path(name.partition("::")[0]).is_file() for name in config.args):
        return None
    if collection_path.is_dir():
        return collection_path.name == "browser" or None
    if collection_path.suffix != ".py":
        return None
    return bool(WHOLE_FILE.search(collection_path.read_text("utf-8"))) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tier = config.getoption("tier")
    left_out = [item for item in items if not is_selected(item, tier)]
    items[:] = [item for item in items if is_selected(item, tier)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    if tier == FIRST:
        for item in items:
            if "hypothesis" in item.keywords:
                _try_few_examples(item)


def _property(item: pytest.Item) -> Any:
    test = item.obj  # type: ignore[attr-defined]
    return getattr(test, "__func__", test)


def _most_examples(item: pytest.Item) -> int:
    """That hypothesis tries at most; 0 where the test is no property."""
    if "hypothesis" not in item.keywords:
        return 0
    return int(_property(item)._hypothesis_internal_use_settings.max_examples)


def _try_few_examples(item: pytest.Item) -> None:
    test = _property(item)
    now = test._hypothesis_internal_use_settings
    test._hypothesis_internal_use_settings = hypothesis_settings(now, max_examples=min(now.max_examples, EXAMPLES))


class Told:
    """Names each failed test at once: a run that is cut off has no summary."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")  # a worker has none
        if report.failed and terminal is not None:
            terminal.write_line(f"FAILED {report.nodeid} ({report.when})")


class Watch:
    """What a test without a mark does while it runs: forbidden things and its processor time."""

    def __init__(self, config: pytest.Config) -> None:
        self.tier = config.getoption("tier")
        self.watching = False
        self.seen: list[str] = []
        self.shared_seconds = 0.0  # in fixtures of more than one test
        self.most: float | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.watching:
            return
        if event == "socket.bind" and isinstance(arguments[1], tuple):
            if arguments[1][:2] == ("::1", 0):
                return  # urllib3 asks, when it is imported, whether there is IPv6
            self.seen.append(f"server: it binds {arguments[1]}")
        elif event == "subprocess.Popen":
            command = arguments[1] if isinstance(arguments[1], list | tuple) else [arguments[1]]
            if str(command[0]) not in QUESTIONS:
                self.seen.append(f"process: it starts {' '.join(map(str, command))[:100]}")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before, inner = _processor_seconds(), self.shared_seconds
        try:
            return (yield)
        finally:
            self.shared_seconds = inner + _processor_seconds() - before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        if marks_of(item):
            return (yield)
        started = _processor_seconds()
        self.shared_seconds, self.seen[:], self.watching = 0.0, [], True
        with pytest.MonkeyPatch.context() as patch:
            # Of a test run by itself a gradient is heard only if torch is there already: importing it takes seconds.
            if torch := import_module("torch") if self.tier == FIRST else sys.modules.get("torch"):
                patch.setattr(torch.Tensor, "backward", self._heard_training(torch.Tensor.backward))
            try:
                result = yield
            finally:
                self.watching = False
        seconds = _processor_seconds() - started - self.shared_seconds
        # The first test that loads a library pays for all, and a neighbor may slow a moment down: only a test that
        # takes as long again and again is slow itself.
        if seconds > MOST_SECONDS and self.tier == FIRST and seconds > (most := self._most_here()):
            for _ in range(2):
                seconds = self._again(item, nextitem)
                most = max(most, _most_seconds())
                if seconds <= most:
                    break
            else:
                self._complain(item, f"{seconds:.1f} s of processor time without a mark (at most {most:.1f} here)")
        for what in dict.fromkeys(self.seen):
            self._complain(item, f"does what needs a mark; {what}")
        return result

    def _heard_training(self, backward: Callable[..., None]) -> Callable[..., None]:
        def heard(*arguments: object, **options: object) -> None:
            self.seen.append("trains: it computes gradients")
            backward(*arguments, **options)

        return heard

    def _most_here(self) -> float:
        """``MOST_SECONDS`` on this machine when it was first asked for."""
        if self.most is None:
            self.most = _most_seconds()
        return self.most

    def _again(self, item: pytest.Item, nextitem: pytest.Item | None) -> float:
        started = _processor_seconds()
        self.shared_seconds = 0.0
        item._initrequest()  # type: ignore[attr-defined]
        runtestprotocol(item, log=False, nextitem=nextitem)
        return _processor_seconds() - started - self.shared_seconds

    def _complain(self, item: pytest.Item, what: str) -> None:
        text = f"{item.nodeid}: {what}. Marks: tests/support/tiers.py"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "teardown")
        item.ihook.pytest_runtest_logreport(report=report)


def _most_seconds() -> float:
    """``MOST_SECONDS`` on this machine at the moment."""
    times = []
    for _ in range(3):
        started, total = time.thread_time(), 0
        for step in range(1_000_000):
            total += step * step
        times.append(time.thread_time() - started)
    return MOST_SECONDS * FLUCTUATION * max(1.0, min(times) / STEPS_SECONDS)


def _processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
