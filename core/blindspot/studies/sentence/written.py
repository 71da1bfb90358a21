"""HTML of the views: the rewrites with their changed words marked, each model's own scale, matrices of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from blindspot.figures.html_tables import LINE, Column, Html, html_table, marked, quiet
from blindspot.figures.theme import SEQUENTIAL, Scheme, faint, ink, shade
from blindspot.figures.token_map import GROUND
from blindspot.numerics.statistics.written import number, percent
from blindspot.runs.own_scale import Spread
from blindspot.studies.sentence.view import Compared, Disagreement, Judged, LinesView, Rewrite, SentenceView
from blindspot.texts import Change, Segment, word_changes

NAME_WIDTH = 18  # characters of a model's name above a column
LINE_WIDTH = 48  # characters of a line beside a matrix
ABOVE = "▲"
CLOSE = 45  # percent of the width: names closer to each other have no room on a phone
_UNRELATED = {Scheme.LIGHT: "#CBD2DA", Scheme.DARK: "#465363"}
_PARAPHRASES = {Scheme.LIGHT: "#A9CBE9", Scheme.DARK: "#28507A"}
_KEEPS, _CHANGES = "○", "▲"
NONE_APPLIES = '<p class="try-note">No rule of this kind applies.</p>'
LEGEND = (
    f"{_KEEPS} keeps the meaning, {_CHANGES} changes it. Gray and blue: the middle 90% of pairs of unrelated built-in "
    "sentences and of built-in paraphrases in this model."
)


def sentence(view: SentenceView, scheme: Scheme) -> str:
    """What each model makes of the counted rewrites, on its own scale; the rewrites; which rules do not apply.

    One piece of HTML, not an element of Streamlit's for each part: a browser draws it in half the time.
    """
    judged = [_judged(view, number, model, scheme) for number, model in enumerate(view.models)]
    has_scales = any(model.scale for model in view.models) and view.rewrites
    legend = f'<p class="try-note">{LEGEND}</p>' if has_scales else ""
    groups = (
        ("Keeps the meaning", view.group(keeps=True)),
        ("Changes the meaning", view.group(keeps=False)),
    )
    tables = "".join(
        f"<div><b>{title}</b>{_table(view, rewrites, title, scheme) if rewrites else NONE_APPLIES}</div>"
        for title, rewrites in groups
    )
    how = (
        f"Most similar first, by {view.models[0].label}. Underlined: added. Struck through: removed. "
        f"{ABOVE}: more similar than a rewrite that keeps the meaning."
    )
    passed = f'<p class="try-note">Not applied: {escape(view.passed_in_words())}.</p>' if view.passed_over else ""
    return (
        f'{_style(scheme)}<div class="try">{"".join(judged)}{legend}<div class="try-groups">{tables}</div>'
        f'<p class="try-note">{escape(how)}</p>{passed}</div>'
    )


def not_counted(view: SentenceView, scheme: Scheme) -> str:
    """Padding and position; "" where they were not asked for."""
    title, apart = "Padding and position", view.group(keeps=True, is_counted=False)
    return f'{_style(scheme)}<div class="try">{_table(view, apart, title, scheme)}</div>' if apart else ""


def _style(scheme: Scheme) -> str:
    """Rules for both, since a browser checks each style that an element has of its own."""
    quiet_text = f"color:{faint(scheme)};font-size:0.875rem"
    return f"""<style>
.try {{color:{ink(scheme)}}}
.try p {{margin:0 0 0.5rem}}
.try .try-note {{{quiet_text};margin:0.5rem 0}}
.try-groups {{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}}
.try [role=table] {{font-size:0.88rem;margin-top:0.25rem}}
.try [role=row] {{display:flex;flex-wrap:wrap;align-items:flex-start;padding:5px 4px;column-gap:8px;
  border-bottom:1px solid {LINE[scheme]}}}
