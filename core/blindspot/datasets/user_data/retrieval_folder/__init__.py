"""A folder of queries, documents and judgments (``dir:PATH``), in BEIR's or TREC's format, or with any names.

BEIR has ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/*.tsv``; TREC has documents in ``<DOC>``, topics in ``<top>``
and judgments ``topic 0 document grade``. Each of the three may be in either format, or a table with a header; users
name files and columns with other names (see ``options``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from blindspot.datasets.kinds.base import DatasetKind, Rows
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.datasets.published.retrieval import Document, Judgment, Query, retrieval_dataset
from blindspot.datasets.user_data import attributes
from blindspot.datasets.user_data import judged as marks
from blindspot.datasets.user_data.columns import MISSING, OwnSource, check_text, is_blank, shortened
from blindspot.datasets.user_data.retrieval import about_grades, counts_in_words, first_queries, grade_of
from blindspot.datasets.user_data.retrieval_folder import guess, headers, trec
from blindspot.datasets.user_data.retrieval_folder.options import (
    DOCUMENTS,
    FORMS,
    JUDGMENTS,
    QUERIES,
    SKIP,
    FolderOptions,
)
from blindspot.datasets.user_data.retrieval_folder.source import JSON_NAMES, Source, id_of, ids_of, numbered, unread
from blindspot.datasets.user_data.retrieval_folder.trec import Found
from blindspot.datasets.user_data.text_remarks import about_texts
from blindspot.errors import InputError
from blindspot.files import tables
from blindspot.files.writing import read_limited
from blindspot.texts import counted

CORPUS = (
    *("corpus.jsonl", "corpus.tsv", "corpus.csv", "documents.jsonl", "documents.tsv", "documents.csv"),
    *("collection.tsv", "collection.csv"),
)
CORPUS_PATTERNS = ("corpus.*", "documents.*", "docs.*")
ASKED = ("queries.jsonl", "queries.tsv", "queries.csv")
ASKED_PATTERNS = ("topics*",)
QRELS_PATTERNS = (
    *("qrels/*.tsv", "qrels/*.jsonl", "qrels/*.txt", "qrels/*.csv"),
    *("qrels.tsv", "qrels.jsonl", "qrels.csv", "qrels*.txt", "*.qrels"),
)
_IN_QRELS = 4  # of these
LONGEST_NAME = 3  # words of a column's name
QRELS_LAST = ("qrels*",)
_OF_DATASETS = (".csv", ".tsv", ".jsonl", ".parquet")
_OF_RETRIEVAL = frozenset("corpus documents docs collection queries topics qrels".split())
PREFERRED = "test"  # if there are several splits
PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
MAX_JUDGMENTS = 5_000_000
ALL_RELEVANT = object()  # the grade in a file without grades
JudgedRow = tuple[int, str, str, int]  # line, query, document, grade


@dataclass(frozen=True)
class OwnRetrievalFolder(OwnSource):
    """A folder of queries, documents and judgments that was read.

    Attributes:
        read: the files that were read, in the order documents, queries, judgments, with their checksums.
        left_out: queries and judgments that were left out, as asked.
        empty: documents without a text that were left out, as asked.
        columns: (part, role, name of the column) for the columns that somebody named.
        remarks: assumptions that change the scores, a phrase each.
    """

    read: tuple[tuple[Path, str], ...]
    queries: tuple[Query, ...]
    documents: tuple[Document, ...]
    judgments: tuple[Judgment, ...]
    own_columns: tuple[OwnColumn, ...]
    left_out: tuple[int, int]
    empty: int
    columns: tuple[tuple[str, str, str], ...] = ()
    remarks: tuple[str, ...] = ()

    kind = DatasetKind.RETRIEVAL
    title = "retrieval"

    @property
    def files(self) -> dict[Path, str]:
        return dict(self.read)

    @property
    def rows(self) -> int:
        return len(self.queries)

    @cached_property
    def distinct_texts(self) -> int:
        return len({query.text for query in self.queries} | {document.whole for document in self.documents})

    @property
    def description(self) -> str:
        return "Queries, documents and judgments of your own folder."

    @property
    def places(self) -> dict[str, str]:
        """The file that was read for each part."""
        names = [path.relative_to(self.path).as_posix() for path, _ in self.read]
        return dict(zip(("documents", "queries", "judgments"), names, strict=True))

    @property
    def summary(self) -> str:
        named = {
            what: ", ".join(f"{role} is '{name}'" for part, role, name in self.columns if part == what)
            for what in self.places
        }
        places = ", ".join(
            f"{what} from {name}" + (f" ({named[what]})" if named[what] else "") for what, name in self.places.items()
        )
        counts = counts_in_words(self.loaded(self.path.name))
        queries, judgments = self.left_out
        out = "; left out as asked: " + ", ".join(
            part
            for count, part in (
                (queries, f"{counted(queries, 'query', 'queries')} without judgments"),
                (judgments, f"{counted(judgments, 'judgment')} of unknown documents"),
                (
                    self.empty,
                    f"{counted(self.empty, 'document')} without a text of {len(self.documents) + self.empty:,}",
                ),
            )
            if count
        )
        return f"{self.path.name}: retrieval: {places}; {counts}{out if any((*self.left_out, self.empty)) else ''}"

    @property
    def assumptions(self) -> str:
        empty = (
            f"{counted(self.empty, 'document')} without a text left out as asked; "
            f"{len(self.documents):,} of {len(self.documents) + self.empty:,} are ranked"
        )
        notes = [*self.remarks, *([empty] if self.empty else [])]
        return f"{self.path.name}: {'; '.join(notes)}" if notes else ""

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(counts_in_words(self.loaded(self.path.name)).split("; "))

    def first_rows(self, n: int) -> Rows:
        return first_queries(self.queries, self.documents, self.judgments, n)

    def as_manifest(self) -> dict[str, Any]:
        queries, judgments = self.left_out
        return {
            "files": self.places,
            "rows": self.rows,
            "documents": len(self.documents),
            "judgments": len(self.judgments),
            "left_out": {"queries": queries, "judgments": judgments}
            | ({"empty_documents": self.empty} if self.empty else {}),
            **({"remarks": list(self.remarks)} if self.remarks else {}),
            **({"columns": {f"{part}.{role}": name for part, role, name in self.columns}} if self.columns else {}),
        }

    def loaded(self, dataset_id: str) -> RetrievalDataset:
        return retrieval_dataset(dataset_id, self.queries, self.documents, self.judgments, self.own_columns)


@dataclass(frozen=True, eq=False)
class FolderFiles:
    """The files of a folder, on disk or as a browser sent them.

    Attributes:
        folder: its path, or only its name.
        paths: of its files and those in its ``qrels``, without hidden ones.
        data: gives a file's bytes; raises ``InputError``.
        is_sent: whether a browser sent them; then there is a form instead of a reference.
    """

    folder: Path
    paths: tuple[Path, ...]
    data: Callable[[Path], bytes]
    is_sent: bool = False

    @classmethod
    def on_disk(cls, folder: Path, options: FolderOptions) -> FolderFiles:
        named = [folder / name for _, name in options.files]
        every = named
        if len(named) < len(FORMS):
            every += [path for pattern in ("*", "qrels/*") for path in folder.glob(pattern)]
        paths = {path for path in every if path.is_file() and (not path.name.startswith(".") or path in named)}
        return cls(folder, tuple(sorted(paths)), lambda path: read_limited(path, tables.MAX_BYTES))

    def skipping(self, options: FolderOptions) -> str:
        """Advice on how to leave out what is not judged or missing."""
        if self.is_sent:
            return "tick the box that leaves them out"
        return f"dir:{self.folder}?{replace(options, skips=True)}"

    def named(self, options: FolderOptions, part: str) -> Path | None:
        """The file that was named for a part; None if none was.

        Raises:
            InputError: the file is missing.
        """
        name = dict(options.files).get(part)
        if name is None:
            return None
        if (path := self.folder / name) not in self.paths:
            raise InputError(f"{self.folder} has no file {name}", expected=f"the file of {part}")
        return path

    def inside(self, pattern: str) -> list[Path]:
        """The files with a path below the folder that fits a pattern, where ``*`` matches no slash."""
        wanted = Path(pattern).parts
        return [path for path in self.paths if _fit(path.relative_to(self.folder).parts, wanted)]


def _fit(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def state_of(folder: Path, options: FolderOptions) -> tuple[tuple[str, int, int, int], ...]:
    """A key that changes whenever a file of the folder does."""
    states = []
    for path in FolderFiles.on_disk(folder, options).paths:
        stat = path.stat()
        states.append((str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return tuple(states)


def read(folder: Path, options: FolderOptions | None = None) -> OwnRetrievalFolder:
    """Read a folder; without options, its test part or its only part.

    Raises:
        InputError: a file is missing or wrong; one line names the file and the row.
    """
    if not folder.is_dir():
        what = f"{folder} is a file" if folder.exists() else f"there is no folder {folder}"
        raise InputError(what, expected="a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv")
    options = options or FolderOptions()
    return read_files(FolderFiles.on_disk(folder, options), options)


def read_files(files: FolderFiles, options: FolderOptions) -> OwnRetrievalFolder:
    """``read``, for files on disk or from a browser."""
    sources = sources_of(files, options)
    try:
        return _read(files, options, *sources)
    except headers.UnknownHeader as error:
        remedy = "name the columns"
        if named := guess.named(sources):
            asked = {(part, role): name for part, role, name in options.columns}
            wanted = asked | {(part, role): name for part, role, name in named}
            better = replace(options, columns=tuple((*key, name) for key, name in wanted.items()))
            remedy += ", by their values: " + ", ".join(f"{part}.{role} is '{name}'" for part, role, name in named)
            remedy += "" if files.is_sent else f'; if that is right: "dir:{files.folder}?{better}"'
        raise InputError(error.what, expected=error.expected, remedy=remedy) from error


def sources_of(files: FolderFiles, options: FolderOptions) -> tuple[Source, Source, Source]:
    """The files of documents, queries and judgments, found by their names, with their bytes."""
    corpus = files.named(options, DOCUMENTS) or _one(files, CORPUS, CORPUS_PATTERNS, "documents", "corpus.jsonl")
    asked = files.named(options, QUERIES) or _one(files, ASKED, ASKED_PATTERNS, "queries", "queries.jsonl")
    qrels = files.named(options, JUDGMENTS) or _split(files.folder, splits_of(files), options.split)
    paths = ((DOCUMENTS, corpus), (QUERIES, asked), (JUDGMENTS, qrels))
    documents, queries, judgments = (
        Source(part, path, _bytes(files, path), options.named(part)) for part, path in paths
    )
    return documents, queries, judgments


def guesses_of(
    files: FolderFiles, options: FolderOptions, examples: int
) -> tuple[dict[str, guess.Grid], dict[str, dict[str, guess.Guess]]]:
    """The columns of each part with ``examples`` cells each, and what they probably are."""
    sources = sources_of(files, options)
    grids = {source.part: grid for source in sources if (grid := source.grid()) is not None}
    shown: dict[str, guess.Grid] = {
        part: (names, [cells[:examples] for cells in columns]) for part, (names, columns) in grids.items()
    }
    return shown, guess.columns(sources)


def _read(
    files: FolderFiles, options: FolderOptions, corpus: Source, asked: Source, qrels: Source
) -> OwnRetrievalFolder:
    were_read = tuple((file.path, hashlib.sha256(file.data).hexdigest()) for file in (corpus, asked, qrels))
    things = list(_things(corpus, "document", options.skips))
    documents = [Document(document.id, document.title, document.text) for document in things if not _is_empty(document)]
    query_rows = [query for query in _things(asked, "query", options.skips) if not _is_empty(query)]
    if len(documents) < 2:
        raise InputError(f"{corpus.path} has {counted(len(documents), 'document')}", expected="at least 2 to rank")
    of_query = {query.id: number for number, query in enumerate(query_rows)}
    of_document = {document.id: number for number, document in enumerate(documents)}
    rows, remarks = _qrels_rows(qrels)
    _check_sides(qrels.path, rows, of_query, of_document)
    judged = list(_judged(qrels.path, rows, of_query, of_document, options, files.skipping(options)))
    _require_judgments(files, asked.path, query_rows, judged, qrels.path, options)
    kept = sorted({judgment.query for judgment in judged})
    kept_number = {query: number for number, query in enumerate(kept)}
    judgments = [Judgment(kept_number[q], d, grade) for q, d, grade in judged if d >= 0]
    if not any(grade >= RELEVANT for *_, grade in judgments):
        raise InputError(
            f"{qrels.path} has no judgment of a relevant document", expected=f"grades of {RELEVANT} or more"
        )
    return OwnRetrievalFolder(
        path=files.folder,
        sha256=hashlib.sha256("".join(checksum for _, checksum in were_read).encode()).hexdigest(),
        read=were_read,
        queries=tuple(Query(query_rows[n].id, query_rows[n].text) for n in kept),
        documents=tuple(documents),
        judgments=tuple(judgments),
        own_columns=_own_columns([query_rows[n].metadata for n in kept]),
        left_out=(len(query_rows) - len(kept), len(judged) - len(judgments)) if options.skips else (0, 0),
        empty=len(things) - len(documents),
        columns=options.columns,
        remarks=(
            *remarks,
            *about_grades(judgments),
            *_about_unread(asked, query_rows),
            *_about_titles(document.title for document in documents),
            *about_texts("of the documents", [document.text for document in documents], may_be_words=False),
            *about_texts("of the queries", [query.text for query in query_rows], may_be_words=False),
        ),
    )


def _about_titles(titles: Iterable[str]) -> Iterator[str]:
    """A remark on titles that may stand for nothing, as where a program wrote its own mark of a missing one."""
    if marks_of_nothing := [title.strip() for title in titles if title.strip().casefold() in MISSING]:
        shown = ", ".join(repr(text) for text in list(dict.fromkeys(marks_of_nothing))[:5])
        yield f"{counted(len(marks_of_nothing), 'title')} that may stand for nothing, taken as written: {shown}"


def _about_unread(source: Source, queries: Iterable[Found]) -> Iterator[str]:
    """A remark on texts of queries that are not read, such as instructions."""
    if names := list(dict.fromkeys(name for query in queries for name in query.unread)):
        yield f"{source.path.name}: not read beside the text of a query: {', '.join(name[:40] for name in names[:5])}"


# --- which files


def _one(files: FolderFiles, names: Sequence[str], patterns: Sequence[str], what: str, best: str) -> Path:
    named = [files.folder / name for name in names if files.folder / name in files.paths]
    paths = named or list(dict.fromkeys(path for pattern in patterns for path in files.inside(pattern)))
    return _only(files, [path for path in paths if path.suffix not in PACKED], paths, what, best)


def _only(files: FolderFiles, usable: Sequence[Path], paths: Sequence[Path], what: str, best: str) -> Path:
    folder = files.folder
    packed = [*files.inside(f"{best}.*"), *(path for path in paths if path.suffix in PACKED)]
    if not usable and packed:
        raise InputError(f"{packed[0]} is packed", expected=f"{folder / best}", remedy="unpack it")
    if not usable:
        raise InputError(
            f"{folder} has no {what}: no {best}",
            expected="corpus.jsonl, queries.jsonl and qrels/*.tsv",
            remedy="" if files.is_sent else _other_ways(files),
        )
    if len(usable) > 1:
        names = ", ".join(path.name for path in usable)
        raise InputError(
            f"{folder} has several files of {what}: {names}",
            expected=f"one, best {best}",
            remedy="" if files.is_sent else f'for example: "dir:{folder}?{what}={usable[0].name}"',
        )
    return usable[0]


def _other_ways(files: FolderFiles) -> str:
    """Advice on how to name what a folder has instead: three files with other names, or one file that is a dataset."""
    below = sorted(path for pattern in ("*", "*/*") for path in files.folder.glob(pattern) if path.is_file())
    tables_below = [path for path in below if path.suffix in _OF_DATASETS]
    if inside := [path.parent for path in below if path.name in CORPUS and path not in files.paths]:
        return f'the folder in it: "dir:{inside[0]}"'
    ways = []
    if max(len(files.paths), len(tables_below)) >= len(FORMS):
        names = dict.fromkeys(FORMS, "NAME") | guess.by_their_names(
            [str(path.relative_to(files.folder)) for path in tables_below]
        )
        ways.append(f'files of other names: "dir:{files.folder}?{FolderOptions.of(names)}"')
    if _OF_RETRIEVAL.isdisjoint(path.relative_to(files.folder).parts[0].partition(".")[0] for path in below):
        if tables_below:
            ways.append(f'a file that is a dataset by itself: "file:{tables_below[0]}"')
        elif any(path.suffix == ".arrow" for path in below):
            ways.append("write the dataset with to_parquet of Hugging Face's datasets, and name that file: file:PATH")
    return "; ".join(ways)


def splits_of(files: FolderFiles) -> list[Path]:
    """All files of judgments that the first matching pattern finds."""
    for patterns in (QRELS_PATTERNS[:_IN_QRELS], QRELS_PATTERNS[_IN_QRELS:], QRELS_LAST):
        paths = list(dict.fromkeys(path for pattern in patterns for path in files.inside(pattern)))
        if usable := [path for path in paths if path.suffix not in PACKED]:
            return usable
    packed = [path for pattern in ("qrels/*", *QRELS_LAST) for path in files.inside(pattern)]
    return [_only(files, [], packed, "judgments", "qrels/test.tsv")]


def _split(folder: Path, splits: Sequence[Path], wanted: str) -> Path:
    names = ", ".join(path.stem for path in splits)
    if wanted:
        if chosen := [path for path in splits if path.stem == wanted]:
            return chosen[0]
        raise InputError(f"{folder} has no judgments called '{wanted}'", expected=f"one of {names}")
    if len(splits) == 1:
        return splits[0]
    if preferred := [path for path in splits if path.stem == PREFERRED]:
        return preferred[0]
    raise InputError(
        f"{folder} has several files of judgments: {names}",
        expected="one of them to be chosen",
        remedy=f"for example: dir:{folder}?split={splits[0].stem}",
    )


def _bytes(files: FolderFiles, path: Path) -> bytes:
    data = files.data(path)
    if not data.strip():
        raise InputError(f"{path} is empty", expected="a line per row")
    return data


# --- documents and queries


def _is_empty(row: Found) -> bool:
    return is_blank(row.text) and not row.title


def _things(source: Source, what: str, may_be_empty: bool) -> Iterator[Found]:
    """Documents or queries with distinct ids, in the file's order; without a text only if ``may_be_empty``."""
    path = source.path
    if source.is_typed:
        every = _of_typed(source, what)
    elif path.suffix == ".jsonl":
        every = _of_json(path, source.text, what)
    elif source.is_marked_up:
        every = (trec.documents if what == "document" else trec.topics)(path, source.text)
    else:
        every = _of_lines(source, what)
    lines: dict[str, int] = {}
    for count, row in enumerate(every, 1):
        if count > tables.MAX_ROWS:
            tables.check_rows(path, count, more="at least ")
        where = f"{path}, line {row.line}"
        if row.id in lines:
            raise InputError(
                f"{where}: the id '{shortened(row.id)}' is that of line {lines[row.id]}, too",
                expected=f"an id of its own for every {what}",
            )
        lines[row.id] = row.line
        if may_be_empty and _is_empty(row):
            yield row
            continue
        check_text(
            row.title if is_blank(row.text) else row.text,
            where,
            remedy=f"give the {what} a text, remove it with its judgments, or leave such out: ?missing={SKIP}",
        )
        if row.title:
            check_text(row.title, f"{where}, title")
        yield row


