"""Commands, settings and files that the README, the documentation and the guides in core/ name."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from benchmarks.catalog import BENCHMARKS
from blindspot.datasets.catalog import find_datasets
from blindspot.diagnostic import all_diagnostics
from blindspot.documentation import contents
from blindspot.runs import requesting
from blindspot.settings import PACKAGE, ROOT, VARIABLES, Settings
from tests.support.commands import COMMAND, parse
from tests.support.tables import each

README = (ROOT / "README.md").read_text("utf-8")
DOCS = {path.relative_to(ROOT / "docs").as_posix(): path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")}
GUIDES = sorted(PACKAGE.rglob("README.md"))
GUIDED = ("diagnostics", "space", "studies")  # every folder in these has a guide
FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
ASSIGNMENT = re.compile(r"([A-Z_][A-Z0-9_]*)=(.*)")
OURS = re.compile(rf"(\$ )?(\w+=\S* )*{COMMAND}\b")
SHELL_SIGNS = set("|&;<>()")


@dataclass(frozen=True)
class Typed:
    """A command line: the variables set before it, and its words."""

    variables: Mapping[str, str]
    words: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(self.words)


def command_lines(text: str) -> Iterator[Typed]:
    """The commands of a text's code, comments and what they are piped into left out; lines with ``...`` too."""
    for code in [*FENCED.findall(text), *INLINE.findall(FENCED.sub("", text))]:
        for line in code.replace("\\\n", " ").splitlines():
            if "..." in line:
                continue
            if not OURS.match(line) and not line.startswith("make "):
                continue
            lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
            lexer.whitespace_split = True  # so that no reference is split at its colon
            words = list(lexer)
            end = next((i for i, word in enumerate(words) if set(word) <= SHELL_SIGNS), len(words))
            words = words[:end]
            variables: dict[str, str] = {}
            while words and (match := ASSIGNMENT.fullmatch(words[0])):
                variables[match[1]] = match[2]
                words.pop(0)
            yield Typed(variables, tuple(words))


LINES = [line for text in [README, *DOCS.values()] for line in command_lines(text)]
COMMANDS = [line for line in LINES if line.words[:1] == (COMMAND,)]
OF_GUIDES = [line for guide in GUIDES for line in command_lines(guide.read_text("utf-8"))]


@each("line", [*COMMANDS, *OF_GUIDES], ids=str)
def test_a_command_of_the_readme_is_one_that_exists(line: Typed, settings: Settings) -> None:
    path, params = parse(list(line.words[1:]))
    assert path, "no command is named"
    if path == "run":
        given = {name: params[name] for name in ("metric", "protocol") if params[name] is not None}
        for encoder in params["encoder"]:
            for dataset in filter(_is_here, params["dataset"]):
                for transform in params["transform"] or ["none"]:
                    requesting.request(params["diagnostic"], encoder, transform, dataset, given, settings)
    for dataset in params.get("ids") or []:
        assert find_datasets([dataset])
    for name in params.get("names") or []:
        assert name in BENCHMARKS
    Settings.from_environment(line.variables)  # the values mean something


def _is_here(dataset: str) -> bool:
    """Whether a dataset is not a reader's own file, such as one that the command before has written."""
    kind, _, path = dataset.partition(":")
    return kind not in {"file", "dir"} or (ROOT / path).exists()


def test_the_readme_shows_the_commonest_commands() -> None:
    lines = [line for line in command_lines(README) if line.words[:1] == (COMMAND,)]
    shown = {parse(list(line.words[1:]))[0] for line in lines}
    for command in ("list", "run", "runs", "runs show", "export", "data fetch", "data verify", "bench"):
        assert command in shown


