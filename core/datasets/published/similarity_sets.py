"""Scored pairs that similarity tasks are made of: STS 2012 to 2016, STS-Benchmark, SICK-R, STR, thirteen word sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.datasets.entries import (
    EVALRANK_REPOSITORY,
    EVALRANK_REVISION,
    DatasetEntry,
    SourceFile,
    evalrank_file,
)
from core.datasets.kinds.base import DatasetKind
from core.datasets.published import scored_pairs
from core.datasets.published.scored_pairs import Row
from core.datasets.published.word_sets import WORD_FILES, WORD_SETS

_STS = "data/sent_similarity/STS"
_URL = f"https://github.com/{EVALRANK_REPOSITORY}"
_STS_LICENCE = "CC BY-SA 4.0 (scores); its texts as in the LICENSE.txt of STS-Benchmark"


@dataclass(frozen=True)
class _Part:
    """A set of a year's STS: size and sha256 of its sentences and of their scores."""

    name: str
    sentences: tuple[int, str]
    scores: tuple[int, str]


_YEARS = {
    2012: (
        _Part(
            "MSRpar",
            (168149, "21c0c6cc32f68f69d672dfae0f86935cdc2627bae4941381692941aa9320f8c4"),
            (4500, "5526be59228bc34ccb3cb6f1f56c0d7278d3419b8886713ae016fd92b151f19c"),
        ),
        _Part(
            "MSRvid",
            (50402, "c4a92a3645744f77d1cda9f2af7da5d11e807ae296f6a20fe5930403fb9c4dfe"),
            (4500, "9c6096c6bcfb0144c8bbddb00900ca9198c88498630cd0c8f08d18365f1d7150"),
        ),
        _Part(
            "SMTeuroparl",
            (61015, "05acf33c0fcb592347f49e279137a17e0244d7b0d37cc113134320a5d3f586e1"),
            (2754, "708530c4d006d06881f3289fce35d624d7efe562dcf0fe5f8aa0eec3a135f6d4"),
        ),
        _Part(
            "surprise.OnWN",
            (68924, "e605c67de4b7cee2c5629239d209e2845920f475ebd0468bdcf03d8da2ffa9cf"),
            (4500, "088d8ca22c0aa406e4a5d2e6e308a4f38b482b8e736c2445a38ffb6e4c4fb4fd"),
        ),
        _Part(
            "surprise.SMTnews",
            (59937, "cc4a0b9a1355c5680a8a37c02f2d08e35f95754b9f89a2a4a05088ee5ff57ffe"),
            (2394, "aa6dfc868db333c43dc59be14d46fa6587c7ebddc0d497e717f647bf35121cf1"),
        ),
    ),
    2013: (
        _Part(
            "FNWN",
            (46833, "a20cb41a33a528f3c089c94ef24da8eb5e26ed594937cf6fa90f3d1c79d6c53c"),
            (685, "8ca95b7228119578e2007839cf7969f22c4f1fd41fd610c4b7f9683072d98066"),
        ),
        _Part(
            "headlines",
            (69813, "637f3b4afdc8d1cc789e91a4d7217efff30e503c34a872d93e8b27e7b1136cb7"),
            (2716, "f49f64089011436dd296ef384c07160219406feef7dc4b9fa2af52a519f32bc6"),
        ),
        _Part(
            "OnWN",
            (48351, "cb74993eef23cfa2c03da7e5a08c62e50c9baafae0fa9ba0bb5a09d8e7d2be65"),
            (2001, "0cd497aaddb00a2fb6db25f77bccfc09e8aa012e11549b81b434bab1a27ad954"),
        ),
    ),
    2014: (
        _Part(
            "deft-forum",
            (43750, "b39579e59c7b9f4063545c3d4643f8db16dc060cd0a35447ef56ff0aabec9d83"),
            (1780, "ba6dc76696b5c93985590a325b4d142449932cdf0d715b2bab1b1743fe3c488c"),
        ),
        _Part(
            "deft-news",
            (63248, "cc450dcd9228211c1a311de1ff28199f166dce6f7fc81dcb5ce968a3a8a80d2d"),
            (1058, "105c5b333abd50c274efb4dae9e3e0dab36ed63eee780cfb49955b1586bd62f2"),
        ),
        _Part(
            "headlines",
            (72107, "2ed0ea55d196cdbb440ed428eb1846dcb43486a692aafb22b3bc5c14c44407c8"),
            (2610, "f243c34647255cd0b994565ed4f58dd31506e7d9c9d6250d1a6dd14095625832"),
        ),
        _Part(
            "images",
            (71048, "295fc99f8a9215c330b36a08bc1ff3e428f10057be5bb915262111494b3616e2"),
            (2550, "fc994ebacc7074c332626fa9e29542d7340a48a3cdb999b47cdb59c378523a62"),
        ),
        _Part(
            "OnWN",
            (69761, "8cd2333328d17e3212afa2d43dd934c5521e3fd35fc786b992dc7864f9d34f8f"),
            (2765, "1c80147df270ea4cfce14a47ed29f8a2f10d5dc016d02836077fd786ff7f535b"),
        ),
        _Part(
            "tweet-news",
            (94941, "b25b3768762aa7cdcd89f2a25ce5049de7e4cd51b138227c3a31092ae8e2b5f5"),
            (2640, "0098c644bfeaa2d511a8297b1940771865900c372c9dd49a62726dc5ec02c9a3"),
        ),
    ),
    2015: (
        _Part(
            "answers-forums",
            (357930, "b8f1bc125559adbb3ac5b33206472b217c12621c3a6b5a8575da47dc0b536fc4"),
            (3500, "1644301a7540e5484da285002e9269062852efb2272be614cad99c9530f6a102"),
        ),
        _Part(
            "answers-students",
            (162805, "4893f736e84cea176c39c882250f6513d5bbcfa6ebe8d3ffabcef6056d0471a7"),
            (4500, "028db213140f8c7aef7497c4ae38b6380938f20359852231669c83dce11c3701"),
        ),
        _Part(
            "belief",
            (289003, "a54ec7af1924c900d8474586abae465819d2c03c73561aa2e76e7fa5e836faff"),
            (3500, "5736192faaccbdbecd0ef6b73ec04b24115cd2e48d55dc3b1b170da3d2a81c75"),
        ),
        _Part(
            "headlines",
            (146911, "85d90b0f8f258a47758808d382188ba2ee7b1adbbf84feb776afad0e4691d5d1"),
            (4500, "e8e432f769c8a94ddb62ae3343890ac24a9dd78a116d56c707313bc59413dd56"),
        ),
        _Part(
            "images",
            (146961, "0dac9494186838a8f4dfbb4ee290fec8d7581cf84a33d615c522700b3b50e0d6"),
            (4500, "ed8878209098c77ca7f02ac413d3fd698f92ad3425999555e50fda89fc46012a"),
        ),
    ),
    2016: (
        _Part(
            "answer-answer",
            (151640, "ebbffced7d4630755e61d4dfe4d82121198965a14b9f5734b5abedb961f0725c"),
            (1826, "332efd741b0cb247d20dd2a6cec854360c921c7e6b395f328f562d8d26057214"),
        ),
        _Part(
            "headlines",
            (149506, "705c3e82fb85fa3b6706a481b790e1030304ddc9c72d39e126693ed44b258ba6"),
            (1747, "01e33a95996201a6e81e3cce9eda0f15048b77613ea64dce2929bb35479f7d85"),
        ),
        _Part(
            "plagiarism",
            (206994, "dd4ca54d1dfcd7d1cabe67f0de98cde23f4c1696ecc0003afbecae1274305d63"),
            (1501, "29984944a91aaff484f2b2e5d4d434fc8a6f5ef6f578a880cccd2786f5142fdc"),
        ),
        _Part(
            "postediting",
            (808635, "9b455d8da1d1bae692d038da1d431827d23bfec04c64b109efc3b6b620fd422f"),
            (3531, "81947ed9dbe7f85b7bd249df68ed5c7b2f16f06390ad568eb5554b1e26bc5577"),
        ),
        _Part(
            "question-question",
            (167903, "58920c7da7dbc1b860609310782d88b7457d599c90a226819b5880262dd7f58a"),
            (1764, "cf9ebf9d140191f73620cda0560947ad9283c910735d0d541b8a401a5e64afb0"),
        ),
    ),
}
_PAIRS = {2012: 3_108, 2013: 1_500, 2014: 3_750, 2015: 3_000, 2016: 1_186}
_STS_CITATIONS = {
    2012: "Agirre et al. 2012, SemEval-2012 Task 6",
    2013: "Agirre et al. 2013, *SEM 2013 shared task",
    2014: "Agirre et al. 2014, SemEval-2014 Task 10",
    2015: "Agirre et al. 2015, SemEval-2015 Task 2",
    2016: "Agirre et al. 2016, SemEval-2016 Task 1",
}

