"""Tiers: which tests each has, and what a test without a mark may not do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from blindspot.settings import ROOT
from tests.support import tiers

pytest_plugins = ["pytester"]

TESTS = """
    import os, socket, subprocess, sys, time
    import pytest
    from hypothesis import given, settings, strategies

    examples = []

    def test_counts():
        assert 1 + 1 == 2

    def test_reads_the_mirror():
        assert "BLINDSPOT_MIRROR" not in os.environ

    def test_serves():
        socket.socket().bind(("127.0.0.1", 0))

    def test_opens_a_browser():
        subprocess.run([sys.executable, "-c", ""])

    def test_trains():
        import torch
        (torch.ones(1, requires_grad=True) * 2).backward()

    def test_takes_long():
        until = time.process_time() + 1.0  # also where the machine is slow
        while time.process_time() < until:
            pass

    @given(strategies.integers())
    @settings(max_examples=50)
    def test_property(number):
        examples.append(number)

    @pytest.mark.process
    def test_may_start():
        subprocess.run([sys.executable, "-c", ""])

    @pytest.mark.slow
    def test_takes_minutes():
        assert os.environ.get("BLINDSPOT_MIRROR") == "there"
"""
FORBIDDEN = ("serves", "opens_a_browser", "trains", "takes_long")


# Each session in a process of its own, which begins where pytest and hypothesis are imported.
SESSIONS = """
import os, sys
import pytest
from tests.support import tiers

for arguments in {sessions!r}:
    print({cut!r}, flush=True)
    child = os.fork()
    if not child:
        pytest.main(["-p", "tests.support.tiers", "-p", "no:cacheprovider", "--tier", *arguments])
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
"""
CUT = "-- the next session --"


def ran(pytester: pytest.Pytester, *sessions: Sequence[str]) -> list[list[str]]:
    """The lines that sessions print, of a tier and options each."""
    printed = pytester.runpython_c(SESSIONS.format(sessions=sessions, cut=CUT)).outlines
    starts = [number for number, line in enumerate(printed) if line == CUT]
    return [printed[start + 1 : end] for start, end in zip(starts, [*starts[1:], len(printed)], strict=True)]


def outcomes(lines: Sequence[str]) -> dict[str, str]:
    """The last outcome of each test that ran."""
    # A complaint of the watch comes after the test's own outcome.
    return dict(line.split("::test_")[1].split()[:2] for line in lines if line.rstrip().endswith("%]"))


@pytest.mark.process
def test_a_test_without_a_mark_starts_nothing_trains_nothing_and_is_quick(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("BLINDSPOT_MIRROR", "there")
    pytester.makeconftest("from tests.support import tiers\ntiers.MOST_SECONDS = 0.1")
    pytester.makepyfile(TESTS)
    (pytester.mkdir("server") / "test_folder.py").write_text("def test_of_no_server():\n    pass\n", "utf-8")
    sessions = (("first", "-v"), ("rest", "-v"), ("check", "--collect-only", "-q"), ("trust", "-v"))
    in_first, in_rest, in_check, in_trust = ran(pytester, *sessions)
    first = outcomes(in_first)
    assert {name for name, outcome in first.items() if outcome != "PASSED"} == set(FORBIDDEN)
    assert set(first) == {"counts", "reads_the_mirror", "of_no_server", "property", *FORBIDDEN}
    assert outcomes(in_rest) == {"property": "PASSED", "may_start": "PASSED"}
    assert {line.split("::test_")[1] for line in in_check if "::" in line} == {*first, "may_start"}
    assert outcomes(in_trust) == {"takes_minutes": "PASSED"}


def test_the_first_tier_imports_no_file_whose_tests_all_have_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "test_some.py"

    def is_left_out(tier: str, *names: str) -> bool:
        config = cast("pytest.Config", SimpleNamespace(getoption=lambda _: tier, args=list(names)))
        return tiers.pytest_ignore_collect(path, config) is True

    for line, is_marked in (
        ("pytestmark = pytest.mark.realdata", True),
        ("pytestmark = [pytest.mark.browser, pytest.mark.server]", True),
        ("pytestmark = pytest.mark.skipif(True)", False),
        ("@pytest.mark.slow", False),
    ):
        path.write_text(f"import pytest\n\n{line}\n", "utf-8")
        assert is_left_out("first", str(tmp_path)) == is_marked, line
        assert not is_left_out("check", str(tmp_path))
        assert not is_left_out("first", f"{path}::test_it"), "it is named"
