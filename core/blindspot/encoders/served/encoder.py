"""Encoder of a model that a server has."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic, perf_counter

from blindspot.encoders.alone import MOST_APART, apart, rows_to_ask
from blindspot.encoders.base import EncoderIdentity, EncoderInfo
from blindspot.encoders.roles import role_prompts
from blindspot.encoders.served import probes
from blindspot.encoders.served.client import Client, as_matrix
from blindspot.encoders.served.kept import Kept
from blindspot.encoders.served.probes import PROBES, Version
from blindspot.encoders.served.reference import ServedReference
from blindspot.encoders.served.refusals import beginning, secrets_of
from blindspot.errors import BlindspotError, InputError
from blindspot.numerics.statistics.written import percent
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32

FRESH_SECONDS = 600.0  # for so long, a server is assumed to keep its model
_PROBED: dict[str, float] = {}  # by file of the model: when this process asked it last
_FAILED: dict[str, BlindspotError] = {}  # by file of the model: why it could not be asked to verify it
_CLIENTS: OrderedDict[str, Client] = OrderedDict()  # with open connections
_MOST_CLIENTS = 8
_LOCK = threading.RLock()


@dataclass(frozen=True, eq=False)
class ServedEncoder:
    """A model asked over HTTP. Constructing it and reading its identity and its facts use no network.

    Attributes:
        prompt: put before every text, or Cohere's input type.
    """

    reference: ServedReference
    settings: Settings
    prompt: str = ""
    _kept: dict[str, Kept] = field(default_factory=dict)
    _alone: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, reference: ServedReference, settings: Settings) -> ServedEncoder:
        return cls(reference, settings, reference.params.prompt or "")

    @cached_property
    def _version(self) -> Version | None:
        """The model as it answered last, which stays the same for this object; None if it was never asked."""
        versions = self.versions
        return versions[-1] if versions else None

    @property
    def versions(self) -> tuple[Version, ...]:
        """All versions that were seen here, the current one last."""
        return probes.versions_of(self.reference, self.settings)

    @property
    def identity(self) -> EncoderIdentity:
        """Raises ``InputError`` for a model that was never asked: see ``verify``."""
        if self._version is None:
            raise InputError(
                f"'{self.reference}' was never asked for a vector here",
                remedy="check it on the page Models, or run something with it",
            )
        canonical, embeds_as = str(self.reference), str(self.reference.of_vectors)
        return EncoderIdentity(
            reference=canonical,
            revision=self._version.revision,
            pooling=f"the server's own (style {self.reference.params.style.value})",
            prompt=self.prompt,
            libraries=(),
            dtype="as served",
            embeds_as="" if embeds_as == canonical else embeds_as,
        )

    @property
    def info(self) -> EncoderInfo:
        """``dimension`` is 0 for a model that was never asked, unless the reference gives it."""
        reference, params = self.reference, self.reference.params
        return EncoderInfo(
            title=f"{reference.model or 'model'} at {reference.host}",
            dimension=self._version.dimension if self._version else params.dimensions or 0,
            parameters=0,
            memory_bytes=0,
            licence="not known here: see the terms of the server",
            citation=f"the model's card, and the server at {reference.host}",
            url=reference.url,
            role_prompts=role_prompts({}, params.prompt, params.query_prompt, params.document_prompt),
            served_by=reference.host,
        )

    @property
    def has_key(self) -> bool:
        """Whether requests carry a key."""
        return bool(secrets_of(self.reference))

    @property
    def change(self) -> str:
        """A sentence where the server once had another model; "" otherwise."""
        return probes.change_in_words(self.reference, self.versions)

    @property
    def device(self) -> str:
        return f"server {self.reference.host}"

    @property
    def _client(self) -> Client:
        """Connections shared by all encoders of the same reference; the least recently used ones are closed."""
        with _LOCK:
            key = str(self.reference)
            if key not in _CLIENTS:
                _CLIENTS[key] = Client(self.reference)
            _CLIENTS.move_to_end(key)
            while len(_CLIENTS) > _MOST_CLIENTS:
                _CLIENTS.popitem(last=False)
            return _CLIENTS[key]

    def verify(self, cancel: CancelToken) -> None:
        """Ask the server for the probe texts before its identity is used, unless that was done lately.

        A server that does not answer is an error only if the model was never asked: stored results can be shown.

        Raises:
            BlindspotError: as ``Client.fetch``.
        """
        if "_version" in self.__dict__ and self._version is not None:
            return  # the identity was used; ``load`` compares
        try:
            self._probe(cancel)
        except BlindspotError as error:
            cancel.check()
            if not self.versions:
                raise
            _FAILED[self._key] = error
        self.__dict__.pop("_version", None)

    def load(self) -> None:
        """Check that the server has the model that the identity names; raises what ``encode`` does."""
        self._load(CancelToken())

    def _load(self, cancel: CancelToken) -> None:
        self._probe(cancel)
        if self._version is None:
            self.__dict__.pop("_version", None)
        now = self.versions[-1]
        if self._version is None or now.revision != self._version.revision:
            raise BlindspotError(
                f"{self.reference.host} answers the probe texts differently than before: it is another model now",
                remedy="run it again: results from before are kept as an older version",
            )

    @property
    def _key(self) -> str:
        return str(probes.path_of(self.reference, self.settings))

    def _probe(self, cancel: CancelToken) -> None:
        key = self._key
        with _LOCK:
            if error := _FAILED.pop(key, None):  # it failed just now: do not wait twice for a server that hangs
                raise error
            if self.versions and monotonic() - _PROBED.get(key, -FRESH_SECONDS) < FRESH_SECONDS:
                return
            probes.remember(self._asked(cancel), self.reference, self.settings)
            _PROBED[key] = monotonic()

    def _asked(self, cancel: CancelToken) -> Float32:
        """The server's answers to the probe texts, ``[5, d] float32``, as numbers: base64 may be of another width."""
        vectors: dict[int, Float32] = {}
        self._client.fetch(PROBES, "", cancel, vectors, as_numbers=True)
        return as_matrix(vectors, len(PROBES))

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """``[n, d] float32``, row i for text i.

        Raises:
            Cancelled, InputError, BlindspotError: as ``Client.fetch``; the server has another model than the identity
                names. Vectors fetched before the error are kept, and not fetched again.
        """
        self._load(cancel)
        identity, client = self.identity, self._client
        path = probes.path_of(self.reference, self.settings).with_suffix(f".{identity.revision[:16]}.npz")
        if identity.revision not in self._kept:
            self._kept[identity.revision] = Kept(path)
        kept = self._kept[identity.revision]
        vectors = kept.take(texts, self.prompt)
        lacking = [row for row in range(len(texts)) if row not in vectors]
        if lacking:
            some, fetched = [texts[row] for row in lacking], dict[int, Float32]()
            try:
                client.fetch(some, self.prompt, cancel, fetched, self.info.dimension)
                self._check_alone(some, fetched, cancel)
            except OtherVector:
                raise  # and nothing is kept
            except BaseException:
                kept.note(some, self.prompt, fetched)
                kept.save()
                raise
            vectors |= {lacking[row]: vector for row, vector in fetched.items()}
        kept.note(texts, self.prompt, vectors)
        return as_matrix(vectors, len(texts))

    def _check_alone(self, texts: Sequence[str], fetched: Mapping[int, Float32], cancel: CancelToken) -> None:
        """Ask for some of these texts again, alone and as numbers; raises ``OtherVector`` if a vector differs.

        A server may mix up the texts of a request, or of simultaneous requests, while all else looks as it should.
        """
        for row in rows_to_ask(texts, is_first=not self._alone):
            alone: dict[int, Float32] = {}
            self._client.fetch([texts[row]], self.prompt, cancel, alone, self.info.dimension, as_numbers=True)
            if (difference := apart(fetched[row], alone[0])) > MOST_APART:
                raise OtherVector(self.reference, texts[row], difference)
            self._alone.append(difference)

    def ask(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        """As ``encode``, but every vector is fetched now: nothing is taken from what was kept, and nothing is kept."""
        self._load(cancel)
        vectors: dict[int, Float32] = {}
        self._client.fetch(texts, self.prompt, cancel, vectors, self.info.dimension)
        return as_matrix(vectors, len(texts))

    def asked_by(self, batch: int, parallel: int) -> ServedEncoder:
        """The same model with another number of texts per request and of requests at a time."""
        params = replace(self.reference.params, batch=batch, parallel=parallel)
        other = replace(self, reference=replace(self.reference, params=params))
        if "_version" in self.__dict__:
            other.__dict__["_version"] = self._version
        return other

    def prompted(self, prompt: str, task: str = "") -> ServedEncoder:
        """The same model with another prompt; a server takes no task."""
        del task
        other = replace(self, prompt=prompt)
        if "_version" in self.__dict__:
            other.__dict__["_version"] = self._version
        return other


class OtherVector(BlindspotError):
    """A text's vector depends on the other texts of a request."""

    def __init__(self, reference: ServedReference, text: str, difference: float) -> None:
        super().__init__(
            f"{reference.host} gives the text that begins '{beginning(text)}' another vector alone than among others: "
            f"they differ by {percent(difference)} of its length",
            expected="the same vector, whatever is asked at the same time",
            remedy="check --encoder with this reference says what is mixed up. Until it is mended: parallel=1 asks one "
            "request at a time, batch=1 one text",
        )


@dataclass(frozen=True)
class Connection:
    """What a test of the connection found.

    Attributes:
        milliseconds: of one short text, after a first request.
        longest: tokens after which the server cuts texts; None if it does not say.
    """

    reference: str

    dimension: int
    milliseconds: float
    longest: int | None


def tested(encoder: ServedEncoder, cancel: CancelToken) -> Connection:
    """Ask the server, and time one text; raises what ``encode`` does."""
    encoder.verify(cancel)
    encoder._load(cancel)
    start = perf_counter()
    encoder._client.fetch(PROBES[:1], encoder.prompt, cancel, {})
    seconds = perf_counter() - start
    return Connection(str(encoder.reference), encoder.info.dimension, 1_000 * seconds, encoder._client.longest())