def _of_json(path: Path, text: str, what: str) -> Iterator[Found]:
    example = '{"_id": "d1", "title": "...", "text": "..."}' if what == "document" else '{"_id": "q1", "text": "..."}'
    for number, line in numbered(text):
        where = f"{path}, line {number}"
        if len(line) > tables.MAX_LINE:
            raise InputError(f"{where}: {len(line):,} characters", expected=f"at most {tables.MAX_LINE:,}")
        row = tables.json_object(where, line, example)
        title, body, metadata = row.get("title") or "", row.get("text"), row.get("metadata")
        if "text" not in row:
            raise InputError(f"{where}: no 'text'", expected=example)
        for name, cell in (("title", title), ("text", body)):
            if cell is not None and not isinstance(cell, str):
                raise InputError(f"{where}, '{name}': {shortened(str(cell))} is not text", expected=example)
        read = ("_id", "text", "title")[: None if what == "document" else 2]  # the title of a query is no part of it
        yield Found(
            number,
            _id(row, "_id", where, example),
            title.strip() if "title" in read else "",
            body or "",
            metadata if isinstance(metadata, dict) else {},
            unread(row, row.values(), [place for place, name in enumerate(row) if name in read]),
        )


def _id(row: Mapping[str, Any], name: str, where: str, example: str) -> str:
    """An id in JSON; a number is refused, since it could be 1, 1.0 or 01 in other files."""
    value = row.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise InputError(
            f"{where}: the {name} {value} is a number",
            expected=f"a text, as in {example}",
            remedy='write it in quotes, in all files alike: "1" and "01" are different ids',
        )
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: no '{name}'", expected=example)
    return check_text(value, f"{where}, '{name}'")


