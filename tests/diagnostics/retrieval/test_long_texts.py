"""Long texts: what is made of passages, by hand; the scores, by float64 loops; no change where words are averaged;
intervals, by simulation."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.perturbations import english
from blindspot.diagnostic import DiagnosticResult, Work, find_diagnostic
from blindspot.diagnostics.retrieval.long_texts import arranged
from blindspot.diagnostics.retrieval.long_texts.arranged import NONE, NOTHING_TO_MOVE, ArrangedDataset, Arrangement
from blindspot.diagnostics.retrieval.long_texts.definition import CHANGES, LONGER, change, longest
from blindspot.diagnostics.retrieval.long_texts.evidence import counts, evidence, moved, passages_of
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import InputError
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.runs import estimates
from blindspot.runs.embeddings import vectors_of
from blindspot.types import CancelToken, Float32, Float64, no_progress
from tests.support.made_up_store import MadeUp
from tests.support.pages import OpenApp, table, written
from tests.support.retrieval_world import made
from tests.support.small_world import GramEncoder
from tests.support.tables import each
from tests.support.world import World

ENTRY = find_diagnostic("long_texts")
THINGS = "apple boat castle desk engine forest garden harbor island jacket".split()


def about(thing: str, sentences: int, answer: int) -> str:
    """Sentences of which one names the thing."""
    fillers = [f"Nothing of note happened on day {zlib.crc32(f'{thing}{i}'.encode()) % 97}." for i in range(sentences)]
    fillers[answer] = f"The {thing} is red."
    return " ".join(fillers)


def dataset(sizes: Sequence[int] = (1, 2, 3, 4, 5, 8, 9, 2, 4, 8)) -> RetrievalDataset:
    documents = [about(thing, size, i % size) for i, (thing, size) in enumerate(zip(THINGS, sizes, strict=False))]
    queries = [f"Which {thing} is red?" for thing in THINGS[: len(documents)]]
    return made("long", queries, documents, [{i: 1} for i in range(len(documents))])


DATA = dataset()


def of_data(data: RetrievalDataset = DATA, encoder: str = "minilm") -> ArrangedDataset:
    return ArrangedDataset.of(data, GramEncoder(encoder))


def computed(data: ArrangedDataset, vectors: Float32) -> DiagnosticResult:
    return ENTRY.compute(vectors, data, {}, no_progress, CancelToken())


def noise(texts: Sequence[str], seed: int = 0) -> Float32:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(len(texts), 16)) + 0.5).astype(np.float32)


def words_averaged(texts: Sequence[str]) -> Float32:
    """The mean of word vectors, added in the text's order in float32, as word vectors of a file are."""

    def vector(word: str) -> Float32:
        return np.random.default_rng(zlib.crc32(word.encode())).normal(size=32).astype(np.float32)

    return np.array([np.mean([vector(w) for w in text.lower().split()], axis=0) for text in texts], dtype=np.float32)


# --- texts


@each(
    ("text", "expected"),
    [
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        ("Dr. Who came. He left.", ["Dr. Who came.", "He left."]),
        ("It is 3.5 m. long and wide.", ["It is 3.5 m. long and wide."]),  # no capital letter follows
        ("the wing . an experiment was made .", ["the wing .", "an experiment was made ."]),
        ("我来了。他走了！", ["我来了。", "他走了！"]),
        ("", []),
    ],
)
def test_sentences_of_texts_without_capitals_need_none(text: str, expected: list[str]) -> None:
    assert list(arranged.split(text)) == expected


def test_rules_of_rewriting_still_ask_for_a_capital_letter() -> None:
    assert len(english.sentences("one . two .")) == 1


@each(
    ("answer", "place", "expected"),
    [
        (2, "first", "cabd"),
        (0, "middle", "bacd"),  # of four the second place is the middle
        (2, "middle", "acbd"),
        (0, "last", "bcda"),
        (3, "last", "abcd"),
    ],
)
def test_one_sentence_moves_and_the_others_keep_their_order(answer: int, place: str, expected: str) -> None:
    assert "".join(arranged.arranged("abcd", answer, place) or ()) == expected


def test_two_sentences_have_no_middle() -> None:
    assert arranged.arranged("ab", 0, "middle") is None
    assert arranged.arranged("abc", 0, "middle") == ["b", "a", "c"]


