"""Display names of models and datasets, in place of references, which contain paths of the server.

A name is chosen by the user, or follows from the reference: the name of the folder or file, or of a hub model without
its organization. Names belong to a store: code that shows them puts those of its store into force for the running
thread; otherwise names follow from the references alone.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from urllib.parse import unquote

from blindspot.errors import InputError
from blindspot.references import FILES, FusionRef, ModelRef, ModelsRef, has_path, version_of

LONGEST = 40  # characters of a name; the middle of a longer file name is left out
_MARKS = " .,()+@#&/:='%_-…"
_UPLOADED = re.compile(r"[0-9a-f]{12,64}")  # a folder named by a digest of its content: see datasets.uploads
_HOW_ASKED = (
    "batch=",
    "encoding=",
    "header.",
    "key_env=",
    "parallel=",
    "style=",
    "timeout=",
)  # parameters that say nothing of the model
_PACKED = (".gz", ".bz2", ".xz", ".zip")
_QUOTED = "'"
_DIGITS = 6  # of a digest in an address


class Kind(StrEnum):
    """Kind of a named thing."""

    MODEL = "model"
    DATASET = "dataset"


@dataclass(frozen=True)
class Names:
    """Names by reference, distinct within a kind; other references have the name that follows from them."""

    models: Mapping[str, str] = field(default_factory=dict)
    datasets: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def model(self, reference: str) -> str:
        """The model's name, with its version in brackets if there are several."""
        version = self._version(reference)
        return f"{self.every_version(reference)} ({version})" if version else self.every_version(reference)

    def every_version(self, reference: str) -> str:
        """The model's name, shared by all its versions."""
        model, _ = version_of(reference)
        return self.models.get(model) or name_of_model(model)

    def model_within(self, reference: str, width: int) -> str:
        """The name for narrow places; a version's number (“kb v1”) stays, since a menu would cut it off."""
        version = self._version(reference)
        number = re.match(r"version (\w+)", version)  # of "version 1 of 21 Nov, since changed"
        rest = version.partition(", ")[2] if number else version
        end = (f" v{number[1]}" if number else "") + (f" ({rest})" if rest else "")
        return f"{shortened(self.every_version(reference), max(width - len(end), 8))}{end}"

    def _version(self, reference: str) -> str:
        return self.versions.get(reference) or (f"version {version}" if (version := version_of(reference)[1]) else "")

    def dataset(self, reference: str, title: str = "") -> str:
        """The dataset's name; ``title`` is its title in the catalog."""
        return self.datasets.get(reference) or title or name_of_dataset(reference)

    def reference(self, kind: Kind, name: str) -> str | None:
        """The reference of what has this name, however it is capitalized; of a model, a transform may follow it.

        Else of the only one whose id, file or folder is called so: ``support.csv``, though its name is ``support``.
        """
        called = self.models if kind is Kind.MODEL else self.datasets
        head, tilde, chain = name.rpartition("~") if "~" in name else (name, "", "")
        if head in called:
            return name
        wanted = head.casefold()
        reference = next((reference for reference, other in called.items() if other.casefold() == wanted), None)
        if reference is None:
            files = [at for at in called if wanted in map(str.casefold, _file_names(kind, at))]
            reference = files[0] if len(files) == 1 else None
        return reference and f"{reference}{tilde}{chain}"

    @classmethod
    def of(
        cls,
        models: Iterable[str],
        datasets: Mapping[str, str],
        chosen: Mapping[tuple[str, str], str] | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> Names:
        """Distinct names for all models and datasets.

        Args:
            models: references, oldest first: these keep their names.
            datasets: titles by reference, "" for names that follow from the reference.
            chosen: names given by users, by kind and reference.
            versions: labels of the versions of a model, by reference (``version_of``).
        """
        chosen = chosen or {}
        return cls(
            _told_apart({m: name_of_model(m) for m in models}, _of_kind(chosen, Kind.MODEL)),
            _told_apart({d: t or name_of_dataset(d) for d, t in datasets.items()}, _of_kind(chosen, Kind.DATASET)),
            versions or {},
        )


_IN_FORCE: ContextVar[Names] = ContextVar("names", default=Names())  # noqa: B039 - frozen, and never changed


def current() -> Names:
    """The names in force."""
    return _IN_FORCE.get()


def put_in_force(names: Names) -> None:
    """Use these names from now on, in this thread."""
    _IN_FORCE.set(names)


_OFFERED: ContextVar[Names | None] = ContextVar("offered", default=None)


def offer(names: Names) -> None:
    """Let errors about unknown names list these from now on, in this thread, whichever names are in force."""
    _OFFERED.set(names)


def own_names(kind: Kind) -> list[str]:
    """Names of a user's own models or datasets: those with a reference that is no id of the catalog."""
    names = _OFFERED.get() or current()
    return [name for at, name in (names.models if kind is Kind.MODEL else names.datasets).items() if ":" in at]


@contextmanager
def in_force(names: Names) -> Iterator[None]:
    """Context in which these names are in force."""
    token = _IN_FORCE.set(names)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def checked(name: str) -> str:
    """A name chosen by a user, without spaces around it.

    Raises:
        InputError: it is empty, too long, or has characters that mean something to HTML or Markdown or cannot be seen.
    """
    name_given = " ".join(unicodedata.normalize("NFC", name).split())
    if not name_given:
        raise InputError("this name is empty", expected="at least one letter")
    if len(name_given) > LONGEST:
        raise InputError(f"this name has {len(name_given):,} characters", expected=f"at most {LONGEST}")
    if strange := sorted({c for c in name_given if not _is_plain(c)}):
        shown = " ".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in strange[:8])
        raise InputError(
            f"this name has characters that a name cannot have: {shown}",
            expected=f"letters, digits, spaces and {_MARKS.strip()}",
        )
    if not any(c.isalnum() for c in name_given):
        raise InputError(f"the name {_QUOTED}{name_given}{_QUOTED} has no letter or digit", expected="at least one")
    return name_given