.try-text {{flex:1 1 15rem;min-width:0;overflow-wrap:anywhere}}
.try-text > span, .try [role=columnheader] {{color:{faint(scheme)};font-size:0.8rem}}
.try-text > span {{display:block}}
.try-numbers {{display:flex;margin-left:auto;font-variant-numeric:tabular-nums}}
.try-numbers > div {{width:4.7rem;padding-right:1rem;text-align:right;overflow-wrap:anywhere}}
.try-above {{display:inline-block;width:1rem;margin-right:-1rem}}
.try-scale {{position:relative;height:54px;margin:2px 10px 8px 10px}}
.try-scale > * {{position:absolute}}
.try-line {{left:0;right:0;top:16px;height:1px;background:{LINE[scheme]}}}
.try-band {{top:8px;height:17px;border-radius:3px}}
.try-of {{top:35px;font-size:0.78rem;white-space:nowrap;color:{faint(scheme)}}}
.try-scale > b {{top:17px;transform:translateX(-50%);font-size:13px;line-height:17px;font-weight:400}}
.try-scale > b.try-keeps {{top:0}}
</style>"""


def _judged(view: SentenceView, number: int, judged: Judged, scheme: Scheme) -> str:
    notes = "".join(f'<p class="try-note">{escape(note)}</p>' for note in judged.notes)
    scale = _strip(view, number, scheme)
    if judged.scale is None:
        scale = '<p class="try-note">No scale of its own: it has vectors for too few of the built-in sentences.</p>'
    return f"<p><b>{escape(judged.label)}</b>: {escape(judged.said)}</p>{notes}{scale}"


def _table(view: SentenceView, rewrites: Sequence[Rewrite], label: str, scheme: Scheme) -> str:
    """A row per rewrite: its rule, its text with what changed marked, and its similarity in each model.

    Where there is little room, the numbers of a row are below its text.
    """
    rows = [_row("rewrite", [escape(model_name(model.label)) for model in view.models], "columnheader")]
    for rewrite in rewrites:
        text = marked(_worth_marking(word_changes(view.text, rewrite.text)), scheme)
        what = escape(f"{rewrite.name}: {' '.join(rewrite.change.split())}")
        rows.append(_row(f"<span>{what}</span>{text}", [_number(rewrite, i) for i in range(len(view.models))], "cell"))
    return f'<div role="table" aria-label="{escape(label)}">{"".join(rows)}</div>'


def _row(text: str, numbers: Sequence[str], role: str) -> str:
    """Of HTML."""
    cells = "".join(f'<div role="{role}">{cell}</div>' for cell in numbers)
    return (
        f'<div role="row"><div role="{role}" class="try-text">{text}</div>'
        f'<div role="presentation" class="try-numbers">{cells}</div></div>'
    )


def _worth_marking(segments: Sequence[Segment]) -> Sequence[Segment]:
    """Without what was removed, where that is most of the sentence: all in capitals, say, or in another order."""
    removed, kept = (
        sum(len(s.text.strip()) for s in segments if s.change is change) for change in (Change.REMOVED, Change.KEPT)
    )
    is_cut = not any(segment.change is Change.ADDED for segment in segments)
    return segments if removed <= kept or is_cut else [s for s in segments if s.change is not Change.REMOVED]


def model_name(label: str) -> str:
    return label if len(label) <= NAME_WIDTH else f"{label[: NAME_WIDTH - 1]}…"


def _number(rewrite: Rewrite, model: int) -> str:
    value = rewrite.similarities[model]
    if value is None:
        return "no vector"
    cut = " cut off" if rewrite.cut[model] else ""
    if not rewrite.above[model]:
        return f"{number(value, '.3f')}{cut}"
    text = "more similar than a rewrite that keeps the meaning"
    return (
        f'<b>{number(value, ".3f")}</b><span class="try-above" title="{text}" aria-label="{text}">{ABOVE}</span>{cut}'
    )


def _strip(view: SentenceView, model: int, scheme: Scheme) -> str:
    """The counted rewrites on a model's own scale, as one line from its least similar to 1."""
    judged = view.models[model]
    shown = [
        (value, rewrite)
        for rewrite in view.rewrites
        if rewrite.is_counted and (value := rewrite.similarities[model]) is not None
    ]
    if judged.scale is None or not shown:
        return ""
    scale = judged.scale
    low = min(scale.unrelated.low, *(value for value, _ in shown))
    width = max(1.0 - low, 1e-9)

    def place(value: float) -> float:
        return 100 * (min(value, 1.0) - low) / width

    spreads = (scale.unrelated, scale.paraphrases)
    bands = "".join(
        _band(spread, place, color)
        for spread, color in zip(spreads, (_UNRELATED[scheme], _PARAPHRASES[scheme]), strict=True)
    )
    names = [
        f"{name} {number(spread.median)}" for name, spread in zip(("unrelated", "paraphrases"), spreads, strict=True)
    ]
    at = [place(spread.median) for spread in spreads]
    if at[1] - at[0] < CLOSE:  # one label, so that two do not run into each other
        names, at = [" · ".join(names)], [sum(at) / 2]
    labels = "".join(
        f'<span class="try-of" style="left:{where:.2f}%;transform:translateX(-{where:.0f}%)">{name}</span>'
        for name, where in zip(names, at, strict=True)
    )
    marks = "".join(
        f'<b class="{"try-keeps" if rewrite.keeps else ""}" title="{escape(rewrite.name)} {number(value, ".3f")}" '
        f'style="left:{place(value):.2f}%">{_KEEPS if rewrite.keeps else _CHANGES}</b>'
        for value, rewrite in shown
    )
    description = f"{scale.in_words()} Rewrites: " + ", ".join(
        f"{rewrite.name} {number(value, '.3f')}" for value, rewrite in shown
    )
    return (
        f'<div role="img" aria-label="{escape(description)}" class="try-scale"><div class="try-line"></div>'
        f"{bands}{labels}{marks}</div>"
    )


