"""Folder of training data: triplets and scored pairs as JSON lines and Parquet, a script that trains, and the facts.

Columns are those of sentence-transformers' losses in their order, without any other: ``anchor, positive, negative``
(``negative_1``, ... with several), and ``sentence1, sentence2, score``, the score 1.0 or 0.0.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from blindspot.errors import InputError
from blindspot.files.export import as_file
from blindspot.files.writing import write_atomically
from blindspot.runs.training_data.examples import Triplet
from blindspot.runs.training_data.making import TrainingData
from blindspot.texts import counted

ENDINGS = (".jsonl", ".parquet")
_SCRIPT = Path(__file__).with_name("train.py.txt")


def triplet_table(triplets: Sequence[Triplet], negatives: int = 1) -> pd.DataFrame:
    """A row per triplet; with several ``negatives``, per anchor and positive that has as many, the worst ones.

    Raises:
        InputError: no anchor has as many.
    """
    if negatives == 1:
        return pd.DataFrame([triplet.texts for triplet in triplets], columns=["anchor", "positive", "negative"])
    by_pair: dict[tuple[str, str], list[Triplet]] = {}
    for triplet in triplets:
        by_pair.setdefault((triplet.anchor, triplet.positive), []).append(triplet)
    rows = [
        (*pair, *(triplet.negative for triplet in sorted(of_pair, key=lambda negative: negative.lead)[:negatives]))
        for pair, of_pair in by_pair.items()
        if len(of_pair) >= negatives
    ]
    if not rows:
        most = max(map(len, by_pair.values()), default=0)
        raise InputError(f"no anchor has {negatives} negatives", expected=f"at most {most}")
    return pd.DataFrame(rows, columns=["anchor", "positive", *(f"negative_{i + 1}" for i in range(negatives))])


def pair_table(triplets: Sequence[Triplet]) -> pd.DataFrame:
    """A row per pair of texts: 1.0 of an anchor and its positive, 0.0 of an anchor and a negative."""
    positive = dict.fromkeys((triplet.anchor, triplet.positive) for triplet in triplets)
    negative = dict.fromkeys((triplet.anchor, triplet.negative) for triplet in triplets)
    rows = [(*pair, 1.0) for pair in positive] + [(*pair, 0.0) for pair in negative if pair not in positive]
    return pd.DataFrame(rows, columns=["sentence1", "sentence2", "score"])


def content(data: TrainingData, facts: Mapping[str, Any], negatives: int = 1) -> dict[PurePosixPath, bytes]:
    """All files by their paths in the folder; ``facts`` say where the data come from. Raises as ``triplet_table``."""
    out = dict[PurePosixPath, bytes]()
    counts: dict[str, dict[str, int]] = {}
    for part, triplets in (("train", data.train), ("held_out", data.held_out)):
        for form, table in (("triplets", triplet_table(triplets, negatives)), ("pairs", pair_table(triplets))):
            counts.setdefault(form, {})[part] = len(table)
            for ending in ENDINGS:
                out[PurePosixPath(form, f"{part}{ending}")] = as_file(table, ending)
    about = {
        **facts,
        "rows": counts,
        "components": data.components,
        "left_out": dict(data.left_out),
    }
    out[PurePosixPath("about.json")] = json.dumps(about, ensure_ascii=False, indent=2).encode()
    out[PurePosixPath("train.py")] = _SCRIPT.read_bytes()
    return out


def in_words(data: TrainingData) -> list[str]:
    """What was made, and what was left out, a sentence each."""
    connected = "a text" if data.whole else "an anchor or a positive"
    out = [
        f"{counted(len(data.train), 'triplet')} to train on and {len(data.held_out):,} held out, of "
        f"{counted(data.components, 'group')} of examples that share {connected}."
    ]
    return out + [f"Left out: {counted(count, 'example')}, {reason}." for reason, count in data.left_out.items()]


def write(folder: Path, files: Mapping[PurePosixPath, bytes]) -> None:
    """Write the files; raises ``BlindspotError`` where the disk refuses."""
    for path, data in files.items():
        write_atomically(folder / path, lambda file, data=data: file.write(data))  # type: ignore[misc]


def zipped(files: Mapping[PurePosixPath, bytes], name: str) -> bytes:
    """The files as a .zip with one folder, ``name``."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(str(PurePosixPath(name, path)), data)
    return out.getvalue()
