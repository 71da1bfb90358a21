"""Middleware of the web server: host names it answers to, requests it refuses, headers it sends.

``streamlit run app.py`` serves the ``App`` of app.py with it, so that it works without a reverse proxy too.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from blindspot import policy
from blindspot.policy import Policy
from blindspot.server.gate import Gate
from blindspot.settings import Settings

if TYPE_CHECKING:
    from starlette.middleware import Middleware
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+/?$")
_CLOSED = re.compile(r"/_stcore/(metrics|agent)(/|$)")  # memory statistics and the API for programs: no page needs them
_FORM_BYTES = 64 * 2**10  # of an upload's request in addition to the file
_NO_BODY_BYTES = 64 * 2**10  # of any other request to a demo
# Scripts of Streamlit's front end that nearly every page needs, named before the page asks for them.
_SCRIPTS = "static/js"  # of Streamlit's front end, relative to a page
_ELEMENTS = ("PlotlyChart", "Html", "Selectbox", "Multiselect", "ButtonGroup", "DataFrame")
_SCRIPT = re.compile(rb"static/js/([\w.-]+\.js)")
_IMPORT = re.compile(rb"""(?:from|import)"\./([\w.-]+\.js)\"""")
_HEAD_BYTES = 16 * 2**10  # of a script: it begins with its imports
_LARGE_BYTES = 15_000  # only such ones, for a proxy refuses headers of more than 4 kB in all

Kept = Callable[[str], tuple[int, int]]  # of a page: bytes of the files in its forms, and in those of all pages


def middleware(settings: Settings | None = None, kept: Kept = lambda _page: (0, 0)) -> list[Middleware]:
    """The middleware, outermost first; raises ``InputError`` for an invalid environment variable."""
    from starlette.middleware import Middleware

    settings = settings or Settings.from_environment()
    may = policy.of(settings)
    return [
        Middleware(Headers, headers=headers(settings.framed_by)),
        Middleware(Hosts, names=settings.hosts, is_local=may.changes and not settings.hosts),
        *([] if may.changes else [Middleware(Demo, may=may, kept=kept)]),
        Middleware(Gate, is_paced=not may.changes),
    ]


