"""Findings out of evidence: the templates of its kind filled with its facts.

A template is a text with facts in braces, and after a colon how they are written:

- ``{value:.0%}``, ``{gap:+.2f}``, ``{n:,}``: a number, of an estimate its value; ``{gap:+.0pp}`` in percentage points;
- ``{value:ci .0%}``: the interval of the value, in brackets after a space; nothing if it has no interval;
- ``{value:units}``: the independent units and their number; ``{p:p}``: a p-value;
- ``{value:test}``: how a paired difference is tested;
- ``{n:count text}``, ``{n:count query/queries}``: ``1 query``, ``200 queries``; ``{kinds:list}``: ``a, b and c``;
- ``{weak:?hardly |}``: the first text if the fact is true, else the second; both may have facts in braces;
- ``{orders:each the {near} in {share:.0%}}``: each set of facts by a template, listed;
- ``{A}``, ``{B}``: names of models, filled in where the finding is shown (``Finding.said``); ``{models}``: all of them;
  ``{scores:models .3f}``: all but the first, each with its number in brackets.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Mapping, Sequence

from blindspot.diagnostic import find_diagnostic
from blindspot.numerics.statistics.estimate import Estimate, Measured
from blindspot.numerics.statistics.pairs import DYADIC, test_in_words
from blindspot.numerics.statistics.written import ci, number, p_in_words
from blindspot.runs.findings import Finding
from blindspot.runs.findings.evidence import Evidence, Fact
from blindspot.runs.findings.rule import Level, Rival, Rule, levels
from blindspot.studies.findings.kinds import STORE, kind_of
from blindspot.texts import caseless, counted, listed
from blindspot.types import digest_of_strings
from blindspot.variants import Variant

MOST_NAMED = 6  # models in a sentence
LETTERS = string.ascii_uppercase
_NO_BRACES = str.maketrans("{}", "()")  # a name in braces is that of a model
_BETTER = {Rival.CHANCE: "chance", Rival.BASELINE: "the best model that knows no meaning"}


def findings(evidence: Iterable[Evidence]) -> list[Finding]:
    """The findings that follow from evidence; the same evidence can give a caution and a blind spot.

    Raises:
        KeyError: a kind is not in the table, or evidence lacks a fact that its templates name.
    """
    return [finding for evidence_item in evidence for finding in _findings(evidence_item)]


def _findings(evidence: Evidence) -> Iterable[Finding]:
    plan = evidence.runs[0].plan
    kind, entry = kind_of(plan.diagnostic, evidence.kind), find_diagnostic(plan.diagnostic)
    page, anchor = entry.place
    defaults = {parameter.name: parameter.default for parameter in entry.parameters}
    address: dict[str, str] = {}
    if kind.page in {"", page}:
        address = {name: value for name, value in plan.params.items() if value != defaults.get(name, value)} | anchor
    variants = list(dict.fromkeys(run.plan.variant for run in evidence.runs))
    references = {letter: str(variant) for letter, variant in zip(LETTERS, variants, strict=False)}
    for name, template in kind.address.items():
        if filled := fill(template, {**evidence.named, **references}):
            address[name] = filled
    facts = {name: _for_sentences(fact, variants) for name, fact in evidence.named.items()}
    facts["models"] = _names(len(variants))
    sentence, test = fill(kind.sentence, facts), fill(kind.test, facts)
    for graded in levels(kind.rule, evidence.p, evidence.against):
        is_reached = kind.rule is Rule.GRADED and graded.level is Level.STRENGTH
        yield Finding(
            kind=fill(evidence.kind, {n: _kebab(fact) if isinstance(fact, str) else fact for n, fact in facts.items()}),
            level=graded.level,
            sentence=sentence,
            diagnostic=STORE if kind.is_of_models else plan.diagnostic,
            dataset=evidence.dataset or plan.dataset,
            runs=evidence.runs,
            value=evidence.value.value if isinstance(evidence.value, Measured) else evidence.value,
            interval=evidence.value.interval if isinstance(evidence.value, Measured) else None,
            test=f"{test}; worse than {_BETTER[graded.better]} too" if graded.better else test,
            p=graded.p,
            against=graded.against,
            n=evidence.n,
            severity=_clipped(kind.severity(evidence)),
            page=kind.page or page,
            address=address,
            examples=() if is_reached else evidence.examples,
        )


def _kebab(name: str) -> str:
    """A name as part of a finding's kind: ``gram2-opposite`` for ``gram2: opposite``."""
    return re.sub(r"[^a-z0-9]+", "-", caseless(name)).strip("-") or digest_of_strings([name])[:8]


def _clipped(severity: float) -> float:
    return 0.0 if math.isnan(severity) else min(1.0, max(0.0, severity))


def _for_sentences(fact: Fact, variants: Sequence[Variant]) -> Fact:
    if isinstance(fact, Variant):
        return f"{{{LETTERS[variants.index(fact)]}}}"
    return fact.translate(_NO_BRACES) if isinstance(fact, str) else fact


def _names(models: int, scores: Sequence[str] = ()) -> str:
    """``{A}, {B} and {C}``; with ``scores``, all names but the first, each followed by its score."""
    names = [f"{{{letter}}}" for letter in LETTERS[:models][:MOST_NAMED]]
    if scores:
        names = [f"{name} ({score})" for name, score in zip(names[1:], scores, strict=False)]
    more = [counted(models - MOST_NAMED, "other")] if models > MOST_NAMED else []
    return listed([*names, *more])


def fill(template: str, facts: Mapping[str, Fact]) -> str:
    """A template with its facts; the places of models' names stay, unless these are facts.

    Raises:
        KeyError: a fact is missing.
    """
    out = []
    for text, name, spec, _ in string.Formatter().parse(template):
        out.append(text)
        if name is None:
            continue
        if name in LETTERS and name not in facts:
            out.append(f"{{{name}}}")
        elif spec and spec.startswith("?"):
            yes, _, no = spec[1:].partition("|")
            out.append(fill(yes if _is_true(facts[name]) else no, facts))
        else:
            out.append(_written(facts[name], spec or ""))
    return "".join(out)


def _is_true(fact: Fact) -> bool:
    return bool(fact.value if isinstance(fact, Measured) else fact)


def _written(fact: Fact, spec: str) -> str:
    how, _, rest = spec.partition(" ")
    if isinstance(fact, str | Variant):
        return str(fact)
    if not isinstance(fact, Measured | float | int):
        each = [fill(rest, part) if isinstance(part, Mapping) else _written(part, rest) for part in fact]
        return _names(1 + len(each), each) if how == "models" else listed(each)
    value = fact.value if isinstance(fact, Measured) else fact
    match how:
        case "units" if isinstance(fact, Estimate):
            written = fact.independent
        case "test" if isinstance(fact, Estimate):
            written = test_in_words("the paired difference", is_by_texts=fact.method.endswith(DYADIC))
        case "ci" if isinstance(fact, Measured):
            written = ci(fact, rest)
        case "count":
            written = counted(int(value), *rest.split("/"))
        case "p":
            written = p_in_words(value)
        case _:
            written = number(value, spec or ",")
    return written
