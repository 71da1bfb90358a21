"""Contributions of words to the similarity of two texts, in the space of a stored run or of a variant.

Encoders are loaded for it, and stay so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blindspot.datasets.kinds.base import Dataset
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders import resident
from blindspot.encoders.base import Encoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import encoder_of, passages_of
from blindspot.runs.embeddings import embedded_of, fitted_chain, items_of
from blindspot.runs.inputs.roles import texts_of
from blindspot.runs.spaces import Space, fitted_of
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.transforms.chain import FittedChain
from blindspot.transforms.contributions import CannotExplain, Contributions, contributions
from blindspot.types import CancelToken, Float32


@dataclass(frozen=True)
class PairOfTexts:
    """Two texts, each with its number in the dataset; None for a text of the reader's own."""

    texts: tuple[str, str]
    items: tuple[int | None, int | None]


def of_run(
    pair: PairOfTexts,
    run: RunRecord,
    dataset: Dataset,
    settings: Settings,
    repository: Repository,
    cancel: CancelToken,
) -> Contributions:
    """Contributions under a stored run's encoder and transform; ``dataset`` is the run's.

    Raises:
        EmbeddingsGone: the cache no longer has the run's embeddings.
        BlindspotError: as ``contributions``; the transform was fitted on another dataset, or by the toolkit's protocol;
            the encoder is gone.
    """
    if find_diagnostic(run.plan.diagnostic).preparation(dict(run.plan.params)):
        raise CannotExplain(
            "The toolkit's protocol rounds and centers in its own way. Choose the protocol “definition” to see what "
            "each word contributes."
        )
    if passages_of(run.plan.variant.encoder):
        raise CannotExplain("This model reads documents in passages, so words cannot be weighed yet.")
    encoder = encoder_of(run.plan.variant.encoder, settings)
    if texts_of(find_diagnostic(run.plan.diagnostic), run.plan.params, encoder, dataset).encoder is not encoder:
        raise CannotExplain(
            "This model puts one prompt before queries and another before documents, so words cannot be weighed yet."
        )
    embedded = embedded_of(run, settings)
    chain = fitted_chain(run, settings, items_of(run, embedded, repository))
    return _of(pair, embedded.matrix, encoder, chain, dataset, settings, cancel)


def of_space(pair: PairOfTexts, space: Space, settings: Settings, cancel: CancelToken) -> Contributions:
    """Contributions in the space of a variant.

    Raises:
        BlindspotError: as ``contributions``; the embeddings or the encoder are gone.
    """
    encoder = encoder_of(space.variant.encoder, settings)
    embedded = EmbeddingCache(settings.embeddings).read(encoder.identity.embedding_digest(space.dataset.texts_digest))
    matrix = np.empty((0, 0), dtype=np.float32) if embedded is None else embedded.matrix
    return _of(pair, matrix, encoder, fitted_of(space, settings), space.dataset, settings, cancel)


def _of(
    pair: PairOfTexts,
    matrix: Float32,
    encoder: Encoder,
    chain: FittedChain,
    dataset: Dataset,
    settings: Settings,
    cancel: CancelToken,
) -> Contributions:
    prepare_runtime(settings)
    first, second = (None if item is None or item >= len(matrix) else matrix[item] for item in pair.items)
    with resident.loaded(encoder, dataset.texts_digest, dataset.items) as ready:
        return contributions(pair.texts, (first, second), ready, chain, cancel)
