"""Every encoder of the catalog keeps the protocol; references that name none are refused; devices are checked."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import torch

from core.encoders.base import FittedEncoder, library_versions
from core.encoders.catalog import ENCODERS, EncoderEntry, resolve
from core.encoders.device import resolve_device
from core.errors import BlindspotError, InputError
from core.settings import ROOT, Settings
from core.types import CancelToken

ENTRIES = pytest.mark.parametrize("entry", ENCODERS.values(), ids=ENCODERS)
GPUS = torch.cuda.device_count() if torch.cuda.is_available() else 0


@ENTRIES
def test_an_entry_says_what_people_need_to_know(entry: EncoderEntry) -> None:
    assert ENCODERS[entry.id] is entry
    assert entry.description.endswith(".")
    for told in (entry.info.title, entry.info.licence, entry.info.citation, entry.info.url):
        assert told.strip()


@ENTRIES
def test_an_encoder_keeps_the_protocol(entry: EncoderEntry, shared_settings: Settings) -> None:
    encoder = resolve(entry.id, shared_settings)
    assert encoder.identity.reference == entry.id
    assert encoder.identity.revision
    assert encoder.info is entry.info
    assert encoder.device == "cpu"
    encoder.load()
    texts = ["A short one.", "", "A rather longer one than the others are.", "A short one."]
    if isinstance(encoder, FittedEncoder):
        encoder.fit(texts, CancelToken())
    vectors = encoder.encode(texts, CancelToken())
    assert vectors.shape == (len(texts), entry.info.dimension)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[0], vectors[3], atol=1e-6)
    assert np.abs(vectors[0] - vectors[2]).max() > 1e-3
    np.testing.assert_allclose(encoder.encode(texts[::-1], CancelToken()), vectors[::-1], atol=1e-5)


@ENTRIES
def test_an_identity_is_stable_and_free_of_the_machine(entry: EncoderEntry, settings: Settings) -> None:
    identity = resolve(entry.id, settings).identity
    assert resolve(entry.id, replace(settings, device="auto", cache=Path("/elsewhere"))).identity == identity
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", library) for library in identity.libraries)
    assert re.fullmatch("[0-9a-f]{32}", identity.embedding_digest("0"))


def test_asking_for_an_identity_does_not_import_torch() -> None:
    program = (
        "import sys\nfrom core.encoders import catalog\nfrom core.settings import Settings\n"
        "settings = Settings.from_environment({})\n"
        "for entry in catalog.ENCODERS:\n    catalog.resolve(entry, settings).identity\n"
        "print(sorted({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("wrong", "right"), [("minilmm", "minilm"), ("miniml", "minilm"), ("MiniLM", None)])
def test_an_unknown_encoder_suggests_the_nearest(wrong: str, right: str | None, settings: Settings) -> None:
    with pytest.raises(InputError) as caught:
        resolve(wrong, settings)
    assert caught.value.what == f"unknown encoder '{wrong}'"
    assert "minilm" in caught.value.expected
    if right:
        assert caught.value.remedy == f"did you mean '{right}'?"


def test_library_versions_leave_the_build_out() -> None:
    assert library_versions("torch", "numpy") == (
        f"torch=={version('torch').split('+')[0]}",
        f"numpy=={version('numpy')}",
    )


# --- devices


def test_the_best_device_is_found() -> None:
    best = "cuda:0" if GPUS else "mps" if torch.backends.mps.is_available() else "cpu"
    assert resolve_device("auto") == best
    assert torch.zeros(1, device=resolve_device("auto")).sum().item() == 0


def test_cpu_is_always_there() -> None:
    assert resolve_device("cpu") == "cpu"


@pytest.mark.parametrize("wanted", [f"cuda:{GPUS}", "cuda:99"] + ([] if GPUS else ["cuda"]))
def test_a_gpu_that_is_not_there_is_refused(wanted: str) -> None:
    with pytest.raises(BlindspotError) as caught:
        resolve_device(wanted)
    assert f"BLINDSPOT_DEVICE is '{wanted}' but this machine shows {GPUS} CUDA device(s)" in str(caught.value)
    assert "BLINDSPOT_DEVICE=auto" in caught.value.remedy


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="this machine has an Apple GPU")
def test_an_apple_gpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(BlindspotError, match="no Apple GPU"):
        resolve_device("mps")


@pytest.mark.skipif(not GPUS, reason="this machine has no CUDA device")
def test_a_gpu_gives_the_same_vectors(shared_settings: Settings) -> None:
    texts = ["A short one.", "", "A rather longer one than the others are."]
    on_cpu = resolve("minilm", shared_settings)
    on_gpu = resolve("minilm", replace(shared_settings, device="cuda"))
    assert on_gpu.device == "cuda:0"
    np.testing.assert_allclose(
        on_gpu.encode(texts, CancelToken()), on_cpu.encode(texts, CancelToken()), rtol=0, atol=1e-5
    )
