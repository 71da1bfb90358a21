"""The two sides of a gate: a model's scores on a golden set, item by item, from a run or from a recorded file."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.diagnostic import Diagnostic, all_diagnostics, find_diagnostic
from blindspot.diagnostics.retrieval.definition import TREC_EVAL
from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import BlindspotError, InputError, unknown
from blindspot.files.writing import read_limited, write_atomically
from blindspot.numerics.statistics.compare import ItemScores
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Bool, Float32, Float64, Int64, digest_of_strings

FORMAT = "blindspot-gate-1"
SAME = 1e-9  # values of items that are alike
MOST_BYTES = 1 << 28  # of a recorded file


@dataclass(frozen=True, eq=False)
class Recorded:
    """A model's scores on a golden set.

    Attributes:
        name: of the model.
        dataset_digest: of the set's content; ``numbers [m]`` of the items that were evaluated.
        form: the same, but independent of line ends and the form of Unicode; "" if it is not known.
        rows: the same as ``form``, but independent of the order of rows; "" if not known, or if the order matters.
        texts: ``[m]`` digests of the items, independent of line ends and the form of Unicode; empty if not known.
        vectors: what ``sketch_of`` keeps of the model's vectors before its ``transform``; empty if they are not
            known, or there are none.
        source: digest of what made its vectors, or its ranking, and of the texts; "" if it is not known.
        values: the value of each score; ``parts``: ``[m]`` values of each score, see ``ItemScores``.
    """

    name: str
    diagnostic: str
    version: int
    params: Mapping[str, str]
    dataset_digest: str
    numbers: Int64
    values: Mapping[str, float]
    parts: Mapping[str, Float64]
    form: str = ""
    texts: tuple[str, ...] = ()
    rows: str = ""
    vectors: tuple[float, ...] = ()
    transform: str = ""
    source: str = ""

    def in_order_of(self, other: Recorded) -> Recorded | None:
        """The same with its items in another side's order; None if it has other items, or if identical items have
        different values."""
        places: dict[str, list[int]] = defaultdict(list)
        for number, digest in enumerate(self.texts):
            places[digest].append(number)
        if Counter(self.texts) != Counter(other.texts):
            return None
        for alike in places.values():
            if any(np.ptp(values[alike]) > SAME for values in self.parts.values()):
                return None
        order = np.array([places[digest].pop() for digest in other.texts], dtype=np.int64)
        parts = {name: values[order] for name, values in self.parts.items()}
        return replace(self, numbers=other.numbers, parts=parts, texts=other.texts)


def diagnostic_of(kind: DatasetKind) -> Diagnostic:
    """The diagnostic that gates on datasets of a kind: the first that can score item by item.

    Raises:
        InputError: there is none.
    """
    can = [entry for entry in all_diagnostics().values() if entry.is_gate]
    diagnostic = next((entry for entry in can if entry.dataset_kind is kind), None)
    if diagnostic is None:
        kinds = ", ".join(sorted({entry.dataset_kind.in_words for entry in can}))
        raise InputError(f"a {kind.in_words} cannot be gated on", expected=f"one of: {kinds}")
    return diagnostic


def scores_of(run: RunRecord, repository: Repository) -> Mapping[str, ItemScores]:
    """The scores of a finished run that can be gated on, item by item: those that are higher for better models.

    Raises:
        InputError: there are none.
    """
    entry = find_diagnostic(run.plan.diagnostic)
    if not entry.is_gate:
        raise InputError(f"the scores of {entry.id} are not made of items", expected="a run of another diagnostic")
    (scores,) = entry.item_scores([run], repository)
    usable = {name: score for name, score in scores.items() if score.higher_is_better}
    if not usable:
        raise InputError(
            f"{entry.title} has no score to gate on for this golden set: none is higher for better models",
            expected="minimal pairs of which one rewrite should be closer than another, such as synonym and antonym"
            if entry.dataset_kind is DatasetKind.MINIMAL_PAIR_SET
            else "another golden set",
        )
    return usable


def score_named(name: str, entry: Diagnostic, metrics: Mapping[str, float], scores_here: Mapping[str, Any]) -> str:
    """The score to gate on: the one asked for, or the headline; raises ``InputError`` if it is unknown."""
    asked = name or entry.headline_of(metrics)
    if asked not in scores_here:
        raise unknown(f"score of {entry.id} to gate on", asked, scores_here)
    return asked


def recorded(run: RunRecord, scores: Mapping[str, ItemScores], settings: Settings) -> Recorded:
    """A run's scores, and a sketch of its vectors where the cache has them."""
    plan = run.plan
    form, rows = _forms(run)
    return Recorded(
        plan.variant.label,
        plan.diagnostic,
        plan.diagnostic_version,
        plan.params,
        plan.dataset_digest,
        next(iter(scores.values())).numbers,
        {name: score.value for name, score in scores.items()},
        {name: score.parts for name, score in scores.items()},
        form,
        tuple(map(digest_of_item, next(iter(scores.values())).texts)),
        rows,
        _sketch_of_run(run, settings),
        plan.variant.transform,
        plan.embedding_digest,
    )


