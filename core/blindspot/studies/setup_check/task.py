"""Set-up checks as tasks of the queue, and their reports, kept as files that links find again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from blindspot import names
from blindspot.encoders.base import Encoder
from blindspot.encoders.catalog import canonical_encoder, resolve_encoder
from blindspot.files.writing import write_atomically
from blindspot.runs.log import JobLine
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.setup_check.checking import check
from blindspot.studies.setup_check.demo import RETRIEVAL
from blindspot.studies.setup_check.models import model_of, reference_of
from blindspot.studies.setup_check.results import Report
from blindspot.types import CancelToken, Progress, digest_of_strings
from blindspot.variants import Variant

VERSION = 2  # raised when the checks change
ABOUT = {False: 1_800, True: 900}  # texts of a check in full, and of a quick one, about


@dataclass(frozen=True)
class SetupCheck:
    """A check to make: a task of the queue, as ``blindspot.jobs.queue.SpaceTask`` describes it."""

    encoder: str
    reference: str = ""
    quick: bool = False

    @classmethod
    def of(cls, encoder: str, reference: str, *, quick: bool = False) -> SetupCheck:
        """Raises ``InputError`` for what names no encoder."""
        return cls(canonical_encoder(encoder), canonical_encoder(reference) if reference else "", quick)

    @property
    def label(self) -> str:
        called = names.current().model
        against = f" against {called(self.reference)}" if self.reference else ""
        return f"Set-up check of {called(self.encoder)}{against}"

    @property
    def dataset(self) -> str:
        """Whose texts it encodes besides its own."""
        return RETRIEVAL

    @property
    def encoders(self) -> frozenset[str]:
        return frozenset({self.encoder, self.reference} - {""})

    @property
    def typed_variants(self) -> frozenset[Variant]:
        return frozenset()

    @property
    def takes_uploads(self) -> bool:
        return False

    @property
    def line(self) -> JobLine:
        return JobLine("check", variant=", ".join(names.current().model(e) for e in sorted(self.encoders)))

    def do(self, settings: Settings, _repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """Make it and keep its report; returns the headline."""
        return make(self, settings, progress, cancel).headline


def make(asked: SetupCheck, settings: Settings, progress: Progress, cancel: CancelToken) -> Report:
    """Check a model, and keep the report.

    Raises:
        InputError: an encoder that cannot be used or checked; or a demo does not allow it.
        Cancelled: between two batches.
        BlindspotError: a model failed; nothing is kept.
    """
    encoder = resolve_encoder(asked.encoder, settings)
    other = resolve_encoder(asked.reference, settings) if asked.reference else None
    model = model_of(encoder, cancel)
    reference = reference_of(other, cancel) if other is not None else None
    for stage, side in (("loading the model", encoder), ("loading the reference", other)):
        if side is not None:
            cancel.check()
            progress(stage, 0, 1)
            side.load()
    model.heard = _counting(progress, cancel, ABOUT[asked.quick])
    report = check(asked.encoder, model, settings, reference, asked.reference, quick=asked.quick)
    report = replace(report, identity=_identity(encoder, other), made=datetime.now(UTC).isoformat(timespec="seconds"))
    cancel.check()
    text = json.dumps(report.to_json(), ensure_ascii=False, indent=1, allow_nan=False)
    write_atomically(path_of(asked, settings), lambda file: file.write(text.encode()))
    return report


def _counting(progress: Progress, cancel: CancelToken, about: int) -> Callable[[int], None]:
    def heard(texts: int) -> None:
        cancel.check()
        progress("encoding texts", texts, max(about, texts))

    return heard


def _identity(encoder: Encoder, other: Encoder | None) -> str:
    """Digest of what decides the vectors of both."""
    return digest_of_strings([side.identity.embedding_digest("") for side in (encoder, other) if side is not None])[:16]


def path_of(asked: SetupCheck, settings: Settings) -> Path:
    """The file of a report; a quick check replaces one in full, and the other way round."""
    digest = digest_of_strings([str(VERSION), asked.encoder, asked.reference])[:32]
    return settings.checks / f"{digest}.json"


def find(encoder: str, reference: str, settings: Settings) -> Report | None:
    """The last report; None if there is none that can be read."""
    try:
        content = json.loads(path_of(SetupCheck(encoder, reference), settings).read_text("utf-8"))
        return Report.of_json(content)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def references_of(encoder: str, settings: Settings) -> list[str]:
    """References that a model was checked against, "" for without one; the last one first."""
    dated = []
    for path in settings.checks.glob("*.json"):
        try:
            report = Report.of_json(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if report.encoder == encoder:
            dated.append((report.made, report.reference))
    return list(dict.fromkeys(reference for _, reference in sorted(dated, reverse=True)))


def is_of_today(report: Report, settings: Settings) -> bool:
    """Whether both models are still those that were checked; raises ``InputError`` if one cannot be used any more."""
    encoder = resolve_encoder(report.encoder, settings)
    other = resolve_encoder(report.reference, settings) if report.reference else None
    return _identity(encoder, other) == report.identity
