"""A study of two models with every function of Blindspot; ``mypy --strict`` knows what each returns."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from models import Vectors, letters, words

import blindspot as bs

PAIRS = [
    (f"how do I {verb} the {thing}", f"{verb} your {thing}")
    for verb in ("open", "close", "lock", "sell")
    for thing in ("door", "car", "window", "house", "account")
]
LABELED = {"text": [text for pair in PAIRS for text in pair], "label": ["question", "answer"] * len(PAIRS)}
VOCABULARY = {"word": [f"{a}{b}" for a in "abcdefgh" for b in "aeiou"], "count": list(range(400, 0, -10))}


def headline(run: bs.Run) -> tuple[float, float | None, float | None]:
    """The first score, with its interval."""
    score: bs.Score = next(iter(run.scores.values()))
    value: float = score.value
    low: float | None = score.low
    high: float | None = score.high
    return value, low, high


def diagnoses(store: Path) -> dict[str, bs.Run]:
    """A run of every diagnostic that a few texts are enough for."""
    texts: tuple[str, ...] = bs.texts_of(PAIRS, store=store)
    vectors: Vectors = words(list(texts))
    return {
        "of an array": bs.evalrank(vectors, PAIRS, name="words", store=store),
        "another metric": bs.run("evalrank", words, PAIRS, name="words", store=store, metric="l2"),
        "evalrank": bs.evalrank(letters, PAIRS, name="letters", store=store, transform="center"),
        "heros": bs.heros(words, "demo-minimal", name="words", store=store),
        "similarity": bs.similarity(words, "demo-scored", name="words", store=store),
        "retrieval": bs.retrieval(words, "demo-retrieval", name="words", store=store),
        "long_texts": bs.long_texts(words, "demo-retrieval", name="words", store=store),
        "transfer": bs.transfer(words, LABELED, name="words", store=store),
        "learning_curve": bs.learning_curve(words, LABELED, name="words", store=store),
        "geometry": bs.geometry(words, PAIRS, name="words", store=store),
        "frequency": bs.frequency(words, VOCABULARY, name="words", store=store),
        "analogy": bs.analogy("lsa", "demo-analogies", store=store),
        "categorization": bs.categorization("lsa", "demo-categories", store=store),
        "outliers": bs.outliers("lsa", "demo-outliers", store=store),
        "thematic_fit": bs.thematic_fit("lsa", "demo-events", store=store),
        "chunking": bs.chunking("lsa", "demo-chunks", store=store),
        "probing": bs.probing(words, "demo-sentence-length", name="words", store=store),
    }


def tables(run: bs.Run) -> pd.DataFrame:
    """A row per pair, the worst first."""
    frame: pd.DataFrame = run.pairs()
    rows: int = run.pairs("arrow").num_rows
    height: int = run.pairs("polars").height
    assert len(frame) == rows == height
    metrics: Mapping[str, float] = run.metrics
    assert float(run) in metrics.values()
    run.figure().to_json()
    return frame.sort_values("rank", ascending=False)


def differences(a: bs.Run, b: bs.Run, folder: Path) -> Path:
    found: bs.Comparison = bs.compare(a, b)
    said: tuple[str, ...] = found.said
    assert len(found.table()) == len(found.rows)
    assert said
    shown: bs.Findings = bs.findings(a, b)
    texts: list[str] = [one.text for one in shown]
    assert len(texts) == len(shown)
    first: bs.Found | None = next(iter(shown), None)
    assert first is None or first.p is None or first.p <= 1
    return bs.report([a, b], folder / "report.html")


def gated(folder: Path) -> str:
    """A baseline is recorded, and another model gated on it."""
    recorded: bs.Run = bs.record(words, PAIRS, folder / "gate.json", name="words")
    verdict: bs.Verdict = bs.gate(letters, PAIRS, folder / "gate.json", score="mrr", max_drop=0.1)
    assert verdict.old == float(recorded)
    worse: list[str] = [one.text for one in verdict.worse]
    assert len(worse) <= verdict.losses
    return verdict.outcome.value


def looked_at(texts: list[str]) -> list[str]:
    """The set-up check of a model, and what lies near a text."""
    checked: bs.Check = bs.check(words, quick=True, name="words")
    one: bs.Checked = next(iter(checked))
    near: bs.Neighbors = bs.neighbors(words, PAIRS, texts[0], k=3)
    nearest: bs.Neighbor = next(iter(near))
    similarity: float = nearest.similarity
    return [one.verdict, f"{similarity:.2f}", *(other.text for other in near)]


def tried() -> list[str]:
    """The models that a sentence's rewrites were compared by, and two lines."""
    views = bs.try_sentence(words, PAIRS[0][0]), bs.try_sentence([words], PAIRS[0])
    names: list[str] = [one.label for view in views for one in view.models]
    return names


def line_drawn() -> str:
    """From which similarity on two texts are the same."""
    found: bs.Threshold = bs.threshold(bs.similarity(words, "demo-scored"), precision=0.5)
    low: float | None = found.low
    assert low is None or found.value is None or low <= found.value
    return found.said


def taken_apart() -> bs.Series:
    """A model by layer, and by prompt where it takes one."""
    try:
        bs.prompts("lsa", PAIRS, more=["mine: "])
    except bs.InputError:
        return bs.layers("minilm", PAIRS)
    raise RuntimeError("it takes a prompt")


def matched() -> list[str]:
    """Two models, the larger one made smaller and the smaller one grown."""
    found: bs.Matched = bs.matched(["minilm", "lsa"], PAIRS)
    return list(found.said)


def published() -> float:
    """A number of a paper's table, as published."""
    found: bs.Published = bs.published("wang-1a")
    frame: pd.DataFrame = found.table()
    return float(frame["published"].iloc[0])


def trained(store: Path) -> list[str]:
    """A training of two steps, with every pair at each."""
    evaluator = bs.Evaluator(PAIRS, name="letters to words", store=store)
    for step, model in enumerate((letters, words)):
        metrics: dict[str, float] = evaluator(model, steps=step)
        assert evaluator.primary_metric in metrics
    frame: pd.DataFrame = evaluator.pairs()
    return [column for column in frame.columns if column in evaluator.steps]


def refused() -> bs.BlindspotError:
    try:
        bs.evalrank("no-such-model", PAIRS)
    except bs.LibraryMissing:
        return bs.BlindspotError("an extra is missing")
    except bs.InputError as error:
        return error
    raise RuntimeError("it was not refused")


def main(folder: Path) -> None:
    runs = diagnoses(folder / "store")
    for name, run in runs.items():
        print(f"{name}: {headline(run)[0]:.3f}")
    print(len(tables(runs["evalrank"])), "pairs")
    print(differences(runs["of an array"], runs["evalrank"], folder).name)
    print(*looked_at([query for query, _ in PAIRS]), sep=", ")
    print(*trained(folder / "store"))
    print(*tried(), line_drawn(), len(taken_apart().table()), published())
    print(gated(folder), refused().exit_code)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
