"""Columns of two values beside a pair of texts, which say whether the two belong together: 0 and 1, yes and no.

Such a file has several readings: as positive pairs, the marked rows; as scored pairs, all rows; as retrieval, with
the mark as a grade. The diagnostic decides; if none is named, the user has to choose.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from blindspot.datasets.user_data import attributes, guess
from blindspot.datasets.user_data.columns import UnclearColumns, is_blank
from blindspot.datasets.user_data.names import MARK_NAMES
from blindspot.errors import InputError
from blindspot.files.tables import JUDGES, FileTable, Nested
from blindspot.texts import column_key

# Pairs of values, the negative one first, by letters, digits and signs only.
_TRUTHS = (
    *(("0", "1"), ("-1", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("nein", "ja")),
    *(("non", "oui"), ("negative", "positive"), ("neg", "pos"), ("different", "same"), ("unique", "duplicate")),
    *(("distinct", "duplicate"), ("contradiction", "entailment"), ("wrong", "right"), ("incorrect", "correct")),
    *(("off", "on"), ("bad", "good"), ("mismatch", "match"), ("dissimilar", "similar"), ("unrelated", "related")),
    # as spreadsheets write false and true in other languages
    *(("falsch", "wahr"), ("faux", "vrai"), ("falso", "verdadero"), ("falso", "vero"), ("falso", "verdadeiro")),
    *(("onwaar", "waar"), ("falskt", "sant"), ("usant", "sant"), ("falsk", "sand"), ("epätosi", "tosi")),
    *(("fałsz", "prawda"), ("nepravda", "pravda"), ("hamis", "igaz"), ("fals", "adevărat"), ("yanliş", "doğru")),
    *(("ложь", "истина"), ("ψευδής", "αληθής")),
    *(("no", "sí"), ("no", "si"), ("no", "sì"), ("não", "sim"), ("nee", "ja"), ("nej", "ja"), ("nei", "ja")),
    *(("ei", "kyllä"), ("nie", "tak"), ("ne", "ano"), ("nem", "igen"), ("nu", "da"), ("hayır", "evet")),
    *(("нет", "да"), ("ні", "так"), ("否", "是"), ("いいえ", "はい"), ("아니요", "예")),
)
# Values of columns that judge pairs in more than two ways.
_VERDICTS = frozenset(
    "neutral maybe unsure unknown unclear partial partially partly somewhat supports refutes supported refuted "
    "notenoughinfo accepted rejected accept reject pass fail passed failed valid invalid exact substitute complement "
    "irrelevant paraphrase nonparaphrase notparaphrase nomatch identical equivalent highlyrelevant".split()
) | {value for truth in _TRUTHS for value in truth if value.isalpha()}
_SIGNS = frozenset("+ - ✓ ✔ ✗ ✘".split())
_TICKS = frozenset("1 x y yes true t ja oui + ✓ ✔".split())  # marks, if all other cells are empty
# Verdicts that mean nothing else, whatever the name of their column.
_SURE = frozenset(
    "entailment contradiction match nomatch mismatch duplicate paraphrase nonparaphrase notparaphrase supports refutes "
    "supported refuted accepted rejected relevant irrelevant similar dissimilar equivalent notenoughinfo".split()
)
_VERDICT_WORDS = frozenset(
    "label labels verdict judgment judgement relation relationship relevance relevant duplicate match matched "
    "paraphrase entailment similarity similar agreement correct quality grade score gold rating target "
    "nli close closeness".split()
)
MOST_VERDICTS = 10
SHOWN_VALUES = 4
_REVERSED = frozenset(
    "negative negatives neg not non no different differs wrong incorrect mismatch unique distinct irrelevant unrelated "
    "dissimilar contradiction error false bad".split()
)
_NEGATIONS = ("not", "non", "no", "un", "ir", "in", "dis")
# Names of columns about a row: they group rows whatever their values are.
ABOUT = frozenset(
    "split fold set subset part partition source origin lang language annotator rater user domain topic genre category "
    "version batch answer sentiment intent".split()
) | (guess.ABOUT - {"label", "labels"})


@dataclass(frozen=True)
class Marks:
    """A column that marks pairs.

    Attributes:
        number: of the column.
        positive: what a marked cell says, as written in the file.
        why: how it was recognized.
    """

    number: int
    positive: str
    why: str


def marks_in(table: FileTable) -> tuple[Marks, ...]:
    """The columns that mark pairs: those with a name for marks, else all with the values of marks."""
    marks_found: list[Marks] = []
    keys = [column_key(name) for name in table.names]
    for number, key in enumerate(keys):
        cells = table.cells[number]
        is_about = not key or key in ABOUT or table.names[number].startswith(attributes.PREFIX)
        if is_about or _is_reversed(table.names[number]) or (key not in MARK_NAMES and _are_row_numbers(cells)):
            continue
        if (positive := positive_of(cells)) is not None:
            why = "by its name and values" if key in MARK_NAMES else "by its values"
            marks_found.append(Marks(number, positive, why))
    named = [marks for marks in marks_found if keys[marks.number] in MARK_NAMES]
    return tuple(named or marks_found)


def mark_in(table: FileTable) -> Marks | None:
    """The column that marks pairs; None if there is none.

    Raises:
        UnclearColumns: there are several.
    """
    marked = marks_in(table)
    if len(marked) > 1:
        names = [table.names[marks.number] for marks in marked]
        raise UnclearColumns(
            f"{table.path}: several columns may say which rows are matches: {', '.join(map(repr, names))}",
            expected="one such column",
            remedy=f"name it with the texts, for example: --query-column NAME --match-column NAME --mark-column "
            f"{shlex.quote(names[0])}",
        )
    return marked[0] if marked else None


def verdicts_in(table: FileTable) -> tuple[int, ...]:
    """Numbers of the columns that may say how two texts belong together but are not marks: with more than two values
    (entailment, neutral, contradiction), with unknown values under such a name, with ticks or empty cells, or with
    marks under a name that may reverse them (``is_negative``)."""
    marks = {marks_of_column.number for marks_of_column in marks_in(table)}
    return tuple(
        number
        for number, name in enumerate(table.names)
        if number not in marks
        and not name.startswith(attributes.PREFIX)
        and (_are_verdicts(name, cells := table.cells[number]) or _are_objects_with_verdicts(name, cells))
    )


def _are_verdicts(name: str, cells: Sequence[object]) -> bool:
    shown = [_key(cell) or str(cell).strip() for cell in cells if not is_blank(cell)]
    values = set(shown)
    has_gaps = len(shown) < len(cells)
    if not values or len(values) > min(MOST_VERDICTS, len(shown) / 2):
        return False
    if _is_reversed(name) and positive_of(cells) is not None:
        return True
    if not values.isdisjoint(_SURE):
        return len(values) > 1 or has_gaps
    if column_key(name) in ABOUT or (values != {"1"} and all(map(is_number, values))):
        return False
    verdicts = values & (_VERDICTS | _SIGNS)
    if len(values) == 1:
        return has_gaps and values <= _TICKS
    return (len(verdicts) > 1 and 2 * len(verdicts) >= len(values)) or bool(guess.words(name) & _VERDICT_WORDS)


def _are_objects_with_verdicts(name: str, cells: Sequence[object]) -> bool:
    """Whether a column has different objects with a verdict each, as they begin: ``{'score': 0, ...``."""
    objects = {str(cell) for cell in cells if isinstance(cell, Nested)}
    names = {column_key(key) for begins in objects for key in re.findall(r"'(\w+)': ", begins)}
    return len(objects) > 1 and bool(names & (JUDGES | {"score", "rating"})) and "metadata" not in guess.words(name)


def _is_reversed(name: str) -> bool:
    return bool(guess.words(name) & _REVERSED)


def in_words(table: FileTable, number: int) -> str:
    """A column and its values, for a question."""
    values = dict.fromkeys(str(cell).strip() or "nothing" for cell in table.cells[number])
    shown = [value if value == "nothing" else f"'{value[:20]}'" for value in values][:SHOWN_VALUES]
    more = ", ..." * (len(values) > SHOWN_VALUES)
    return f"column '{table.names[number][:40]}' ({', '.join(shown)}{more})"


def _are_row_numbers(cells: Sequence[object]) -> bool:
    return len(cells) == 2 and [_key(cell) for cell in cells] == ["0", "1"]


def positive_of(cells: Sequence[object]) -> str | None:
    """The content of a column's marked cells; None if it does not have the two values of a mark."""
    shown: dict[str, str] = {}
    for cell in cells:
        if not is_blank(cell):
            shown.setdefault(_key(cell), str(cell).strip())
            if len(shown) > 2:
                return None
    if len(shown) != 2:
        return None
    left, other = shown
    for negative, positive in ((left, other), (other, left)):
        if (negative, positive) in _TRUTHS or negative in {f"{no}{positive}" for no in _NEGATIONS}:
            return shown[positive]
    return None


def are_marked(table: FileTable, column: int) -> list[bool]:
    """Which rows a column marks; a whole number marks a row if it is above 0.

    Raises:
        InputError: a cell is empty, or the column does not mark rows.
    """
    cells = table.cells[column]
    for row, cell in enumerate(cells):
        if is_blank(cell):
            raise InputError(
                f"{table.where(row, column)}: nothing there",
                expected="whether the row is a match, such as 1 or 0",
                remedy="fill it in or remove the row",
            )
    if (positive := positive_of(cells)) is not None:
        return [is_marked(cell, positive) for cell in cells]
    values = [_number(cell) for cell in cells]
    if all(value is not None and value.is_integer() for value in values):
        return [value is not None and value > 0 for value in values]
    row = next(row for row, value in enumerate(values) if value is None or not value.is_integer())
    raise InputError(
        f"{table.where(row, column)}: '{str(cells[row])[:40]}' does not say whether the row is a match",
        expected="two values, such as 0 and 1, true and false or yes and no; or whole numbers, 0 for no match",
    )


def _number(cell: object) -> float | None:
    try:
        return float(_key(cell))
    except ValueError:
        return None


def with_numbers(table: FileTable, column: int) -> FileTable:
    """A table in which a column's marks are 0 and 1; numbers stay as they are."""
    cells = table.cells[column]
    positive = positive_of(cells)
    if positive is None or all(is_numeral(cell) for cell in cells if not is_blank(cell)):
        return table
    numbers = [cell if is_blank(cell) else int(is_marked(cell, positive)) for cell in cells]
    return replace(table, cells=(*table.cells[:column], numbers, *table.cells[column + 1 :]))


def is_marked(cell: object, positive: str) -> bool:
    """Whether a cell equals ``positive``, which is what ``positive_of`` gives."""
    return _key(cell) == _key(positive)


def is_number(text: str) -> bool:
    return _number(text) is not None


def is_numeral(cell: object) -> bool:
    """Whether a cell is a whole number, perhaps written as 1.0."""
    return not isinstance(cell, bool) and re.fullmatch(r"-?\d+(\.0+)?", _key(cell)) is not None


def _key(cell: object) -> str:
    """A value by letters, digits and signs only: 1.0 is 1, "Not duplicate" is notduplicate."""
    text = str(cell).strip().casefold()
    if re.fullmatch(r"-?\d+\.0*", text):
        text = text.partition(".")[0]
    return text if re.fullmatch(r"-?[\d.e]+", text) else re.sub(r"[\W_]+", "", text)
