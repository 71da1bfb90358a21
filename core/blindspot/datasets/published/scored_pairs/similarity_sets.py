"""Scored pairs of similarity tasks: STS 2012 to 2016, STS-Benchmark, SICK-R, STR, thirteen word sets."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from blindspot.datasets.entries import EVALRANK_REPOSITORY, EVALRANK_REVISION, DatasetEntry, SourceFile, evalrank_file
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.published import scored_pairs
from blindspot.datasets.published.scored_pairs import Row

_STS = "data/sent_similarity/STS"
_STS_LICENCE = "CC BY-SA 4.0 (scores); its texts as in the LICENSE.txt of STS-Benchmark"
_SICK = "data/sent_similarity/SICK/SICK"
_WORD_SETS = Path(__file__).with_name("word_sets.tsv")


@dataclass(frozen=True)
class _Year:
    pairs: int
    texts: int
    citation: str
    sets: tuple[str, ...]


_YEARS = {
    2012: _Year(
        3_108,
        4_946,
        "Agirre et al. 2012, SemEval-2012 Task 6",
        ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    ),
    2013: _Year(1_500, 2_638, "Agirre et al. 2013, *SEM 2013 shared task", ("FNWN", "headlines", "OnWN")),
    2014: _Year(
        3_750,
        6_351,
        "Agirre et al. 2014, SemEval-2014 Task 10",
        ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    ),
    2015: _Year(
        3_000,
        5_170,
        "Agirre et al. 2015, SemEval-2015 Task 2",
        ("answers-forums", "answers-students", "belief", "headlines", "images"),
    ),
    2016: _Year(
        1_186,
        1_867,
        "Agirre et al. 2016, SemEval-2016 Task 1",
        ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
    ),
}

STSB = {part: evalrank_file(f"{_STS}/STSBenchmark/sts-{part}.csv") for part in ("train", "dev", "test")}
STR = evalrank_file("data/sent_similarity/STR/sem_text_rel_ranked.csv")
SICK = {
    part: evalrank_file(f"{_SICK}_{name}.txt")
    for part, name in (("train", "train"), ("trial", "trial"), ("test", "test_annotated"))
}


def _entry(
    dataset_id: str,
    title: str,
    description: str,
    counts: tuple[int, int],
    citation: str,
    files: tuple[SourceFile, ...],
    read: Callable[..., dict[str, list[Row]]],
    *,
    unit: str = "sentence",
    licence: str = _STS_LICENCE,
    sets: int = 1,
) -> DatasetEntry:
    """An entry of scored pairs; ``counts`` are pairs and distinct texts, ``read`` makes named sets from its files."""
    return DatasetEntry(
        id=dataset_id,
        title=title,
        description=description,
        kind=DatasetKind.SCORED_PAIRS,
        unit=unit,
        size=f"{counts[0]:,} scored pairs" + (f" in {sets} sets" if sets > 1 else ""),
        pairs=counts[0],
        texts=counts[1],
        licence=licence,
        citation=citation,
        url=f"https://github.com/{EVALRANK_REPOSITORY}",
        revision=EVALRANK_REVISION,
        files=files,
        load=lambda dataset_id, paths: scored_pairs.scored_pairs(dataset_id, read(*paths)),
    )


def _sts_years() -> Iterator[DatasetEntry]:
    for number, year in _YEARS.items():
        folder = f"{_STS}/STS{number % 100}-en-test"
        yield _entry(
            f"sts{number % 100}",
            f"STS {number}",
            f"The English test sets of STS {number}: sentence pairs, scored from 0 to 5 for how much their meanings "
            "have in common; tokenized and lower-cased."
            + (" Its set SMT is not public." if number == 2013 else "")
            + (" Pairs without a score are left out." if number > 2014 else ""),
            (year.pairs, year.texts),
            year.citation,
            tuple(evalrank_file(f"{folder}/STS.{what}.{name}.txt") for name in year.sets for what in ("input", "gs")),
            _read_year(year.sets),
            sets=len(year.sets),
        )


def _read_year(names: tuple[str, ...]) -> Callable[..., dict[str, list[Row]]]:
    """A reader of a year's files, two per set."""

    def read(*paths: Path) -> dict[str, list[Row]]:
        both = zip(paths[::2], paths[1::2], strict=True)
        return {name: scored_pairs.sts_year(*files) for name, files in zip(names, both, strict=True)}

    return read


def _word_sets() -> Iterator[DatasetEntry]:
    with _WORD_SETS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield _entry(
                row["id"],
                row["title"],
                f"{row['scored'][0].upper()}{row['scored'][1:]}; lower-cased.",
                (int(row["pairs"]), int(row["texts"])),
                row["citation"],
                (evalrank_file(f"data/word_similarity/EN-{row['file']}.txt"),),
                lambda path, name=row["title"]: {name: scored_pairs.word_similarity(path)},
                unit="word",
                licence="as published by its authors; here as in the toolkit's repository (BSD-3-Clause)",
            )


def _sick(dataset_id: str, title: str, description: str, counts: tuple[int, int], *parts: str) -> DatasetEntry:
    return _entry(
        dataset_id,
        title,
        f"{description}: sentence pairs, scored from 1 to 5 for how related they are.",
        counts,
        "Marelli et al. 2014, A SICK cure for the evaluation of compositional distributional semantic models",
        tuple(SICK[part] for part in parts),
        lambda *paths: {f"SICK-R {part}": scored_pairs.sick(path) for part, path in zip(parts, paths, strict=True)},
        licence="CC BY-NC-SA 3.0 (SICK)",
        sets=len(parts),
    )


def _stsb(dataset_id: str, counts: tuple[int, int], parts: Mapping[str, SourceFile]) -> DatasetEntry:
    of = f"The {next(iter(parts))} split" if len(parts) == 1 else "All three splits"
    return _entry(
        dataset_id,
        f"STS-Benchmark, {next(iter(parts)) if len(parts) == 1 else 'all pairs'}",
        f"{of} of STS-Benchmark: sentence pairs, scored from 0 to 5 for how much their meanings have in "
        "common; tokenized and lower-cased, as encoders are usually tested on it.",
        counts,
        "Cer et al. 2017, SemEval-2017 Task 1",
        tuple(parts.values()),
        lambda *paths: {f"STS-B {part}": scored_pairs.sts_benchmark(p) for part, p in zip(parts, paths, strict=True)},
        sets=len(parts),
    )


WORD_SETS = tuple(_word_sets())
SIMILARITY = {
    entry.id: entry
    for entry in (
        _stsb("stsb-test", (1_379, 2_551), {"test": STSB["test"]}),
        _stsb("stsb-dev", (1_500, 2_909), {"dev": STSB["dev"]}),
        _stsb("stsb-all", (8_628, 15_437), STSB),
        *_sts_years(),
        _sick("sick-test", "SICK-R, test", "The test split of SICK", (4_927, 5_007), "test"),
        _sick("sick-all", "SICK-R, all pairs", "All three splits of SICK", (9_927, 6_077), *SICK),
        _entry(
            "str",
            "STR-2022",
            "Sentence pairs of many kinds of text, scored from 0 to 1 for how related they are.",
            (5_500, 9_522),
            "Abdalla, Vishnubhotla and Mohammad 2023, What Makes Sentences Semantically Related?",
            (STR,),
            lambda path: {"STR": scored_pairs.semantic_relatedness(path)},
            licence="as published (STR)",
        ),
        *WORD_SETS,
    )
}
