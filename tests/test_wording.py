"""Lint of the texts that people read: avoided phrases, spelling, module docstrings, sentences that two tests quote.

Static: files are read and parsed, never imported. ``AVOIDED`` is the one list of phrases; what is code in a text (ids,
names of files, URLs, anything in backticks) is left out. CONTRIBUTING.md has the style, "Style of texts".
"""

from __future__ import annotations

import ast
import gc
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from blindspot.settings import ROOT

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
    r"|\bpython3? -m core[^.;,\n]*|\bblindspot [a-z][^.;,\n]*|(?<!\w)--[\w-]+|^\s*INSERT .*"  # commands
    r'|"[a-z_-]+"|\bquery(?:,| and | or )mate\b'  # names of columns and keys
    r"|(?m:^ +\w+:(?= ))"  # parameters in docstrings
    r"|\S*[/_=\\~]\S*|\w+(?:\.\w+)+|\w+\(\)|#[\w-]+",  # paths, URLs, identifiers, files, ids
    re.DOTALL,
)
# Ids with spaces in them; people read their titles.
IDS = {
    *("rank of the mate", "words in mate", "frequency of mate", "another mate"),  # groups of pairs, columns: addresses
    *("above the mate", "tied with the mate", "the mate", "below the mate"),  # Relation: pages show signs for them
    *("mean, L2-normalised", "L2-normalised"),  # in the digests of embeddings
    "set of labelled texts",  # in the digests of datasets
    "too few neighbours",  # in manifests of item sets
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
    source, name = path.read_text("utf-8"), path.relative_to(root).as_posix()
    found = (Text(name, *some) for some in _strings(ast.parse(source)))
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
        interface.update(*(_runs(text.text) for text in python_strings(path, root) if text.kind == "string"))
    quotes: dict[str, set[str]] = defaultdict(set)
    for path in _files("tests/**/*.py", root=root):
        for place, text in _quotes(path, root):
            for run in _runs(text) & interface:
                quotes[run].add(place)
    by_places = {frozenset(where): run for run, where in sorted(quotes.items()) if len(where) > 1}
    return sorted(f'{", ".join(sorted(where))}: "{run}"' for where, run in by_places.items())


def _quotes(path: Path, root: Path) -> Iterator[tuple[str, str]]:
    tree, name = ast.parse(path.read_text("utf-8")), path.relative_to(root)
    for top in tree.body:
        for part in top.body if isinstance(top, ast.ClassDef) else [top]:
            place = f"{name}:{part.lineno} {getattr(part, 'name', '')}".strip()
            yield from ((place, text) for _, kind, text in _strings(part) if kind == "string")


def stands(root: Path = ROOT) -> list[str]:
    found = []
    for path in _files("core/**/*.*", "pages/*.py", root=root):
        if path.suffix in {".py", ".sql", ".md"}:
            lines = enumerate(path.read_text("utf-8").splitlines(), 1)
            found += [f"{path.relative_to(root)}:{n}" for n, s in lines for _ in re.finditer(r"\bstands?\b", s, re.I)]
    return found


@pytest.fixture(autouse=True)
def _uncollected() -> Iterator[None]:
    """Syntax trees have no cycles, and after a thousand tests looking for some takes most of the time."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(
    "check",
    [phrases, docstrings_without_a_noun, mentions_of_a_design, quoted_twice],
    ids=lambda check: check.__name__,
)
def test_there_are_no(check: Callable[[], list[str]]) -> None:
    found = check()
    assert not found, "\n" + "\n".join(found)


def test_stand_is_rare() -> None:
    found = stands()
    assert len(found) <= STANDS_AT_MOST, "\n" + "\n".join(found)
