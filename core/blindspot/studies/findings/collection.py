"""Findings of every diagnostic over the stored runs, with false discoveries controlled over all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Diagnostic, all_diagnostics
from blindspot.diagnostics.evalrank.definition import CANDIDATES, MATCHES
from blindspot.diagnostics.evalrank.definition import ENTRY as EVALRANK
from blindspot.errors import BlindspotError, naming_extras
from blindspot.numerics.statistics.intervals import ALPHA, benjamini_hochberg
from blindspot.numerics.statistics.written import p_in_words
from blindspot.runs.comparison import ends
from blindspot.runs.default_models import KNOW_NO_MEANING, default_models, is_undeployed
from blindspot.runs.findings import Finding, Level, Material
from blindspot.runs.findings.evidence import REVERSED_GRADES, REVERSED_SCORES
from blindspot.runs.same_items import widest_covered
from blindspot.runs.scope import Scope
from blindspot.settings import Settings
from blindspot.store.records import RunRecord, RunState
from blindspot.store.repository import Repository
from blindspot.studies.findings import among, general, wording
from blindspot.studies.languages import evidence as languages
from blindspot.variants import Variant

LEVELS = tuple(Level)  # worst first


@dataclass(frozen=True)
class Selection:
    """Scope of the findings: variants on datasets by diagnostics (none means all), or runs by their ids.

    Without named variants, those of ``default_models`` that know meaning; baselines only serve for comparison.
    ``postprocessed`` adds post-processed ones.
    ``metric`` is the similarity, if a diagnostic has a choice; "" for its default.
    """

    variants: tuple[Variant, ...] = ()
    metric: str = ""
    datasets: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    postprocessed: bool = False
    diagnostics: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        return Scope(self.datasets, self.diagnostics)

    def named(self, repository: Repository) -> Selection:
        """The same selection with its variants named."""
        if self.variants or self.runs:
            return self
        variants = repository.variants()
        meant = [variant for variant in variants if not knows_no_meaning(variant)]
        return replace(self, variants=tuple(default_models(meant, variants, postprocessed=self.postprocessed)))

    def keeps(self, run: RunRecord) -> bool:
        """Whether a run's variant or id is selected."""
        if self.runs:
            return run.run_id in self.runs
        return not self.variants or run.plan.variant in self.variants


@dataclass(frozen=True)
class RunsOf:
    """The runs of a diagnostic that findings are based on.

    Attributes:
        chosen: one per variant and dataset, on a dataset all with the same items.
        baselines: those of baselines, on the same items.
        apart: the newest runs of variants that were tested on other items than most.
        pooled: whether these are runs of one model on several languages, with all their texts as candidates.
    """

    entry: Diagnostic
    chosen: tuple[RunRecord, ...]
    baselines: tuple[RunRecord, ...] = ()
    apart: tuple[RunRecord, ...] = ()
    pooled: bool = False


@dataclass(frozen=True)
class Discovery:
    """A finding on display; ``adjusted`` is its p after Benjamini and Hochberg, None for a counted fact."""

    finding: Finding
    adjusted: float | None

    @property
    def basis(self) -> list[str]:
        """The dataset, the test with n, and the corrected p, in words."""
        of = [title_of(self.finding.dataset), self.finding.basis]
        return of if self.adjusted is None else [*of, f"corrected {p_in_words(self.adjusted, self.finding.p)}"]

    def as_json(self) -> dict[str, Any]:
        finding = self.finding
        return {
            "id": finding.id,
            "level": finding.level.value,
            "kind": finding.kind,
            "sentence": finding.said(),
            "diagnostic": finding.diagnostic,
            "dataset": finding.dataset,
            "variants": [{"encoder": v.encoder, "transform": v.transform} for v in finding.variants],
            "runs": [run.run_id for run in finding.runs],
            "value": finding.value,
            **ends(finding.interval),
            "test": finding.test,
            "p": finding.p,
            "p_adjusted": self.adjusted,
            "n": finding.n,
            "severity": finding.severity,
            "page": finding.page,
            "address": dict(finding.address),
            "examples": [
                {
                    "note": example.note,
                    "texts": [
                        {"role": role, "text": text, "marked": list(map(list, marked))}
                        for role, text, marked in example.parts
                    ],
                }
                for example in finding.examples
            ],
        }


@dataclass(frozen=True)
class Collected:
    """The findings of a selection.

    Attributes:
        discoveries: worst first.
        hypotheses: number of tests, significant or not.
        failures: one line for each diagnostic that could not compute its findings.
        runs: ids of the runs behind them.
    """

    discoveries: tuple[Discovery, ...] = ()
    hypotheses: int = 0
    failures: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()

    def at(self, level: Level) -> tuple[Discovery, ...]:
        return tuple(discovery for discovery in self.discoveries if discovery.finding.level is level)

    def groups(self, level: Level | None = None) -> list[tuple[Discovery, ...]]:
        """Discoveries of one kind on one dataset together, whatever the model; worst first, in either order."""
        by_finding: dict[tuple[str, ...], list[Discovery]] = {}
        for discovery in self.discoveries if level is None else self.at(level):
            finding = discovery.finding
            key = (finding.level, finding.diagnostic, finding.kind, finding.dataset)
            by_finding.setdefault(key, []).append(discovery)
        return [tuple(group) for group in by_finding.values()]

    def find(self, finding_id: str) -> Discovery | None:
        return next((discovery for discovery in self.discoveries if discovery.finding.id == finding_id), None)


