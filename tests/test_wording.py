"""Lint of the texts that people read: avoided phrases, spelling, module docstrings.

Static: files are read and parsed, never imported. ``AVOIDED`` is the one list of phrases; what is code in a text (ids,
names of files, URLs, anything in backticks) is left out. CONTRIBUTING.md has the style, "Style of texts".
"""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from blindspot.settings import ROOT
from tests.support import sources

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
    r"mates?": "match (or: relevant passage)",
    r"do(?:es)? as well as|no better than": "(no) significant difference, with its interval",
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
OPENINGS = ("What", "Who", "Which", "Where", "How", "When", "Whether")

CODE = re.compile(
    r"```.*?```|``.+?``|`[^`\n]+`|\]\([^)\s]*\)|<[^<>]*>"  # Markdown's code and targets, tags
    r"|\bpython3? -m blindspot[^.;,\n]*|\bblindspot [a-z][^.;,\n]*|(?<!\w)--[\w-]+|^\s*INSERT .*"  # commands
    r'|"[a-z_-]+"|\bquery(?:,| and | or )match\b'  # names of columns and keys
    r"|(?m:^ +\w+:(?= ))"  # parameters in docstrings
    r"|\S*[/_=\\~]\S*|\w+(?:\.\w+)+|\w+\(\)|#[\w-]+",  # paths, URLs, identifiers, files, ids
    re.DOTALL,
)
# Ids with spaces in them; people read their titles.
IDS = {
    *("mean, L2-normalised", "L2-normalised"),  # in the digests of embeddings
    "set of labelled texts",  # in the digests of datasets
    "too few neighbors",  # in manifests of item sets
}
STRING_OR_COMMENT = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""|\'{3}(?:[^\\]|\\.)*?\'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*''', re.DOTALL
)
# Of a syntax tree: most of it, and no strings below.
LEAVES = {str, int, type(None), ast.Name, ast.Load, ast.Store, ast.alias} | {
    leaf for kind in (ast.operator, ast.unaryop, ast.boolop, ast.cmpop) for leaf in kind.__subclasses__()
}
ID = re.compile(r"[a-z0-9_.:/{}*?=&%~#|-]*")


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


def _strings(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Line, kind (string, or docstring, of attributes too) and text of every string below a node.

    Of one with values in it the pieces are joined by ``{}``. One walk with a list: nearly all of the checks' time is
    here, and recursive generators take five times as long.
    """
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.lineno, "string", node.value
        elif isinstance(node, ast.JoinedStr):
            pieces = [str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values]
            yield node.lineno, "string", "".join(pieces)
            todo += [value.value for value in node.values if isinstance(value, ast.FormattedValue)]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.lineno, "docstring", node.value.value
        else:
            for value in vars(node).values():
                if type(value) is list:
                    todo += [child for child in value if type(child) not in LEAVES]
                elif type(value) not in LEAVES:
                    todo.append(value)


@cache
def python_strings(path: Path, root: Path = ROOT) -> list[Text]:
    name = path.relative_to(root).as_posix()
    found = (Text(name, *some) for some in _strings(sources.tree(path)))
    return sorted(text for text in found if not (ID.fullmatch(text.text) or text.text in IDS))


def python_comments(path: Path, root: Path = ROOT) -> Iterator[Text]:
    source, name = path.read_text("utf-8"), path.relative_to(root).as_posix()
    for found in STRING_OR_COMMENT.finditer(source):
        if found[0].startswith("#"):
            yield Text(name, source.count("\n", 0, found.start()) + 1, "comment", found[0].lstrip("# "))


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
        yield from python_strings(path, root)
        yield from python_comments(path, root)
    for path in _files("core/**/*.sql", "core/**/*.md", "docs/**/*.md", "README.md", "CONTRIBUTING.md", root=root):
        yield from other_texts(path, root)


def phrases(root: Path = ROOT) -> list[str]:
    rules = [(re.compile(rf"\b(?:{p})\b", re.I), better) for p, better in {**AVOIDED, **SPELLING}.items()]
    found = []
    for text in texts(root):
        plain = CODE.sub(" ", text.text)
        for pattern, better in rules:
            found += [f'{text}: "{hit[0]}" in a {text.kind}: {better}' for hit in pattern.finditer(plain)]
    return found


def docstrings_without_a_noun(root: Path = ROOT) -> list[str]:
    found = []
    for path in _files("core/**/*.py", root=root):
        first = (ast.get_docstring(sources.tree(path)) or "").split(" ")[0]
        if first.rstrip(",:;") in OPENINGS:
            found.append(f"{path.relative_to(root)}:1: begins with {first}; begin with a noun")
    return found


@pytest.fixture(autouse=True)
def _uncollected() -> Iterator[None]:
    """Syntax trees have no cycles, and after a thousand tests looking for some takes most of the time."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.heavy
def test_no_avoided_phrase_and_no_docstring_that_begins_with_a_question() -> None:
    found = [*phrases(), *docstrings_without_a_noun()]
    assert not found, "\n" + "\n".join(found)
