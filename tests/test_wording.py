"""Lint of the texts that people read: avoided phrases, spelling, module docstrings, sentences that two tests quote.

Static: files are read and parsed, never imported. ``AVOIDED`` is the one list of phrases; what is code in a text (ids,
names of files, URLs, anything in backticks) is left out. CONTRIBUTING.md has the style, "Style of texts".
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from core.settings import ROOT

# Phrase (a regular expression, whole words, any case): what to write in its place.
AVOIDED = {
    r"foretells?|foretold|foretelling": "predict",
    r"(?:lay|lays|laid|lie|lies) (?:it |them |one )?beside": "compare with",
    r"look(?:s|ed|ing)? into": "details, open",
    r"in?separab(?:le|ly)|separable": "(no) significant difference",
    r"what shall be": "what to ...",
    r"(?:is|are|was|were) told": "an active verb: the page says, we know",
    r"of which there (?:is|are)": "a plain sentence",
    r"to be had": "available",
    r"common support": "texts that all models cover",
}
SPELLING = {
    r"colour(\w*)": "color",
    r"behaviour(\w*)": "behavior",
    r"neighbour(\w*)": "neighbor",
    r"centre(s|d)?": "center",
    r"normalis(\w+)": "normalize",
    r"grey(s|ed|ish)?": "gray",
    r"favour(\w*)": "favor",
    r"labell(ed|ing|er|ers)": "labeled",
}
# Only where people read on screen: strings, not docstrings nor comments.
ON_SCREEN = {r"mates?": "match (or: relevant passage)"}
STANDS_AT_MOST = 60
OPENINGS = ("What", "Who", "Which", "Where", "How", "When", "Whether")
SENTENCE = 5  # words running that are a quotation

CODE = re.compile(
    r"```.*?```|``.+?``|`[^`\n]+`|\]\([^)\s]*\)|<[^<>]*>"  # Markdown's code and targets, tags
    r"|\bpython3? -m core[^.;,\n]*|(?<!\w)--[\w-]+|^\s*INSERT .*"  # commands
    r'|"[a-z_-]+"|\bquery(?:,| and | or )mate\b'  # names of columns and keys
    r"|\S*[/_=\\~]\S*|\w+(?:\.\w+)+|\w+\(\)|#[\w-]+",  # paths, URLs, identifiers, files, ids
    re.DOTALL,
)
# Ids with spaces in them: kinds in addresses and JSON, names of columns. They have titles where people read them.
IDS = {"set of labelled texts", "rank of the mate", "words in mate", "frequency of mate", "another mate"}
ID = re.compile(r"[a-z0-9_.:/{}*?=&%~#-]*")


class Text(NamedTuple):
    path: str
    line: int
    kind: str  # string, docstring, comment, markdown
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def _files(*patterns: str, root: Path = ROOT) -> list[Path]:
    found = {path for pattern in patterns for path in root.glob(pattern) if "reference" not in path.parts}
    return sorted(found)


def _docstrings(tree: ast.Module) -> set[ast.AST]:
    """Docstrings of modules, classes, functions and attributes."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {value for value in alone if isinstance(value, ast.Constant)}


