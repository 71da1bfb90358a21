"""A user's own file (``file:PATH``), read as the kind that its header or its reference says, or folder
(``dir:PATH``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from statistics import median

from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.user_data import guess, judged, labeled_texts, probing, retrieval_folder
from blindspot.datasets.user_data.columns import (
    LABEL,
    MARK,
    MATCH,
    NO_ROLE,
    RELEVANCE,
    SCORE,
    SPLIT,
    OwnFile,
    OwnSource,
    UnclearColumns,
    first_named,
    is_blank,
    shortened,
)
from blindspot.datasets.user_data.guess import text_columns
from blindspot.datasets.user_data.judged import Marks
from blindspot.datasets.user_data.kinds import OWN_KINDS
from blindspot.datasets.user_data.names import LIST_NAMES, MARK_NAMES, NEGATIVE_NAMES, SCORE_NAMES, WEAK_LABEL_NAMES
from blindspot.datasets.user_data.reference import FOLDER_PREFIX, PREFIX, NamedColumns, OwnReference, is_own, path_of
from blindspot.datasets.user_data.scored_pairs import score_column
from blindspot.datasets.user_data.text_remarks import MANY_TEXTS, about_texts
from blindspot.errors import InputError
from blindspot.files import no_rows, tables
from blindspot.files.tables import ColumnKind, FileFormat, FileTable
from blindspot.texts import column_key

__all__ = ["FOLDER_PREFIX", "PREFIX", "OwnTable", "find", "is_own", "parse", "path_of", "read", "tabulate"]

RECORD = "upload.json"  # beside the copy that an upload keeps
LONGEST_WORD = 15  # characters
MOST_CODED = 10  # different values of a column of classes or verdicts
_PERMISSIONS = "check the path and its permissions"


@dataclass(frozen=True)
class OwnTable:
    """A file with known columns, before its texts are read.

    Attributes:
        is_confirmed: a reader has seen how it is read: the copy that an upload keeps is not asked about again.
    """

    table: FileTable
    is_confirmed: bool = False

    @cached_property
    def likeliest(self) -> DatasetKind:
        """The kind that the header tells, else positive pairs. Computed once: it may have to read the cells."""
        return next((kind for kind, each in OWN_KINDS.items() if each.matches_header(self.table)), DatasetKind.PAIR_SET)

    @cached_property
    def marks(self) -> tuple[Marks, ...]:
        """The columns that say which pairs of texts are matches; empty for a file of another kind."""
        if self.likeliest not in _OF_PAIRS:
            return ()
        marks = judged.marks_in(self.table)
        if not marks or self.likeliest in (DatasetKind.RETRIEVAL, DatasetKind.SCORED_PAIRS):
            return marks
        return marks if len(text_columns(self.table, {mark.number for mark in marks})[0]) >= 2 else ()

    @cached_property
    def scores(self) -> tuple[int, ...]:
        """Numbers of the columns that may be scores, in a file that is otherwise read as positive pairs."""
        if self.likeliest is not DatasetKind.PAIR_SET or self.marks or len(text_columns(self.table)[0]) < 2:
            return ()
        return guess.scores(self.table)

    @cached_property
    def coded(self) -> int | None:
        """Number of a column that may have classes although it would be read as scores or not used: a `label` of few
        whole numbers beside two texts, as in NLI."""
        if self.likeliest not in (DatasetKind.SCORED_PAIRS, DatasetKind.PAIR_SET) or self.marks:
            return None
        column = first_named([column_key(name) for name in self.table.names], WEAK_LABEL_NAMES)
        if column is None or (self.likeliest is DatasetKind.SCORED_PAIRS and column != score_column(self.table)):
            return None
        cells = [cell for cell in self.table.cells[column] if not is_blank(cell)]
        is_coded = 1 < len({str(cell) for cell in cells}) <= MOST_CODED and all(map(judged.is_numeral, cells))
        return column if is_coded and len(text_columns(self.table, {column})[0]) >= 2 else None

    @cached_property
    def verdicts(self) -> tuple[int, ...]:
        """Numbers of the columns of words that may say which rows are matches, in a file that is otherwise read as
        positive pairs."""
        if self.likeliest is not DatasetKind.PAIR_SET or self.marks:
            return ()
        verdicts = judged.verdicts_in(self.table)
        return verdicts if verdicts and len(text_columns(self.table, {*verdicts})[0]) >= 2 else ()

    @property
    def question(self) -> str:
        """The reason why it may be of several kinds; "" if there is only one."""
        if len(self.kinds) < 2:
            return ""
        if self.verdicts:
            return f"{judged.in_words(self.table, self.verdicts[0])} may say which rows are matches"
        if self.coded is not None:
            return (
                f"column {self._names([self.coded])} has few whole numbers, which may be classes (such as 0 for "
                "entailment) or scores, higher for more similar"
            )
        if self.scores:
            which = "column" if len(self.scores) == 1 else "columns"
            held = "distances" if any(guess.is_distance(self.table.names[n]) for n in self.scores) else "scores"
            return f"{which} {self._names(self.scores)} may hold {held} of the pairs"
        columns = self._names([mark.number for mark in self.marks])
        return f"column {columns} has two values, which may say which rows are matches"

    def _names(self, columns: Sequence[int]) -> str:
        return ", ".join(f"'{self.table.names[number][:40]}'" for number in columns)

    @cached_property
    def kinds(self) -> tuple[DatasetKind, ...]:
        """The kinds that it may be of: several if a column can be read in several ways, and neither its name nor
        another column decides."""
        if self.coded is not None or self.verdicts:
            return self.likeliest, DatasetKind.LABELED_TEXTS
        if self.scores:
            return DatasetKind.PAIR_SET, DatasetKind.SCORED_PAIRS
        keys = {column_key(self.table.names[marks.number]) for marks in self.marks}
        if not keys or self.likeliest is DatasetKind.RETRIEVAL:
            return (self.likeliest,)
        if self.likeliest is DatasetKind.SCORED_PAIRS:
            names = {column_key(name) for name in self.table.names}
            return _OF_MARKS if names.isdisjoint(SCORE_NAMES) else (self.likeliest,)
        if self.likeliest is DatasetKind.LABELED_TEXTS:
            used = {reading.use: reading.name for reading in OWN_KINDS[self.likeliest].readings(self.table)}
            others = keys - {column_key(used[LABEL])}  # a topic labels texts, while another column marks pairs
            is_weak = column_key(used[LABEL]) in WEAK_LABEL_NAMES or not others.isdisjoint(MARK_NAMES)
            return (*_OF_MARKS, self.likeliest) if is_weak and SPLIT not in used else (self.likeliest,)
        return _OF_MARKS

    @property
    def kind(self) -> DatasetKind:
        """The kind that it is of.

        Raises:
            UnclearKind: it may be of several.
        """
        if len(self.kinds) > 1:
            raise UnclearKind(self)
        return self.kinds[0]

    def contents(self, kind: DatasetKind | None = None, asked: Mapping[str, int] | None = None) -> OwnFile:
        """The file's content, as its own kind or another; ``asked`` as in ``OwnFile.of``.

        Raises:
            UnclearColumns: the user named no columns, and a column has no name or the kind is unclear.
        """
        if must_be_clear := asked is None and not self.is_confirmed:
            _check_nameless(self.table)
            _check_header(self.table)
        contents = OWN_KINDS[kind or self.kind].of(self.table, asked)
        if must_be_clear:
            _check_left_out(self.table, contents)
            _check_ids(self.table, contents)
        return replace(
            contents,
            remarks=(
                *contents.remarks,
                *_about_splits(self.table, contents),
                *_about_discarded(self.table, contents),
                *_about_texts(self.table, contents),
                *_about_rows(self.table, contents),
            ),
        )

    def reference_as(self, kind: DatasetKind) -> str:
        """The reference that reads it as a kind."""
        contents = self.contents(kind)
        return str(OwnReference(self.table.path, NamedColumns(kind, contents.named)))


def _check_nameless(table: FileTable) -> None:
    """Refuse a header without a name for a column that has content, unless that is the numbers of the rows."""
    for number, (name, cells) in enumerate(zip(table.names, table.cells, strict=True)):
        if name.strip() or all(is_blank(cell) for cell in cells):
            continue
        if not any([str(cell) for cell in cells] == [str(n + start) for n in range(len(cells))] for start in (0, 1)):
            raise UnclearColumns(
                f"{table.path}: column {number + 1} has no name",
                expected="a first line that names every column",
                remedy="name it; if that line is no header, put one before it or remove it",
            )


def _check_header(table: FileTable) -> None:
    """Refuse a header with a number as the name of a column of numbers, unless the columns are numbered, or with one of
    the classes of a column as its name."""
    named = [name.strip() for name in table.names if name.strip()]
    if not table.separator or any(named == [str(n + start) for n in range(len(named))] for start in (0, 1)):
        return
    for name, kind in zip(table.names, table.kinds, strict=True):
        if kind is ColumnKind.NUMBER and judged.is_number(name):
            raise UnclearColumns(
                f"the first line of {table.path} has a number, not a name: '{name[:40]}'",
                expected="a first line that names the columns",
                remedy="put a line such as text1,text2,score before it",
            )
    for name, cells in zip(table.names, table.cells, strict=True):
        if name.strip() and (times := sum(cell == name for cell in cells)) >= max(2, _FEW * len(cells)):
            raise UnclearColumns(
                f"the first line of {table.path} has '{name[:40]}', which is in its column {times:,} times more",
                expected="a first line that names the columns",
                remedy="put a line such as text,label before it; if that is the column's name, name the columns with "
                "--text-column and --label-column",
            )


def _about_splits(table: FileTable, file: OwnFile) -> tuple[str, ...]:
    """Remarks on a file if rows for training and rows for testing are used alike."""
    splits = {} if SPLIT in file.used else labeled_texts.splits_in(table)
    return tuple(
        f"the rows of every split are used ({', '.join(words)} in column '{name}'); to test on some, keep only those"
        for name, words in splits.items()
        if len(words) > 1
    ) + tuple(
        f"column '{column.name[:40]}' is not read as a split; if it says which rows to test on, name it split, with "
        "train and test in its cells"
        for column, cells in zip(file.columns, table.cells, strict=True)
        if column.use in NO_ROLE
        and not _OF_SPLITS.isdisjoint({*guess.words(column.name), column_key(column.name)})
        and len({str(cell).casefold() for cell in cells}) == 2
    )


_OF_SPLITS = frozenset("test train training dev validation val eval holdout heldout".split())


def _about_discarded(table: FileTable, file: OwnFile) -> Iterator[str]:
    """Remarks on a column that is not read and says that annotators discarded some rows."""
    for column, cells in zip(file.columns, table.cells, strict=True):
        words = {str(cell).strip().casefold() for cell in cells if not is_blank(cell)}
        if column.use in NO_ROLE and 1 < len(words) <= MOST_CODED and (thrown := sorted(words & _DISCARDED)):
            shown = ", ".join(map(repr, thrown))
            yield f"every row is used, also those with {shown} in column '{column.name[:40]}'; remove what is not meant"


_DISCARDED = frozenset(
    "reject rejected ignore ignored discard discarded skip skipped invalid wrong incorrect bad broken unclear".split()
)


def _about_texts(table: FileTable, file: OwnFile) -> Iterator[str]:
    """Remarks on texts that may not be what was meant, and on a pair as a header."""
    texts = [
        number
        for number, column in enumerate(file.columns)
        if column.kind is ColumnKind.TEXT and column.use not in NO_ROLE and column.use not in _NO_TEXTS
    ]
    for number in texts:
        cells = [cell for cell in table.cells[number] if isinstance(cell, str)]
        name = table.names[number][:40]
        yield from about_texts(f"of column '{name}'", cells)
        if column_key(table.names[number]) in _LISTS:
            yield from (
                f"cells of column '{name}' may be several texts with '{mark}' between, taken as one each; a list is "
                'written ["...", "..."]'
                for mark in "|;"
                if 2 * sum(mark in cell for cell in cells) >= len(cells) > 0
            )
    guessed = [number for number in texts if file.columns[number].why in (guess.FIRST, guess.SECOND)]
    if table.separator and len(guessed) == 2 and all(_may_be_a_row(table, number) for number in guessed):
        names = " and ".join(f"'{table.names[number][:40]}'" for number in guessed)
        yield (
            f"the first line, {names}, is taken for the names of the columns; if it is a pair, put a line "
            "query,match before it"
        )


def _about_rows(table: FileTable, file: OwnFile) -> Iterator[str]:
    """Remarks on a first row that may be a second header, and on a last row that may sum up the others."""
    if not table.separator or len(table.places) < MANY_TEXTS:
        return
    used = [number for number, column in enumerate(file.columns) if column.use not in NO_ROLE]
    if _is_second_header(table, [number for number in used if file.columns[number].use not in _NO_TEXTS]):
        yield (
            f"{table.place(0)} may be a second header and is taken for a row ({_cells_in_words(table, 0, used)}); if "
            "it is one, remove it"
        )
    last = len(table.places) - 1
    if no_rows.may_sum_up([cells[last] for cells in table.cells]):
        yield (
            f"{table.place(last)} may sum up the others and is taken for a row ({_cells_in_words(table, last, used)}); "
            "if it does, remove it"
        )


def _is_second_header(table: FileTable, used: Sequence[int]) -> bool:
    """Whether the first row has no number in a column of numbers, or one word in each column of phrases."""
    firsts = [(str(cells[0]).strip(), cells[1:]) for cells in table.cells if not is_blank(cells[0])]
    if any(not judged.is_number(first) and all(_is_numeral(cell) for cell in others) for first, others in firsts):
        return True
    texts = [table.cells[number] for number in used]
    return (
        len(table.places) >= _MANY_ROWS
        and bool(texts)
        and all(
            len(str(cells[0]).split()) == 1 and all(len(str(cell).split()) > 2 for cell in cells[1:]) for cells in texts
        )
    )


def _is_numeral(cell: object) -> bool:
    return not isinstance(cell, bool) and judged.is_number(str(cell).strip())


def _cells_in_words(table: FileTable, row: int, numbers: Sequence[int]) -> str:
    return ", ".join(repr(shortened(str(table.cells[number][row]))) for number in numbers)


_MANY_ROWS = 20  # a single word before so many phrases is hardly one of them
_FEW = 0.1
_LISTS = frozenset((*LIST_NAMES, *NEGATIVE_NAMES))
_NO_TEXTS = (LABEL, SPLIT, MARK, SCORE, RELEVANCE)


def _may_be_a_row(table: FileTable, number: int) -> bool:
    """Whether the name of a column looks like its cells."""
    lengths = [len(str(cell)) for cell in table.cells[number]]
    return min(lengths) <= len(table.names[number]) <= max(lengths) and median(lengths) <= LONGEST_WORD


def _check_left_out(table: FileTable, file: OwnFile) -> None:
    """Refuse to leave out columns of texts that, by name, belong to those that are read: negatives of a query, the
    third of numbered texts, the right answer if another column is read as the match, and the query of others."""
    if file.kind not in _OF_PAIRS:
        return
    texts = [column for column in file.columns if column.kind in (ColumnKind.TEXT, ColumnKind.TEXTS)]
    used = {_stem(column.name) for column in texts if column.use not in NO_ROLE}
    asks = any(not _ASKS.isdisjoint(guess.words(column.name)) for column in texts if column.use not in NO_ROLE)
    for column in texts:
        is_opposite = not guess.words(column.name).isdisjoint(guess.OPPOSITE_WORDS)
        is_negative = not guess.words(column.name).isdisjoint(guess.NEGATIVE_WORDS)
        is_left_out = column.use in NO_ROLE
        is_right = file.kind is DatasetKind.PAIR_SET and not guess.words(column.name).isdisjoint(_RIGHT)
        is_query = file.kind is DatasetKind.PAIR_SET and not asks and not _ASKS.isdisjoint(guess.words(column.name))
        is_text = (is_right or is_query) and _has_phrases(table, column.name)
        is_missed = is_negative or _stem(column.name) in used or is_text
        if (is_left_out and is_missed) or (is_opposite and column.use == MATCH):
            what = "not be used" if is_left_out else "be read as the match"
            raise UnclearColumns(
                f"{file.path}: column '{column.name[:40]}' would {what}",
                expected="to know what it is for",
                remedy="name the columns that are meant, for example with --query-column and --match-column; or, with "
                "negatives, --query-column, --document-column and --negatives-column",
            )


_ASKS = guess.QUERY_WORDS | {"prompt"}
_RIGHT = frozenset("truth gold golden correct expected ideal reference".split())


def _has_phrases(table: FileTable, name: str) -> bool:
    """Whether a column has different texts of several words."""
    return len({phrase for cell in table.cells[table.number(name)] if " " in (phrase := str(cell).strip())}) > 1


def _check_ids(table: FileTable, file: OwnFile) -> None:
    """Refuse to read ids as texts, as in judgments or scores whose texts are in another file."""
    if file.kind not in (*_OF_PAIRS, DatasetKind.MINIMAL_PAIR_SET):
        return
    texts: dict[str, list[str]] = {}
    for column, cells in zip(file.columns, table.cells, strict=True):
        if column.use not in NO_ROLE and column.use not in _NO_TEXTS:
            lists = (cell if isinstance(cell, tables.Texts) else (cell,) for cell in cells)
            texts[column.name] = [text for some in lists for text in some if isinstance(text, str) and text.strip()]
    ids = [name for name, cells in texts.items() if cells and all(map(_is_id, cells))]
    numbers = {column.name for column in file.columns if column.kind is ColumnKind.NUMBER}  # years, beside texts
    has_prose = any(2 * sum(" " in text.strip() for text in cells) >= len(cells) > 0 for cells in texts.values())
    if ids and (
        (has_prose and not numbers.issuperset(ids))
        or (len(ids) == len(texts) and len({*chain(*texts.values())}) >= MANY_TEXTS)
    ):
        raise UnclearColumns(
            f"{file.path}: column '{ids[0][:40]}' seems to hold ids, not texts, such as '{texts[ids[0]][0][:40]}'",
            expected="the texts themselves",
            remedy="put them in the place of their ids, or use a folder of queries, documents and judgments; if they "
            "are texts, name the columns",
        )


def _is_id(text: str) -> bool:
    return text.isascii() and len(text.split()) == 1 and any(map(str.isdigit, text))


def _stem(name: str) -> str:
    """A column's name without the number or letter at its end: sentence for sentence2, text for text_b."""
    return re.sub(r"(?<=.)(?:[ ._-]?\d+|[ _-][a-c])$|^[a-c]$", "", name.strip().casefold())


