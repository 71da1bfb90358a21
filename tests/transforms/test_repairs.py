"""Repairs as steps of chains: maps by a loop, ids, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.base import EncoderIdentity
from blindspot.errors import BlindspotError, DataCorrupt, InputError
from blindspot.settings import Settings
from blindspot.transforms import repairs
from blindspot.transforms.chain import STEPS, TransformChain
from blindspot.transforms.repairs import Repair, RepairOfAll, RepairOfQueries
from blindspot.transforms.steps import LinearStep
from blindspot.transforms.trained_flows import StoredFlows
from blindspot.types import Float32
from tests.support.tables import each


def drawn(seed: int, *shape: int) -> Float32:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.fixture
def flows(settings: Settings) -> StoredFlows:
    return StoredFlows(settings.flows)


@pytest.mark.parametrize("kind", [RepairOfAll, RepairOfQueries])
def test_a_kept_repair_is_applied_as_a_loop_says(kind: type[Repair], settings: Settings, flows: StoredFlows) -> None:
    made = kind(drawn(0, 5, 5), "model", "data")
    repairs.keep(made, settings.repairs)
    vectors = drawn(1, 7, 5)
    mapped = [
        [sum(float(x[i]) * float(made.matrix[i, j]) for i in range(5)) for j in range(5)] for x in vectors.tolist()
    ]
    fitted = TransformChain.parse(made.chain).fit(vectors, flows)
    assert fitted.chain.is_one_sided is (kind is RepairOfQueries)
    np.testing.assert_allclose(fitted.apply_to_queries(vectors), mapped, rtol=1e-5)
    documents = mapped if kind is RepairOfAll else vectors
    np.testing.assert_allclose(fitted.apply(vectors), documents, rtol=1e-5)
    assert fitted.record()["steps"][0]["trained_on"] == "data"


def test_parts_add_up_under_a_map_of_all_texts() -> None:
    made, parts = RepairOfAll(drawn(0, 4, 4), "m", "d"), drawn(1, 3, 4).astype(np.float64)
    assert isinstance(made, LinearStep)
    assert not isinstance(RepairOfQueries(made.matrix, "m", "d"), LinearStep)
    whole = made.apply(parts.sum(axis=0, keepdims=True).astype(np.float32))[0]
    np.testing.assert_allclose(made.of_parts(parts, np.full(3, 1 / 3)).sum(axis=0), whole, rtol=1e-5)


def test_an_id_is_of_the_content() -> None:
    matrix = drawn(0, 3, 3)
    first = RepairOfAll(matrix, "model", "data")
    other = matrix.copy()
    other[0, 0] = np.nextafter(other[0, 0], np.float32(9))
    ids = [
        first.repair_id,
        RepairOfAll(other, "model", "data").repair_id,
        RepairOfAll(matrix, "another", "data").repair_id,
        RepairOfAll(matrix, "model", "others").repair_id,
        RepairOfQueries(matrix, "model", "data").repair_id,
    ]
    assert len(set(ids)) == len(ids)
    assert first.repair_id == RepairOfAll(matrix.copy(), "model", "data").repair_id
    assert str(TransformChain.parse(f"{first.chain}+center")) == f"repair:{first.repair_id}+center"
    assert not TransformChain.parse(first.chain).learns


def test_the_model_is_its_weights_and_not_its_name() -> None:
    one = EncoderIdentity(reference="a", revision="r", pooling="mean", libraries=("torch==1",))
    same = EncoderIdentity(reference="b", revision="r", pooling="mean", libraries=("torch==2",))
    other = EncoderIdentity(reference="a", revision="r", pooling="cls", libraries=("torch==1",))
    assert repairs.model_digest(one) == repairs.model_digest(same) != repairs.model_digest(other)


@each("text", ["repair", "repair:", "repair:2", "repair:../../x", "repair:0123456789AB", "repair:" + "0" * 13])
def test_only_ids_name_repairs(text: str) -> None:
    with pytest.raises(InputError, match=r"'repair(-queries)?' was given"):
        TransformChain.parse(text)
    with pytest.raises(InputError, match=r"'repair(-queries)?' was given"):
        TransformChain.parse(text.replace("repair", "repair-queries", 1))


def test_a_repair_comes_first() -> None:
    with pytest.raises(InputError, match="first step"):
        TransformChain.parse("center+repair:0123456789ab")
    assert str(TransformChain.parse("none+repair:0123456789ab+center")) == "repair:0123456789ab+center"
    assert {name for name, step in STEPS.items() if step.is_kept} == set(repairs.KINDS)


def test_what_cannot_be_applied_is_said_in_one_line(settings: Settings, flows: StoredFlows, tmp_path: Path) -> None:
    made = RepairOfAll(drawn(0, 5, 5), "model", "data")
    vectors = drawn(1, 7, 5)
    with pytest.raises(BlindspotError, match="not on this machine"):
        TransformChain.parse(made.chain).fit(vectors, flows)
    with pytest.raises(BlindspotError, match="cannot be fitted here"):
        TransformChain.parse(made.chain).fit(vectors)
    repairs.keep(made, settings.repairs)
    with pytest.raises(InputError, match="5 dimensions, and these have 6"):
        TransformChain.parse(made.chain).fit(drawn(1, 7, 6), flows)
    with pytest.raises(InputError, match="was used as 'repair-queries'"):
        TransformChain.parse(f"repair-queries:{made.repair_id}").fit(vectors, flows)
    (file,) = settings.repairs.glob("*.npz")
    file.write_bytes(b"no archive")
    with pytest.raises(DataCorrupt, match="repair"):
        TransformChain.parse(made.chain).fit(vectors, flows)
    repairs.forget(made, settings.repairs)
    assert repairs.find(settings.repairs, made.repair_id) is None
