"""Contract of encoders, and the facts that identify and describe them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from blindspot.types import CancelToken, Float32, Int64, digest_of_strings

PROMPTS_SHOWN = 4
LONGEST_PROMPT_SHOWN = 60  # characters


@dataclass(frozen=True, kw_only=True)
class EncoderIdentity:
    """Everything that determines an encoder's vectors; the embedding cache is keyed by it.

    Attributes:
        reference: encoder reference, such as ``minilm`` or ``dir:PATH``.
        revision: a commit or a checksum of the weights.
        pooling: how token vectors become one vector, normalization included.
        prompt: text put before every input.
        max_length: tokens after which a text is truncated; 0 for never.
        libraries: ``name==version`` of the libraries that can change the numbers.
        dtype: precision of the computation; vectors are always float32.
        embeds_as: the reference without what cannot change a vector (how many texts are sent to a server at a time);
            "" for the reference itself.
    """

    reference: str
    revision: str
    pooling: str
    prompt: str = ""
    max_length: int = 0
    libraries: tuple[str, ...]
    dtype: str = "float32"
    embeds_as: str = ""

    def embedding_digest(self, texts_digest: str) -> str:
        """Key of the embeddings of an ordered list of texts under this encoder."""
        parts = asdict(self)
        parts["reference"] = parts.pop("embeds_as") or self.reference
        if self.dtype == "float32":  # embeddings stored before dtype existed keep their key
            del parts["dtype"]
        return digest_of_strings([json.dumps(parts, sort_keys=True), texts_digest])[:32]


# A pooling of an ``EncoderIdentity``: its vectors need only the table of embeddings, though a forward pass gives them.
STATIC_POOLING = "mean of the input word-piece embeddings, special tokens left out"


@dataclass(frozen=True)
class RolePrompts:
    """Prompts for texts with a role: for queries, and for the documents that they should find.

    Attributes:
        query, document: "" for none.
        given: whether the reference gives them, so that every diagnostic whose texts have roles takes them; otherwise
            the model declares them, and only retrieval takes them (``blindspot.encoders.roles``).
    """

    query: str
    document: str
    given: bool = False


@dataclass(frozen=True)
class EncoderInfo:
    """Facts shown next to an encoder's scores.

    ``parameters`` counts the trained weights that its vectors need, 0 if unknown; ``memory_bytes`` is the size of all
    weights that are loaded. ``is_partial``: some texts may have no vector, as with word vectors; their rows are
    all NaN, and no other row has a NaN. ``unused_prompts`` are the (name, text) of prompts that the model declares
    but that are not applied. ``role_prompts``: None where neither the reference nor the model tells queries from
    documents. ``served_by`` is the host that texts are sent to; "" for a model on this machine. ``assumed`` are
    sentences about choices that the model leaves open and that change its vectors, and what was assumed for them.
    ``similarity`` is the one that the model declares, as sentence-transformers names it, or ``cosine``, also where
    its vectors all have length 1.
    """

    title: str
    dimension: int
    parameters: int
    memory_bytes: int
    licence: str
    citation: str
    url: str
    is_partial: bool = False
    unused_prompts: tuple[tuple[str, str], ...] = ()
    role_prompts: RolePrompts | None = None
    served_by: str = ""
    assumed: tuple[str, ...] = ()
    similarity: str = "cosine"

    @property
    def prompt_warning(self) -> str:
        return prompt_warning(dict(self.unused_prompts))


QUERY_NAME, DOCUMENT_NAME = "query", "document"  # prompts that sentence-transformers uses for texts of a role
ROLE_NAMES = frozenset((QUERY_NAME, DOCUMENT_NAME))
OLD_DOCUMENT_NAMES = frozenset(("passage", "corpus"))  # prompts that it does not use


def prompt_warning(unused: Mapping[str, str], by_role: Mapping[str, str] | None = None) -> str:
    """Sentences, to follow the model's name, about prompts (text by name) that were not applied; "" for none.

    Args:
        by_role: the prompts that queries and documents had; None if all texts were encoded alike.
    """
    if not unused:
        return ""
    sentences = [f"declares prompts that are not applied: {prompts_in_words(unused)}."]
    if by_role is None:
        sentences.append("All texts are encoded alike, so its scores may be lower than the model's own.")
        if (ROLE_NAMES | OLD_DOCUMENT_NAMES) & set(unused):
            sentences.append(
                "Retrieval applies those of queries and documents by itself. For EvalRank and HEROS on questions and "
                "passages, add ?query_prompt=TEXT&document_prompt=TEXT to the reference."
            )
    old = sorted(OLD_DOCUMENT_NAMES & set(unused))
    if old and DOCUMENT_NAME not in unused and not (by_role and by_role[DOCUMENT_NAME]):
        sentences.append(
            f"As in sentence-transformers, documents get no prompt, though one is called {old[0]}; "
            "?document_prompt=TEXT applies it."
        )
    sentences.append("?prompt=TEXT after the reference puts one prompt before every text, ?prompt= decides for none.")
    return " ".join(sentences)


def prompts_in_words(prompts: Mapping[str, str]) -> str:
    """The first few prompts, long ones shortened, and how many more there are."""

    def shortened(text: str) -> str:
        return text if len(text) <= LONGEST_PROMPT_SHOWN else f"{text[:LONGEST_PROMPT_SHOWN]}…"

    shown = [f"{name} (“{shortened(text)}”)" for name, text in list(prompts.items())[:PROMPTS_SHOWN]]
    return ", ".join(shown) + (f" and {len(prompts) - PROMPTS_SHOWN} more" if len(prompts) > PROMPTS_SHOWN else "")


class Encoder(Protocol):
    """Turns texts into vectors. Constructing one is cheap; the first ``encode`` loads the weights.

    An encoder sets ``encodes_alone = True`` if a text's vector depends only on that text and the encoder's identity:
    the cache then encodes a text in several datasets only once.
    """

    @property
    def identity(self) -> EncoderIdentity: ...

    @property
    def info(self) -> EncoderInfo: ...

    @property
    def device(self) -> str:
        """``cpu``, ``cuda:0``, ..."""
        ...

    def load(self) -> None:
        """Load the weights now rather than in ``encode``, so that loading is not part of the encoding time."""
        ...

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """``[n, d] float32``, row i for text i.

        Raises:
            Cancelled: between two batches, once ``cancel`` is set.
            BlindspotError: the weights are missing or damaged.
        """
        ...


@dataclass(frozen=True)
class Sibling:
    """One of the encoders that share a forward pass."""

    identity: EncoderIdentity
    info: EncoderInfo


@dataclass(frozen=True, eq=False)
class Encodings:
    """Result of one pass: per sibling ``[n, d] float32``, and how many texts were truncated."""

    vectors: tuple[Float32, ...]
    truncated: int


@runtime_checkable
class EncoderFamily(Protocol):
    """An encoder that gives several encoders' vectors in one forward pass, such as the poolings of one model.

    The cache stores the vectors of all siblings.
    """

    @property
    def family(self) -> tuple[Sibling, ...]:
        """All siblings, including this encoder."""
        ...

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        """Vectors of all siblings; raises what ``Encoder.encode`` does."""
        ...


class PreparedTexts(Protocol):
    """Tokenized texts, to be encoded a few at a time."""

    @property
    def order(self) -> Int64:
        """``[n] int64``: all rows, in an order whose slices encode well together, most work first.

        The same texts give the same order in any process: resuming after a crash depends on it.
        """
        ...

    @property
    def work(self) -> Int64:
        """``[n] int64``: work per text, in any unit."""
        ...

    def encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        """All siblings' vectors of these rows; raises what ``Encoder.encode`` does."""
        ...


