"""SemAntoNeg (Vahtola, Creutz and Tiedemann 2022) as minimal pairs: a sentence, its paraphrase, and two opposites.

In every item of the file, the first option has the word's opposite in its place, with as many negations as before; the
second keeps the word, and has one negation more or fewer (in tag questions the tag changes with it); the third has both
changes and so says the same again. The third is always right, so a score must not depend on the order.
"""

from __future__ import annotations

import json
from pathlib import Path

from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.datasets.published.text_lines import lines, parsed
from blindspot.errors import DataCorrupt

PARAPHRASE = "paraphrase"
OPTIONS = ("antonym", "negation", PARAPHRASE)  # in the file's order
SHOWN = (PARAPHRASE, "antonym", "negation")
EXPECTED = "a JSON object with an input, three sentences and the label 2"


def load(dataset_id: str, path: Path) -> MinimalPairSet:
    """The file: one JSON object per line."""
    items = parsed(path, [line for line in lines(path) if line[1].strip()], _item, EXPECTED)
    if len(items) < 2:
        raise DataCorrupt(f"{path} has {len(items)} item(s)", expected="at least two")
    originals, *options = zip(*items, strict=True)
    columns = dict(zip(OPTIONS, options, strict=True))
    return minimal_pair_set(dataset_id, originals, {subset: columns[subset] for subset in SHOWN})


def _item(line: str) -> list[str]:
    """The input and its options."""
    item = json.loads(line)
    texts = [item["input"], *item["sentences"]] if isinstance(item["sentences"], list) else []
    fits = len(texts) == 1 + len(OPTIONS) and all(isinstance(t, str) and t.strip() for t in texts)
    if not fits or item["label"] != OPTIONS.index(PARAPHRASE):
        raise ValueError("no item")
    return texts