STSB_TRAIN = evalrank_file(
    f"{_STS}/STSBenchmark/sts-train.csv", 896_257, "4fc4924edd059a43e9c7c8927a72cb8061a87ef98afdf2026a0e0b540b458693"
)
STSB_DEV = evalrank_file(
    f"{_STS}/STSBenchmark/sts-dev.csv", 258_473, "c558fa95fec006608f13e3d942f153b614beabccbf33e64f36418d406a895e37"
)
STSB_TEST = evalrank_file(
    f"{_STS}/STSBenchmark/sts-test.csv", 206_733, "22ef3e10603b6655d7c7978c8eee26e7d5291dd5a71c5531b934fb025c108cbf"
)
STR = evalrank_file(
    "data/sent_similarity/STR/sem_text_rel_ranked.csv",
    1_009_609,
    "2624f378bbd4793466c235720e6d6b386449c322f576667825bea3998dc66a9d",
)
_SICK = {
    "train": evalrank_file(
        "data/sent_similarity/SICK/SICK_train.txt",
        506_719,
        "e02bd30f17ab87358f80ef079a6ef797acd244c3c7515de454301c7c257e410c",
    ),
    "trial": evalrank_file(
        "data/sent_similarity/SICK/SICK_trial.txt",
        57_293,
        "0d0786bd8671a0a70614f2f890b8ab24b3c24d1ccb624bcca87618091fbe4f11",
    ),
    "test": evalrank_file(
        "data/sent_similarity/SICK/SICK_test_annotated.txt",
        560_514,
        "d0362afe8304c8d08166b82d76da2a8c665d5b635ac1f3f1ee82054511749f97",
    ),
}

