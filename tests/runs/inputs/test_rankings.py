"""Runs of rankings without vectors: keyword search, run files and fusions, from the request to the store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.user_data import rankings
from blindspot.diagnostic import all_diagnostics
from blindspot.diagnostics.retrieval.definition import ENTRY, column_of
from blindspot.diagnostics.retrieval.exports import trec_run
from blindspot.diagnostics.retrieval.outcomes import Side, lost, query_table
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import canonical_encoder, resolve_encoder
from blindspot.errors import InputError
from blindspot.names import name_of_model
from blindspot.numerics.ranking.graded import NAMES
from blindspot.policy import check_encoder
from blindspot.references import FusionRef, ModelRef
from blindspot.runs import encoders_here, estimates, pipeline, requesting, sweeps
from blindspot.runs.comparison import compare_runs
from blindspot.runs.manifests import ranking_notes
from blindspot.settings import Mode
from blindspot.store.records import RunRecord
from blindspot.transforms.chain import TransformChain
from blindspot.variants import Variant
from tests.support import retrieval_world as toy
from tests.support.small_world import GramEncoder
from tests.support.tables import each
from tests.support.world import World, small_world

BOTH = "fuse:letters+trigrams%7Ecenter"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with small_world(tmp_path_factory.mktemp("world")) as world:
        yield world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1), toy.dataset())


def run_file(folder: Path, world: World, record: RunRecord) -> Path:
    """A stored run as TREC's, read by nobody yet."""
    path = folder / "engine.run"
    path.write_text(trec_run(query_table(ENTRY, [record.run_id], world.repository), Side(record.run_id), "engine"))
    return path


def test_keyword_search_as_a_model_is_the_one_beside_every_run(made: World) -> None:
    model, run = (made.run(ENTRY.id, name, toy.NAME) for name in ("trigrams", "bm25"))
    assert {name: run.metrics[name] for name in NAMES} == {name: model.metrics[f"bm25.{name}"] for name in NAMES}
    table = query_table(ENTRY, [run.run_id, model.run_id], made.repository)
    for name in NAMES:
        assert (table.rows[run.run_id][column_of(name)] == table.rows[model.run_id][column_of(f"bm25.{name}")]).all()
    for row in range(len(table)):
        listed = table.top(Side(run.run_id), row), table.top(Side(model.run_id, is_bm25=True), row)
        assert [document for document, _ in listed[0]] == [document for document, _ in listed[1]]


@pytest.mark.parametrize("ties", ["expected", "trec_eval"])
def test_a_fusion_is_that_of_a_loop_over_both_models(made: World, ties: str) -> None:
    data = toy.dataset()
    run = made.run(ENTRY.id, BOTH, toy.NAME, ties=ties)
    tops = query_table(ENTRY, [run.run_id], made.repository)
    lines = []
    for name, chain in (("trigrams", "center"), ("letters", "none")):
        encoder = resolve_encoder(name, made.settings)
        found = EmbeddingCache(made.settings.embeddings).read(encoder.identity.embedding_digest(data.texts_digest))
        assert found is not None
        vectors = TransformChain.parse(chain).fit(found.matrix).apply(found.matrix).astype(np.float64)
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
        lines.append(np.round(unit[data.queries] @ unit[data.documents].T, 6))
    for row, query in enumerate(tops.numbers.tolist()):
        expected = dict.fromkeys(data.document_ids, 0.0)
        for scores in lines:
            for d, score in enumerate(scores[query]):
                tied = [data.document_ids[e] for e in np.flatnonzero(scores[query] == score)]
                above = (scores[query] > score).sum()
                if ties == "trec_eval":
                    above += sum(other > data.document_ids[d] for other in tied)
                    tied = tied[:1]
                expected[data.document_ids[d]] += 1 / (60 + above + (1 + len(tied)) / 2)
        found_top = tops.top(Side(run.run_id), row)
        assert dict(found_top) == pytest.approx({d: expected[d] for d, _ in found_top}, abs=1e-12)
        assert [score for _, score in found_top] == sorted(expected.values(), reverse=True)[:100]


def test_what_a_run_exports_is_read_back_with_the_same_score(made: World, tmp_path: Path) -> None:
    for name in ("trigrams", BOTH, "fuse:trigrams+bm25"):
        first = made.run(ENTRY.id, name, toy.NAME)
        again = made.run(ENTRY.id, f"run:{run_file(tmp_path, made, first)}", toy.NAME)
        assert again.metrics["ndcg@10"] == pytest.approx(first.metrics["ndcg@10"], abs=1e-4)
        assert again.metrics["ignored"] == again.metrics["unranked"] == 0


