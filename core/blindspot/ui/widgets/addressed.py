"""Choices among things that have names. Their ids are in the address, so that a link survives a rename.

Streamlit's own binding (``bind="query-params"``) writes into the address what the reader sees. So here ids are the
options, and this module keeps address and choice alike: a change by the reader or by code wins, else a change of the
address; an address that lost the choice on the way to another page gets it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from blindspot import names
from blindspot.errors import InputError
from blindspot.names import Kind, in_address
from blindspot.transforms.chain import TransformChain
from blindspot.variants import Variant

UNREAD = "_unread_"  # and a key: what its box refuses of the address


def one_named(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    name: Callable[[str], str],
    index: int | None = None,
    container: DeltaGenerator | None = None,
    **look: Any,
) -> str | None:
    """A selectbox of ``options``, which are ids.

    Args:
        key: of the choice in the session, where it is an id, and in the address.
        name: what the reader sees of an id.
        index: of the default, which is not in the address; None for none.
        look: further arguments of ``st.selectbox``.
    """
    default = () if index is None or not options else (options[index],)
    _take(key, options, default, in_address, several=False)
    chosen = (container or cast("DeltaGenerator", st)).selectbox(
        label, options, index, key=key, format_func=name, persist_state="session", **look
    )
    _give(key, () if chosen is None else (chosen,), default, in_address, chosen)
    return chosen


def now_chosen(key: str) -> Any:
    """The choice of a widget that is not drawn yet: of the session, else of the address; None for none."""
    return st.session_state.get(key, st.query_params.get(key))


def all_now_chosen(key: str) -> Sequence[str]:
    """As ``now_chosen``, of a widget of several choices."""
    several: Sequence[str] = st.session_state.get(key, st.query_params.get_all(key))
    return several


def begin_with(key: str, value: Callable[[], str | Sequence[str] | None]) -> None:
    """Choose something other than the default before a picker is drawn for the first time; the address has it then."""
    if key not in st.session_state and key not in st.query_params and (chosen := value()):
        st.session_state[key] = chosen if isinstance(chosen, str) else list(chosen)


def leave_out_unread(
    key: str, reads: Callable[[str], bool] | None = None, otherwise: list[str] | str | None = None
) -> None:
    """Leave out what cannot be read in the address of a box that takes anything typed; to be called before the box is
    drawn.

    Streamlit gives a bound box what the address has at first, whatever code says: it is left out in the next run, which
    ``stale_links.note_dropped`` starts.

    Args:
        reads: whether a value can be read; by default, as a chain of transforms.
        otherwise: the choice where nothing is left.
    """
    flag = f"{UNREAD}{key}"
    if flag in st.session_state:
        refused, held = st.session_state.pop(flag), st.session_state.get(key)
        kept = [chain for chain in held if chain not in refused] if isinstance(held, list) else []
        st.session_state[key] = kept or otherwise
    elif key not in st.session_state:
        is_read = reads or reads_chain
        if refused := [value for value in st.query_params.get_all(key) if not is_read(value)]:
            st.session_state[flag] = refused


def reads_chain(text: str) -> bool:
    """Whether it is a chain of transforms."""
    try:
        TransformChain.parse(text)
    except InputError:
        return False
    return True


def names_of_variants(variants: Iterable[str], width: int | None = None) -> Callable[[str], str]:
    """A function from variants' ids to their labels, cut to ``width`` where they stay different."""
    labels = {variant: Variant.parse(variant).label for variant in variants}
    if width is not None:
        short = {variant: Variant.parse(variant).label_within(width) for variant in labels}
        often = Counter(short.values())
        labels = {variant: short[variant] if often[short[variant]] == 1 else label for variant, label in labels.items()}
    return lambda variant: labels.get(variant) or Variant.parse(variant).label


def tab_named(label: str, options: Sequence[str], *, key: str, name: Callable[[str], str], **look: Any) -> str:
    """A row of buttons with one pressed, the first by default; as ``one_named``."""
    if st.session_state.get(key) not in (None, *options):
        st.session_state[key] = options[0]
    default = (options[0],)
    _take(key, options, default, in_address, several=False)
    chosen = st.segmented_control(
        label,
        options,
        default=options[0],
        required=True,
        wrap=True,  # on a phone the last ones would be cut off
        key=key,
        format_func=name,
        persist_state="session",
        **look,
    )
    value = options[0] if chosen is None else chosen
    _give(key, (value,), default, in_address, chosen)
    return value


