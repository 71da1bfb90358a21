"""Findings among models and those of no single diagnostic: present where they are planted, absent elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.transformer.word_pieces import bert_uncased
from blindspot.numerics.statistics.compare import PairedTest, decide
from blindspot.numerics.statistics.intervals import Interval
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.findings import among
from blindspot.studies.findings.general import cut_off
from blindspot.studies.findings.wording import findings
from blindspot.variants import Variant
from tests.support.finding_runs import run_record
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

ENTRY = find_diagnostic("evalrank")
Scores = dict[str, float]


def found_of(
    monkeypatch: pytest.MonkeyPatch, scores: Scores, p_values: dict[frozenset[str], float | None], width: float = 0.1
) -> list:
    """The findings among runs with these scores, whose pairs have these p-values, 0.001 where none is given."""

    def tested(entry: object, pairs: Sequence[tuple[RunRecord, RunRecord]], repository: object) -> list[PairedTest]:
        out = []
        for first, second in pairs:
            a, b = first.metrics["mrr"], second.metrics["mrr"]
            p = p_values.get(frozenset({str(first.plan.variant), str(second.plan.variant)}), 0.001)
            ends, why = Interval(a - b - width, a - b + width), "" if p is not None else "too few"
            test = PairedTest("mrr", "MRR", True, (0, 1), a, b, 40, "groups", "flips", ends, p, why)
            out += decide([test])
        return out

    monkeypatch.setattr(among, "headline_tests", tested)
    runs = [run_record("evalrank", variant, metrics={"mrr": score}) for variant, score in scores.items()]
    return findings(among.evidence(ENTRY, runs, Repository.at(None)))  # type: ignore[arg-type]


def test_those_without_a_significant_difference_from_the_best_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = {"minilm": 0.6, "lsa": 0.7, "minilm-static": 0.69, "minilm-cls": 0.2}
    (one,) = found_of(monkeypatch, scores, {frozenset({"lsa~none", "minilm-static~none"}): 0.4})
    assert one.kind == "not-told-apart"
    assert [v.encoder for v in one.variants] == ["lsa", "minilm-static"]
    assert one.severity == pytest.approx(1 / 3)
    assert one.p is None
    assert one.test == "flips over 40 groups"
    assert "0.700" in one.said()
    assert "0.690" in one.said()


def test_no_difference_beside_an_interval_without_0_has_its_p(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = {frozenset({"lsa~none", "minilm~none"}): 0.4}
    (one,) = found_of(monkeypatch, {"lsa": 0.7, "minilm": 0.69}, apart, width=0.005)
    assert one.test.startswith("flips over 40 groups, p = 0.4 ")


def test_other_models_do_not_change_who_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = {"lsa": 0.7, "minilm": 0.6, "minilm-static": 0.5, "minilm-cls": 0.4}
    near = {frozenset({"lsa~none", f"{other}~none"}): 0.02 for other in ("minilm", "minilm-static", "minilm-cls")}
    assert found_of(monkeypatch, scores, near) == []
    assert found_of(monkeypatch, {"lsa": 0.7, "minilm": 0.6}, near) == []


def test_where_all_differ_or_nothing_was_tested_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_of(monkeypatch, {"lsa": 0.7, "minilm": 0.6}, {}) == []
    assert found_of(monkeypatch, {"lsa": 0.7, "minilm": 0.6}, {frozenset({"lsa~none", "minilm~none"}): None}) == []
    assert found_of(monkeypatch, {"lsa": 0.7}, {}) == []


@pytest.mark.parametrize(
    ("after", "p_after", "p"),
    [((0.5, 0.8), 0.01, 0.01), ((0.5, 0.8), 0.6, 0.6), ((0.9, 0.8), 0.001, 1.0)],
    ids=["turned", "not surely", "not turned"],
)
def test_an_order_is_turned_where_both_differences_are_sure(
    monkeypatch: pytest.MonkeyPatch, after: tuple[float, float], p_after: float, p: float
) -> None:
    """p is the larger of both where the signs differ, otherwise 1."""
    scores = {"lsa": 0.7, "minilm": 0.6, "lsa~center": after[0], "minilm~center": after[1]}
    found = found_of(monkeypatch, scores, {frozenset({"lsa~center", "minilm~center"}): p_after})
    (one,) = (finding for finding in found if finding.kind == "order-turned-by-center")
    assert one.p == p
    assert {v.encoder for v in one.variants} == {"lsa", "minilm"}
    assert (one.severity > 0) == (after[0] < after[1])


def test_of_every_post_processing_the_surest_reversal_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that has it may be compared with one that lacks it; p is corrected for the pairs of models."""
    scores = {"lsa": 0.7, "minilm": 0.6, "minilm-cls": 0.3, "minilm-cls~center": 0.9}
    unsure = {frozenset({"minilm~none", "minilm-cls~center"}): 0.004}
    found = found_of(monkeypatch, scores, unsure)
    (one,) = (finding for finding in found if finding.kind == "order-turned-by-center")
    assert [str(variant) for variant in one.variants] == ["lsa~none", "minilm-cls~none", "minilm-cls~center"]
    assert one.p == 2 * 0.001
    assert one.said().startswith("center of minilm-cls alone reverses the order of lsa and minilm-cls: MRR 0.700 and")


