"""Tables of minimal pairs (HEROS, Chiang 2023, section 2): a header with many possible spellings, then one row per
original with its rewrites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.errors import DataCorrupt, InputError

ORIGINAL = "original"
SUBSETS = ("synonym", "antonym", "negation_main", "negation_antonym", "random_mlm", "typo")
NEGATIONS = ("negation_main", "negation_antonym")
NEGATION = "negation"  # a column that does not say which of the two negations it has
# Headers by their letters only. Other columns are ignored.
_KNOWN = {
    "original": ORIGINAL,
    "originalsentence": ORIGINAL,
    "synonym": "synonym",
    "synonyms": "synonym",
    "antonym": "antonym",
    "antonyms": "antonym",
    "negation": NEGATION,
    "negations": NEGATION,
    "negationmain": "negation_main",
    "mainnegation": "negation_main",
    "negationantonym": "negation_antonym",
    "antonymnegation": "negation_antonym",
    "random": "random_mlm",
    "randommlm": "random_mlm",
    "mlmrandom": "random_mlm",
    "randomword": "random_mlm",
    "typo": "typo",
    "typos": "typo",
}
_NOT = frozenset({"not", "cannot"})


@dataclass(frozen=True)
class _Row:
    line: int
    cells: tuple[str, ...]


def minimal_pair_set(
    dataset_id: str, originals: Sequence[str], rewrites: Mapping[str, Sequence[str]], first: Iterable[str] = ()
) -> MinimalPairSet:
    """Originals, each with a rewrite per subset, among their distinct texts.

    Args:
        first: texts that get the first numbers, in this order; the others follow row by row.
    """
    number: dict[str, int] = {text: i for i, text in enumerate(dict.fromkeys(first))}
    for row in zip(originals, *rewrites.values(), strict=True):
        for text in row:
            number.setdefault(text, len(number))
    return MinimalPairSet(
        id=dataset_id,
        items=tuple(number),
        originals=np.array([number[text] for text in originals], dtype=np.int32),
        rewrites={s: np.array([number[text] for text in texts], dtype=np.int32) for s, texts in rewrites.items()},
    )


def load_table(dataset_id: str, path: Path, rows: int | None = None, first: Iterable[str] = ()) -> MinimalPairSet:
    """A tab-separated file with a header: the original and the six rewrites of HEROS, in columns in any order.

    Args:
        rows: how many originals there must be, if that is known.
        first: as in ``minimal_pair_set``.

    Raises:
        DataCorrupt: the file is not UTF-8.
        InputError: its header is not one of minimal pairs, or cells or rows are missing.
    """
    header, table = _read(path)
    columns = _columns(path, header, table)
    lacking = [
        f"line {row.line} has no {header[i].strip()}"
        for row in table
        for i in sorted(columns.values())
        if not (i < len(row.cells) and row.cells[i].strip())
    ]
    if lacking:
        more = f", and {len(lacking) - 3:,} more" if len(lacking) > 3 else ""
        raise InputError(
            f"{path} has {len(lacking):,} empty cell(s): {', '.join(lacking[:3])}{more}",
            expected="an original and all its rewrites in every row",
        )
    if rows is not None and len(table) != rows:
        raise InputError(
            f"{path} has {len(table):,} row(s) below its header", expected=f"{rows:,}: the file is not complete"
        )
    if len(table) < 2:
        raise InputError(
            f"{path} has {len(table)} row(s) below its header",
            expected="at least two originals, since similarities are compared with those of unrelated sentences",
        )
    texts = {name: [row.cells[i] for row in table] for name, i in columns.items()}
    return minimal_pair_set(dataset_id, texts[ORIGINAL], {s: texts[s] for s in SUBSETS}, first)


# --- the file


def _read(path: Path) -> tuple[tuple[str, ...], list[_Row]]:
    """The header's cells and the rows, empty lines left out."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataCorrupt(f"{path} is not UTF-8 (byte {error.start})", expected="a UTF-8 text file") from error
    lines = [(i, line) for i, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1) if line.strip(" ")]
    rows = _unquoted([_Row(i, tuple(line.split("\t"))) for i, line in lines])
    if not rows:
        raise InputError(f"{path} is empty", expected="a header and a row per original")
    header, table = rows[0].cells, rows[1:]
    for row in table:
        if any(cell.strip() for cell in row.cells[len(header) :]):
            raise InputError(
                f"{path}, line {row.line}: {len(row.cells)} cells", expected=f"{len(header)}, as its header has"
            )
    return header, table


