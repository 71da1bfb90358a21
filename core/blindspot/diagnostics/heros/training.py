"""Triplets to train with: a rewrite that changes the meaning, nearer to the original than one that keeps it."""

from __future__ import annotations

from collections.abc import Iterator

from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.heros import browsing
from blindspot.diagnostics.heros.definition import Meaning, meaning_of
from blindspot.errors import InputError
from blindspot.numerics.ranking.problem import TAU
from blindspot.runs.training_data.examples import Triplet
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def triplets(
    run: RunRecord,
    settings: Settings,  # noqa: ARG001 - as TripletsOf has it
    repository: Repository,
    *,
    most: int,
    margin: float,
) -> Iterator[Triplet]:
    """Originals, rewrites that keep their meaning, and rewrites that change it; the kind is the latter's subset.

    See ``Diagnostic.triplets``.

    Raises:
        InputError: no subset is known to keep the meaning, or none to change it.
    """
    entry = find_diagnostic(run.plan.diagnostic).at_version(run.plan.diagnostic_version)
    rows = repository.items(entry, [run.run_id], texts=True)
    sentences = browsing.sentences(rows, list(dict.fromkeys(rows["subset"])))
    kept, changed = (list(map(sentences.column, subsets)) for subsets in sides(sentences.subsets))
    cosine = sentences.cosine[run.run_id]
    for row, (original, rewrites) in enumerate(zip(sentences.originals, sentences.rewrites, strict=True)):
        for positive in kept:
            leads = sorted((float(cosine[row, positive] - cosine[row, negative]), negative) for negative in changed)
            for lead, negative in [lead for lead in leads if lead[0] <= margin + TAU][:most]:
                kinds = sentences.subsets[negative], sentences.subsets[positive]
                yield Triplet(original, rewrites[positive], rewrites[negative], kinds[0], lead, kinds[1])


def all_triplets(dataset: MinimalPairSet) -> Iterator[Triplet]:
    """Every original with each rewrite that keeps and each that changes its meaning, whatever a model says of them.

    Their lead is 0. Raises ``InputError`` as ``sides``.
    """
    kept, changed = sides(dataset.subsets)
    for row, original in enumerate(dataset.originals.tolist()):
        for positive in kept:
            for negative in changed:
                items = (original, int(dataset.rewrites[positive][row]), int(dataset.rewrites[negative][row]))
                anchor, near, far = (dataset.items[item] for item in items)
                yield Triplet(anchor, near, far, negative, 0.0, positive)


def sides(subsets: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The subsets that keep the meaning, and those that change it.

    Raises:
        InputError: there is none of either.
    """
    kept, changed = (
        [subset for subset in subsets if meaning_of(subset) is meaning] for meaning in (Meaning.KEPT, Meaning.CHANGED)
    )
    for names, what in ((kept, "keeps"), (changed, "changes")):
        if not names:
            raise InputError(
                f"none of the rewrites {', '.join(subsets)} is known to {what[:-1]} the meaning",
                expected="rewrites such as synonym or paraphrase, and others such as antonym or negation",
                remedy="name the columns of your file so",
            )
    return kept, changed