def digest_of_item(text: str) -> str:
    """Short digest of an item as one line, independent of its line ends and form of Unicode."""
    return digest_of_strings([" ".join(normalize("NFC", text).split())])[:16]


def _forms(run: RunRecord) -> tuple[str, str]:
    """``Dataset.form_digest`` and ``rows_digest`` of a user's file; files of the catalog have one form."""
    try:
        user_file = run.plan.dataset.entry().own
    except BlindspotError:  # the file of a stored run may be gone
        return "", ""
    dataset = user_file.loaded(run.plan.dataset) if user_file else None
    if dataset is None or dataset.content_digest != run.plan.dataset_digest:
        return "", ""
    ignores_order = find_diagnostic(run.plan.diagnostic).ignores_order and run.plan.params.get("ties") != TREC_EVAL
    return dataset.form_digest, dataset.rows_digest if ignores_order else ""


# --- vectors

SKETCH = 4_096  # numbers
ROWS_AT_ONCE = 16_384
SAME_VECTORS = 1e-5  # of a number's usual size: another machine or batch adds up in another order, 1e-7


def sketch_of(matrix: Float32, covered: Bool) -> Float64:
    """At most ``SKETCH`` numbers, equal to within ``SAME_VECTORS`` only if all covered rows of ``matrix [n, d]`` are.

    Each vector is projected on one random direction; of more than ``SKETCH`` vectors, some are added up with random
    signs.
    """
    random = np.random.default_rng(matrix.shape[1])
    direction = random.standard_normal(matrix.shape[1])
    rows = np.flatnonzero(covered)
    parts = (rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE))
    projected = np.concatenate([matrix[part].astype(np.float64) @ direction for part in parts])
    signs = random.choice([-1.0, 1.0], len(projected))
    return np.asarray(np.bincount(np.arange(len(projected)) % SKETCH, signs * projected), dtype=np.float64)


def have_same_vectors(old: Recorded, new: Recorded) -> bool:
    """Whether both models gave the same vectors, or ranking, of the same texts, up to rounding."""
    if old.transform != new.transform:
        return False
    if old.source and old.source == new.source:
        return True
    if not old.vectors or len(old.vectors) != len(new.vectors):
        return False
    a, b = np.array(old.vectors), np.array(new.vectors)
    return bool(np.abs(a - b).max() <= SAME_VECTORS * np.sqrt((a**2).mean()))


def _sketch_of_run(run: RunRecord, settings: Settings) -> tuple[float, ...]:
    """The sketch of a run's vectors; empty for a ranking, or if the cache has no vectors."""
    embedded = EmbeddingCache(settings.embeddings).read(run.plan.embedding_digest)
    if embedded is None or not embedded.covered.any():
        return ()
    return tuple(sketch_of(embedded.matrix, embedded.covered).tolist())


# --- the file


