"""A folder of queries, documents and judgments (``dir:PATH``), in the format of BEIR or of TREC.

BEIR has ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/*.tsv``; TREC has documents in ``<DOC>``, topics in ``<top>``
and judgments ``topic 0 document grade``. Each of the three may be in either format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from blindspot.datasets.kinds.base import DatasetKind, Rows
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.datasets.own import attributes
from blindspot.datasets.own.columns import OwnSource, check_text, is_blank, shortened
from blindspot.datasets.own.retrieval import counts_in_words, first_queries, grade_of
from blindspot.datasets.own.retrieval_folder import headers, trec
from blindspot.datasets.own.retrieval_folder.trec import Found
from blindspot.datasets.published.retrieval import Document, Judgement, Query, retrieval_dataset
from blindspot.errors import InputError, unknown
from blindspot.files import tables
from blindspot.files.writing import read_limited
from blindspot.texts import counted

CORPUS = (
    *("corpus.jsonl", "corpus.tsv", "corpus.csv", "documents.jsonl", "documents.tsv", "documents.csv"),
    *("collection.tsv", "collection.csv"),
)
CORPUS_PATTERNS = ("corpus.*", "documents.*", "docs.*")
QUERIES = ("queries.jsonl", "queries.tsv", "queries.csv")
QUERIES_PATTERNS = ("topics*",)
QRELS_PATTERNS = (
    *("qrels/*.tsv", "qrels/*.jsonl", "qrels/*.txt", "qrels/*.csv"),
    *("qrels.tsv", "qrels.jsonl", "qrels.csv", "qrels*.txt", "*.qrels"),
)
_IN_QRELS = 4  # of these
QRELS_LAST = ("qrels*",)
PREFERRED = "test"  # of several splits
PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
SKIP = "skip"
MAX_JUDGEMENTS = 5_000_000
FOLDER_OPTIONS = _SPLIT, _MISSING = "split", "missing"
T = TypeVar("T")


@dataclass(frozen=True)
class FolderOptions:
    """Options of a ``dir:`` reference: ``?split=dev&missing=skip``.

    Attributes:
        split: name of a file of judgments, without its ending; "" for the only one, or ``test``.
        skips: whether queries without judgments, and judgments of documents that are not there, are left out instead
            of being errors.
    """

    split: str = ""
    skips: bool = False

    @classmethod
    def parse(cls, query: str, reference: str) -> FolderOptions:
        given: dict[str, str] = {}
        for part in filter(None, query.split("&")):
            name, _, value = part.partition("=")
            if name not in FOLDER_OPTIONS:
                raise unknown("option of a folder", name, FOLDER_OPTIONS)
            if name in given or not value or (name == _MISSING and value != SKIP):
                raise InputError(
                    f"'{part}' in '{reference}'", expected=f"{_SPLIT}=NAME or {_MISSING}={SKIP}, each at most once"
                )
            given[name] = unquote(value)
        return cls(given.get(_SPLIT, ""), _MISSING in given)

    def __str__(self) -> str:
        parts = [f"{_SPLIT}={quote(self.split, safe='')}"] if self.split else []
        return "&".join(parts + [f"{_MISSING}={SKIP}"] * self.skips)


@dataclass(frozen=True)
class OwnRetrievalFolder(OwnSource):
    """A folder of queries, documents and judgments that was read.

    Attributes:
        read: the files that were read, in the order documents, queries, judgments, with their checksums.
        left_out: queries and judgments that were left out, as asked.
        empty: documents without a text that were left out, as asked.
    """

    read: tuple[tuple[Path, str], ...]
    queries: tuple[Query, ...]
    documents: tuple[Document, ...]
    judgements: tuple[Judgement, ...]
    own_columns: tuple[OwnColumn, ...]
    left_out: tuple[int, int]
    empty: int

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
        """Which file was read as what."""
        names = [path.relative_to(self.path).as_posix() for path, _ in self.read]
        return dict(zip(("documents", "queries", "judgments"), names, strict=True))

    @property
    def summary(self) -> str:
        places = ", ".join(f"{what} from {name}" for what, name in self.places.items())
        counts = counts_in_words(self.loaded(self.path.name))
        queries, judgements = self.left_out
        out = "; left out as asked: " + ", ".join(
            part
            for count, part in (
                (queries, f"{counted(queries, 'query', 'queries')} without judgments"),
                (judgements, f"{counted(judgements, 'judgment')} of unknown documents"),
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
        if not self.empty:
            return ""
        return (
            f"{self.path.name}: {counted(self.empty, 'document')} without a text left out as asked; "
            f"{len(self.documents):,} of {len(self.documents) + self.empty:,} are ranked"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(counts_in_words(self.loaded(self.path.name)).split("; "))

    def first_rows(self, n: int) -> Rows:
        return first_queries(self.queries, self.documents, self.judgements, n)

    def as_manifest(self) -> dict[str, Any]:
        queries, judgements = self.left_out
        return {
            "files": self.places,
            "rows": self.rows,
            "documents": len(self.documents),
            "judgements": len(self.judgements),
            "left_out": {"queries": queries, "judgements": judgements}
            | ({"empty_documents": self.empty} if self.empty else {}),
        }

    def loaded(self, dataset_id: str) -> RetrievalDataset:
        return retrieval_dataset(dataset_id, self.queries, self.documents, self.judgements, self.own_columns)


@dataclass(frozen=True, eq=False)
class FolderFiles:
    """The files of a folder, on disk or as a browser sent them.

    Attributes:
        folder: its path, or its name alone.
        paths: of its files and those in its ``qrels``, hidden ones left out.
        data: a file's bytes; raises ``InputError``.
        skipping: how to leave out what is not judged or not there.
    """

    folder: Path
    paths: tuple[Path, ...]
    data: Callable[[Path], bytes]
    skipping: str

    @classmethod
    def on_disk(cls, folder: Path) -> FolderFiles:
        every = (path for pattern in ("*", "qrels/*") for path in folder.glob(pattern))
        paths = (path for path in every if path.is_file() and not path.name.startswith("."))
        skipping = f"dir:{folder}?{_MISSING}={SKIP}"
        return cls(folder, tuple(sorted(paths)), lambda path: read_limited(path, tables.MAX_BYTES), skipping)

    def inside(self, pattern: str) -> list[Path]:
        """The files whose path below the folder fits a pattern, where ``*`` is no slash."""
        wanted = Path(pattern).parts
        return [path for path in self.paths if _fit(path.relative_to(self.folder).parts, wanted)]


def _fit(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def state_of(folder: Path) -> tuple[tuple[str, int, int, int], ...]:
    """What changes whenever a file of a folder does."""
    found = []
    for path in FolderFiles.on_disk(folder).paths:
        stat = path.stat()
        found.append((str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def read(folder: Path, options: FolderOptions | None = None) -> OwnRetrievalFolder:
    """Read a folder; without options its test part, or only part.

    Raises:
        InputError: a file is missing or wrong; in one line with the file and the row.
    """
    if not folder.is_dir():
        what = f"{folder} is a file" if folder.exists() else f"there is no folder {folder}"
        raise InputError(what, expected="a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv")
    return read_files(FolderFiles.on_disk(folder), options)


def read_files(files: FolderFiles, options: FolderOptions | None = None) -> OwnRetrievalFolder:
    """``read``, of files wherever they are."""
    options, folder = options or FolderOptions(), files.folder
    corpus = _one(files, CORPUS, CORPUS_PATTERNS, "documents", "corpus.jsonl")
    asked = _one(files, QUERIES, QUERIES_PATTERNS, "queries", "queries.jsonl")
    splits = splits_of(files)
    qrels = _split(folder, splits, options.split)
    were_read: list[tuple[Path, str]] = []

    def text_of(path: Path) -> str:
        data = _bytes(files, path)
        were_read.append((path, hashlib.sha256(data).hexdigest()))
        return tables.whole_text(path, data)

    things = list(_things(corpus, text_of(corpus), "document", options.skips))
    documents = [Document(one.id, one.title, one.text) for one in things if not _is_empty(one)]
    published = len(things)
    found = [one for one in _things(asked, text_of(asked), "query", options.skips) if not _is_empty(one)]
    if len(documents) < 2:
        raise InputError(f"{corpus} has {counted(len(documents), 'document')}", expected="at least 2 to rank")
    of_query = {one.id: number for number, one in enumerate(found)}
    of_document = {one.id: number for number, one in enumerate(documents)}
    judgement_text = text_of(qrels)
    _check_sides(qrels, judgement_text, of_query, of_document)
    judged = list(_judged(qrels, judgement_text, of_query, of_document, options, files.skipping))
    _require_judgements(files, asked, found, judged, qrels, splits, options)
    kept = sorted({one.query for one in judged})
    place = {query: number for number, query in enumerate(kept)}
    judgements = [Judgement(place[q], d, grade) for q, d, grade in judged if d >= 0]
    if not any(grade >= RELEVANT for *_, grade in judgements):
        raise InputError(f"{qrels} has no judgment of a relevant document", expected=f"grades of {RELEVANT} or more")
    return OwnRetrievalFolder(
        path=folder,
        sha256=hashlib.sha256("".join(checksum for _, checksum in were_read).encode()).hexdigest(),
        read=tuple(were_read),
        queries=tuple(Query(found[n].id, found[n].text) for n in kept),
        documents=tuple(documents),
        judgements=tuple(judgements),
        own_columns=_own_columns([found[n].metadata for n in kept]),
        left_out=(len(found) - len(kept), len(judged) - len(judgements)) if options.skips else (0, 0),
        empty=published - len(documents),
    )


# --- which files


def _one(files: FolderFiles, names: Sequence[str], patterns: Sequence[str], what: str, best: str) -> Path:
    if named := next((files.folder / name for name in names if files.folder / name in files.paths), None):
        return named
    found = list(dict.fromkeys(path for pattern in patterns for path in files.inside(pattern)))
    return _only(files, [path for path in found if path.suffix not in PACKED], found, what, best)


def _only(files: FolderFiles, usable: Sequence[Path], found: Sequence[Path], what: str, best: str) -> Path:
    folder = files.folder
    packed = [*files.inside(f"{best}.*"), *(path for path in found if path.suffix in PACKED)]
    if not usable and packed:
        raise InputError(f"{packed[0]} is packed", expected=f"{folder / best}", remedy="unpack it")
    if not usable:
        raise InputError(f"{folder} has no {what}: no {best}", expected="corpus.jsonl, queries.jsonl and qrels/*.tsv")
    if len(usable) > 1:
        names = ", ".join(path.name for path in usable)
        raise InputError(f"{folder} has several files of {what}: {names}", expected=f"one, best {best}")
    return usable[0]


def splits_of(files: FolderFiles) -> list[Path]:
    """All files of judgments; of the patterns the first that finds any."""
    for patterns in (QRELS_PATTERNS[:_IN_QRELS], QRELS_PATTERNS[_IN_QRELS:], QRELS_LAST):
        found = list(dict.fromkeys(path for pattern in patterns for path in files.inside(pattern)))
        if usable := [path for path in found if path.suffix not in PACKED]:
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


def _is_empty(one: Found) -> bool:
    return is_blank(one.text) and not one.title


def _things(path: Path, text: str, what: str, may_be_empty: bool) -> Iterator[Found]:
    """Documents or queries with distinct ids, in the file's order; those without a text only where they may be."""
    if path.suffix == ".jsonl":
        every = _of_json(path, text, what)
    elif text.lstrip().startswith("<"):
        every = trec.documents(path, text) if what == "document" else trec.topics(path, text)
    else:
        every = _of_lines(path, text, what)
    lines: dict[str, int] = {}
    for count, found in enumerate(every, 1):
        if count > tables.MAX_ROWS:
            tables.check_rows(path, count, more="at least ")
        place = f"{path}, line {found.line}"
        if found.id in lines:
            raise InputError(
                f"{place}: the id '{shortened(found.id)}' is that of line {lines[found.id]}, too",
                expected=f"an id of its own for every {what}",
            )
        lines[found.id] = found.line
        if may_be_empty and _is_empty(found):
            yield found
            continue
        check_text(
            found.title if is_blank(found.text) else found.text,
            place,
            remedy=f"give the {what} a text, remove it with its judgments, or leave such out: ?{_MISSING}={SKIP}",
        )
        if found.title:
            check_text(found.title, f"{place}, title")
        yield found