def test_passages_answers_and_what_is_left_out_by_hand() -> None:
    documents = [
        "Only one sentence.",
        "Cats sleep. Dogs bark at night. Birds sing.",
        "A title Fish swim. Dogs fish.",
        "Cars drive. Trains run.",
    ]
    queries = ["Who sleeps?", "dogs at night", "dogs bark", "fish dogs swim", "boats"]
    judged = [{0: 1}, {0: 1, 1: 2}, {1: 1}, {2: 1, 3: 0}, {3: 1}]
    data = made("by-hand", queries, documents, judged)
    vars(data)["titles"] = ("", "", "A title", "")
    found = Arrangement.of(data)
    assert (found.queries.tolist(), found.documents.tolist()) == ([1, 3], [1, 2])
    assert (found.short, found.unmatched) == (2, 1)  # one sentence, another query's passage; no word in common
    assert (found.answers.tolist(), found.sentences.tolist()) == ([1, 0], [3, 2])
    of = [[None if i == NONE else found.texts[i] for i in row] for row in found.moved.tolist()]
    assert of == [
        [
            "Dogs bark at night. Cats sleep. Birds sing.",
            "Cats sleep. Dogs bark at night. Birds sing.",
            "Cats sleep. Birds sing. Dogs bark at night.",
        ],
        ["A title Fish swim. Dogs fish.", None, "A title Dogs fish. Fish swim."],
    ]
    starts = [[None if i == NONE else found.texts[i] for i in row] for row in found.starts.tolist()]
    assert starts[1] == ["Fish swim.", "Fish swim. Dogs fish.", None, None]
    assert found.words.tolist() == [[2, 6, 0, 0], [2, 4, 0, 0]]


def test_passages_are_drawn_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arranged, "MOST", 4)
    first, second = Arrangement.of(DATA), Arrangement.of(DATA)
    assert len(first.queries) == 4
    assert first.texts == second.texts


def test_what_is_encoded_is_the_items_and_then_what_is_made() -> None:
    data = of_data()
    assert data.encoded[: len(DATA.items)] == DATA.items
    assert set(data.encoded) == {*DATA.items, *data.arrangement.texts}
    assert len(set(data.encoded)) == len(data.encoded), "a sentence that is in its place already makes no new text"
    assert data.content_digest == DATA.content_digest
    assert data.encoded_digest not in {DATA.encoded_digest, of_data(dataset((3, 3))).encoded_digest}
    assert data.whole.encoded == DATA.items
    assert len(data.arrangement.texts) <= ENTRY.further_texts(Work(len(DATA.queries), len(DATA.items), 8))


def test_single_sentences_and_models_that_cut_are_refused() -> None:
    with pytest.raises(InputError, match="a relevant document of 2 sentences or more"):
        _ = of_data(dataset((1, 1, 1))).encoded
    cut = DATA.in_passages(None)  # type: ignore[arg-type]
    vars(cut)["cutter"] = object()
    with pytest.raises(InputError, match="whole passages"):
        ENTRY.as_read(cut, GramEncoder())


# --- scores


def cosine(x: Float32, y: Float32) -> float:
    a, b = x.astype(np.float64), y.astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_scores_are_those_of_float64_loops() -> None:
    documents = [*DATA.document_texts, DATA.document_texts[3]]  # one text twice: it is not its own rival
    judged = [{i: 1} for i in range(len(DATA.queries))]
    judged[2][5] = 1  # another relevant document is no rival, and no unrelated passage
    data = of_data(made("long", DATA.query_texts, documents, judged))
    vectors = noise(data.encoded)
    result, of = computed(data, vectors), data.arrangement
    rows, vector = result.items.to_pylist(), dict(zip(data.encoded, vectors, strict=True))
    number = dict(zip(of.documents.tolist(), range(len(of.documents)), strict=True))
    for row, query, passage in zip(rows, of.queries.tolist(), of.documents.tolist(), strict=True):
        asked = vector[data.query_texts[query]]
        relevant = set(judged[query])
        others = [
            round(cosine(asked, vector[text]), 6)
            for i, text in enumerate(documents)
            if i not in relevant and text != documents[passage]
        ]
        for at, place in enumerate(arranged.PLACES):
            if of.moved[number[passage], at] == NONE:
                assert row[f"cosine_{place}"] == row[f"reciprocal_{place}"] == -2
                continue
            own = round(cosine(asked, vector[of.texts[of.moved[number[passage], at]]]), 6)
            assert row[f"cosine_{place}"] == pytest.approx(own, abs=1e-6)
            assert row[f"reciprocal_{place}"] == pytest.approx(1 / (1 + sum(other > own for other in others)))
        for at, n in enumerate(LONGER, 1):
            found, single = [], []
            for other in number:
                is_related = other in relevant or passage in judged[int(of.queries[number[other]])]
                mine, theirs = of.starts[number[passage]], of.starts[number[other]]
                if is_related or NONE in (mine[at], theirs[at]):
                    continue
                found.append(cosine(vector[of.texts[mine[at]]], vector[of.texts[theirs[at]]]))
                single.append(cosine(vector[of.texts[mine[0]]], vector[of.texts[theirs[0]]]))
            assert row[f"unrelated_{n}"] == pytest.approx(np.mean(found) if found else -2)
            assert row[f"single_{n}"] == pytest.approx(np.mean(single) if single else -2)
    passages = passages_of(pd.DataFrame(rows))
    assert set(passages.changes()) == set(CHANGES)
    for name, values in passages.changes().items():
        assert result.metrics[name] == pytest.approx(values.mean())
    last = [row["cosine_last"] - row["cosine_first"] for row in rows]
    assert result.metrics["cosine_last_change"] == pytest.approx(np.mean(last))
    assert result.metrics["cosine_middle_passages"] == sum(row["sentences"] > 2 for row in rows)
    assert result.metrics["passages"] == len(rows) == 9


