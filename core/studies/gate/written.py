"""A gate's verdict as Markdown, for the summary of a CI job, as JUnit XML, for its list of tests, and as plain text."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from blindspot.errors import visible
from blindspot.files.writing import cannot_write, write_atomically
from blindspot.studies.gate.verdict import Outcome, Verdict

SUITE = "blindspot gate"


def as_markdown(verdict: Verdict) -> str:
    """A heading, the sentences, and a table of the items that got worse."""
    lines = [f"### Gate {verdict.outcome}: {verdict.score}", "", *_paragraphs(verdict)]
    if verdict.worse:
        lines += ["| got worse | old | new |", "|---|--:|--:|"]
        lines += [f"| {_text(one.text)} | {one.old:.4f} | {one.new:.4f} |" for one in verdict.worse]
        if verdict.losses > len(verdict.worse):
            lines += ["", f"and {verdict.losses - len(verdict.worse):,} more."]
    return "\n".join(lines) + "\n"


def _paragraphs(verdict: Verdict) -> list[str]:
    return [line for sentence in verdict.sentences for line in (_text(sentence), "")]


def _text(text: str) -> str:
    """A user's text, such as a model's name: Markdown reads nothing in it."""
    signs = {ord(sign): f"&#{ord(sign)};" for sign in "\\`*_[]<>&#|~"}
    return visible(" ".join(text.split())).translate(signs)


def as_text(verdict: Verdict) -> str:
    """A line each for the outcome, the sentences, and the items that got worse."""
    lines = [f"{verdict.outcome}: {verdict.score}", *map(visible, verdict.sentences)]
    if verdict.worse:
        lines += ["Items that got worse (old -> new):", _list(verdict)]
        if verdict.losses > len(verdict.worse):
            lines.append(f"and {verdict.losses - len(verdict.worse):,} more")
    return "\n".join(lines)


def as_junit(verdict: Verdict) -> bytes:
    """One test, which fails where the gate does and is skipped where it is undecided."""
    counts = {
        "tests": "1",
        "failures": str(int(verdict.outcome is Outcome.FAILED)),
        "skipped": str(int(verdict.outcome is Outcome.UNDECIDED)),
        "errors": "0",
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": SUITE} | counts)
    case = ElementTree.SubElement(suite, "testcase", {"classname": SUITE, "name": _xml(verdict.score)})
    message = " ".join(verdict.sentences)
    if verdict.outcome is Outcome.FAILED:
        ElementTree.SubElement(case, "failure", {"message": _xml(message)}).text = _xml(_list(verdict))
    elif verdict.outcome is Outcome.UNDECIDED:
        ElementTree.SubElement(case, "skipped", {"message": _xml(message)})
    else:
        ElementTree.SubElement(case, "system-out").text = _xml(message)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _list(verdict: Verdict) -> str:
    texts = [visible(" ".join(one.text.split())) for one in verdict.worse]
    return "\n".join(f"{one.old:.4f} -> {one.new:.4f}  {text}" for one, text in zip(verdict.worse, texts, strict=True))


_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(text: str) -> str:
    """Without characters that XML 1.0 cannot have."""
    return _NOT_IN_XML.sub("", text)


def write(path: Path, content: bytes) -> None:
    """Write a file; raises ``BlindspotError`` if it cannot be written."""
    write_atomically(path, lambda file: file.write(content))


def append(path: Path, text: str) -> None:
    """Add to a file, which need not exist: the summary of a CI job has other parts.

    Raises:
        BlindspotError: it cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise cannot_write(path, error) from error