def _of_json(path: Path, text: str, what: str) -> Iterator[Found]:
    example = '{"_id": "d1", "title": "...", "text": "..."}' if what == "document" else '{"_id": "q1", "text": "..."}'
    for number, line in _numbered(text):
        place = f"{path}, line {number}"
        if len(line) > tables.MAX_LINE:
            raise InputError(f"{place}: {len(line):,} characters", expected=f"at most {tables.MAX_LINE:,}")
        row = tables.json_object(place, line, example)
        title, body, metadata = row.get("title") or "", row.get("text"), row.get("metadata")
        if "text" not in row:
            raise InputError(f"{place}: no 'text'", expected=example)
        for name, cell in (("title", title), ("text", body)):
            if cell is not None and not isinstance(cell, str):
                raise InputError(f"{place}, '{name}': {shortened(str(cell))} is not text", expected=example)
        yield Found(
            number,
            _id(row, "_id", place, example),
            title.strip(),
            body or "",
            metadata if isinstance(metadata, dict) else {},
        )


def _id(row: Mapping[str, Any], name: str, place: str, example: str) -> str:
    """An id in JSON; a number would be 1, 1.0 or 01 in other files."""
    found = row.get(name)
    if isinstance(found, int | float) and not isinstance(found, bool):
        raise InputError(
            f"{place}: the {name} {found} is a number",
            expected=f"a text, as in {example}",
            remedy='write it in quotes, in all files alike: "1" and "01" are different ids',
        )
    if not isinstance(found, str) or not found.strip():
        raise InputError(f"{place}: no '{name}'", expected=example)
    return check_text(found, f"{place}, '{name}'")


