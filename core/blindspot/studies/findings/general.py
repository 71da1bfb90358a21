"""Evidence across diagnostics: scores that cannot be compared, truncated texts, fits on the tested texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from blindspot.diagnostic import FIT_ON, find_diagnostic
from blindspot.encoders.catalog import encoder_of, passages_of
from blindspot.encoders.transformer.reading import unread, whole_tokenizer
from blindspot.errors import BlindspotError
from blindspot.runs.findings import MOST_EXAMPLES, Example
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import counted
from blindspot.variants import Variant

LOOKED_AT = 200  # of the longest texts, for examples of what is cut off
_PER_DIRECTION = ("whiten", "pca", "flow")  # steps that estimate as many directions as there are dimensions


def not_comparable(chosen: Sequence[RunRecord], apart: Sequence[RunRecord]) -> list[Evidence]:
    """The variants that were tested on other texts than most, per dataset: a fact, not a test."""
    by_dataset: dict[str, list[RunRecord]] = {}
    for run in apart:
        by_dataset.setdefault(run.plan.dataset, []).append(run)
    out = []
    for dataset, runs in by_dataset.items():
        others = sum(run.plan.dataset == dataset for run in chosen)
        facts: dict[str, Fact] = {
            "title": find_diagnostic(runs[0].plan.diagnostic).title,
            "is_one": len(runs) == 1,
            "others": others,
        }
        out.append(Evidence("other-items", tuple(runs), len(runs), len(runs) + others, facts=facts))
    return out


def of_older_versions(runs: Sequence[RunRecord]) -> list[Evidence]:
    """The variants with runs of an older version only, per diagnostic; everything else leaves these runs out."""
    by_diagnostic: dict[str, list[RunRecord]] = {}
    for run in runs:
        by_diagnostic.setdefault(run.plan.diagnostic, []).append(run)
    out = []
    for diagnostic, older in by_diagnostic.items():
        entry = find_diagnostic(diagnostic)
        facts: dict[str, Fact] = {"title": entry.title, "version": entry.version}
        out.append(Evidence("older-version", tuple(older), len(older), len(older), facts=facts))
    return out


def fitted_on_tested(runs: Sequence[RunRecord]) -> list[Evidence]:
    """Variants with post-processing that was fitted on the tested texts, as one fact.

    Severity is the largest number of fitted directions per text, at most 1: the share of what the data can determine.
    """
    learning = [run for run in runs if run.plan.variant.chain.learns and FIT_ON not in run.plan.params]
    if not learning:
        return []
    by_variant = {run.plan.variant: run for run in reversed(learning)}
    return [
        Evidence(
            "fitted-on-what-is-tested",
            tuple(by_variant.values()),
            len(learning),
            len(learning),
            facts={"fitted": max(_share_fitted(run) for run in learning)},
            dataset=learning[0].plan.dataset,
        )
    ]


def _share_fitted(run: RunRecord) -> float:
    record = run.manifest.get("transform", {})
    n, d = int(record.get("n") or 0), int(record.get("d_in") or 0)
    if not n:
        return 0.0
    steps = run.plan.variant.chain.searched.steps
    directions = max(d if step.name in _PER_DIRECTION else (step.argument or 0) + 1 for step in steps)
    return min(1.0, directions / n)


def cut_off(runs: Sequence[RunRecord], repository: Repository, settings: Settings) -> list[Evidence]:
    """The share of truncated texts per encoder and dataset, with examples."""
    out = []
    seen: dict[tuple[str, str], RunRecord] = {}
    of_dataset = [run for run in runs if not find_diagnostic(run.plan.diagnostic).makes_texts]
    for run in sorted(of_dataset, key=lambda run: run.plan.variant.transform != "none"):
        seen.setdefault((run.plan.variant.encoder, run.plan.dataset_digest), run)
    for run in seen.values():
        share = run.manifest.get("embeddings", {}).get("truncated_share")
        if not share:
            continue
        facts = run.manifest.get("encoder", {})
        most = int(facts.get("max_length") or 0)
        n = int(run.coverage.get("items", 0))
        in_passages = passages_of(run.plan.variant.encoder) is not None
        ends_cut = (
            () if in_passages else _ends_not_read(run, most, str(facts.get("prompt") or ""), repository, settings)
        )
        told = {"in_passages": in_passages, "truncated": round(share * n), "most": most}
        out.append(Evidence("texts-cut-off", (run,), share, n, facts=told, examples=tuple(ends_cut)))
    return out


def _ends_not_read(
    run: RunRecord, most: int, prompt: str, repository: Repository, settings: Settings
) -> Iterable[Example]:
    """The texts that lose most, with the lost part marked; empty if the tokenizer is not available."""
    tokenizer = _tokenizer(run.plan.variant, settings)
    if tokenizer is None or not most:
        return []
    texts = repository.longest_texts(run.plan.dataset_digest, LOOKED_AT).values()
    ends = ((text, unread(tokenizer, text, most, prompt)) for text in texts)
    cut_texts = [(end.tokens, text, end.start) for text, end in ends if end is not None]
    cut_texts.sort(key=lambda unread_text: -unread_text[0])
    return [
        Example((("text", text),), f"the last {counted(lost, 'token', 'tokens')} not read", (((start, len(text)),),))
        for lost, text, start in cut_texts[:MOST_EXAMPLES]
    ]


def _tokenizer(variant: Variant, settings: Settings) -> Any:
    """The encoder's tokenizer without truncation, or None; without loading the model."""
    try:
        encoder = encoder_of(variant.encoder, settings)
    except BlindspotError:  # the encoder is gone, its results still count
        return None
    return whole_tokenizer(encoder)