def name_of_model(reference: str) -> str:
    """The name that follows from a reference: ``minilm-kb`` for ``dir:/a/b/minilm-kb``, ``NAME`` for
    ``hf:ORG/NAME``."""
    scheme, colon, target = reference.partition(":")
    if not colon:
        scheme, target = "", reference
    model = ModelRef.parse(reference)
    if isinstance(model, ModelsRef):
        named = [name_of_model(m) + ("" if chain == "none" else f" + {chain}") for m, chain in model.parts]
        is_fusion = isinstance(model, FusionRef)
        return shortened(f"fusion of {' and '.join(named)}" if is_fusion else " joined with ".join(named))
    if scheme == "python":
        return shortened(_plain(target) or scheme)
    if scheme in FILES:
        target, option, value = re.split(r"\?(scores|pooling)=|$", target, maxsplit=1)
        name, distances = _plain(_stem(target)) or scheme, ["distances"] * (value == "distance")
        return shortened(_with_facts(name, [f"pooling {value}"] if option == "pooling" else distances))
    if scheme == "api":
        target, _, query = _served(target)
        query = "&".join(part for part in query.split("&") if not part.startswith(_HOW_ASKED))
    else:
        target, _, query = target.partition("?")
    target, _, revision = target.partition("@") if scheme == "hf" else (target, "", "")
    name = _plain(_last(target) if colon else target) or _plain(scheme) or Kind.MODEL
    facts = [f"@{revision[:8]}"] if revision else []
    return shortened(_with_facts(name, facts + _facts(query)))


def _facts(query: str) -> list[str]:
    given = [part.replace("_prompt=", "=", 1) for part in query.split("&") if part]  # "document passage:" is short
    return [unquote(part.replace("=", " ", 1)).replace("_", " ").strip() for part in given]


def _with_facts(name: str, facts: Sequence[str]) -> str:
    return _plain(f"{name} ({', '.join(facts)})") if facts else name


def _served(target: str) -> tuple[str, str, str]:
    """Model, host and parameters of ``URL#MODEL?PARAMS``; without a model, the host for it."""
    url, _, rest = target.partition("#")
    model, _, query = rest.partition("?")
    host = url.partition("//")[2].partition("/")[0].partition("?")[0]
    return unquote(model) or host, host, query


def _file_names(kind: Kind, reference: str) -> tuple[str, ...]:
    """What people call a file or folder besides its name in the store; the id of the catalog otherwise."""
    if ":" not in reference:
        return (reference,)
    if not has_path(reference):
        return ()
    follows = name_of_model(reference) if kind is Kind.MODEL else name_of_dataset(reference)
    return follows, _last(reference.partition(":")[2].partition("?")[0])


def name_of_dataset(reference: str) -> str:
    """The name that follows from a reference: ``pairs`` for ``file:/a/b/pairs.csv``; the id in the catalog."""
    scheme, colon, target = reference.partition(":")
    if not colon:
        return shortened(_plain(reference)) or Kind.DATASET
    return shortened(_plain(_stem(target.partition("?")[0])) or _plain(scheme) or Kind.DATASET)


