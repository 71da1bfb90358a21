"""Comparisons of the reader's own models, above all findings: is mine better?"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from blindspot.datasets.catalog import title_of
from blindspot.numerics.statistics.compare import Verdict
from blindspot.numerics.statistics.written import ci, number
from blindspot.runs.comparison import spec_of
from blindspot.runs.default_models import is_own, is_undeployed
from blindspot.studies.compare.page.reading import compared, tested
from blindspot.studies.compare.rows import Comparison, Row
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.navigation import page_link
from blindspot.ui.page_state import A, B
from blindspot.ui.pickers import Picks, link_to
from blindspot.variants import Variant

MOST = 3  # comparisons
LINES = 6  # of a card


def pairs(
    variants: Sequence[Variant], known: Sequence[Variant], baseline: Variant | None
) -> list[tuple[Variant, Variant]]:
    """The newest of the user's own models with each model to compare it with: the baseline, other own ones, others.

    Args:
        variants: to choose from; none of them is compared with its own post-processing.
        known: all of the store, those that appeared first in front.
    """
    order = {variant: place for place, variant in enumerate(known)}
    own = sorted((v for v in variants if is_own(v.encoder)), key=lambda v: -order.get(v, len(order)))
    if not own:
        return []
    newest = own[0]
    others = [v for v in variants if v.encoder != newest.encoder and not is_undeployed(v.encoder)]
    others.sort(key=lambda v: (v != baseline, not is_own(v.encoder), -order.get(v, len(order))))
    return [(newest, other) for other in others]


def comparisons(picks: Picks, variants: Sequence[Variant], dataset: str, most: int) -> None:
    """Draw a card per comparison of own models with a difference, at most ``most``, and a line of those without one;
    only on a dataset, unless that is ""."""
    of = tested(picks)
    together = [
        (a, b)
        for a, b in pairs(variants, picks.known, picks.baseline)
        if not of.get(str(a), frozenset()).isdisjoint(of.get(str(b), frozenset()))
    ]
    alike: list[tuple[Comparison, Sequence[Row]]] = []
    for place, (a, b) in enumerate(together[:most]):
        found = compared(a, b, picks)
        rows = [row for row in found.rows if row.decides and dataset in {"", row.dataset}]
        if any(row.is_significant for row in rows):
            _card(found, rows, picks, f"own_comparison_{place}")
        elif rows:
            alike.append((found, rows))
    if alike:
        _line(alike, picks)


def _card(found: Comparison, rows: Sequence[Row], picks: Picks, key: str) -> None:
    """Draw what is better or worse, own datasets first as the comparison has them, and how much shows no difference."""
    apart = [row for row in rows if row.is_significant]
    names = as_text(found.a.label), as_text(found.b.label)
    with st.container(border=True, key=key):
        st.badge("Comparison", icon=":material/balance:", color="blue")
        for row in apart[:LINES]:
            st.markdown(f"**{names[0]} is {row.verdict} than {names[1]}** on {as_text(in_words(row))}")
        more = [f"{len(apart) - LINES} more better or worse"] if len(apart) > LINES else []
        if rest := [*more, *_without_difference(rows)]:
            said = "; ".join(rest)
            st.caption(f"{said[0].upper()}{said[1:]}.")
        _compare_link(found, picks, "Compare them")


def _line(alike: Sequence[tuple[Comparison, Sequence[Row]]], picks: Picks) -> None:
    """Draw in one line that nothing is better or worse, with a link to each comparison."""
    mine = as_text(alike[0][0].a.label)
    said = "; ".join(
        f"against {as_text(found.b.label)}: {', '.join(_without_difference(rows))}" for found, rows in alike
    )
    with st.container(horizontal=True, vertical_alignment="center", key="own_alike"):
        st.markdown(f"**{mine}** {said}.", width="content")
        for found, _ in alike:
            _compare_link(found, picks, "Compare" if len(alike) == 1 else f"Compare with {as_text(found.b.label)}")


def _without_difference(rows: Sequence[Row]) -> list[str]:
    """How many scores show no difference, and how many were not tested."""
    alike = sum(row.verdict is Verdict.ALIKE for row in rows)
    untested = sum(row.verdict is Verdict.UNTESTED for row in rows)
    said = [f"no significant difference on {counted(alike, 'score')}"] if alike else []
    return [*said, f"{untested:,} not tested"] if untested else said


def _compare_link(found: Comparison, picks: Picks, label: str) -> None:
    address = link_to("", picks.metric, picks.variants, {A: str(found.a), B: str(found.b)})
    page_link("compare", label=label, icon=":material/arrow_forward:", address=address)


def in_words(row: Row) -> str:
    """``Retrieval, kb_beir: nDCG@10 0.819 against 0.740, +0.079 (95% CI +0.057 to +0.101).``"""
    one = row.difference
    spec = ".3f" if spec_of(one) == ".4f" else spec_of(one)
    values = f"{one.label} {number(one.a, spec)} against {number(one.b, spec)}"
    change = f"{number(one.value, f'+{spec}')}{ci(one.interval, f'+{spec}')}"
    return f"{row.entry.title}, {title_of(row.dataset)}: {values}, {change}."