def _of_lines(path: Path, text: str, what: str) -> Iterator[Found]:
    """A table with a header; else ``id TAB text``, or of documents ``id TAB title TAB text``."""
    table = tables.separated(path.with_suffix(path.suffix if path.suffix == ".csv" else ".tsv"), text, is_even=False)
    if not table.cells:
        return
    form = headers.DOCUMENTS if what == "document" else headers.QUERIES
    columns = form.columns(path, table.cells[0], table.places[0])
    width = len(table.cells[0])
    expected = "id and text with a tab between" + ("; or id, title and text" * (what == "document"))
    for number, cells in zip(table.places[columns is not None :], table.cells[columns is not None :], strict=True):
        place = f"{path}, line {number}"
        if columns is None and len(cells) not in ((2, 3) if what == "document" else (2,)):
            raise InputError(f"{place}: {counted(len(cells), 'cell')}", expected=expected)
        if columns is not None and len(cells) != width:
            raise InputError(f"{place}: {counted(len(cells), 'cell')}", expected=f"{width}, as in the header")
        places = columns or {headers.ID: 0, headers.TEXT: len(cells) - 1} | (
            {headers.TITLE: 1} if len(cells) == 3 else {}
        )
        found = {role: cells[column] for role, column in places.items()}
        if not found[headers.ID].strip():
            raise InputError(f"{place}: no id", expected=expected)
        yield Found(number, found[headers.ID].strip(), found.get(headers.TITLE, "").strip(), found[headers.TEXT], {})


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    return ((n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1) if line.strip())


