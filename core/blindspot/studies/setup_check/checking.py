"""The whole set-up check of a model, with or without a reference: what is encoded, and which check gets what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np

from blindspot.encoders.cache import TEXTS_PER_CHUNK
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.studies.setup_check import demo, fitting, reading, space, stability, vectors
from blindspot.studies.setup_check.models import Asking, Batch, Model, Reference, apart, cosines, unit
from blindspot.studies.setup_check.probes import LONGEST, Kind, Probe, probes, words
from blindspot.studies.setup_check.results import TITLES, Report, Result, State
from blindspot.types import Bool, Float32

BATCH = 50  # probes per request
DEMO_BATCH = 32
MOST_BETWEEN = 3  # times that one text is asked for between two others, at most one less
REPEATED = 8  # number of that text
IN_A_ROW = 12  # times that it is asked for then
ASKED = 5_000  # of texts made for the check that asks as a run asks
MOST_ALONE = 32  # texts whose two answers differ that are asked for alone
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
    run_of_checks = _Check(model, settings, reference, quick)
    results = run_of_checks.results()
    order = list(TITLES)
    return Report(
        encoder=name,
        reference=reference_name,
        results=tuple(sorted(results, key=lambda r: order.index(r.check))),
        worst=run_of_checks.worst,
        texts=model.texts,
        requests=model.requests,
        seconds=perf_counter() - began,
    )


@dataclass(frozen=True, eq=False)
class _Again:
    """Texts asked for again alone: ``vectors [n, d]`` of ``texts``, and ``one [k, d]`` of ``text`` at ``requests``."""

    texts: Sequence[str]
    vectors: Float32
    one: Float32
    requests: Sequence[int]
    text: str


def _elsewhere(answers: Float32, plain: Float32) -> int:
    """How many answers are nearer to another text's vector."""
    nearest = (unit(answers) @ unit(plain).T).argmax(axis=1)
    wrong = nearest != np.arange(len(plain))
    return int((wrong & (stability.moved(answers, plain) > stability.FAR)).sum())


