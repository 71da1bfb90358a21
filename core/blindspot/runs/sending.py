"""Texts that work sends to servers, told before anything is sent; nothing is asked of any server here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.kinds.base import Dataset
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import variant_named
from blindspot.encoders.roles import by_role
from blindspot.encoders.served.encoder import ServedEncoder
from blindspot.encoders.served.reference import ServedReference
from blindspot.errors import BlindspotError
from blindspot.references import FusionRef
from blindspot.runs.inputs.roles import Texts, texts_of
from blindspot.runs.requests import EncodeRequest, RunRequest
from blindspot.settings import Settings

BYTES_PER_TOKEN = 4  # of UTF-8: near enough for English, and for scripts of three bytes


@dataclass(frozen=True)
class Sending:
    """What goes to one server.

    Attributes:
        host: with its port.
        key_env: the variable whose key goes along; "" for none.
        is_private: whether the host is this machine or in its own network.
        texts, tokens: how many, tokens by their size; 0 texts of datasets that are not downloaded yet.
        unknown: titles of datasets whose texts cannot be counted before their download.
    """

    host: str
    key_env: str
    is_private: bool
    texts: int
    tokens: int
    unknown: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        tokens = f"{float(f'{self.tokens:.2g}'):,.0f}"
        parts = [f"{self.texts:,} texts (about {tokens} tokens)"] if self.texts else []
        parts += [f"the texts of {', '.join(self.unknown)}, not counted before the download"] if self.unknown else []
        key = f", with the key in {self.key_env}" if self.key_env else ", without a key"
        return f"{' and '.join(parts)} will be sent to {self.host}{key}"


def sendings(tasks: Iterable[object], settings: Settings) -> tuple[Sending, ...]:
    """What runs and encodings would send, per server, without what is stored already; other tasks send nothing."""
    # By model and dataset; the run whose texts have roles.
    wanted: dict[tuple[str, DatasetRef, RunRequest | None], None] = {}
    for task in tasks:
        if isinstance(task, RunRequest):
            models = list(task.variant.encoder.models)
            wanted |= dict.fromkeys((model, task.dataset, task) for model in models)
            wanted |= dict.fromkeys((model, task.fit_on, None) for model in models if task.fit_on)
        elif isinstance(task, EncodeRequest):
            wanted |= dict.fromkeys((part, task.dataset, None) for part in variant_named(task.encoder).encoder.models)
    by_host: dict[str, Sending] = {}
    seen: set[object] = set()
    for model, name, run in wanted:
        if not model.startswith("api:"):
            continue
        encoder = ServedEncoder.of(ServedReference.parse(model), settings)
        texts = _texts(encoder, name, run, settings)
        key = str(encoder.reference.of_vectors), *((texts.digest, type(texts.encoder)) if texts else (name,))
        if key in seen or (texts and _is_stored(texts, encoder, settings)):
            continue
        seen.add(key)
        by_host[encoder.reference.host] = _with(by_host.get(encoder.reference.host), encoder, texts, name)
    return tuple(by_host.values())


def _with(before: Sending | None, encoder: ServedEncoder, texts: Texts | None, name: str) -> Sending:
    """What goes to a server, and these texts; None of a dataset that is not here."""
    host, key = encoder.reference.host, encoder.reference.key_env if encoder.has_key else ""
    before = before or Sending(host, "", encoder.reference.is_private, 0, 0)
    if texts is None:
        return replace(before, unknown=tuple(dict.fromkeys((*before.unknown, title_of(name)))))
    keys = dict.fromkeys(filter(None, (*before.key_env.split(", "), key)))
    size = sum(len(text.encode("utf-8", "replace")) for text in texts.texts)
    return replace(
        before,
        key_env=", ".join(keys),
        texts=before.texts + len(texts.texts),
        tokens=before.tokens + size // BYTES_PER_TOKEN,
    )


def _texts(encoder: ServedEncoder, name: DatasetRef, run: RunRequest | None, settings: Settings) -> Texts | None:
    """What is encoded of a dataset; None if it is not on this machine."""
    dataset = _dataset(name, settings)
    if dataset is None:
        return None
    if run is None:
        return Texts(encoder, dataset.items, dataset.texts_digest, encoder)
    if isinstance(run.variant.encoder, FusionRef):
        return Texts(by_role(encoder, dataset.asked), dataset.items, dataset.texts_digest, encoder)
    entry = find_diagnostic(run.diagnostic)
    return texts_of(entry, dict(run.params), encoder, entry.as_read(dataset, encoder))


def _is_stored(texts: Texts, encoder: ServedEncoder, settings: Settings) -> bool:
    cache = EmbeddingCache(settings.embeddings)
    return bool(encoder.versions) and cache.read(texts.embedding_digest, is_use=False) is not None


def _dataset(name: DatasetRef, settings: Settings) -> Dataset | None:
    """The dataset if it is on this machine."""
    entry = name.entry()
    if fetch.dataset_state(entry, settings) in {fetch.DataState.MISSING, fetch.DataState.CORRUPT}:
        return None
    files = tuple(entry.own.files.items()) if entry.own else ()
    try:
        return _loaded(name, entry.revision, str(files), settings)
    except BlindspotError:  # the run says what is wrong with it
        return None


@lru_cache(maxsize=4)
def _loaded(name: DatasetRef, _revision: str, _files: str, settings: Settings) -> Dataset:
    return fetch.load(name.entry(), settings)
