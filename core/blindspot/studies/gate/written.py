"""A gate's verdict as Markdown, for the summary of a CI job, as JUnit XML, for its list of tests, and as plain text."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from blindspot.errors import visible
from blindspot.files.writing import cannot_write, write_atomically
from blindspot.numerics.statistics.written import SCORE, number
from blindspot.studies.gate.verdict import Outcome, Verdict

SUITE = "blindspot gate"


def as_markdown(verdict: Verdict) -> str:
    """A heading, the sentences, and a table of the items that got worse."""
    lines = [f"### Gate {verdict.outcome}: {verdict.score}", "", *_paragraphs(verdict)]
    if verdict.worse:
        lines += ["| got worse | old | new |", "|---|--:|--:|"]
        lines += [
            f"| {_text(item.text)} | {number(item.old, SCORE)} | {number(item.new, SCORE)} |" for item in verdict.worse
        ]
        if verdict.losses > len(verdict.worse):
            lines += ["", f"and {verdict.losses - len(verdict.worse):,} more."]
    return "\n".join(lines) + "\n"


def _paragraphs(verdict: Verdict) -> list[str]:
    return [line for sentence in verdict.sentences for line in (_text(sentence), "")]


def _text(text: str) -> str:
    """A user's text, such as a model's name, escaped so that Markdown reads nothing in it."""
    signs = {ord(sign): f"&#{ord(sign)};" for sign in "\\`*_[]<>&#|~"}
    return visible(" ".join(text.split())).translate(signs)


def as_text(verdict: Verdict) -> str:
    """The outcome, the sentences, and the items that got worse, a line each."""
    lines = [f"{verdict.outcome}: {verdict.score}", *map(visible, verdict.sentences)]
    if verdict.worse:
        lines += ["Items that got worse (old -> new):", _list(verdict)]
        if verdict.losses > len(verdict.worse):
            lines.append(f"and {verdict.losses - len(verdict.worse):,} more")
    return "\n".join(lines)


def as_junit(verdict: Verdict, *, undecided_fails: bool = True) -> bytes:
    """One test, which fails where the gate does.

    Args:
        undecided_fails: an undecided gate fails the job, and so is a failure here; otherwise its test is skipped.
    """
    message = " ".join(verdict.sentences)
    if verdict.outcome is Outcome.PASSED:
        return _junit(verdict.score, "system-out", "", message)
    if verdict.outcome is Outcome.UNDECIDED and not undecided_fails:
        return _junit(verdict.score, "skipped", f"{verdict.outcome}: {message}")
    return _junit(verdict.score, "failure", f"{verdict.outcome}: {message}", _list(verdict), verdict.outcome)


def error_as_junit(score: str, message: str) -> bytes:
    """One test that could not run."""
    return _junit(score or "gate", "error", message, "", "error")


def _junit(name: str, tag: str, message: str, text: str = "", kind: str = "") -> bytes:
    of_tags = {"failures": "failure", "skipped": "skipped", "errors": "error"}
    counts = {"tests": "1"} | {count: str(int(tag == of)) for count, of in of_tags.items()}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": SUITE} | counts)
    case = ElementTree.SubElement(suite, "testcase", {"classname": SUITE, "name": _xml(name)})
    attributes = {"message": _xml(message), "type": kind}
    ElementTree.SubElement(case, tag, {name: value for name, value in attributes.items() if value}).text = _xml(text)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _list(verdict: Verdict) -> str:
    texts = [visible(" ".join(item.text.split())) for item in verdict.worse]
    return "\n".join(
        f"{number(item.old, SCORE)} -> {number(item.new, SCORE)}  {text}"
        for item, text in zip(verdict.worse, texts, strict=True)
    )


_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(text: str) -> str:
    """The text without characters that XML 1.0 cannot have."""
    return _NOT_IN_XML.sub("", text)


def write(path: Path, content: bytes) -> None:
    """Write a file; raises ``BlindspotError`` if it cannot be written."""
    write_atomically(path, lambda file: file.write(content))


def append(path: Path, text: str) -> None:
    """Append to a file, which need not exist: the summary of a CI job has other parts.

    Raises:
        BlindspotError: it cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise cannot_write(path, error) from error
