"""References to models that a server has: ``api:URL#MODEL?name=value&name=value``.

No error here quotes the whole reference, since a key may have been put into it by mistake.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from blindspot.errors import InputError, unknown
from blindspot.types import digest_of_strings

FORM = "api:URL#MODEL"
EXAMPLE = "api:http://localhost:8000/v1#BAAI/bge-small-en-v1.5"
USUAL_KEY = "OPENAI_API_KEY"
MOST_AT_ONCE = 256  # texts of a request: what the cache writes to disk at once
BASE64, ENCODINGS = "base64", ("base64", "float")
_OF_HTTP = {"host", "content-type", "content-length", "accept", "accept-encoding", "transfer-encoding", "connection"}
_SECRET = re.compile(r"key|token|secret|passw|auth|credential|signature|^sig$", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


class Style(StrEnum):
    """Format of a server's requests and answers."""

    OPENAI = "openai"
    TEI = "tei"
    OLLAMA = "ollama"
    COHERE = "cohere"


ENDINGS = {Style.OPENAI: "/embeddings", Style.TEI: "/embed", Style.OLLAMA: "/api/embed", Style.COHERE: "/v2/embed"}
# Texts per request: the limits that Text Embeddings Inference and Cohere have by default.
USUAL_BATCH = {Style.OPENAI: 64, Style.TEI: 32, Style.OLLAMA: 64, Style.COHERE: 96}
INPUT_TYPES = ("search_document", "search_query", "classification", "clustering")  # Cohere's roles
_OF_BODIES = {"model", "input", "inputs", "texts", "dimensions", "output_dimension", "encoding_format", "input_type"}


@dataclass(frozen=True)
class ServedParams:
    """Parameters of an ``api:`` reference.

    Attributes:
        dimensions: asked of the server; None for the model's own.
        prompt, query_prompt, document_prompt: put before texts, as in ``ModelParams``; in Cohere's style an input type,
            which goes into the body; None if the reference gives none.
        key_env: name of the environment variable that has the key; "" for no key, None if the reference gives none.
        headers: further headers by their name in lower case, each with the name of the environment variable that has
            its value, such as ``{"api-key": "AZURE_OPENAI_API_KEY"}``.
        encoding: how vectors are sent in OpenAI's style: ``base64`` if the server supports it, or always ``float``.
        batch: most texts per request; None for the usual number of the style.
        parallel: requests at a time.
        timeout: seconds for an answer.
        body: further fields of the body by name.
    """

    style: Style = Style.OPENAI
    dimensions: int | None = None
    prompt: str | None = None
    query_prompt: str | None = None
    document_prompt: str | None = None
    key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    encoding: str = BASE64
    batch: int | None = None
    parallel: int = 4
    timeout: int = 120
    body: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, query: str) -> ServedParams:
        """Raises ``InputError`` for an unknown parameter, one given twice, or an invalid value."""
        values: dict[str, str] = {}
        body: dict[str, Any] = {}
        headers: dict[str, str] = {}
        names = sorted({*cls.__dataclass_fields__} - {"body", "headers"})
        for part in query.split("&") if query else []:
            name, equals, value = part.partition("=")
            name = unquote(name)
            if name not in names and not name.startswith(("body.", "header.")):
                raise unknown("parameter of an api: reference", name, [*names, "body.NAME", "header.NAME"])
            if not equals or name in values:
                raise InputError(
                    f"'{name}' is given {'twice' if equals else 'without a value'} in the api: reference",
                    expected=f"{name}=VALUE once",
                )
            values[name] = unquote(value)
            if name.startswith("body."):
                body[name.removeprefix("body.")] = _field(name.removeprefix("body."), values[name])
            if name.startswith("header."):
                header = _header(name.removeprefix("header."), values[name])
                if header in headers:
                    raise InputError(f"the header {header} is given twice in the api: reference")
                headers[header] = values[name]
        style = values.get("style", Style.OPENAI)
        if style not in list(Style):
            raise unknown("style", style, list(Style))
        if key_env := values.get("key_env"):
            _check_variable("key_env", key_env)
        encoding = values.get("encoding", BASE64)
        if encoding not in ENCODINGS:
            raise unknown("encoding of an api: reference", encoding, ENCODINGS)
        prompts = {name: values.get(name) for name in ("prompt", "query_prompt", "document_prompt")}
        for name, prompt in prompts.items():
            if style == Style.COHERE and prompt and prompt not in INPUT_TYPES:
                raise unknown(f"input type ({name} of style=cohere)", prompt, INPUT_TYPES)
        return cls(
            style=Style(style),
            dimensions=_number("dimensions", values, 1, 65_536),
            key_env=values.get("key_env"),
            headers=dict(sorted(headers.items())),
            encoding=encoding,
            batch=_number("batch", values, 1, MOST_AT_ONCE),
            parallel=_number("parallel", values, 1, 32) or cls.parallel,
            timeout=_number("timeout", values, 1, 3_600) or cls.timeout,
            body=dict(sorted(body.items())),
            **prompts,
        )

    def __str__(self) -> str:
        """The canonical query: sorted by name, without defaults."""
        given: dict[str, object] = {
            "batch": self.batch,
            **{f"body.{name}": _as_json(value) for name, value in self.body.items()},
            "dimensions": self.dimensions,
            "document_prompt": self.document_prompt,
            "encoding": None if self.encoding == BASE64 else self.encoding,
            **{f"header.{name}": variable for name, variable in self.headers.items()},
            "key_env": None if self.key_env == self._usual_key else self.key_env,
            "parallel": None if self.parallel == ServedParams.parallel else self.parallel,
            "prompt": self.prompt,
            "query_prompt": self.query_prompt,
            "style": None if self.style is Style.OPENAI else self.style.value,
            "timeout": None if self.timeout == ServedParams.timeout else self.timeout,
        }
        return "&".join(f"{name}={_quoted(str(value))}" for name, value in given.items() if value is not None)

    @property
    def _usual_key(self) -> str | None:
        """The variable with OpenAI's key for servers of OpenAI's style, unless a header of their own carries a key."""
        return USUAL_KEY if self.style is Style.OPENAI and not self.headers else None

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with secrets, by header; the key's header is ``authorization``."""
        key = (self._usual_key or "") if self.key_env is None else self.key_env
        return {**({"authorization": key} if key else {}), **self.headers}