def number_named(label: str, *, key: str, container: DeltaGenerator | None = None, **look: Any) -> int | None:
    """A box for a whole number from 0, empty at first; as ``one_named``.

    Streamlit drops a bound number from the link to a page whose box has the same key, since it was the other page's.
    """
    numbers = [str(int(value)) for value in st.query_params.get_all(key) if value.isdecimal()]
    _take(key, numbers, (), str, several=False)
    if isinstance(asked := st.session_state.get(key), str):
        st.session_state[key] = int(asked)
    number: int | None = (container or cast("DeltaGenerator", st)).number_input(
        label, min_value=0, value=None, step=1, key=key, persist_state="session", **look
    )
    _give(key, () if number is None else (str(number),), (), str, number)
    return number


def some_named(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    name: Callable[[str], str],
    default: Sequence[str] = (),
    container: DeltaGenerator | None = None,
    **look: Any,
) -> list[str]:
    """A multiselect of ``options``, as ``one_named``."""
    _take(key, options, tuple(default), in_address, several=True)
    chosen = (container or cast("DeltaGenerator", st)).multiselect(
        label, options, default or None, key=key, format_func=name, persist_state="session", **look
    )
    _give(key, tuple(chosen), tuple(default), in_address, chosen)
    return chosen


def _take(
    key: str, options: Sequence[str], default: Sequence[str], address: Callable[[str], str], *, several: bool
) -> None:
    """Take the choice from the address, where that changed and the choice did not."""
    state, now = st.session_state, st.query_params.get_all(key)
    value, before = state.get(_value_of(key)), state.get(_address_of(key))
    if now == before or (before is not None and key in state and state[key] != value):
        return
    if before is None and key in state:  # set before the first time that it is drawn
        return
    context = get_script_run_ctx()
    if not now and not (context and context.is_history_navigation):
        return  # lost on the way to another page
    values = [option for value in dict.fromkeys(now) if (option := _option(value, options, address)) is not None]
    if several:
        # An empty value says that none is chosen, where the default is some.
        state[key] = values if values or now == [""] else list(default)
    else:
        state[key] = values[0] if values else next(iter(default), None)


def take_option(key: str, options: Sequence[str]) -> None:
    """Take the choice of ``tab_named`` from the address before the row is drawn."""
    _take(key, options, options[:1], in_address, several=False)


MOST_IN_ADDRESS = 1_500  # bytes of a text: proxies refuse addresses of 8 kB, and a byte may take three there


def take_text(key: str, longest: int) -> None:
    """Take the text of a box from the address, before the box is drawn: as ``one_named`` takes a choice."""
    state, now = st.session_state, st.query_params.get(key, "")
    before = state.get(_address_of(key))
    if now == before or (before is not None and state.get(key) != state.get(_value_of(key))):
        return
    context = get_script_run_ctx()
    is_lost = not now and not (context and context.is_history_navigation)
    if is_lost or (before is None and state.get(key)):
        return
    state[key] = now[:longest]


def give_text(key: str, text: str) -> bool:
    """Write the text of a box into the address, if it is short; whether it is in the address."""
    is_short = len(text.encode("utf-8", "surrogatepass")) <= MOST_IN_ADDRESS
    wanted = text if is_short else ""
    if st.query_params.get(key, "") != wanted:
        if wanted:
            st.query_params[key] = wanted
        else:
            del st.query_params[key]
    st.session_state[_address_of(key)] = wanted
    st.session_state[_value_of(key)] = text
    return is_short


def forget_drawn(key: str) -> None:
    """Forget that a choice was drawn, on another page: the address decides once more, else what was chosen stays."""
    for name in (_value_of(key), _address_of(key)):
        st.session_state.pop(name, None)
    if key in st.query_params:
        st.session_state.pop(key, None)


def option_in_address(value: object, options: Sequence[str]) -> str | None:
    """The option that a value of the address, or an option, stands for; None if there is none."""
    return _option(str(value), options, in_address)


def _option(value: str, options: Sequence[str], address: Callable[[str], str]) -> str | None:
    """The option that the address calls so; older links have the options themselves, and people type names."""
    by_address = {option: option for option in options} | {address(option): option for option in options}
    if value in by_address:
        return by_address[value]
    known = names.current()
    model, dataset = (known.reference(kind, value) for kind in (Kind.MODEL, Kind.DATASET))
    return next((name for name in (model, model and str(Variant.parse(model)), dataset) if name in options), None)


def _give(
    key: str, chosen: Sequence[str], default: Sequence[str], address: Callable[[str], str], value: object
) -> None:
    """Write the choice into the address, unless it is the default."""
    wanted = [] if tuple(chosen) == tuple(default) else [address(option) for option in chosen] or [""]
    if st.query_params.get_all(key) != wanted:
        if wanted:
            st.query_params[key] = wanted
        else:
            del st.query_params[key]
    st.session_state[_address_of(key)] = wanted
    st.session_state[_value_of(key)] = value


def _value_of(key: str) -> str:
    return f"_{key}_chosen"


def _address_of(key: str) -> str:
    return f"_{key}_in_address"
