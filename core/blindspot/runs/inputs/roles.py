"""Texts that a run encodes, by role.

Where a diagnostic's texts have roles and the model's reference gives prompts of them, every item is encoded as a
document, and the items that ask are encoded once more, as queries: their vectors follow those of the items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from blindspot.datasets.kinds.base import Dataset, Part
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import Diagnostic, all_diagnostics
from blindspot.encoders.base import Encoder, JoinedEncoder
from blindspot.encoders.roles import PromptedEncoder, RoleEncoder, by_role
from blindspot.errors import InputError
from blindspot.transforms.chain import FittedChain, TransformChain
from blindspot.types import Float32, Int64, digest_of_strings


@dataclass(frozen=True, eq=False)
class Texts:
    """What a run encodes: the texts and their digest, with an encoder that knows their roles.

    ``of_documents`` encodes another dataset's items, which a transform is fitted on.
    """

    encoder: Encoder
    texts: Sequence[str]
    digest: str
    of_documents: Encoder

    @property
    def embedding_digest(self) -> str:
        return self.encoder.identity.embedding_digest(self.digest)


def texts_of(entry: Diagnostic, params: Mapping[str, str], encoder: Encoder, dataset: Dataset) -> Texts:
    """The texts of a run; a protocol that prepares the vectors itself knows no roles."""
    roles, prompts = entry.roles, encoder.info.role_prompts
    if roles and roles.declared_too:
        encoder = by_role(encoder, dataset.asked)
    elif (
        roles
        and prompts
        and prompts.given
        and isinstance(encoder, PromptedEncoder | JoinedEncoder)
        and len(dataset.asking)
        and not entry.preparation(params)
    ):
        texts = (*dataset.items, *(dataset.items[number] for number in dataset.asking.tolist()))
        both = _as_given(encoder, documents=len(dataset.items))
        return Texts(both, texts, digest_of_strings(texts), _as_given(encoder))
    return Texts(encoder, _Encoded(dataset), dataset.encoded_digest, encoder)


def _as_given(encoder: Encoder, documents: int | None = None) -> Encoder:
    """An encoder, or each of a concatenation, with the prompts of roles that its reference gives; ``documents`` as of
    ``RoleEncoder``."""
    if isinstance(encoder, JoinedEncoder):
        return encoder.with_each(lambda side: _as_given(side, documents))
    prompts = encoder.info.role_prompts
    if prompts is None or not prompts.given or not isinstance(encoder, PromptedEncoder):
        return encoder
    return RoleEncoder(encoder, prompts.query, prompts.document, documents=documents)


@dataclass(frozen=True, eq=False)
class _Encoded(Sequence[str]):
    """A dataset's encoded texts; documents are not cut before they are needed."""

    dataset: Dataset

    def __len__(self) -> int:
        return len(self.dataset.encoded)

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...

    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        return self.dataset.encoded[row]


def rows_of_part(part: Part, whole: Dataset, vectors: int) -> Int64:
    """Rows of a part's texts among so many vectors of the whole; where these are by role, also of what asks in it."""
    if whole.whole is not whole:  # passages
        number = {text: row for row, text in enumerate(whole.encoded)}
        return np.array([number[text] for text in part.dataset.encoded], dtype=np.int64)
    if vectors == len(whole.items):
        return part.items
    asking = part.items[part.dataset.asking]
    return np.concatenate([part.items, len(whole.items) + np.searchsorted(whole.asking, asking)])


# --- transforms that treat queries otherwise than documents


def check_sides(entry: Diagnostic, params: Mapping[str, str], chain: TransformChain) -> None:
    """Raise ``InputError`` if a chain treats queries otherwise than documents, or compares the best of a ranking again,
    and a diagnostic has none."""
    if chain.rescored and (not entry.takes_rescored or entry.preparation(params)):
        able = " or ".join(diagnostic.id for diagnostic in all_diagnostics().values() if diagnostic.takes_rescored)
        ranks = entry.takes_rescored
        what = f"the protocol {params['protocol']} compares once" if ranks else f"{entry.id} ranks nothing"
        raise InputError(
            f"transform '{chain}' compares the best of a ranking again, and {what}",
            expected=f"{'the protocol definition' if ranks else able}, or the transform {chain.searched}",
        )
    if not chain.is_one_sided:
        return
    if entry.roles is None:
        raise InputError(
            f"transform '{chain}' treats queries otherwise than documents, and {entry.id} compares texts of one kind",
            expected="evalrank, heros or retrieval, or a transform of both sides such as int8 or repair",
        )
    if entry.preparation(params):
        raise InputError(
            f"transform '{chain}' treats queries otherwise than documents, and the protocol {params['protocol']} "
            "treats all alike",
            expected="the protocol definition",
        )


def transformed(fitted: FittedChain, vectors: Float32, dataset: Dataset) -> Float32:
    """Vectors after a transform, in the rows that the diagnostic's ``compute`` reads.

    Args:
        vectors: ``[n, d]`` of ``dataset.encoded``, or by role ``[n + q, d]``.

    Returns:
        ``[n, d']`` or ``[n + q, d']``; the latter also where the transform treats queries otherwise than documents, but
        not for retrieval, of which a text in both roles is a query.
    """
    if not fitted.chain.is_one_sided:
        return fitted.apply(vectors)
    if isinstance(dataset, RetrievalDataset):
        made, rows = np.array(fitted.apply(vectors)), dataset.rows_that_ask
        made[rows] = fitted.apply_to_queries(vectors[rows])
        return made
    return on_two_sides(fitted, vectors, len(dataset.items), dataset.asking)


def on_two_sides(fitted: FittedChain, vectors: Float32, n: int, asking: Int64) -> Float32:
    """``n`` items as documents, then those that ask as queries, ``[n + q, d']``.

    Args:
        vectors: ``[n, d]``, or ``[n + q, d]`` where models have prompts by role.
        asking: ``[q]``, rows of the items that ask.
    """
    queries = vectors[n:] if len(vectors) > n else vectors[asking]
    return np.concatenate([fitted.apply(vectors[:n]), fitted.apply_to_queries(queries)])
