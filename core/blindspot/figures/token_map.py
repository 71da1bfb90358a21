"""Heat map of the contributions of words to the similarity of two texts, and the same in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from blindspot.encoders.tokens import Role, Token
from blindspot.figures.html_tables import LINE
from blindspot.figures.theme import DIVERGING, Scheme, faint, ink, shade
from blindspot.numerics.statistics.written import NONE, SCORE, number
from blindspot.texts import counted, near_duplicate_key
from blindspot.transforms.contributions import Contributions, Way
from blindspot.types import Float64, Int64

MOST_WORDS = 30  # of a text in the map
MOST_NUMBERS = {True: 8, False: 16}  # columns with room for numbers; True: on half a page
LONGEST_WORD = 18  # characters
SAID = 3  # most words or pairs in each kind of sentence
GROUND = {Scheme.LIGHT: "#FFFFFF", Scheme.DARK: "#12171E"}  # of the page: .streamlit/config.toml
LEAST = 5e-5  # least contribution that is said to lower a similarity
NO_WORD = "(no word)"


@dataclass(frozen=True, eq=False)
class Shown:
    """The part of the contributions that the map shows: numbers of rows and of columns of ``cells``."""

    rows: Int64
    columns: Int64

    @classmethod
    def of(cls, contributions: Contributions) -> Shown:
        """The words of each text that contribute most, in the text's order, without what is cut off."""
        return cls(
            _most(contributions.words[0], contributions.of_words[0]),
            _most(contributions.words[1], contributions.of_words[1]),
        )


def _most(words: Sequence[Token], values: Float64) -> Int64:
    read = np.array([number for number, word in enumerate(words) if word.role is not Role.CUT], dtype=np.int64)
    order = np.argsort(-np.abs(np.nan_to_num(values[read])), kind="stable")
    return np.sort(read[order[:MOST_WORDS]])


def token_map(contributions: Contributions, scheme: Scheme, label: str, *, is_narrow: bool = False) -> str:
    """A table as HTML: a row per word of the first text, a column per word of the second, colored around zero.

    The last row and column have each word's whole contribution. Narrow screens scroll sideways.

    Args:
        label: names the table for screen readers.
        is_narrow: whether another map is beside it.
    """
    shown = Shown.of(contributions)
    cells = contributions.cells[np.ix_(shown.rows, shown.columns)]
    largest = float(np.nanmax(np.abs(cells), initial=0.0)) or 1.0
    has_numbers = len(shown.columns) <= MOST_NUMBERS[is_narrow]
    edge = f"border:1px solid {LINE[scheme]}"
    side = f"color:{faint(scheme)};font-weight:400;white-space:nowrap"
    total = "sum" if contributions.way is Way.SUM else "alone"
    head = "".join(_above(contributions.words[1][j], scheme) for j in shown.columns)
    rows = []
    for i, row in zip(shown.rows, cells, strict=True):
        first = contributions.words[0][i]
        tds = "".join(
            _cell(float(value), largest, first, contributions.words[1][j], has_numbers, scheme)
            for j, value in zip(shown.columns, row, strict=True)
        )
        rows.append(
            f'<tr><th scope="row" title="{_title(first)}" style="position:sticky;left:0;background:{GROUND[scheme]};'
            f"text-align:right;padding:2px 6px;"
            f'{_of_role(first, scheme)};font-weight:400;white-space:nowrap">{_name(first)}</th>{tds}'
            f'<td style="{side};padding:2px 6px;text-align:right">'
            f"{three_digits(float(contributions.of_words[0][i]))}</td></tr>"
        )
    sums = "".join(
        f'<td style="{side};padding:4px 0;text-align:center"><span style="display:inline-block;line-height:1.1;'
        f'{"" if has_numbers else _UPRIGHT}">{three_digits(float(contributions.of_words[1][j]))}</span></td>'
        for j in shown.columns
    )
    corner = three_digits(contributions.cosine) if contributions.way is Way.SUM else ""
    return (
        f'<div style="overflow-x:auto"><table aria-label="{escape(label)}" style="border-collapse:collapse;'
        f'font-size:0.8rem;font-variant-numeric:tabular-nums;color:{ink(scheme)}">'
        f'<thead><tr><th></th>{head}<th scope="col" style="{side};vertical-align:bottom;padding:2px 6px">{total}</th>'
        f'</tr></thead><tbody style="{edge}">{"".join(rows)}</tbody><tfoot><tr><th scope="row" style="{side};'
        f'text-align:right;padding:2px 6px">{total}</th>{sums}<td style="padding:2px 6px;text-align:right">'
        f"<b>{corner}</b></td></tr></tfoot></table></div>"
    )


_UPRIGHT = "writing-mode:vertical-rl;transform:rotate(180deg)"


def _above(word: Token, scheme: Scheme) -> str:
    return (
        f'<th scope="col" title="{_title(word)}" style="vertical-align:bottom;font-weight:400;padding:4px 0;'
        f'{_of_role(word, scheme)}"><span style="{_UPRIGHT};white-space:nowrap;display:inline-block;line-height:1.1">'
        f"{_name(word)}</span></th>"
    )


