"""Weights that a model's files lack, without files: what transformers reports is made up."""

from __future__ import annotations

import re
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest
from transformers import PreTrainedModel

from blindspot.encoders.transformer.missing import NAMED, missing_refused
from blindspot.errors import InputError
from tests.support.tables import each

LAYERS = [f"encoder.layer.{number}.weight" for number in range(NAMED + 2)]


def refusal(monkeypatch: pytest.MonkeyPatch, lacking: Collection[str], **needs: bool) -> str:
    """The error of loading a model whose files lack these weights; "" for none."""

    def from_pretrained(_: type, name: str, **options: Any) -> Any:
        facts = {"missing_keys": set(lacking), "unexpected_keys": {f"{name}.b", f"{name}.a"}}
        return (SimpleNamespace(), facts) if options.get("output_loading_info") else SimpleNamespace()

    monkeypatch.setattr(PreTrainedModel, "from_pretrained", classmethod(from_pretrained))
    try:
        with missing_refused("dir:model", **{"needs_head": False, "needs_pooler": False} | needs):
            PreTrainedModel.from_pretrained("other")
    except InputError as error:
        return str(error)
    return ""


@each("count", [1, NAMED, NAMED + 1, NAMED + 2])
def test_as_many_as_are_not_named_are_counted(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    error = refusal(monkeypatch, LAYERS[:count])
    assert error.count("encoder.layer.") == min(count, NAMED)
    assert re.findall(r"(\d+) more", error) == [str(count - NAMED)] * (count > NAMED)
    assert ("other.a" in error, "other.b" in error) == (True, False), "one of those that it has instead"


@each(
    ("name", "needs", "is_refused"),
    [
        ("pooler.dense.weight", {}, False),
        ("pooler.dense.weight", {"needs_pooler": True}, True),
        ("lm_head.weight", {}, False),
        ("lm_head.weight", {"needs_head": True}, True),
        ("vision_model.layer.weight", {"needs_head": True}, False),
        ("classifier.weight", {"needs_pooler": True}, False),
    ],
)
def test_what_no_vector_needs_may_be_missing(
    name: str, needs: dict[str, bool], is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (name in refusal(monkeypatch, [name], **needs)) is is_refused
