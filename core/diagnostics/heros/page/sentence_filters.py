"""Which originals the HEROS page lists: two variants, presets, filters and an order; all stand in the address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import streamlit as st

from core.diagnostics.heros import browsing
from core.diagnostics.heros.browsing import Above, Filter, Where
from core.diagnostics.heros.figures.profile import label
from core.diagnostics.heros.page.shown import Shown
from core.store.records import RunRecord
from core.ui.markdown import as_text
from core.ui.widgets.browse_table import BrowseTable
from core.ui.widgets.two_variants import Sides, two_variants

DOWN, UP = "high to low", "low to high"
# The nearer rewrite changes the meaning, or changes it more than the other one does.
TELLING = (
    Above("negation_main", "synonym"),
    Above("negation_antonym", "synonym"),
    Above("antonym", "synonym"),
    Above("random_mlm", "synonym"),
    Above("random_mlm", "typo"),
)
TABLE = BrowseTable("sentences", key="original_no", unit="original", number=browsing.NUMBER)


@dataclass(frozen=True)
class Preset:
    """A wish that many have: orders that must hold, or none, and the column to sort by, from high to low."""

    name: str
    above: tuple[Above, ...]
    order: str


def sides(runs: Sequence[RunRecord]) -> Sides:
    """Let the reader choose A and, if they like, B."""
    return two_variants(runs, ("sent_a", "sent_b"), b_at_first=False, on_change=TABLE.to_first_page)


def _keep(key: str, options: Sequence[str], default: str | None) -> None:
    """Take a value from a picker that it can no longer have: of another dataset, or of a variant that is not shown."""
    if key in st.session_state and st.session_state[key] not in options:
        st.session_state[key] = default


def clear() -> None:
    """Take all conditions away; the order stays: a callback."""
    st.session_state.update(sent_search="", sent_above=[], sent_subset=None)
    st.session_state.update(sent_low=None, sent_high=None, sent_apart=None)
    TABLE.to_first_page()


def stale_link(shown: Shown) -> None:
    """Say what a link named that is not here; Streamlit drops such values without a word."""
    subsets = list(shown.subsets)
    known = {
        "sent_above": _orders(subsets),
        "sent_subset": subsets,
        "sent_rewrite": subsets,
        "sent_where": list(Where),
    }
    address, state = st.query_params, st.session_state
    missing = [v for key, names in known.items() if key not in state for v in address.get_all(key) if v not in names]
    if "original_no" not in state:
        missing += [f"original {v}" for v in address.get_all("original_no") if not v.isdecimal()]
    if missing:
        names = ", ".join(f"`{value[:80].replace('`', '')}`" for value in missing)
        st.warning(f"This link names what is not here: {names}. The rest is shown.", icon=":material/link_off:")


def _orders(subsets: Sequence[str]) -> dict[str, Above]:
    """Every order of two rewrites by its name."""
    return {str(order): order for order in (Above(x, y) for x, y in permutations(subsets, 2))}


def presets(subsets: Sequence[str], b: bool) -> list[Preset]:
    """Those that the dataset's subsets, and whether there is a B, allow."""
    found = [
        Preset(f"{label(above.nearer)} above {label(above.farther)}", (above,), browsing.lead("A"))
        for above in TELLING
        if above.nearer in subsets and above.farther in subsets
    ]
    if b:
        found.append(Preset("largest disagreement", (), browsing.LARGEST))
        if len(subsets) > 1:
            found.append(Preset("rewrites in another order", (), browsing.TURNED))
    return found


def pick_preset(shown: Shown, chosen: Sides) -> None:
    """Pills that set the filters below them; the one that they are set to is marked."""
    known = {preset.name: preset for preset in presets(shown.subsets, chosen.b is not None)}
    if not known:
        return
    state = st.session_state
    above = [str(order) for preset in known.values() for order in preset.above]

    def chosen_one() -> None:
        preset = known.get(state["sent_preset"] or "")
        state["sent_above"] = [] if preset is None else [str(order) for order in preset.above]
        state["sent_order"] = browsing.NUMBER if preset is None else preset.order
        state["sent_direction"] = UP if preset is None else DOWN
        TABLE.to_first_page()

    now = tuple(state.get("sent_above", st.query_params.get_all("sent_above") if above else []))
    order = state.get("sent_order", st.query_params.get("sent_order"))
    direction = state.get("sent_direction", st.query_params.get("sent_direction"))
    state["sent_preset"] = next(
        (p.name for p in known.values() if (tuple(str(o) for o in p.above), p.order, DOWN) == (now, order, direction)),
        None,
    )
    st.pills("Start from", list(known), key="sent_preset", on_change=chosen_one)


