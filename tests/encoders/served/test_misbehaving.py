"""Ways in which servers misbehave: each is one clear line, leaves nothing half-written, and reaches no other host."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindspot.cli import main
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.served.encoder import ServedEncoder
from blindspot.encoders.served.refusals import TRIES
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import Settings
from blindspot.types import CancelToken, Float32, no_progress
from tests.support.embedding_server import Change, EmbeddingSite, Reply, Request, embedding_server, hash_vectors
from tests.support.loopback import free_port

TEXTS = tuple(f"text number {i}" for i in range(300))
ELSEWHERE = "http://elsewhere.example/v1/embeddings"
GZIP = {"Content-Encoding": "gzip"}


def payload(change: Callable[[dict[str, Any]], object]) -> Change:
    """The healthy answer with changes."""

    def changed(_: Request, reply: Reply) -> Reply:
        found = json.loads(json.dumps(reply.payload))
        return replace(reply, payload=change(found) or found)

    return changed


def always(**changes: Any) -> Change:
    return lambda _, reply: replace(reply, **changes)


def vector(value: Any) -> Change:
    """Another first vector."""
    return payload(lambda found: found["data"][0].update(embedding=value))


def packed(pack: Callable[[bytes], bytes], encoding: str) -> Change:
    return lambda _, reply: replace(
        reply, body=pack(json.dumps(reply.payload).encode()), headers={"Content-Encoding": encoding}
    )


def redirect(status: int, location: str) -> Change:
    return always(status=status, headers={"Location": location}, body=b"")


@cache
def bomb() -> bytes:
    return gzip.compress(b"[" + b" " * 200_000_000, 9)


FAULTS: dict[str, Change] = {
    "hangs": always(delay=20.0),
    "sends a byte now and then": always(drip=0.05),
    "closes at once": always(cut=-1),
    "closes in the middle": always(cut=40),
    "HTML": always(body=b"<!doctype html><p>Welcome</p>", headers={"Content-Type": "text/html"}),
    "nothing": always(body=b""),
    "JSON that ends early": always(body=b'{"data": ['),
    "JSON too deep to read": always(body=b"[" * 100_000),
    "no HTTP": always(raw=b"220 smtp ready\r\n\r\n"),
    "headers without end": always(raw=b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"a" * 500_000),
    "another object": always(payload={"object": "list"}),
    "a list": always(payload=[1, 2, 3]),
    "an error as 200": always(payload={"error": {"message": "model crashed"}}),
    "too few vectors": payload(lambda found: found["data"].pop()),
    "too many vectors": payload(lambda found: found["data"].append(found["data"][0] | {"index": 64})),
    "an index twice": payload(lambda found: found["data"][1].update(index=0)),
    "an index too high": payload(lambda found: found["data"][0].update(index=1_000)),
    "an index that is no number": payload(lambda found: found["data"][0].update(index="0")),
    "an index missing": payload(lambda found: found["data"][0].pop("index") and None),
    "another dimension": vector([0.5] * 31),
    "another dimension for all": payload(
        lambda found: [d.update(embedding=[0.5] * 16) for d in found["data"]] and None
    ),
    "empty vectors": payload(lambda found: [d.update(embedding=[]) for d in found["data"]] and None),
    "NaN": vector([float("nan")] * 32),
    "infinity": vector([float("inf")] * 32),
    "more than float32 can hold": vector([1e300] * 32),
    "texts as numbers": vector(["0.5"] * 32),
    "null": vector(None),
    "nested vectors": vector([[0.5] * 32]),
    "true and false": vector([True] * 32),
    "no base64": vector("###"),
    "base64 of 5 bytes": vector("AAAAAAA="),
    "429 for ever": always(status=429, headers={"Retry-After": "1000000"}),
    "429, no credit": always(status=429, payload={"error": {"code": "insufficient_quota", "message": "pay"}}),
    "500 for ever": always(status=500, payload={"error": "CUDA out of memory"}),
    "503 with HTML": always(status=503, body=b"<html>maintenance</html>"),
    "400": always(status=400, payload={"error": {"message": "no such model"}}),
    "401": always(status=401),
    "404": always(status=404, payload={"detail": "Not Found"}),
    "413 for one text": always(status=413),
    "422": always(status=422, payload={"detail": [{"loc": ["body"], "msg": "field required"}]}),
    "418": always(status=418),
    "204": always(status=204, body=b""),
    "redirects to another host": redirect(307, ELSEWHERE),
    "redirects to another port": redirect(308, "http://127.0.0.1:1/v1/embeddings"),
    "redirects to a page": redirect(302, "/login"),
    "redirects to an address that is none": redirect(307, "http://[::1/"),
    "redirects in a circle": redirect(307, "/v1/embeddings"),
    "a huge body": always(body=b" " * 30_000_000),
    "a gzip bomb": lambda _, reply: replace(reply, body=bomb(), headers=GZIP),
    "gzip cut short": packed(lambda data: gzip.compress(data)[:-20], "gzip"),
    "no gzip, though it says so": always(headers=GZIP),
    "packed as brotli": always(headers={"Content-Encoding": "br"}),
    "a length that is wrong": always(headers={"Content-Length": "999999"}, cut=100_000),
}
ONCE = {"429, no credit", "400", "401", "404", "422", "418"}  # errors of which no other try can be better


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Addresses that anything connects to."""
    found: list[object] = []
    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        found.append(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", noted)
    return found


@pytest.mark.server
@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_one_clear_line(fault: str, site: EmbeddingSite, settings: Settings, reached: list[object]) -> None:
    encoder = resolve_encoder(f"api:{site.url}/v1#m?timeout=1&parallel=2", settings)
    assert isinstance(encoder, ServedEncoder)
    encoder.verify(CancelToken())
    reached.clear()
    healthy = len(site.requests)
    encoder.identity  # noqa: B018 - known from here on: only the encoding below meets the fault
    site.change = lambda request, reply: FAULTS[fault](request, reply) if len(request.texts) != 5 else reply
    cache = EmbeddingCache(settings.embeddings)
    with pytest.raises(BlindspotError) as caught:
        cache.encode(encoder, TEXTS, "digest", no_progress, CancelToken())
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 600
    assert site.url.removeprefix("http://") in line
    assert caught.value.__cause__ is None
    port = int(site.url.rpartition(":")[2])
    assert set(reached) <= {("127.0.0.1", port)}
    assert not [path for path in settings.embeddings.rglob("*") if path.is_file() and ".parts" not in str(path)]
    sent = [request for request in site.requests[healthy:] if len(request.texts) != 5]
    assert len(sent) <= 2 * TRIES + 20
    if fault in ONCE:
        assert len(sent) <= 3  # of two at a time, and a plain text
    # Well again, the same texts are encoded as if nothing had happened.
    site.change = lambda _, reply: reply
    embedded = cache.encode(
        resolve_encoder(str(encoder.reference), settings), TEXTS, "digest", no_progress, CancelToken()
    )
    np.testing.assert_allclose(embedded.matrix, hash_vectors(TEXTS), atol=1e-7)


def test_there_are_at_least_thirty() -> None:
    assert len(FAULTS) >= 30


@pytest.mark.server
def test_a_dead_server_is_one_line(settings: Settings) -> None:
    encoder = resolve_encoder(f"api:http://127.0.0.1:{free_port()}/v1#m", settings)
    with pytest.raises(BlindspotError, match="cannot be reached"):
        encoder.encode(["a"], CancelToken())


def test_a_name_that_is_no_host_is_one_line(settings: Settings) -> None:
    encoder = resolve_encoder("api:http://no-such-host.invalid/v1#m", settings)
    with pytest.raises(BlindspotError, match="no-such-host"):
        encoder.encode(["a"], CancelToken())


@pytest.mark.server
@pytest.mark.parametrize(
    "passing",
    [
        always(status=429),
        always(status=500),
        always(status=503, headers={"Retry-After": "0"}),
        always(status=502, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        always(cut=-1),
        always(cut=30),
    ],
)
def test_what_passes_is_tried_again(passing: Change, site: EmbeddingSite, settings: Settings) -> None:
    site.change = lambda request, reply: passing(request, reply) if request.number in {1, 2, 4} else reply
    vectors = resolve_encoder(f"api:{site.url}/v1#m?batch=16", settings).encode(TEXTS[:64], CancelToken())
    np.testing.assert_allclose(vectors, hash_vectors(TEXTS[:64]), atol=1e-7)


@pytest.mark.server
@pytest.mark.parametrize(
    "refusal",
    [
        Reply(413, {"error": "Payload Too Large"}),
        Reply(422, {"error": "batch size 64 > maximum allowed batch size 10", "error_type": "Validation"}),
        Reply(400, {"error": {"message": "'input' array too long. Expected at most 10"}}),
    ],
)
def test_a_batch_that_is_too_large_is_halved(refusal: Reply, site: EmbeddingSite, settings: Settings) -> None:
    site.change = lambda request, reply: refusal if len(request.texts) > 10 else reply
    vectors = resolve_encoder(f"api:{site.url}/v1#m?parallel=1", settings).encode(TEXTS[:200], CancelToken())
    np.testing.assert_allclose(vectors, hash_vectors(TEXTS[:200]), atol=1e-7)
    assert sum(len(request.texts) > 10 for request in site.requests) <= 3  # remembered: 64, 32, 16
    assert max(len(request.texts) for request in site.requests[-5:]) == 8


@pytest.mark.server
@pytest.mark.parametrize(
    "refusal",
    [
        Reply(
            500, {"error": {"message": "input is too large to process. increase the physical batch size", "code": 500}}
        ),
        Reply(400, {"message": "This model's maximum context length is 60 tokens. However, you requested 94 tokens"}),
    ],
)
def test_one_text_that_is_too_long_is_found_and_named(refusal: Reply, site: EmbeddingSite, settings: Settings) -> None:
    texts = [*TEXTS[:40], f"the long story of {'a very ' * 80}old house", *TEXTS[40:64]]
    site.change = lambda request, reply: refusal if any(len(text) > 300 for text in request.texts) else reply
    with pytest.raises(InputError) as caught:
        resolve_encoder(f"api:{site.url}/v1#m?parallel=1", settings).encode(texts, CancelToken())
    assert "begins 'the long story of a very" in str(caught.value)
    refused = [request for request in site.requests if any(len(text) > 300 for text in request.texts)]
    assert len(refused) <= 8, "halved, and never tried again as it is"
    assert len({request.texts for request in refused}) == len(refused)


@pytest.mark.server
@pytest.mark.parametrize("status", [400, 422])
def test_one_text_that_is_refused_for_what_it_is_is_found_and_named(
    status: int, site: EmbeddingSite, settings: Settings
) -> None:
    texts = [*TEXTS[:40], "a forbidden word", *TEXTS[40:64]]
    no = Reply(status, {"error": {"message": "content policy"}})
    site.change = lambda request, reply: no if "a forbidden word" in request.texts else reply
    with pytest.raises(InputError, match=r"content policy; the text, of 16 characters, begins 'a forbidden word'"):
        resolve_encoder(f"api:{site.url}/v1#m?parallel=1", settings).encode(texts, CancelToken())
    refused = [request for request in site.requests if "a forbidden word" in request.texts]
    assert [len(request.texts) for request in refused] == [64, 32, 16, 8, 4, 2, 1]


@pytest.mark.server
@pytest.mark.parametrize(("dtype", "bits"), [("<f2", 16), ("<f8", 64), ("i1", 8)])
def test_base64_of_another_width_is_refused(dtype: str, bits: int, site: EmbeddingSite, settings: Settings) -> None:
    def change(request: Request, reply: Reply) -> Reply:
        if request.body["encoding_format"] == "float":
            return reply
        rows = [base64.b64encode(v.astype(dtype).tobytes()).decode() for v in hash_vectors(request.texts)]
        return Reply(payload={"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]})

    site.change = change
    with pytest.raises(BlindspotError, match=f"base64 of {bits}-bit numbers; expected 32-bit floats"):
        resolve_encoder(f"api:{site.url}/v1#m", settings).encode(TEXTS, CancelToken())
    vectors = resolve_encoder(f"api:{site.url}/v1#m?encoding=float", settings).encode(TEXTS, CancelToken())
    np.testing.assert_allclose(vectors, hash_vectors(TEXTS), atol=1e-7)


@pytest.mark.server
def test_base64_of_another_byte_order_is_not_taken(site: EmbeddingSite, settings: Settings) -> None:
    def change(request: Request, reply: Reply) -> Reply:
        if request.body["encoding_format"] == "float":
            return reply
        rows = [base64.b64encode(v.astype(">f4").tobytes()).decode() for v in hash_vectors(request.texts)]
        return Reply(payload={"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]})

    site.change = change
    with pytest.raises(BlindspotError):
        resolve_encoder(f"api:{site.url}/v1#m", settings).encode(TEXTS, CancelToken())


@pytest.mark.server
def test_a_redirect_within_the_host_is_followed(site: EmbeddingSite, settings: Settings) -> None:
    site.change = lambda request, reply: (
        reply if request.path.endswith("?again") else Reply(307, body=b"", headers={"Location": "/v1/embeddings?again"})
    )
    assert resolve_encoder(f"api:{site.url}/v1#m", settings).encode(["a"], CancelToken()).shape == (1, 32)


@pytest.mark.server
def test_a_redirect_takes_no_key_elsewhere(
    site: EmbeddingSite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "x" * 30)
    with embedding_server() as other:
        site.change = redirect(307, f"{other.url}/v1/embeddings")
        with pytest.raises(BlindspotError):
            resolve_encoder(f"api:{site.url}/v1#m", settings).encode(["a"], CancelToken())
        assert not other.requests


@pytest.mark.server
def test_packed_answers_are_read(site: EmbeddingSite, settings: Settings) -> None:
    for pack, encoding in ((gzip.compress, "gzip"), (zlib.compress, "deflate")):
        site.change = packed(pack, encoding)
        vectors = resolve_encoder(f"api:{site.url}/v1#{encoding}", settings).encode(TEXTS[:9], CancelToken())
        np.testing.assert_allclose(vectors, hash_vectors(TEXTS[:9]), atol=1e-7)


@pytest.mark.server
def test_a_server_without_base64_is_asked_for_numbers(site: EmbeddingSite, settings: Settings) -> None:
    site.change = lambda request, reply: (
        Reply(400, {"error": {"message": "encoding_format must be float"}})
        if request.body["encoding_format"] == "base64"
        else reply
    )
    vectors = resolve_encoder(f"api:{site.url}/v1#m?batch=8", settings).encode(TEXTS[:64], CancelToken())
    np.testing.assert_allclose(vectors, hash_vectors(TEXTS[:64]), atol=1e-7)


@pytest.mark.server
def test_vectors_come_in_the_order_of_their_index(site: EmbeddingSite, settings: Settings) -> None:
    site.change = payload(lambda found: found["data"].reverse())
    vectors = resolve_encoder(f"api:{site.url}/v1#m", settings).encode(TEXTS, CancelToken())
    np.testing.assert_allclose(vectors, hash_vectors(TEXTS), atol=1e-7)


@pytest.mark.server
def test_zero_vectors_are_counted_and_said(
    site: EmbeddingSite,
    environment: Settings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def embed(texts: list[str]) -> Float32:
        found = hash_vectors(texts)
        found[[text.startswith("nothing") for text in texts]] = 0
        return found

    site.embed = embed
    path = tmp_path / "pairs.csv"
    path.write_text("query,match\na b,c d\nnothing at all,e f\nnothing more,g h\n", "utf-8")
    asked = ["run", "evalrank", "--encoder", f"api:{site.url}/v1#m?timeout=5", "--dataset", f"file:{path}"]
    assert main([*asked, "--json"]) == 0
    said = capsys.readouterr()
    assert "gives 2 zero vectors: such a text is equally far from all others" in said.err
    (run,) = json.loads(said.out)["runs"]
    assert run["manifest"]["embeddings"]["zero_vectors"] == 2
    path.write_text("query,match\na b,c d\ni j,e f\n", "utf-8")
    assert main([*asked, "--json"]) == 0
    assert "zero vector" not in capsys.readouterr().err
