"""The table of all scores: which runs count, and what their scores are called."""

from __future__ import annotations

import numpy as np
import pytest

from blindspot.encoders.catalog import ENCODERS
from blindspot.errors import InputError
from blindspot.store.repository import Repository
from blindspot.studies.evidence.scores import (
    Downstream,
    Level,
    Measure,
    Outcome,
    ScoreTable,
    family_names,
    family_of,
    score_table,
)
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import Task
from blindspot.variants import Variant
from tests.support.evidence_world import Made, many_models, store
from tests.support.judgment_samples import A, B, intruder_set, votes
from tests.support.tables import each

X, Y = Variant("minilm", "none"), Variant("lsa", "center")


def value(table: ScoreTable, measure_id: str, variant: Variant) -> float:
    measure = table.find(measure_id)
    assert measure is not None, [m.id for m in table.measures]
    return float(table.of(measure)[table.variants.index(variant)])


def test_an_empty_store_gives_an_empty_table(repository: Repository) -> None:
    table = score_table(repository)
    assert table.values.shape == (0, 0)
    assert table.at(Level.SENTENCE).comparable.variants == ()
    assert repository.digest() == ""


def test_scores_of_all_diagnostics_by_their_datasets(repository: Repository) -> None:
    heros = {"synonym": 0.9, "synonym_sd": 0.1, "synonym_low": 0.8, "antonym": 0.7, "antonym_sd": 0.1, "cos_avg": 0.1}
    heros |= {"synonym>antonym": 0.8, "synonym>antonym_low": 0.7, "originals": 9}
    ranks = {"mrr": 0.5, "hits@1": 0.4, "hits@3": 0.6, "hits@10": 0.9}
    shape = {"align": 0.2, "uniform": -2.0, "anisotropy": 0.1, "hubness_cos_sample": 3.0, "hubness_l2_sample": 4.0}
    store(
        repository,
        [
            Made("evalrank", X, "evalrank-sent", ranks),
            Made("similarity", X, "ws353", {"spearman": 0.6, "pearson": 0.7}),
            Made("heros", X, "demo-minimal", heros),
            Made("geometry", X, "evalrank-sent", shape),
            Made("analogy", X, "demo-analogies", {"accuracy": 0.3}),
            Made("categorization", X, "demo-categories", {"purity": 0.4}),
            Made("transfer", X, "trec", {"accuracy": 0.8, "macro_f1": 0.7}),
            Made("transfer", X, "cr", {"accuracy": 0.9}),
        ],
    )
    table = score_table(repository)
    assert [m.id for m in table.evaluators] == [
        *(f"evalrank:evalrank-sent:{name}" for name in ("mrr", "hits@1", "hits@3")),
        *(f"heros:demo-minimal:{name}" for name in ("antonym", "synonym", "synonym>antonym")),
        "similarity:ws353:spearman",
        "analogy:demo-analogies:accuracy",
        "categorization:demo-categories:purity",
        *(f"geometry:evalrank-sent:{name}" for name in ("align", "uniform", "anisotropy", "hubness_cos_sample")),
    ]
    assert [m.id for m in table.tasks] == ["cr", "trec"]  # in the catalog's order
    assert value(table, "heros:demo-minimal:antonym", X) == 0.7
    turned = [m.metric for m in table.evaluators if m.sign < 0]
    assert turned == ["antonym", "align", "uniform", "anisotropy", "hubness_cos_sample"]
    antonym = table.find("heros:demo-minimal:antonym")
    assert antonym is not None
    assert table.better(antonym).tolist() == [-0.7]
    assert antonym.label == "HEROS antonym ↓, Demo minimal pairs"
    words = table.at(Level.WORD)
    assert {m.diagnostic for m in words.evaluators} == {"similarity", "analogy", "categorization"}


