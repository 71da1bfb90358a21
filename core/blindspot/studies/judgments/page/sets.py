"""Stored sets of questions: their content, how they were made, and their removal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from blindspot.studies.judgments import making
from blindspot.studies.judgments.page.judged_set import item_set, judgments
from blindspot.studies.judgments.rules import Closeness
from blindspot.studies.judgments.types import SetSummary
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import allowed
from blindspot.ui.widgets import tables

_ASKED = "_judgment_set_asked"  # the set whose removal awaits confirmation
_SAID = "_judgment_set_said"  # the result of the last removal, shown once


def show(sets: Sequence[SetSummary]) -> None:
    """A table of the sets, and one of them in detail."""
    if message := st.session_state.pop(_SAID, None):
        st.success(as_text(message), icon=":material/check:")
    if not sets:
        return
    st.subheader("Sets of questions", anchor=False)
    tables.draw(
        [
            {
                "title": s.title,
                "questions": s.items,
                "raters": s.raters,
                "votes": s.votes,
                "models": ", ".join(v.label for v in s.variants),
                "made at (UTC)": s.created_at.replace(tzinfo=None),
                "id": s.set_id,
            }
            for s in sets
        ],
        key="judgment_sets",
    )
    by_id = {s.set_id: s for s in sets}
    chosen = st.selectbox(
        "How a set was made",
        list(by_id),
        key="judgment_set_shown",
        format_func=lambda set_id: f"{by_id[set_id].title} · {set_id}" if set_id in by_id else set_id,
    )
    if chosen in by_id:
        _detail(by_id[str(chosen)])


def _detail(chosen: SetSummary) -> None:
    items = item_set(judgments(), chosen.set_id)
    if items is None:
        st.warning("This set was removed in the meantime.", icon=":material/delete:")
        return
    st.markdown(as_text(making.in_words(items)))
    st.caption(as_text(str(items.manifest.get("about") or items.manifest.get("inventory") or "")))
    tables.draw(
        _facts(items.manifest),
        key="judgment_facts",
        column_config={"": st.column_config.Column(width=110)},
    )
    if not allowed().changes:
        st.caption("In this public demo nothing can be removed.")
        return
    if st.session_state.get(_ASKED) != chosen.set_id:
        st.button(
            "Remove this set …", key="judgment_remove", icon=":material/delete:", on_click=_ask, args=(chosen.set_id,)
        )
        return
    with st.container(border=True, key="judgment_confirm"):
        st.markdown(f"**Remove {as_text(chosen.title)}?** {_consequences(chosen)}")
        with st.container(horizontal=True):
            st.button("Remove", key="judgment_remove_yes", type="primary", on_click=_remove, args=(chosen,))
            st.button("Cancel", key="judgment_remove_no", on_click=_ask, args=(None,))


def _facts(manifest: Mapping[str, Any]) -> list[dict[str, str]]:
    """What decided the items, for readers; older versions did not note everything."""
    size = manifest.get("corpus_size")
    corpus = f", in {size:,.0f} words" if size else ""
    facts = {
        "dataset": manifest.get("dataset"),
        "frequencies": f"{manifest['frequencies']}{corpus}" if "frequencies" in manifest else None,
        "rule": _rule(manifest.get("rule") or {}),
        "similarity": manifest.get("metric"),
        "texts that all models cover": f"{manifest['support']:,}" if "support" in manifest else None,
        "seed": manifest.get("seed"),
    }
    return [{"": name, "made with": str(value)} for name, value in facts.items() if value not in (None, "")]


def _rule(rule: Mapping[str, Any]) -> str:
    words = {
        Closeness.LOG10: "within {} of the mean, in log10",
        Closeness.COUNT: "within {} counts of the mean",
        "ranks": "ranks {}",
    }
    return "; ".join(
        words.get(name, f"{name} {{}}").format(", ".join(map(str, value)) if isinstance(value, list) else f"{value:g}")
        for name, value in rule.items()
    )


def _consequences(chosen: SetSummary) -> str:
    if not chosen.votes:
        return f"Its {chosen.items:,} questions are deleted; nobody has answered any."
    votes = f"{counted(chosen.votes, 'vote')} by {counted(chosen.raters, 'rater')}"
    return (
        f"**{votes}** are deleted with its {chosen.items:,} questions, also those of sessions. This cannot be undone."
    )


def _ask(set_id: str | None) -> None:
    st.session_state[_ASKED] = set_id


def _remove(chosen: SetSummary) -> None:
    if not allowed().changes:  # a browser can send anything
        return
    judgments().remove_set(chosen.set_id)
    _ask(None)
    st.session_state[_SAID] = f"{chosen.title} was removed."
