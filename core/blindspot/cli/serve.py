"""Command ``app``: the dashboard in a browser."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from blindspot.settings import ROOT, Mode, Settings


def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="port that the server listens on")] = 8501,
    address: Annotated[
        str, typer.Option(help="address that it listens on: 0.0.0.0 lets other machines reach it")
    ] = "127.0.0.1",
    demo: Annotated[
        bool, typer.Option("--demo", help="serve a demo to strangers: nobody sees or changes what is another's")
    ] = False,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="compute the demo's results and end: for an image that is served later")
    ] = False,
) -> None:
    """Serve the dashboard; Ctrl-C ends it.

    A settings file of your own, .streamlit/config.toml, counts as for every Streamlit app.
    """
    if demo:
        os.environ["BLINDSPOT_MODE"] = Mode.DEMO
    settings = Settings.from_environment()  # what is wrong with it is said here, not by a server that has begun
    if prepare:
        from blindspot.server.preparation import Preparation

        Preparation().once(settings)
        return
    from streamlit.web import cli as streamlit

    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), "--server.port", str(port), "--server.address", address]
    streamlit.main()