def test_a_mean_of_word_vectors_has_no_position() -> None:
    data = of_data()
    result = computed(data, words_averaged(data.encoded))
    rows = result.items.to_pandas()
    assert rows["cosine_first"].equals(rows["cosine_last"])
    assert rows["reciprocal_first"].equals(rows["reciprocal_last"])
    assert result.metrics["cosine_last_change"] == result.metrics["mrr_last_change"] == 0
    assert "cosine_last_change_low" not in result.metrics
    assert np.isnan(change("cosine_last_change", np.zeros(20))[1]), "nothing to test"


def test_a_model_that_reads_the_beginning_loses_what_is_at_the_end() -> None:
    names = [f"{thing}{i}" for i in range(4) for thing in THINGS]
    texts = [about(name, 2 + i % 5, 1) for i, name in enumerate(names)]
    asked = [f"Which {name} is red?" for name in names]
    data = of_data(made("forty", asked, texts, [{i: 1} for i in range(len(names))]))
    result = computed(data, words_averaged([" ".join(text.split()[:6]) for text in data.encoded]))
    assert result.metrics["cosine_last_change_high"] < 0
    assert result.metrics["mrr_last_change"] < 0


def test_passages_without_vectors_and_those_that_are_not_read_whole_do_not_count() -> None:
    data = of_data()
    vectors = noise(data.encoded)
    vectors[data.rows_of(data.arrangement.moved)[0, 2]] = 0
    vars(data)["unread"] = np.array([0, 0, 7, *[0] * 6])
    result = computed(data, vectors)
    assert [result.metrics[name] for name in ("passages", "cut", "no_vector")] == [7, 1, 1]
    assert (result.coverage["passages"], result.coverage["passages_covered"]) == (9, 8)
    rows = result.items.to_pandas()
    assert counts(rows).index.tolist() == [1, 3, 4, 5, 6, 7, 8]
    assert rows["single_2"][[0, 2]].tolist() == [-2, -2]
    unknown = of_data()
    vars(unknown)["unread"] = None
    assert "cut" not in computed(unknown, noise(data.encoded)).metrics
    with pytest.raises(InputError, match="no vectors for passages"):
        computed(of_data(), np.zeros((len(data.encoded), 4), dtype=np.float32))


def test_tokens_beyond_the_input_are_counted_by_the_models_tokenizer(world: World) -> None:
    encoder = resolve_encoder("minilm", world.settings)
    most = encoder.identity.max_length
    assert most > 100
    texts = [about(THINGS[0], 2, 0), about(THINGS[1], most, 3)]
    data = made("longest", [f"Which {thing} is red?" for thing in THINGS[:2]], texts, [{0: 1}, {1: 1}])
    unread = ArrangedDataset.of(data, encoder).unread
    assert unread is not None
    assert unread[0] == 0
    assert unread[1] > most
    without = of_data().unread
    assert without is not None
    assert without.tolist() == [0] * 9, "a model without a limit reads all"


# --- intervals and evidence


@dataclass(frozen=True)
class Topics:
    """Passages as vectors: a common direction, which longer texts have more of, and something of their own."""

    passages: int = 30
    common: tuple[float, float] = (0.5, 0.9)  # of one sentence, of more

    def drawn(self, rng: np.random.Generator) -> Float64:
        """The changes of the passages, ``[r]``: mean cosine with the others, longer less single."""
        share = rng.normal(1, 0.3, self.passages)[:, np.newaxis]
        out = []
        for common in self.common:
            vectors = rng.normal(size=(self.passages, 12))
            vectors[:, 0] += 3 * common * share[:, 0]
            units = vectors / np.linalg.norm(vectors, axis=1)[:, np.newaxis]
            out.append((units @ units.T - np.eye(self.passages)).sum(axis=1) / (self.passages - 1))
        return np.asarray(out[1] - out[0], dtype=np.float64)