# Distinct texts of each dataset, for estimates and for what needs so many items (the tests count them).
_TEXTS = {
    "stsb-test": 2_551,
    "stsb-dev": 2_909,
    "stsb-all": 15_437,
    "sts12": 4_946,
    "sts13": 2_638,
    "sts14": 6_351,
    "sts15": 5_170,
    "sts16": 1_867,
    "sick-test": 5_007,
    "sick-all": 6_077,
    "str": 9_522,
    "ws353": 437,
    "ws353-sim": 277,
    "ws353-rel": 346,
    "mc30": 39,
    "rg65": 49,
    "rw": 2_951,
    "men": 751,
    "mturk287": 499,
    "mturk771": 1_113,
    "yp130": 147,
    "simlex999": 1_028,
    "verb143": 117,
    "simverb3500": 827,
}


def _entry(
    dataset_id: str,
    title: str,
    description: str,
    pairs: int,
    citation: str,
    files: tuple[SourceFile, ...],
    read: Callable[..., dict[str, list[Row]]],
    *,
    unit: str = "sentence",
    licence: str = _STS_LICENCE,
    sets: int = 1,
) -> DatasetEntry:
    """An entry of scored pairs; ``read`` makes its named sets of its files."""
    return DatasetEntry(
        id=dataset_id,
        title=title,
        description=description,
        kind=DatasetKind.SCORED_PAIRS,
        unit=unit,
        size=f"{pairs:,} scored pairs" + (f" in {sets} sets" if sets > 1 else ""),
        pairs=pairs,
        texts=_TEXTS[dataset_id],
        licence=licence,
        citation=citation,
        url=_URL,
        revision=EVALRANK_REVISION,
        files=files,
        load=lambda dataset_id, paths: scored_pairs.scored_pairs(dataset_id, read(*paths)),
    )


