"""Results of a set-up check: a verdict per check, with the evidence and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from blindspot.texts import counted


class State(StrEnum):
    OK = "ok"
    LOOK = "look"
    WRONG = "wrong"
    UNCHECKED = "not checked"


@dataclass(frozen=True)
class Result:
    """What one check found.

    Attributes:
        check: id of the check, a name in ``TITLES``.
        evidence: a sentence with figures; of an unchecked one, why.
        advice: what to do, or "".
        figures: numbers behind the evidence, for JSON: finite ones, texts and None.
    """

    check: str
    verdict: State
    evidence: str
    advice: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return TITLES[self.check]


TITLES = {
    "finite": "All numbers are finite",
    "repeat": "Same text twice",
    "order": "Order of the vectors",
    "batch": "Same text alone and in a batch",
    "asked": "Asked as a run asks",
    "distinct": "Different texts, different vectors",
    "length": "Normalization",
    "dimension": "Dimension",
    "precision": "Precision",
    "limit": "Longest text that is read",
    "case": "Upper and lower case",
    "accents": "Accents",
    "newlines": "Newlines",
    "spaces": "Spaces",
    "composition": "Composed characters",
    "space": "Axes and origin",
    "pooling": "Pooling",
    "layer": "Layer",
    "tokens": "Tokens",
    "prompt": "Prompt",
    "agreement": "Agreement with the reference",
    "prefixes": "Known prefixes",
}


@dataclass(frozen=True)
class Report:
    """A whole check.

    Attributes:
        encoder, reference: references of models; "" for no reference.
        results: in the order of ``TITLES``.
        worst: (text, its kind, cosine with the reference's vector), lowest first.
        texts, requests: how many texts the model was asked for, in how many batches.
        seconds: wall time.
        identity: digest of the encoder's identity at the time, and of the reference's.
        made: time in ISO format, UTC.
    """

    encoder: str
    reference: str
    results: tuple[Result, ...]
    worst: tuple[tuple[str, str, float], ...]
    texts: int
    requests: int
    seconds: float
    identity: str = ""
    made: str = ""

    def of(self, verdict: State) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.verdict is verdict)

    @property
    def headline(self) -> str:
        wrong, look = self.of(State.WRONG), self.of(State.LOOK)
        done = len(self.results) - len(self.of(State.UNCHECKED))
        if wrong:
            text = f"{counted(len(wrong), 'check')} of {done} found something wrong: {_named(wrong)}"
        elif look:
            text = f"Nothing is certainly wrong in {done} checks; look at {_named(look)}"
        else:
            text = f"All {done} checks are fine"
        return f"{text}{'' if self.reference else ', without a reference'}."

    def to_json(self) -> dict[str, Any]:
        content = asdict(self)
        content["results"] = [{**asdict(r), "title": r.title, "verdict": r.verdict.value} for r in self.results]
        content["worst"] = [{"text": t, "kind": k, "cosine": c} for t, k, c in self.worst]
        content["headline"] = self.headline
        return content

    @classmethod
    def of_json(cls, facts: Mapping[str, Any]) -> Report:
        """Raises ``KeyError``, ``TypeError`` or ``ValueError`` for what ``to_json`` did not make."""
        results = tuple(
            Result(r["check"], State(r["verdict"]), r["evidence"], r["advice"], r["figures"])
            for r in facts["results"]
            if r["check"] in TITLES
        )
        return cls(
            encoder=str(facts["encoder"]),
            reference=str(facts["reference"]),
            results=results,
            worst=tuple((str(w["text"]), str(w["kind"]), float(w["cosine"])) for w in facts["worst"]),
            texts=int(facts["texts"]),
            requests=int(facts["requests"]),
            seconds=float(facts["seconds"]),
            identity=str(facts["identity"]),
            made=str(facts["made"]),
        )


def _named(results: Sequence[Result]) -> str:
    return ", ".join(result.title[:1].lower() + result.title[1:] for result in results)
