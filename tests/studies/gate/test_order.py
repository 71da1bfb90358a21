"""A golden set whose rows are in another order is the same one where the order decides no score."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import blindspot as bs
from blindspot.datasets.catalog import find_dataset
from blindspot.errors import InputError
from tests.support.tables import each

WORDS = "apple boat castle desk engine forest garden harbor island jacket kettle lemon".split()
PAIRS = [(f"where is the {word}, please", f"the {word}\nstands here") for word in WORDS]
Rows = Sequence[Sequence[object]]
SETS: dict[str, tuple[Sequence[str], Rows]] = {
    "pairs": (("query", "match"), PAIRS),
    "pairs, one twice": (("query", "match"), [*PAIRS, PAIRS[0]]),
    "scored pairs": (("text1", "text2", "score"), [(*pair, n % 5) for n, pair in enumerate(PAIRS)]),
    "retrieval": (("query", "document", "relevance"), [(*pair, 1 + n % 2) for n, pair in enumerate(PAIRS)]),
}
MINIMAL = (
    ("original", "synonym", "antonym"),
    [(f"the {w} is here", f"a {w} is here", f"the {w} is not here") for w in WORDS],
)
LABELED = ("text", "label"), [(f"{pair[n % 2]} {n}", "ab"[n % 2]) for n, pair in enumerate(PAIRS * 4)]


def write(path: Path, columns: Sequence[str], rows: Rows) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def lengths(texts: list[str]) -> list[list[float]]:
    """A model that knows how long words are."""
    return [[float(sum(len(word) == n for word in text.split())) for n in range(1, 9)] for text in texts]


def shuffled(rows: Rows) -> Rows:
    out = list(rows)
    random.Random(1).shuffle(out)
    return out


@pytest.mark.heavy
@each("name", SETS)
def test_another_order_is_the_same_golden_set(tmp_path: Path, name: str) -> None:
    columns, rows = SETS[name]
    one, other = write(tmp_path / "one.csv", columns, rows), write(tmp_path / "other.csv", columns, shuffled(rows))
    datasets = [find_dataset(f"file:{path}") for path in (one, other)]
    first, second = (entry.load(entry.id, ()) for entry in datasets)
    assert first.content_digest != second.content_digest
    assert first.rows_digest == second.rows_digest != ""
    store, baseline = tmp_path / "store", tmp_path / "old.json"
    bs.record("random-projection", one, baseline, store=store)
    same = bs.gate("random-projection", other, baseline, store=store)
    assert (same.losses, same.gains, same.drop.value) == (0, 0, pytest.approx(0))
    assert "another order" in same.sentences[-1]
    # Another model's items are those of the baseline in its own order.
    straight, crooked = (bs.gate(lengths, path, baseline, store=store) for path in (one, other))
    assert (straight.losses, straight.gains) == (crooked.losses, crooked.gains)
    assert straight.drop.value == pytest.approx(crooked.drop.value)
    assert {one.text for one in straight.worse} == {one.text for one in crooked.worse}
    assert straight.form == ""


@pytest.mark.heavy
@each("columns, rows", [MINIMAL, LABELED])
def test_where_the_order_decides_the_score_it_is_refused(tmp_path: Path, columns: Sequence[str], rows: Rows) -> None:
    one, other = write(tmp_path / "one.csv", columns, rows), write(tmp_path / "other.csv", columns, shuffled(rows))
    bs.record("random-projection", one, tmp_path / "old.json", store=tmp_path / "store")
    with pytest.raises(InputError, match="in another order, which decides this score"):
        bs.gate("random-projection", other, tmp_path / "old.json", store=tmp_path / "store")


@pytest.mark.heavy
@each(
    "name, changed, said",
    [
        ("pairs", lambda rows: [*rows[:3], ("where is the moon", rows[3][1]), *rows[4:]], "1 of 12 items"),
        ("pairs", lambda rows: rows[:-1], "11 of the baseline's 12 items"),
        ("pairs", lambda rows: [*rows, ("where is the moon", "up there")], "1 of 13 items"),
        ("retrieval", lambda rows: [(*rows[0][:2], 0), *rows[1:]], "the same items as the baseline, and other"),
        ("scored pairs", lambda rows: [(*rows[0][:2], 3), *rows[1:]], "the same items as the baseline, and other"),
    ],
)
def test_what_differs_is_said(tmp_path: Path, name: str, changed, said: str) -> None:
    columns, rows = SETS[name]
    one, other = write(tmp_path / "one.csv", columns, rows), write(tmp_path / "other.csv", columns, changed(list(rows)))
    bs.record("random-projection", one, tmp_path / "old.json", store=tmp_path / "store")
    with pytest.raises(InputError) as caught:
        bs.gate("random-projection", other, tmp_path / "old.json", store=tmp_path / "store")
    assert said in str(caught.value)


def test_a_golden_set_without_a_score_is_refused(tmp_path: Path) -> None:
    _, rows = MINIMAL
    path = write(tmp_path / "one.csv", ("original", "antonym", "negation"), rows)  # both change the meaning
    with pytest.raises(InputError, match="no score to gate on"):
        bs.record("random-projection", path, tmp_path / "old.json", store=tmp_path / "store")


def test_line_ends_alone_are_said_and_count_as_the_same(tmp_path: Path) -> None:
    columns, rows = SETS["pairs"]
    crlf = [tuple(str(cell).replace("\n", "\r\n") for cell in row) for row in rows]
    one, other = write(tmp_path / "one.csv", columns, rows), write(tmp_path / "other.csv", columns, crlf)
    bs.record("random-projection", one, tmp_path / "old.json", store=tmp_path / "store")
    found = bs.gate("random-projection", other, tmp_path / "old.json", store=tmp_path / "store")
    assert found.sentences[-1].startswith("Line ends, the Unicode form or the file")
    both = write(tmp_path / "both.csv", columns, shuffled(crlf))
    assert "another order" in bs.gate("random-projection", both, tmp_path / "old.json", store=tmp_path / "store").form