def _cell(value: float, largest: float, first: Token, second: Token, has_number: bool, scheme: Scheme) -> str:
    written = three_digits(value)
    title = f"{_title(first)} × {_title(second)}: {written}"
    if np.isnan(value):
        return f'<td title="{title}" style="text-align:center">–</td>'
    color = shade(DIVERGING[scheme], 0.5 + 0.5 * value / largest)
    size = "min-width:44px;padding:3px 2px" if has_number else "min-width:20px;height:22px;padding:0"
    inside = written if has_number else f'<span style="font-size:0;opacity:0">{written}</span>'
    return f'<td title="{title}" style="background:{color};text-align:center;{size}">{inside}</td>'


def _name(word: Token) -> str:
    text = word.text or NO_WORD
    return escape(text if len(text) <= LONGEST_WORD else f"{text[: LONGEST_WORD - 1]}…")


def _title(word: Token) -> str:
    role = "" if word.role is Role.WORD else f" ({word.role})"
    return escape(f"{(word.text or NO_WORD)[:200]}{role}")


def _of_role(word: Token, scheme: Scheme) -> str:
    return f"color:{ink(scheme) if word.role is Role.WORD else faint(scheme)}"


def three_digits(value: float) -> str:
    """As ``number``; a dash where there is none."""
    return NONE if np.isnan(value) else number(value, ".3f")


def sentences(contributions: Contributions, names: tuple[str, str]) -> list[str]:
    """What counts most, as sentences of plain text; ``names`` are those of the two texts.

    First the strongest pairs of words (by sum), then the words that only one text has, then the words that lower the
    similarity, or without which it rises.
    """
    pairs = []
    if contributions.way is Way.SUM:
        flat = np.argsort(-contributions.cells, axis=None, kind="stable")[:SAID]
        for i, j in zip(*np.unravel_index(flat, contributions.cells.shape), strict=True):
            if contributions.cells[i, j] > 0:
                first, second = _quoted(contributions.words[0][i]), _quoted(contributions.words[1][j])
                pairs.append(f"{first} with {second} contributes {_precise(float(contributions.cells[i, j]))}")
    keys = [{near_duplicate_key(word.text) for word in words} for words in contributions.words]
    of_one, lowering = [], []
    for side, (words, values) in enumerate(zip(contributions.words, contributions.of_words, strict=True)):
        read = [
            (word, float(value))
            for word, value in zip(words, values, strict=True)
            if word.role not in {Role.CUT, Role.UNKNOWN, Role.ADDED} and not np.isnan(value)
        ]
        alone = [token for token in read if near_duplicate_key(token[0].text) not in {"", *keys[1 - side]}]
        alone = sorted(alone, key=lambda token: -abs(token[1]))[:SAID]
        of_one += [_said(word, value, f"only in the {names[side]}", contributions.way) for word, value in alone]
        lowering += [
            (value, word, names[side]) for word, value in read if value < -LEAST and (word, value) not in alone
        ]
    lowest = sorted(lowering, key=lambda token: token[0])[:SAID]
    return [*pairs, *of_one, *(_said(word, value, f"in the {name}", contributions.way) for value, word, name in lowest)]


def _said(word: Token, value: float, where: str, way: Way) -> str:
    if way is Way.SUM:
        return f"{_quoted(word)}, {where}, contributes {_precise(value)}"
    change = f"{'falls' if value > 0 else 'rises'} by {number(abs(value), SCORE)}"
    return f"Without {_quoted(word)}, {where}, the similarity {change}"


def _quoted(word: Token) -> str:
    text = word.text or NO_WORD
    return f"“{text if len(text) <= 60 else f'{text[:60]}…'}”"


def _precise(value: float) -> str:
    return f"{value:.{3 if abs(value) >= 0.01 else 4}f}".replace("-", "\N{MINUS SIGN}")


def left_out(contributions: Contributions, names: tuple[str, str]) -> list[str]:
    """The words that the map does not show or that count for nothing, as plain text."""
    shown = Shown.of(contributions)
    out = []
    for words, values, kept, name in zip(
        contributions.words, contributions.of_words, (shown.rows, shown.columns), names, strict=True
    ):
        cut = sum(word.role is Role.CUT for word in words)
        if cut:
            out.append(f"The {name} is longer than the model reads: the last {counted(cut, 'word')} count for nothing.")
        more = len(words) - cut - len(kept)
        if more:
            others = float(np.nansum(values) - np.nansum(values[kept]))
            rest = f", the other {more} add up to {three_digits(others)}" if contributions.way is Way.SUM else ""
            out.append(f"Shown: the {len(kept)} words of the {name} that contribute most{rest}.")
        unknown = [word.text for word in words if word.role is Role.UNKNOWN]
        if unknown:
            some = ", ".join(f"“{word[:40]}”" for word in unknown[:5])
            out.append(f"No vector: {some}{' and others' if len(unknown) > 5 else ''} in the {name}.")
    return out