def write(
    path: Path, run: RunRecord, scores: Mapping[str, ItemScores], settings: Settings, *, texts: bool = False
) -> None:
    """Record a baseline: scores per item and the manifest, and no texts unless asked for.

    Raises:
        BlindspotError: the file cannot be written.
    """
    side = recorded(run, scores, settings)
    first = next(iter(scores.values()))
    content = {
        "format": FORMAT,
        "model": side.name,
        "diagnostic": side.diagnostic,
        "version": side.version,
        "params": dict(side.params),
        "dataset": run.plan.dataset.entry().title,
        "dataset_digest": side.dataset_digest,
        "scores": dict(side.values),
        **({"form_digest": side.form} if side.form else {}),
        **({"rows_digest": side.rows} if side.rows else {}),
        "items": side.numbers.tolist(),
        "item_digests": list(side.texts),
        "parts": {name: values.tolist() for name, values in side.parts.items()},
        "source": side.source,
        "transform": side.transform,
        **({"vectors": list(side.vectors)} if side.vectors else {}),
        "manifest": _without_paths(dict(run.manifest)),
        **({"texts": list(first.texts)} if texts else {}),
    }
    data = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode()
    write_atomically(path, lambda file: file.write(data))


def _without_paths(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest without the entries that name this machine's folders."""
    return {name: value for name, value in manifest.items() if name not in {"machine", "dataset"}}


def read(path: Path) -> Recorded:
    """Read a recorded baseline.

    Raises:
        InputError: there is no such file, or ``write`` did not write it.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}", expected="a baseline written by gate --record")
    try:
        content = json.loads(read_limited(path, MOST_BYTES))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}", expected="a baseline written by gate --record") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        form = content.get("format") if isinstance(content, dict) else None
        raise InputError(
            f"{path} has the format {form!r}" if form else f"{path} is no baseline",
            expected=f"{FORMAT}, as gate --record writes it",
            remedy="record it again",
        )
    try:
        return _checked(content)
    except (KeyError, TypeError, ValueError) as error:
        what = f"it has no '{error.args[0]}'" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path} is damaged: {what}", expected="a file as gate --record wrote it") from error


def _checked(content: Mapping[str, Any]) -> Recorded:
    """Raises ``KeyError``, ``TypeError`` or ``ValueError`` if something is missing or wrong."""
    numbers = np.array(content["items"], dtype=np.int64)
    parts = {str(name): np.array(values, dtype=np.float64) for name, values in content["parts"].items()}
    values = {str(name): float(value) for name, value in content["scores"].items()}
    if numbers.ndim != 1 or not len(numbers) or (np.diff(numbers) <= 0).any():
        raise ValueError("its items are not in ascending order")
    if not parts or set(parts) != set(values):
        raise ValueError("its scores and their parts differ")
    for name, of_items in parts.items():
        if of_items.shape != numbers.shape or not np.isfinite(of_items).all() or not math.isfinite(values[name]):
            raise ValueError(f"{name} does not have a finite number for each of {len(numbers):,} items")
    strings = [content[name] for name in ("model", "diagnostic", "dataset_digest")]
    if not all(isinstance(string, str) for string in strings) or not isinstance(content["version"], int):
        raise TypeError("a name is no text, or its version no number")
    params = {str(name): str(value) for name, value in content["params"].items()}
    model, diagnostic, digest = strings
    form, texts = str(content.get("form_digest", "")), tuple(map(str, content.get("item_digests", ())))
    rows = str(content.get("rows_digest", ""))
    if texts and len(texts) != len(numbers):
        raise ValueError(f"it has {len(texts):,} digests of {len(numbers):,} items")
    vectors = tuple(float(number) for number in content.get("vectors", ()))
    if not np.isfinite(vectors).all():
        raise ValueError("a number about its vectors is not finite")
    return Recorded(
        model,
        diagnostic,
        content["version"],
        params,
        digest,
        numbers,
        values,
        parts,
        form,
        texts,
        rows,
        vectors,
        str(content.get("transform", "")),
        str(content.get("source", "")),
    )
