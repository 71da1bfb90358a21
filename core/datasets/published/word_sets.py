"""The thirteen word similarity sets: their files, and what to say of each."""

from __future__ import annotations

from dataclasses import dataclass

from core.datasets.entries import evalrank_file


@dataclass(frozen=True)
class WordSet:
    """A word set: its name in the repository, size and sha256 of its file, pairs, and what to say of it."""

    file_name: str
    size: int
    sha256: str
    pairs: int
    title: str
    scored: str
    citation: str


_RELATED = "word pairs, scored for how related they are"
_SIMILAR = "word pairs, scored for how similar they are, not how related"
WORD_SETS = {
    "ws353": WordSet(
        "WS-353-ALL",
        7405,
        "ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c",
        353,
        "WordSim-353",
        _RELATED,
        "Finkelstein et al. 2002, Placing Search in Context",
    ),
    "ws353-sim": WordSet(
        "WS-353-SIM",
        4002,
        "f1da938998863c94e53f72f984a5c6e215f0b46c323aae8f0f4930703a339107",
        203,
        "WordSim-353, similarity",
        "the pairs of WordSim-353 that are similar or unrelated",
        "Agirre et al. 2009, A Study on Similarity and Relatedness",
    ),
    "ws353-rel": WordSet(
        "WS-353-REL",
        5134,
        "66a7c88100624d0a391605ff61ce84e11d11ee620d51ec0298da49592838f8fa",
        252,
        "WordSim-353, relatedness",
        "the pairs of WordSim-353 that are related or unrelated",
        "Agirre et al. 2009, A Study on Similarity and Relatedness",
    ),
    "mc30": WordSet(
        "MC-30",
        543,
        "33ee05911496ff83d95cac351d0746c6f63b9181b605cb7d307f4daa8864511b",
        30,
        "MC-30",
        _SIMILAR,
        "Miller and Charles 1991, Contextual Correlates of Semantic Similarity",
    ),
    "rg65": WordSet(
        "RG-65",
        1210,
        "c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f",
        65,
        "RG-65",
        _SIMILAR,
        "Rubenstein and Goodenough 1965, Contextual Correlates of Synonymy",
    ),
    "rw": WordSet(
        "RW-STANFORD",
        49851,
        "5108d54dfc746f44f9c3d7e31d2857c37cf71430bc1594175a61a3b89bb0ae1f",
        2034,
        "Rare words",
        "pairs with a rare word, scored for how similar they are",
        "Luong, Socher and Manning 2013, Better Word Representations with Recursive Neural Networks for Morphology",
    ),
    "men": WordSet(
        "MEN-TR-3k",
        53593,
        "3df21751d8f69d51619ec62251c045da70815f3fad27736db7c1fc99ff3bfacf",
        3000,
        "MEN",
        _RELATED,
        "Bruni, Tran and Baroni 2014, Multimodal Distributional Semantics",
    ),
    "mturk287": WordSet(
        "MTurk-287",
        7218,
        "a9ae3a9decb75a9700fe0cf18b048c1344774d9f40e0196baf8e34d4cd9d1ce5",
        287,
        "MTurk-287",
        _RELATED,
        "Radinsky et al. 2011, A Word at a Time",
    ),
    "mturk771": WordSet(
        "MTurk-771",
        19629,
        "a8cc04ed7b45a95a4b8915814c75c30ef99ab6001b534205529b07273022f569",
        771,
        "MTurk-771",
        _RELATED,
        "Halawi et al. 2012, Large-Scale Learning of Word Relatedness with Constraints",
    ),
    "yp130": WordSet(
        "YP-130",
        2614,
        "4b963f0771ba8cf1d378de8cd43387c31eae34a5e57e2de3685c53fc2cdd9a73",
        130,
        "YP-130",
        "verb pairs, scored for how similar they are",
        "Yang and Powers 2006, Verb Similarity on the Taxonomy of WordNet",
    ),
    "simlex999": WordSet(
        "SIMLEX-999",
        18024,
        "405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685",
        999,
        "SimLex-999",
        _SIMILAR,
        "Hill, Reichart and Korhonen 2015, SimLex-999",
    ),
    "verb143": WordSet(
        "VERB-143",
        3320,
        "7259e19961c81912aa4c72de0102e480b2ad2bb9f4ce97d036fbde8e1a403001",
        144,
        "Verb-143",
        "verb pairs, scored for how similar they are",
        "Baker, Reichart and Korhonen 2014, An Unsupervised Model for Instance Level Subcategorization Acquisition",
    ),
    "simverb3500": WordSet(
        "SimVerb-3500",
        65315,
        "9d84274e7ad029fd3cf69dd0516e9ade624bbef9bd4e2050f6cc1fa01471e0f5",
        3500,
        "SimVerb-3500",
        "verb pairs, scored for how similar they are",
        "Gerz et al. 2016, SimVerb-3500",
    ),
}
WORD_FILES = tuple(
    evalrank_file(f"data/word_similarity/EN-{words.file_name}.txt", words.size, words.sha256)
    for words in WORD_SETS.values()
)