@dataclass
class _Check:
    """What is encoded once and read by several checks."""

    model: Model
    settings: Settings
    reference: Reference | None
    quick: bool
    worst: tuple[tuple[str, str, float], ...] = ()

    def results(self) -> list[Result]:
        plain, alone = self._plain()
        again = self._again(plain)
        row_of = {text: row for row, text in enumerate(plain)}
        first = alone[[row_of[text] for text in again.texts]]
        repeated = stability.repeat(first, again.vectors, again.one, again.requests, again.text)
        if repeated.verdict is not State.OK:
            why = "The same text gets different vectors: no other check can be trusted."
            return [repeated, *(Result(check, State.UNCHECKED, why) for check in TITLES if check != "repeat")]
        noise = float(np.median(apart(first, again.vectors)))
        return [repeated, *self._of_a_function(plain, alone, noise)]

    def _of_a_function(self, plain: list[str], alone: Float32, noise: float) -> list[Result]:
        """All other checks, of a model that gives a text the same vector twice.

        Args:
            noise: by how much a vector changes when its text is encoded again, relative.
        """
        model, reference = self.model, self.reference
        longest = reading.longest_of(model.max_length, reference.max_length if reference else 0)
        # --- one text, alone and among others
        together = model.encode(plain)
        matched = stability.matched(together, alone)
        of_batch = stability.batch(alone, together[matched.rows], plain)
        as_run = self._as_run(plain, alone)
        results = [stability.order(matched, plain, "its vector when encoded alone"), of_batch, as_run]
        # --- the limit, by texts alone
        limit = reading.limit_of(model, longest, noise)
        their_limit = reading.limit_of(reference, longest) if reference else None
        results.append(reading.limit(limit, model.max_length, their_limit))
        # --- all probes, lengths mixed within a batch; alone where a batch changes vectors
        limits = [reading.reads for reading in (limit, their_limit) if reading and not reading.is_stale]
        read = max(limits, default=longest)
        asked = tuple(p for p in probes(min(read, longest // 2)) if not limit.refused or p.words <= limit.tried)
        shown = np.random.default_rng(SHUFFLE).permutation(len(asked))
        asked = tuple(asked[i] for i in shown)
        texts = [p.text for p in asked]
        is_sound = matched.count == 0 and {of_batch.verdict, as_run.verdict} == {State.OK}
        encoded = model.encode_all(texts, BATCH) if is_sound else model.encode_each(texts)
        results.append(stability.finite(encoded, asked, is_partial=model.is_partial))
        theirs = reference.encode_all(texts, BATCH) if reference else None
        usable: Bool = np.asarray(np.isfinite(encoded).all(axis=1))
        if theirs is not None:
            usable &= np.isfinite(theirs).all(axis=1)
            theirs = theirs[usable]
        encoded, asked = encoded[usable], tuple(p for p, good in zip(asked, usable, strict=True) if good)
        results.append(stability.distinct(encoded, asked, None if limit.is_stale else limit.words, theirs))
        results.append(vectors.length(alone, reference.encode(plain) if reference else None))
        results += [reading.sensitivity(check, encoded, asked, theirs) for check in reading.KINDS]
        if reference is None or theirs is None:
            results.append(vectors.dimension(alone, None))
            results.append(vectors.precision(encoded, None, 0, ""))
        else:
            ranked = self._ranked(reference) if is_sound and not self.quick else None
            results += self._against(plain, alone, encoded, theirs, asked, reference, ranked, results)
        if self.quick or not is_sound:
            left_out, unsound = "A quick check leaves out the demo datasets.", "Texts get other vectors in a batch."
            why = left_out if self.quick else unsound
            results.append(Result("prefixes", State.UNCHECKED, why))
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

    def _again(self, plain: Sequence[str]) -> _Again:
        """The texts encoded alone again, in any order, and between them one text at uneven intervals, then in a row.

        Of replicas that take turns each answers some: in a row of ``IN_A_ROW``, all of as many. A load balancer that
        others use as well is met at uneven intervals.
        """
        random = np.random.default_rng(SHUFFLE)
        repeats, text = [], plain[REPEATED]
        requests: list[int] = []
        by_row: dict[int, Float32] = {}

        def ask(times: int) -> None:
            for _ in range(times):
                requests.append(self.model.requests)
                repeats.append(self.model.encode([text])[0])

        for row in random.permutation(len(plain)).tolist():
            ask(int(random.integers(MOST_BETWEEN)))
            by_row[row] = self.model.encode([plain[row]])[0]
        ask(IN_A_ROW)
        rows = sorted(by_row)
        return _Again([plain[r] for r in rows], np.stack([by_row[r] for r in rows]), np.stack(repeats), requests, text)

    def _as_run(self, plain: Sequence[str], alone: Float32) -> Result:
        """Texts asked for as a run asks: in the cache's chunks, the longest first; then once more, in another order."""
        asking = self.model.asking
        batch = asking.batch if asking else DEMO_BATCH
        extra = [words(3 + n % 20, seed=ASKED + n) for n in range(max(TEXTS_PER_CHUNK, 4 * batch) - len(plain))]
        texts = [*plain, *extra]
        longest = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        shuffled = np.random.default_rng(ASKED).permutation(len(texts)).tolist()
        first, second = (self._in_chunks(self.model.encode, texts, order) for order in (longest, shuffled))
        # Alone: the plain texts, as many others, and those of which the two answers differ.
        differs = np.flatnonzero(stability.moved(first, second) > stability.MOVED)[:MOST_ALONE].tolist()
        has_vector: Bool = np.asarray(np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1))
        rows = sorted(r for r in {*range(len(plain)), *shuffled[: len(plain)], *differs} if has_vector[r])
        encoded_alone = np.stack([alone[r] if r < len(plain) else self.model.encode([texts[r]])[0] for r in rows])
        moved = np.maximum(*(stability.moved(answers[rows], encoded_alone) for answers in (first, second)))
        elsewhere = sum(_elsewhere(answers[rows], encoded_alone) for answers in (first, second))
        how, cure = "in one call", ""
        if asking:
            how = f"{asking.batch} in a request and {asking.parallel} requests at a time"
            if (moved > stability.MOVED).any():
                cure = self._cure(asking, texts, longest, rows, encoded_alone)
        return stability.asked(moved, [texts[r] for r in rows], len(texts), elsewhere, how, cure)

    def _cure(
        self, asking: Asking, texts: Sequence[str], order: Sequence[int], rows: Sequence[int], encoded_alone: Float32
    ) -> str:
        """Other numbers of texts and requests at a time with which each text gets its vector, as in a reference."""
        tried = {"parallel=1": (asking.batch, 1), "batch=8": (8, asking.parallel), "batch=8&parallel=1": (8, 1)}
        for cure, (batch, parallel) in tried.items():
            if (batch, parallel) == (asking.batch, asking.parallel):
                continue
            otherwise = self._in_chunks(partial(self.model.counted, asking.otherwise(batch, parallel)), texts, order)
            if not (stability.moved(otherwise[rows], encoded_alone) > stability.MOVED).any():
                return cure
        return ""

    @staticmethod
    def _in_chunks(encode: Batch, texts: Sequence[str], order: Sequence[int]) -> Float32:
        """``[n, d]`` in the order of the texts, which are asked for in another."""
        asked = [texts[row] for row in order]
        parts = [encode(asked[start : start + TEXTS_PER_CHUNK]) for start in range(0, len(asked), TEXTS_PER_CHUNK)]
        joined = np.concatenate(parts)
        return joined[np.argsort(order)]

    def _ranked(self, reference: Reference) -> demo.Ranked | None:
        sentences, pairs = demo.pairs_of(self.settings)
        similarity_here, theirs = (model.encode_all(sentences, DEMO_BATCH) for model in (self.model, reference))
        if not (np.isfinite(similarity_here).all() and np.isfinite(theirs).all()):
            return None
        return demo.Ranked.of(similarity_here, theirs, pairs)

    def _against(
        self,
        plain: Sequence[str],
        alone: Float32,
        encoded: Float32,
        theirs: Float32,
        asked: Sequence[Probe],
        reference: Reference,
        ranked: demo.Ranked | None,
        before: Sequence[Result],
    ) -> list[Result]:
        short = [i for i, text in enumerate(plain) if len(text.split()) <= OF_FIT]
        texts, kept = [plain[i] for i in short], alone[short]
        made = fitting.candidates(reference, texts)
        published = made[0][0].vectors
        results = [vectors.dimension(kept, published)]
        if kept.shape[1] > published.shape[1] and len(used := np.flatnonzero(kept.any(axis=0))) == published.shape[1]:
            kept, encoded = kept[:, used], encoded[:, used]  # padded with zeros
        d, layers = kept.shape[1], made[1]
        causes = ("pooling", "layer", "tokens", "prompt")
        best: Float32 | None = None
        what = why = ""
        if d > published.shape[1]:
            why = "The dimensions differ."
            results += [Result(aspect, State.UNCHECKED, why) for aspect in ("space", *causes)]
        else:
            of_space = space.space(encoded, theirs[:, :d])
            results.append(of_space)
            fitted = fitting.fit(kept, made)
            if of_space.verdict is State.WRONG:
                why = "Axes or origin differ."
                results += [Result(aspect, State.UNCHECKED, why) for aspect in causes]
            else:
                results += [fitting.result(aspect, fitted) for aspect in causes]
                if fitted.is_explained:
                    best, what = fitted.candidates[fitted.best].vectors, fitted.candidates[fitted.best].name
        results.append(vectors.precision(kept, best, layers, what))
        wrong = {r.check for r in (*before, *results) if r.verdict in {State.WRONG, State.LOOK}}
        results.append(demo.agreement(encoded, theirs, ranked, [p.kind.value for p in asked], wrong))
        if encoded.shape[1] <= theirs.shape[1]:
            alike = cosines(encoded, theirs[:, : encoded.shape[1]])
            order = np.argsort(alike, kind="stable")[: demo.WORST].tolist()
            self.worst = tuple((asked[i].text, asked[i].kind.value, float(alike[i])) for i in order)
        return results
