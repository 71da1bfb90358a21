"""Report as one HTML file without external requests; texts are escaped, figures need JavaScript."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from blindspot.datasets.catalog import title_of
from blindspot.diagnostic import Diagnostic, all_diagnostics
from blindspot.figures.html_tables import highlighted
from blindspot.runs.findings import Example, Level
from blindspot.store.records import RunRecord
from blindspot.studies.compare.rows import Comparison, headline, method_in_words, reasons
from blindspot.studies.findings.collection import Discovery
from blindspot.studies.report import figures, formulas
from blindspot.studies.report.content import Report, comparison_table, cost_table, summary
from blindspot.studies.report.manifest import ELEMENT, portable
from blindspot.studies.report.tables import Table, to_html
from blindspot.texts import counted, listed
from blindspot.variants import Variant

CARDS = 6  # findings in full; more unfold, so that the scores are not screens away
_FOLDER = Path(__file__).parent
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)", re.DOTALL)
_PLACE = "\ue000"  # around the number of a formula: of private use, so in no text of ours
_SIGNS = {Level.BLIND_SPOT: "✖", Level.CAUTION: "▲", Level.STRENGTH: "✔"}
# No script but the two in the file, nothing from anywhere else.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def render(report: Report) -> str:
    """The whole file."""
    drawn: list[dict[str, Any]] = []

    def figure(draw: figures.Draw | None, label: str) -> str:
        if draw is None:
            return ""
        drawn.append(figures.in_both_schemes(draw))
        return f'<div class="figure" id="figure-{len(drawn) - 1}" role="img" aria-label="{escape(label)}"></div>'

    comparisons = "".join(
        _comparison(comparison, figure(figures.differences(report, comparison), "Differences"))
        for comparison in report.comparisons
    )
    sections = {
        **({"Comparison": comparisons} if report.comparisons else {}),
        "Findings": _findings(report),
        "Scores": "".join(
            f"<h3>{escape(table.name)}</h3>{figure(figures.headline_dots(report, runs), table.name)}{to_html(table)}"
            for table, runs in zip(report.tables, (r for r in report.runs if r.chosen), strict=True)
        )
        + f"<h3>Cost</h3>{to_html(cost_table(report))}",
        "How each number is computed": "".join(_how(entry) for entry in report.entries),
        "Manifest": _manifest(report.every_run),
        "Reproduce it": _commands(report.commands),
    }
    body = "".join(f'<section id="{_id(name)}"><h2>{name}</h2>{html}</section>' for name, html in sections.items())
    links = "".join(f'<a href="#{_id(name)}">{name}</a>' for name in sections)
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>Blindspot report: {escape(report.title)}</title><style>{_file('report.css')}</style></head><body>"
        f"<header><h1>Blindspot report: {escape(report.title)}</h1>{_first(report)}"
        f"<p class=faint>{escape(summary(report))} Blindspot {escape(report.manifest['blindspot'])}, "
        f"{escape(_date(report.manifest['made']))}.</p>"
        f"<nav>{links}</nav></header><main>{body}</main>"
        f"{_json(ELEMENT, report.manifest)}{_json('blindspot-figures', drawn)}"
        f'<script type="text/plain" id="blindspot-plotly">{figures.library()}</script>'
        f"<script>{_file('report.js')}</script></body></html>\n"
    )


@cache
def _file(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _id(name: str) -> str:
    return name.lower().replace(" ", "-")


def _json(element: str, value: object) -> str:
    """A value as JSON in the file; no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")
    return f'<script type="application/json" id="{element}">{text}</script>'


# --- findings


def _first(report: Report) -> str:
    """The main results in a few lines, above everything else: which model is better, then what each gets wrong."""
    findings = report.findings
    counts = [f"{counted(len(findings.at(level)), level)}" for level in Level]
    lines = [line for comparison in report.comparisons for line in _headline(comparison)]
    return "".join(f'<p class="said">{escape(line)}</p>' for line in dict.fromkeys([*lines, f"{listed(counts)}."]))


def _headline(comparison: Comparison) -> tuple[str, ...]:
    """Questions about the data, then the sentence."""
    return (*comparison.doubts, headline(comparison, comparison.a.label, comparison.b.label))


def _date(made: str) -> str:
    """``November 23, 2026, 07:50 UTC``."""
    at = datetime.fromisoformat(made)
    return f"{at:%B} {at.day}, {at:%Y, %H:%M} UTC"


def _findings(report: Report) -> str:
    findings = report.findings
    cards = [_card(first, others) for first, *others in findings.groups()]
    failures = "".join(f"<p>{escape(line)}</p>" for line in findings.failures)
    if rest := cards[CARDS:]:
        more = f"<details><summary>{len(rest):,} more</summary>{''.join(rest)}</details>"
        return failures + "".join(cards[:CARDS]) + more
    return failures + ("".join(cards) or "<p>No findings: no test is significant, and nothing was counted.</p>")


