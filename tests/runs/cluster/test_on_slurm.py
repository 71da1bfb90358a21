"""Sweeps on Slurm, by submitit's executor for processes of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.settings import Settings
from tests.support.commands import Command

pytest.importorskip("submitit")
SWEEP = "sweep --encoder random-projection-64 --dataset demo-minimal --diagnostic heros".split()


@pytest.mark.process
def test_jobs_compute_what_one_process_does(
    blindspot: Command, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (on_nodes,) = blindspot.json(*SWEEP, "--on", "local")["runs"]
    assert on_nodes["computed"]
    assert not list((settings.cache / "packs").glob("*"))
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "alone"))
    (here,) = blindspot.json(*SWEEP)["runs"]
    assert (here["run_id"], here["metrics"]) == (on_nodes["run_id"], on_nodes["metrics"])
