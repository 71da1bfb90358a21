"""Refusals and other messages of a server, in one line and without the key."""

from __future__ import annotations

import email.utils
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from blindspot.encoders.served.reference import ServedReference
from blindspot.errors import BlindspotError, InputError

TRIES = 7  # of a request that gets 429 or 5xx
SHOWN = 200  # characters of what a server says
BEGINS = 60  # characters of a refused text
_TOO_MANY = re.compile(
    r"batch|too (large|many|long|big)|maximum|at most|exceed|limit|less than|fewer|tokens", re.IGNORECASE
)
# Messages of llama.cpp and others with a 5xx; busy servers say "too many requests", and waiting helps.
_TOO_LONG = re.compile(
    r"too (large|long|big)|physical batch|context (length|size|window)|n_(u?batch|ctx)|"
    r"exceeds? .{0,40}(token|length|limit)",
    re.IGNORECASE,
)
_OUT_OF_MONEY = "insufficient_quota"
_WHERE = "check the address (often it ends in /v1) and style="


class TooLarge(Exception):
    """The server refuses a request, and may accept a smaller one.

    Attributes:
        error: for a request of a single text.
        is_of_size: whether it says that the request is too large; otherwise it may object to a text or anything else.
    """

    def __init__(self, error: InputError, *, is_of_size: bool = True) -> None:
        self.error, self.is_of_size = error, is_of_size

    def of_text(self, text: str) -> InputError:
        """The error, with the one text that it is about."""
        return InputError(
            f"{self.error.what}; the text, of {len(text):,} characters, begins '{beginning(text)}'",
            expected="texts that the server takes",
            remedy="shorten or split it, or start the server with a larger limit; what was fetched is kept"
            if self.is_of_size
            else "correct it or leave it out; what was fetched is kept",
        )


def beginning(text: str) -> str:
    """The first characters of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= BEGINS else f"{line[:BEGINS]}..."


class TryAgain(Exception):
    """A failure after which the same request may succeed.

    Attributes:
        error: raised after the last try.
        tries: at most so many.
        wait: seconds, if the server says them.
    """

    def __init__(self, error: BlindspotError, tries: int, wait: float | None = None) -> None:
        self.error, self.tries, self.wait = error, tries, wait


def refusal(
    status: int, headers: Mapping[str, str], data: bytes, texts: int, reference: ServedReference
) -> TooLarge | TryAgain | BlindspotError:
    """What to raise for a status other than 200."""
    host, what = reference.host, said(data, reference)
    because = f": {what}" if what else ""
    if status == 429 and _OUT_OF_MONEY in data[:10_000].decode("utf-8", "replace"):
        return BlindspotError(f"{host} refuses further requests (429){because}", remedy="check the account's credit")
    if status >= 500 and _TOO_LONG.search(what):
        return TooLarge(InputError(f"{host} refuses {texts} text{'s' if texts > 1 else ''} ({status}){because}"))
    if status == 429 or status >= 500:
        busy = "limits how often it is asked" if status == 429 else "fails"
        error = BlindspotError(
            f"{host} {busy} ({status}), again and again{because}",
            remedy="run it again later: what was fetched is kept. Fewer requests at a time: parallel=1",
        )
        return TryAgain(error, TRIES, seconds_of(headers.get("retry-after", "")))
    if status in {400, 413, 422}:
        refused = InputError(f"{host} refuses {texts} text{'s' if texts > 1 else ''} ({status}){because}")
        return TooLarge(refused, is_of_size=status == 413 or bool(_TOO_MANY.search(what)))
    if status in {401, 403}:
        return _about_the_key(status, because, reference)
    model = f"no model '{reference.model}'" if reference.model else "nothing"
    refused_as = f"has {model} at this address" if status == 404 else "refuses the request"
    return InputError(f"{host} {refused_as} ({status}){because}", remedy=_WHERE)


def _about_the_key(status: int, because: str, reference: ServedReference) -> InputError:
    name = reference.key_env
    if secrets_of(reference):
        what, remedy = f"refuses the key in {name}", "check what it has"
    else:
        how = "key_env=NAME, or header.api-key=NAME for a header of its own"
        what, remedy = "wants a key", f"set {name}" if name else f"name the variable that has it: {how}"
    return InputError(f"{reference.host} {what} ({status}){because}", remedy=remedy)


def secrets_of(reference: ServedReference) -> dict[str, str]:
    """The key and other headers' values from the environment, by header; without those that are not set."""
    secrets = {header: os.environ.get(name, "").strip() for header, name in reference.params.variables.items()}
    return {header: value for header, value in secrets.items() if value}


def said(data: bytes, reference: ServedReference) -> str:
    """A server's message; "" for none."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return in_words(data, "", reference) if data.strip() else ""
    for name in ("error", "message", "detail"):
        if isinstance(content, dict) and name in content:
            content = content[name]
    return safe(content if isinstance(content, str) else json.dumps(content), reference)


def in_words(data: bytes, content_type: str, reference: ServedReference) -> str:
    """The beginning of an answer that is not JSON."""
    text = data[:10_000].decode("utf-8", "replace").strip()
    if "html" in content_type or text[:15].lower().startswith(("<!doctype", "<html")):
        return "an HTML page"
    return f"“{safe(text, reference)}”" if text else "nothing"


def safe(text: str, reference: ServedReference) -> str:
    """A text from outside without the key, shortened."""
    for key in sorted(secrets_of(reference).values(), key=len, reverse=True):
        if len(key) > 3:
            text = text.replace(key, "[key]")
    text = re.sub(r"(?i)bearer\s+\S+", "Bearer [key]", text)
    return " ".join(text.split())[:SHOWN]


def seconds_of(retry_after: str) -> float | None:
    """Seconds of a ``Retry-After`` header, which may be a date; None if it says nothing usable."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", retry_after.strip()):
        return float(retry_after)
    with suppress(ValueError, TypeError, OverflowError):
        when = email.utils.parsedate_to_datetime(retry_after)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max((when - datetime.now(UTC)).total_seconds(), 0.0)
    return None