def _band(spread: Spread, position_of: Callable[[float], float], color: str) -> str:
    left, right = position_of(spread.low), position_of(spread.high)
    return (
        f'<div class="try-band" style="left:{left:.2f}%;width:{max(right - left, 0.5):.2f}%;background:{color}"></div>'
    )


def matrix(view: LinesView, model: int, scheme: Scheme) -> str:
    """All lines against all in a model, colored from unrelated sentences to paraphrases on its own scale."""
    compared = view.models[model]
    edge = f"border:1px solid {LINE[scheme]}"
    side = f"color:{faint(scheme)};font-weight:400"
    head = "".join(
        f'<th scope="col" title="{escape(line)}" style="{side};padding:2px 4px">{number}</th>'
        for number, line in enumerate(view.lines, 1)
    )
    rows = []
    for row, (line, values) in enumerate(zip(view.lines, compared.similarities, strict=True), 1):
        cells = "".join(_cell(compared, value, column == row, scheme) for column, value in enumerate(values, 1))
        shown = line if len(line) <= LINE_WIDTH else f"{line[: LINE_WIDTH - 1]}…"
        rows.append(
            f'<tr><th scope="row" title="{escape(line)}" style="text-align:left;font-weight:400;padding:2px 8px;'
            f"position:sticky;left:0;background:{GROUND[scheme]};"
            f'min-width:8rem;max-width:18rem;overflow-wrap:anywhere">{quiet(str(row), scheme)} {escape(shown)}</th>'
            f"{cells}</tr>"
        )
    label = f"Similarities of the lines in {compared.label}"
    return (
        f'<div style="overflow-x:auto"><table aria-label="{escape(label)}" style="border-collapse:collapse;'
        f'font-size:0.82rem;font-variant-numeric:tabular-nums;color:{ink(scheme)}"><thead><tr><th></th>{head}</tr>'
        f'</thead><tbody style="{edge}">{"".join(rows)}</tbody></table></div>'
    )


def _cell(compared: Compared, value: float | None, is_itself: bool, scheme: Scheme) -> str:
    style = "padding:3px 4px;text-align:center;min-width:40px"
    if is_itself or value is None:
        return f'<td style="{style};color:{faint(scheme)}">{"·" if is_itself else "–"}</td>'
    color = ""
    if compared.scale is not None and (share := compared.scale.place(value)) == share:
        color = f";background:{shade(SEQUENTIAL[scheme], share)}"
    return f'<td style="{style}{color}">{number(value)}</td>'


def disagreements_table(view: LinesView, scheme: Scheme) -> str:
    """The pairs of lines that two models place most differently."""
    rows = []
    for disagreement in view.disagreements:
        first, second = (f"{line + 1} {view.lines[line]}" for line in disagreement.lines)
        near, far = (_side(view, disagreement, side) for side in (0, 1))
        rows.append((Html(f"{escape(first)}<br>{escape(second)}"), near, far))
    columns = (Column("lines", style="overflow-wrap:anywhere;min-width:9rem"), Column("nearer in"), Column("than in"))
    return html_table(columns, rows, scheme, "Pairs of lines that two models see most differently")


def _side(view: LinesView, disagreement: Disagreement, side: int) -> str:
    label = model_name(view.models[disagreement.models[side]].label)
    return f"{label}: {number(disagreement.similarities[side], '.3f')}, {percent(disagreement.places[side])} of the way"
