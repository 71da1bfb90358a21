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


def load(monkeypatch: pytest.MonkeyPatch, lacking: Collection[str], **needs: bool) -> None:
    """Load a model whose files lack these weights."""

    def from_pretrained(_: type, **options: Any) -> Any:
        facts = {"missing_keys": set(lacking), "unexpected_keys": {"other.b", "other.a"}}
        return (SimpleNamespace(), facts) if options.get("output_loading_info") else SimpleNamespace()

    monkeypatch.setattr(PreTrainedModel, "from_pretrained", classmethod(from_pretrained))
    with missing_refused("dir:model", **{"needs_head": False, "needs_pooler": False} | needs):
        PreTrainedModel.from_pretrained()


@each("count", [1, NAMED, NAMED + 1, NAMED + 2])
def test_as_many_as_are_not_named_are_counted(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as caught:
        load(monkeypatch, LAYERS[:count])
    assert str(caught.value).count("encoder.layer.") == min(count, NAMED)
    assert re.findall(r"(\d+) more", str(caught.value)) == [str(count - NAMED)] * (count > NAMED)
    assert "other.a" in str(caught.value)
    assert "other.b" not in str(caught.value)


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
    try:
        load(monkeypatch, [name], **needs)
    except InputError as error:
        assert is_refused
        assert name in str(error)
    else:
        assert not is_refused