def test_few_passages_have_neither_interval_nor_test() -> None:
    found, p = change("cosine_last_change", np.linspace(-0.2, -0.1, 29))
    assert (found.interval, np.isnan(p)) == (None, True)
    assert "fewer than 30 passages" in found.refusal
    assert change("cosine_last_change", np.linspace(-0.2, -0.1, 30))[0].interval is not None


def test_intervals_of_a_moved_answer_hold_where_a_third_of_the_passages_lose_much() -> None:
    rng = np.random.default_rng(6)
    lost = np.where(rng.random((300, 100)) < 0.3, -rng.exponential(0.1, (300, 100)), rng.normal(0, 0.02, (300, 100)))
    found = [change("cosine_last_change", row)[0].interval for row in lost]
    ends = [one for one in found if one is not None]
    assert len(ends) > 290
    assert 0.92 <= np.mean([one.low <= -0.03 <= one.high for one in ends]) <= 0.98


def test_intervals_of_unrelated_passages_hold_over_new_passages() -> None:
    """Pairs share passages: an interval over pairs would be far too narrow."""
    rng = np.random.default_rng(5)
    truth = np.mean([Topics().drawn(rng).mean() for _ in range(2_000)])
    ends = [change("unrelated_2_change", Topics().drawn(rng))[0].interval for _ in range(600)]
    inside = np.mean([one is not None and one.low <= truth <= one.high for one in ends])
    assert 0.93 <= inside <= 0.985
    same = [change("unrelated_2_change", Topics(common=(0.6, 0.6)).drawn(rng))[1] for _ in range(600)]
    assert np.mean(np.array(same) < 0.05) < 0.07, "a difference is found where there is none"


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100, 300])
def test_promises_that_the_documentation_shows(n: int, capsys: pytest.CaptureFixture[str]) -> None:
    rng, many = np.random.default_rng(21), 2_000
    often = rng.random((many, n)) < 0.3
    lost = np.where(often, -rng.exponential(0.1, (many, n)), rng.normal(0, 0.02, (many, n)))
    of_place = [change("cosine_last_change", row) for row in lost]
    same_place = [moved(row)[1] for row in lost + 0.03]
    topics, alike = Topics(n), Topics(n, common=(0.6, 0.6))
    truth = float(np.mean([topics.drawn(rng).mean() for _ in range(2 * many)]))
    of_length = [change("unrelated_2_change", topics.drawn(rng)) for _ in range(many)]
    same_length = [change("unrelated_2_change", alike.drawn(rng))[1] for _ in range(many)]

    def coverage(found: Sequence[tuple[Estimate, float]], true: float) -> float:
        ends = [one.interval for one, _ in found if one.interval]
        return float(np.mean([one.low <= true <= one.high for one in ends]))

    place, length = coverage(of_place, -0.03), coverage(of_length, truth)
    false = [float(np.mean(np.array(ps) < 0.05)) for ps in (same_place, same_length)]
    with capsys.disabled():
        print(f"\n{n} passages: answer moved {place:.3f}, false {false[0]:.3f}; length {length:.3f}, {false[1]:.3f}")
    assert place >= (0.89 if n < 100 else 0.93)
    assert 0.93 <= length <= 0.98
    assert max(false) <= 0.065


def made_up(rng: np.random.Generator, lost: float, alike: float, n: int = 60) -> MadeUp:
    store = MadeUp(ENTRY, pd.DataFrame({"item_no": np.arange(n), "query": [f"query {i}" for i in range(n)]}))
    first = rng.uniform(0.4, 0.8, n)
    single = rng.normal(0.1, 0.05, n)
    last, longer = first - lost + rng.normal(0, 0.02, n), single + alike + rng.normal(0, 0.02, n)
    rows = {f"cosine_{place}": values for place, values in zip(arranged.PLACES, (first, first, last), strict=True)}
    rows |= {f"reciprocal_{place}": np.full(n, 0.5) for place in arranged.PLACES}
    rows |= {f"{name}_{k}": values for name, values in (("single", single), ("unrelated", longer)) for k in LONGER}
    rows |= {"unread": np.zeros(n), "has_vectors": np.ones(n)}
    scores = {"passages": float(n), "cut": 12.0, "unrelated_8": float(longer.mean())}
    store.add("minilm", rows, scores | {f"unrelated_{k}_passages": float(n) for k in LONGER})
    return store