def test_a_file_is_known_by_its_content(made: World, tmp_path: Path) -> None:
    path = run_file(tmp_path, made, made.run(ENTRY.id, "letters", toy.NAME))
    first = made.run(ENTRY.id, f"run:{path}", toy.NAME)
    path.write_bytes(path.read_bytes())
    assert made.run(ENTRY.id, f"run:{path}", toy.NAME).run_id == first.run_id
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]) + "q99 Q0 d0 1 2 engine\n")
    changed = made.run(ENTRY.id, f"run:{path}", toy.NAME)
    assert changed.run_id != first.run_id
    assert changed.metrics["ignored"] == 1
    assert changed.metrics["unranked"] > 0
    assert changed.manifest["ranking"]["ignored"] == 1
    (note,) = ranking_notes([changed, first])
    assert f"{changed.metrics['unranked']:.0f} of 15" in note
    table = query_table(ENTRY, [first.run_id, changed.run_id], made.repository)
    assert lost(table, Side(first.run_id), Side(changed.run_id)).losing > 0
    (test, *_) = compare_runs(first, changed, made.repository).tests
    assert test.wins + test.losses + test.alike == 15


def test_condensed_lists_of_rankings_keep_what_is_not_retrieved_out(made: World, tmp_path: Path) -> None:
    path = tmp_path / "one.run"
    data = toy.dataset()
    relevant = [int(d) for d, grade in zip(*data.judgments_of(0), strict=True) if grade >= 1]
    unjudged = next(d for d in range(len(data.documents)) if d not in data.judgments_of(0)[0])
    path.write_text(f"q0 Q0 {data.document_ids[unjudged]} 1 9 x\nq0 Q0 {data.document_ids[relevant[0]]} 2 1 x\n")
    whole, some = (made.run(ENTRY.id, f"run:{path}", toy.NAME, judged=judged) for judged in ("all", "condensed"))
    assert whole.metrics["mrr"] == pytest.approx(1 / 2 / 15)
    assert some.metrics["mrr"] == pytest.approx(1 / 15)
    assert some.metrics["recall@100"] == whole.metrics["recall@100"] == pytest.approx(1 / len(relevant) / 15)


@pytest.mark.parametrize("model", ["bm25", "fuse:minilm+bm25"])
def test_other_diagnostics_refuse_a_ranking_in_one_line(made: World, model: str) -> None:
    datasets = {"evalrank": "demo-pairs", "heros": "demo-minimal"}
    for entry in all_diagnostics().values():
        if entry.id not in datasets:
            continue
        with pytest.raises(InputError, match="retrieval") as caught:
            made.request(entry.id, model, datasets[entry.id])
        assert "\n" not in str(caught.value)
    assert [entry.id for entry in all_diagnostics().values() if entry.takes_rankings] == [ENTRY.id]


def test_a_ranking_has_no_vectors(made: World) -> None:
    with pytest.raises(InputError, match="vectors"):
        resolve_encoder("bm25", made.settings)
    with pytest.raises(InputError, match="center"):
        made.request(ENTRY.id, "bm25~center", toy.NAME)
    with pytest.raises(InputError, match="there is no file"):
        made.request(ENTRY.id, "run:/no/such.run", toy.NAME)


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("fuse:bm25+trigrams", "fuse:trigrams+bm25"),
        ("fuse:trigrams~none+bm25", "fuse:trigrams+bm25"),
        ("fuse:trigrams~center%2Bpcr+letters", "fuse:letters+trigrams%7Ecenter%2Bpcr:1"),
        ("fuse:run:/a b/c%2Bd.run+bm25", "fuse:bm25+run:/a b/c%2Bd.run"),
    ],
)
def test_a_fusion_has_one_spelling(made: World, given: str, canonical: str) -> None:
    assert made.repository
    assert canonical_encoder(given) == canonical_encoder(canonical) == canonical
    model = ModelRef.parse(canonical)
    assert isinstance(model, FusionRef)
    assert len(model.parts) == len(model.models) == 2
    assert name_of_model(canonical)


@each(
    "wrong",
    ["fuse:", "fuse:bm25", "fuse:bm25+", "fuse:a+b+c", "fuse:bm25+bm25", "fuse:bm25~center+minilm", "fuse:no+bm25",
     "fuse:fuse%3Aminilm%2Bbm25+lsa", "fuse:minilm~no+bm25", "run:", "bm26"],
)  # fmt: skip
def test_a_wrong_reference_is_one_line(wrong: str) -> None:
    with pytest.raises(InputError) as caught:
        canonical_encoder(wrong)
    assert "\n" not in str(caught.value)


