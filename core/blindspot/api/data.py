"""Data as a program has it: a dataset's id, a path, a data frame, columns, a list of tuples, or queries, documents and
judgments by these names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.named import dataset_named
from blindspot.datasets.user_data.columns import UnclearColumns
from blindspot.datasets.user_data.kinds import OWN_KINDS
from blindspot.datasets.user_data.reference import ROLES, NamedColumns, reference_of_files, with_columns
from blindspot.datasets.user_data.retrieval_folder.options import COLUMN_OPTIONS, FORMS
from blindspot.errors import InputError, unknown
from blindspot.files.writing import write_atomically
from blindspot.settings import Settings

EXPECTED = (
    "a dataset id, a path, a data frame, a dict of columns, a list of tuples, or a dict of queries, documents and "
    "judgments"
)
FOLDER = "given"


def reference_of(
    data: Any, kind: DatasetKind | None, columns: Mapping[str, str] | None, settings: Settings
) -> DatasetRef:
    """The reference of a dataset; data in memory is written to the store's folder, named by its content.

    Args:
        kind: the kind of data that the diagnostic needs; None for any.
        columns: name of the column by role, such as ``{"query": "question"}``; for three tables
            ``{"queries.text": "question"}``.

    Raises:
        InputError: it is none of ``EXPECTED``, or cannot be read as such data.
    """
    if isinstance(data, Mapping) and {*data} == {*FORMS}:
        return _checked(_of_three(data, columns or {}, settings))
    named = _named(columns)
    if isinstance(data, str | os.PathLike):
        reference = DatasetRef(dataset_named(os.fspath(data)))
        if named:
            return DatasetRef(with_columns(reference, named))
        return _checked(reference.of_kind(kind) if kind else reference)
    table = _table(data, kind)
    reference = DatasetRef(f"file:{_written(table, settings.home / FOLDER)}")
    if named is None:
        if kind and (fitting := reference.of_kind(kind)) != reference:
            return _checked(fitting)
        named = _columns_of(table, kind)
        by_itself = _kind_of(reference) if named else None
        if kind is DatasetKind.PAIR_SET and by_itself is DatasetKind.RETRIEVAL:
            named = None  # else its negatives would be passed over
    return _checked(f"{reference}?{named}" if named else reference)


def _kind_of(reference: DatasetRef) -> DatasetKind | None:
    """The kind of data that a table is by its own columns; None if they are wrong for any kind.

    Raises:
        UnclearColumns: the columns can be meant in several ways.
    """
    try:
        return reference.entry().kind
    except UnclearColumns:
        raise
    except InputError:
        return None


def _checked(reference: str) -> DatasetRef:
    """The reference of a dataset, after a check that it can be read."""
    return DatasetRef(DatasetRef(reference).entry().id)


def _of_three(data: Mapping[str, Any], columns: Mapping[str, str], settings: Settings) -> str:
    """The reference of queries, documents and judgments, each a path or a table."""
    for role in columns:
        if role not in COLUMN_OPTIONS:
            raise unknown("role of a column", str(role), COLUMN_OPTIONS)
    given = {}
    for part, source in data.items():
        is_path = isinstance(source, str | os.PathLike)
        path = os.fspath(source) if is_path else str(_written(_table(source, None), settings.home / FOLDER))
        named = [(role.partition(".")[2], name) for role, name in columns.items() if role.startswith(f"{part}.")]
        given[part] = path + "".join(
            f"{'&' if n or '?' in path else '?'}{role}={quote(name, safe='')}" for n, (role, name) in enumerate(named)
        )
    return reference_of_files(given)


def _named(columns: Mapping[str, str] | None) -> NamedColumns | None:
    if columns is None:
        return None
    for role in columns:
        if role not in ROLES:
            raise unknown("role of a column", str(role), ROLES)
    return NamedColumns.of(list(columns.items()))


def _table(data: Any, kind: DatasetKind | None) -> pa.Table:
    """A table of a frame, a dict of columns, or a list of tuples or dicts."""
    try:
        if isinstance(data, Mapping):
            _check_columns(data)
            return pa.table({str(name): list(column) for name, column in data.items()})
        if isinstance(data, Sequence) and data and all(isinstance(row, Mapping) for row in data):
            return pa.Table.from_pylist([dict(row) for row in data])
        if isinstance(data, Sequence) and data and all(isinstance(row, tuple | list) for row in data):
            return _of_tuples(data, kind)
        if (table := _of_frame(data)) is not None:
            return table
    except (pa.ArrowException, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the data is no table: {error}", expected=EXPECTED) from error
    what = "an empty list" if isinstance(data, Sequence) and not data else f"the type {type(data).__name__}"
    raise InputError(f"{what} is no data", expected=EXPECTED)


def _of_frame(data: Any) -> pa.Table | None:
    """An Arrow table, a polars or pandas frame, or a Dataset of Hugging Face's datasets; None for anything else."""
    if isinstance(data, pa.Table):
        return data
    if hasattr(data, "to_arrow"):
        return data.to_arrow()
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return pa.Table.from_pandas(_with_index(data), preserve_index=False)
    is_dataset = all(hasattr(data, name) for name in ("with_format", "column_names", "__len__"))
    return data.with_format("arrow")[:] if is_dataset else None


