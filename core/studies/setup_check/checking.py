"""The whole set-up check of a model, with or without a reference: what is encoded, and which check gets what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.studies.setup_check import demo, fitting, reading, stability, vectors
from blindspot.studies.setup_check.models import Model, Reference, apart, cosines
from blindspot.studies.setup_check.probes import LONGEST, Kind, Probe, probes
from blindspot.studies.setup_check.results import TITLES, Report, Result, Verdict
from blindspot.types import Bool, Float32

BATCH = 50  # probes per request
DEMO_BATCH = 32
REPEATED = 8  # texts encoded twice
OF_FIT = 30  # words at most of a text for fits: no limit cuts it off
FEWEST = 16  # plain texts with a vector, below which nothing can be said
SHUFFLE = 8


def check(
    name: str,
    model: Model,
    settings: Settings,
    reference: Reference | None = None,
    reference_name: str = "",
    *,
    quick: bool = False,
) -> Report:
    """Check a model.

    Args:
        quick: without the demo datasets, which are two thirds of all texts.

    Raises:
        InputError: it has no vectors for plain English texts.
        Cancelled: between two batches.
        BlindspotError: a model failed.
    """
    began = perf_counter()
    found = _Check(model, settings, reference, quick)
    results = found.results()
    order = list(TITLES)
    return Report(
        encoder=name,
        reference=reference_name,
        results=tuple(sorted(results, key=lambda r: order.index(r.check))),
        worst=found.worst,
        texts=model.texts,
        requests=model.requests,
        seconds=perf_counter() - began,
    )


@dataclass
class _Check:
    """What is encoded once and read by several checks."""

    model: Model
    settings: Settings
    reference: Reference | None
    quick: bool
    worst: tuple[tuple[str, str, float], ...] = ()

    def results(self) -> list[Result]:
        model, reference = self.model, self.reference
        longest = reading.longest_of(model.max_length, reference.max_length if reference else 0)
        plain, alone = self._plain()
        results = []
        # --- one text, alone and among others
        again = model.encode_each(plain[:REPEATED])
        results.append(stability.repeat(alone[:REPEATED], again))
        together = model.encode(plain)
        matched = stability.matched(together, alone)
        results.append(stability.order(matched, plain, "its vector when encoded alone"))
        of_batch = stability.batch(alone, together[matched.rows], plain)
        results.append(of_batch)
        # --- the limit, by texts alone
        noise = float(np.median(apart(alone[:REPEATED], again)))
        limit = reading.limit_of(model, longest, noise)
        their_limit = reading.limit_of(reference, longest) if reference else None
        results.append(reading.limit(limit, model.max_length, their_limit))
        # --- all probes, lengths mixed within a batch; alone where a batch changes vectors
        limits = [one.reads for one in (limit, their_limit) if one and not one.is_stale]
        words = max(limits, default=longest)
        asked = tuple(p for p in probes(min(words, longest // 2)) if not limit.refused or p.words <= limit.tried)
        shown = np.random.default_rng(SHUFFLE).permutation(len(asked))
        asked = tuple(asked[i] for i in shown)
        texts = [p.text for p in asked]
        is_sound = matched.count == 0 and of_batch.verdict is Verdict.OK
        own = model.encode_all(texts, BATCH) if is_sound else model.encode_each(texts)
        results.append(stability.finite(own, asked, is_partial=model.is_partial))
        theirs = reference.encode_all(texts, BATCH) if reference else None
        if theirs is not None and is_sound:
            own, results = self._in_order(own, theirs, asked, results)
        usable: Bool = np.asarray(np.isfinite(own).all(axis=1))
        if theirs is not None:
            usable &= np.isfinite(theirs).all(axis=1)
            theirs = theirs[usable]
        own, asked = own[usable], tuple(p for p, good in zip(asked, usable, strict=True) if good)
        results.append(stability.distinct(own, asked, None if limit.is_stale else limit.words, theirs))
        results.append(vectors.length(alone, reference.encode(plain) if reference else None))
        results += [reading.sensitivity(check, own, asked, theirs) for check in reading.KINDS]
        if reference is None or theirs is None:
            results.append(vectors.dimension(alone, None))
            results.append(vectors.precision(own, None, 0, ""))
        else:
            ranked = None if self.quick or matched.count else self._ranked(reference)
            results += self._against(plain, alone, own, theirs, asked, reference, ranked)
        if self.quick or matched.count:
            why = "A quick check leaves out the demo datasets." if self.quick else "The order of vectors is wrong."
            results.append(Result("prefixes", Verdict.UNCHECKED, why))
        else:
            results.append(demo.prefixes(model, demo.retrieval_of(self.settings), DEMO_BATCH))
        return results

    def _plain(self) -> tuple[list[str], Float32]:
        """Plain texts that have a vector, each encoded alone."""
        plain = [p.text for p in probes(LONGEST) if p.kind is Kind.PLAIN]
        alone = self.model.encode_each(plain)
        has_vector: Bool = np.asarray(np.isfinite(alone).all(axis=1))
        if has_vector.sum() < FEWEST:
            raise InputError(
                f"the model has a vector for {int(has_vector.sum())} of {len(plain)} plain English texts",
                expected="a model that encodes any text",
                remedy="check the model that made these vectors, or one of English texts",
            )
        return [text for text, has in zip(plain, has_vector, strict=True) if has], alone[has_vector]

    def _ranked(self, reference: Reference) -> demo.Ranked | None:
        sentences, pairs = demo.pairs_of(self.settings)
        own, theirs = (model.encode_all(sentences, DEMO_BATCH) for model in (self.model, reference))
        if not (np.isfinite(own).all() and np.isfinite(theirs).all()):
            return None
        return demo.Ranked.of(own, theirs, pairs)

    def _in_order(
        self, own: Float32, theirs: Float32, asked: Sequence[Probe], results: list[Result]
    ) -> tuple[Float32, list[Result]]:
        """The probes' vectors in the order of their texts; another order in a large batch replaces the result."""
        d = own.shape[1]
        if d > theirs.shape[1] or not np.isfinite(own).all() or not np.isfinite(theirs).all():
            return own, results
        rows = np.arange(len(own))
        for start in range(0, len(own), BATCH):
            part = slice(start, start + BATCH)
            matched = stability.matched(own[part], theirs[part, :d])
            rows[part] = matched.rows + start
            is_new = all(r.verdict is not Verdict.WRONG for r in results if r.check == "order")
            if matched.count and is_new:
                texts = [p.text for p in asked[part]]
                results = [r for r in results if r.check != "order"]
                results.append(stability.order(matched, texts, "the reference's vector"))
        return own[rows], results

    def _against(
        self,
        plain: Sequence[str],
        alone: Float32,
        own: Float32,
        theirs: Float32,
        asked: Sequence[Probe],
        reference: Reference,
        ranked: demo.Ranked | None,
    ) -> list[Result]:
        short = [i for i, text in enumerate(plain) if len(text.split()) <= OF_FIT]
        texts, kept = [plain[i] for i in short], alone[short]
        made = fitting.candidates(reference, texts)
        results = [vectors.dimension(kept, made[0][0].vectors)]
        best: Float32 | None = None
        what = ""
        layers = made[1]
        if kept.shape[1] <= made[0][0].vectors.shape[1]:
            found = fitting.fit(kept, made)
            results += [fitting.result(aspect, found) for aspect in ("pooling", "layer", "prompt")]
            if found.is_explained:
                best, what = found.candidates[found.best].vectors, found.candidates[found.best].name
        else:
            why = "The dimensions differ."
            results += [Result(aspect, Verdict.UNCHECKED, why) for aspect in ("pooling", "layer", "prompt")]
        results.append(vectors.precision(kept, best, layers, what))
        results.append(demo.agreement(own, theirs, ranked, [p.kind.value for p in asked]))
        if own.shape[1] <= theirs.shape[1]:
            alike = cosines(own, theirs[:, : own.shape[1]])
            order = np.argsort(alike, kind="stable")[: demo.WORST].tolist()
            self.worst = tuple((asked[i].text, asked[i].kind.value, float(alike[i])) for i in order)
        return results
