"""A published table with what is measured here, as pages draw it."""

from __future__ import annotations

import streamlit as st

from blindspot.store.repository import Repository
from blindspot.studies.evidence import beside
from blindspot.studies.evidence.beside import Beside
from blindspot.studies.evidence.scores import Downstream
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, repository
from blindspot.ui.widgets import tables


def show(table: str, downstream: Downstream | None = None) -> None:
    """One of ``beside.TABLES``."""
    comparison = _beside(table, repository(), downstream)
    st.markdown(f"**{comparison.title}** ({comparison.source})")
    pinned = {comparison.head: st.column_config.TextColumn(pinned=True, width="medium")}
    tables.draw(comparison.in_words(), key=f"beside_{table}", column_config=pinned, height="content")
    nothing = "" if comparison.is_measured else " Nothing was measured here yet."
    st.caption(as_text(comparison.note) + nothing)


@cached(16, "Reading scores …", keys={Repository: lambda store: store.digest()})
def _beside(table: str, store: Repository, downstream: Downstream | None) -> Beside:
    return beside.beside(table, store, downstream)