def _card(discovery: Discovery, others: Sequence[Discovery]) -> str:
    finding = discovery.finding
    examples = "".join(_example(example) for example in finding.examples)
    others_listed = "".join(f"<li>{escape(other.finding.said())}</li>" for other in others)
    more = f"<p class=faint>More like this:</p><ul class=faint>{others_listed}</ul>" if others else ""
    return (
        f'<article class="finding {finding.level.replace(" ", "-")}">'
        f'<p class="level">{_SIGNS[finding.level]} {escape(finding.level.capitalize())}</p>'
        f'<p class="said">{escape(finding.said())}</p>'
        f'<p class="faint">{escape(" · ".join(discovery.basis))}</p>{examples}{more}</article>'
    )


def _example(example: Example) -> str:
    rows = "".join(
        f"<tr><td>{escape(role)}</td><td>{highlighted(text, marked, None)}</td></tr>"
        for role, text, marked in example.parts
    )
    note = f"<caption>{escape(example.note)}</caption>" if example.note else ""
    return f'<table class="example">{note}<tbody>{rows}</tbody></table>'


# --- A against B


def _comparison(comparison: Comparison, figure: str) -> str:
    """A sentence, a figure, a table, and the results that could not be compared."""
    text = "".join(f"<p>{escape(line)}</p>" for line in _headline(comparison))
    missing = "".join(
        f"<li>{escape(gap.entry.title)} on {escape(title_of(gap.dataset))}: {escape(gap.why)}</li>"
        for gap in comparison.missing
    )
    method = escape(" ".join([*reasons(comparison.rows), method_in_words(comparison)]))
    table = f"{to_html(comparison_table(comparison))}<p class=faint>{method}</p>" if comparison.rows else ""
    title = f"<h3>{escape(comparison.a.label)} against {escape(comparison.b.label)}</h3>"
    return f"{title}{text}{figure}{table}{f'<p>Not compared:</p><ul>{missing}</ul>' if missing else ''}"


# --- method, manifest, commands


def _how(entry: Diagnostic) -> str:
    source = f"Source: {entry.citation}. Diagnostic {entry.id}, version {entry.version}."
    return f'<h3>{escape(entry.title)}</h3>{_markdown(entry.explained)}<p class="faint">{escape(source)}</p>'


@cache
def _markdown(text: str) -> str:
    """Markdown as HTML, with its formulas."""
    from markdown_it import MarkdownIt

    made: list[str] = []

    def marked(match: re.Match[str]) -> str:
        made.append(formulas.as_html(match[1] or match[2]))
        return f"{_PLACE}{len(made) - 1}{_PLACE}"

    html = str(MarkdownIt("commonmark", {"html": False}).enable("table").render(_FORMULA.sub(marked, text)))
    return re.sub(f"{_PLACE}([0-9]+){_PLACE}", lambda match: made[int(match[1])], html)


def _manifest(runs: Sequence[RunRecord]) -> str:
    rows = []
    for run in runs:
        manifest = portable(dict(run.manifest))
        encoder, dataset, transform = (manifest.get(name, {}) for name in ("encoder", "dataset", "transform"))
        seeds = ", ".join(f"{name} {seed}" for name, seed in manifest.get("seeds", {}).items())
        rows.append(
            (
                run.run_id,
                f"{_title(run.plan.diagnostic)}, {run.plan.diagnostic_version}",
                f"{portable(run.plan.variant.encoder)} {encoder.get('revision', '')}".strip(),
                _fitted(run.plan.variant, transform),
                f"{portable(run.plan.dataset)} {str(dataset.get('digest', ''))[:16]}",
                seeds or "–",
            )
        )
    heads = ("Run", "Diagnostic, version", "Model, revision", "Post-processing", "Dataset, digest", "Seeds")
    caption = "All runs. This file contains the full manifest of each as JSON, with the versions of all libraries."
    versions = dict.fromkeys(
        version for run in runs for version in [f"python=={run.manifest.get('python', '?')}", *_libraries(run)]
    )
    software = f"<p>Computed with {escape(', '.join(versions))}.</p>" if versions else ""
    return to_html(Table("Runs", heads, tuple(rows), caption, words=len(heads))) + software


def _title(diagnostic: str) -> str:
    entry = all_diagnostics().get(diagnostic)
    return entry.title if entry else diagnostic


def _fitted(variant: Variant, transform: Mapping[str, Any]) -> str:
    on = f", fitted on {transform.get('fitted_on', '–')}" if variant.chain.learns else ""
    return f"{variant.transform}{on}"


def _libraries(run: RunRecord) -> list[str]:
    return [str(name) for name in run.manifest.get("libraries", [])]


def _commands(commands: Sequence[str]) -> str:
    return (
        f"<pre>{escape(chr(10).join(commands))}</pre>"
        '<p class="faint">Your own files appear without their folders; put them where you run the commands. To '
        "compare two reports: blindspot report --compare A.html B.html</p>"
    )