def _unquoted(rows: list[_Row]) -> list[_Row]:
    """The rows without the quotes that a program put around cells with quotes in them, which it doubled.

    Only if every cell with a quote has that form, and one of them has doubled quotes: otherwise quotes are text.
    """
    quoted = [cell for row in rows for cell in row.cells if '"' in cell]
    is_written = all(
        len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', "") for cell in quoted
    )
    if not is_written or not any('""' in cell[1:-1] for cell in quoted):
        return rows
    return [_Row(r.line, tuple(c[1:-1].replace('""', '"') if '"' in c else c for c in r.cells)) for r in rows]


# --- the header


def places(header: Iterable[str]) -> dict[str, list[int]]:
    """Column numbers per role (the original, subsets, ``NEGATION``), by the letters of their names."""
    columns: dict[str, list[int]] = {}
    for i, name in enumerate(header):
        if role := _KNOWN.get(re.sub(r"[^a-z]", "", name.casefold())):
            columns.setdefault(role, []).append(i)
    return columns


def _columns(path: Path, header: Sequence[str], table: Sequence[_Row]) -> dict[str, int]:
    """Column number of the original and of every subset; other columns are not used."""
    by_role = places(header)
    unnamed = by_role.pop(NEGATION, [])
    open_names = [name for name in NEGATIONS if name not in by_role]
    missing = [name for name in (ORIGINAL, *SUBSETS) if name not in by_role and name not in open_names]
    twice = [name for name, places in by_role.items() if len(places) > 1]
    if missing or twice or len(unnamed) != len(open_names):
        problems = [f"none for {name}" for name in missing] + [f"several for {name}" for name in twice]
        if len(unnamed) != len(open_names):
            problems.append(f"{2 - len(open_names) + len(unnamed)} for the two negations")
        names = ", ".join(cell.strip() or "(no name)" for cell in header)
        raise InputError(
            f"{path} has the columns {names}: {', '.join(problems)}",
            expected="one column each: Original, Synonym, Antonym, Random, Typo, and two called Negation "
            "(or Negation main and Negation antonym)",
        )
    columns = {name: places[0] for name, places in by_role.items()}
    if len(unnamed) == 2:
        needed = (columns[ORIGINAL], columns["synonym"], *unnamed)
        rows = [  # a missing cell is reported later
            tuple(row.cells[i] for i in needed) for row in table if len(row.cells) > max(*columns.values(), *unnamed)
        ]
        unnamed = [unnamed[i] for i in main_first(path, rows)]
    return columns | dict(zip(open_names, unnamed, strict=True))


def main_first(path: Path, rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Which of two columns of negations negates the main clause, and which the replaced word: (0, 1) or (1, 0).

    In each row, the column where "not" comes or goes nearer to the word that the synonym replaces negates that word;
    the majority of rows decides. If both are equally near (often they are the same, footnote 5), a row does not vote.

    Args:
        path: for the error.
        rows: for each original its text, its synonym rewrite, and its rewrites in the two columns.

    Raises:
        InputError: as many rows vote for one as for the other.
    """
    votes = [0, 0]  # for each column, to be the one that negates the replaced word
    for row in rows:
        original, synonym, *negations = (words(cell) for cell in row)
        to_synonym, other = (_distance(original, synonym, negation) for negation in negations)
        if to_synonym is not None and other is not None and to_synonym != other:
            votes[int(to_synonym > other)] += 1
    if votes[0] == votes[1]:
        raise InputError(
            f"{path} has two columns called Negation, and the sentences do not tell which is which: "
            f"{votes[0]:,} of {len(rows):,} rows speak for either",
            expected="one column that negates the word that the synonym replaces, and one that negates the main clause",
            remedy="call them 'Negation main' and 'Negation antonym'",
        )
    return (1, 0) if votes[0] > votes[1] else (0, 1)


def words(text: str) -> list[str]:
    """Lower-case words, "n't" written out as "not"."""
    plain = text.casefold().replace("’", "'").replace("can't", "can not").replace("won't", "will not")
    return re.findall(r"[^\W_]+(?:['-][^\W_]+)*", re.sub(r"n't\b", " not", plain))


def _distance(original: Sequence[str], synonym: Sequence[str], negation: Sequence[str]) -> int | None:
    """Number of words in the original between the word that the synonym replaces and the place where "not" comes or
    goes; None if nothing is replaced, or no "not" comes or goes."""
    replaced = [(i, j) for i, j, _ in _changes(original, synonym)]
    negated = [
        (i, j)
        for i, j, gained in _changes(original, negation)
        if not _NOT.isdisjoint(gained) or not _NOT.isdisjoint(original[i:j])
    ]
    gaps = [max(i - d, c - j, 0) for i, j in replaced for c, d in negated]
    return min(gaps, default=None)


def _changes(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, Sequence[str]]]:
    """Difference of ``a`` from ``b``: first and last word in ``a``, and the corresponding part of ``b``."""
    codes = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(i, j, b[k:m]) for tag, i, j, k, m in codes if tag != "equal"]