def _own_columns(metadata: Sequence[Mapping[str, Any]]) -> tuple[OwnColumn, ...]:
    """Metadata of queries that group them."""
    names = list(dict.fromkeys(name for row in metadata for name in row))
    columns = (attributes.own_column(name, [_plain(row.get(name)) for row in metadata]) for name in names)
    return tuple(column for column in columns if isinstance(column, OwnColumn))[: attributes.MOST_COLUMNS]


def _plain(cell: object) -> object:
    return str(cell) if isinstance(cell, list | dict) else cell


# --- judgments


def _judged(
    path: Path,
    text: str,
    of_query: Mapping[str, int],
    of_document: Mapping[str, int],
    options: FolderOptions,
    skipping: str,
) -> Iterator[Judgement]:
    """Judgments by numbers; those of a document that is not there, where that is asked for, have the number -1."""
    graded: dict[tuple[int, int], tuple[int, int]] = {}
    unseen: set[tuple[int, str]] = set()
    for count, (line, query, document, grade) in enumerate(_qrels_rows(path, text), 1):
        if count > MAX_JUDGEMENTS:
            raise InputError(f"{path} has more than {MAX_JUDGEMENTS:,} judgments", expected="at most so many")
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
                yield Judgement(of_query[query], -1, grade)
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
        yield Judgement(*pair, grade)


def _unknown_id(place: str, what: str, found: str, known: Iterable[str], skipping: str) -> InputError:
    """The error for an id that no file has, with the one that was probably meant."""

    def bare(text: str) -> str:
        key = text.strip().casefold().removesuffix(".0").lstrip("0")
        return key or "0"

    meant = next((one for one in known if bare(one) == bare(found)), None)
    return InputError(
        f"{place}: there is no {what} with the id '{shortened(found)}'",
        expected=f"an id of the {'queries' if what == 'query' else 'documents'}",
        remedy=f"did you mean '{shortened(meant)}'?" if meant else f"leave such rows out: {skipping}",
    )


