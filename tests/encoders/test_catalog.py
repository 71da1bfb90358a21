"""The contract of every encoder in the catalog, and unknown references."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.base import FittedEncoder, library_versions
from blindspot.encoders.catalog import ENCODERS, EncoderEntry, resolve_encoder
from blindspot.errors import InputError
from blindspot.settings import ROOT, Settings
from blindspot.types import CancelToken
from tests.support.tables import each

ENTRIES = each("entry", ENCODERS.values(), ids=ENCODERS)


@ENTRIES
def test_an_entry_says_what_people_need_to_know(entry: EncoderEntry) -> None:
    assert ENCODERS[entry.id] is entry
    assert entry.description.endswith(".")
    for told in (entry.info.title, entry.info.licence, entry.info.citation, entry.info.url):
        assert told.strip()


@pytest.mark.heavy
@ENTRIES
def test_an_encoder_keeps_the_protocol(entry: EncoderEntry, shared_settings: Settings) -> None:
    encoder = resolve_encoder(entry.id, shared_settings)
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
    identity = resolve_encoder(entry.id, settings).identity
    assert resolve_encoder(entry.id, replace(settings, device="auto", cache=Path("/elsewhere"))).identity == identity
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", library) for library in identity.libraries)
    assert re.fullmatch("[0-9a-f]{32}", identity.embedding_digest("0"))


@pytest.mark.process
def test_asking_for_an_identity_does_not_import_torch() -> None:
    program = (
        "import sys\nfrom blindspot.encoders import catalog\nfrom blindspot.settings import Settings\n"
        "settings = Settings.from_environment({})\n"
        "for entry in catalog.ENCODERS:\n    catalog.resolve_encoder(entry, settings).identity\n"
        "print(sorted({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("wrong", "right"), [("minilmm", "minilm"), ("miniml", "minilm"), ("MiniLM", None)])
def test_an_unknown_encoder_suggests_the_nearest(wrong: str, right: str | None, settings: Settings) -> None:
    with pytest.raises(InputError) as caught:
        resolve_encoder(wrong, settings)
    assert caught.value.what == f"unknown encoder '{wrong}'"
    assert "minilm" in caught.value.expected
    if right:
        assert caught.value.remedy == f"did you mean '{right}'?"


def test_library_versions_leave_the_build_out() -> None:
    assert library_versions("torch", "numpy") == (
        f"torch=={version('torch').split('+')[0]}",
        f"numpy=={version('numpy')}",
    )