def test_a_demo_allows_what_is_of_the_catalog(made: World) -> None:
    demo = replace(made.settings, mode=Mode.DEMO)
    for allowed in ("bm25", "fuse:minilm+bm25", "fuse:minilm~center+lsa"):
        check_encoder(allowed, demo)
    for refused in ("run:/a.run", "fuse:run:/a.run+bm25", "fuse:dir:/a+bm25", "fuse:minilm~truncate:9999+bm25"):
        with pytest.raises(InputError, match="demo"):
            check_encoder(refused, demo)
    assert "bm25" in encoders_here.known_references(demo, made.repository)


def test_a_sweep_leaves_rankings_out_where_they_cannot_run(made: World) -> None:
    asked = sweeps.Sweep(
        ("trigrams", "bm25"), ("none", "center"), (toy.NAME, "demo-pairs"), ("retrieval", "evalrank"), {}
    )
    requests = sweeps.expand(asked, made.settings).requests
    assert [(r.diagnostic, r.variant.transform) for r in requests if r.variant.encoder == "bm25"] == [
        ("retrieval", "none")
    ]
    assert len(requests) == 5
    with pytest.raises(InputError, match="retrieval"):
        sweeps.expand(replace(asked, diagnostics=("evalrank",)), made.settings)
    cost = estimates.estimate(requests, made.settings, made.repository)
    assert len(cost.runs) == len(requests)


def test_models_lists_rankings(made: World, tmp_path: Path) -> None:
    path = run_file(tmp_path, made, made.run(ENTRY.id, "letters", toy.NAME))
    checked = encoders_here.add(f"run:{path}", made.settings, made.repository)
    made.run(ENTRY.id, BOTH, toy.NAME)
    library = encoders_here.read_library(made.settings, made.repository)
    kinds = {one.reference: one.kind for one in library.encoders}
    assert (kinds["bm25"], kinds[checked.reference], kinds[BOTH]) == (encoders_here.CATALOG, "run", "fuse")
    uploaded = encoders_here.add_upload([("mine.run", path.read_bytes())], made.settings, made.repository)
    assert made.run(ENTRY.id, uploaded.reference, toy.NAME).metrics["ignored"] == 0
    with pytest.raises(InputError, match="line 1"):
        encoders_here.add_upload([("bad.run", b"one two\n")], made.settings, made.repository)


def test_a_ranking_is_computed_again_to_the_same(made: World) -> None:
    for name in ("bm25", BOTH):
        request = made.request(ENTRY.id, name, toy.NAME)
        record = pipeline.run(request, made.settings, made.repository).record
        assert pipeline.find(request, made.settings, made.repository) == record
        assert not pipeline.run(request, made.settings, made.repository, again=True).changed
        assert requesting.request_of(record, made.settings) == request
        assert json.dumps(dict(record.manifest))


def test_a_fusion_with_transforms_is_named_like_any_model() -> None:
    for text in ("fuse:minilm~center+bm25", "fuse:minilm~center+bm25~none"):
        assert Variant.parse(text) == Variant("fuse:minilm~center+bm25", "none")
    whole = Variant(canonical_encoder("fuse:minilm~center+bm25"), "none")
    assert Variant.parse(str(whole)) == whole


@pytest.mark.parametrize("model", ["bm25", "fuse:trigrams+bm25"])
def test_rankings_are_compared_on_what_word_vectors_cover(made: World, tmp_path: Path, model: str) -> None:
    words = sorted({word for text in toy.dataset().items[: len(toy.dataset().items) // 2] for word in text.split()})
    path = tmp_path / "words.txt"
    path.write_text("".join(f"{word} {i % 7} {i % 5} 1\n" for i, word in enumerate(words[::2])))
    partial = canonical_encoder(f"vectors:{path}")
    made_by = [
        requesting.request(ENTRY.id, name, "none", toy.NAME, {}, made.settings, (partial,)) for name in (partial, model)
    ]
    runs = [pipeline.run(request, made.settings, made.repository).record for request in made_by]
    assert runs[0].coverage["items_covered"] <= runs[0].coverage["items"]
    assert runs[0].plan.covered_digest == runs[1].plan.covered_digest
    assert len(query_table(ENTRY, [run.run_id for run in runs], made.repository)) == runs[1].metrics["queries"]


def test_ids_of_a_file_that_fit_nothing_are_refused(made: World, tmp_path: Path) -> None:
    path = tmp_path / "strange.run"
    path.write_text("q0 Q0 d0 1 2 x\nq0 Q0 nope 2 1 x\nq1 Q0 nada 2 1 x\n")
    with pytest.raises(InputError, match=r"line 2: .*'nope', nor 1 other"):
        rankings.read(path, toy.dataset())
    assert made.repository