def _sts_years() -> Iterator[DatasetEntry]:
    for year, parts in _YEARS.items():
        folder = f"{_STS}/STS{year % 100}-en-test"
        files = []
        for part in parts:
            files.append(evalrank_file(f"{folder}/STS.input.{part.name}.txt", *part.sentences))
            files.append(evalrank_file(f"{folder}/STS.gs.{part.name}.txt", *part.scores))
        yield _entry(
            f"sts{year % 100}",
            f"STS {year}",
            f"The English test sets of STS {year}: sentence pairs, scored from 0 to 5 for how much their meanings have "
            "in common; tokenised and lower-cased."
            + (" Its set SMT is not public." if year == 2013 else "")
            + (" Pairs without a score are left out." if year > 2014 else ""),
            _PAIRS[year],
            _STS_CITATIONS[year],
            tuple(files),
            _read_year(tuple(part.name for part in parts)),
            sets=len(parts),
        )


def _read_year(names: tuple[str, ...]) -> Callable[..., dict[str, list[Row]]]:
    """What reads a year's files, two per set."""

    def read(*paths: Path) -> dict[str, list[Row]]:
        both = zip(paths[::2], paths[1::2], strict=True)
        return {name: scored_pairs.sts_year(*files) for name, files in zip(names, both, strict=True)}

    return read


def _word_sets() -> Iterator[DatasetEntry]:
    for (dataset_id, words), file in zip(WORD_SETS.items(), WORD_FILES, strict=True):
        yield _entry(
            dataset_id,
            words.title,
            f"{words.scored[0].upper()}{words.scored[1:]}; lower-cased.",
            words.pairs,
            words.citation,
            (file,),
            lambda path, name=words.title: {name: scored_pairs.word_similarity(path)},
            unit="word",
            licence="as published by its authors; here as in the toolkit's repository (BSD-3-Clause)",
        )


def _sick(dataset_id: str, title: str, description: str, pairs: int, parts: tuple[str, ...]) -> DatasetEntry:
    return _entry(
        dataset_id,
        title,
        f"{description}: sentence pairs, scored from 1 to 5 for how related they are.",
        pairs,
        "Marelli et al. 2014, A SICK cure for the evaluation of compositional distributional semantic models",
        tuple(_SICK[part] for part in parts),
        lambda *paths: {f"SICK-R {part}": scored_pairs.sick(path) for part, path in zip(parts, paths, strict=True)},
        licence="CC BY-NC-SA 3.0 (SICK)",
        sets=len(parts),
    )


def _stsb(dataset_id: str, pairs: int, parts: Mapping[str, SourceFile]) -> DatasetEntry:
    """STS-Benchmark, one set per part."""
    of = f"The {next(iter(parts))} split" if len(parts) == 1 else "All three splits"
    return _entry(
        dataset_id,
        f"STS-Benchmark, {next(iter(parts)) if len(parts) == 1 else 'all pairs'}",
        f"{of} of STS-Benchmark: sentence pairs, scored from 0 to 5 for how much their meanings have in "
        "common; tokenised and lower-cased, as encoders are usually tested on it.",
        pairs,
        "Cer et al. 2017, SemEval-2017 Task 1",
        tuple(parts.values()),
        lambda *paths: {f"STS-B {part}": scored_pairs.sts_benchmark(p) for part, p in zip(parts, paths, strict=True)},
        sets=len(parts),
    )


SIMILARITY = {
    entry.id: entry
    for entry in (
        _stsb("stsb-test", 1_379, {"test": STSB_TEST}),
        _stsb("stsb-dev", 1_500, {"dev": STSB_DEV}),
        _stsb("stsb-all", 8_628, {"train": STSB_TRAIN, "dev": STSB_DEV, "test": STSB_TEST}),
        *_sts_years(),
        _sick("sick-test", "SICK-R, test", "The test split of SICK", 4_927, ("test",)),
        _sick("sick-all", "SICK-R, all pairs", "All three splits of SICK", 9_927, ("train", "trial", "test")),
        _entry(
            "str",
            "STR-2022",
            "Sentence pairs of many kinds of text, scored from 0 to 1 for how related they are.",
            5_500,
            "Abdalla, Vishnubhotla and Mohammad 2023, What Makes Sentences Semantically Related?",
            (STR,),
            lambda path: {"STR": scored_pairs.semantic_relatedness(path)},
            licence="as published (STR)",
        ),
        *_word_sets(),
    )
}