def test_which_run_of_a_variant_counts(repository: Repository) -> None:
    """The newest by the usual parameters, over the newest content, on the items of most variants."""

    def run(variant: Variant, mrr: float, **more: object) -> Made:
        return Made("evalrank", variant, "evalrank-sent", {"mrr": mrr}, **more)  # type: ignore[arg-type]

    third = Variant("minilm-cls", "none")
    store(
        repository,
        [
            run(third, 0.1, dataset_digest="as it was"),
            run(X, 0.2),
            run(X, 0.3),
            run(X, 0.4, params={"metric": "l2"}),
            run(X, 0.5, params={"protocol": "toolkit"}),
            run(X, 0.6, params={"fit_on": "stsb-dev"}),
            run(Y, 0.7),
            run(third, 0.8, covered_digest="part"),
        ],
    )
    table = score_table(repository)
    assert table.variants == (X, Y)
    assert value(table, "evalrank:evalrank-sent:mrr", X) == 0.3
    assert value(table, "evalrank:evalrank-sent:mrr", Y) == 0.7


def test_which_score_of_which_classifier_stands_for_a_task(repository: Repository) -> None:
    scores = {"accuracy": 0.8, "macro_f1": 0.7, "accuracy_without_overlap": 0.6, "macro_f1_without_overlap": 0.5}
    store(
        repository,
        [
            Made("transfer", X, "trec", scores),
            Made("transfer", X, "trec", {"accuracy": 0.1}, {"classifier": "mlp"}),
            Made("transfer", X, "trec", {"accuracy": 0.2}, {"seed": "2"}),
            Made("transfer", Y, "trec", {"accuracy": 0.3}),
        ],
    )
    for downstream, expected in (
        (Downstream(), 0.8),
        (Downstream(outcome=Outcome.MACRO_F1), 0.7),
        (Downstream(without_overlap=True), 0.6),
        (Downstream(outcome=Outcome.MACRO_F1, without_overlap=True), 0.5),
        (Downstream("mlp"), 0.1),
    ):
        assert value(score_table(repository, downstream), "trec", X) == expected
    assert score_table(repository, Downstream(outcome=Outcome.MACRO_F1)).variants == (X,)  # Y has none: not 0
    with pytest.raises(InputError, match="logreg"):
        score_table(repository, Downstream("lograg"))


def test_tasks_like_similarity_are_left_out_of_sentences_only(repository: Repository) -> None:
    store(repository, many_models(2))
    table = score_table(repository)
    assert [m.id for m in table.at(Level.SENTENCE).tasks] == ["mr", "cr", "trec"]
    assert [m.id for m in table.at(Level.SENTENCE, like_similarity=True).tasks] == ["mr", "cr", "trec", "mrpc"]
    assert [m.id for m in table.at(Level.WORD).tasks] == ["mr", "cr", "trec", "mrpc"]
    assert [m.dataset for m in table.at(Level.WORD).evaluators] == ["ws353"]


def test_people_count_where_their_votes_may_be_seen(repository: Repository) -> None:
    """A's own intruder is found in one of two votes; what a session hides is left out until it is revealed."""
    judgments = Judgments.at(repository.database.path)
    items = intruder_set()
    own = items.items[1].own[0]
    other = (own + 1) % 4
    judgments.merge(items, votes([("Anna", 1, own), ("Ben", 1, other), ("Cleo", 1, None)]))
    judgments.add_session("hidden", {Task.INTRUDER: items.set_id}, "key")
    judgments.merge(items, votes([("Dora", 2, items.items[2].own[1])], "hidden"))
    before = repository.digest()
    table = score_table(repository)
    assert table.variants == (A,)
    assert value(table, f"intruder:{items.set_id}:precision", A) == 0.5
    assert table.measures[0].unit == "word"
    judgments.reveal("hidden", True)
    assert repository.digest() != before
    assert value(score_table(repository), f"intruder:{items.set_id}:precision", B) == 1.0


def test_the_digest_of_the_store_follows_its_runs(repository: Repository) -> None:
    store(repository, [Made("transfer", X, "trec", {"accuracy": 0.8})])
    before = repository.digest()
    assert repository.digest() == before
    store(repository, [Made("transfer", Y, "trec", {"accuracy": 0.8})])
    after = repository.digest()
    assert after != before
    repository.delete(repository.runs(limit=1)[0])
    assert repository.digest() == before