def test_scores_that_describe_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(among, "headline_tests", lambda *_: pytest.fail("tested"))
    runs = [run_record("geometry", variant, metrics={"align": 0.1}) for variant in ("lsa", "minilm")]
    assert among.evidence(find_diagnostic("geometry"), runs, Repository.at(None)) == []  # type: ignore[arg-type]


# --- texts cut off


@pytest.fixture(scope="module")
def stored(module_world: World) -> World:
    module_world.add(GramEncoder(), SMALL_PAIRS)
    module_world.run("evalrank", "trigrams", "small-pairs")
    return module_world


def reading(stored: World, most: int, share: float | None, encoder: str = "minilm") -> RunRecord:
    """A run of an encoder that reads ``most`` tokens, two of them its own."""
    run = stored.run("evalrank", "trigrams", "small-pairs")
    manifest = {"embeddings": {"truncated_share": share}, "encoder": {"max_length": most, "prompt": ""}}
    return replace(run, plan=replace(run.plan, variant=Variant(encoder, "none")), manifest=manifest)


def test_texts_that_are_cut_off_are_shown_from_where_they_are(stored: World) -> None:
    most = 9
    lost = {
        text: len(ids) + 2 - most for text, ids in zip(SMALL_PAIRS.items, bert_uncased(SMALL_PAIRS.items), strict=True)
    }
    cut = {text: n for text, n in lost.items() if n > 0}
    share = len(cut) / len(SMALL_PAIRS.items)
    (one,) = findings(cut_off([reading(stored, most, share)], stored.repository, stored.settings))
    assert one.severity == share
    assert f"{len(cut)} of {len(SMALL_PAIRS.items)}" in one.said()
    assert 0 < len(one.examples) <= 3
    assert [cut[example.texts[0][1]] for example in one.examples] == sorted(cut.values(), reverse=True)[:3]
    for example in one.examples:
        ((_, text),), (((start, end),),) = example.texts, example.marked
        assert end == len(text)
        assert len(bert_uncased([text[:start]])[0]) == most - 2, "what is read are the first tokens"


def test_where_nothing_is_cut_off_or_known_nothing_is_found(stored: World) -> None:
    for run in (reading(stored, 256, 0.0), reading(stored, 256, None)):
        assert cut_off([run], stored.repository, stored.settings) == []


def test_without_its_tokenizer_a_fact_has_no_examples(stored: World) -> None:
    for encoder in ("trigrams", "dir:/gone"):
        (one,) = cut_off([reading(stored, 9, 0.5, encoder)], stored.repository, stored.settings)
        assert one.examples == ()
