"""sentence-transformers as the judge of our own way through a model, and as its encoder where the two differ.

Our own way (all texts tokenized first, batches of similar length, layers packed) is faster. We test whether it gives a
model's vectors: when a model is first loaded, its vectors of probe texts are compared with those of the library. So a
setting that only the library knows costs speed, never correctness. The outcome is kept in the cache.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindspot.errors import BlindspotError
from blindspot.files.writing import write_atomically
from blindspot.numerics.similarity import Similarity, similarity_of_pairs
from blindspot.types import CancelToken, Float32, digest_of_strings

FOLDER = "agreements"  # in the cache
VERSION = "1"  # of the comparison; raise it when our own way or the probe texts change
LARGEST_DIFFERENCE = 1e-5  # of a component, relative to the vector's length, in float32
LARGEST_IN_HALF = 2e-2
BATCH = 32  # texts that the library encodes at once, if others in a batch do not matter
OURS, LIBRARY = "blindspot", "sentence-transformers"
TEXT, QUERY, DOCUMENT = "", "query", "document"  # tasks, as the library names them
_SENTENCE = "The committee postponed its decision on the 3rd of May, because two members were ill. "
PROBES = (
    "rain",
    "A dog runs.",
    "a",
    "",
    " ",
    "...",
    "\n\tTabs, new lines\nand  two  spaces ",
    "Three cats were seen below a table; none of them slept.",
    "NOT ALL CAPITALS ARE SHOUTED, Some Are Titles.",
    "Élodie wrote: “naïve café”, Ångström, e\u0301.",
    "東京は日本の首都です。",
    "Привет, мир! Γειά σου. שלום עולם. مرحبا بالعالم",
    "हिन्दी, ไทย, 한국어 and 🙂👩‍💻",
    "[CLS] [SEP] [MASK] [PAD] <s> </s> <pad> <unk> <mask> <|endoftext|> <bos>",
    "query: what is the capital of France?",
    "passage: Paris is the capital of France.",
    "https://example.org/a?b=c&d=%20 user@example.org #tag 1,024.50 €",
    "antidisestablishmentarianism-counterrevolutionaries'",
    _SENTENCE * 4,
    _SENTENCE * 45,  # beyond 512 tokens
)
FEW = (PROBES[0], PROBES[7], _SENTENCE * 2)  # to test whether others in a batch matter


@dataclass(frozen=True)
class Agreement:
    """How a model is encoded, and why.

    Attributes:
        by: ``OURS`` or ``LIBRARY``.
        difference: of our vectors from the library's: the largest of a component, relative to the vector's length;
            None where our way cannot be tried.
        batch: texts that are encoded at once: 1 where others in a batch change a vector.
        from_float32: for a graph that is a model of its own: the largest cosine distance of its vectors from those of
            the folder's float32 weights; None if the folder has none.
    """

    by: str
    difference: float | None = None
    batch: int = BATCH
    from_float32: float | None = None

    @property
    def is_ours(self) -> bool:
        return self.by == OURS


# Outcomes for the model that is installed with Blindspot, by ``key``; a test repeats the comparison. With other
# versions of the libraries, the comparison is made when the model is first used.
SHIPPED = {"5c9aea07ca5e900858c4e8bb46f13d36": Agreement(OURS, 1.7e-07)}


def key(*parts: str) -> str:
    """Name of a kept outcome; ``parts`` are all that can change it: files, settings, libraries, kind of device."""
    return digest_of_strings([VERSION, *parts, *PROBES])[:32]


def read(folder: Path, name: str) -> Agreement | None:
    """The kept outcome of that name; None if there is none, or if it is damaged and must be found again."""
    if name in SHIPPED:
        return SHIPPED[name]
    try:
        return Agreement(**json.loads((folder / f"{name}.json").read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def keep(folder: Path, name: str, outcome: Agreement) -> None:
    write_atomically(folder / f"{name}.json", lambda file: file.write(json.dumps(asdict(outcome)).encode()))


def encode(model: Any, texts: Sequence[str], task: str, prompt: str | None, batch: int) -> Float32:
    """``[n, d] float32`` as the library gives them.

    Args:
        model: a ``SentenceTransformer`` or ``SparseEncoder``.
        task: whether the texts are queries, documents, or neither.
        prompt: put before each text; None for the model's own prompt for the task.
    """
    call = {TEXT: model.encode, QUERY: model.encode_query, DOCUMENT: model.encode_document}[task]
    options: dict[str, Any] = {} if prompt is None else {"prompt": prompt}
    if hasattr(model, "max_active_dims"):  # sparse
        options["convert_to_sparse_tensor"] = False
    vectors = call(list(texts), batch_size=batch, show_progress_bar=False, convert_to_tensor=True, **options)
    return np.asarray(vectors.detach().float().cpu().numpy())


def each(model: Any, task: str, prompt: str | None, texts: Sequence[str] = PROBES) -> dict[str, Float32]:
    """The library's vector ``[d]`` of every text that it can encode, each in a batch of its own."""
    vectors = {}
    for text in texts:
        try:
            vectors[text] = encode(model, [text], task, prompt, 1)[0]
        except Exception as error:  # of any kind: no tokens, or more of them than positions
            if _is_out_of_memory(error):
                raise
    return vectors