class UnclearKind(UnclearColumns):
    """A file that may be of several kinds: the reader has to choose."""

    def __init__(self, table: OwnTable) -> None:
        self.readings: dict[DatasetKind, str] = {}
        others = []
        for kind in table.kinds:
            try:
                self.readings[kind] = table.reference_as(kind)
            except InputError as error:  # it cannot be of this kind, or needs a column's name
                others += [f"for a {kind.in_words}, {error.remedy}"] if table.scores and error.remedy else []
        meaning = _MEANING if table.marks else _MEANING | {DatasetKind.PAIR_SET: _EVERY_ROW}
        ways = "; ".join([f'"{reference}" reads {meaning[kind]}' for kind, reference in self.readings.items()] + others)
        if table.verdicts:
            others += ["for some of the rows, add a column is_match of 1 and 0"]
        if not table.table.path.is_absolute():  # sent by a browser, so it has no reference
            ways = "choose: " + "; ".join([meaning[kind] for kind in self.readings] + others)
        super().__init__(
            f"{table.table.path}: {table.question}",
            expected="to know how the rows are meant",
            remedy=ways or "name the columns, for example with --query-column, --match-column and --mark-column",
        )


_OF_PAIRS = (DatasetKind.PAIR_SET, DatasetKind.RETRIEVAL, DatasetKind.SCORED_PAIRS, DatasetKind.LABELED_TEXTS)
_OF_MARKS = (DatasetKind.PAIR_SET, DatasetKind.SCORED_PAIRS, DatasetKind.RETRIEVAL)
_EVERY_ROW = "all rows as positive pairs (evalrank)"
_MEANING = {
    DatasetKind.PAIR_SET: "the marked rows as positive pairs (evalrank)",
    DatasetKind.SCORED_PAIRS: "all rows as scored pairs (similarity, threshold)",
    DatasetKind.RETRIEVAL: "all rows as queries and documents with grades (retrieval)",
    DatasetKind.LABELED_TEXTS: "all rows as labeled texts (transfer)",
}


