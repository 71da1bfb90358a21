"""Findings across diagnostics: scores that cannot be compared, truncated texts, fits on the tested texts."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from typing import Any

from blindspot.diagnostic import FIT_ON, find_diagnostic
from blindspot.encoders.catalog import passages_of, resolve_encoder
from blindspot.encoders.transformer.reading import unread, whole_tokenizer
from blindspot.errors import BlindspotError
from blindspot.runs.findings import MOST_EXAMPLES, Example, Finding, Level
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import counted, listed
from blindspot.variants import Variant

STORE = "store"  # in place of a diagnostic
LOOKED_AT = 200  # of the longest texts, for examples of what is cut off
MOST_NAMED = 6  # variants in a sentence
LETTERS = string.ascii_uppercase[:MOST_NAMED]  # the places of their names
_PER_DIRECTION = ("whiten", "pca", "flow")  # steps that estimate as many directions as there are dimensions


def names(variants: int) -> str:
    """Places of the names of so many variants in a sentence: ``{A}, {B} and {C}``."""
    more = [counted(variants - MOST_NAMED, "other")] if variants > MOST_NAMED else []
    return listed([*(f"{{{letter}}}" for letter in LETTERS[:variants]), *more])


def not_comparable(chosen: Sequence[RunRecord], apart: Sequence[RunRecord]) -> list[Finding]:
    """Per dataset the variants tested on other texts than most: a fact, not a test."""
    by_dataset: dict[str, list[RunRecord]] = {}
    for run in apart:
        by_dataset.setdefault(run.plan.dataset, []).append(run)
    out = []
    for dataset, runs in by_dataset.items():
        others = sum(run.plan.dataset == dataset for run in chosen)
        entry = find_diagnostic(runs[0].plan.diagnostic)
        is_one = len(runs) == 1
        out.append(
            Finding(
                kind="other-items",
                level=Level.CAUTION,
                sentence=f"{names(len(runs))} {'was' if is_one else 'were'} tested on different texts than the other "
                f"{counted(others, 'model', 'models')}, so the {entry.title} scores cannot be compared.",
                diagnostic=entry.id,
                dataset=dataset,
                runs=tuple(runs),
                value=len(runs),
                test="counted: models tested on different texts",
                n=len(runs) + others,
                severity=len(runs) / (len(runs) + others),
                page=entry.place[0],
                address=entry.place[1],
            )
        )
    return out


def of_older_versions(runs: Sequence[RunRecord]) -> list[Finding]:
    """Per diagnostic the variants with runs of an older version only, which everything else leaves out."""
    by_diagnostic: dict[str, list[RunRecord]] = {}
    for run in runs:
        by_diagnostic.setdefault(run.plan.diagnostic, []).append(run)
    out = []
    for diagnostic, of_it in by_diagnostic.items():
        entry = find_diagnostic(diagnostic)
        variants = dict.fromkeys(run.plan.variant for run in of_it)
        out.append(
            Finding(
                kind="older-version",
                level=Level.CAUTION,
                sentence=f"{entry.title} of {names(len(variants))} was computed by an older version and is left out: "
                f"{counted(len(of_it), 'run', 'runs')} to compute again.",
                diagnostic=diagnostic,
                dataset=of_it[0].plan.dataset,
                runs=tuple(of_it),
                value=len(of_it),
                test=f"counted: finished runs of a version before {entry.version}",
                n=len(of_it),
                severity=0.5,
                page="run",
            )
        )
    return out


def fitted_on_tested(runs: Sequence[RunRecord]) -> list[Finding]:
    """Variants whose post-processing was fitted on the tested texts, as one fact.

    Severity is the largest number of fitted directions per text: the share of what the data can determine.
    """
    learning = [run for run in runs if run.plan.variant.chain.learns and FIT_ON not in run.plan.params]
    if not learning:
        return []
    by_variant = {run.plan.variant: run for run in reversed(learning)}
    return [
        Finding(
            kind="fitted-on-what-is-tested",
            level=Level.CAUTION,
            sentence=f"The post-processing of {names(len(by_variant))} was fitted on the texts it is tested on, in "
            f"{counted(len(learning), 'run', 'runs')}: scores on new texts may be lower.",
            diagnostic=STORE,
            dataset=learning[0].plan.dataset,
            runs=tuple(by_variant.values()),
            value=len(learning),
            test="counted: runs without a separate dataset for fitting",
            n=len(learning),
            severity=max(_share_fitted(run) for run in learning),
            page="lab",
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


def cut_off(runs: Sequence[RunRecord], repository: Repository, settings: Settings) -> list[Finding]:
    """Per encoder and dataset the share of truncated texts, with examples."""
    out = []
    seen: dict[tuple[str, str], RunRecord] = {}
    for run in sorted(runs, key=lambda run: run.plan.variant.transform != "none"):
        seen.setdefault((run.plan.variant.encoder, run.plan.dataset_digest), run)
    for run in seen.values():
        share = run.manifest.get("embeddings", {}).get("truncated_share")
        if not share:
            continue
        facts = run.manifest.get("encoder", {})
        most = int(facts.get("max_length") or 0)
        n = int(run.coverage.get("items", 0))
        in_passages = passages_of(run.plan.variant.encoder) is not None
        of_texts = f"{round(share * n):,} of {counted(n, 'text')} ({share:.1%})"
        entry = find_diagnostic(run.plan.diagnostic)
        out.append(
            Finding(
                kind="texts-cut-off",
                level=Level.CAUTION,
                sentence=f"{{A}} truncates {f'{share:.1%} of its passages and queries' if in_passages else of_texts}: "
                f"it reads at most {most:,} tokens.",
                diagnostic=STORE,
                dataset=run.plan.dataset,
                runs=(run,),
                value=share,
                test="counted by the model's own tokenizer",
                n=n,
                severity=min(1.0, share),
                page=entry.place[0],
                address=entry.place[1],
                examples=()
                if in_passages
                else tuple(_ends_not_read(run, most, str(facts.get("prompt") or ""), repository, settings)),
            )
        )
    return out


def _ends_not_read(
    run: RunRecord, most: int, prompt: str, repository: Repository, settings: Settings
) -> Iterable[Example]:
    """The texts that lose most, with the lost part marked; none where the tokenizer is not available."""
    tokenizer = _tokenizer(run.plan.variant, settings)
    if tokenizer is None or not most:
        return []
    texts = repository.longest_texts(run.plan.dataset_digest, LOOKED_AT).values()
    ends = ((text, unread(tokenizer, text, most, prompt)) for text in texts)
    found = [(end.tokens, text, end.start) for text, end in ends if end is not None]
    found.sort(key=lambda one: -one[0])
    return [
        Example((("text", text),), f"the last {counted(lost, 'token', 'tokens')} not read", (((start, len(text)),),))
        for lost, text, start in found[:MOST_EXAMPLES]
    ]


def _tokenizer(variant: Variant, settings: Settings) -> Any:
    """The encoder's tokenizer without truncation, or None; without loading the model."""
    try:
        encoder = resolve_encoder(variant.encoder, settings)
    except BlindspotError:  # the encoder is gone, its results still count
        return None
    return whole_tokenizer(encoder)