def in_address(reference: str) -> str:
    """A dataset, a model or a variant in a page's address: ``pairs~3f9a1c`` for a file or folder, since its path is
    nobody else's business; the reference itself if it has no path.

    The digest is of the whole reference, so that equal names differ. For an upload it is the digest in the name of its
    folder, which stays the same if the cache is moved.
    """
    if not has_path(reference):
        return reference
    head, mark, chain = reference.rpartition("~")
    if not mark or not re.fullmatch(r"[\w:.+-]+", chain):
        head, mark, chain = reference, "", ""
    target, _, query = head.partition(":")[2].partition("?")
    parts = _parts(target)
    digest = hashlib.sha256(head.encode("utf-8", "surrogatepass")).hexdigest()
    if not query and len(parts) > 2 and parts[-3] == "uploads" and _UPLOADED.fullmatch(parts[-2]):
        digest = parts[-2]
    name = name_of_dataset(head) if head.startswith("file:") else name_of_model(head)
    plain = re.sub(r"[^\w.-]+", "_", name).strip("_")
    return f"{plain}~{digest[:_DIGITS]}{mark}{chain}"


def file_in_address(value: str) -> str:
    """The name of a file or folder as ``in_address`` writes it, without a transform; "" of anything else."""
    match = re.fullmatch(rf"(.+)~[0-9a-f]{{{_DIGITS}}}", value)
    return match[1] if match else ""


def shortened(name: str, width: int = LONGEST) -> str:
    """A name of at most ``width`` characters, cut in the middle, since beginnings and ends distinguish names."""
    if len(name) <= width:
        return name
    tail = max((width - 1) // 2, 1)
    return f"{name[: width - 1 - tail].rstrip()}…{name[-tail:].lstrip()}"


def _told_apart(default: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Names by reference: chosen ones, then the others, distinguished by their parent folder or a number."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    references = [*(r for r in chosen if r in default), *(r for r in default if r not in chosen)]
    alike = Counter(default[r].casefold() for r in default if r not in chosen)
    for reference in [*references, *(r for r in chosen if r not in default)]:
        name = chosen.get(reference) or default[reference]
        first = name
        if reference not in chosen and ":" in reference and (alike[name.casefold()] > 1 or name.casefold() in taken):
            # All of them get their folder, not only the later ones: none is the obvious owner of the name.
            parent = _parent(reference)
            first = _with(name, parent) if parent else name
        numbered = (_with(name, str(n)) for n in range(2, len(default) + len(chosen) + 3))
        names[reference] = next(free for free in chain([first], numbered) if free.casefold() not in taken)
        taken.add(names[reference].casefold())
    return names


def _with(name: str, what: str) -> str:
    what = shortened(what, LONGEST // 2)
    return f"{shortened(name, LONGEST - len(what) - 3)} ({what})"


def _of_kind(chosen: Mapping[tuple[str, str], str], kind: Kind) -> dict[str, str]:
    return {reference: name for (of, reference), name in chosen.items() if of == kind}


def _parts(path: str) -> Sequence[str]:
    return [part for part in re.split(r"[/\\]", path) if part]


def _last(path: str) -> str:
    return next(reversed(_parts(path)), "")


def _parent(reference: str) -> str:
    """The folder or organization of a reference's last part; "" if it means nothing to a reader."""
    if reference.startswith("api:"):
        return _plain(_served(reference.partition(":")[2])[1])
    parts = _parts(reference.partition(":")[2].partition("?")[0])
    parent = parts[-2] if len(parts) > 1 else ""
    return "" if _UPLOADED.fullmatch(parent) else _plain(parent)


def _stem(path: str) -> str:
    name = _last(path)
    for packed in _PACKED:
        name = name[: -len(packed)] if name.lower().endswith(packed) and len(name) > len(packed) else name
    stem, _, ending = name.rpartition(".")
    return stem if stem and len(ending) <= len("parquet") and ending.isalnum() else name


def _is_plain(character: str) -> bool:
    return character in _MARKS or unicodedata.category(character)[0] in "LMN"


def _plain(name: str) -> str:
    """The name without characters that are not allowed."""
    text = "".join(c if _is_plain(c) else " " if c.isspace() else "_" if c.isprintable() else "" for c in name)
    return " ".join(text.split())