def fitting(reference: str, kind: DatasetKind) -> str:
    """A reference that reads a user's file as the kind that a diagnostic needs, if the file can be read so and nobody
    named its columns; else the reference itself.

    Raises:
        InputError: the file cannot be read.
    """
    user_file = OwnReference.parse(reference)
    if user_file.options is not None or user_file.columns is not None:
        return reference
    table = _tabulated(user_file)
    if kind in table.kinds and len(table.kinds) == 1:
        return reference
    # The first of several kinds is how the file is read by default.
    is_sure = kind in {*table.kinds, *_OF_MARKS} if table.marks else kind in table.kinds[1:]
    return table.reference_as(kind) if is_sure else reference


def read(path: Path, columns: NamedColumns | None = None) -> OwnFile:
    """A file's content, and how its columns were read.

    Args:
        path: absolute; see ``tabulate``.
        columns: as the user named them; if left out, the header decides.
    """
    table_file = replace(tabulate(path, tables.read_bytes(path)), is_confirmed=(path.parent / RECORD).is_file())
    if columns is None:
        return table_file.contents()
    if (by_itself := _as_fitted(table_file, columns)) is not None:
        return by_itself
    return table_file.contents(columns.kind, OWN_KINDS[columns.kind].uses_of(table_file.table, columns.named))