@dataclass(frozen=True)
class ServedReference:
    """``api:URL#MODEL[?PARAMS]``; ``url`` is the base, without the style's ending such as ``/embeddings``."""

    url: str
    model: str
    params: ServedParams

    @classmethod
    def parse(cls, reference: str) -> ServedReference:
        """Raises ``InputError`` for an address that cannot be used or contains a key, and for a wrong parameter."""
        target = reference.partition(":")[2]
        url, mark, rest = target.partition("#")
        if not mark:  # Text Embeddings Inference serves one model, without a name
            url, _, query = target.partition("?")
            model = ""
        else:
            model, _, query = rest.partition("?")
        params = ServedParams.parse(query)
        model = unquote(model)
        if not model and params.style is not Style.TEI:
            raise InputError("the api: reference names no model", expected=f"{FORM}, for example {EXAMPLE}")
        if any(not character.isprintable() for character in model):
            raise InputError("the model's name in the api: reference has characters that cannot be shown")
        return cls(_checked_url(url, params.style), model, params)

    @classmethod
    def of(cls, url: str, model: str, params: Mapping[str, str]) -> ServedReference:
        """The reference from the fields of a form; empty parameters keep their defaults. Raises what ``parse`` does."""
        given = "&".join(f"{name}={_quoted(value)}" for name, value in params.items() if value)
        return cls.parse(f"api:{url.strip().replace('#', '%23')}#{quote(model.strip(), safe='')}?{given}")

    def __str__(self) -> str:
        query = str(self.params)
        return f"api:{self.url}#{quote(self.model, safe='/:')}".replace("~", "%7E") + (f"?{query}" if query else "")

    @property
    def endpoint(self) -> str:
        """The address that texts are posted to."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path=parts.path + ENDINGS[self.params.style]))

    @property
    def host(self) -> str:
        """The host, with its port unless it is the usual one."""
        return urlsplit(self.url).netloc

    @property
    def is_private(self) -> bool:
        """Whether the host is this machine or in its own network, judging by the name alone."""
        name = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(name).is_private
        except ValueError:
            return "." not in name or name.endswith(_PRIVATE_NAMES)

    @property
    def key_env(self) -> str:
        """The environment variables that have the key and other secret headers; "" for none."""
        return ", ".join(self.params.variables.values())

    @property
    def batch(self) -> int:
        return self.params.batch or USUAL_BATCH[self.params.style]

    @property
    def of_vectors(self) -> ServedReference:
        """The reference without what cannot change a vector: keys, texts per request, and how vectors come back."""
        usual = ServedParams()
        asked = {
            name: getattr(usual, name) for name in ("key_env", "headers", "encoding", "batch", "parallel", "timeout")
        }
        return replace(self, params=replace(self.params, **asked))

    @property
    def of_model(self) -> ServedReference:
        """The reference also without prompts: the model that answers the probe texts."""
        mine = self.of_vectors
        return replace(mine, params=replace(mine.params, prompt=None, query_prompt=None, document_prompt=None))

    @property
    def model_digest(self) -> str:
        """Name of the files that are kept about the model."""
        return digest_of_strings([str(self.of_model)])[:32]


def _check_variable(parameter: str, name: str) -> None:
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", name):  # not quoted: it may be the key itself
        raise InputError(
            f"{parameter} is not the name of an environment variable",
            expected=f"capital letters, digits and underscores, for example key_env={USUAL_KEY}",
            remedy="put the key into that variable, never into the reference",
        )


def _header(name: str, variable: str) -> str:
    """The name of a header in lower case."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name) or name.lower() in _OF_HTTP:
        raise InputError(
            f"'header.{name[:80]}' cannot be set", expected=f"a header other than {', '.join(sorted(_OF_HTTP))}"
        )
    _check_variable(f"header.{name}", variable)
    return name.lower()


