"""``python -m core data overlap``: how many words the sentences of a dataset's pairs share (HEROS, table 1)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from core.cli import output
from core.cli.options import AsJson
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.base import Dataset
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.kinds.scored_pairs import ScoredPairs
from core.diagnostics.heros import lexical_overlap
from core.diagnostics.heros.lexical_overlap import PUBLISHED, Overlap
from core.encoders.transformer.word_pieces import bert_uncased
from core.errors import InputError
from core.settings import Settings
from core.types import Progress


def overlap(
    dataset: Annotated[
        str, typer.Argument(help=f"minimal or scored pairs: heros, stsb-test, sick-test, ..., or {datasets.OWN_FILE}")
    ],
    as_json: AsJson = False,
) -> None:
    """ROUGE F1 (as the package rouge 1.0.1), Levenshtein distance and length over word pieces, per subset."""
    entry = datasets.find(dataset)
    with output.progress(entry.id) as progress:
        found = overlaps(fetch.load(entry, Settings.from_environment(), progress), progress)
    if as_json:
        rows = {name: {k: v if v == v else None for k, v in asdict(o).items()} for name, o in found.items()}  # noqa: PLR0124 - NaN
        output.print_json({"dataset": entry.id, "overlap": rows})
        return
    shown = [(name, o, "") for name, o in found.items()]
    if len(found) > 1 and len({o.pairs for o in found.values()}) == 1:
        shown.append(("mean", lexical_overlap.mean_of(list(found.values())), ""))
    shown += [(name, o, "published") for name, o in PUBLISHED.items()]
    output.print_table(
        f"Lexical overlap of {entry.id}",
        ["pairs of", "number", "R1", "R2", "RL", "Lev", "length", ""],
        [(name, f"{o.pairs:,}", *_cells(o), what) for name, o, what in shown],
    )


def overlaps(dataset: Dataset, progress: Progress) -> dict[str, Overlap]:
    """Per subset of minimal pairs, or per set of scored pairs.

    Raises:
        InputError: a dataset of another kind.
    """
    if isinstance(dataset, MinimalPairSet):
        return lexical_overlap.of_subsets(dataset, bert_uncased, progress)
    if isinstance(dataset, ScoredPairs):
        return lexical_overlap.of_sets(dataset, bert_uncased, progress)
    raise InputError(
        f"'{dataset.id}' is a {dataset.kind}", expected="minimal pairs or scored pairs, for example demo-minimal"
    )


def _cells(o: Overlap) -> tuple[str, ...]:
    values = (o.rouge_1, o.rouge_2, o.rouge_l)
    rouge = (f"{100 * v:.1f}" if v == v else "–" for v in values)  # noqa: PLR0124 - NaN
    return (*rouge, f"{o.levenshtein:.2f}", f"{o.length:.1f}")
