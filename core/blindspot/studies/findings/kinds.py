"""Kinds of finding: all sentences, the tests behind them, how severe they are, and which view opens them.

``wording`` says how templates are written. An address has query parameters; one whose value is empty is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from blindspot.runs.findings.evidence import Evidence
from blindspot.runs.findings.rule import Rule

STORE = "store"  # in place of a diagnostic
Address = Mapping[str, str]


@dataclass(frozen=True)
class Kind:
    """What is said of evidence of a kind.

    Attributes:
        rule: how its level follows.
        sentence: plain text, active voice, with number and interval; a template as all texts here.
        test: in words, or how a fact was counted.
        severity: from 0 to 1, comparable between diagnostics: the distance of the value from where it should be, as a
            share of the largest possible distance; what is beyond either end counts as that.
        address: query parameters that open the very view with the very items; ``{A}`` is the first model's reference.
        page: stem of the page that shows it; "" for the diagnostic's own.
        is_of_models: whether it is about models whatever the diagnostic.
    """

    rule: Rule
    sentence: str
    test: str
    severity: Callable[[Evidence], float]
    address: Address = field(default_factory=lambda: MappingProxyType({}))
    page: str = ""
    is_of_models: bool = False


def kind_of(diagnostic: str, name: str) -> Kind:
    """The kind of a diagnostic's evidence; raises ``KeyError`` if the table lacks it."""
    return KINDS.get(diagnostic, {}).get(name) or SHARED[name]


# --- severities


def value(evidence: Evidence) -> float:
    return evidence["value"]


def size(evidence: Evidence) -> float:
    return abs(evidence["value"])


def rest(evidence: Evidence) -> float:
    """What a share lacks of 1."""
    return 1 - evidence["value"]


def to_the_best(evidence: Evidence) -> float:
    """What a score lacks of 1, as a share of what chance lacks of it."""
    chance = evidence["chance"]
    return (1 - evidence["value"]) / (1 - chance) if chance != 1 else 0.0


def score_to_the_best(evidence: Evidence) -> float:
    """What a score lacks of 1, where the value is its difference from another."""
    return 1 - evidence["score"]


# --- kinds that diagnostics share

LOW_COVERAGE = Kind(
    Rule.FACT,
    "{is_own:?{A} has|Some model it was run with has} no vector for {lacking:,} of {texts:,} texts"
    "{unit:?, so that {left_out:,} of {n:,} {unit} are left out|}: the scores of {A} are those of {value:.0%} of the "
    "{unit:?{unit}|texts}.",
    "counted over {n:,} {unit:?{unit}|texts}",
    rest,
)


def against_rival(rival: str, than: str, test: str, address: Address, corrected: str = "") -> dict[str, Kind]:
    """The kinds of ``baselines.outcomes``: worse, better, and not significantly better.

    Args:
        than: what follows "{A} is better": both scores, and the difference with its interval.
        test: in words; ``corrected`` follows where the difference is a hypothesis.
    """
    better, alike = f"{test}{corrected}, and better than chance", f"not significant: {test}, {{p:p}}"
    return {
        f"worse-than-{rival}": Kind(Rule.BLIND_SPOT, f"{{A}} is worse {than}", f"{test}{corrected}", size, address),
        f"better-than-{rival}": Kind(Rule.STRENGTH, f"{{A}} is better {than}", better, size, address),
        f"no-better-than-{rival}": Kind(
            Rule.FACT, f"{{A}} is not significantly better {than}", alike, score_to_the_best, address
        ),
    }


def against_baseline(at: str, scores: str, test: str, address: Address) -> dict[str, Kind]:
    """The kinds of a model against the best that knows no meaning, which is {B}.

    Args:
        at: what it is better or worse at: ``at ranking matches``.
        scores: ``{score}`` against ``{reached}``, and ``{value}``, the difference, with its interval.
    """
    than = f"than {{B}}, which knows only spelling and words, {at}: {scores}."
    return against_rival("baseline", than, test, address, ", corrected for the choice of the best such model")


# --- EvalRank

EVALRANK: dict[str, Kind] = {}

# --- HEROS

HEROS: dict[str, Kind] = {}

# --- Similarity

SIMILARITY: dict[str, Kind] = {}

# --- Words

ANALOGY: dict[str, Kind] = {}
CATEGORIZATION: dict[str, Kind] = {}
OUTLIERS: dict[str, Kind] = {}
THEMATIC_FIT: dict[str, Kind] = {}
CHUNKING: dict[str, Kind] = {}

# --- Geometry

GEOMETRY: dict[str, Kind] = {
    "common-direction": Kind(
        Rule.FACT,
        "{A} crowds all texts into one direction: two random texts have a cosine of {value:.2f} on average.",
        "computed over all pairs of {n:count text}",
        value,
    ),
    "hubs": Kind(
        Rule.FACT,
        "{A} has hubs: a few texts are among the {neighbors} nearest of very many others "
        "(skewness {value:.1f}; 0 means no hubs).",
        "counted over {n:count text}",
        lambda evidence: 1 - 1 / evidence["value"],
        {"view": "hubs", "hubs_of": "{A}"},
        page="frequency",
    ),
    "zero-vectors": Kind(
        Rule.FACT,
        "{A} gives {zeros:,} of {n:count text} a vector of zeros, which is similar to nothing.",
        "counted over {n:count text}",
        value,
    ),
    "matches-nearer": Kind(
        Rule.GRADED,
        "{A} puts matches {weak:?hardly closer together than random texts: {value:.0%} closer on average|"
        "{value:.0%} closer together than random texts}{value:ci .0%}, by squared distance.",
        "t test against {asked:.0%}, {value:units}",
        rest,
    ),
    "matches-far-apart": Kind(
        Rule.LESS,
        "{A} puts {value:.0%} of the matches as far apart as two random texts, or farther{value:ci .0%}.",
        "score test against {asked:.0%}, {value:units}",
        value,
    ),
}

# --- Frequency

FREQUENCY: dict[str, Kind] = {}

# --- Transfer and Probing

CLASSIFICATION: dict[str, Kind] = {}

# --- Retrieval

RETRIEVAL: dict[str, Kind] = {}

# --- over all diagnostics

SHARED: dict[str, Kind] = {"low-coverage": LOW_COVERAGE}

KINDS: Mapping[str, Mapping[str, Kind]] = MappingProxyType(
    {
        "evalrank": EVALRANK,
        "heros": HEROS,
        "similarity": SIMILARITY,
        "analogy": ANALOGY,
        "categorization": CATEGORIZATION,
        "outliers": OUTLIERS,
        "thematic_fit": THEMATIC_FIT,
        "chunking": CHUNKING,
        "geometry": GEOMETRY,
        "frequency": FREQUENCY,
        "transfer": CLASSIFICATION,
        "probing": CLASSIFICATION,
        "retrieval": RETRIEVAL,
    }
)
