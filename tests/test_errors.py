"""Errors: one line that says what was wrong, what was expected and what to do; the exit code of each kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from blindspot import errors
from blindspot.errors import (
    BlindspotError,
    Cancelled,
    InputError,
    LibraryMissing,
    install,
    library_missing,
    naming_extras,
    reinstall,
    require,
    unknown,
)
from tests.support.tables import each


def test_the_three_parts_stand_on_one_line() -> None:
    error = InputError("BLINDSPOT_DEVICE is 'gpu'", expected="cpu or cuda", remedy="unset it")
    assert str(error) == "BLINDSPOT_DEVICE is 'gpu'; expected cpu or cuda; unset it"
    assert error.args == (str(error),)


def test_parts_that_are_empty_leave_no_trace() -> None:
    assert str(BlindspotError("the disk is full")) == "the disk is full"
    assert str(BlindspotError("the disk is full", remedy="free some space")) == "the disk is full; free some space"


@given(st.text(), st.text(), st.text())
def test_no_text_breaks_the_line(what: str, expected: str, remedy: str) -> None:
    message = str(BlindspotError(what, expected=expected, remedy=remedy))
    assert len(message.splitlines()) <= 1
    assert "\t" not in message


def test_exit_codes() -> None:
    """2 where the input was wrong, 1 where the world was; every kind of error says which."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BlindspotError)]
    assert len(kinds) >= 6
    assert {kind.__name__ for kind in kinds if kind.exit_code == 2} == {"InputError"}
    assert {kind.exit_code for kind in kinds} == {1, 2}


def test_cancelled_says_that_nothing_is_lost() -> None:
    assert "run it again" in str(Cancelled())


@each(
    ("value", "suggestion"),
    [
        ("evalrnak", "evalrank"),  # neighbors swapped
        ("evalrnk", "evalrank"),
        ("evalrankk", "evalrank"),
        ("hreos", "heros"),
        ("Heros", "heros"),
    ],
)
def test_the_nearest_id_is_suggested(value: str, suggestion: str) -> None:
    error = unknown("diagnostic", value, ["heros", "evalrank", "similarity"])
    assert isinstance(error, InputError)
    assert str(error) == (
        f"unknown diagnostic '{value}'; expected one of evalrank, heros, similarity; did you mean '{suggestion}'?"
    )


@each("value", ["", "xyz", "something else entirely"])
def test_nothing_is_suggested_where_nothing_is_near(value: str) -> None:
    assert "did you mean" not in str(unknown("diagnostic", value, ["evalrank", "heros"]))


def test_known_ids_may_be_any_iterable() -> None:
    assert "expected one of a, b" in str(unknown("letter", "q", iter(["b", "a"])))
    assert "expected one of a, b" in str(unknown("letter", "q", {"b": 1, "a": 2}))


def test_of_many_names_the_nearest_are_listed_and_how_to_list_all() -> None:
    names = [f"{letter}-{number}" for letter in "abc" for number in range(10)]
    error = unknown("thing", "b-77", names, ["mine"], "blindspot things")
    assert "one of 31" in error.expected
    assert {"mine", "b-7"} <= set(error.expected.replace(",", "").split())
    assert len(error.expected) < 80
    assert "'b-7'" in error.remedy
    assert error.remedy.endswith("blindspot things")
    assert error.remedy.endswith(unknown("thing", "zzzzzzzz", names, every="blindspot things").remedy)


# --- libraries of extras


def test_a_library_that_is_missing_is_named_with_its_extra() -> None:
    with pytest.raises(LibraryMissing) as caught, naming_extras("minilm"):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")
    assert (caught.value.library, caught.value.extra, caught.value.exit_code) == ("torch", "encoders", 1)
    assert str(caught.value) == f"minilm needs torch, which is not installed; install it with: {install('encoders')}"
    assert isinstance(caught.value.__cause__, ImportError)


@each(
    "error",
    [
        ModuleNotFoundError("No module named 'of_a_user'", name="of_a_user"),
        ModuleNotFoundError("No module named 'torch._C'", name="torch._C"),  # half of torch is there
        ImportError("cannot import name 'Tensor' from 'torch'", name="torch"),
        ModuleNotFoundError("bare"),
    ],
)
def test_other_import_errors_stay_as_they_are(error: ImportError) -> None:
    assert library_missing(error) is None
    with pytest.raises(ImportError) as caught, naming_extras():
        raise error
    assert caught.value is error


def test_a_library_is_looked_for_without_importing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    require("torch")
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(LibraryMissing, match="a map needs umap"):
        require("umap", "a map")


def test_what_to_install_in_a_checkout_and_in_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [install(extra) for extra in ("app", "backends", "cluster")] == [
        "pip install -r requirements.txt",
        "pip install -r requirements-backends.txt",
        "pip install -r requirements-cluster.txt",
    ]


@each(
    ("noted", "source"),
    [
        (None, ""),
        ({"url": "file:///tmp/encoder_blindspot-1-py3-none-any.whl", "archive_info": {}}, " @ {url}"),
        ({"url": "https://example.org/w.whl", "archive_info": {"hash": "sha256=12"}}, " @ {url}"),
        ({"url": "file:///home/me/a%20folder", "dir_info": {"editable": True}}, " @ {url}"),
        (
            {"url": "https://example.org/r.git", "vcs_info": {"vcs": "git", "commit_id": "12ab"}},
            " @ git+{url}@12ab",
        ),
    ],
)
def test_a_remedy_names_what_it_was_installed_from(
    noted: dict[str, Any] | None, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And never "blindspot", which is another project's."""
    described = tmp_path / "encoder_blindspot-9.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.4\nName: encoder-blindspot\nVersion: 9\n", "utf-8")
    if noted:
        (described / "direct_url.json").write_text(json.dumps(noted), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(errors, "is_pinned", lambda: False)
    wanted = source.format(**(noted or {}))
    assert install("app") == f'pip install "encoder-blindspot[app]{wanted}"'
    assert reinstall(errors.DISTRIBUTION) == f'pip install --force-reinstall "encoder-blindspot{wanted}"'
    assert reinstall("torch") == "pip install --force-reinstall torch"
    assert str(Requirement(f"encoder-blindspot[app]{wanted}"))