def table_of(values: list[list[float]], families: str) -> ScoreTable:
    measures = (
        Measure("evalrank", "demo-pairs", "mrr", "EvalRank MRR", 1, "sentence"),
        Measure("geometry", "demo-pairs", "align", "alignment", -1, "sentence"),
        Measure("transfer", "cr", "accuracy", "accuracy", 1, "sentence"),
    )
    variants = tuple(Variant(f"encoder-{i}", "none") for i in range(len(values)))
    return ScoreTable(variants, tuple(families), measures, np.array(values, dtype=np.float64))


def test_parts_of_a_table() -> None:
    nan = float("nan")
    table = table_of([[1, 2, 3], [nan, nan, 4], [5, 6, nan], [7, nan, 8]], "aabb")
    assert [v.encoder for v in table.comparable.variants] == ["encoder-0", "encoder-3"]
    assert table.comparable.family_list == ("a", "b")
    part = table.columns([table.measures[2], table.measures[0]]).rows([False, True, True, True])
    assert [m.id for m in part.measures] == ["cr", "evalrank:demo-pairs:mrr"]
    np.testing.assert_array_equal(part.values, [[4, nan], [nan, 5], [8, 7]])
    assert part.families == ("a", "b", "b")
    assert len({table.digest, part.digest, table.comparable.digest}) == 3
    assert table.digest == table_of([[1, 2, 3], [nan, nan, 4], [5, 6, nan], [7, nan, 8]], "aabb").digest


def test_what_batches_of_another_size_move_is_tied() -> None:
    table = table_of([[0.5, 1, 1], [0.5 + 1e-9, 1 - 1e-9, 2]], "ab")
    assert np.ptp(table.better(table.measures[0])) == 0.0
    assert table.better(table.measures[1]).tolist() == [-1.0, -1.0]


# --- families


def test_every_encoder_of_the_catalog_declares_its_family() -> None:
    families = {entry.id: entry.family for entry in ENCODERS.values()}
    assert {families[i] for i in families if i.startswith("minilm")} == {"sentence-transformers/all-MiniLM-L6-v2"}
    assert {families[i] for i in families if i.startswith("random-projection")} == {"random-projection"}
    assert families["lsa"] == "lsa"
    assert all(families.values())


@each(
    ("reference", "revision", "family"),
    [
        ("minilm-cls", "", "sentence-transformers/all-MiniLM-L6-v2"),
        ("hf:sentence-transformers/all-MiniLM-L6-v2@main?pooling=cls", "abc", "sentence-transformers/all-MiniLM-L6-v2"),
        ("hf:made/model", "", "made/model"),
        ("dir:/models/mine?pooling=cls&max_length=64", "", "dir:/models/mine"),
        ("dir:/models/mine?pooling=cls", "0a1b", "dir:0a1b"),
        ("vectors:/data/glove.txt", "", "vectors:/data/glove.txt"),
        ("table:/data/own.parquet", "77", "table:77"),
        ("gone-from-the-catalog", "", "gone-from-the-catalog"),
        ("hf:what/was/that", "", "hf:what/was/that"),
    ],
)
def test_family(reference: str, revision: str, family: str) -> None:
    assert family_of(reference, revision) == family


def test_copies_of_a_file_are_one_family_and_files_of_one_name_are_two() -> None:
    encoders = ["vectors:/a/glove.txt", "vectors:/b/copy.txt", "vectors:/c/glove.txt", "minilm", "minilm-static"]
    revisions = {encoders[0]: "1111", encoders[1]: "1111", encoders[2]: "2222"}
    names = family_names(encoders, revisions)
    assert names[0] == names[1] == Variant(encoders[0], "none").label
    assert names[2] == f"{names[0]} (2222)"
    assert names[3] == names[4] == "sentence-transformers/all-MiniLM-L6-v2"