def _number(name: str, values: Mapping[str, str], least: int, most: int) -> int | None:
    value = values.get(name)
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,7}", value) or not least <= int(value) <= most:
        raise InputError(
            f"{name} is '{value[:40]}' in the api: reference", expected=f"a number from {least} to {most:,}"
        )
    return int(value)


def _field(name: str, value: str) -> Any:
    """A field of the body, from JSON."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name) or name in _OF_BODIES:
        raise InputError(
            f"'body.{name[:80]}' cannot be set", expected=f"a field other than {', '.join(sorted(_OF_BODIES))}"
        )
    if _SECRET.search(name) and name != "truncate_prompt_tokens":
        raise InputError(
            f"'body.{name}' looks like a key, which would be stored with the results",
            remedy="put the key into an environment variable and name that: key_env=NAME",
        )
    try:
        content = json.loads(value)
        _as_json(content)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"body.{name} is not JSON", expected='a number, true, false, or a text in quotes, as in "search_query"'
        ) from error
    return content


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _quoted(value: str) -> str:
    return quote(value, safe="").replace("~", "%7E")  # variants are ENCODER~TRANSFORM


def _checked_url(url: str, style: Style) -> str:
    """The canonical address; raises ``InputError``, which quotes nothing that may be a password."""
    bad = InputError("the api: reference has no usable address", expected=f"{FORM}, for example {EXAMPLE}")
    if not url.isascii() or any(c.isspace() or not c.isprintable() or c in '\\"<>^`{|}' for c in url):
        raise bad
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # a port that is no number, brackets that do not close
        raise bad from None
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise InputError(
            "the address has a user or password in it, which would be stored with the results",
            remedy="put the key into an environment variable and name that: key_env=NAME",
        )
    scheme, name = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    if scheme not in _PORTS or not re.fullmatch(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|[0-9a-f:.]+", name) or port == 0:
        raise bad
    for field_name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _SECRET.search(field_name):
            raise InputError(
                f"the address has '{field_name[:40]}=' in it, which looks like a key and would be stored",
                remedy="put the key into an environment variable and name that: key_env=NAME",
            )
    host = f"[{name}]" if ":" in name else name
    if port is not None and port != _PORTS[scheme]:
        host += f":{port}"
    path = quote(parts.path.rstrip("/").removesuffix(ENDINGS[style]).rstrip("/"), safe="/%:+,;=!$&'()*-._")
    return urlunsplit((scheme, host, path, quote(parts.query, safe="=&%:/+,-._"), "")).replace("~", "%7E")