def _as_fitted(table: OwnTable, columns: NamedColumns) -> OwnFile | None:
    """The content with the header's reasons, if ``fitting`` would name the same columns as the user; else None."""
    may_be_fitted = table.kinds != (columns.kind,) if table.marks else columns.kind in table.kinds[1:]
    if not may_be_fitted or columns.kind not in _MEANING:
        return None
    try:
        contents = table.contents(columns.kind)
    except InputError:
        return None
    remark = f"what was run needs {_MEANING[columns.kind]}"
    return replace(contents, remarks=(*contents.remarks, remark)) if {*contents.named} == {*columns.named} else None


def parse(path: Path, data: bytes, *, is_confirmed: bool = False) -> OwnFile:
    """Content of a file's bytes: ``tabulate``, then ``OwnTable.contents``."""
    return replace(tabulate(path, data), is_confirmed=is_confirmed).contents()


def tabulate(path: Path, data: bytes, header: bool = True) -> OwnTable:
    """The columns in a file's bytes: see ``tables.tabulate``. SentEval's files of probing tasks have no header."""
    if tables.format_of(path) is FileFormat.TSV and probing.is_senteval(data):
        return OwnTable(probing.of_senteval(tables.tabulate(path, data, header=False)))
    return OwnTable(tables.tabulate(path, data, header))


