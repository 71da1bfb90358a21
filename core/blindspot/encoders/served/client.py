"""Requests to a server of embeddings: several at a time, tried again where that can help, checked, and bounded.

Requests go only to the reference's host: redirects to others are errors. The key is read from the environment for
each call and kept in no attribute. Errors are raised without their cause, since httpx's errors carry the request with
its headers.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import re
import threading
import weakref
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

import numpy as np

from blindspot.encoders.served.reference import BASE64, ServedReference, Style
from blindspot.encoders.served.refusals import TooLarge, TryAgain, in_words, refusal, safe, said, secrets_of
from blindspot.encoders.served.styles import WrongAnswer, body_of, vectors_of
from blindspot.errors import BlindspotError, Cancelled, InputError
from blindspot.types import CancelToken, Float32

if TYPE_CHECKING:
    import httpx

TRIES_OF_CONNECTIONS = 4  # connections that break, or cannot be opened
TRIES_OF_TIMEOUTS = 2
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds: before the second try, then doubled; the longest, also by Retry-After
CONNECT_SECONDS = 10.0
GRACE = 3.0  # seconds that requests under way have to finish after a cancel: their vectors are kept
SECONDS_TO_DESCRIBE = 5.0
MOST_REDIRECTS = 3  # within the host
PLAIN = "bank"  # a text that every model accepts
BYTES_OF_ANSWER, BYTES_PER_TEXT = 1 << 20, 300_000  # most that is read: 8,192 numbers of 25 digits per text, and 1 MB


@dataclass
class _Batch:
    """Texts of one call, and the vectors fetched so far, by row."""

    texts: Sequence[str]
    prompt: str
    found: dict[int, Float32]
    dimension: int | None
    as_numbers: bool = False
    takes_plain: bool | None = None  # whether the server accepts a plain text; None if not tried yet
    asking_plain: asyncio.Lock = field(default_factory=asyncio.Lock)
    stops: bool = False  # no further requests
    error: BaseException | None = None  # the first one


class Client:
    """The connections to one server for one model; constructing it opens none."""

    def __init__(self, reference: ServedReference) -> None:
        self.reference = reference
        self._most = reference.batch  # texts per request, fewer once the server refused so many
        self._in_base64 = reference.params.encoding == BASE64
        self._http: httpx.AsyncClient | None = None
        self._lock = threading.Lock()

    def fetch(
        self,
        texts: Sequence[str],
        prompt: str,
        cancel: CancelToken,
        vectors: dict[int, Float32],
        dimension: int | None = None,
        *,
        as_numbers: bool = False,
    ) -> None:
        """Put the vector of every text into ``vectors``, by its row; on an error, those that were fetched before it.

        ``dimension`` is what vectors must have; None if it is not known yet, and all must have the same.
        ``as_numbers``: vectors come as numbers, even if the server can send base64.

        Raises:
            InputError: the key is missing or refused, there is no such address or model, or a text is refused.
            Cancelled: no further request is sent, and those under way had a moment to finish.
            BlindspotError: the server cannot be reached, is overloaded for too long, or answers nonsense.
        """
        cancel.check()
        self.secrets()
        batch = _Batch(texts, prompt, vectors, dimension or self.reference.params.dimensions, as_numbers)
        with self._lock:
            future = _submit(self._all(batch))
            try:
                _wait(future, batch, cancel)
            except BaseException:
                future.cancel()
                raise

    def longest(self) -> int | None:
        """Tokens after which the server cuts texts; None if it does not say (Text Embeddings Inference and vLLM do)."""
        style = self.reference.params.style
        path = {Style.TEI: "/info", Style.OPENAI: "/models"}.get(style)
        if path is None:
            return None
        self.secrets()
        future = asyncio.run_coroutine_threadsafe(self._described(path), _loop())
        try:
            payload = future.result(timeout=SECONDS_TO_DESCRIBE)
        except (NotYet, BlindspotError):
            future.cancel()
            return None
        models = payload.get("data") if isinstance(payload, dict) and style is Style.OPENAI else [payload]
        for model in models if isinstance(models, list) else []:
            if isinstance(model, dict) and model.get("id", self.reference.model) == self.reference.model:
                limit = model.get("max_model_len", model.get("max_input_length"))
                return limit if type(limit) is int and limit > 0 else None
        return None

    async def _described(self, path: str) -> Any:
        """The server's description of itself, from JSON; None if it gives none."""
        import httpx

        parts = urlsplit(self.reference.url)
        url = urlunsplit(parts._replace(path=parts.path + path))
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", **self.secrets()}
        data = bytearray()
        try:
            async with self._opened().stream("GET", url, headers=headers) as response:
                async for block in response.aiter_raw():
                    data += block
                    if len(data) > BYTES_OF_ANSWER:
                        return None
            return json.loads(data) if response.status_code == 200 else None
        except (httpx.HTTPError, ValueError, RecursionError):
            return None

    def secrets(self) -> dict[str, str]:
        """The key and other headers from the environment, as they are sent.

        Raises:
            InputError: a secret is missing, unusable, part of the reference, or would be sent unencrypted over the
                internet.
        """
        reference = self.reference
        params, headers = reference.params, secrets_of(reference)
        for header, name in params.variables.items():
            is_usual = header == "authorization" and params.key_env is None
            if header not in headers and not (is_usual and header not in params.headers):
                raise InputError(
                    f"the environment variable {name} is not set, which is to have the key for {reference.host}",
                    remedy=f"set {name} where Blindspot is started, then start it again",
                )
        for header, value in headers.items():
            self._check_secret(params.variables[header], value, may_have_spaces=header in params.headers)
        bearer = headers.get("authorization")
        if bearer and "authorization" not in params.headers:
            headers["authorization"] = f"Bearer {bearer}"
        return headers

    def _check_secret(self, name: str, value: str, *, may_have_spaces: bool) -> None:
        reference = self.reference
        if not value.isascii() or not value.isprintable() or (" " in value and not may_have_spaces):
            raise InputError(f"the environment variable {name} has no usable key: it has spaces or special characters")
        if len(value) > 7 and (value in str(reference) or value in unquote(str(reference))):
            raise InputError(
                f"the reference has the key of {name} in it, and would be stored with the results",
                remedy=f"leave it out: the key is read from {name}",
            )
        if reference.url.startswith("http://") and not reference.is_private:
            raise InputError(
                f"the key in {name} would be sent unencrypted to {reference.host}",
                expected="an address that begins with https://",
                remedy="use https, or write key_env= into the reference to send no key",
            )

    # --- batches

    async def _all(self, batch: _Batch) -> None:
        """Send all requests of a call. After an error, requests under way finish, so that nothing is paid for twice."""
        rows, size = range(len(batch.texts)), self._most
        waiting = deque(rows[start : start + size] for start in range(0, len(rows), size))

        async def work() -> None:
            try:
                while waiting and not batch.stops:
                    await self._some(waiting.popleft(), batch)
            except Exception as error:  # noqa: BLE001 - raised below, when the others have come to their end
                batch.stops = True
                batch.error = batch.error or error

        workers = min(self.reference.params.parallel, len(waiting))
        await asyncio.gather(*(work() for _ in range(workers)))
        if batch.error is not None:
            raise batch.error

    async def _some(self, rows: range, batch: _Batch) -> None:
        """Fetch the vectors of some rows, in halves if the server refuses so many now or refused so many before."""
        is_too_large = False
        if len(rows) <= self._most:
            try:
                vectors = await self._answer([batch.texts[row] for row in rows], batch)
            except TooLarge as refusal:
                if not refusal.is_of_size and not await self._takes_plain(batch):
                    raise refusal.error from None  # the server refuses any text
                if len(rows) == 1:
                    raise refusal.of_text(batch.texts[rows.start]) from None
                is_too_large = refusal.is_of_size
            else:
                batch.found.update(zip(rows, vectors, strict=True))
                return
        half = (len(rows) + 1) // 2
        for part in (rows[:half], rows[half:]):
            if batch.stops:
                return
            await self._some(part, batch)
        if is_too_large:
            self._most = min(self._most, half)

    async def _takes_plain(self, batch: _Batch) -> bool:
        """Whether the server accepts a short English text: if so, it refuses other texts for their content."""
        async with batch.asking_plain:
            if batch.takes_plain is None:
                try:
                    await self._answer([PLAIN], batch)
                    batch.takes_plain = True
                except TooLarge:
                    batch.takes_plain = False
            return batch.takes_plain

    async def _answer(self, texts: Sequence[str], batch: _Batch) -> Float32:
        """The vectors of a request, which is tried again with growing waits."""
        tried: dict[int, int] = {}
        while True:
            try:
                return await self._try(texts, batch)
            except TryAgain as again:
                count = tried[again.tries] = tried.get(again.tries, 0) + 1
                if count >= again.tries or batch.stops:
                    raise again.error from None
                wait = min(FIRST_WAIT * 2 ** (count - 1), LONGEST_WAIT) * random.uniform(0.5, 1.0)  # noqa: S311
                if again.wait is not None:
                    wait = min(again.wait, LONGEST_WAIT) + random.uniform(0.0, 0.1)  # noqa: S311 - not all at once
                await self._pause(wait, batch, again)

    @staticmethod
    async def _pause(seconds: float, batch: _Batch, again: TryAgain) -> None:
        """Wait, unless another request fails meanwhile or the work is cancelled."""
        until = perf_counter() + seconds
        while (left := until - perf_counter()) > 0:
            await asyncio.sleep(min(left, 0.1))
            if batch.stops:
                raise again.error from None

    # --- one request

    async def _try(self, texts: Sequence[str], batch: _Batch) -> Float32:
        import httpx

        host, seconds = self.reference.host, self.reference.params.timeout
        in_base64 = self._in_base64 and not batch.as_numbers and self.reference.params.style is Style.OPENAI
        body = body_of(self.reference, texts, batch.prompt, in_base64=in_base64)
        most = BYTES_OF_ANSWER + BYTES_PER_TEXT * len(texts)
        try:
            async with asyncio.timeout(seconds):
                status, headers, data = await self._post(json.dumps(body).encode(), most)
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout):
            error = BlindspotError(
                f"{host} did not answer {len(texts)} texts within {seconds} seconds",
                remedy="run it again: what was fetched is kept. A slow server needs fewer texts at a time (batch=, "
                "parallel=) or more seconds (timeout=)",
            )
            raise TryAgain(error, TRIES_OF_TIMEOUTS) from None
        except (httpx.TransportError, OSError) as failure:
            why = safe(str(failure) or type(failure).__name__, self.reference)
            error = BlindspotError(
                f"{host} cannot be reached, or breaks off: {why}",
                remedy="check that the server runs at this address, then run it again: what was fetched is kept",
            )
            raise TryAgain(error, TRIES_OF_CONNECTIONS) from None
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            raise BlindspotError(f"{host} cannot be asked: {type(failure).__name__}") from None
        if status != 200:
            if in_base64 and status in {400, 422} and re.search("encoding_format|base64", said(data, self.reference)):
                self._in_base64 = False
                raise TryAgain(InputError(f"{host} refuses base64 ({status})"), TRIES_OF_TIMEOUTS, 0.0)
            raise refusal(status, headers, data, len(texts), self.reference)
        return self._vectors(data, headers, len(texts), batch)

    async def _post(self, content: bytes, most: int) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and unpacked body of at most ``most`` bytes, after redirects within the host."""
        client, url = self._opened(), self.reference.endpoint
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        headers |= self.secrets()
        for _ in range(MOST_REDIRECTS + 1):
            async with client.stream("POST", url, content=content, headers=headers) as response:
                if response.is_redirect:
                    url = self._redirected(url, response.status_code, response.headers.get("location", ""))
                    continue
                data = bytearray()
                async for block in response.aiter_raw():
                    data += block
                    if len(data) > most:
                        raise self._too_long(most)
                packing = response.headers.get("content-encoding", "identity").strip().lower()
                return response.status_code, dict(response.headers), self._unpacked(bytes(data), packing, most)
        raise BlindspotError(f"{self.reference.host} redirects without end")

    def _redirected(self, url: str, status: int, location: str) -> str:
        """The new address, on the same host; raises ``BlindspotError`` for another."""
        try:
            target = urljoin(url, location)
            was, now = urlsplit(url), urlsplit(target)
            is_here = (was.scheme, was.hostname, was.port) == (
                now.scheme,
                now.hostname,
                now.port,
            ) and "@" not in now.netloc
            to = f"{now.scheme}://{now.hostname or '?'}"
        except ValueError:
            is_here, to = False, "an address that cannot be read"
        if is_here and status in {307, 308}:
            return target
        where = "another page" if is_here else safe(to, self.reference)
        raise BlindspotError(
            f"{self.reference.host} redirects to {where}, which is not followed",
            expected="vectors from the address itself: texts and keys are sent nowhere else",
            remedy="name the address that serves the model",
        )

    def _too_long(self, most: int) -> BlindspotError:
        return BlindspotError(
            f"{self.reference.host} sends more than {most / 1e6:.0f} MB as one answer",
            expected="at most 8,192 numbers per text",
            remedy="check the address and style=",
        )

    def _unpacked(self, data: bytes, packing: str, most: int) -> bytes:
        if packing in {"", "identity"}:
            return data
        if packing not in {"gzip", "x-gzip", "deflate"}:
            raise BlindspotError(
                f"{self.reference.host} packs its answer as {safe(packing, self.reference)}, though asked not to"
            )
        unpacking = zlib.decompressobj(wbits=47 if "gzip" in packing else 15)
        try:
            content = unpacking.decompress(data, most + 1)
        except zlib.error:
            raise BlindspotError(f"{self.reference.host} sends a damaged {packing} answer") from None
        if len(content) > most:
            raise self._too_long(most)
        if not unpacking.eof:
            raise BlindspotError(f"{self.reference.host} sends a {packing} answer that is cut short")
        return content

    def _vectors(self, data: bytes, headers: Mapping[str, str], texts: int, batch: _Batch) -> Float32:
        host = self.reference.host
        try:
            payload = json.loads(data)
        except (ValueError, RecursionError):
            what = in_words(data, headers.get("content-type", ""), self.reference)
            raise BlindspotError(
                f"{host} answers with {what} instead of JSON",
                remedy="check the address (often it ends in /v1) and style=",
            ) from None
        if isinstance(payload, dict) and "error" in payload and "data" not in payload:
            raise BlindspotError(f"{host} answers with an error: {said(data, self.reference)}")
        try:
            vectors = vectors_of(self.reference.params.style, payload, texts)
        except WrongAnswer as wrong:
            raise BlindspotError(
                f"{host} {safe(str(wrong), self.reference)}", remedy="check the server and style="
            ) from None
        batch.dimension = batch.dimension or vectors.shape[1]
        if vectors.shape[1] != batch.dimension:
            if wide := _width(vectors.shape[1], batch.dimension, payload):
                raise BlindspotError(
                    f"{host} sends base64 of {wide}-bit numbers",
                    expected="32-bit floats, as OpenAI sends them",
                    remedy="write encoding=float into the reference: numbers are asked for then",
                )
            why = "dimensions= asks for" if self.reference.params.dimensions else "it gave for other texts"
            raise BlindspotError(
                f"{host} gives vectors of {vectors.shape[1]} dimensions", expected=f"{batch.dimension}, as {why}"
            )
        return vectors

    def _opened(self) -> httpx.AsyncClient:
        """The client with its open connections. It uses the environment's proxies only for public hosts."""
        if self._http is None:
            import httpx

            for name in ("httpx", "httpcore"):  # these log headers, and a server may repeat the key there
                logging.getLogger(name).setLevel(logging.WARNING)
            parallel = self.reference.params.parallel
            is_secure = self.reference.url.startswith("https:")
            self._http = httpx.AsyncClient(
                timeout=httpx.Timeout(self.reference.params.timeout, connect=CONNECT_SECONDS, pool=None),
                limits=httpx.Limits(max_connections=parallel, max_keepalive_connections=parallel),
                follow_redirects=False,
                trust_env=not self.reference.is_private,
                verify=httpx.create_ssl_context(trust_env=True) if is_secure else False,
            )
            weakref.finalize(self, _close, self._http)
        return self._http


