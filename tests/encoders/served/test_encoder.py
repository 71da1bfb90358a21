"""Served encoders: their vectors, what they are, and that nothing is paid for twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from time import perf_counter, sleep

import numpy as np
import pytest

from blindspot.encoders import alone
from blindspot.encoders.base import PreparingEncoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.roles import RoleEncoder, by_role
from blindspot.encoders.served import encoder as served
from blindspot.encoders.served import probes
from blindspot.encoders.served.encoder import ServedEncoder
from blindspot.encoders.served.probes import PROBES, Version
from blindspot.errors import BlindspotError, Cancelled, InputError
from blindspot.settings import ROOT, Settings
from blindspot.types import CancelToken, Float32, no_progress
from tests.support.embedding_server import Embed, EmbeddingSite, Reply, Request, hash_vectors

TEXTS = tuple(f"text number {i} " + "x" * (i % 7) for i in range(700))


def of(site: EmbeddingSite, settings: Settings, rest: str = "/v1#m") -> ServedEncoder:
    found = resolve_encoder(f"api:{site.url}{rest}", settings)
    assert isinstance(found, ServedEncoder)
    return found


def encoded(encoder: ServedEncoder, settings: Settings, cancel: CancelToken | None = None) -> Float32:
    encoder.verify(CancelToken())
    cache = EmbeddingCache(settings.embeddings)
    return np.array(cache.encode(encoder, TEXTS, "digest", no_progress, cancel or CancelToken()).matrix)


def asked(site: EmbeddingSite, failed: int = -1) -> Counter[str]:
    """How often each text was sent, probes left out, and what is asked again alone; ``failed``: a request's number."""
    found: Counter[str] = Counter()
    for request in site.requests:
        if request.number == failed:
            continue
        if not (len(request.texts) == 1 and found[request.texts[0]]):
            found.update(text for text in request.texts if text not in PROBES)
    return found


@pytest.mark.server
@pytest.mark.parametrize(
    "rest",
    [
        "/v1#m",
        "/v1#m?batch=7&parallel=3",
        "#?style=tei",
        "#m?style=ollama",
        "#m?style=cohere",
        "/v1#m?body.truncate_prompt_tokens=99",
    ],
)
def test_vectors_are_those_of_the_server(rest: str, site: EmbeddingSite, settings: Settings) -> None:
    np.testing.assert_array_equal(encoded(of(site, settings, rest), settings), hash_vectors(TEXTS))
    assert asked(site) == Counter(TEXTS)


@pytest.mark.server
def test_bodies_have_what_the_reference_says(site: EmbeddingSite, settings: Settings) -> None:
    site.embed = lambda texts: hash_vectors(texts, 16)
    of(site, settings, "/v1#m?dimensions=16&prompt=say: &body.user=%22me%22").encode(["a"], CancelToken())
    assert site.requests[-1].body == {
        "model": "m",
        "input": ["say: a"],
        "dimensions": 16,
        "encoding_format": "base64",
        "user": "me",
    }
    of(site, settings, "#c?style=cohere&dimensions=16&prompt=search_query").encode(["a"], CancelToken())
    body = site.requests[-1].body
    assert (body["input_type"], body["output_dimension"], body["texts"]) == ("search_query", 16, ["a"])


@pytest.mark.server
def test_dimensions_that_a_server_ignores_are_an_error(site: EmbeddingSite, settings: Settings) -> None:
    with pytest.raises(BlindspotError, match="32 dimensions"):
        of(site, settings, "/v1#m?dimensions=16").encode(["a"], CancelToken())


@pytest.mark.server
def test_roles_take_their_prompts(site: EmbeddingSite, settings: Settings) -> None:
    base = of(site, settings, "/v1#m?query_prompt=Q: &document_prompt=D: ")
    base.verify(CancelToken())
    encoder = by_role(base, {"b"})
    assert isinstance(encoder, RoleEncoder)
    found = encoder.encode(["a", "b"], CancelToken())
    np.testing.assert_array_equal(found, hash_vectors(["D: a", "Q: b"]))
    plain = of(site, settings)
    plain.verify(CancelToken())
    assert encoder.identity.embedding_digest("x") != plain.identity.embedding_digest("x")
    assert encoder.identity.revision == plain.identity.revision  # it is the same model


