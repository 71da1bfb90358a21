"""The wheel, installed where there is no checkout: what is in it, its command, and its app in a browser.

The libraries are those of the tests' own environment, linked; ``tests/test_base_install.py`` goes without most of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from blindspot import __version__
from blindspot.documentation.contents import titles
from blindspot.errors import DISTRIBUTION
from blindspot.settings import PACKAGE, ROOT
from tests.browser.conftest import Reader
from tests.support.loopback import free_port

PATIENCE_SECONDS = 120


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that is built from it."""
    out = tmp_path_factory.mktemp("dist")
    _python("-m", "hatchling", "build", "-t", "sdist", "-d", str(out), cwd=ROOT)
    with tarfile.open(next(out.glob("*.tar.gz"))) as packed:
        packed.extractall(out, filter="data")
    _python("-m", "hatchling", "build", "-t", "wheel", "-d", str(out), cwd=out / f"encoder_blindspot-{__version__}")
    return out


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment in which the wheel is installed, offline."""
    environment = tmp_path_factory.mktemp("environment")
    _python("-m", "venv", str(environment))
    python = environment / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--find-links", built, DISTRIBUTION],
        check=True,
    )
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return environment / "bin"


@pytest.fixture
def address(installed: Path, tmp_path: Path) -> Iterator[str]:
    """The app as ``blindspot app`` serves it, from a folder with nothing of a checkout."""
    port = free_port()
    environment = os.environ | {"BLINDSPOT_CACHE": str(tmp_path / "cache"), "BLINDSPOT_PREPARE": "nothing"}
    with (tmp_path / "log").open("wb") as log:
        command = [installed / "blindspot", "app", "--port", str(port)]
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(PATIENCE_SECONDS)


def _python(*arguments: str, cwd: Path | None = None) -> None:
    subprocess.run([sys.executable, *arguments], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def _said(installed: Path, folder: Path, *arguments: str) -> str:
    environment = os.environ | {"BLINDSPOT_CACHE": str(folder / "cache")}
    command = [installed / "blindspot", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def _ready(address: str) -> dict[str, object]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urlopen(f"{address}/ready") as answer:
                found: dict[str, object] = json.load(answer)
                return found
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_the_wheel_has_the_package_and_nothing_else(built: Path) -> None:
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    assert {name.split("/")[0] for name in names} == {"blindspot", f"encoder_blindspot-{__version__}.dist-info"}
    ours = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}
    wanted = {f"blindspot/{name}" for name in ours if "__pycache__" not in name}
    wanted |= {f"blindspot/_app/pages/{path.name}" for path in (ROOT / "pages").glob("*.py")}
    wanted |= {f"blindspot/_app/docs/{path}" for path in titles() if (ROOT / "docs" / path).is_file()}
    assert wanted <= set(names)
    assert "blindspot/py.typed" in names
    assert not [name for name in names if name.startswith("blindspot/_app/tests")]


def test_its_command_runs_a_diagnostic_and_finds_it_again(installed: Path, tmp_path: Path) -> None:
    assert _said(installed, tmp_path, "--version").strip() == __version__
    run = ("run", "evalrank", "--encoder", "random-projection", "--dataset", "demo-pairs", "--json")
    (first,) = json.loads(_said(installed, tmp_path, *run))["runs"]
    (again,) = json.loads(_said(installed, tmp_path, *run))["runs"]
    assert first["metrics"]["pairs"] == 400
    assert first["run_id"] == again["run_id"]
    python = [installed / "python", "-c", "import blindspot as bs; print(bs.__file__, bs.__version__)"]
    where, version = subprocess.run(python, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    assert Path(where).is_relative_to(installed.parent)
    assert version == __version__


def test_its_app_is_ready_and_shows_a_chart(
    installed: Path, address: str, tmp_path: Path, reader: Callable[..., Reader]
) -> None:
    assert _ready(address) == {"ready": True}
    _said(installed, tmp_path, "run", "evalrank", "--encoder", "random-projection", "--dataset", "demo-pairs")
    page = reader().open(f"{address}/evalrank?dataset=demo-pairs")
    page.page.locator(".js-plotly-plot").first.wait_for()
    page.healthy()
    page.open(f"{address}/docs?topic=guides/run").healthy()
    assert page.page.get_by_role("heading").count() > 1


def test_import_is_light(installed: Path, tmp_path: Path) -> None:
    look = (
        "import sys, blindspot; print(*({'numpy', 'torch', 'streamlit', 'duckdb', 'pandas', 'typer'} & {*sys.modules}))"
    )
    python = [installed / "python", "-c", look]
    assert subprocess.run(python, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split() == []
