"""What an encoder is to the rest of Blindspot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from typing import Protocol, runtime_checkable

from core.types import CancelToken, Float32, Int64, digest_of_strings

PROMPTS_SHOWN = 4
LONGEST_PROMPT_SHOWN = 60  # characters


@dataclass(frozen=True)
class EncoderIdentity:
    """Everything that decides which numbers an encoder gives; the cache is keyed by it.

    Attributes:
        reference: encoder reference (DESIGN section 6).
        revision: what pins the weights: a commit or a checksum.
        pooling: how token vectors become one vector, normalisation included.
        prompt: text put before every input, or "".
        max_length: tokens after which a text is cut off; 0 where nothing is cut.
        libraries: ``name==version`` of the libraries whose arithmetic shows in the result.
        dtype: precision of the computation; vectors are float32 in any case.
    """

    reference: str
    revision: str
    pooling: str
    prompt: str
    max_length: int
    libraries: tuple[str, ...]
    dtype: str = "float32"

    def embedding_digest(self, texts_digest: str) -> str:
        """Key of the embeddings of an ordered list of texts under this encoder."""
        parts = asdict(self)
        if self.dtype == "float32":  # what was stored before there was a choice keeps its key
            del parts["dtype"]
        return digest_of_strings([json.dumps(parts, sort_keys=True), texts_digest])[:32]


@dataclass(frozen=True)
class EncoderInfo:
    """Facts shown beside an encoder's scores.

    ``parameters`` counts trained weights, ``memory_bytes`` is their size as loaded. ``is_partial`` says that some
    texts may have no vector, as with word vectors: their rows are NaN from end to end, and nothing else is.
    ``unused_prompts`` are (name, text) of those that the model declares, and that nobody decided to leave out or to
    put before every text.
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

    @property
    def prompt_warning(self) -> str:
        """See ``prompt_warning``."""
        return prompt_warning(dict(self.unused_prompts))


def prompt_warning(unused: Mapping[str, str]) -> str:
    """What to know of the scores of a model that declares prompts which were not put before the texts.

    Args:
        unused: text by name.

    Returns:
        Two sentences that follow the model's name; "" where there are none.
    """
    if not unused:
        return ""
    return (
        f"declares prompts that are not applied: {prompts_in_words(unused)}. All texts are encoded alike, so its "
        "scores may be lower than the model's own; ?prompt=TEXT after the reference puts one prompt before every "
        "text, ?prompt= decides for none."
    )


def prompts_in_words(prompts: Mapping[str, str]) -> str:
    """The first of some prompts, long ones shortened, and how many more there are."""
    shown = [f"{name} (“{_shortened(text)}”)" for name, text in list(prompts.items())[:PROMPTS_SHOWN]]
    return ", ".join(shown) + (f" and {len(prompts) - PROMPTS_SHOWN} more" if len(prompts) > PROMPTS_SHOWN else "")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_PROMPT_SHOWN else f"{text[:LONGEST_PROMPT_SHOWN]}…"


class Encoder(Protocol):
    """Turns texts into vectors. Construction is cheap: weights are loaded by the first ``encode``."""

    @property
    def identity(self) -> EncoderIdentity: ...

    @property
    def info(self) -> EncoderInfo: ...

    @property
    def device(self) -> str:
        """Where it runs, for the manifest: ``cpu``, ``cuda:0``, ..."""
        ...

    def load(self) -> None:
        """Load the weights now (``encode`` would too), so that timings of encoding leave loading out."""
        ...

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """``[n, d] float32``, row i for text i.

        Raises:
            Cancelled: between two batches, once ``cancel`` is set.
            BlindspotError: the weights are missing or not what they should be.
        """
        ...


@dataclass(frozen=True)
class Sibling:
    """One of the encoders that share a forward pass."""

    identity: EncoderIdentity
    info: EncoderInfo


@dataclass(frozen=True, eq=False)
class Encodings:
    """What one pass over some texts gave.

    Attributes:
        vectors: per sibling, in the order of ``EncoderFamily.family``, ``[n, d] float32``.
        truncated: how many of the texts were longer than the encoder reads and were cut off.
    """

    vectors: tuple[Float32, ...]
    truncated: int


@runtime_checkable
class EncoderFamily(Protocol):
    """What an encoder offers beside ``Encoder`` if others come out of the same pass: poolings of one model.

    The cache then stores every sibling's vectors, so that asking for another one later finds them.
    """

    @property
    def family(self) -> tuple[Sibling, ...]:
        """The siblings, this encoder among them."""
        ...

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        """All siblings' vectors of ``texts``; raises what ``Encoder.encode`` does."""
        ...


class PreparedTexts(Protocol):
    """Texts that an encoder has looked at, to be encoded some at a time."""

    @property
    def order(self) -> Int64:
        """``[n] int64``, all rows in an order of which parts encode well together, the most work first.

        The same for the same texts, in any process: what was encoded before a crash is known by its rows.
        """
        ...

    @property
    def work(self) -> Int64:
        """``[n] int64``, how much work each text is, in a unit of the encoder's own."""
        ...

    def encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        """All siblings' vectors of the texts of some rows; raises what ``Encoder.encode`` does."""
        ...


@runtime_checkable
class PreparingEncoder(Protocol):
    """What a family offers beside ``EncoderFamily`` if looking at all texts first makes encoding them faster."""

    def prepare(self, texts: Sequence[str], cancel: CancelToken) -> PreparedTexts:
        """Look at the texts (tokenise them); raises what ``Encoder.encode`` does."""
        ...


@runtime_checkable
class FittedEncoder(Protocol):
    """What an encoder offers beside ``Encoder`` if it learns from the very texts that it encodes (LSA).

    The cache calls ``fit`` before the first ``encode``; the key of embeddings holds the ordered texts, so that what
    was fitted on others is never mistaken for it.
    """

    def fit(self, texts: Sequence[str], cancel: CancelToken) -> None:
        """Learn from all the texts; deterministic. Raises what ``Encoder.encode`` does."""
        ...


@runtime_checkable
class VocabularyEncoder(Protocol):
    """What an encoder offers beside ``Encoder`` if it looks texts up in a file of word vectors."""

    def as_toolkit(self) -> Encoder:
        """The same vectors as the published toolkit looks them up (DESIGN 4.1): everything lower-cased."""
        ...

    def vocabulary(self) -> Float32:
        """``[V, d] float32``, read-only: the entries that are looked up, in the file's order.

        Raises what ``Encoder.load`` does.
        """
        ...


@cache  # pages ask for identities at every click, and a look into the installation takes a millisecond
def library_versions(*names: str) -> tuple[str, ...]:
    """``name==version`` of installed distributions, a local build tag such as ``+cpu`` left out."""
    return tuple(f"{name}=={version(name).partition('+')[0]}" for name in names)
