"""HTML of the views: the rewrites with their changed words marked, each model's own scale, matrices of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from blindspot.figures.html_tables import LINE, Column, Html, html_table, marked, quiet
from blindspot.figures.theme import SEQUENTIAL, Scheme, faint, ink, shade
from blindspot.figures.token_map import GROUND
from blindspot.runs.own_scale import Spread
from blindspot.studies.sentence.view import Compared, Disagreement, LinesView, Rewrite, SentenceView
from blindspot.texts import Change, Segment, word_changes

NAME_WIDTH = 18  # characters of a model's name above a column
LINE_WIDTH = 48  # characters of a line beside a matrix
ABOVE = "▲"
CLOSE = 45  # percent of the width: names closer to each other have no room on a phone
_UNRELATED = {Scheme.LIGHT: "#CBD2DA", Scheme.DARK: "#465363"}
_PARAPHRASES = {Scheme.LIGHT: "#A9CBE9", Scheme.DARK: "#28507A"}
_KEEPS, _CHANGES = "○", "▲"
LEGEND = (
    f"{_KEEPS} keeps the meaning, {_CHANGES} changes it. Gray and blue: the middle 90% of pairs of unrelated built-in "
    "sentences and of built-in paraphrases in this model."
)


def rewrites_table(view: SentenceView, rewrites: Sequence[Rewrite], scheme: Scheme, label: str) -> str:
    """A row per rewrite: its rule, its text with what changed marked, and its similarity in each model.

    Where there is little room, the numbers of a row are below its text.
    """
    head = _row(Html("rewrite"), [model_name(one.label) for one in view.models], "columnheader", scheme)
    rows = []
    for one in rewrites:
        what = quiet(f"{one.name}: {' '.join(one.change.split())}", scheme, "display:block;font-size:0.8rem")
        text = marked(_worth_marking(word_changes(view.text, one.text)), scheme)
        rows.append(
            _row(Html(f"{what}{text}"), [_number(one, i, scheme) for i in range(len(view.models))], "cell", scheme)
        )
    return (
        f'<div role="table" aria-label="{escape(label)}" style="font-size:0.88rem;color:{ink(scheme)}">'
        f"{head}{''.join(rows)}</div>"
    )


def _row(text: Html, numbers: Sequence[str], role: str, scheme: Scheme) -> str:
    color = f";color:{faint(scheme)};font-size:0.8rem" if role == "columnheader" else ""
    cells = "".join(
        f'<div role="{role}" style="width:4.7rem;text-align:right;overflow-wrap:anywhere">'
        f"{one if isinstance(one, Html) else escape(one)}</div>"
        for one in numbers
    )
    return (
        f'<div role="row" style="display:flex;flex-wrap:wrap;align-items:flex-start;padding:5px 4px;column-gap:8px;'
        f'border-bottom:1px solid {LINE[scheme]}{color}"><div role="{role}" style="flex:1 1 15rem;min-width:0;'
        f'overflow-wrap:anywhere">{text}</div><div role="presentation" style="display:flex;margin-left:auto;'
        f'font-variant-numeric:tabular-nums">{cells}</div></div>'
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


def _number(rewrite: Rewrite, model: int, scheme: Scheme) -> Html:
    value = rewrite.similarities[model]
    if value is None:
        return quiet("no vector", scheme)
    cut = quiet(" cut off", scheme) if rewrite.cut[model] else ""
    if not rewrite.above[model]:
        # as wide as the mark, so that the digits stand below each other
        return Html(f'{value:.3f} <span style="visibility:hidden" aria-hidden="true">{ABOVE}</span>{cut}')
    said = "more similar than a rewrite that keeps the meaning"
    return Html(f'<b>{value:.3f}</b> <span title="{said}" aria-label="{said}">{ABOVE}</span>{cut}')


def strip(view: SentenceView, model: int, scheme: Scheme) -> str:
    """The counted rewrites on a model's own scale, as one line from its least similar to 1."""
    judged = view.models[model]
    shown = [(value, one) for one in view.rewrites if one.is_counted and (value := one.similarities[model]) is not None]
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
    names = [f"{name} {one.median:.2f}" for name, one in zip(("unrelated", "paraphrases"), spreads, strict=True)]
    at = [place(one.median) for one in spreads]
    if at[1] - at[0] < CLOSE:  # one label, so that two do not run into each other
        names, at = [" · ".join(names)], [sum(at) / 2]
    labels = "".join(
        f'<span style="position:absolute;left:{where:.2f}%;top:35px;transform:translateX(-{where:.0f}%);'
        f'font-size:0.78rem;white-space:nowrap;color:{faint(scheme)}">{name}</span>'
        for name, where in zip(names, at, strict=True)
    )
    marks = "".join(
        f'<span title="{escape(f"{one.name} {value:.3f}")}" style="position:absolute;left:{place(value):.2f}%;'
        f"top:{'0' if one.keeps else '17px'};transform:translateX(-50%);font-size:13px;line-height:17px;"
        f'color:{ink(scheme)}">{_KEEPS if one.keeps else _CHANGES}</span>'
        for value, one in shown
    )
    said = f"{scale.in_words()} Rewrites: " + ", ".join(f"{one.name} {value:.3f}" for value, one in shown)
    return (
        f'<div role="img" aria-label="{escape(said)}" style="position:relative;height:54px;margin:2px 10px 0 10px;'
        f'color:{ink(scheme)}"><div style="position:absolute;left:0;right:0;top:16px;height:1px;'
        f'background:{LINE[scheme]}"></div>{bands}{labels}{marks}</div>'
    )


