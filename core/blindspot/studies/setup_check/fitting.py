"""Fits against a reference: which pooling, layer and prompt of the reference explain a model's vectors best?

Every candidate changes one thing about the reference. On MiniLM the median cosine with the published vectors is 0.993
for a mean without special tokens, 0.83 or less for any other reading, and 0.87 or less for any prompt; quantized
weights leave 0.9 or more (4 bits), 0.9996 (int8), 0.99996 (bfloat16). So another candidate is named only if it leaves
less than ``LEFT`` of the distance that the published vectors leave; among healthy models none does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blindspot.encoders.transformer.layers import Edit, Reading
from blindspot.studies.setup_check.models import Model, Reference, cosines
from blindspot.studies.setup_check.results import Result, State
from blindspot.types import Float32

FITS = 0.9995  # median cosine from which the published vectors need no other explanation
SAME = 1 - 1e-6  # median cosine of candidates that are no other ones
LEFT = 0.5
EXPLAINS = 0.85  # least median cosine of a named explanation
OWN = 0.9999  # median cosine of the reading that the reference itself uses

# What clients, templates and tokenizers put after a text.
SUFFIXES = (" ", ".", "\n", "</s>", "<eos>", "<|endoftext|>", "<|im_end|>", "[SEP]")

# Of queries and documents, by the models that made them known. The first is compared with the others.
SCHEMES = {
    "none": ("", ""),
    "query: / passage: (E5)": ("query: ", "passage: "),
    "search_query: / search_document: (Nomic)": ("search_query: ", "search_document: "),
    "Represent this sentence … (BGE)": ("Represent this sentence for searching relevant passages: ", ""),
    "Instruct: … Query: (E5 instruct, Qwen3)": (
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
        "",
    ),
    "task: search result (EmbeddingGemma)": ("task: search result | query: ", "title: none | text: "),
}


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way in which the reference may have been set up.

    Attributes:
        aspect: ``pooling``, ``layer``, ``tokens``, ``prompt`` or ``case``; "" for the published set-up.
        name: in words, to follow "fits".
        vectors: ``[n, D] float32``.
    """

    aspect: str
    name: str
    vectors: Float32


@dataclass(frozen=True, eq=False)
class Fit:
    """Candidates, and the median cosine of each with the model's vectors.

    Attributes:
        candidates: the published set-up first.
        medians: of each.
        layers: number of the reference's layers; 0 if unknown.
        aspects: what was tried.
    """

    candidates: tuple[Candidate, ...]
    medians: tuple[float, ...]
    layers: int
    aspects: frozenset[str]

    @property
    def best(self) -> int:
        """The candidate that explains the vectors: the published set-up unless another is clearly better."""
        best = int(np.argmax(self.medians))
        published = self.medians[0]
        is_named = (
            published < FITS and self.medians[best] >= EXPLAINS and 1 - self.medians[best] < LEFT * (1 - published)
        )
        return best if is_named else 0

    @property
    def is_explained(self) -> bool:
        return self.medians[self.best] >= EXPLAINS


def candidates(reference: Reference, texts: Sequence[str]) -> tuple[list[Candidate], int, frozenset[str]]:
    """All candidates for these texts, the number of layers, and the aspects that could be tried."""
    published = reference.encode(texts)
    tried = [Candidate("", "the published set-up", published)]
    aspects = {"prompt", "tokens"}
    tried += _prompts(reference, texts)
    tried += [
        Candidate(
            "tokens", f"the reference with {suffix!r} after each text", reference.encode([t + suffix for t in texts])
        )
        for suffix in SUFFIXES
    ]
    lowered = reference.encode([text.lower() for text in texts])
    if np.median(cosines(lowered, published)) < FITS:
        tried.append(Candidate("case", "the reference with lower-cased texts", lowered))
    layers = 0
    if reference.readings is not None:
        by_reading = {r: v for r, v in reference.readings(texts, Edit.NONE).items() if v.shape == published.shape}
        fits = {r: float(np.median(cosines(v, published))) for r, v in by_reading.items()}
        best = max(fits, key=lambda r: fits[r], default=None)
        layers = max((r.layer or 0 for r in by_reading), default=0)
        if best is not None and fits[best] >= OWN:  # else something follows the pooling
            aspects |= {"pooling", "layer"}
            tried += [
                Candidate("tokens", f"the reference with {edit}", reference.readings(texts, edit)[best])
                for edit in Edit
                if edit is not Edit.NONE
            ]
            tried += [
                Candidate(_aspect(reading, best), str(reading), vectors)
                for reading, vectors in by_reading.items()
                if fits[reading] < OWN
            ]
    # A suffix that the tokenizer removes, such as a space, changes nothing.
    others = [c for c in tried[1:] if np.median(cosines(c.vectors, published)) < SAME]
    return [tried[0], *others], layers, frozenset(aspects)


