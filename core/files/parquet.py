"""Reading a Parquet file that somebody else made: a few kilobytes of it can claim, and become, terabytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from core.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


def batches(data: bytes, file: str, columns: Sequence[str], rows: int, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows of some columns, batch by batch, texts as plain strings; the file is checked as far as it is read.

    A text that stands in many rows is kept once in the file's dictionary. Read as dictionaries, the batches tell how
    large they will be before they are.

    Args:
        file: its name, for errors.
        columns: names of columns that are not nested.
        rows: of a batch.
        most_bytes: that all batches together may have.

    Raises:
        InputError: it unpacks to more.
        pyarrow.ArrowException, OSError, UnicodeDecodeError: it is broken.
    """
    import pyarrow as pa
    from pyarrow import parquet

    def check(size: int) -> None:
        if size > most_bytes:
            raise InputError(
                f"{file} unpacks to more than {most_bytes:,} bytes",
                expected="no more than that",
                remedy="take a sample, or keep the columns of text only",
            )

    with parquet.ParquetFile(pa.BufferReader(data)) as plain:
        wanted, metadata = set(columns), plain.metadata
        texts = [f.name for f in plain.schema_arrow if f.name in wanted and _is_text(f.type)]
        for group in range(metadata.num_row_groups):
            chunks = [metadata.row_group(group).column(i) for i in range(metadata.num_columns)]
            check(sum(c.total_uncompressed_size for c in chunks if c.path_in_schema in wanted))
    unpacked = 0
    with parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts) as source:
        for batch in source.iter_batches(batch_size=rows, columns=list(columns)):
            batch.validate(full=True)
            unpacked += sum(_size(column) for column in batch.columns)
            check(unpacked)
            arrays = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in batch.columns]
            decoded = pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)
            decoded.validate(full=True)  # now the texts too are seen to be UTF-8
            yield decoded


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _size(column: pa.Array) -> int:
    """Bytes of a column once it is decoded."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    if not (_is_text(column.type.value_type) or pa.types.is_binary(column.type.value_type)):
        return int(column.nbytes)
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return int(compute.sum(lengths).as_py() or 0) + 4 * len(column)