# --- vectors that depend on what is asked with a text


def reversed_over(most: int) -> Embed:
    """A server that gives the vectors of larger requests in reverse."""
    return lambda texts: hash_vectors(texts)[::-1] if len(texts) > most else hash_vectors(texts)


def with_padding(texts: list[str]) -> Float32:
    """Vectors that depend a little on how many texts are in the request."""
    return hash_vectors(texts) + 0.03 * len(texts) / 64 * hash_vectors(["padding"])


@pytest.mark.server
@pytest.mark.parametrize(
    "embed", [reversed_over(50), lambda t: np.roll(hash_vectors(t), len(t) > 1, axis=0), with_padding]
)
def test_a_text_that_has_another_vector_alone_stops_the_run(
    embed: Embed, site: EmbeddingSite, settings: Settings
) -> None:
    site.embed = embed
    if embed is with_padding:  # as the rounding of a number format: no alarm
        encoded(of(site, settings), settings)
        return
    with pytest.raises(BlindspotError, match=r"'text number \d+.*another vector alone"):
        encoded(of(site, settings), settings)
    site.embed = hash_vectors
    np.testing.assert_array_equal(encoded(of(site, settings), settings), hash_vectors(TEXTS))  # nothing wrong was kept


@pytest.mark.server
def test_few_texts_are_asked_again(site: EmbeddingSite, settings: Settings) -> None:
    encoded(of(site, settings), settings)
    again = [request for request in site.requests if len(request.texts) == 1]
    assert len(again) == alone.FIRST + 2  # of three chunks
    assert {request.body["encoding_format"] for request in again} == {"float"}
    before = len(site.requests)
    of(site, settings).encode(["a text alone"], CancelToken())
    assert len(site.requests) == before + 2  # the probes, and the text


# --- headers of its own