def test_evidence_says_where_the_answer_is_lost_and_that_long_texts_are_alike() -> None:
    cut, place, length = evidence(made_up(np.random.default_rng(2), 0.05, 0.1).material())
    assert (cut.kind, cut["cut"], cut.n, cut.p) == ("passages-cut", 12, 72, None)
    assert place.kind == "place-of-answer"
    assert place["value"] == pytest.approx(place["last"] - place["first"])
    assert place["is_lower"]
    assert len(place.examples) == 3
    assert place.p is not None
    assert place.p <= 1e-4
    assert (length.kind, length["sentences"]) == ("unrelated-by-length", 8)
    assert length["value"] == pytest.approx(length["longer"] - length["single"])
    assert length.p is not None
    assert length.p < 1e-6


def test_chance_is_found_as_often_as_it_may_be() -> None:
    rng = np.random.default_rng(3)
    of = [{one.kind: one.p for one in evidence(made_up(rng, 0.0, 0.0).material())} for _ in range(40)]
    for kind in ("place-of-answer", "unrelated-by-length"):
        assert np.mean([(one[kind] or 0.0) < 0.05 for one in of]) < 0.15


@each(
    ("passages", "of_lengths", "expected"),
    [(10, (10, 5, 4), 4), (10, (10, 4, 0), 2), (10, (10, 10, 10), 8), (0, (0, 0, 0), 0), (10, (4, 0, 0), 0)],
)
def test_the_longest_is_that_of_at_least_half_of_the_passages(
    passages: int, of_lengths: tuple[int, ...], expected: int
) -> None:
    of = {f"unrelated_{n}_passages": float(many) for n, many in zip(LONGER, of_lengths, strict=True)}
    assert longest({"passages": float(passages), **of}) == expected


# --- the page


def test_the_view_offers_a_run_and_shows_it(open_app: OpenApp, world: World) -> None:
    world.add(GramEncoder("trigrams", 3), DATA)
    world.run("retrieval", "trigrams", DATA.id)
    world.run("retrieval", "bm25", DATA.id)
    app = open_app(world.cache, "retrieval", data=DATA.id, view="long")
    assert "Position and length for trigrams" in written(app)
    run = world.run("long_texts", "trigrams", DATA.id)
    app.run()
    said = written(app)
    assert "Position and length for" not in said
    assert "9 passages among 10 documents" in said
    rows = table(app, "model", "passages", "cosine, first")
    assert rows["cosine, first"].tolist() == pytest.approx([run.metrics["cosine_first"]])


def test_the_view_offers_no_run_that_would_fail(open_app: OpenApp, world: World) -> None:
    short = made("short", ["a cat", "a dog"], ["A cat sits.", "A dog barks."], [{0: 1}, {1: 1}])
    with pytest.raises(InputError, match=NOTHING_TO_MOVE[:30]):
        of_data(short).arrangement  # noqa: B018 - computed at the first look
    world.add(GramEncoder("trigrams", 3), short)
    world.run("retrieval", "trigrams", short.id)
    said = written(open_app(world.cache, "retrieval", data=short.id, view="long"))
    assert NOTHING_TO_MOVE in said
    assert "Position and length for" not in said


def test_a_runs_vectors_are_those_of_the_items_first_fitted_on_all(world: World) -> None:
    world.add(GramEncoder("trigrams", 3), DATA)
    run = world.run("long_texts", "trigrams~center", DATA.id)
    found = vectors_of(run, world.settings, world.repository)
    every = GramEncoder("trigrams", 3).encode(of_data().encoded, CancelToken())
    assert found.of_items == pytest.approx((every - every.mean(axis=0))[: len(DATA.items)], abs=1e-5)
    assert found.places_of_queries(np.array([3])).tolist() == [3]


def test_a_run_is_estimated_with_the_texts_that_it_makes(world: World) -> None:
    world.add(GramEncoder("trigrams", 3), DATA)
    of = [world.request(name, "trigrams", DATA.id) for name in ("retrieval", ENTRY.id)]
    plain, longer = (estimates.estimate([request], world.settings, None) for request in of)
    n = ENTRY.further_texts(Work(len(DATA.queries), len(DATA.items), 8))
    assert longer.disk_bytes - plain.disk_bytes == n * plain.disk_bytes // len(DATA.items)


@pytest.mark.matrix
def test_the_view_opens_without_scores_of_retrieval(open_app: OpenApp, world: World) -> None:
    world.add(GramEncoder("trigrams", 3), DATA)
    world.run("long_texts", "trigrams", DATA.id)
    app = open_app(world.cache, "retrieval", data=DATA.id, view="long")
    assert "9 passages among 10 documents" in written(app)