def _qrels_rows(path: Path, text: str) -> Iterator[tuple[int, str, str, int]]:
    """Line, query, document and grade: of JSON, of a table with a header, of three cells, or of TREC's four."""
    example = '{"query-id": "q1", "corpus-id": "d1", "score": 1}'
    if path.suffix == ".jsonl":
        for number, line in _numbered(text):
            place = f"{path}, line {number}"
            row = tables.json_object(place, line, example)
            query, document = (_id(row, name, place, example) for name in ("query-id", "corpus-id"))
            yield number, query, document, grade_of(row.get("score"), f"{place}, 'score'")
        return
    columns: Mapping[str, int] | None = None
    width = 0
    for count, (number, cells) in enumerate(_cells(path, text)):
        place = f"{path}, line {number}"
        if count == 0 and (columns := headers.JUDGEMENTS.columns(path, cells, number)) is not None:
            width = len(cells)
            continue
        if columns is None and len(cells) not in (3, 4):
            raise InputError(
                f"{place}: {counted(len(cells), 'cell')}",
                expected="query-id, corpus-id and score with tabs between, or TREC's topic 0 document grade",
            )
        if columns is not None and len(cells) != width:
            raise InputError(f"{place}: {counted(len(cells), 'cell')}", expected=f"{width}, as in the header")
        places = columns or {headers.QUERY: 0, headers.DOCUMENT: len(cells) - 2, headers.GRADE: len(cells) - 1}
        query, document = cells[places[headers.QUERY]], cells[places[headers.DOCUMENT]]
        grade = grade_of(cells[places[headers.GRADE]], f"{place}, the grade")
        if not query or not document:
            raise InputError(f"{place}: no id of a {'document' if query else 'query'}", expected="both ids")
        yield number, query, document, grade


def _cells(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of a table of ids: with tabs, in a .csv with commas or semicolons, else with white space between.

    Comments before the first row are left out.
    """
    if path.suffix == ".csv":
        rows = tables.separated(path, text, is_even=False)
        yield from zip(rows.places, ([cell.strip() for cell in cells] for cells in rows.cells), strict=True)
        return
    begun = False
    for number, line in _numbered(text):
        if not begun and line.startswith("# "):
            continue
        begun = True
        cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()
        yield number, [cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell for cell in cells]


def _check_sides(path: Path, text: str, of_query: Mapping[str, int], of_document: Mapping[str, int]) -> None:
    """Ask where judgments match more ids when queries and documents change places."""
    as_it_is = other_way = 0
    for _, query, document, _ in _qrels_rows(path, text):
        as_it_is += (query in of_query) + (document in of_document)
        other_way += (document in of_query) + (query in of_document)
    if other_way > as_it_is:
        raise InputError(
            f"{path}: read the other way round, documents before queries, it matches {other_way:,} ids instead of "
            f"{as_it_is:,}",
            expected="the query's id, then the document's",
            remedy="give it a header that names the columns, such as corpus-id, query-id, score in the file's order",
        )


def _require_judgements(
    files: FolderFiles,
    asked: Path,
    found: Sequence[Found],
    judged: Sequence[Judgement],
    qrels: Path,
    splits: Sequence[Path],
    options: FolderOptions,
) -> None:
    """Refuse queries that no file of judgments names."""
    if not judged:
        raise InputError(f"{qrels} has no judgments", expected="a row per query and document")
    if options.skips:
        return
    named = {found[one.query].id for one in judged}
    if len(named) == len(found):
        return
    for other in splits:
        if other != qrels:
            named |= {query for _, query, *_ in _qrels_rows(other, tables.whole_text(other, _bytes(files, other)))}
    lacking = [one for one in found if one.id not in named]
    if lacking:
        more = f" (and {len(lacking) - 1:,} more)" if len(lacking) > 1 else ""
        raise InputError(
            f"{asked}, line {lacking[0].line}: no judgment of the query '{shortened(lacking[0].id)}'{more}",
            expected=f"judgments of every query in {qrels.relative_to(files.folder)}",
            remedy=f"judge or remove it, or leave such queries out: {files.skipping}",
        )
