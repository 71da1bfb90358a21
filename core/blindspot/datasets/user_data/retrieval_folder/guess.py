"""Guesses at the columns of documents, queries and judgments: by their names, else by their values.

Ids are columns of different values that the judgments name; the text is the longest column; grades are whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from blindspot.datasets.user_data import judged
from blindspot.datasets.user_data.guess import is_distance
from blindspot.datasets.user_data.retrieval_folder import headers
from blindspot.datasets.user_data.retrieval_folder.options import DOCUMENTS, FORMS, JUDGMENTS, QUERIES
from blindspot.datasets.user_data.retrieval_folder.source import Source

BY_NAME, BY_VALUES = "by its name", "by its values"
_SIDES = {headers.QUERY: QUERIES, headers.DOCUMENT: DOCUMENTS}  # the file for each id in a judgment
_WORDS: Mapping[str, Sequence[str]] = {
    DOCUMENTS: ("doc", "corpus", "passage", "article", "collection"),
    QUERIES: ("quer", "question", "topic", "search", "asked"),
    JUDGMENTS: ("judg", "qrel", "relevan", "label", "rating", "grade"),
}
Grid = tuple[Sequence[str], Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Guess:
    """A column for a role, by its number, and why."""

    number: int
    why: str


def columns(sources: Iterable[Source]) -> dict[str, dict[str, Guess]]:
    """The likeliest columns per part and role, without roles that have no likely column and parts without a table."""
    grids = {source.part: grid for source in sources if (grid := source.grid()) is not None}
    guesses = {part: _by_name(part, names) for part, (names, _) in grids.items()}
    judgments = grids.get(JUDGMENTS)
    for part in (DOCUMENTS, QUERIES):
        if part in grids:
            _of_texts(grids[part], guesses[part], judgments)
    if judgments is not None:
        ids = {
            part: set(grids[part][1][guesses[part][headers.ID].number])
            for part in guesses
            if headers.ID in guesses[part]
        }
        _of_judgments(judgments, guesses[JUDGMENTS], ids)
    return guesses


def by_their_names(files: Sequence[str]) -> dict[str, str]:
    """The name of the file for each part, where there are three files and at most one name says nothing; else empty."""
    names = {
        part: [file for file in files if any(word in file.casefold() for word in words)]
        for part, words in _WORDS.items()
    }
    told = {part: matching[0] for part, matching in names.items() if len(matching) == 1}
    unknown, left = [part for part in FORMS if part not in told], sorted({*files} - {*told.values()})
    if len(files) != len(FORMS) or len(unknown) > 1 or len(left) != len(unknown):
        return {}
    return told | dict(zip(unknown, left, strict=True))


def parts(files: Mapping[str, bytes]) -> dict[str, str]:
    """The name of the file for each part, chosen from three files so that most columns are understood.

    Args:
        files: bytes by name.
    """

    def understood(names: Sequence[str]) -> float:
        sources = [Source(part, Path(name), files[name], {}) for part, name in zip(FORMS, names, strict=True)]
        guesses = columns(sources)
        roles = sum(len({*source.form.needed} & guesses.get(source.part, {}).keys()) for source in sources)
        by_name = sum(guess.why == BY_NAME for each in guesses.values() for guess in each.values())
        told = sum(
            any(word in name.casefold() for word in _WORDS[part]) for part, name in zip(FORMS, names, strict=True)
        )
        longer = len(files[names[0]]) > len(files[names[1]])  # documents are longer than queries
        return roles + 0.3 * by_name + 2 * told + 0.2 * longer

    best = max(permutations(sorted(files), len(FORMS)), key=understood)
    return dict(zip(FORMS, best, strict=True))


def named(sources: Sequence[Source]) -> tuple[tuple[str, str, str], ...]:
    """(Part, role, name) of the columns that are not clear by name, if the guess is complete; else empty."""
    by_part = columns(sources)
    out = []
    for source in sources:
        grid, guesses = source.grid(), by_part.get(source.part)
        if grid is None or guesses is None:
            continue
        if not {*source.form.needed} <= guesses.keys():
            return ()
        out += [
            (source.part, role, grid[0][guess.number])
            for role, guess in guesses.items()
            if guess.why == BY_VALUES or role in source.named
        ]
    return tuple(out)


def _by_name(part: str, names: Sequence[str]) -> dict[str, Guess]:
    return {
        role: Guess(numbers[0], BY_NAME) for role, numbers in FORMS[part].by_name(names).items() if len(numbers) == 1
    }


def _of_texts(grid: Grid, guesses: dict[str, Guess], judgments: Grid | None) -> None:
    """The id and the text of documents or queries."""
    _, cells = grid
    if headers.ID not in guesses:
        distinct = [
            n for n in _free(grid, guesses) if cells[n] and len(set(cells[n])) == len(cells[n]) and all(cells[n])
        ]
        sides = [set(column) for column in judgments[1]] if judgments else []

        def named_by_judgments(number: int) -> float:
            ids = set(cells[number])
            return max((len(side & ids) / max(len(side), 1) for side in sides), default=0.0)

        best = max(distinct, key=named_by_judgments, default=None)
        if best is not None and named_by_judgments(best) > 0:
            guesses[headers.ID] = Guess(best, BY_VALUES)
    if headers.TEXT not in guesses and (free := _free(grid, guesses)):
        guesses[headers.TEXT] = Guess(max(free, key=lambda n: sum(map(len, cells[n]))), BY_VALUES)


def _of_judgments(grid: Grid, guesses: dict[str, Guess], ids: Mapping[str, set[str]]) -> None:
    """Both ids and the grade of judgments."""
    names, cells = grid
    for role, part in _SIDES.items():
        if role in guesses or part not in ids:
            continue
        shares = {n: sum(cell in ids[part] for cell in cells[n]) / max(len(cells[n]), 1) for n in _free(grid, guesses)}
        best = max(shares, key=lambda n: shares[n], default=None)
        if best is not None and shares[best] > 0:
            guesses[role] = Guess(best, BY_VALUES)
    if headers.GRADE not in guesses:
        free = [n for n in _free(grid, guesses) if not is_distance(names[n])]  # of ranks, the first is the best
        grades = [n for n in free if cells[n] and _are_grades(cells[n])]
        if grades:
            guesses[headers.GRADE] = Guess(min(grades, key=lambda n: len(set(cells[n]))), BY_VALUES)


def _are_grades(cells: Sequence[str]) -> bool:
    return all(cell.strip().lstrip("-").removesuffix(".0").isdecimal() for cell in cells) or (
        judged.positive_of(cells) is not None
    )


def _free(grid: Grid, guesses: Mapping[str, Guess]) -> list[int]:
    taken = {guess.number for guess in guesses.values()}
    return [number for number in range(len(grid[0])) if number not in taken]
