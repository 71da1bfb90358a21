"""Tiers: which tests each has, and what a test without a mark may not do."""

from __future__ import annotations

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


def ran(pytester: pytest.Pytester, tier: str, *options: str) -> list[str]:
    plugins = ("-p", "tests.support.tiers", "-p", "no:cacheprovider")
    return pytester.runpytest_subprocess(*plugins, "--tier", tier, *options).outlines


def outcomes(pytester: pytest.Pytester, tier: str) -> dict[str, str]:
    """The last outcome of each test that ran."""
    # A complaint of the watch comes after the test's own outcome.
    lines = ran(pytester, tier, "-v")
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
    first = outcomes(pytester, "first")
    assert {name for name, outcome in first.items() if outcome != "PASSED"} == set(FORBIDDEN)
    assert set(first) == {"counts", "reads_the_mirror", "of_no_server", "property", *FORBIDDEN}
    assert outcomes(pytester, "rest") == {"property": "PASSED", "may_start": "PASSED"}
    collected = {line.split("::test_")[1] for line in ran(pytester, "check", "--collect-only", "-q") if "::" in line}
    assert collected == {*first, "may_start"}
    assert outcomes(pytester, "trust") == {"takes_minutes": "PASSED"}


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