def pick_filter(shown: Shown, chosen: Sides) -> Filter:
    """Conditions on an original; all of them must hold."""
    subsets, b = list(shown.subsets), chosen.b is not None
    known = _orders(subsets)
    if "sent_above" in st.session_state:
        st.session_state["sent_above"] = [name for name in st.session_state["sent_above"] if name in known]
    _keep("sent_subset", subsets, None)
    left, middle, right = st.columns([3, 4, 2])
    wanted = left.text_input(
        "Search in originals and rewrites", key="sent_search", bind="query-params", on_change=TABLE.to_first_page
    )
    above = middle.multiselect(
        "Which is nearer to the original",
        list(known),
        key="sent_above",
        bind="query-params",
        on_change=TABLE.to_first_page,
        placeholder="for example negation_main above synonym"
        if "negation_main above synonym" in known
        else "X above Y",
        help="X above Y: rewrite X is more similar to the original than rewrite Y. Of several, all must hold. Two "
        "cosines within 0.000001 are a tie: neither is above the other.",
    )
    where = Where.A
    if b:
        where = Where(
            right.selectbox(
                "Where",
                [w.value for w in Where],
                key="sent_where",
                bind="query-params",
                on_change=TABLE.to_first_page,
                help="In which of the two variants this must hold.",
            )
        )
    else:
        right.text_input("Where", "in A", disabled=True, help="Choose a B to ask for what holds in one of them alone.")
    return Filter(wanted or "", tuple(known[name] for name in above), where, *_bounds(subsets, b=b))


def _bounds(subsets: Sequence[str], *, b: bool) -> tuple[str | None, float | None, float | None, float | None]:
    """Which rewrite is looked at, and from where to where its similarity must be and how far apart in A and B."""
    boxes = (
        ("Similarity from", "sent_low", False, "Normalised similarity of the rewrite in A, at least."),
        ("to", "sent_high", False, "Normalised similarity of the rewrite in A, at most."),
        ("A and B apart by", "sent_apart", not b, "Difference of the rewrite's similarities in A and B, at least."),
    )
    keys = ["sent_subset", *(key for _, key, *_ in boxes)]
    is_set = any(st.session_state.get(key, st.query_params.get(key)) not in (None, "") for key in keys)
    with st.expander("One rewrite, and how similar it must be", expanded=is_set, icon=":material/tune:"):
        columns = st.columns([3, 2, 2, 2])
        subset = columns[0].selectbox(
            "Rewrite",
            subsets,
            index=None,
            key="sent_subset",
            bind="query-params",
            placeholder="any of them",
            on_change=TABLE.to_first_page,
            help="Which one the bounds beside are about. With a B, its similarities stand in the table.",
        )
        low, high, apart = (
            column.number_input(
                title,
                value=None,
                step=0.05,
                format="%.3f",
                key=key,
                bind="query-params",
                disabled=disabled,
                on_change=TABLE.to_first_page,
                placeholder="any",
                help=about,
            )
            for column, (title, key, disabled, about) in zip(columns[1:], boxes, strict=True)
        )
    return subset, low, high, apart if b else None


def pick_order(names: Sequence[str]) -> tuple[str, bool]:
    """The column to sort all rows by, and whether from high to low."""
    if st.session_state.get("sent_order", browsing.NUMBER) not in names:  # of a filter that is gone, or of B
        st.session_state.update(sent_order=browsing.NUMBER, sent_direction=UP)
    left, right = st.columns(2)
    order = left.selectbox("Order", names, key="sent_order", bind="query-params", on_change=TABLE.to_first_page)
    direction = right.segmented_control(
        "Direction",
        [UP, DOWN],
        default=UP,
        required=True,
        key="sent_direction",
        bind="query-params",
        on_change=TABLE.to_first_page,
    )
    return str(order), direction == DOWN


def in_words(wish: Filter, chosen: Sides) -> list[str]:
    """The conditions of a filter, each as Markdown that shows names as text."""
    a = as_text(chosen.a.plan.variant.label)
    b = "" if chosen.b is None else as_text(chosen.b.plan.variant.label)
    where = {
        Where.A: f"in {a}",
        Where.B: f"in {b}",
        Where.BOTH: f"in {a} and in {b}",
        Where.ONLY_A: f"in {a}, not in {b}",
        Where.ONLY_B: f"in {b}, not in {a}",
    }
    said = []
    if wish.above:
        names = [as_text(f"{label(o.nearer)} above {label(o.farther)}") for o in wish.above]
        said.append(f"{' and '.join(names)} {where[wish.where]}")
    which = "some rewrite" if wish.subset is None else as_text(label(wish.subset))
    if wish.low is not None or wish.high is not None:
        ends = [
            f"at least {wish.low:g}" if wish.low is not None else "",
            f"at most {wish.high:g}" if wish.high is not None else "",
        ]
        said.append(f"similarity of {which} in {a} {' and '.join(end for end in ends if end)}")
    if wish.apart is not None:
        said.append(f"similarity of {which} at least {wish.apart:g} apart in {a} and {b}")
    if wish.wanted:
        said.append(f"“{as_text(wish.wanted)}” in original or rewrite")
    return said
