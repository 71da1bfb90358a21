"""The choice of two variants: what is in the address, what stands in for what is gone, and when A is alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.store.repository import Repository
from tests.support.store_samples import pair_set, store_run
from tests.support.tables import each

NAMES = ("x~none", "y~none", "z~none")


def choice(names: tuple[str, ...], b_at_first: bool, apart: str = "") -> None:
    import streamlit as st

    from blindspot.ui.widgets.two_variants import two_names

    def compare(a: str, b: str) -> bool:  # the names of ``apart`` have nothing in common with any
        return not {a[0], b[0]} & set(apart)

    a, b = two_names(names, b_at_first=b_at_first, compare=compare)
    st.text(f"{a} {b}")


def opened(names: tuple[str, ...] = NAMES, *, b_at_first: bool = True, **query: str) -> AppTest:
    app = AppTest.from_function(choice, args=(names, b_at_first))
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def chosen(app: AppTest) -> list[str]:
    return str(app.text[0].value).split(" ")


def address(app: AppTest) -> dict[str, object]:
    return {key: value for key, value in app.query_params.items() if value}


def test_the_first_two_at_first_and_the_address_names_them() -> None:
    app = opened()
    assert chosen(app) == ["x~none", "y~none"]
    assert address(app) == {"a": "x~none", "b": "y~none"}
    assert not app.caption


@each(
    ("query", "expected"),
    [
        ({"a": "z~none", "b": "x~none"}, ["z~none", "x~none"]),
        ({"b": "x~none"}, ["y~none", "x~none"]),  # the default of A is not what B has
        ({"a": "y~none"}, ["y~none", "x~none"]),
    ],
)
def test_a_link_names_them(query: dict[str, str], expected: list[str]) -> None:
    app = opened(**query)
    assert chosen(app) == expected
    assert [app.selectbox(key=key).value for key in ("a", "b")] == expected
    assert not app.caption


def test_two_that_have_something_in_common_come_first() -> None:
    for apart, expected in (("x", ["y~none", "z~none"]), ("y", ["x~none", "z~none"]), ("xyz", ["x~none", "y~none"])):
        assert chosen(AppTest.from_function(choice, args=(NAMES, True, apart)).run()) == expected, apart
    app = AppTest.from_function(choice, args=(NAMES, True, "x"))
    app.query_params["a"] = "x~none"
    assert chosen(app.run())[0] == "x~none", "what the reader chose stays"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"a": "gone*~none", "b": "x~none"}, ["y~none", "x~none"]),
        ({"a": "z~none", "b": "gone*~none"}, ["z~none", "x~none"]),
    ],
)
def test_what_is_gone_is_said_once_and_replaced(query: dict[str, str], expected: list[str]) -> None:
    app = opened(**query)
    assert chosen(app) == expected
    assert [r"gone\_" in caption.value for caption in app.caption] == [True]
    assert not app.run().caption
    assert chosen(app) == expected


def test_what_the_sidebar_leaves_out_is_gone_too() -> None:
    app = opened()
    app.selectbox(key="a").set_value("z~none").run()
    app.args = (NAMES[:2], True)
    app.run()
    assert chosen(app) == ["x~none", "y~none"]
    assert len(app.caption) == 1


@pytest.mark.parametrize("b_at_first", [True, False])
def test_one_variant_chosen_twice_is_alone(b_at_first: bool) -> None:
    app = opened(a="y~none", b="y~none", b_at_first=b_at_first)
    assert chosen(app) == ["y~none", "None"]
    assert len(app.caption) == 1
    app.selectbox(key="b").set_value("x~none").run()
    assert chosen(app) == ["y~none", "x~none"]
    assert not app.caption


def test_a_single_variant_needs_no_choice_and_what_a_link_named_is_said() -> None:
    app = opened(NAMES[:1], a="x~none", b="y~none")
    assert chosen(app) == ["x~none", "None"]
    assert not app.selectbox
    assert len(app.caption) == 1


def test_b_may_be_nobody() -> None:
    app = opened(b_at_first=False)
    assert chosen(app) == ["x~none", "None"]
    assert address(app) == {"a": "x~none"}
    app.selectbox(key="b").set_value("z~none").run()
    assert chosen(app) == ["x~none", "z~none"]
    app.selectbox(key="b").set_value(None).run()
    assert chosen(app) == ["x~none", "None"]
    gone = opened(b_at_first=False, b="gone~none")
    assert chosen(gone) == ["x~none", "None"]
    assert len(gone.caption) == 1
    assert opened(NAMES[:1], b_at_first=False).selectbox(key="b").disabled


def runs_compared(runs: list) -> None:
    import streamlit as st

    from blindspot.ui.widgets.two_variants import two_variants

    sides = two_variants(runs)
    st.session_state["compared"] = list(sides.by_letter.values())
    st.session_state["first"] = sides.first(runs)


def test_the_runs_of_the_chosen_variants(tmp_path: Path) -> None:
    repository = Repository.at(tmp_path / "results.duckdb")
    for name, transform in (("one", "none"), ("two", "center"), ("three", "normalize")):
        store_run(repository, name, pair_set(), transform=transform)
    runs = repository.runs()
    app = AppTest.from_function(runs_compared, args=(runs,))
    app.query_params["a"] = str(runs[2].plan.variant)
    app.run()
    assert app.session_state["compared"] == [runs[2], runs[0]]
    assert app.session_state["first"] == [runs[2], runs[0], runs[1]]