def _band(spread: Spread, place: Callable[[float], float], color: str) -> str:
    left, right = place(spread.low), place(spread.high)
    return (
        f'<div style="position:absolute;left:{left:.2f}%;width:{max(right - left, 0.5):.2f}%;top:8px;height:17px;'
        f'border-radius:3px;background:{color}"></div>'
    )


def matrix(view: LinesView, model: int, scheme: Scheme) -> str:
    """All lines against all in a model, colored from unrelated sentences to paraphrases on its own scale."""
    one = view.models[model]
    edge = f"border:1px solid {LINE[scheme]}"
    side = f"color:{faint(scheme)};font-weight:400"
    head = "".join(
        f'<th scope="col" title="{escape(line)}" style="{side};padding:2px 4px">{number}</th>'
        for number, line in enumerate(view.lines, 1)
    )
    rows = []
    for number, (line, values) in enumerate(zip(view.lines, one.similarities, strict=True), 1):
        cells = "".join(_cell(one, value, column == number, scheme) for column, value in enumerate(values, 1))
        shown = line if len(line) <= LINE_WIDTH else f"{line[: LINE_WIDTH - 1]}…"
        rows.append(
            f'<tr><th scope="row" title="{escape(line)}" style="text-align:left;font-weight:400;padding:2px 8px;'
            f"position:sticky;left:0;background:{GROUND[scheme]};"
            f'min-width:8rem;max-width:18rem;overflow-wrap:anywhere">{quiet(str(number), scheme)} {escape(shown)}</th>'
            f"{cells}</tr>"
        )
    label = f"Similarities of the lines in {one.label}"
    return (
        f'<div style="overflow-x:auto"><table aria-label="{escape(label)}" style="border-collapse:collapse;'
        f'font-size:0.82rem;font-variant-numeric:tabular-nums;color:{ink(scheme)}"><thead><tr><th></th>{head}</tr>'
        f'</thead><tbody style="{edge}">{"".join(rows)}</tbody></table></div>'
    )


def _cell(one: Compared, value: float | None, is_itself: bool, scheme: Scheme) -> str:
    style = "padding:3px 4px;text-align:center;min-width:40px"
    if is_itself or value is None:
        return f'<td style="{style};color:{faint(scheme)}">{"·" if is_itself else "–"}</td>'
    color = ""
    if one.scale is not None and (place := one.scale.place(value)) == place:
        color = f";background:{shade(SEQUENTIAL[scheme], place)}"
    return f'<td style="{style}{color}">{value:.2f}</td>'


def disagreements_table(view: LinesView, scheme: Scheme) -> str:
    """The pairs of lines that two models place most differently."""
    rows = []
    for found in view.disagreements:
        first, second = (f"{number + 1} {view.lines[number]}" for number in found.lines)
        near, far = (_side(view, found, side) for side in (0, 1))
        rows.append((Html(f"{escape(first)}<br>{escape(second)}"), near, far))
    columns = (Column("lines", style="overflow-wrap:anywhere;min-width:9rem"), Column("nearer in"), Column("than in"))
    return html_table(columns, rows, scheme, "Pairs of lines that two models see most differently")


def _side(view: LinesView, found: Disagreement, side: int) -> str:
    label = model_name(view.models[found.models[side]].label)
    return f"{label}: {found.similarities[side]:.3f}, {found.places[side]:.0%} of the way"
