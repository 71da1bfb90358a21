"""The diagnostic ``frequency`` through the pipeline, on the words that have vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.published import vocabularies
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.frequency import classes as frequency_classes
from blindspot.diagnostics.frequency import corpus_ranks, definition
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import CancelToken, Float32
from tests.support.commands import Command
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

ENTRY = find_diagnostic("frequency")
WORDSIM = "tiger cat book paper computer keyboard internet plane car train telephone media radio bread butter".split()
N = 700
pytestmark = pytest.mark.usefixtures("few_thresholds")


@dataclass
class Counting(GramEncoder):
    """The first number of a word's vector is the logarithm of its count."""

    reference: str = "counting"
    counts: dict[str, float] = field(default_factory=dict)

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        out = super().encode(texts, cancel)
        out[:, 0] = 2 * (np.log([self.counts.get(text, 1.0) for text in texts]) - 8.3)
        out[[self.lacks is not None and self.lacks(text) for text in texts]] = np.nan
        return out


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Vocabulary:
    """Words of random letters with counts by Zipf's law, and some of WordSim-353 among them."""
    rng = np.random.default_rng(2)
    made = {"".join(rng.choice(list("abcdefghij"), 6)): None for _ in range(2 * N)}
    items = [*WORDSIM, *made][:N]
    counts = 1e6 / np.arange(3, N + 3)
    return register_dataset(monkeypatch, vocabularies.vocabulary("toy", items, counts.tolist(), 1e8))


@pytest.fixture
def encoders(monkeypatch: pytest.MonkeyPatch, words: Vocabulary) -> tuple[str, str]:
    known, lacking = dict(zip(words.items, words.counts.tolist(), strict=True)), frozenset(words.items[::5])
    register_encoder(monkeypatch, Counting(counts=known))
    register_encoder(monkeypatch, Counting("partial", lacks=lacking.__contains__, counts=known))
    return "counting", "partial"


def run(encoder: str, settings: Settings, *covered_by: str) -> RunRecord:
    request = requesting.request("frequency", encoder, "none", "toy", {}, settings, covered_by)
    return pipeline.run(request, settings, Repository.at(settings.store)).record


@pytest.mark.heavy
def test_what_is_stored_is_what_the_numerics_say(
    words: Vocabulary, encoders: tuple[str, str], settings: Settings, repository: Repository
) -> None:
    record = run("counting", settings)
    vectors = Counting(counts=dict(zip(words.items, words.counts, strict=True))).encode(words.items, CancelToken())
    design = frequency_classes.design(words.counts, with_paper=True)
    expected = frequency_classes.classify(vectors, words.counts, design)
    rows = repository.items(ENTRY, [record.run_id], texts=True)
    assert rows["item_no"].tolist() == list(range(len(expected)))
    assert rows["threshold"].tolist() == [a.threshold.name for a in expected]
    assert rows["count"].tolist() == [a.threshold.count for a in expected]
    assert rows["accuracy"].tolist() == [a.mean for a in expected]
    assert rows["accuracy_sd"].tolist() == [a.sd for a in expected]
    assert rows["control"].tolist() == [a.control for a in expected]
    assert set(rows["words_per_class"]) == {design.per_class}
    metrics = record.metrics
    assert metrics["accuracy"] == pytest.approx(np.mean([a.mean for a in expected]))
    assert metrics["accuracy"] > 0.8  # it stands in the vectors
    assert metrics["control"] == pytest.approx(0.5, abs=0.06)
    assert metrics["accuracy@p50"] == next(a.mean for a in expected if a.threshold.name == "p50")
    assert metrics["words"] == N
    queries = corpus_ranks.queries_among(words.queries, N)
    assert metrics["query_words"] == len(queries.rows)
    curve = corpus_ranks.neighbor_curve(
        ExactIndex(vectors, Similarity.COS), corpus_ranks.corpus_ranks(words.counts), queries.rows
    )
    fit = corpus_ranks.fit_power_law(curve)
    assert (metrics["neighbor_exponent"], metrics["neighbor_r2"]) == (fit.b, fit.r2)
    assert record.manifest["seeds"]


@pytest.mark.heavy
def test_lengths_and_hubs_against_frequency_are_those_of_a_loop(
    words: Vocabulary, encoders: tuple[str, str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = Counting(counts=dict(zip(words.items, words.counts, strict=True))).encode(words.items, CancelToken())
    metrics = run("counting", settings).metrics
    lengths = [float(np.sqrt(sum(float(x) ** 2 for x in row))) for row in vectors]
    assert metrics["length_rho"] == pytest.approx(spearmanr(lengths, words.counts).statistic)
    units = vectors.astype(np.float64) / np.array(lengths)[:, None]
    often = [0] * N
    for i in range(N):
        cosines = (units @ units[i]).tolist()
        nearest = sorted((j for j in range(N) if j != i), key=lambda j, cosines=cosines: -cosines[j])
        for j in nearest[: definition.HUB_K]:
            often[j] += 1
    assert metrics["hub_rho"] == pytest.approx(spearmanr(often, words.counts).statistic, abs=0.01)  # near ties
    assert (metrics["length_words"], metrics["hub_words"]) == (N, N)

    @dataclass
    class Unit(Counting):
        def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
            out = super().encode(texts, cancel)
            return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True), dtype=np.float32)

    register_encoder(monkeypatch, Unit("unit"))
    monkeypatch.setattr(definition, "HUB_WORDS", 100)
    metrics = run("unit", settings).metrics
    assert "length_rho" not in metrics
    assert metrics["hub_words"] == 100


