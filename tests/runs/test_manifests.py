"""Comparison of two runs' manifests."""

from __future__ import annotations

import pytest

from blindspot.runs import manifests
from blindspot.runs.manifests import NOT_THERE, Fact
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from tests.support.store_samples import ENTRY, TIMINGS, pair_set, plan, result

DATASET = pair_set(3)
MANIFEST = {
    "blindspot": "0.1.0",
    "encoder": {"revision": "abc", "libraries": ["torch==2.13.0", "transformers==5.23.0"], "max_length": 256},
    "libraries": ["numpy==2.4.6", "duckdb==2.0.0"],
    "dataset": {"digest": "d", "files": {"a.txt": "sha"}},
    "transform": {"steps": [{"step": "center", "mean_length": 0.5}]},
    "params": {"metric": "cos"},
    "seeds": {},
    "embeddings": {"digest": "e", "encoded_now": 3},
    "support": {"digest": "", "with": [], "own": True},
    "machine": {"system": "Linux", "cores": 2},
    "finished": "2026-11-21T10:00:00+00:00",
}


def stored(repository: Repository, run_id: str, transform: str = "none", **changes: object) -> RunRecord:
    seq = repository.begin(plan(run_id, DATASET, transform))
    repository.finish(seq, ENTRY, DATASET, result(DATASET), TIMINGS, MANIFEST | changes)
    return repository.run(run_id)


def different(first: RunRecord, second: RunRecord) -> list[Fact]:
    return [fact for fact in manifests.compare(first, second) if fact.differs]


def test_equal_manifests_differ_in_nothing(repository: Repository) -> None:
    first, second = stored(repository, "aa"), stored(repository, "bb")
    facts = manifests.compare(first, second)
    assert not [fact for fact in facts if fact.differs]
    named = {(fact.group, fact.name): fact.first for fact in facts}
    assert named["Libraries", "numpy"] == "2.4.6"
    assert named["Encoder", "libraries torch"] == "2.13.0"
    assert named["Data", "files a.txt"] == "sha"
    assert named["Transform", "steps 1 mean_length"] == "0.5"
    assert named["Items ranked", "with"] == NOT_THERE
    assert named["Items ranked", "own"] == "True"


def test_what_differs_is_named_and_what_decides_numbers_is_told_apart(repository: Repository) -> None:
    first = stored(repository, "aa")
    second = stored(
        repository,
        "bb",
        "center",
        libraries=["numpy==2.5.0", "duckdb==2.0.0"],
        seeds={"bootstrap": 7},
        embeddings={"digest": "e", "encoded_now": 0},
        machine={"system": "Darwin", "cores": 2},
        finished="2026-11-22T10:00:00+00:00",
    )
    facts = different(first, second)
    assert [(f.group, f.name, f.first, f.second, f.can_matter) for f in facts] == [
        ("Embeddings", "encoded_now", "3", "0", False),
        ("Transform", "chain", "none", "center", True),
        ("Seeds", "bootstrap", NOT_THERE, "7", True),
        ("Libraries", "numpy", "2.4.6", "2.5.0", True),
        ("Machine", "system", "Linux", "Darwin", False),
        ("When", "", "2026-11-21T10:00:00+00:00", "2026-11-22T10:00:00+00:00", False),
    ]


def test_a_manifest_of_another_version_is_shown_as_it_is(repository: Repository) -> None:
    first = stored(repository, "aa")
    second = stored(repository, "bb", params="as text", something={"new": None})
    assert {(f.group, f.name, f.first, f.second) for f in different(first, second)} == {
        ("Parameters", "metric", "cos", NOT_THERE),
        ("Parameters", "", NOT_THERE, "as text"),
        # "nothing" on one side and no such fact on the other look the same
    }


def test_a_run_without_a_manifest_has_what_identifies_it(repository: Repository) -> None:
    first = stored(repository, "aa")
    repository.begin(plan("bb", DATASET))
    facts = manifests.compare(first, repository.run("bb"))
    assert ("Encoder", "reference", "minilm", "minilm") in {(f.group, f.name, f.first, f.second) for f in facts}


def test_only_vectors_of_a_gpu_are_announced_where_the_cpu_is_asked_for(repository: Repository) -> None:
    machine = {"wanted_device": "cpu"}
    for number, (device, dtype, is_said) in enumerate(
        [
            ("cpu", "float32", False),
            ("server localhost:8000", "as served", False),
            ("cuda:0", "float32", True),
            ("cuda:0 and cpu", "bfloat16", True),
            ("mps", "float16", True),
        ]
    ):
        run = stored(repository, f"run{number}", machine=machine, encoder={"device": device, "dtype": dtype})
        (*notes,) = manifests.device_notes([run])
        assert [device in note for note in notes] == [True] * is_said, device


@pytest.mark.parametrize(("share", "written"), [(0.25, "25.0%"), (0.0004, "0.1%"), (0.0, ""), (None, "")])
def test_what_a_model_does_not_read_is_said_of_every_diagnostic(
    repository: Repository, share: float | None, written: str
) -> None:
    runs = [stored(repository, name, embeddings={"truncated_share": share}) for name in ("aa", "bb")]
    lines = manifests.truncation_warnings(runs)
    assert [written in line and "256" in line and DATASET.id in line for line in lines] == [True] * bool(written)
    assert set(lines) <= set(manifests.notes(runs))
