"""SemAntoNeg (Vahtola, Creutz and Tiedemann 2022) as minimal pairs: a sentence, its paraphrase, and two opposites.

In every item of the file the first option has the word's opposite in its place, with as many negations as before; the
second has the word, and a negation more or less (in tag questions the tag turns with it); the third has both changes
and so says the same again. The third is the right one, everywhere: whoever scores options must not look at places.
"""

from __future__ import annotations

import json
from pathlib import Path

from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.published.minimal_pairs import minimal_pair_set
from core.errors import DataCorrupt

PARAPHRASE = "paraphrase"
OPTIONS = ("antonym", "negation", PARAPHRASE)  # what stands at each place
SHOWN = (PARAPHRASE, "antonym", "negation")
EXPECTED = "a JSON object with an input, three sentences and the label 2"


def load(dataset_id: str, path: Path) -> MinimalPairSet:
    """The file: one JSON object per line.

    Raises:
        DataCorrupt: not UTF-8, or a line of another kind.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataCorrupt(f"{path} is not UTF-8 (byte {error.start})", expected="a UTF-8 text file") from error
    originals: list[str] = []
    options: list[list[str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        original, sentences = _item(path, number, line)
        originals.append(original)
        options.append(sentences)
    if len(originals) < 2:
        raise DataCorrupt(f"{path} has {len(originals)} item(s)", expected="at least two")
    columns = dict(zip(OPTIONS, zip(*options, strict=True), strict=True))
    return minimal_pair_set(dataset_id, originals, {subset: columns[subset] for subset in SHOWN})


def _item(path: Path, number: int, line: str) -> tuple[str, list[str]]:
    try:
        item = json.loads(line)
        original, sentences, label = item["input"], item["sentences"], item["label"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataCorrupt(f"{path}, line {number}: '{line[:60]}'", expected=EXPECTED) from error
    texts = [original, *sentences] if isinstance(sentences, list) else []
    fits = len(texts) == 1 + len(OPTIONS) and all(isinstance(t, str) and t.strip() for t in texts)
    if not fits or label != OPTIONS.index(PARAPHRASE):
        raise DataCorrupt(f"{path}, line {number}: '{line[:60]}'", expected=EXPECTED)
    return original, sentences