@pytest.mark.heavy
def test_words_without_a_vector_leave_it(
    words: Vocabulary, encoders: tuple[str, str], settings: Settings, repository: Repository
) -> None:
    alone, common = run("partial", settings), run("counting", settings, "partial")
    covered = np.arange(N) % 5 != 0
    assert alone.coverage == common.coverage == {"items": N, "items_covered": int(covered.sum())}
    assert alone.metrics["words"] == covered.sum()
    assert alone.plan.covered_digest == common.plan.covered_digest == words.part(covered).digest
    assert repository.covered(common.plan.covered_digest).tolist() == covered.tolist()
    # Same vectors on the same words: the same numbers.
    assert alone.metrics == common.metrics
    assert run("counting", settings).metrics["words"] == N


@pytest.mark.parametrize(
    ("encoder", "said"),
    [
        (GramEncoder("mute", lacks=lambda _: True), f"none of the {N} words of 'toy' has a vector from 'mute'"),
        (GramEncoder("constant", constant=True), f"all {N} words of 'toy' have the same direction"),
    ],
)
def test_an_encoder_that_tells_no_words_apart_is_refused(
    monkeypatch: pytest.MonkeyPatch, words: Vocabulary, settings: Settings, encoder: GramEncoder, said: str
) -> None:
    register_encoder(monkeypatch, encoder)
    with pytest.raises(BlindspotError, match=said):
        run(encoder.reference, settings)


@pytest.mark.heavy
def test_a_small_vocabulary_has_no_neighbors_and_a_tiny_one_no_classes(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    known = {f"word{'abcdefghij'[i % 10]}{i}": float(i + 1) for i in range(120)}
    register_dataset(monkeypatch, vocabularies.vocabulary("toy", list(known), list(known.values()), 1e5))
    register_encoder(monkeypatch, Counting(counts=known))
    metrics = run("counting", settings).metrics
    assert "accuracy" in metrics
    assert "neighbor_r2" not in metrics
    register_dataset(monkeypatch, vocabularies.vocabulary("toy", list(known)[:3], [1.0, 2.0, 3.0], 1e5))
    with pytest.raises(BlindspotError, match="among 3 items"):
        run("counting", settings)


def test_other_datasets_are_refused_and_vocabularies_by_other_diagnostics(settings: Settings) -> None:
    with pytest.raises(InputError, match="frequency does not run on 'demo-words', a pair set"):
        requesting.request("frequency", "minilm", "none", "demo-words", {}, settings)
    with pytest.raises(InputError, match="evalrank does not run on 'vocab-wordfreq', a vocabulary with frequencies"):
        requesting.request("evalrank", "minilm", "none", "vocab-wordfreq", {}, settings)


@pytest.mark.heavy
@pytest.mark.usefixtures("encoders")
def test_the_command_line_says_what_is_covered(blindspot: Command) -> None:
    out = blindspot.out("run", "frequency", "--encoder", "counting", "--encoder", "partial", "--dataset", "toy")
    assert "neighbor_exponent" in out
    assert f"{N * 4 // 5} of {N}" in out


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("path", "words_with_vectors"),
    [
        ("evalrank/src/models/word_emb/toy_emb.txt", 4_694),
        ("word_vectors/word2vec_googlenews_300d_8k.txt", 7_906),
    ],
)
def test_real_word_vectors_tell_frequent_from_rare(
    shared_settings: Settings, path: str, words_with_vectors: int
) -> None:
    from blindspot.encoders.catalog import resolve_encoder

    vocabulary = fetch.load(find_dataset("vocab-wiki"), shared_settings)
    assert isinstance(vocabulary, Vocabulary)
    encoder = resolve_encoder(f"vectors:{Path(shared_settings.mirror) / path}", shared_settings)
    encoder.load()
    vectors = encoder.encode(vocabulary.items, CancelToken())
    covered = ~np.isnan(vectors).any(axis=1)
    assert covered.sum() == words_with_vectors
    counts = vocabulary.counts[covered]
    design = frequency_classes.design(counts, with_paper=True)
    chosen = replace(design, thresholds=design.thresholds[::3])
    found = frequency_classes.classify(vectors[covered], counts, chosen, draws=3)
    assert all(a.mean - a.sd > a.control + a.control_sd for a in found)
    mean, control = frequency_classes.mean_of(found)
    assert mean > control + 0.2
