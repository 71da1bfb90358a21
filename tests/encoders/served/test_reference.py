"""References to served models: one spelling each, and no key in any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.encoders.catalog import canonical_encoder, resolve_encoder
from blindspot.encoders.served.reference import ServedReference, Style
from blindspot.encoders.served.refusals import TooLarge, TryAgain, refusal
from blindspot.errors import BlindspotError, InputError
from blindspot.names import name_of_model
from blindspot.references import version_of
from blindspot.settings import Settings
from blindspot.variants import Variant
from tests.support.tables import each


@each(
    ("given", "canonical"),
    [
        ("api:http://localhost:8000/v1#m", "api:http://localhost:8000/v1#m"),
        ("api:HTTP://LocalHost:80/v1/#m?", "api:http://localhost/v1#m"),
        ("api:https://api.openai.com:443/v1/embeddings#m", "api:https://api.openai.com/v1#m"),
        ("api:http://h/v1#BAAI/bge-m3?parallel=4&timeout=120&style=openai", "api:http://h/v1#BAAI/bge-m3"),
        ("api:http://h#a%20b~c@d?", "api:http://h#a%20b%7Ec%40d"),
        ("api:http://h/~me/v1#m", "api:http://h/%7Eme/v1#m"),
        ("api:http://h:8080?style=tei", "api:http://h:8080#?style=tei"),
        ("api:http://h:8080/embed#?style=tei", "api:http://h:8080#?style=tei"),
        ("api:http://h/v1?api-version=2#m?dimensions=64", "api:http://h/v1?api-version=2#m?dimensions=64"),
        ('api:http://h#m?body.b={"x": 1}&body.a="s"', "api:http://h#m?body.a=%22s%22&body.b=%7B%22x%22%3A1%7D"),
        (
            "api:http://h#m?query_prompt=query: &document_prompt=",
            "api:http://h#m?document_prompt=&query_prompt=query%3A%20",
        ),
        ("api:http://h#m?key_env=OPENAI_API_KEY", "api:http://h#m"),
        ("api:http://h#m?key_env=", "api:http://h#m?key_env="),
        ("api:http://[::1]:9/v1#m", "api:http://[::1]:9/v1#m"),
    ],
)
def test_a_reference_has_one_spelling(given: str, canonical: str) -> None:
    assert canonical_encoder(given) == canonical
    assert canonical_encoder(canonical) == canonical


@given(
    st.text(min_size=1).filter(str.isprintable),
    st.one_of(st.none(), st.text()),
    st.sampled_from(list(Style)),
    st.integers(1, 256),
)
def test_every_reference_is_read_as_it_is_written(model: str, prompt: str | None, style: Style, batch: int) -> None:
    from urllib.parse import quote

    parts = [f"style={style.value}", f"batch={batch}"]
    if prompt is not None and style is not Style.COHERE:
        parts.append(f"prompt={quote(prompt, safe='', errors='ignore')}")
    reference = ServedReference.parse(f"api:http://h:1/v1#{quote(model, safe='')}?{'&'.join(parts)}")
    assert reference.model == model
    assert (reference.params.style, reference.batch) == (style, batch)
    written = str(reference)
    assert ServedReference.parse(written) == reference
    assert version_of(written) == (written, "")
    assert Variant.parse(str(Variant(written, "center"))) == Variant(written, "center")


SECRET = "sk-do-not-show-me-0123456789"


@each(
    "wrong",
    [
        "api:",
        "api:#m",
        "api:localhost:8000#m",
        "api:ftp://h/v1#m",
        "api:http://h/v1#",
        "api:http://h/v1",
        "api:http:///v1#m",
        "api:http://h:99999/v1#m",
        "api:http://h:x/v1#m",
        "api:http://[::1/v1#m",
        "api:http://h h/v1#m",
        "api:http://h\\@evil/v1#m",
        "api:http://hé/v1#m",
        "api:http://h/v1#a%00b",
        f"api:http://user:{SECRET}@h/v1#m",
        f"api:http://{SECRET}@h/v1#m",
        f"api:http://h/v1?api_key={SECRET}#m",
        f"api:http://h/v1?access_token={SECRET}#m",
        f"api:http://h/v1#m?key_env={SECRET}",
        f"api:http://h/v1#m?key={SECRET}",
        f"api:http://h/v1#m?body.api_key=%22{SECRET}%22",
        "api:http://h/v1#m?style=xyz",
        "api:http://h/v1#m?dimensions=0",
        "api:http://h/v1#m?dimensions=-1",
        "api:http://h/v1#m?batch=257",
        "api:http://h/v1#m?batch=8&batch=9",
        "api:http://h/v1#m?parallel",
        "api:http://h/v1#m?parallel=0",
        "api:http://h/v1#m?body.model=%22x%22",
        "api:http://h/v1#m?body.x=nojson",
        f"api:http://h/v1#m?header.api-key={SECRET}",
        "api:http://h/v1#m?header.host=KEY",
        "api:http://h/v1#m?header.a b=KEY",
        "api:http://h/v1#m?header.api-key=KEY&header.Api-Key=OTHER",
        "api:http://h/v1#m?encoding=int8",
        "api:http://h/v1#m?body.x=NaN",
        "api:http://h/v1#m?body.x y=1",
        "api:http://h#m?style=cohere&query_prompt=query",
    ],
)
def test_a_wrong_reference_is_one_line_without_the_key(wrong: str) -> None:
    with pytest.raises(InputError) as caught:
        canonical_encoder(wrong)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


@each(
    ("host", "is_private"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("[::1]", True),
        ("10.1.2.3", True),
        ("192.168.0.9:8080", True),
        ("embeddings", True),
        ("gpu.local", True),
        ("8.8.8.8", False),
        ("api.openai.com", False),
        ("localhost.example.org", False),
    ],
)
def test_private_hosts_are_told_by_their_name(host: str, is_private: bool) -> None:
    assert ServedReference.parse(f"api:http://{host}/v1#m").is_private is is_private


def test_how_it_is_asked_is_no_part_of_what_it_is() -> None:
    plain = ServedReference.parse("api:http://h#m?prompt=p")
    asked = ServedReference.parse("api:http://h#m?prompt=p&batch=8&parallel=2&timeout=9&key_env=KEY")
    assert asked.of_vectors == plain
    assert asked.model_digest == ServedReference.parse("api:http://h#m?query_prompt=q").model_digest
    other = [ServedReference.parse(f"api:http://h#m?{query}") for query in ("dimensions=8", "style=ollama", "body.x=1")]
    assert len({plain.model_digest, *(one.model_digest for one in other)}) == 4


def test_a_demo_refuses_served_models(settings: Settings) -> None:
    from dataclasses import replace

    from blindspot.settings import Mode

    with pytest.raises(BlindspotError):
        resolve_encoder("api:http://localhost/v1#m", replace(settings, mode=Mode.DEMO))


@each(
    ("reference", "name"),
    [
        ("api:https://api.openai.com/v1#text-embedding-3-small", "text-embedding-3-small"),
        ("api:http://h/v1#BAAI/bge-m3?batch=8&key_env=K&parallel=2", "bge-m3"),
        ("api:http://h/v1#m?dimensions=64", "m (dimensions 64)"),
        ("api:http://localhost:8080#?style=tei", "localhost:8080"),
    ],
)
def test_the_name_is_that_of_the_model(reference: str, name: str) -> None:
    assert name_of_model(reference) == name


def test_what_a_status_means() -> None:
    reference = ServedReference.parse("api:http://h:1/v1#m")
    kinds = {429: TryAgain, 500: TryAgain, 503: TryAgain, 400: TooLarge, 413: TooLarge, 422: TooLarge}
    for status in (*kinds, 401, 404, 418):
        found = refusal(status, {}, b"{}", 3, reference)
        assert isinstance(found, kinds.get(status, BlindspotError)), status