class Make(Protocol):
    """Makes the findings of a diagnostic's runs; a page keeps what it made."""

    def __call__(self, runs: RunsOf, repository: Repository, settings: Settings) -> Sequence[Finding]: ...


def make(runs: RunsOf, repository: Repository, settings: Settings) -> Sequence[Finding]:
    """A diagnostic's own findings in its runs, and findings between them.

    Raises:
        BlindspotError: their rows are gone.
    """
    if not runs.chosen:
        return []
    if runs.pooled:
        return wording.findings(languages.of_pool(runs.chosen, repository, settings))
    material = Material(runs.chosen, runs.baselines, repository, settings)
    findings = wording.findings(runs.entry.evidence(material))
    doubted = {finding.dataset for finding in findings if finding.kind in (REVERSED_SCORES, REVERSED_GRADES)}
    compared = [run for run in runs.chosen if run.plan.dataset not in doubted]
    return [*findings, *wording.findings(among.evidence(runs.entry, compared, repository))]


def collect(
    repository: Repository, settings: Settings, selection: Selection | None = None, making: Make | None = None
) -> Collected:
    """The findings of the selected runs; see ``Selection``."""
    selection = selection or Selection()
    every, old = select(repository, selection)
    every_finding: list[Finding] = []
    failures: list[str] = []

    def add(title: str, findings: Callable[[], Iterable[Finding]]) -> None:
        try:
            with naming_extras():
                every_finding.extend(findings())
        except BlindspotError as error:
            failures.append(f"{title}: {error}")

    for runs in every:
        add(runs.entry.title, lambda runs=runs: (making or make)(runs, repository, settings))  # type: ignore[misc]
        add(runs.entry.title, lambda runs=runs: wording.findings(general.not_comparable(runs.chosen, runs.apart)))  # type: ignore[misc]
    pooled = pools(repository, selection)
    for runs in pooled:
        add("Languages", lambda runs=runs: (making or make)(runs, repository, settings))  # type: ignore[misc]
    chosen = [run for runs in every for run in runs.chosen]
    add("Texts cut off", lambda: wording.findings(general.cut_off(chosen, repository, settings)))
    add("Post-processing", lambda: wording.findings(general.fitted_on_tested(chosen)))
    add("Older versions", lambda: wording.findings(general.of_older_versions(old)))
    chosen += [run for runs in pooled for run in runs.chosen]
    variants = tuple(dict.fromkeys(run.plan.variant for run in chosen))
    ids = tuple(dict.fromkeys(run.run_id for run in chosen))
    tested = sum(finding.p is not None for finding in every_finding)
    return Collected(tuple(discoveries(every_finding)), tested, tuple(failures), ids, variants)


def discoveries(findings: Sequence[Finding]) -> list[Discovery]:
    """Facts, and findings with a false discovery rate of at most ``ALPHA``; worst first, those about baselines that
    nobody would deploy last.

    The rate is controlled over strengths and blind spots together, and among the findings of each level: many true
    cautions or blind spots must not make room for a false strength. A tested caution is left out if its blind spot is
    shown.
    """
    adjusted = _adjusted(findings)
    every = [Discovery(finding, p) for finding, p in zip(findings, adjusted, strict=True)]
    kept = [discovery for discovery in every if discovery.adjusted is None or discovery.adjusted <= ALPHA]
    worse = {discovery.finding.id for discovery in kept if discovery.finding.level is Level.BLIND_SPOT}
    kept = [
        discovery
        for discovery in kept
        if not (
            discovery.finding.level is Level.CAUTION
            and discovery.adjusted is not None
            and discovery.finding.id in worse
        )
    ]
    return sorted(
        kept,
        key=lambda discovery: (
            LEVELS.index(discovery.finding.level),
            _comes_last(discovery),
            -discovery.finding.severity,
        ),
    )


def _comes_last(discovery: Discovery) -> bool:
    """Whether it is about nothing but baselines that nobody would deploy."""
    return all(is_undeployed(variant.encoder) for variant in discovery.finding.variants)


def _adjusted(findings: Sequence[Finding]) -> list[float | None]:
    """The p-value of each after Benjamini and Hochberg, the largest one over the families that it is in."""
    p = np.array([np.nan if finding.p is None else finding.p for finding in findings], dtype=np.float64)
    out = np.zeros(len(p))
    for family in (*({level} for level in LEVELS), {Level.BLIND_SPOT, Level.STRENGTH}):
        inside = np.array([finding.level in family for finding in findings], dtype=np.bool_) & ~np.isnan(p)
        out[inside] = np.maximum(out[inside], benjamini_hochberg(p[inside]))
    return [None if np.isnan(p_value) else float(value) for p_value, value in zip(p, out, strict=True)]


