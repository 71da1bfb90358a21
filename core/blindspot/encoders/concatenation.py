"""Concatenation of models (``cat:A+B``): the vectors of several models are joined end to end into one per text.

So small models grow to the size of a larger one (Eger, Rücklé and Gurevych 2019, section 3; Rücklé et al. 2018, arXiv
1803.01400, section 3). Each part is divided by its length, since models scale their vectors as they like, and the one
with the longest would decide alone; and all are divided by the square root of their number, so that the whole has
length 1. The cosine of two texts then is the mean of the parts' cosines. A zero vector of a part stays zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from blindspot.encoders.base import Encoder, EncoderIdentity, EncoderInfo, FittedEncoder, RolePrompts
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken, Float32, digest_of_strings


@dataclass(frozen=True, eq=False)
class Concatenation:
    """An encoder that joins the vectors of others, in order, each after a transform that learns nothing.

    A text has no vector if a part has none for it.
    """

    reference: str
    encoders: tuple[Encoder, ...]
    chains: tuple[TransformChain, ...]

    @property
    def identity(self) -> EncoderIdentity:
        """The revision is a digest of everything that determines the parts' vectors."""
        parts = [encoder.identity for encoder in self.encoders]
        names = [part.embeds_as or part.reference for part in parts]
        named = [
            f"{name} after {chain}" if chain.steps else name for name, chain in zip(names, self.chains, strict=True)
        ]
        digests = [f"{part.embedding_digest('')} {chain}" for part, chain in zip(parts, self.chains, strict=True)]
        prompts = dict.fromkeys(part.prompt for part in parts)
        return EncoderIdentity(
            reference=self.reference,
            revision=digest_of_strings(digests)[:16],
            pooling=f"vectors of {' and '.join(named)}, each L2-normalized, end to end",
            prompt=parts[0].prompt if len(prompts) == 1 else "",
            max_length=min((part.max_length for part in parts if part.max_length), default=0),
            libraries=tuple(sorted({library for part in parts for library in part.libraries})),
            dtype=" and ".join(dict.fromkeys(part.dtype for part in parts)),
            embeds_as="+".join(names) if any(part.embeds_as for part in parts) else "",
        )

    @cached_property
    def info(self) -> EncoderInfo:
        infos = [encoder.info for encoder in self.encoders]
        others = [
            f"{info.title} declares the similarity {info.similarity}; joined, its vectors have length 1"
            for info in infos
            if info.similarity != "cosine"
        ]
        named = [(f"{name} of {info.title}", text) for info in infos for name, text in info.unused_prompts]
        return EncoderInfo(
            title=" joined with ".join(info.title for info in infos),
            dimension=sum(_dimension(info, chain) for info, chain in zip(infos, self.chains, strict=True)),
            parameters=sum(info.parameters for info in infos),
            memory_bytes=sum(info.memory_bytes for info in infos),
            licence="; ".join(dict.fromkeys(info.licence for info in infos)),
            citation="; ".join(dict.fromkeys(info.citation for info in infos)),
            url=infos[0].url,
            is_partial=any(info.is_partial for info in infos),
            unused_prompts=tuple(named),
            role_prompts=_role_prompts(infos),
            served_by=" and ".join(dict.fromkeys(info.served_by for info in infos if info.served_by)),
            assumed=(*(sentence for info in infos for sentence in info.assumed), *others),
        )

    @property
    def device(self) -> str:
        return " and ".join(sorted({encoder.device for encoder in self.encoders}))

    def load(self) -> None:
        for encoder in self.encoders:
            encoder.load()

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return self.join([encoder.encode(texts, cancel) for encoder in self.encoders])

    def join(self, matrices: Sequence[Float32]) -> Float32:
        """See ``JoinedEncoder``; a row of NaN where a part has one."""
        parts = []
        for matrix, chain in zip(matrices, self.chains, strict=True):
            vectors = (chain.fit(matrix).apply(matrix) if chain.steps else matrix).astype(np.float64)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            parts.append(np.divide(vectors, lengths * sqrt(len(matrices)), out=vectors, where=lengths != 0))
        joined: Float32 = np.concatenate(parts, axis=1, dtype=np.float32)
        joined[np.isnan(joined).any(axis=1)] = np.nan
        return joined

    def with_each(self, change: Callable[[Encoder], Encoder]) -> Concatenation:
        """See ``JoinedEncoder``."""
        return replace(self, encoders=tuple(map(change, self.encoders)))


class FittedConcatenation(Concatenation):
    """A concatenation with a part that learns from the texts."""

    def fit(self, texts: Sequence[str], cancel: CancelToken) -> None:
        """See ``FittedEncoder``."""
        for encoder in self.encoders:
            if isinstance(encoder, FittedEncoder):
                encoder.fit(texts, cancel)


def concatenation(reference: str, parts: Sequence[tuple[Encoder, TransformChain]]) -> Concatenation:
    """The encoder of a canonical reference.

    Args:
        parts: encoders, each with a chain that learns nothing.
    """
    encoders, chains = zip(*parts, strict=True)
    is_fitted = any(isinstance(encoder, FittedEncoder) for encoder in encoders)
    return (FittedConcatenation if is_fitted else Concatenation)(reference, encoders, chains)


def _dimension(info: EncoderInfo, chain: TransformChain) -> int:
    return chain.fit(np.zeros((1, info.dimension), dtype=np.float32)).d_out if chain.steps else info.dimension


def _role_prompts(infos: Sequence[EncoderInfo]) -> RolePrompts | None:
    """Prompts by role of the parts, joined where several have one; None if no part has any."""
    prompts = [info.role_prompts for info in infos if info.role_prompts]
    if not prompts:
        return None
    query, document = (" | ".join(dict.fromkeys(getattr(p, role) for p in prompts)) for role in ("query", "document"))
    return RolePrompts(query, document, given=any(prompts.given for prompts in prompts))