@runtime_checkable
class PreparingEncoder(Protocol):
    """A family that encodes faster if it sees all texts first."""

    def prepare(self, texts: Sequence[str], cancel: CancelToken) -> PreparedTexts:
        """Tokenize the texts; raises what ``Encoder.encode`` does."""
        ...


@runtime_checkable
class SizedEncoder(Protocol):
    """An encoder that chooses its device by how much there is to encode.

    It may have ``ran_on: str``, which is ``device`` or, where the CPU had to take over, ``cuda:0 and cpu``; and, like
    any encoder, ``notes: Sequence[str]``, sentences about how the texts were encoded that are kept with their
    vectors, such as why a job was done on the CPU although there is a GPU.
    """

    def for_work(self, characters: int) -> Encoder:
        """The same encoder on the device for a job of so many characters; raises nothing where a GPU fails."""
        ...


def ran_on(encoder: Encoder) -> str:
    return str(getattr(encoder, "ran_on", encoder.device))


def notes_of(encoder: Encoder) -> Sequence[str]:
    return tuple(getattr(encoder, "notes", ()))


@runtime_checkable
class VerifiedEncoder(Protocol):
    """An encoder that must first ask for its identity, since others may change the model (a server)."""

    def verify(self, cancel: CancelToken) -> None:
        """Find out which model it is now; raises what ``Encoder.load`` does if no model was ever known."""
        ...


