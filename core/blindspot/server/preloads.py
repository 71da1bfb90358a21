"""Scripts of Streamlit's front end that nearly every page needs, named before the page asks for them."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

_SCRIPTS = "static/js"  # of Streamlit's front end, relative to a page
_ELEMENTS = ("PlotlyChart", "Html", "Selectbox", "Multiselect", "ButtonGroup", "DataFrame")
_SCRIPT = re.compile(rb"static/js/([\w.-]+\.js)")
_IMPORT = re.compile(rb"""(?:from|import)"\./([\w.-]+\.js)\"""")
_HEAD_BYTES = 16 * 2**10  # of a script: it begins with its imports
_LARGE_BYTES = 15_000  # only such ones, for a proxy refuses headers of more than 4 kB in all


@cache
def preloads() -> str:
    """``Link`` header of a page: the scripts of what nearly every page has, and what those import.

    Streamlit's front end asks for the script of an element when the first one arrives: 5 MB for charts and tables.
    With this the browser loads and compiles it while the server still computes the page. What the page itself links is
    left out.
    """
    static = Path(str(files("streamlit"))) / "static"
    linked = set(_SCRIPT.findall((static / "index.html").read_bytes()))
    waiting = [path.name.encode() for name in _ELEMENTS for path in sorted((static / _SCRIPTS).glob(f"{name}.*.js"))]
    found: list[bytes] = []
    while waiting:
        script = waiting.pop(0)
        if script in linked:
            continue
        linked.add(script)
        with (static / _SCRIPTS / script.decode()).open("rb") as file:
            waiting += _IMPORT.findall(file.read(_HEAD_BYTES))
            if file.seek(0, os.SEEK_END) >= _LARGE_BYTES:
                found.append(script)
    return ", ".join(f"<{_SCRIPTS}/{script.decode()}>; rel=modulepreload; fetchpriority=low" for script in found)