def _aspect(reading: Reading, usual_reading: Reading) -> str:
    return "pooling" if reading.layer in {None, usual_reading.layer} else "layer"


def _prompts(reference: Reference, texts: Sequence[str]) -> list[Candidate]:
    """The reference without its prompt, with it twice, and with other prompts."""
    usual_prompt = reference.prompt
    prompts = {prompt for pair in SCHEMES.values() for prompt in pair} | set(reference.declared.values()) - {
        usual_prompt,
        "",
    }
    tried = []

    def encoded(prompt: str, before: Model) -> Float32:
        return before.encode([prompt + text for text in texts])

    if usual_prompt:
        tried.append(
            Candidate(
                "prompt", f"the reference with its prompt {usual_prompt!r} twice", encoded(usual_prompt, reference)
            )
        )
        if reference.prompted is None:
            return tried
        bare = Model(reference.prompted(""))
        tried.append(Candidate("prompt", f"the reference without its prompt {usual_prompt!r}", bare.encode(texts)))
    else:
        bare = reference
    tried += [
        Candidate("prompt", f"the reference with the prompt {prompt!r}", encoded(prompt, bare))
        for prompt in sorted(prompts - {usual_prompt, ""})
    ]
    return tried


def fit(vectors: Float32, made: tuple[list[Candidate], int, frozenset[str]]) -> Fit:
    """Compare ``vectors [n, d]`` with every candidate; of larger ones, with the first d dimensions."""
    tried, layers, aspects = made
    d = vectors.shape[1]
    kept = [c for c in tried if c.vectors.shape[1] >= d]
    cut = [Candidate(c.aspect, c.name, c.vectors[:, :d]) for c in kept]
    medians = tuple(float(np.nanmedian(cosines(vectors, c.vectors))) for c in cut)
    return Fit(tuple(cut), medians, layers, aspects)


ADVICE = {
    "pooling": "Set the pooling that the model was published with on the server.",
    "layer": "The server returns another layer than the published model: check its options for the output layer.",
    "tokens": "The server makes other tokens of a text than the published tokenizer: compare its settings for special "
    "tokens, its template, and what the client puts after a text.",
    "prompt": "Put each prompt before a text exactly once: either the server adds it, or the client does.",
}


def result(aspect: str, fitted: Fit) -> Result:
    """The result of a fit for one aspect."""
    published, best = fitted.medians[0], fitted.best
    figures = {
        "published": published,
        "best": fitted.candidates[best].name,
        "best_median": fitted.medians[best],
        "candidates": {
            c.name: round(m, 6) for c, m in zip(fitted.candidates, fitted.medians, strict=True) if c.aspect == aspect
        },
    }
    if aspect not in fitted.aspects:
        return Result(aspect, State.UNCHECKED, "The reference does not show its layers.", "", figures)
    named = fitted.candidates[best]
    if named.aspect == aspect:
        text = (  # cosines of set-ups that differ little are near 1
            f"Fits {named.name} (median cosine {fitted.medians[best]:.4f}), not the published set-up ({published:.4f})."
        )
        return Result(aspect, State.WRONG, text, ADVICE[aspect], figures)
    others = [m for c, m in zip(fitted.candidates, fitted.medians, strict=True) if c.aspect == aspect]
    if not fitted.is_explained:
        text = (
            f"Nothing fits: the published set-up has a median cosine of {published:.3f}"
            + (f", the best other one {max(others):.3f}." if others else ".")
        )  # fmt: skip
        return Result(aspect, State.UNCHECKED, text, "", figures)
    if named.aspect:
        return Result(aspect, State.OK, f"As published; what differs is the {named.aspect}.", "", figures)
    text = f"The published set-up fits best (median cosine {published:.5f}"
    text += f"; the next, {max(others):.3f})." if others else ")."
    return Result(aspect, State.OK, text, "", figures)