@pytest.mark.server
def test_a_key_may_have_a_header_of_its_own(
    site: EmbeddingSite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Azure's; OpenAI's own key stays here then."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("AZURE_KEY", "0123456789abcdef")
    monkeypatch.setenv("TENANT", "Basic dXNlcg==")
    encoder = of(site, settings, "/v1#m?header.Api-Key=AZURE_KEY&header.x-tenant=TENANT")
    encoder.encode(["a"], CancelToken())
    sent = site.requests[-1].headers
    assert (sent["api-key"], sent["x-tenant"], sent.get("authorization")) == (
        "0123456789abcdef",
        "Basic dXNlcg==",
        None,
    )
    assert "header.api-key=AZURE_KEY" in str(encoder.reference)
    assert encoder.has_key
    assert encoder.identity.embedding_digest("x") == of(site, settings).identity.embedding_digest("x")
    site.change = lambda _, reply: Reply(401, {"error": "bad key 0123456789abcdef of Basic dXNlcg=="})
    with pytest.raises(InputError) as caught:
        of(site, settings, "/v1#m?header.api-key=AZURE_KEY&header.x-tenant=TENANT").encode(["a"], CancelToken())
    assert "AZURE_KEY" in str(caught.value)
    assert "abcdef" not in str(caught.value)
    assert "dXNlcg" not in str(caught.value)
    monkeypatch.delenv("AZURE_KEY")
    with pytest.raises(InputError, match="AZURE_KEY is not set"):
        of(site, settings, "/v1#m?header.api-key=AZURE_KEY").encode(["a"], CancelToken())


# --- what it is


@pytest.mark.server
def test_nothing_is_asked_before_it_must_be(site: EmbeddingSite, settings: Settings) -> None:
    encoder = of(site, settings)
    assert encoder.info.dimension == 0
    assert encoder.info.served_by == encoder.reference.host
    with pytest.raises(InputError, match="never asked"):
        encoder.identity  # noqa: B018
    assert not site.requests
    encoder.verify(CancelToken())
    assert (encoder.info.dimension, site.texts) == (32, list(PROBES))
    again = of(site, settings)
    assert again.identity == encoder.identity
    assert len(site.requests) == 1
    assert not isinstance(encoder, PreparingEncoder)


@pytest.mark.server
def test_it_is_asked_once_in_a_while(site: EmbeddingSite, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "FRESH_SECONDS", 600.0)
    for _ in range(3):
        encoded(of(site, settings), settings)
    assert Counter(site.texts)[PROBES[0]] == 1


@pytest.mark.server
def test_how_it_is_asked_changes_no_key(site: EmbeddingSite, settings: Settings) -> None:
    ways = [of(site, settings, f"/v1#m{rest}") for rest in ("", "?batch=3&parallel=1", "?key_env=", "?timeout=9")]
    ways[0].verify(CancelToken())
    assert len({way.identity.embedding_digest("x") for way in ways}) == 1
    assert len({way.identity.reference for way in ways}) == 4
    others = [of(site, settings, f"/v1#m?{rest}") for rest in ("prompt=a", "dimensions=32", "body.x=1")]
    for other in others:
        other.verify(CancelToken())
    assert len({one.identity.embedding_digest("x") for one in [ways[0], *others]}) == 4


def noisy(texts: list[str]) -> Float32:
    """The same model on another machine: cosines above 0.9999."""
    clean = hash_vectors(texts)
    noise = np.random.default_rng(len(texts)).standard_normal(clean.shape).astype(np.float32)
    return clean + 0.001 * noise


@pytest.mark.server
@pytest.mark.parametrize(
    ("embed", "is_same"),
    [
        (noisy, True),
        (lambda texts: hash_vectors(texts).astype(np.float16).astype(np.float32), True),
        (lambda texts: hash_vectors([text.lower() for text in texts]), False),
        (lambda texts: 2 * hash_vectors(texts), False),
        (lambda texts: hash_vectors(texts)[:, :16], False),
        (lambda texts: hash_vectors(texts) + 0.02 * hash_vectors(texts)[:, ::-1], True),  # 1 - cosine: 0.0002
        (lambda texts: hash_vectors(texts) + 0.08 * hash_vectors(texts)[:, ::-1], False),  # 0.003
    ],
)
def test_another_model_behind_the_address_is_another_identity(
    embed: object, is_same: bool, site: EmbeddingSite, settings: Settings
) -> None:
    before = of(site, settings)
    first = encoded(before, settings)
    site.embed = embed  # type: ignore[assignment]
    after = of(site, settings)
    second = encoded(after, settings)
    assert (after.identity.revision == before.identity.revision) is is_same
    assert len(after.versions) == (1 if is_same else 2)
    assert bool(probes.change_in_words(after.reference, after.versions)) is not is_same
    if is_same:
        np.testing.assert_array_equal(first, second)  # nothing was encoded
        return
    np.testing.assert_array_equal(second, np.asarray(site.embed(list(TEXTS))))
    site.embed = hash_vectors  # the first model is back, and so are its embeddings
    sent = len(asked(site) - Counter())
    back = of(site, settings)
    np.testing.assert_array_equal(encoded(back, settings), first)
    assert back.identity == before.identity
    assert len(asked(site) - Counter()) == sent


@pytest.mark.server
def test_a_model_that_changes_between_identity_and_encoding_is_not_mixed(
    site: EmbeddingSite, settings: Settings
) -> None:
    encoder = of(site, settings)
    encoder.verify(CancelToken())
    encoder.identity  # noqa: B018 - from here on the caller has it
    site.embed = lambda texts: hash_vectors([text.lower() for text in texts])
    with pytest.raises(BlindspotError, match="another model"):
        encoder.encode(["a"], CancelToken())
    assert site.texts == [*PROBES, *PROBES]
    of(site, settings).encode(["a"], CancelToken())


@pytest.mark.server
def test_what_is_stored_is_known_without_the_server(site: EmbeddingSite, settings: Settings) -> None:
    first = encoded(of(site, settings), settings)
    site.change = lambda _, reply: Reply(500)
    np.testing.assert_array_equal(encoded(of(site, settings), settings), first)


def test_the_distance_of_versions_is_in_cosine_and_length() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((5, 8)).astype(np.float32)
    version = Version(vectors, "2026-01-01T00:00:00+00:00")
    turned = vectors.copy()
    for angle, is_same in ((0.04, True), (0.05, False)):  # cosines 0.9992 and 0.99875
        other = np.zeros(8)
        other[np.argmin(np.abs(vectors[3]))] = 1.0
        other -= other @ vectors[3] / (vectors[3] @ vectors[3]) * vectors[3]
        other *= np.linalg.norm(vectors[3]) / np.linalg.norm(other)
        turned[3] = np.cos(angle) * vectors[3] + np.sin(angle) * other
        assert version.is_same(turned) is is_same
    assert version.is_same(1.005 * vectors)
    assert not version.is_same(1.02 * vectors)
    zero = np.zeros((5, 8), dtype=np.float32)
    assert not version.is_same(zero)


# --- nothing is paid for twice


@pytest.mark.server
@pytest.mark.parametrize("parallel", [1, 4])
def test_after_an_error_only_the_rest_is_fetched(parallel: int, site: EmbeddingSite, settings: Settings) -> None:
    site.change = lambda request, reply: Reply(418, {"error": "no"}) if request.number == 9 else reply
    rest = f"/v1#m?batch=50&parallel={parallel}"
    with pytest.raises(InputError):
        encoded(of(site, settings, rest), settings)
    site.change = lambda _, reply: reply
    # A smaller batch after the error: still nothing is asked for twice.
    np.testing.assert_array_equal(encoded(of(site, settings, "/v1#m?batch=20"), settings), hash_vectors(TEXTS))
    assert asked(site, failed=9) == Counter(TEXTS)


@pytest.mark.server
def test_a_role_that_fails_does_not_lose_the_other(site: EmbeddingSite, settings: Settings) -> None:
    def encode() -> Float32:
        base = of(site, settings, "/v1#m?query_prompt=Q:")
        base.verify(CancelToken())
        encoder = by_role(base, set(TEXTS[::2]))
        return EmbeddingCache(settings.embeddings).encode(encoder, TEXTS, "d", no_progress, CancelToken()).matrix

    def fail(request: Request, reply: Reply) -> Reply:
        is_document = request.texts != PROBES and not request.texts[0].startswith("Q:")
        return Reply(400) if is_document else reply

    site.change = fail
    with pytest.raises(InputError):
        encode()
    site.change = lambda _, reply: reply
    encode()
    assert max(count for text, count in asked(site).items() if text.startswith("Q:")) == 1


@pytest.mark.server
def test_a_cancel_stops_requests_and_keeps_what_came(
    site: EmbeddingSite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blindspot.encoders.served.client.GRACE", 30.0)  # on a busy machine, too
    cancel = CancelToken()

    def slowly(request: object, reply: Reply) -> Reply:
        if len(site.requests) >= 8:  # two at a time may come at once
            cancel.cancel()
        return replace(reply, delay=0.05)

    site.change = slowly
    with pytest.raises(Cancelled):
        encoded(of(site, settings, "/v1#m?batch=30&parallel=2"), settings, cancel)
    assert len(site.requests) < 25
    site.change = lambda _, reply: reply
    np.testing.assert_array_equal(encoded(of(site, settings), settings), hash_vectors(TEXTS))
    assert set(asked(site).values()) == {1}


@pytest.mark.server
@pytest.mark.parametrize("reply", [Reply(429, headers={"Retry-After": "1000"}), Reply(delay=30.0)])
def test_a_cancel_ends_waits(
    reply: Reply, site: EmbeddingSite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blindspot.encoders.served.client.LONGEST_WAIT", 60.0)
    encoder = of(site, settings)
    encoder.verify(CancelToken())
    encoder.load()
    site.change = lambda request, healthy: healthy if request.texts == PROBES else reply
    cancel = CancelToken()
    threading.Timer(0.3, cancel.cancel).start()
    began = perf_counter()
    with pytest.raises(Cancelled):
        encoder.encode(["a"], cancel)
    assert perf_counter() - began < 20  # the waits are of 30 seconds and more


KILLED = """
import sys
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import resolve_encoder
from blindspot.settings import Settings
from blindspot.types import CancelToken, no_progress
import json
settings = Settings.from_environment()
encoder = resolve_encoder(sys.argv[1], settings)
encoder.verify(CancelToken())
EmbeddingCache(settings.embeddings).encode(encoder, json.load(sys.stdin), "digest", no_progress, CancelToken())
"""


@pytest.mark.process
@pytest.mark.server
def test_a_kill_loses_no_chunk_that_was_written(site: EmbeddingSite, settings: Settings) -> None:
    enough = threading.Event()

    def answer(request: object, reply: Reply) -> Reply:
        if len(site.requests) >= 10:  # the probes, twice, and two chunks of four requests
            enough.set()
            return replace(reply, delay=30.0)
        return reply

    site.change = answer
    environment = os.environ | {"BLINDSPOT_CACHE": str(settings.cache), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, f"api:{site.url}/v1#m?parallel=1"],
        stdin=subprocess.PIPE,
        cwd=ROOT,
        env=environment,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(TEXTS).encode())
    process.stdin.close()
    assert enough.wait(60)
    sleep(0.2)
    process.kill()
    process.wait()
    site.change = lambda _, reply: reply
    killed_at = len(site.requests)
    np.testing.assert_array_equal(encoded(of(site, settings), settings), hash_vectors(TEXTS))
    later = {text for request in site.requests[killed_at:] for text in request.texts if text not in PROBES}
    assert 0 < len(later) <= len(TEXTS) - 256


# --- keys


@pytest.mark.server
def test_keys_are_sent_and_named(site: EmbeddingSite, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    site.key = "sk-0123456789abcdef"
    with pytest.raises(InputError, match="wants a key"):
        of(site, settings).encode(["a"], CancelToken())
    with pytest.raises(InputError, match="MY_KEY is not set"):
        of(site, settings, "/v1#m?key_env=MY_KEY").encode(["a"], CancelToken())
    monkeypatch.setenv("MY_KEY", "sk-wrong")
    with pytest.raises(InputError, match="refuses the key in MY_KEY"):
        of(site, settings, "/v1#m?key_env=MY_KEY").encode(["a"], CancelToken())
    monkeypatch.setenv("MY_KEY", f" {site.key}\n")
    assert of(site, settings, "/v1#m?key_env=MY_KEY").encode(["a"], CancelToken()).shape == (1, 32)
    monkeypatch.setenv("OPENAI_API_KEY", site.key)
    of(site, settings).encode(["a"], CancelToken())
    with pytest.raises(InputError, match="wants a key"):
        of(site, settings, "/v1#m?key_env=").encode(["b"], CancelToken())


@pytest.mark.server
@pytest.mark.parametrize("wrong", ["a b", "sk-é", "a\nb", "\x00"])
def test_a_key_that_cannot_be_sent_is_not_shown(
    wrong: str, site: EmbeddingSite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "\x00" in wrong:
        monkeypatch.setattr(os, "environ", {"K": wrong})
    else:
        monkeypatch.setenv("K", wrong)
    with pytest.raises(InputError) as caught:
        of(site, settings, "/v1#m?key_env=K").encode(["a"], CancelToken())
    assert wrong not in str(caught.value)
    assert not site.requests


def test_no_key_goes_unencrypted_to_a_public_host(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with pytest.raises(InputError, match="unencrypted"):
        resolve_encoder("api:http://api.example.org/v1#m", settings).encode(["a"], CancelToken())


@pytest.mark.server
def test_a_key_in_the_reference_is_refused(
    site: EmbeddingSite, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with pytest.raises(InputError) as caught:
        of(site, settings, "/v1#m?prompt=sk-0123456789abcdef").encode(["a"], CancelToken())
    assert "sk-0123456789abcdef" not in str(caught.value)


@pytest.mark.process
def test_importing_and_naming_need_no_http_library() -> None:
    program = (
        "import sys\nfrom blindspot.encoders.catalog import resolve_encoder\nfrom blindspot.settings import Settings\n"
        "resolve_encoder('api:http://h/v1#m', Settings.from_environment({})).info\n"
        "print('httpx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- the connection


@pytest.mark.server
def test_a_test_of_the_connection_says_what_the_server_says(site: EmbeddingSite, settings: Settings) -> None:
    site.info = {"model_id": "m", "max_input_length": 512}
    found = served.tested(of(site, settings, "#?style=tei"), CancelToken())
    assert (found.dimension, found.longest) == (32, 512)
    assert 0 < found.milliseconds < 60_000
    assert served.tested(of(site, settings), CancelToken()).longest is None  # there is no list of models
    site.info = {"max_input_length": "many"}
    assert served.tested(of(site, settings, "#?style=tei"), CancelToken()).longest is None