@runtime_checkable
class FittedEncoder(Protocol):
    """An encoder that learns from the texts it encodes (LSA).

    The cache calls ``fit`` before the first ``encode``. Embeddings are keyed by the ordered texts, so vectors fitted on
    other texts are never reused.
    """

    def fit(self, texts: Sequence[str], cancel: CancelToken) -> None:
        """Learn from all texts, deterministically; raises what ``Encoder.encode`` does."""
        ...


@runtime_checkable
class JoinedEncoder(Protocol):
    """An encoder that makes its vectors from those of other encoders. The cache encodes with each under its own key."""

    @property
    def encoders(self) -> tuple[Encoder, ...]:
        """The others, in order."""
        ...

    def join(self, matrices: Sequence[Float32]) -> Float32:
        """``[n, d]`` from the others' vectors of the same texts, ``[n, d_i]`` each."""
        ...

    def with_each(self, change: Callable[[Encoder], Encoder]) -> Encoder:
        """The same encoder with each of the others changed, such as to one with prompts by role."""
        ...


@runtime_checkable
class VocabularyEncoder(Protocol):
    """An encoder that looks texts up in a file of word vectors."""

    def as_toolkit(self) -> Encoder:
        """The same vectors, looked up as the published toolkit does: everything lower-cased."""
        ...

    def vocabulary(self) -> Float32:
        """``[V, d] float32``, read-only, in the file's order; raises what ``Encoder.load`` does."""
        ...


class EncodesTexts(Protocol):
    """What an encoder does, without its identity and facts."""

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """See ``Encoder.encode``."""
        ...


@dataclass(frozen=True, eq=False)
class LongestFirst:
    """``PreparedTexts`` for encoders that do not prepare; longest first, so that running out of memory shows early."""

    encoder: EncodesTexts
    texts: Sequence[str]

    @cached_property
    def work(self) -> Int64:
        return np.array([len(text) for text in self.texts], dtype=np.int64)

    @property
    def order(self) -> Int64:
        return np.argsort(-self.work, kind="stable")

    def encode_all(self, cancel: CancelToken) -> Encodings:
        return self.encode(np.arange(len(self.texts)), cancel)

    def encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        some = [self.texts[row] for row in rows]
        if isinstance(self.encoder, EncoderFamily):
            return self.encoder.encode_family(some, cancel)
        return Encodings((self.encoder.encode(some, cancel),), 0)


def info_of_file(path: Path, kind: str, dimension: int, parameters: int, numbers: int) -> EncoderInfo:
    """Facts of an encoder that looks texts up in a user's file of so many float32 numbers."""
    return EncoderInfo(
        title=f"{path.name} ({kind})",
        dimension=dimension,
        parameters=parameters,
        memory_bytes=4 * numbers,
        licence="unknown: see the source of the file",
        citation=f"the source of {path.name}",
        url=path.as_uri(),
        is_partial=True,
    )


@cache  # pages need identities at every click, and reading package metadata takes a millisecond
def library_versions(*names: str) -> tuple[str, ...]:
    """``name==version`` of installed distributions, without a local build tag such as ``+cpu``."""
    return tuple(f"{name}=={version(name).partition('+')[0]}" for name in names)


@cache
def versions_here(*names: str) -> tuple[str, ...]:
    """As ``library_versions``, for those that are installed."""
    versions: list[str] = []
    for name in names:
        with suppress(PackageNotFoundError):
            versions += library_versions(name)
    return tuple(versions)