def find(reference: str) -> OwnSource:
    """The file or folder of a reference; read once as long as it does not change."""
    user_file = OwnReference.parse(reference)
    if user_file.options is not None:
        try:
            return _read_folder_once(user_file, retrieval_folder.state_of(user_file.path, user_file.options))
        except OSError as error:
            raise InputError(f"cannot read {user_file.path}: {error.strerror or error}", remedy=_PERMISSIONS) from error
    try:
        stat = user_file.path.stat()
    except (OSError, ValueError):
        return read(user_file.path)  # says what is wrong
    return _read_once(user_file, (stat.st_ino, stat.st_size, stat.st_mtime_ns))


def _tabulated(reference: OwnReference) -> OwnTable:
    """The columns of a file, read once as long as it does not change."""
    try:
        stat = reference.path.stat()
    except (OSError, ValueError):
        return tabulate(reference.path, tables.read_bytes(reference.path))  # says what is wrong
    return _tabulated_once(reference.path, (stat.st_ino, stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=2)
def _tabulated_once(path: Path, _state: tuple[int, int, int]) -> OwnTable:
    return tabulate(path, tables.read_bytes(path))


@lru_cache(maxsize=2)
def _read_once(reference: OwnReference, _state: tuple[int, int, int]) -> OwnFile:
    return read(reference.path, reference.columns)


@lru_cache(maxsize=2)
def _read_folder_once(reference: OwnReference, _state: tuple[tuple[str, int, int, int], ...]) -> OwnSource:
    return retrieval_folder.read(reference.path, reference.options)