def why_not(model: Any, prompt: str) -> str:
    """The reason why the library cannot encode a short text, to append to a sentence; "" if it can."""
    try:
        encode(model, PROBES[:1], TEXT, prompt, 1)
    except Exception as error:  # noqa: BLE001 - of any kind
        return f": {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ""


def difference(expected: Float32, vectors: Float32) -> float:
    """Largest difference of a component, relative to the length of the expected vector; infinite if nothing can be
    compared."""
    if expected.shape != vectors.shape:
        return float("inf")
    wide = expected.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    worst = float((np.abs(wide - vectors) / np.where(lengths > 0, lengths, 1)).max(initial=0.0))
    return worst if np.isfinite(worst) else float("inf")


def cosine_distance(expected: Float32, vectors: Float32) -> float:
    """The largest cosine distance between rows of two matrices ``[n, d]``; 1 from a zero vector."""
    rows = np.arange(len(expected))
    both = np.concatenate([expected, vectors])
    return 1.0 - float(similarity_of_pairs(both, rows, rows + len(expected), Similarity.COS).min())


def batch_of(model: Any, expected: dict[str, Float32], task: str = TEXT, prompt: str | None = None) -> int:
    """How many texts the library may encode at once so that each gets the vector that it has alone."""
    try:
        vectors = encode(model, list(expected), task, prompt, BATCH)
    except Exception as error:
        if _is_out_of_memory(error):
            raise
        return 1
    return BATCH if difference(np.stack(list(expected.values())), vectors) <= LARGEST_DIFFERENCE else 1


def reads_alike(model: Any, max_length: int) -> bool:
    """Whether we know all that decides a text's tokens: no setting changes them by task or by call.

    Probe texts cannot tell a limit of 1,000 tokens from one of 2,000.
    """
    first = model[0]
    tokenizer = getattr(first, "tokenizer", None)
    if getattr(first, "auto_model", None) is None or tokenizer is None or not callable(tokenizer):
        return False
    unusual = ("processing_kwargs", "query_length", "document_length", "query_expansion")
    if any(getattr(first, name, None) for name in unusual):
        return False
    modalities = getattr(first, "modality_config", {})
    if "message" in modalities or modalities.get("text", {}).get("method", "forward") != "forward":
        return False
    return limit_of(model) == max_length


def limit_of(model: Any) -> int:
    """Tokens after which the library truncates; 0 for never."""
    from blindspot.encoders.transformer.folder import NO_LIMIT

    limit = getattr(model[0].tokenizer, "model_max_length", None)
    return int(limit) if limit and limit <= NO_LIMIT else 0


def _is_out_of_memory(error: Exception) -> bool:
    import torch

    return isinstance(error, torch.OutOfMemoryError | MemoryError)


@dataclass(frozen=True, eq=False)
class LibraryEncoder:
    """The library as the encoder of a model's texts.

    Attributes:
        model, task, prompt, batch: as in ``encode``.
        dimension: of the vectors.
        reference: of the model, for messages.
    """

    model: Any
    task: str
    prompt: str | None
    batch: int
    dimension: int
    reference: str

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """See ``Encoder.encode``."""
        import torch

        parts = [np.empty((0, self.dimension), dtype=np.float32)]
        for start in range(0, len(texts), self.batch):
            cancel.check()
            some = texts[start : start + self.batch]
            try:
                parts.append(encode(self.model, some, self.task, self.prompt, self.batch))
            except torch.OutOfMemoryError:
                raise
            except Exception as error:  # of the library, of any kind
                alone = some[0] if len(some) == 1 else next((t for t in some if not self._can_encode(t)), some[0])
                raise BlindspotError(
                    f"'{self.reference}': sentence-transformers cannot encode {alone[:60]!r}: "
                    f"{type(error).__name__}: {' '.join(str(error).split())[:200]}",
                    remedy="leave this text out, or use another model",
                ) from error
        return np.concatenate(parts)

    def _can_encode(self, text: str) -> bool:
        try:
            encode(self.model, [text], self.task, self.prompt, 1)
        except Exception:  # noqa: BLE001 - whatever it is, it is this text's
            return False
        return True