def headers(framed_by: str = "") -> Mapping[str, str]:
    """Headers of every response.

    Browsers refuse to load anything from elsewhere or send it there, also if a text or a library contains a link.
    Streamlit's front end puts styles into the page. plotly's WebGL traces compile their drawing code, which needs
    ``unsafe-eval``. A component's script (the keys of *Judgment*) arrives as data and is loaded from a ``blob:``,
    which only a running script can create. Scripts in the page are refused except for Streamlit's own.
    """
    content = {
        "default-src": "'none'",
        "script-src": " ".join(["'self'", "blob:", "'unsafe-eval'", *_inline_scripts()]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "manifest-src": "'self'",
        "media-src": "'self' blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": framed_by or "'none'",
    }
    frames = {} if framed_by else {"x-frame-options": "DENY"}  # which knows no list of sites
    return frames | {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in content.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",  # a facilitator's address has a key in it
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


@cache
def _inline_scripts() -> Sequence[str]:
    """Hashes of the inline scripts of Streamlit's page."""
    page = (files("streamlit") / "static" / "index.html").read_bytes()
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


class Hosts:
    """Host names that a server answers to: this machine's, for health checks, and those in the settings.

    Otherwise the page of another site could let its own name point to this machine (DNS rebinding) and read what the
    app shows. That attack takes a name: a local app also answers to every address, which is where the request goes.
    """

    def __init__(self, app: ASGIApp, names: Sequence[str], *, is_local: bool) -> None:
        self._app = app
        name = socket.gethostname().lower()
        here = (name, f"{name.partition('.')[0]}.local", "*.localhost") if is_local else ()
        self._names = ("localhost", *names, *here)
        self._is_local = is_local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.responses import PlainTextResponse

        if scope["type"] not in {"http", "websocket"} or self._is_ours(dict(scope["headers"]).get(b"host", b"")):
            await self._app(scope, receive, send)
        else:
            text = "This app does not answer to this name: BLINDSPOT_HOSTS sets those that it answers to."
            await PlainTextResponse(text, status_code=400)(scope, receive, send)

    def _is_ours(self, host: bytes) -> bool:
        try:
            name = urlsplit(f"//{host.decode('ascii')}").hostname or ""
            return (
                any(fnmatchcase(name, pattern) for pattern in self._names)
                or ip_address(name).is_loopback
                or self._is_local
            )
        except ValueError:  # no ASCII, half an IPv6 address, or neither a name of ours nor an address
            return False


class Headers:
    """Adds headers to every response that does not set them itself; to pages also what they will load."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_encrypted = scope["type"] == "http" and _scheme(scope) == "https"

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                header_list = list(message.get("headers", ()))
                there = {name.lower(): value for name, value in header_list}
                more = [pair for pair in self._headers if pair[0] not in there]
                if there.get(b"content-type", b"").startswith(b"text/html") and preloads():
                    more.append((b"link", preloads().encode()))
                if is_encrypted:
                    header_list = [
                        (name, _secure(value) if name.lower() == b"set-cookie" else value)
                        for name, value in header_list
                    ]
                    more.append((b"strict-transport-security", b"max-age=31536000"))
                message = {**message, "headers": [*header_list, *more]}
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


def _scheme(scope: Scope) -> str:
    """``http`` or ``https``, as the browser asked. A proxy in front reports it; no page of another site can."""
    forwarded = dict(scope["headers"]).get(b"x-forwarded-proto", b"").decode("latin-1").partition(",")[0].strip()
    scheme = forwarded or str(scope["scheme"])
    return {"ws": "http", "wss": "https"}.get(scheme, scheme)  # some proxies say "wss" of a websocket, too


def _uploads_to(scope: Scope) -> str:
    """The page that a request sends a file to; "" if it sends none."""
    match = _UPLOAD.search(str(scope["path"]))
    return match[1] if match and scope.get("method") == "PUT" else ""


def _secure(cookie: bytes) -> bytes:
    return cookie if b"; secure" in cookie.lower() else cookie + b"; Secure"


class Demo:
    """Rejects requests that a public server must not serve: closed paths, large or unsized bodies, other sites.

    It also limits open pages and files in their forms. The proxy has to know who is behind an address, and to
    end requests that never end (docs/hosting.md).
    """

    def __init__(self, app: ASGIApp, may: Policy, kept: Kept) -> None:
        self._app = app
        self._may = may
        self._kept = kept
        self._open: list[tuple[str, int]] = []  # of pages (""), and of files on their way: to which page, and bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.responses import PlainTextResponse

        is_asked = scope["type"] in {"http", "websocket"}
        if is_asked and (refusal := self._refusal(scope)):
            status, text = refusal
            await PlainTextResponse(text, status_code=status)(scope, receive, send)
        elif is_asked and (scope["type"] == "websocket" or _uploads_to(scope)):
            mine = (_uploads_to(scope), int(dict(scope["headers"]).get(b"content-length", b"0")))
            self._open.append(mine)
            try:
                await self._app(scope, receive, send)
            finally:
                self._open.remove(mine)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason of a refusal, or None."""
        from starlette.datastructures import Headers as Given

        given, path, may = Given(scope=scope), str(scope["path"]), self._may
        if _CLOSED.search(path):
            return 404, "This demo has no such address."
        origin = given.get("origin")
        if origin is not None and origin != f"{_scheme(scope)}://{given.get('host')}":
            return 403, "This demo answers to its own pages only."
        if "transfer-encoding" in given:
            return 411, "Content-Length is missing: this demo accepts no body of unknown length."
        most = (may.uploads.size or 0) + _FORM_BYTES if "/_stcore/upload_file/" in path else _NO_BODY_BYTES
        length = given.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            return 413, f"This demo takes at most {most:,} bytes here."
        return self._no_room(scope, int(length))

    def _no_room(self, scope: Scope, size: int) -> tuple[int, str] | None:
        """Why there is no room for another page or file, or None."""
        may, arriving = self._may, [visitor for visitor in self._open if visitor[0]]
        if scope["type"] == "websocket":
            full = may.pages_in_all is not None and len(self._open) - len(arriving) >= may.pages_in_all
            return (503, "This demo is full: try again in a few minutes.") if full else None
        if not (page := _uploads_to(scope)):
            return None
        if may.uploads_at_once is not None and len(arriving) >= may.uploads_at_once:
            return 503, "Too many uploads are in progress: try again in a minute."
        if may.uploads_kept is not None:
            mine, in_all = self._kept(page)
            if mine + size + sum(bytes_ for to, bytes_ in arriving if to == page) > may.uploads_kept[0]:
                return 413, "This page has sent too many files: reload it to start over."
            if in_all + size + sum(bytes_ for _, bytes_ in arriving) > may.uploads_kept[1]:
                return 503, "This demo has as many files as it can: try again in a few minutes."
        return None


@cache
def preloads() -> str:
    """``Link`` header of a page: scripts of the elements that nearly every page has, and the scripts these import.

    Streamlit's front end asks for the script of an element when the first such element arrives: 5 MB for charts and
    tables. With this header the browser loads and compiles it while the server still computes the page. Scripts that
    the page itself links are left out.
    """
    static = Path(str(files("streamlit"))) / "static"
    linked = set(_SCRIPT.findall((static / "index.html").read_bytes()))
    waiting = [path.name.encode() for name in _ELEMENTS for path in sorted((static / _SCRIPTS).glob(f"{name}.*.js"))]
    scripts: list[bytes] = []
    while waiting:
        script = waiting.pop(0)
        if script in linked:
            continue
        linked.add(script)
        with (static / _SCRIPTS / script.decode()).open("rb") as file:
            waiting += _IMPORT.findall(file.read(_HEAD_BYTES))
            if file.seek(0, os.SEEK_END) >= _LARGE_BYTES:
                scripts.append(script)
    return ", ".join(f"<{_SCRIPTS}/{script.decode()}>; rel=modulepreload; fetchpriority=low" for script in scripts)