def _of_typed(source: Source, what: str) -> Iterator[Found]:
    for number, (where, cells, further) in enumerate(source.typed_rows()):
        title, text = (_typed_text(cells.get(role), f"{where}, the {role}") for role in (headers.TITLE, headers.TEXT))
        name = id_of(cells[headers.ID], where, what)
        yield Found(source.table.places[number], name, title.strip(), text, {}, further)


def _typed_text(cell: object, where: str) -> str:
    if cell is not None and not isinstance(cell, str):
        raise InputError(f"{where}: {shortened(str(cell))} is not text", expected="a text")
    return cell or ""


def _of_lines(source: Source, what: str) -> Iterator[Found]:
    """Rows of a table with a header; else ``id TAB text``, or for documents ``id TAB title TAB text``."""
    path, lines = source.path, list(source.lines())
    if not lines:
        return
    first, header = lines[0]
    width = len(header)
    columns = source.form.columns(path, header, first, source.named, is_header=_is_header(lines))
    expected = "id and text with a tab between" + ("; or id, title and text" * (what == "document"))
    for number, cells in lines[columns is not None :]:
        where = f"{path}, line {number}"
        if columns is None and len(cells) not in ((2, 3) if what == "document" else (2,)):
            raise InputError(f"{where}: {counted(len(cells), 'cell')}", expected=expected)
        if columns is not None and len(cells) != width:
            raise InputError(f"{where}: {counted(len(cells), 'cell')}", expected=f"{width}, as in the header")
        places = columns or {headers.ID: 0, headers.TEXT: len(cells) - 1} | (
            {headers.TITLE: 1} if len(cells) == 3 else {}
        )
        by_role = {role: cells[column] for role, column in places.items()}
        if not by_role[headers.ID].strip():
            raise InputError(f"{where}: no id", expected=expected)
        title = by_role.get(headers.TITLE, "").strip()
        further = unread(header, cells, places.values()) if columns is not None else ()
        yield Found(number, by_role[headers.ID].strip(), title, by_role[headers.TEXT], {}, further)