def _strings(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Strings below ``node``, each whole: of one with values in it the pieces are joined by ``{}``."""
    if isinstance(node, ast.JoinedStr):
        yield node, "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                yield from _strings(value.value)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node, node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _strings(child)


@cache
def python_texts(path: Path, root: Path = ROOT) -> list[Text]:
    source, name = path.read_text("utf-8"), path.relative_to(root).as_posix()
    tree = ast.parse(source)
    docstrings = _docstrings(tree)
    found = [
        Text(name, node.lineno, "docstring" if node in docstrings else "string", text)  # type: ignore[attr-defined]
        for node, text in _strings(tree)
        if not (ID.fullmatch(text) or text in IDS)
    ]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [Text(name, t.start[0], "comment", t.string.lstrip("# ")) for t in tokens if t.type == tokenize.COMMENT]
    return found + comments


def other_texts(path: Path, root: Path = ROOT) -> list[Text]:
    """Lines of Markdown, comments of SQL. The section on style names what to avoid."""
    source, name = path.read_text("utf-8"), path.relative_to(root).as_posix()
    if path.suffix == ".sql":
        lines = [(n, line.partition("--")[2]) for n, line in enumerate(source.splitlines(), 1) if "--" in line]
        return [Text(name, n, "comment", line) for n, line in lines]
    source = re.sub(r"(?ms)^## Style of texts$.*?(?=^## |\Z)", "", source)
    source = re.sub(r"(?ms)^```.*?^```$", lambda block: "\n" * block[0].count("\n"), source)
    return [Text(name, n, "markdown", line) for n, line in enumerate(source.splitlines(), 1)]


def texts(root: Path = ROOT) -> Iterator[Text]:
    for path in _files("core/**/*.py", "pages/**/*.py", "app.py", "docs/**/*.py", root=root):
        yield from python_texts(path, root)
    for path in _files("core/**/*.sql", "core/**/*.md", "docs/**/*.md", "README.md", "CONTRIBUTING.md", root=root):
        yield from other_texts(path, root)


def phrases(root: Path = ROOT) -> list[str]:
    lists = [({**AVOIDED, **SPELLING}, None), (ON_SCREEN, "string")]
    rules = [(re.compile(rf"\b(?:{p})\b", re.I), better, kind) for some, kind in lists for p, better in some.items()]
    found = []
    for text in texts(root):
        plain = CODE.sub(" ", text.text)
        for pattern, better, kind in rules:
            if kind in {None, text.kind}:
                found += [f'{text}: "{hit[0]}" in a {text.kind}: {better}' for hit in pattern.finditer(plain)]
    return found


def mentions_of_a_design(root: Path = ROOT) -> list[str]:
    """The document is not in the repository."""
    found = _files("core/**/*.*", "pages/*.py", "app.py", "docs/**/*.*", "*.md", "tests/**/*.py", root=root)
    kept = [path for path in found if path.suffix in {".py", ".md", ".sql"} and path.name != Path(__file__).name]
    lines = ((path, n, line) for path in kept for n, line in enumerate(path.read_text("utf-8").splitlines(), 1))
    return [f"{path.relative_to(root)}:{n}" for path, n, line in lines if re.search(r"\bDESIGN\b", line)]


def docstrings_without_a_noun(root: Path = ROOT) -> list[str]:
    found = []
    for path in _files("core/**/*.py", root=root):
        first = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split(" ")[0]
        if first.rstrip(",:;") in OPENINGS:
            found.append(f"{path.relative_to(root)}:1: begins with {first}; begin with a noun")
    return found


def _runs(text: str) -> set[str]:
    """The runs of five words between values and code."""
    pieces = (piece.split() for piece in CODE.sub("{}", text).split("{}"))
    return {" ".join(piece[i : i + SENTENCE]) for piece in pieces for i in range(len(piece) - SENTENCE + 1)}


def quoted_twice(root: Path = ROOT) -> list[str]:
    """Sentences of the interface quoted by two or more tests: five words running are a quotation."""
    interface: set[str] = set()
    for path in _files("core/**/*.py", "pages/**/*.py", "app.py", root=root):
        interface.update(*(_runs(text.text) for text in python_texts(path, root) if text.kind == "string"))
    quotes: dict[str, set[str]] = defaultdict(set)
    for path in _files("tests/**/*.py", root=root):
        for place, text in _quotes(path, root):
            for run in _runs(text) & interface:
                quotes[run].add(place)
    by_places = {frozenset(where): run for run, where in sorted(quotes.items()) if len(where) > 1}
    return sorted(f'{", ".join(sorted(where))}: "{run}"' for where, run in by_places.items())


def _quotes(path: Path, root: Path) -> Iterator[tuple[str, str]]:
    tree, name = ast.parse(path.read_text("utf-8")), path.relative_to(root)
    docstrings = _docstrings(tree)
    for top in tree.body:
        for part in top.body if isinstance(top, ast.ClassDef) else [top]:
            place = f"{name}:{part.lineno} {getattr(part, 'name', '')}".strip()
            yield from ((place, text) for node, text in _strings(part) if node not in docstrings)


def stands(root: Path = ROOT) -> list[str]:
    found = []
    for path in _files("core/**/*.*", "pages/*.py", root=root):
        if path.suffix in {".py", ".sql", ".md"}:
            lines = enumerate(path.read_text("utf-8").splitlines(), 1)
            found += [f"{path.relative_to(root)}:{n}" for n, s in lines for _ in re.finditer(r"\bstands?\b", s, re.I)]
    return found


# On their way out: run with --runxfail to see what is left.
leaving = pytest.mark.xfail(reason="texts are being edited", strict=False)


@pytest.mark.parametrize(
    "check",
    [
        mentions_of_a_design,
        quoted_twice,
        *(pytest.param(f, marks=leaving) for f in (phrases, docstrings_without_a_noun)),
    ],
    ids=lambda check: check.__name__,
)
def test_there_are_no(check: Callable[[], list[str]]) -> None:
    found = check()
    assert not found, "\n" + "\n".join(found)


def test_stand_is_rare() -> None:
    found = stands()
    assert len(found) <= STANDS_AT_MOST, "\n" + "\n".join(found)