def _with_index(frame: Any) -> Any:
    """A pandas frame with the texts of a named index, such as the queries, as a column."""
    index = frame.index.to_frame(index=False)
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    texts = [name for name in named if len(index) and isinstance(index[name].iloc[0], str)]
    return frame.reset_index(drop=True).assign(**{str(name): index[name] for name in texts}) if texts else frame


def _check_columns(data: Mapping[Any, Any]) -> None:
    """Refuse a dict of tables, as of several splits, or of texts by id."""
    if tables := [
        str(name)
        for name, column in data.items()
        if isinstance(column, Mapping | str) or hasattr(column, "columns") or hasattr(column, "column_names")
    ]:
        raise InputError(
            f"a dict with no list of cells under {', '.join(map(repr, tables[:3]))}",
            expected=EXPECTED,
            remedy="give one table; queries, documents and judgments are called so, each a dict of columns",
        )


def _of_tuples(rows: Sequence[Sequence[Any]], kind: DatasetKind | None) -> pa.Table:
    """A table of tuples; columns are named as in the diagnostic's own files, by the number of columns."""
    widths = sorted({len(row) for row in rows})
    forms = [form for user_kind in OWN_KINDS.values() if kind in {None, user_kind.kind} for form in user_kind.forms]
    form = next((form for form in forms if [len(form)] == widths), None)
    if form is None:
        what = f"rows of {' and '.join(map(str, widths))} values"
        raise InputError(what, expected="tuples of " + ", or of ".join(" and ".join(form) for form in forms))
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(form)})


def _columns_of(table: pa.Table, kind: DatasetKind | None) -> NamedColumns | None:
    """The columns, if named as in the diagnostic's own files; others are recognized or refused later."""
    user_kind = OWN_KINDS.get(kind) if kind else None
    if user_kind is None:
        return None
    for form in user_kind.forms:
        if {*form} <= {*table.column_names}:
            more = [role for role in user_kind.optional if role in table.column_names]
            return NamedColumns.of([(role, role) for role in (*form, *more)])
    return None


def _written(table: pa.Table, folder: Path) -> Path:
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    classes = {key: value for key, value in (table.schema.metadata or {}).items() if key == b"huggingface"}
    parquet.write_table(table.replace_schema_metadata(classes or None), sink)
    content = sink.getvalue().to_pybytes()
    path = folder / f"data-{hashlib.sha256(content).hexdigest()[:12]}.parquet"
    if not path.exists():
        write_atomically(path, lambda file: file.write(content))
    return path