def select(repository: Repository, selection: Selection) -> tuple[list[RunsOf], list[RunRecord]]:
    """The runs of each diagnostic, and those of selected variants that only an older version computed.

    Named runs with several sets of parameters are grouped by these.
    """
    entries = all_diagnostics()
    usual = {name: _params(entry, selection.metric) for name, entry in entries.items()}
    fitting: dict[tuple[str, str], list[RunRecord]] = {}
    old: dict[tuple[str, str, Variant], RunRecord] = {}
    every = repository.runs(state=RunState.DONE, current=not selection.runs, metrics=[])
    selection = selection.named(repository)
    wanted = {_group(run) for run in every if run.run_id in selection.runs}
    for run in every:
        plan = run.plan
        if plan.diagnostic not in entries or not selection.scope.has(plan.diagnostic, plan.dataset):
            continue
        if _group(run) not in wanted if selection.runs else dict(plan.params) != usual[plan.diagnostic]:
            continue
        if plan.diagnostic_version == entries[plan.diagnostic].version:
            fitting.setdefault(_group(run), []).append(run)
        elif selection.keeps(run):
            old.setdefault((plan.diagnostic, plan.dataset, plan.variant), run)
    order = list(entries)
    picked = [
        _of(entries[group[0]], fitting[group], selection) for group in sorted(fitting, key=lambda g: order.index(g[0]))
    ]
    scored = _with_scores(repository, picked)
    out = [
        RunsOf(
            runs.entry,
            tuple(scored[run.run_seq] for run in runs.chosen if run.run_seq in scored),  # one may be deleted meanwhile
            tuple(scored[run.run_seq] for run in runs.baselines if run.run_seq in scored),
            runs.apart,
        )
        for runs in picked
    ]
    now = {(r.plan.diagnostic, r.plan.dataset, r.plan.variant) for runs in fitting.values() for r in runs}
    return out, [run for key, run in old.items() if key not in now]


def pools(repository: Repository, selection: Selection) -> list[RunsOf]:
    """The selected runs on parallel sentences, those of a model on all its languages together. If datasets are chosen,
    only pools with at least one of them."""
    metric = {"metric": selection.metric} if selection.metric else {}
    params = EVALRANK.check_params({**metric, CANDIDATES.name: MATCHES})
    runs = [
        run
        for run in repository.finished(EVALRANK, metrics=["hits@1"])
        if (run.plan.params.get(CANDIDATES.name) == MATCHES if selection.runs else run.plan.params == params)
    ]
    is_named, selection = bool(selection.variants or selection.runs), selection.named(repository)
    wanted = [run for run in runs if selection.keeps(run) and (is_named or not knows_no_meaning(run.plan.variant))]
    return [
        RunsOf(EVALRANK, pool, pooled=True)
        for pool in languages.pools_of(wanted)
        if any(selection.scope.has(EVALRANK.id, run.plan.dataset) for run in pool)
    ]


def knows_no_meaning(variant: Variant) -> bool:
    """Whether its encoder knows only the letters and words of texts."""
    return variant.encoder in KNOW_NO_MEANING or variant.encoder.startswith(f"{KNOW_NO_MEANING[0]}-")


def _group(run: RunRecord) -> tuple[str, str]:
    return run.plan.diagnostic, json.dumps(dict(run.plan.params), sort_keys=True)


def _params(entry: Diagnostic, metric: str) -> dict[str, str]:
    return entry.check_params({"metric": metric} if metric and entry.has_metric else {})


def _of(entry: Diagnostic, runs: Sequence[RunRecord], selection: Selection) -> RunsOf:
    """``runs`` are of the current version with the wanted parameters, newest first."""
    by_dataset: dict[str, list[RunRecord]] = {}
    for run in runs:
        by_dataset.setdefault(run.plan.dataset, []).append(run)
    chosen: list[RunRecord] = []
    baselines: list[RunRecord] = []
    apart: list[RunRecord] = []
    for every in by_dataset.values():
        wanted = [run for run in every if selection.keeps(run)]
        if not wanted:
            continue
        widest = widest_covered(wanted)
        kept = _newest(run for run in wanted if run.plan.covered_digest == widest)
        chosen += kept.values()
        same = _newest(run for run in every if run.plan.covered_digest == widest)
        baselines += [run for v, run in same.items() if v.encoder in KNOW_NO_MEANING and v.transform == "none"]
        apart += [run for v, run in _newest(wanted).items() if v not in kept]
    return RunsOf(entry, tuple(chosen), tuple(baselines), tuple(apart))


def _newest(runs: Iterable[RunRecord]) -> dict[Variant, RunRecord]:
    newest: dict[Variant, RunRecord] = {}
    for run in runs:
        newest.setdefault(run.plan.variant, run)
    return newest


def _with_scores(repository: Repository, every: Iterable[RunsOf]) -> Mapping[int, RunRecord]:
    """The chosen runs and baselines with all their scores."""
    numbers = {run.run_seq for runs in every for run in (*runs.chosen, *runs.baselines)}
    return {run.run_seq: run for run in repository.runs(run_seqs=sorted(numbers))} if numbers else {}
