"""A demo while ten attackers are at work: an honest visitor's page still comes, and memory stays bounded.

Run it with ``make trust``; it prints its figures. They are of two cores that do nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from blindspot.server.rerun_client import opened
from blindspot.settings import ROOT
from tests.support.demo_attackers import ATTACKS
from tests.support.demo_host import served

SECONDS = 45.0
P95_SECONDS = 3.0
MOST_BYTES = 4e9
PAGES = ("overview", "evalrank", "run", "intruder", "data")  # what somebody who comes by looks at
LOOK_SECONDS = 0.5


@pytest.mark.slow
def test_an_honest_visitor_is_served_while_ten_attack(demo_cache: Path, tmp_path: Path) -> None:
    shutil.copytree(demo_cache, tmp_path / "cache")
    with served(tmp_path) as (server, process, log):
        alone = [visit(server.port, page) for _ in range(2) for page in PAGES][len(PAGES) :]  # the first ones import
        command = [sys.executable, "-m", "tests.support.demo_attackers", str(server.port), str(SECONDS)]
        attackers = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        waited, memory = [], []
        while attackers.poll() is None:
            waited.append(visit(server.port, PAGES[len(waited) % len(PAGES)]))
            memory.append(bytes_of(process.pid))
            time.sleep(LOOK_SECONDS)
        told = json.loads(attackers.communicate()[0])
        assert process.poll() is None, log.read_text()[-3_000:]
    p95 = float(np.quantile(waited, 0.95))
    print(
        f"\nalone: median {np.median(alone):.2f} s; attacked: {len(waited)} visits, median {np.median(waited):.2f} s, "
        f"p95 {p95:.2f} s, worst {max(waited):.2f} s; memory at most {max(memory) / 1e9:.2f} GB; "
        f"load {os.getloadavg()[0]:.1f}\n{told}"
    )
    assert all(any(name.startswith(attack.__name__) for name in told) for attack in ATTACKS), "one did not attack"
    assert max(memory) < MOST_BYTES
    assert p95 <= P95_SECONDS


def visit(port: int, page: str) -> float:
    """Seconds from the connection until the page is drawn."""
    start = time.perf_counter()
    with opened(f"http://127.0.0.1:{port}", page) as client:
        client.run()
    return time.perf_counter() - start


def bytes_of(pid: int) -> int:
    """Of a server and the children that draw its maps."""
    server = psutil.Process(pid)
    return sum(process.memory_info().rss for process in (server, *server.children(recursive=True)))
