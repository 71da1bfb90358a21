"""Every diagnostic that has a name. To add one: a module with an ``ENTRY``, and a line here."""

from __future__ import annotations

from core.diagnostics import analogy, categorization, evalrank, frequency, geometry, heros, similarity, transfer
from core.diagnostics.base import DiagnosticEntry
from core.errors import unknown

DIAGNOSTICS: dict[str, DiagnosticEntry] = {
    entry.id: entry
    for entry in (
        evalrank.ENTRY,
        heros.ENTRY,
        similarity.ENTRY,
        analogy.ENTRY,
        categorization.ENTRY,
        geometry.ENTRY,
        frequency.ENTRY,
        transfer.ENTRY,
    )
}


def find(diagnostic_id: str) -> DiagnosticEntry:
    """The entry of a diagnostic id.

    Raises:
        InputError: no such diagnostic; the nearest id is suggested.
    """
    if diagnostic_id not in DIAGNOSTICS:
        raise unknown("diagnostic", diagnostic_id, DIAGNOSTICS)
    return DIAGNOSTICS[diagnostic_id]