def _is_header(lines: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Whether the first row is a header without known names: its cells are short, without digits as in other ids."""
    (_, first), *rows = lines
    ids = [cells[0] for _, cells in rows if cells]
    has_digits = bool(ids) and all(any(map(str.isdigit, name)) for name in ids)
    is_short = all(len(cell.split()) <= LONGEST_NAME and not cell.rstrip().endswith((".", "?", "!")) for cell in first)
    return has_digits and is_short and not any(map(str.isdigit, "".join(first)))


def _own_columns(metadata: Sequence[Mapping[str, Any]]) -> tuple[OwnColumn, ...]:
    """Metadata of queries, as columns to group them by."""
    names = list(dict.fromkeys(name for row in metadata for name in row))
    columns = (attributes.own_column(name, [_plain(row.get(name)) for row in metadata]) for name in names)
    return tuple(column for column in columns if isinstance(column, OwnColumn))[: attributes.MOST_COLUMNS]


def _plain(cell: object) -> object:
    return str(cell) if isinstance(cell, list | dict) else cell


# --- judgments


def _judged(
    path: Path,
    rows: Sequence[JudgedRow],
    of_query: Mapping[str, int],
    of_document: Mapping[str, int],
    options: FolderOptions,
    skipping: str,
) -> Iterator[Judgment]:
    """Judgments by numbers; a missing document has the number -1, if the options allow missing ones."""
    graded: dict[tuple[int, int], tuple[int, int]] = {}
    unseen: set[tuple[int, str]] = set()
    for count, (line, query, document, grade) in enumerate(rows, 1):
        if count > MAX_JUDGMENTS:
            raise InputError(f"{path} has more than {MAX_JUDGMENTS:,} judgments", expected="at most so many")
        place = f"{path}, line {line}"
        if query not in of_query:
            if options.skips:
                continue
            raise _unknown_id(place, "query", query, of_query, skipping)
        if document not in of_document:
            if not options.skips:
                raise _unknown_id(place, "document", document, of_document, skipping)
            if (of_query[query], document) not in unseen:
                unseen.add((of_query[query], document))
                yield Judgment(of_query[query], -1, grade)
            continue
        pair = of_query[query], of_document[document]
        if pair in graded:
            before, where = graded[pair]
            if before != grade:
                raise InputError(
                    f"{place}: grade {grade} for query '{shortened(query)}' and document '{shortened(document)}', "
                    f"which have {before} in line {where}",
                    expected="one grade for each query and document",
                )
            continue
        graded[pair] = grade, line
        yield Judgment(*pair, grade)


def _unknown_id(where: str, what: str, unknown_id: str, ids: Iterable[str], skipping: str) -> InputError:
    """The error for an id that no file has, with the id that was probably meant."""

    def bare(text: str) -> str:
        key = text.strip().casefold().removesuffix(".0").lstrip("0")
        return key or "0"

    meant = next((each_id for each_id in ids if bare(each_id) == bare(unknown_id)), None)
    return InputError(
        f"{where}: there is no {what} with the id '{shortened(unknown_id)}'",
        expected=f"an id of the {'queries' if what == 'query' else 'documents'}",
        remedy=f"did you mean '{shortened(meant)}'?" if meant else f"leave such rows out: {skipping}",
    )


def _qrels_rows(source: Source) -> tuple[list[JudgedRow], tuple[str, ...]]:
    """Line, query, document and grade of every judgment, and what was assumed about the grades."""
    rows = list(_judgment_cells(source))
    path, grades = source.path, [grade for *_, grade in rows]
    remarks: tuple[str, ...] = ()
    if rows and all(grade is ALL_RELEVANT for grade in grades):
        grades, remarks = [1] * len(rows), (f"{path.name} has no grades: every judgment is of a relevant document",)
    elif (positive := marks.positive_of(grades)) is not None and not any(map(marks.is_numeral, grades)):
        grades = [int(marks.is_marked(grade, positive)) for grade in grades]
        remarks = (f"{path.name}: '{positive}' is a relevant document",)
    out = []
    for (line, query, document, _), cell in zip(rows, grades, strict=True):
        grade = grade_of(cell, f"{path}, line {line}, the grade")
        if not query or not document:
            raise InputError(f"{path}, line {line}: no id of a {'document' if query else 'query'}", expected="both ids")
        out.append((line, query, document, grade))
    return out, remarks


def _judgment_cells(source: Source) -> Iterator[tuple[int, str, str, object]]:
    """As ``_qrels_rows``, with grades as written: from JSON, a table with a header, three cells, or TREC's four."""
    path, example = source.path, '{"query-id": "q1", "corpus-id": "d1", "score": 1}'
    if source.is_typed:
        for number, (where, typed, _) in enumerate(source.typed_rows()):
            query = id_of(typed[headers.QUERY], f"{where}, the query", headers.QUERY)
            grade = ALL_RELEVANT if source.has_lists else typed.get(headers.GRADE, ALL_RELEVANT)
            for document in ids_of(typed[headers.DOCUMENT], f"{where}, the document", headers.DOCUMENT):
                yield source.table.places[number], query, document, grade
        return
    if path.suffix == ".jsonl":
        for number, line in numbered(source.text):
            where = f"{path}, line {number}"
            row = tables.json_object(where, line, example)
            query, document = (_id(row, name, where, example) for name in JSON_NAMES[JUDGMENTS][:2])
            yield number, query, document, row.get(JSON_NAMES[JUDGMENTS][2])
        return
    columns: Mapping[str, int] | None = None
    width = 0
    for count, (number, cells) in enumerate(source.lines()):
        where = f"{path}, line {number}"
        if count == 0:
            is_header = path.suffix in (".csv", ".tsv") and not any(map(str.isdigit, "".join(cells)))
            columns = source.form.columns(path, cells, number, source.named, is_header=is_header)
            if columns is not None:
                width = len(cells)
                continue
        if columns is None and len(cells) not in (3, 4):
            raise InputError(
                f"{where}: {counted(len(cells), 'cell')}",
                expected="query-id, corpus-id and score with tabs between, or TREC's topic 0 document grade",
            )
        if columns is not None and len(cells) != width:
            raise InputError(f"{where}: {counted(len(cells), 'cell')}", expected=f"{width}, as in the header")
        places = columns or {headers.QUERY: 0, headers.DOCUMENT: len(cells) - 2, headers.GRADE: len(cells) - 1}
        grade = cells[places[headers.GRADE]] if headers.GRADE in places else ALL_RELEVANT
        yield number, cells[places[headers.QUERY]], cells[places[headers.DOCUMENT]], grade


def _check_sides(
    path: Path, rows: Sequence[JudgedRow], of_query: Mapping[str, int], of_document: Mapping[str, int]
) -> None:
    """Raise ``InputError`` if judgments match more ids when queries and documents change places."""
    as_it_is = other_way = 0
    for _, query, document, _ in rows:
        as_it_is += (query in of_query) + (document in of_document)
        other_way += (document in of_query) + (query in of_document)
    if other_way > as_it_is:
        raise InputError(
            f"{path}: read the other way round, documents before queries, it matches {other_way:,} ids instead of "
            f"{as_it_is:,}",
            expected="the query's id, then the document's",
            remedy="give it a header that names the columns as they are, such as corpus-id, query-id, score; or, if "
            "that is right, the files of queries and documents are exchanged",
        )


def _require_judgments(
    files: FolderFiles,
    asked: Path,
    queries: Sequence[Found],
    judged: Sequence[Judgment],
    qrels: Path,
    options: FolderOptions,
) -> None:
    """Refuse queries that are in no file of judgments."""
    if not judged:
        raise InputError(f"{qrels} has no judgments", expected="a row per query and document")
    if options.skips:
        return
    named = {queries[judgment.query].id for judgment in judged}
    if len(named) == len(queries):
        return
    for other in () if files.named(options, JUDGMENTS) else splits_of(files):
        if other != qrels:
            source = Source(JUDGMENTS, other, _bytes(files, other), options.named(JUDGMENTS))
            named |= {query for _, query, *_ in _qrels_rows(source)[0]}
    lacking = [query for query in queries if query.id not in named]
    if lacking:
        more = f" (and {len(lacking) - 1:,} more)" if len(lacking) > 1 else ""
        raise InputError(
            f"{asked}, line {lacking[0].line}: no judgment of the query '{shortened(lacking[0].id)}'{more}",
            expected=f"judgments of every query in {qrels.relative_to(files.folder)}",
            remedy=f"judge or remove it, or leave such queries out: {files.skipping(options)}",
        )
