"""The two protocols of EvalRank, and vectors prepared as in the published toolkit.

``definition`` is the paper's; ``toolkit`` is the arithmetic of github.com/BinWang28/EvalRank-Embedding-Evaluation, for
scores that are compared with published ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.encoders.base import Encoder, VocabularyEncoder
from blindspot.numerics.similarity import Similarity
from blindspot.transforms.chain import FittedChain, FlowSource, StepCall, TransformChain
from blindspot.transforms.steps import Center
from blindspot.types import Bool, Float32, Float64

DEFINITION, TOOLKIT = "definition", "toolkit"
UNKNOWN_SENTENCE = 1e-9  # in every dimension: the toolkit's vector for a sentence without a known word


def look_up(encoder: Encoder) -> Encoder:
    """The encoder with the toolkit's lookup of words; an encoder without a file of word vectors stays unchanged."""
    return encoder.as_toolkit() if isinstance(encoder, VocabularyEncoder) else encoder


def prepare(
    embeddings: Float32,
    covered: Bool,
    items: Sequence[str],
    vocabulary: Float32 | None,
    chain: TransformChain,
    metric: Similarity,
    flows: FlowSource | None = None,
) -> tuple[Float32 | Float64, FittedChain]:
    """The vectors that the toolkit would rank, ``[n, d]``, and their fitted transform.

    Centering comes first in any chain: words are centered over the whole file of word vectors (``vocabulary``,
    ``[V, d]``), sentences over the background. Rows are normalized for cosine only. Unknown words get the mean of the
    file's vectors after these steps; sentences without a known word get a tiny constant, with which the toolkit
    continues in float64, and so do we. Means are summed in the precision of the rows, since the last digits decide
    many of its ranks. Steps after the centering are fitted as usual.

    Args:
        covered: ``[n] bool``, which rows of ``embeddings`` are vectors.
        vocabulary: the vectors of the whole file; None if the encoder is not a file of word vectors.
        flows: as in ``TransformChain.fit``.
    """
    center = (StepCall("center"),)
    centred = chain if chain.steps[:1] == center else TransformChain((*center, *chain.steps))
    if vocabulary is not None and all(len(text.split()) <= 1 for text in items):  # words, not sentences
        fitted = centred.fit(vocabulary, flows, first_steps=(Center(_mean(vocabulary)),))
        corpus = _unit(fitted.apply(vocabulary), metric)
        rows = np.where(covered[:, None], embeddings, 0)
        out = _unit(fitted.apply(np.asarray(rows, dtype=np.float32)), metric)
        out[~covered] = corpus.mean(axis=0)
        return out, fitted
    if covered.all():
        fitted = centred.fit(embeddings, flows, first_steps=(Center(_mean(embeddings)),))
        return _unit(fitted.apply(embeddings), metric), fitted
    filled = np.where(covered[:, None], embeddings.astype(np.float64), UNKNOWN_SENTENCE)
    mean = _mean(filled)
    fitted = centred.fit(filled.astype(np.float32), flows, first_steps=(Center(mean),))
    out = filled - mean
    for step in fitted.steps[1:]:
        out = step.apply(out.astype(np.float32)).astype(np.float64)
    return _unit(out, metric), fitted


def _mean(rows: Float32 | Float64) -> Float64:
    """The mean row, ``[d]``, summed row by row in the precision of ``rows``, as numpy does for contiguous rows."""
    return np.asarray(np.ascontiguousarray(rows).mean(axis=0), dtype=np.float64)


def _unit(rows: Float32 | Float64, metric: Similarity) -> Float32 | Float64:
    """Unit rows for cosine, in their own precision; a zero row stays zero."""
    if metric is not Similarity.COS:
        return rows
    lengths = np.linalg.norm(rows, axis=1)[:, np.newaxis]
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))
