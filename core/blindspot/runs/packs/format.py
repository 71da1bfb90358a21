"""Format of a result pack: a finished run in two files, and the texts that it speaks of in a folder that runs share.

    runs/<run id>.parquet            its rows, one per item
    runs/<run id>.json               all else; written last, so that a run without it is not there
    datasets/<digest>/texts.parquet  the texts
    datasets/<digest>/rows.parquet   pairs and other rows, as numbers of texts; not for every kind
    datasets/<digest>/parts.parquet  what the digest is made of, which proves the texts

Names of files follow from the run's id and the digests; the files name none. A pack may come from anyone: whatever is
read here is checked against its schema, against limits, and against the digests that name it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

import numpy as np
import pyarrow as pa

import blindspot
from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.kinds import KINDS
from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.diagnostic import FIT_ON, Diagnostic, all_diagnostics
from blindspot.errors import InputError
from blindspot.files.tables import is_text, parquet_batches, parquet_errors
from blindspot.runs.packs.folders import Folder
from blindspot.runs.requests import run_id_of
from blindspot.store.records import RunPlan
from blindspot.store.repository import rows_of
from blindspot.store.whole_runs import EncodingCost, StoredTexts, WholeRun
from blindspot.types import digest_of_strings
from blindspot.variants import Variant

FORMAT, VERSION = "blindspot result pack", 1
MOST_JSON = 2**26  # bytes of the manifest, own columns included
MOST_PACKED, MOST_UNPACKED = 2**29, 2**31  # bytes of a Parquet file, and of what is in it
LONGEST = 4_000  # characters of a reference or a name
MOST_SCORES = 10_000
RUN_ID, DIGEST = re.compile("[0-9a-f]{16}"), re.compile("[0-9a-f]{64}")
_NUMBER = pa.int32()
# Columns of the rows of a dataset by the table that keeps them, as ``Dataset.stored_rows`` gives them.
ROWS: Mapping[str, pa.Schema] = {
    "pair": pa.schema({"item_no": _NUMBER, "query_no": _NUMBER, "match_no": _NUMBER}),
    "minimal_pair": pa.schema(
        {"item_no": _NUMBER, "subset": pa.string(), "original_no": _NUMBER, "rewrite_no": _NUMBER}
    ),
    "scored_pair": pa.schema(
        {
            "item_no": _NUMBER,
            "set_name": pa.string(),
            "first_no": _NUMBER,
            "second_no": _NUMBER,
            "gold": pa.float64(),
        }
    ),
    "analogy": pa.schema({"item_no": _NUMBER, "section": pa.string()} | {f"{each}_no": _NUMBER for each in "abcd"}),
    "category": pa.schema({"item_no": _NUMBER, "class": pa.string()}),
    "outlier": pa.schema({"item_no": _NUMBER, "group_name": pa.string(), "place": _NUMBER, "word_no": _NUMBER}),
    "event": pa.schema(
        {"item_no": _NUMBER} | {f"{each}_no": _NUMBER for each in ("agent", "verb", "typical", "atypical")}
    ),
    "labeled_text": pa.schema(
        {
            "item_no": _NUMBER,
            "split": pa.string(),
            "first_no": _NUMBER,
            "second_no": _NUMBER,
            "label": pa.string(),
        }
    ),
    "chunked_sentence": pa.schema(
        {"item_no": _NUMBER, "split": pa.string(), "sentence": pa.string(), "tags": pa.string()}
    ),
    "retrieval": pa.schema({"item_no": _NUMBER, "query_id": pa.string(), "query_no": _NUMBER}),
}
_MAY_LACK = {("labeled_text", "second_no")}
_TEXTS, _PARTS = pa.schema({"text": pa.string()}), pa.schema({"part": pa.string()})


@dataclass(frozen=True, eq=False)
class Pack:
    """A run that was read from a pack.

    Attributes:
        rows_digest: of the rows of its dataset (``digest_of_table``), or "".
        fitted_on: digest of the texts of another dataset that its transform was fitted on, or "".
    """

    entry: Diagnostic
    run: WholeRun
    kind: DatasetKind
    rows_digest: str
    fitted_on: str


def manifest_name(run_id: str) -> str:
    return f"runs/{run_id}.json"


def items_name(run_id: str) -> str:
    return f"runs/{run_id}.parquet"


def _dataset_file(digest: str, what: str) -> str:
    return f"datasets/{digest}/{what}.parquet"


def ids_in(folder: Folder) -> list[str]:
    """Names of the packs of a folder: ids of runs, where they come from Blindspot."""
    return [name.removesuffix(".json") for name in folder.names("runs") if name.endswith(".json")]


# --- writing


def write_pack(folder: Folder, run: WholeRun, dataset: Dataset, fitted_on: str = "") -> None:
    """Write a finished run, its manifest last.

    Args:
        dataset: the run's, whole.
        fitted_on: digest of the texts of another dataset that the transform was fitted on.

    Raises:
        BlindspotError: the folder cannot be written to; what is there is no pack.
    """
    digest, rows = dataset.content_digest, rows_of(dataset)
    if not folder.has(_dataset_file(digest, "parts")):  # written last of the three
        folder.write(_dataset_file(digest, "texts"), _parquet(pa.table({"text": pa.array(dataset.items, pa.string())})))
        if rows is not None:
            folder.write(_dataset_file(digest, "rows"), _parquet(rows))
        parts = pa.array([str(part) for part in dataset.content_parts], pa.string())
        folder.write(_dataset_file(digest, "parts"), _parquet(pa.table({"part": parts})))
    items = _parquet(run.items)
    folder.write(items_name(run.plan.run_id), items)
    facts = _facts(run, dataset.kind, items, "" if rows is None else digest_of_table(rows), fitted_on)
    facts["digest"] = _digest_of(facts)
    folder.write(manifest_name(run.plan.run_id), json.dumps(facts, ensure_ascii=True).encode())


def _facts(run: WholeRun, kind: DatasetKind, items: bytes, rows_digest: str, fitted_on: str) -> dict[str, Any]:
    plan = run.plan
    return {
        "format": FORMAT,
        "version": VERSION,
        "blindspot": blindspot.__version__,
        "run": {
            "run_id": plan.run_id,
            "diagnostic": plan.diagnostic,
            "diagnostic_version": plan.diagnostic_version,
            "encoder": plan.variant.encoder,
            "transform": plan.variant.transform,
            "dataset": plan.dataset,
            "dataset_digest": plan.dataset_digest,
            "params": dict(plan.params),
            "embedding_digest": plan.embedding_digest,
            "support": list(plan.covered_by),
            "support_digest": plan.covered_digest,
            "own_support": plan.own_covered,
            "started_at": _written(run.started_at),
            "finished_at": _written(run.finished_at),
        },
        "fitted_on": fitted_on,
        "metrics": dict(run.metrics),
        "coverage": dict(run.coverage),
        "timings": dict(run.timings),
        "manifest": dict(run.manifest),
        "items": {"rows": run.items.num_rows, "sha256": hashlib.sha256(items).hexdigest()},
        "support": run.covered and {"items": run.covered[0], "ranked": base64.b64encode(run.covered[1]).decode()},
        "dataset": {"kind": str(kind), "rows_digest": rows_digest},
        "embeddings": [asdict(cost) for cost in run.costs],
        "own_columns": [
            {"name": c.name, "values": list(c.values), "codes": base64.b64encode(c.codes.tobytes()).decode()}
            for c in run.own_columns
        ],
    }


def digest_of_table(table: pa.Table) -> str:
    """Digest of the cells of a table of numbers and texts, however they are stored."""
    parts = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        cells = column.to_pylist() if is_text(column.type) or column.null_count else column.to_numpy().tolist()
        parts += [name, str(len(cells)), *("-" if cell is None else f"={cell}" for cell in cells)]
    return digest_of_strings(parts)


def _parquet(table: pa.Table) -> bytes:
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _digest_of(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _written(when: datetime) -> str:
    """UTC, whether it says so or not, as the store keeps times."""
    return (when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)).isoformat(timespec="microseconds")


# --- reading


def read_pack(folder: Folder, name: str) -> Pack:
    """A run from a folder; its texts are read by ``read_texts``.

    Raises:
        InputError: it is no pack, damaged, of a newer version, or does not fit its id.
        BlindspotError: the folder cannot be read.
    """
    if not RUN_ID.fullmatch(name):
        raise InputError(f"runs/{name[:80]}.json is no result pack", expected="a name of 16 hexadecimal digits")
    where = manifest_name(name)
    facts = _Facts(_json(folder.read(where, MOST_JSON), where), where)
    if facts.raw.get("format") != FORMAT:
        raise InputError(f"{where} is no result pack", expected=f'a file that begins with "format": "{FORMAT}"')
    if facts.count("version") != VERSION:
        raise InputError(
            f"{where} is a result pack of version {facts.count('version')}",
            expected=f"version {VERSION}",
            remedy="a newer Blindspot wrote it: update this one",
        )
    claimed = facts.text("digest")
    if claimed != _digest_of({key: value for key, value in facts.raw.items() if key != "digest"}):
        raise facts.wrong("digest", "the digest of what is in it: the file is damaged, or was edited")
    plan = _plan(facts.inside("run"))
    if plan.run_id != name:
        raise InputError(f"{where} has the run {plan.run_id}", expected=f"run {name}")
    entry = _entry(plan, where)
    fitted_on = facts.text("fitted_on", may_be_empty=True)
    _check_identity(plan, entry, fitted_on, facts)
    kind, rows_digest = _dataset(facts.inside("dataset"), entry)
    covered = _covered(facts, plan)
    run = WholeRun(
        plan=plan,
        started_at=facts.inside("run").time("started_at"),
        finished_at=facts.inside("run").time("finished_at"),
        metrics=facts.numbers("metrics"),
        coverage={key: int(value) for key, value in facts.numbers("coverage", whole=True).items()},
        timings=facts.numbers("timings"),
        manifest=facts.inside("manifest").raw,
        items=_items(folder, facts, plan, entry),
        covered=covered,
        costs=tuple(_cost(each) for each in facts.each("embeddings")),
        own_columns=tuple(_own_column(each) for each in facts.each("own_columns")),
    )
    return Pack(entry, run, kind, rows_digest, fitted_on)


def read_texts(folder: Folder, pack: Pack) -> StoredTexts:
    """The texts and rows of a pack's dataset, proven by its digest.

    Raises:
        InputError: they are missing, damaged, or not those of the digest.
        BlindspotError: the folder cannot be read.
    """
    plan, digest = pack.run.plan, pack.run.plan.dataset_digest
    parts = _table(folder, _dataset_file(digest, "parts"), _PARTS)["part"].to_pylist()
    texts = _table(folder, _dataset_file(digest, "texts"), _TEXTS)["text"]
    proof = [str(pack.kind), digest_of_strings(texts.to_pylist())]
    if parts[:2] != proof or digest_of_strings(parts) != digest:
        raise InputError(f"{_dataset_file(digest, 'texts')} has other texts than the digest {digest[:16]}... is of")
    stored_as, rows = KINDS[pack.kind].stored_as, None
    if stored_as:
        name = _dataset_file(digest, "rows")
        rows = _table(folder, name, ROWS[stored_as], {column for table, column in _MAY_LACK if table == stored_as})
        if digest_of_table(rows) != pack.rows_digest:
            raise InputError(f"{name} has other rows than run {plan.run_id} names")
        _check_numbers(rows, len(texts), name)
        if stored_as == "pair" and parts[-1] != _digest_of_numbers(rows, "query_no", "match_no"):
            raise InputError(f"{name} has other pairs than the digest {digest[:16]}... is of")
    return StoredTexts(plan.dataset, digest, pack.kind, texts, rows)


def _digest_of_numbers(rows: pa.Table, *columns: str) -> str:
    """As the last of ``Dataset.content_parts``."""
    numbers = [rows[column].to_numpy().astype(np.int32) for column in columns]
    return hashlib.sha256(b"".join(each.tobytes() for each in numbers)).hexdigest()


def _check_numbers(rows: pa.Table, texts: int, name: str) -> None:
    """Numbers of texts are those of texts that there are, numbers of rows at least none below 0."""
    for column in rows.column_names:
        if not column.endswith("_no"):
            continue
        numbers = rows[column].drop_null().to_numpy()
        most = max(texts, rows.num_rows) if column == "item_no" else texts
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < most:
            raise InputError(f"{name}: a number in the column '{column}' is of no text", expected=f"0 to {most - 1}")


def _json(data: bytes, where: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no number of JSON")

    try:
        return json.loads(data, parse_constant=refuse)
    except (ValueError, RecursionError) as error:  # ValueError: JSON, UTF-8, huge numbers
        raise InputError(f"{where} is no JSON, or is damaged: {str(error)[:200]}") from error


_T = TypeVar("_T")


class _Facts:
    """An object of a manifest, whose values are checked when they are read."""

    def __init__(self, raw: Any, where: str, inside: str = "") -> None:
        self.where, self._inside = where, inside
        if not isinstance(raw, dict):
            raise InputError(f"{where}: {inside or 'it'} is no object of JSON")
        self.raw: dict[str, Any] = raw

    def wrong(self, key: str, expected: str) -> InputError:
        return InputError(f"{self.where}: '{self._inside}{key}' is not as it should be", expected=expected)

    def _get(self, key: str, kind: type[_T], expected: str) -> _T:
        value = self.raw.get(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(key, expected)
        return value

    def text(self, key: str, *, may_be_empty: bool = False) -> str:
        value = self._get(key, str, "a text")
        if len(value) > LONGEST or not (value or may_be_empty) or not value.isprintable():
            raise self.wrong(key, f"a text of at most {LONGEST:,} characters, all visible")
        return value

    def hexadecimal(self, key: str, pattern: re.Pattern[str]) -> str:
        value = self._get(key, str, "a text")
        if not pattern.fullmatch(value):
            raise self.wrong(key, "hexadecimal digits")
        return value

    def count(self, key: str, most: int = 2**62) -> int:
        value = self._get(key, int, "a whole number from 0")
        if not 0 <= value <= most:
            raise self.wrong(key, f"a whole number from 0 to {most:,}")
        return value

    def number(self, key: str) -> float:
        value = self.raw.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(key, "a number")
        try:
            if math.isfinite(number := float(value)):
                return number
        except OverflowError:
            pass
        raise self.wrong(key, "a finite number")

    def truth(self, key: str) -> bool:
        return self._get(key, bool, "true or false")

    def time(self, key: str) -> datetime:
        try:
            if (moment := datetime.fromisoformat(self.text(key))).tzinfo is not None:
                return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise self.wrong(key, "a date and time, and its zone")

    def inside(self, key: str) -> _Facts:
        return _Facts(self.raw.get(key), self.where, f"{self._inside}{key}.")

    def each(self, key: str) -> list[_Facts]:
        values: list[Any] = self._get(key, list, "a list")
        return [_Facts(member, self.where, f"{self._inside}{key}.{n}.") for n, member in enumerate(values)]

    def texts(self, key: str) -> tuple[str, ...]:
        values: list[Any] = self._get(key, list, "a list of texts")
        if not all(isinstance(text, str) and len(text) <= LONGEST for text in values):
            raise self.wrong(key, "a list of texts")
        return tuple(values)

    def numbers(self, key: str, *, whole: bool = False) -> dict[str, float]:
        """An object of finite numbers."""
        inside = self.inside(key)
        if len(inside.raw) > MOST_SCORES or not all(0 < len(name) <= LONGEST for name in inside.raw):
            raise self.wrong(key, f"at most {MOST_SCORES:,} named numbers")
        return {name: inside.count(name) if whole else inside.number(name) for name in inside.raw}

    def bytes(self, key: str) -> bytes:
        try:
            return base64.b64decode(self._get(key, str, "bytes in base64"), validate=True)
        except ValueError as error:
            raise self.wrong(key, "bytes in base64") from error


def _plan(facts: _Facts) -> RunPlan:
    params = facts.inside("params")
    return RunPlan(
        run_id=facts.hexadecimal("run_id", RUN_ID),
        diagnostic=facts.text("diagnostic"),
        diagnostic_version=facts.count("diagnostic_version"),
        variant=Variant(facts.text("encoder"), facts.text("transform")),
        dataset=DatasetRef(facts.text("dataset")),
        dataset_digest=facts.hexadecimal("dataset_digest", DIGEST),
        params={name: params.text(name) for name in sorted(params.raw)},
        embedding_digest=facts.text("embedding_digest", may_be_empty=True),
        covered_by=facts.texts("support"),
        covered_digest=facts.text("support_digest", may_be_empty=True),
        own_covered=facts.truth("own_support"),
    )


def _entry(plan: RunPlan, where: str) -> Diagnostic:
    entry = all_diagnostics().get(plan.diagnostic)
    if entry is None or entry.version != plan.diagnostic_version:
        here = f"version {entry.version}" if entry else f"one of {', '.join(all_diagnostics())}"
        raise InputError(
            f"{where} is of version {plan.diagnostic_version} of the diagnostic {plan.diagnostic[:80]}",
            expected=here,
            remedy="another version of Blindspot computed it",
        )
    return entry


def _check_identity(plan: RunPlan, entry: Diagnostic, fitted_on: str, facts: _Facts) -> None:
    given_params = {name: value for name, value in plan.params.items() if name != FIT_ON}
    if entry.check_params(given_params) != given_params:
        raise facts.wrong("run.params", f"all parameters of {entry.id}, and no others")
    if str(plan.variant.chain) != plan.variant.transform:
        raise facts.wrong("run.transform", "a chain of transforms as Blindspot writes it")
    if bool(fitted_on) != (FIT_ON in plan.params):
        raise facts.wrong("fitted_on", "a digest where the transform was fitted on another dataset, and only there")
    if run_id_of(plan, fitted_on) != plan.run_id:
        raise facts.wrong("run.run_id", "the id that follows from what was run: the pack is made up, or was edited")


def _dataset(facts: _Facts, entry: Diagnostic) -> tuple[DatasetKind, str]:
    kind, rows_digest = facts.text("kind"), facts.text("rows_digest", may_be_empty=True)
    if kind != entry.dataset_kind or bool(rows_digest) != bool(KINDS[entry.dataset_kind].stored_as):
        raise facts.wrong("kind", f"a {entry.dataset_kind}")
    return entry.dataset_kind, rows_digest


def _covered(facts: _Facts, plan: RunPlan) -> tuple[int, bytes] | None:
    if facts.raw.get("support") is None and not plan.covered_digest:
        return None
    inside = facts.inside("support")
    items, ranked = inside.count("items", 2**31), inside.bytes("ranked")
    if hashlib.sha256(ranked).hexdigest()[:16] != plan.covered_digest or len(ranked) != (items + 7) // 8:
        raise facts.wrong("support.ranked", "the bits that the run's support_digest is of")
    return items, ranked


def _items(folder: Folder, facts: _Facts, plan: RunPlan, entry: Diagnostic) -> pa.Table:
    about, name = facts.inside("items"), items_name(plan.run_id)
    schema = pa.schema([("item_no", _NUMBER), *zip(entry.schema.names, entry.schema.types, strict=True)])
    table = _table(folder, name, schema, sha256=about.hexadecimal("sha256", DIGEST))
    if table.num_rows != about.count("rows"):
        raise InputError(f"{name} has {table.num_rows:,} rows", expected=f"{about.count('rows'):,}")
    if table.num_rows and int(table["item_no"].to_numpy().min()) < 0:
        raise InputError(f"{name}: a number in the column 'item_no' is below 0")
    return table


def _cost(facts: _Facts) -> EncodingCost:
    return EncodingCost(
        digest=facts.text("digest"),
        encoder=facts.text("encoder"),
        revision=facts.text("revision", may_be_empty=True),
        dimension=facts.count("dimension", 2**31 - 1),
        parameters=facts.count("parameters"),
        memory_bytes=facts.count("memory_bytes"),
        texts=facts.count("texts", 2**31 - 1),
        seconds=facts.number("seconds"),
        device=facts.text("device", may_be_empty=True),
    )


def _own_column(facts: _Facts) -> OwnColumn:
    values, codes = facts.texts("values"), np.frombuffer(facts.bytes("codes"), dtype=np.uint8)
    if len(codes) and int(codes.max()) >= len(values):
        raise facts.wrong("codes", "a number of one of the values per row")
    return OwnColumn(facts.text("name", may_be_empty=True), values, codes)


def _table(
    folder: Folder, name: str, schema: pa.Schema, may_lack: Sequence[str] | set[str] = (), *, sha256: str = ""
) -> pa.Table:
    """A Parquet file with exactly these columns; raises ``InputError``."""
    from pyarrow import parquet

    data = folder.read(name, MOST_PACKED)
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise InputError(f"{name} is damaged: it does not have the checksum that its manifest names")
    with parquet_errors(name):
        with parquet.ParquetFile(pa.BufferReader(data)) as source:
            schema_found = source.schema_arrow
        if schema_found.names != schema.names or [_plain(kind) for kind in schema_found.types] != schema.types:
            shown = ", ".join(f"{field.name[:40]} {field.type}" for field in list(schema_found)[:20])[:300]
            wanted = ", ".join(f"{field.name} {field.type}" for field in schema)
            raise InputError(f"{name} has the columns {shown}", expected=wanted)
        batches = [batch.cast(schema) for batch in parquet_batches(data, name, schema.names, MOST_UNPACKED)]
    table = pa.Table.from_batches(batches, schema)
    for column in set(schema.names) - set(may_lack):
        if table[column].null_count:
            raise InputError(f"{name} lacks values in the column '{column}'")
    return table


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if is_text(kind) else kind
