"""View of a model's languages: the same on the page and by the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindspot.runs.findings import Finding
from blindspot.studies.findings import wording
from blindspot.studies.languages.evidence import evidence
from blindspot.studies.languages.pooled import Bias
from blindspot.studies.languages.scores import DIRECTIONS, By, Group, Score, answer, grouped


@dataclass(frozen=True)
class LanguagesView:
    """How well a model finds translations, and whether language wins over meaning.

    Attributes:
        groups: of languages, by their mean accuracy.
        biases: of the languages of a pool; () without one.
        findings: one per language of the pool with enough mistakes.
    """

    scores: tuple[Score, ...]
    groups: tuple[Group, ...]
    biases: tuple[Bias, ...]
    findings: tuple[Finding, ...]

    @property
    def model(self) -> str:
        return str(self.scores[0].run.plan.variant)

    @property
    def worst_first(self) -> list[Finding]:
        """The findings, the most severe first."""
        return sorted(self.findings, key=lambda finding: -finding.severity)

    @property
    def answer(self) -> str:
        """The scores in two sentences."""
        return answer(self.scores)

    def as_json(self, left_out: Mapping[str, str]) -> dict[str, Any]:
        """Shares are fractions; ``left_out`` are errors by code of a language."""
        return {
            "model": self.model,
            "answer": self.answer,
            "scores": [_score(score) for score in self.scores],
            "groups": [
                {
                    "group": group.name,
                    "languages": [language.code for language in group.languages],
                    **{name: group.means.get(way) for way, name in DIRECTIONS.items()},
                }
                for group in self.groups
            ],
            "pooled": [
                {
                    "language": bias.language,
                    "queries": bias.queries,
                    "nearest": dict(bias.shares),
                    "own_low": bias.own.low,
                    "own_high": bias.own.high,
                    "own_among_wrong": bias.own_among_wrong,
                    "expected": bias.expected,
                    "p": bias.p,
                }
                for bias in self.biases
            ],
            "findings": [
                {
                    "id": finding.id,
                    "level": finding.level,
                    "sentence": finding.said(),
                    "value": finding.value,
                    "p": finding.p,
                    "test": finding.test,
                }
                for finding in self.findings
            ],
            "left_out": [{"language": code, "error": error} for code, error in left_out.items()],
        }


def languages_view(scores: Sequence[Score], by: By = By.NONE, biases: Sequence[Bias] = ()) -> LanguagesView:
    """The view of one score or more; ``biases`` are of a pool of these languages."""
    findings = wording.findings(evidence(biases, scores))
    return LanguagesView(tuple(scores), tuple(grouped(scores, by)), tuple(biases), tuple(findings))


def _score(score: Score) -> dict[str, Any]:
    language = score.language
    return {
        "language": language.code,
        "name": language.name,
        "family": language.family,
        "branch": language.branch,
        "scripts": list(language.scripts),
        "direction": DIRECTIONS[score.direction],
        "dataset": score.run.plan.dataset,
        "run_id": score.run.run_id,
        "pairs": score.pairs,
        "pairs_covered": score.covered,
        "accuracy": score.accuracy.value,
        "accuracy_low": score.accuracy.low,
        "accuracy_high": score.accuracy.high,
        "accuracy_filtered": score.filtered,
        "mrr": score.mrr.value,
        "mrr_low": score.mrr.low,
        "mrr_high": score.mrr.high,
    }
