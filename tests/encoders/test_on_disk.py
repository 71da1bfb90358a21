"""Revisions of models' files as they are now, with parts that are on the hub or on a server."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from blindspot.encoders.catalog import encoder_of
from blindspot.encoders.on_disk import revision_on_disk
from blindspot.encoders.served.encoder import ServedEncoder
from blindspot.encoders.served.reference import ServedReference
from blindspot.encoders.transformer.hub import as_cached
from blindspot.errors import InputError
from blindspot.references import ModelRef
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.embedding_server import embedding_server
from tests.support.tiny_models import edit, saved

SCHEMES = ["cat:{own}+{other}", "cat:{other}+{own}", "fuse:{own}+{other}"]


def cached_model(model: Path, settings: Settings, commit: str) -> Path:
    """Put a model into our cache of the hub as the newest of ``org/base``; returns the file that names its commit."""
    repository = settings.cache / "hub" / "models--org--base"
    shutil.copytree(model, repository / "snapshots" / commit)
    (repository / "refs").mkdir(exist_ok=True)
    newest = repository / "refs" / "main"
    newest.write_text(commit, "utf-8")
    return newest


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_part_of_the_hub_is_as_it_is_in_the_cache(
    scheme: str, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = saved(tmp_path / "own")
    model = ModelRef.parse(scheme.format(own=f"dir:{own}", other="hf:org/base"))
    assert revision_on_disk(model, settings) == "", "not here yet"
    cached_model(own, settings, "a" * 40)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", None)  # nobody is asked
    with as_cached():
        before = encoder_of(model, settings).identity.revision if scheme.startswith("cat") else None
    first = revision_on_disk(model, settings)
    assert first
    assert before in (None, first)
    edit(own / "config.json", blindspot_test=1)
    own_changed = revision_on_disk(model, settings)
    assert own_changed not in ("", first)
    cached_model(own, settings, "b" * 40)
    assert revision_on_disk(model, settings) not in ("", first, own_changed)


def test_a_model_of_the_hub_that_is_not_in_the_cache_is_said(settings: Settings) -> None:
    with as_cached(), pytest.raises(InputError, match="org/base"):
        _ = encoder_of(ModelRef.parse("hf:org/base"), settings).identity


@pytest.mark.server
def test_a_served_part_is_as_it_last_answered(tmp_path: Path, settings: Settings) -> None:
    own = saved(tmp_path / "own")
    with embedding_server() as site:
        served = ModelRef.parse(f"api:{site.url}/v1#m")
        model = ModelRef.parse(f"cat:dir:{own}+{served}")
        assert revision_on_disk(model, settings) == "", "never asked"
        ServedEncoder.of(ServedReference.parse(served), settings).verify(CancelToken())
        asked = len(site.requests)
        first = revision_on_disk(model, settings)
        assert first == encoder_of(model, settings).identity.revision
        edit(own / "config.json", blindspot_test=1)
        assert revision_on_disk(model, settings) not in ("", first)
        assert len(site.requests) == asked
