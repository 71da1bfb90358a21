"""Formats of a report: everything as HTML, tables as Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from blindspot.errors import naming_extras
from blindspot.studies.report.content import Report, summary
from blindspot.studies.report.tables import latex_text, to_latex, to_markdown


def as_html(report: Report) -> str:
    with naming_extras("a report as HTML"):
        from blindspot.studies.report.html import render  # with plotly

    return render(report)


def as_markdown(report: Report) -> str:
    parts = [f"# {report.title}", summary(report)]
    parts += [f"- {discovery.finding.level}: {discovery.finding.said()}" for discovery in report.findings.discoveries]
    return "\n\n".join([*parts, *(to_markdown(table) for table in report.every_table)]) + "\n"


def as_latex(report: Report) -> str:
    head = f"% {latex_text(summary(report))}\n% needs \\usepackage{{booktabs}} and \\usepackage[T1]{{fontenc}}\n\n"
    return head + "\n".join(to_latex(table) for table in report.every_table)


FORMATS: Mapping[str, Callable[[Report], str]] = {".html": as_html, ".md": as_markdown, ".tex": as_latex}
