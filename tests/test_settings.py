"""Settings: what each environment variable means, its default, and what is refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from blindspot.errors import InputError
from blindspot.settings import ASSETS, PACKAGE, ROOT, Mode, Settings, prepare_runtime
from tests.support.commands import python
from tests.support.tables import each


def test_defaults() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings(cache=ROOT / "cache", mirror="", device="auto", mode=Mode.LOCAL)


def test_an_empty_variable_is_an_unset_one() -> None:
    names = ("BLINDSPOT_CACHE", "BLINDSPOT_MIRROR", "BLINDSPOT_DEVICE", "BLINDSPOT_MODE")
    assert Settings.from_environment(dict.fromkeys(names, "")) == Settings.from_environment({})


def test_everything_is_kept_in_the_cache(tmp_path: Path) -> None:
    settings = Settings.from_environment({"BLINDSPOT_CACHE": str(tmp_path / "my cache")})
    assert settings.cache == tmp_path / "my cache"
    assert settings.store == tmp_path / "my cache" / "results.duckdb"
    assert settings.embeddings.parent == settings.data.parent == settings.cache
    assert not settings.cache.exists(), "reading settings creates nothing"


def test_the_cache_is_absolute_wherever_the_process_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Settings.from_environment({"BLINDSPOT_CACHE": "here"}).cache == tmp_path.resolve() / "here"
    assert Settings.from_environment({"BLINDSPOT_CACHE": "~/there"}).cache == (tmp_path / "home" / "there").resolve()


@each("mirror", ["../shared/data", "/srv/data", "https://mirror.example/blindspot"])
def test_a_mirror_is_a_folder_or_an_address(mirror: str) -> None:
    assert Settings.from_environment({"BLINDSPOT_MIRROR": mirror}).mirror == mirror


@each("device", ["auto", "cpu", "cuda", "cuda:0", "cuda:12", "mps"])
def test_devices_that_exist(device: str) -> None:
    assert Settings.from_environment({"BLINDSPOT_DEVICE": device}).device == device


@each("device", ["gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cpu\n", " cpu", "mps:0"])
def test_devices_that_do_not(device: str) -> None:
    with pytest.raises(InputError, match="expected auto, cpu, cuda, cuda:N or mps"):
        Settings.from_environment({"BLINDSPOT_DEVICE": device})


def test_modes() -> None:
    assert Settings.from_environment({"BLINDSPOT_MODE": "demo"}).mode is Mode.DEMO
    assert Settings.from_environment({"BLINDSPOT_MODE": "local"}).mode is Mode.LOCAL
    with pytest.raises(InputError, match="unknown BLINDSPOT_MODE 'dmeo'; expected one of demo, local; did you mean"):
        Settings.from_environment({"BLINDSPOT_MODE": "dmeo"})


def test_the_process_environment_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cuda:3")
    assert Settings.from_environment().device == "cuda:3"


def test_root_is_the_repository() -> None:
    assert (PACKAGE / "settings.py").is_file()
    assert (ASSETS / "demo" / "minimal_pairs.tsv").is_file()


def test_compiled_kernels_go_to_the_cache_unless_told_otherwise(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    prepare_runtime(settings)
    assert os.environ["NUMBA_CACHE_DIR"] == str(settings.cache / "numba")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/elsewhere")
    prepare_runtime(settings)
    assert os.environ["NUMBA_CACHE_DIR"] == "/elsewhere"


@pytest.mark.process
def test_numba_takes_its_cache_from_there(tmp_path: Path) -> None:
    """In a process of its own: what ``prepare_runtime`` sets is what numba then uses."""
    program = (
        "from blindspot.settings import Settings, prepare_runtime\n"
        "prepare_runtime(Settings.from_environment())\n"
        "import numba\n"
        "print(numba.config.CACHE_DIR)\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = python("-c", program, env=environment | {"BLINDSPOT_CACHE": str(tmp_path)})
    assert done.stdout.strip() == str(tmp_path.resolve() / "numba")


def test_a_server_for_strangers_prepares_the_demo_unless_told_otherwise() -> None:
    def prepares(**variables: str) -> bool:
        return Settings.from_environment(variables).prepare

    assert [prepares(), prepares(BLINDSPOT_MODE="demo")] == [False, True]
    assert not prepares(BLINDSPOT_MODE="demo", BLINDSPOT_PREPARE="no")
    assert prepares(BLINDSPOT_PREPARE="yes")
    for word in ("", "yes", "no", "nothing"):
        assert Settings.from_environment({"BLINDSPOT_PREPARE": word}).loads_ahead is (word != "nothing")
    with pytest.raises(InputError, match="BLINDSPOT_PREPARE is 'perhaps'"):
        prepares(BLINDSPOT_PREPARE="perhaps")


@each("ray", ["local", "auto", "ray://head:10001", "ray://10.0.0.1"])
def test_a_cluster_is_named_by_its_address(ray: str) -> None:
    settings = Settings.from_environment({"BLINDSPOT_RAY": ray, "BLINDSPOT_RAY_FOLDER": "s3://bucket/sweeps"})
    assert (settings.ray, settings.ray_folder) == (ray, "s3://bucket/sweeps")


@each("ray", ["head:10001", "http://head", "yes", "ray://", "ray://me:secret@head"])
def test_an_address_that_is_none_is_refused(ray: str) -> None:
    with pytest.raises(InputError, match="BLINDSPOT_RAY"):
        Settings.from_environment({"BLINDSPOT_RAY": ray})


def test_a_cache_that_cannot_be_written_leaves_the_kernels_in_a_copy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numba refuses folders that it cannot write, even to read from."""
    kept = settings.cache / "numba" / "kernels_0" / "kernel.nbi"
    kept.parent.mkdir(parents=True)
    kept.write_text("compiled", "utf-8")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    def refuse(dir: Path) -> None:
        raise OSError(errno.EROFS, f"Read-only file system: {dir}")

    monkeypatch.setattr("blindspot.settings.tempfile.TemporaryFile", refuse)
    prepare_runtime(settings)
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    assert folder != settings.cache / "numba"
    assert (folder / "kernels_0" / "kernel.nbi").read_text("utf-8") == "compiled"
    assert kept.exists()


@pytest.mark.heavy
@pytest.mark.process
def test_ranks_are_computed_with_a_cache_that_cannot_be_written() -> None:
    program = (
        "import numpy as np\n"
        "from blindspot.settings import Settings, prepare_runtime\n"
        "prepare_runtime(Settings.from_environment())\n"
        "from blindspot.numerics.kernels import measure_rows\n"
        "norms = np.empty(2)\n"
        "measure_rows(np.array([[3, 4], [6, 8]], dtype=np.float32), 0, norms)\n"
        "print(norms.tolist())\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = python("-c", program, env=environment | {"BLINDSPOT_CACHE": "/proc/cache"})
    assert done.stdout.strip() == "[5.0, 10.0]", done.stderr
