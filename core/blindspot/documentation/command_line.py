"""Reference of the command line, from Typer's commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from blindspot import cli
from blindspot.documentation.markdown import table

_PROGRAM = "blindspot"


def page() -> str:
    """The page's Markdown."""
    parts = [
        "# Command line",
        "Everything that the app computes, without it. `--json` prints one JSON object to stdout; progress goes to "
        "stderr. Exit code 0: done, 2: bad input, 1: failure.",
        *_commands(typer.main.get_command(cli.app), _PROGRAM),
    ]
    return "\n\n".join(parts) + "\n"


def _commands(command: Any, path: str) -> Iterator[str]:
    for name, sub in getattr(command, "commands", {}).items():
        whole = f"{path} {name}"
        yield f"## `{whole.removeprefix(_PROGRAM).strip()}`"
        yield _unwrapped(sub.help or "")
        rows = []
        for one in sub.params:
            if "--help" in one.opts:
                continue
            shown = ", ".join(f"`{option}`" for option in [*one.opts, *one.secondary_opts])
            rows.append([shown if one.param_type_name == "option" else f"`{one.name}`", getattr(one, "help", "") or ""])
        if rows:
            yield table(["option or argument", "meaning"], rows)
        yield from _commands(sub, whole)


def _unwrapped(text: str) -> str:
    """Typer keeps lines with a form feed or a backspace mark as they are; Markdown shows such a block as code."""
    blocks = []
    for block in text.split("\n\n"):
        if "\b" in block:
            blocks.append("```\n" + block.replace("\b", "").strip("\n") + "\n```")
        else:
            blocks.append(" ".join(block.split()))
    return "\n\n".join(blocks)
