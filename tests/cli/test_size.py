"""Command ``size``: the grid as a table and as JSON, and one line for whatever is wrong."""

from __future__ import annotations

import pytest

from blindspot.datasets.catalog import limits_of
from tests.support.commands import Command

SMALL = ("size", "--encoder", "random-projection", "--data", "demo-pairs")
R = ("+rescore:5", "+rescore:2000")


@pytest.mark.heavy
def test_a_grid_as_a_table_and_as_json(blindspot: Command) -> None:
    found = blindspot.json(*SMALL, "--dims", "16, 8", "--precisions", "float32,binary")
    chains = ["none", "truncate:16", "truncate:16+binary", "truncate:8", "truncate:8+binary"]
    assert [one["transform"] for one in found["settings"]] == chains
    assert [one["bytes"] for one in found["settings"]][1:] == [64, 2, 32, 1]
    assert found["settings"][0]["loses_at_most"] == 0
    assert found["machine"] is None
    assert not any(one["rescored"] for one in found["settings"])
    again = blindspot.json(*SMALL, "--dims", "8", "--precisions", "binary", "--rescore", "5,2000")["settings"]
    assert [one["transform"] for one in again] == ["none", *(f"truncate:8+binary{m}" for m in ("", *R))]
    assert [(one["bytes"], one["bytes_besides"]) for one in again[1:]] == [(1, 0), (1, 32), (1, 32)]
    floats = next(one for one in found["settings"] if one["transform"] == "truncate:8")
    assert again[3]["value"] == pytest.approx(floats["value"])  # all are compared again
    said = blindspot.out(*SMALL, "--dims", "16,8", "--precisions", "float32,binary", "--max-drop", "1")
    assert found["answer"][0] in " ".join(said.split())
    assert limits_of(["demo-pairs"])[0] in " ".join(said.split())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--dims", "many"), "'many'"),
        (("--dims", ""), "at least one"),
        (("--rescore", "some"), "'some' is no number of texts"),
        (("--dims", "99999"), "fewer than all"),
        (("--precisions", "int4"), "unknown precision 'int4'"),
        (("--precisions", "int8-docs", "--diagnostic", "geometry"), "not made of items"),
        (("--encoder", "lsa~center"), "has a transform"),
    ],
)
def test_what_is_wrong_is_one_line(blindspot: Command, more: tuple[str, ...], said: str) -> None:
    found = blindspot(*SMALL, *more)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1