# --- the thread in which all clients wait for their servers

_LOOP: tuple[int, asyncio.AbstractEventLoop] | None = None
_STARTING = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    global _LOOP  # noqa: PLW0603 - one per process: a forked one starts its own
    with _STARTING:
        if _LOOP is None or _LOOP[0] != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="served-encoders", daemon=True).start()
            _LOOP = os.getpid(), loop
        return _LOOP[1]


def _submit(work: Any) -> Future[None]:
    return asyncio.run_coroutine_threadsafe(work, _loop())


def _wait(future: Future[None], batch: _Batch, cancel: CancelToken) -> None:
    """Wait for all requests; raises ``Cancelled`` soon after a cancel."""
    until = None
    while True:
        try:
            future.result(timeout=0.1)
            if len(batch.found) < len(batch.texts):
                raise Cancelled
            return
        except NotYet:
            if future.done():  # it failed with a timeout of its own, which is an error of ours
                raise
        except BlindspotError:
            if cancel.cancelled:
                raise Cancelled from None
            raise
        if cancel.cancelled:
            batch.stops = True
            until = until or perf_counter() + GRACE
            if perf_counter() > until:
                raise Cancelled


def _close(client: httpx.AsyncClient) -> None:
    with suppress(RuntimeError):  # the loop has ended, and its connections with it
        loop = _loop()
        loop.call_soon_threadsafe(lambda: loop.create_task(client.aclose()))


def _width(dimension: int, expected: int, payload: Any) -> int:
    """Bits per number of an answer in base64 if they are not 32; 0 if the difference has another cause."""
    rows = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row.get("embedding"), str) for row in rows):
        return 0
    return {16: 64, 4: 16, 2: 8}.get(8 * dimension // expected, 0) if 8 * dimension % expected == 0 else 0


def as_matrix(vectors: Mapping[int, Float32], texts: int) -> Float32:
    """``[texts, d] float32`` of vectors by row."""
    return np.stack([vectors[row] for row in range(texts)])
