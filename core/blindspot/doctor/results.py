"""Checks of the store, and of runs that need attention."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.user_data import files as own
from blindspot.diagnostic import all_diagnostics
from blindspot.doctor.findings import Finding, note, ok, problem, size
from blindspot.encoders.catalog import canonical_encoder
from blindspot.errors import BlindspotError, InputError
from blindspot.files.writing import bytes_of
from blindspot.runs import requesting
from blindspot.runs.inputs.rankings import opened
from blindspot.settings import Settings
from blindspot.store.inspection import StoreFacts, inspect
from blindspot.store.records import RunPlan, RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.texts import counted

STORE = "store"
PATIENCE_SECONDS = 1.5  # other processes write for milliseconds
NAMES_SHOWN = 5


def store(settings: Settings, repository: Repository) -> Iterator[Finding]:
    """The file, its schema and its runs, opened for reading only."""
    path = repository.database.path
    facts = inspect(repository.database, PATIENCE_SECONDS)
    if facts is None:
        yield ok(STORE, "file", f"none yet: the first run makes {path}")
        return
    written_ahead = path.with_name(f"{path.name}.wal")
    shown = f"{path}, {size(bytes_of(path) + bytes_of(written_ahead))}, {counted(facts.rows, 'row')}, all readable"
    if os.access(path, os.W_OK):
        yield ok(STORE, "file", shown)
    else:
        remedy = "check who owns it (was Blindspot run as another user?)"
        yield problem(STORE, "file", f"{path} cannot be written", remedy)
    waits = "" if facts.schema_version == facts.newest_version else "; brought up to date when it is next used"
    yield ok(STORE, "schema", f"version {facts.schema_version} of {facts.newest_version}{waits}")
    states = Counter(run.state for run in facts.runs)
    counts = ", ".join(f"{states[state]} {state}" for state in RunState if states[state])
    yield ok(STORE, "runs", counts or "none yet")
    yield from _interrupted(facts.runs, settings)
    yield from _of_other_versions(facts.runs)
    yield from _gone(facts, settings)


def _interrupted(runs: Iterable[RunRecord], settings: Settings) -> Iterator[Finding]:
    for run in runs:
        if run.state is not RunState.INTERRUPTED:
            continue
        name = f"run {run.run_id[:8]}"
        forget = f"blindspot runs delete {run.run_id}"
        try:
            label = requesting.request_of(run, settings).label
        except InputError as error:
            yield note(STORE, name, f"interrupted, and cannot be continued here: {error}", f"forget it: {forget}")
            continue
        when = f"{run.started_at:%Y-%m-%d %H:%M} UTC"
        remedy = f"go on with: {command(run.plan)} (or forget it: {forget})"
        yield note(STORE, name, f"interrupted: {label}, begun {when}", remedy)


def command(plan: RunPlan) -> str:
    """The POSIX command line that computes or continues a run."""
    words = ["blindspot", "run", plan.diagnostic]
    # Naming the compared encoders too ranks the same texts.
    for encoder in (plan.variant.encoder, *plan.covered_by):
        words += ["--encoder", encoder]
    words += ["--transform", plan.variant.transform, "--dataset", plan.dataset]
    for name, value in sorted(plan.params.items()):
        words += [f"--{name.replace('_', '-')}", value]
    return shlex.join(words)


def _of_other_versions(runs: Iterable[RunRecord]) -> Iterator[Finding]:
    """Runs of diagnostics and encoders that this version lacks or computes differently."""
    unknown: Counter[str] = Counter()
    older: Counter[tuple[str, int]] = Counter()
    encoders_gone: Counter[str] = Counter()
    for run in runs:
        plan = run.plan
        entry = all_diagnostics().get(plan.diagnostic)
        if entry is None:
            unknown[plan.diagnostic] += 1
        elif entry.version != plan.diagnostic_version:
            older[plan.diagnostic, plan.diagnostic_version] += 1
        try:
            canonical_encoder(plan.variant.encoder)
        except InputError:
            encoders_gone[plan.variant.encoder] += 1
    for name, count in sorted(unknown.items()):
        what = f"{counted(count, 'run')} of the diagnostic '{name}', which this Blindspot does not have"
        yield note(STORE, name, what, "a version that has it shows them; nothing is lost")
    for (name, version), count in sorted(older.items()):
        now = all_diagnostics()[name].version
        what = f"{counted(count, 'run')} of {name} version {version}, this Blindspot computes version {now}"
        yield note(STORE, name, what, "run them again to compare them with new ones")
    for name, count in sorted(encoders_gone.items()):
        what = f"{counted(count, 'run')} of the encoder '{name}', which this Blindspot does not have"
        yield note(STORE, name, what, "their scores are shown; a version that has it can run them again")


def _gone(facts: StoreFacts, settings: Settings) -> Iterator[Finding]:
    """Users' files and folders, named by runs or pickers, that are gone or unusable."""
    datasets = {run.plan.dataset for run in facts.runs if own.is_own(run.plan.dataset)}
    encoders = {run.plan.variant.encoder for run in facts.runs} | set(facts.references)  # a dir: may be either
    paths: dict[str, Path] = {name: own.path_of(name) for name in sorted(datasets)}
    paths |= {name: path for name in sorted(encoders) if (path := _path_of_encoder(name)) is not None}
    remedy = "put them back to run them again; stored scores stay"
    if gone := [name for name, path in paths.items() if not path.exists()]:
        shown = ", ".join(gone[:NAMES_SHOWN])
        more = f", and {len(gone) - NAMES_SHOWN} more" if len(gone) > NAMES_SHOWN else ""
        yield note(STORE, "files", f"not there any more: {shown}{more}", remedy)
    for name in sorted(paths.keys() - set(gone)):
        try:
            if name in datasets:
                DatasetRef(name).entry()
            else:
                opened(canonical_encoder(name), settings)
        except BlindspotError as error:
            what = f"{name} cannot be used any more: {error.what}"
            yield note(STORE, "files", what, f"{error.remedy or 'see what is wrong with it'}; stored scores stay")


def _path_of_encoder(reference: str) -> Path | None:
    """Path of a user's file or folder; None for other references."""
    scheme, _, rest = reference.partition(":")
    path = Path(rest.partition("?")[0] if scheme in {"dir", "vectors", "table", "run"} else "")
    return path if path.is_absolute() else None
