"""Models whose files were replaced after their newest run: their stored scores are not theirs any more."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from blindspot import names
from blindspot.encoders.on_disk import revision_on_disk
from blindspot.references import ModelRef
from blindspot.settings import Settings
from blindspot.store.repository import Repository

MARK = "since changed"  # after the name of such a model


def changed_models(repository: Repository, settings: Settings) -> dict[ModelRef, datetime]:
    """Those models, and when their newest run began. A model whose files are gone is not one of them."""
    return {
        model: at
        for model, revision, at in repository.newest_revisions()
        if revision_on_disk(model, settings) not in ("", revision)
    }


def changes(models: Iterable[ModelRef], repository: Repository, settings: Settings) -> list[str]:
    """A sentence for each of these models that has changed, also as a part of several models."""
    asked = {part for model in models for part in (model, *model.models)}
    return [
        f"{names.current().every_version(model)}: its files have changed since its newest run ({at:%Y-%m-%d %H:%M} "
        "UTC), so its stored scores are those of the old files. Run it again; the old runs stay as an older version."
        for model, at in changed_models(repository, settings).items()
        if model in asked
    ]