@each("line", [line for line in LINES if line.words[0] == "make"], ids=str)
def test_a_make_target_of_the_readme_exists(line: Typed) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    variables = re.findall(r"^(\w+) \?=", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for word in line.words[1:]:
        assignment = ASSIGNMENT.fullmatch(word)
        assert (assignment[1] in variables) if assignment else (word in targets)


def test_every_setting_is_documented() -> None:
    assert set(re.findall(r"`(BLINDSPOT_[A-Z_]+)`", contents.markdown("reference/settings.md"))) == set(VARIABLES)


def test_every_benchmark_is_documented() -> None:
    named = re.findall(r"^\| `(\w+)` \|", DOCS["design/benchmarks.md"], re.MULTILINE)
    assert named == list(BENCHMARKS)


def test_files_that_the_readme_names_exist() -> None:
    named = {match for match in INLINE.findall(README) if re.fullmatch(r"(core|tests|assets|pages)/[\w./]+", match)}
    named |= set(re.findall(r"\]\(((?!https?:)[^)#]+)\)", README))
    assert len(named) > 3
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_documented_tree_is_the_tree() -> None:
    tree = FENCED.findall(DOCS["design/layers.md"])[0]
    core, outer, shown = PACKAGE, "", set()
    for line in tree.splitlines():
        names = re.split(" {3,}", line.strip())[0].replace("/", "").split()
        if line.startswith("    "):
            assert [name for name in names if not (core / outer / name).is_dir()] == []
        elif line.startswith("  "):
            outer = names[0]
            shown |= set(names)
    folders = {path.parent.name for path in core.glob("*/__init__.py")}
    assert shown == folders | {path.stem for path in core.glob("*.py")} - {"__init__", "__main__"}


def test_every_method_has_a_guide() -> None:
    folders = {path.parent for name in GUIDED for path in (PACKAGE / name).glob("*/__init__.py")}
    assert {guide.parent for guide in GUIDES} >= folders
    assert len(folders) > 10


@each("guide", GUIDES, ids=lambda guide: guide.parent.name)
def test_files_that_a_guide_names_exist(guide: Path) -> None:
    text = guide.read_text("utf-8")
    named = {name for name in INLINE.findall(FENCED.sub("", text)) if re.fullmatch(r"[\w/]+(\.\w+|/)|\w+(/\w+)+", name)}
    assert len(named) > 3
    assert [name for name in sorted(named) if not ((guide.parent / name).exists() or (ROOT / name).exists())] == []


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.heavy
@pytest.mark.process
def test_the_documentation_builds(tmp_path: Path) -> None:
    """Strictly: a link that leads nowhere, within the site or to a file of the repository, is an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for diagnostic_id in all_diagnostics():
        page = (tmp_path / "diagnostics" / f"{diagnostic_id}.html").read_text("utf-8")
        assert "$" not in re.sub(r"<script.*?</script>|<code.*?</code>", "", page, flags=re.DOTALL)
        assert "author = {" in re.sub("<[^>]+>", "", page)  # its citation, as BibTeX
    for name, text in DOCS.items():
        linked = re.findall(r"\]\(((?:\.\./)+(?:core|assets|tests|pages)/[^)#]+)\)", text)
        assert [link for link in linked if not (ROOT / "docs" / name).parent.joinpath(link).exists()] == []


# --- the reader of the README itself


def test_commands_are_found_as_they_are_typed() -> None:
    text = f"""
Words with `{COMMAND} data list` in them.

```sh
$ BLINDSPOT_DEVICE=cpu {COMMAND} run evalrank \\
    --encoder hf:a/b@1 --dataset demo-pairs --json | jq .runs  # a comment
{COMMAND} run ... --json
make run PORT=8080  # another
echo nothing of ours
```
"""
    assert [(dict(line.variables), line.words) for line in command_lines(text)] == [
        (
            {"BLINDSPOT_DEVICE": "cpu"},
            tuple(f"{COMMAND} run evalrank --encoder hf:a/b@1 --dataset demo-pairs --json".split()),
        ),
        ({}, ("make", "run", "PORT=8080")),
        ({}, tuple(f"{COMMAND} data list".split())),
    ]


@each(
    "wrong",
    [
        "rum evalrank --encoder minilm --dataset demo-pairs",
        "run evalrank --dataset demo-pairs",
        "run evalrank --encoders minilm --dataset demo-pairs",
        "runs shows abc",
        "runs show",
        "export abc",
        "list encoders datasets",
        "data fetch",
    ],
)
def test_a_command_that_does_not_exist_is_caught(wrong: str) -> None:
    with pytest.raises(typer.TyperException):
        parse(wrong.split())
