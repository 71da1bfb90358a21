"""Guesses at columns of a user's file with unknown names: which have texts, and which two form a pair.

Ids have no spaces, labels have few different values, dates and numbers have no letters. Of the remaining text columns,
the two longest form a pair, unless exactly two names mean a query and its answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from blindspot.datasets.user_data.attributes import PREFIX
from blindspot.datasets.user_data.columns import MISSING
from blindspot.files.tables import ColumnKind, FileTable
from blindspot.texts import column_key

SAMPLE = 2_000  # cells of a column that are read, from the first to the last in equal steps
FEW = 0.2  # labels have at most so many different values per row ...
FEW_IF_NAMED = 0.5  # ... or so many where the column's name says so too
LABEL_WORDS = 3.0  # at most, on average, in a label
CLEARLY = 2.0  # so many times as long as the third longest column are the two of a pair
QUERY_WORDS = frozenset("query question anchor search utterance request".split())
MATCH_WORDS = frozenset(
    "match positive answer passage paragraph document doc context response reply chunk article paraphrase duplicate "
    "relevant solution".split()
) | {"mate"}
# Names of columns about a row; compared by letters and digits only.
ABOUT_IN_WORDS = frozenset("note notes comment comments remark remarks reason reasons explanation".split())
ABOUT = ABOUT_IN_WORDS | frozenset(
    "id idx index uid no nr num number row rownumber line lineno key source sources url link label labels category "
    "categories class type kind topic domain genre split fold set date time author annotator rater user name language "
    "lang file filename path status tag tags pos".split()
)
ID_WORDS = frozenset("id ids uid uuid guid key hash url uri link slug code".split())
SURE_ID_WORDS = frozenset("id ids uid uuid guid qid pid docid corpusid".split())
SCORE_WORDS = frozenset(
    "score scores similarity sim relatedness rating ratings cosine cos gold agreement rater annotator judge relevance "
    "relevancy grade grades confidence certainty probability probabilities prob probs proba likelihood logit logits "
    "weight percent percentage pct points stars vote votes upvotes clicks likert closeness overlap "
    # German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese
    "ähnlichkeit bewertung punkte punktzahl übereinstimmung similarité évaluation similitud parecido "
    "puntuación puntaje puntos calificación valoración somiglianza similarità punteggio voto giudizio similaridade "
    "semelhança pontuação nota avaliação gelijkenis overeenkomst beoordeling podobieństwo ocena сходство оценка "
    "相似度 分数 评分 類似度 スコア".split()
)
DISTANCE_WORDS = frozenset(
    "distance distances dist dissimilarity difference rank ranking ranks loss perplexity error "
    # German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese
    "abstand distanz unähnlichkeit unterschied rang dissimilarité différence écart distancia disimilitud diferencia "
    "distanza dissimilarità differenza distância dissimilaridade diferença afstand verschil odległość różnica "
    "расстояние различие ранг 距离 距離 相違度".split()
)
# Numbers under a name with such a word do not say how similar two texts are.
MEASURES = frozenset(
    "year years month day hour time timestamp page pages chapter section position offset start end length len size "
    "width height words tokens token chars characters count counts frequency freq views price cost amount age version "
    "turn round step epoch batch cluster lat lon latitude longitude latency duration seconds ms bytes seed hops "
    "qid pid docid".split()
)
NEGATIVE_WORDS = frozenset(
    "negative negatives neg negs rejected distractor distractors irrelevant bad wrong incorrect unacceptable "
    "ungrammatical less contradiction prediction predictions predicted".split()
)
# A match with such a word in its name does not mean the same; elsewhere these are names of other things, too.
OPPOSITE_WORDS = NEGATIVE_WORDS | frozenset(
    "negated negation antonym antonyms opposite contradicting unrelated random dissimilar".split()
)
SCALE = 10  # whole numbers of a scale are at most so large ...
STEPS = 11  # ... and at most so many
LABEL_NAMES = ABOUT | frozenset("product intent sentiment department group team status channel priority".split())

IDS, LABELS, NO_LETTERS = "ids", "few different values", "no letters"
ONE_VALUE, SAME_TEXTS = "the same text in every row", "the texts of another column"
FIRST, SECOND = "first text column", "second text column"
ONLY = "the only two columns of texts"
LONGEST = "one of the two longest columns"
BY_NAME = "by its name"
BY_WORD = "by a word in its name"


@dataclass(frozen=True)
class PairGuess:
    """Numbers of the columns of a pair, and the reasons for them and against others.

    Attributes:
        pair: (query, match); the likeliest if it is not clear; None if there are no two columns of texts.
        whys: the reasons for these two.
        is_clear: whether no other pair is about as likely.
        left_out: for each other column of text, by number, the reason why it is not in the pair.
    """

    pair: tuple[int, int] | None
    whys: tuple[str, str] = ("", "")
    is_clear: bool = False
    left_out: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Column:
    number: int
    words: frozenset[str]  # of its name
    cells: tuple[str, ...]

    @property
    def spaced(self) -> float:
        """The share of cells that have several words, or are in a script that may not separate words."""
        return sum(len(cell.split()) > 1 or not cell.isascii() for cell in self.cells) / len(self.cells)

    @property
    def distinct(self) -> float:
        return len(set(self.cells)) / len(self.cells)

    @property
    def length(self) -> float:
        return sum(map(len, self.cells)) / len(self.cells)

    @property
    def has_letters(self) -> bool:
        return any(character.isalpha() for cell in self.cells for character in cell)

    @property
    def is_named_id(self) -> bool:
        """Whether the name and every cell say that these are ids, and so not words either."""
        numbered = all(any(character.isdigit() for character in cell) for cell in self.cells)
        return bool(self.words & SURE_ID_WORDS) and not self.spaced and numbered

    @property
    def looks_like_ids(self) -> bool:
        """Whether there are no spaces and either all cells differ and have a digit, or the name says so."""
        if self.spaced:
            return False
        numbered = all(any(character.isdigit() for character in cell) for cell in self.cells)
        return bool(self.words & ID_WORDS) or (numbered and self.distinct == 1)

    @property
    def looks_like_labels(self) -> bool:
        may_repeat = self.words & QUERY_WORDS or (self.words & MATCH_WORDS and self.spaced)  # not yes and no
        if may_repeat and not self.words & LABEL_NAMES:
            return False  # the same few queries with many matches each, or the other way round
        most = FEW_IF_NAMED if self.words & LABEL_NAMES else FEW
        words = sum(len(cell.split()) for cell in self.cells) / len(self.cells)
        return self.distinct <= most and words <= LABEL_WORDS


def text_columns(table: FileTable, besides: AbstractSet[int | None] = frozenset()) -> tuple[list[int], dict[int, str]]:
    """Numbers of the columns with texts, and the reason against every other column of strings.

    If all columns look like ids, or all like labels, then none is: they have words.

    Args:
        besides: numbers of columns that are known to have something else.
    """
    columns = [
        column
        for number, kind in enumerate(table.kinds)
        if kind is ColumnKind.TEXT and number not in besides and (column := _column(table, number)).cells
    ]
    left_out = {column.number: IDS for column in columns if column.is_named_id}
    first: dict[tuple[str, ...], int] = {}
    of_one_text = [column for column in columns if column.cells[2:] and column.distinct * len(column.cells) == 1]
    for column in columns:
        if column in of_one_text and len(of_one_text) < len(columns) and not column.words & QUERY_WORDS:
            left_out.setdefault(column.number, ONE_VALUE)
        elif first.setdefault(column.cells, column.number) != column.number:
            left_out.setdefault(column.number, SAME_TEXTS)
    columns = [column for column in columns if column.number not in left_out]
    prose = sum(column.spaced >= 0.5 for column in columns)
    for what_else in (_is_without_letters, _is_ids, _is_labels):
        why = {column.number: what for column in columns if (what := what_else(column, prose >= 2))}
        if len(why) < len(columns):
            left_out |= why
            columns = [column for column in columns if column.number not in why]
    return [column.number for column in columns], left_out


def pair(table: FileTable, besides: AbstractSet[int | None] = frozenset()) -> PairGuess:
    """The two columns of a pair among the columns of text; ``besides`` as in ``text_columns``."""
    numbers, left_out = text_columns(table, besides)
    if len(numbers) < 2:
        return PairGuess(None, left_out=left_out)
    columns = [_column(table, number) for number in numbers]
    queries = [column for column in columns if column.words & QUERY_WORDS and not column.words & MATCH_WORDS]
    matches = [column for column in columns if column.words & MATCH_WORDS and not column.words & QUERY_WORDS]
    if len(queries) == len(matches) == 1:
        return PairGuess((queries[0].number, matches[0].number), (BY_WORD, BY_WORD), is_clear=True, left_out=left_out)
    by_length = sorted(columns, key=lambda column: -column.length)
    is_clear = len(columns) == 2 or by_length[1].length >= CLEARLY * by_length[2].length
    as_likely = by_length if is_clear else [c for c in columns if c.length * CLEARLY > by_length[1].length]
    chosen = sorted(as_likely[:2], key=lambda column: (column in matches, column not in queries, column.number))
    whys = (LONGEST, LONGEST) if len(columns) > 2 else (ONLY, ONLY) if left_out else (FIRST, SECOND)
    first, second = (column.number for column in chosen)
    if whys == (FIRST, SECOND) and first > second:
        whys = (BY_WORD, BY_WORD)
    return PairGuess((first, second), whys, is_clear, left_out)


def _is_without_letters(column: _Column, _among_prose: bool) -> str:
    return "" if column.has_letters else NO_LETTERS


def _is_ids(column: _Column, among_prose: bool) -> str:
    """The reason why a column has ids; "" if not. ``among_prose``: at least two columns have cells of several words."""
    return IDS if column.looks_like_ids or (among_prose and not column.spaced and column.distinct == 1) else ""


def _is_labels(column: _Column, among_prose: bool) -> str:
    return LABELS if column.looks_like_labels or (among_prose and not column.spaced) else ""


def classes(table: FileTable) -> tuple[int, ...]:
    """Numbers of the columns that may be the class of the only column of text: with few different values, truth values
    or few whole numbers; none where there are more columns of text, or none."""
    texts, left_out = text_columns(table)
    if len(texts) != 1:
        return ()
    return tuple(
        number
        for number, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True))
        if left_out.get(number) == LABELS
        or (kind is ColumnKind.NUMBER and not words(name) & (MEASURES | ID_WORDS) and _are_codes(table.cells[number]))
    )


def _are_codes(cells: Sequence[object]) -> bool:
    """Whether these numbers are both truth values, or some of few whole numbers."""
    values = [float(cell) for cell in cells if isinstance(cell, bool)] or _values(ColumnKind.NUMBER, cells)
    return len(set(values)) > 1 and all(value.is_integer() for value in values) and _are_on_a_scale(values)


def scores(table: FileTable) -> tuple[int, ...]:
    """Numbers of the columns that may say how similar the texts of a pair are, or how far apart: numbers under a name
    with such a word (``human_score``, ``rater1``, ``cosine_distance``), and fractions or few small whole numbers,
    unless the name says that they are something else (``year``)."""
    return tuple(
        number
        for number, name in enumerate(table.names)
        if column_key(name) not in ABOUT - ABOUT_IN_WORDS
        and not name.startswith(PREFIX)
        and _may_score(name, table.kinds[number], table.cells[number])
    )


def _may_score(name: str, kind: ColumnKind, cells: Sequence[object]) -> bool:
    is_named = bool(words(name) & (SCORE_WORDS | DISTANCE_WORDS))
    values = _values(kind, cells, _WITH_UNIT if is_named else _DISGUISED)
    if len(set(values)) < 2:
        return False
    is_other = words(name) & (MEASURES | (ABOUT - ABOUT_IN_WORDS) | ID_WORDS) or not _are_on_a_scale(values)
    return is_named or not is_other


def _values(kind: ColumnKind, cells: Sequence[object], disguised: re.Pattern[str] | None = None) -> list[float]:
    """The numbers of a column, also disguised as text by a decimal comma, a percent sign or other text in less than
    half of the cells, or a few in each cell, as several people gave them; otherwise empty."""
    present = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    if kind is ColumnKind.NUMBER:
        return [float(cell) for cell in present if cell not in ("True", "False") and not math.isnan(float(cell))]
    if all(map(_SEVERAL.fullmatch, present)):
        return [float(number) for cell in present for number in re.findall(_ONE, cell)]
    rated = [cell for cell in present if cell.casefold() not in MISSING]
    numbers = [match for cell in rated if disguised and (match := disguised.fullmatch(cell))]
    if kind is not ColumnKind.TEXT or 2 * len(numbers) <= len(rated):
        return []
    return [float(match[1].translate(_AS_FLOAT)) / (100 if "%" in match[0] else 1) for match in numbers]


_ONE = r"-?[0-9]+(?:\.[0-9]+)?"
_SEVERAL = re.compile(rf"\[ *{_ONE}(?:, *{_ONE}){{0,14}} *\]|{_ONE}(?: *[;|] *{_ONE}){{1,14}}")
_AS_FLOAT = str.maketrans({",": ".", "\N{MINUS SIGN}": "-"})
_DECIMAL = r"([-+\N{MINUS SIGN}]?[0-9]+(?:[.,][0-9]+)?)"
_DISGUISED = re.compile(rf"{_DECIMAL}(?: ?%| ?/ ?[0-9]+)?")
_WITH_UNIT = re.compile(rf"[~≈<>≤≥=]* ?{_DECIMAL} ?(?:%|/ ?[0-9]+|out of [0-9]+|[^\W\d_]{{1,10}}\.?|★+)?")


def _are_on_a_scale(values: Sequence[float]) -> bool:
    """Whether there are fractions, or few small whole numbers, each twice on average."""
    if any(not value.is_integer() for value in values):
        return True
    distinct = set(values)
    return len(distinct) <= min(STEPS, len(values) / 2) and all(abs(value) <= SCALE for value in distinct)


def is_distance(name: str) -> bool:
    """Whether a column's name says that higher means less similar."""
    return bool(words(name) & DISTANCE_WORDS)


def _column(table: FileTable, number: int) -> _Column:
    cells: Sequence[object] = table.cells[number]
    some = cells[:: max(1, len(cells) // SAMPLE)]
    texts = tuple(cell.strip() for cell in some if isinstance(cell, str) and cell.strip())
    return _Column(number, words(table.names[number]), texts)


def words(name: str) -> frozenset[str]:
    """The words of a column's name: ``kbArticle_chunk2`` has kb, article and chunk."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[^\W\d_]+", apart.casefold()))
