"""The reader's names of models and datasets, set for one run of a page."""

from __future__ import annotations

from blindspot import names
from blindspot.store.naming import names_of
from blindspot.ui.resources import repository, upload_settings


def use_names() -> None:
    """Put the names of the reader's store into force, for this run of the script; two queries."""
    names.put_in_force(names_of(repository(), upload_settings()))


def ensure_names() -> None:
    """``use_names``, unless this thread has names already."""
    if not names.current().models:
        use_names()
