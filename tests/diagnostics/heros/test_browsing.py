"""Filters, orders and exports of HEROS's sentences, against loops over plain rows."""

from __future__ import annotations

import io
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.diagnostics.heros import browsing
from blindspot.diagnostics.heros.browsing import Above, Filter, Sentences, Where
from blindspot.files.export import as_file
from blindspot.numerics.ranking.problem import TAU
from blindspot.variants import Variant
from tests.support.tables import each

SUBSETS = ("synonym", "of <my> own", "no")
WORDS = "the a dog cat runs sleeps Dog not".split()
RUNS = ("aa", "bb")


def make_rows(seed: int, originals: int = 16) -> pd.DataFrame:
    """As the store gives them: in order of original and run, with ties, gaps in the numbers, rewrites that coincide."""
    rng = np.random.default_rng(seed)
    numbers = np.sort(rng.choice(3 * originals, originals, replace=False))
    texts: dict[str, int] = {}
    rows = []
    for number in numbers:
        original = " ".join(rng.choice(WORDS, 4)) + f" {number}"
        rewrites = [original if rng.random() < 0.1 else f"{original} {rng.integers(2)}" for _ in SUBSETS]
        for run in RUNS:
            for subset, rewrite in zip(SUBSETS, rewrites, strict=True):
                cosine = float(rng.integers(0, 4)) / 4 + float(rng.choice([0.0, 0.4 * TAU, 3 * TAU]))
                rows.append(
                    {
                        "run_id": run,
                        "item_no": number,
                        "original_no": texts.setdefault(original, len(texts)),
                        "rewrite_no": texts.setdefault(rewrite, len(texts)),
                        "original": original,
                        "rewrite": rewrite,
                        "subset": subset,
                        "cosine": cosine,
                        "similarity": (cosine - 0.2) / 0.8,
                    }
                )
    return pd.DataFrame(rows)


def stored(rows: pd.DataFrame, number: int, run: str, subset: str, name: str = "similarity") -> float:
    (value,) = rows.loc[(rows["item_no"] == number) & (rows["run_id"] == run) & (rows["subset"] == subset), name]
    return value


def is_above(rows: pd.DataFrame, number: int, run: str, above: Above) -> bool:
    near, far = (stored(rows, number, run, s, "cosine") for s in (above.nearer, above.farther))
    return near - far > TAU


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return make_rows(1)


@pytest.fixture(scope="module")
def found(rows: pd.DataFrame) -> Sentences:
    return browsing.sentences(rows.sample(frac=1, random_state=3), SUBSETS)


def test_every_stored_row_has_its_place(rows: pd.DataFrame, found: Sentences) -> None:
    assert found.numbers.tolist() == sorted(set(rows["item_no"]))
    for r in rows.to_dict("records"):
        i, j = found.place(r["item_no"]), found.column(r["subset"])
        assert (found.originals[i], found.original_items[i]) == (r["original"], r["original_no"])
        assert (found.rewrites[i][j], found.rewrite_items[i, j]) == (r["rewrite"], r["rewrite_no"])
        assert found.cosine[r["run_id"]][i, j] == r["cosine"]
        assert found.similarity[r["run_id"]][i, j] == r["similarity"]
    assert found.place(10_000) is None
    few = browsing.sentences(rows, ["no"])
    assert few.subsets == ("no",)
    assert few.cosine["bb"].shape == (len(few.numbers), 1)


@each("where", Where)
@each("above", [(Above("no", "synonym"),), (Above("synonym", "no"), Above("of <my> own", "no"))], ids=["one", "two"])
def test_orders_are_filtered_as_a_loop_does(
    rows: pd.DataFrame, found: Sentences, where: Where, above: tuple[Above, ...]
) -> None:
    expected = []
    for number in found.numbers:
        a, b = (all(is_above(rows, number, run, order) for order in above) for run in RUNS)
        expected.append(
            {
                Where.A: a,
                Where.B: b,
                Where.BOTH: a and b,
                Where.ONLY_A: a and not b,
                Where.ONLY_B: b and not a,
            }[where]
        )
    assert browsing.kept(found, Filter(above=above, where=where), "aa", "bb").tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_without_a_second_run_an_order_is_asked_of_the_first(found: Sentences) -> None:
    above = (Above("no", "synonym"),)
    alone = browsing.kept(found, Filter(above=above, where=Where.ONLY_B, apart=9.0), "aa", None)
    assert alone.tolist() == browsing.kept(found, Filter(above=above), "aa", "bb").tolist()


@pytest.mark.parametrize("subset", [None, "no"])
@pytest.mark.parametrize(("low", "high", "apart"), [(0.5, None, None), (None, -0.1, None), (0.0, 0.4, 0.3)])
def test_bounds_hold_for_the_rewrite_that_is_asked_about(
    rows: pd.DataFrame, found: Sentences, subset: str | None, low: float | None, high: float | None, apart: float | None
) -> None:
    expected = []
    for number in found.numbers:
        keeps = False
        for s in SUBSETS if subset is None else (subset,):
            a, b = (stored(rows, number, run, s) for run in RUNS)
            within = (low is None or a >= low) and (high is None or a <= high)
            keeps |= within and (apart is None or abs(a - b) >= apart)
        expected.append(keeps)
    wish = Filter(subset=subset, low=low, high=high, apart=apart)
    assert browsing.kept(found, wish, "aa", "bb").tolist() == expected
    assert 0 < sum(expected) < len(expected)


@pytest.mark.parametrize("wanted", ["", "dog", "DOG ", "not a", "nobody", ".*", " 1"])
def test_search_finds_text_of_the_original_or_a_rewrite(rows: pd.DataFrame, found: Sentences, wanted: str) -> None:
    expected = {
        r["item_no"] for r in rows.to_dict("records") if wanted.lower() in f"{r['original']}\n{r['rewrite']}".lower()
    }
    assert set(found.numbers[browsing.kept(found, Filter(wanted=wanted), "aa", None)].tolist()) == expected


def test_conditions_are_composed(found: Sentences) -> None:
    parts = [
        Filter(wanted="dog"),
        Filter(above=(Above("no", "synonym"),), where=Where.ONLY_A),
        Filter(subset="no", low=0.2),
    ]
    masks = [browsing.kept(found, part, "aa", "bb") for part in parts]
    whole = Filter("dog", (Above("no", "synonym"),), Where.ONLY_A, "no", low=0.2)
    assert browsing.kept(found, whole, "aa", "bb").tolist() == np.all(masks, axis=0).tolist()


@pytest.mark.parametrize("subset", [None, "no"])
def test_every_original_is_described_by_its_rows(rows: pd.DataFrame, found: Sentences, subset: str | None) -> None:
    above = (Above("no", "synonym"), Above("no", "of <my> own"))
    frame = browsing.described(found, "aa", "bb", above, subset)
    assert len(frame) == len(found.numbers)
    for row in frame.to_dict("records"):
        values = {(run, s): stored(rows, row["no"], run, s) for run in RUNS for s in SUBSETS}
        for s in SUBSETS:
            assert row[f"A: {s}"] == values["aa", s]
            assert row[f"A − B: {s}"] == values["aa", s] - values["bb", s]
        sizes = {s: abs(values["aa", s] - values["bb", s]) for s in SUBSETS if subset in (None, s)}
        assert row["largest difference"] == max(sizes.values())
        assert sizes[row["differs most in"]] == max(sizes.values())
        for side, run in zip("AB", RUNS, strict=True):
            leads = [values[run, o.nearer] - values[run, o.farther] for o in above]
            assert row[f"lead in {side}"] == min(leads)
        differing = 0.0
        for one, other in combinations(SUBSETS, 2):
            signs = []
            for run in RUNS:
                lead = stored(rows, row["no"], run, one, "cosine") - stored(rows, row["no"], run, other, "cosine")
                signs.append(0 if abs(lead) <= TAU else 1 if lead > 0 else -1)
            differing += abs(signs[0] - signs[1]) / 2
        assert row["orders that differ"] == differing


def test_one_variant_has_nothing_to_compare(found: Sentences) -> None:
    frame = browsing.described(found, "aa", None)
    assert list(frame) == ["no", "original", *(f"A: {s}" for s in SUBSETS)]
    assert browsing.orders(frame) == list(frame)


def test_orders_that_differ_by_hand() -> None:
    a = np.array([[0.9, 0.8, 0.7], [0.9, 0.9, 0.7]])
    assert browsing.turned(a, np.array([[0.7, 0.8, 0.9], [0.9, 0.8, 0.7]])).tolist() == [3.0, 0.5]
    assert browsing.turned(a, a).tolist() == [0.0, 0.0]


def test_what_is_missing_passes_no_filter_and_comes_last(rows: pd.DataFrame) -> None:
    gap = rows.index[(rows["subset"] == "no") & (rows["run_id"] == "bb")][0]
    number = rows.loc[gap, "item_no"]
    found = browsing.sentences(rows.drop(gap), SUBSETS)
    frame = browsing.described(found, "aa", "bb")
    for descending in (True, False):
        assert browsing.in_order(frame, "B: no", descending=descending)["no"].iloc[-1] == number
    for where in (Where.B, Where.BOTH, Where.ONLY_B):
        mask = browsing.kept(found, Filter(above=(Above("no", "synonym"),), where=where), "aa", "bb")
        assert not mask[found.place(number)]
    kept = browsing.kept(found, Filter(subset="no", apart=0.0), "aa", "bb")
    assert np.flatnonzero(~kept).tolist() == [found.place(number)]


@pytest.mark.parametrize("descending", [True, False])
def test_orders_are_those_of_a_plain_sort(found: Sentences, descending: bool) -> None:
    frame = browsing.described(found, "aa", "bb")
    assert "differs most in" not in browsing.orders(frame)
    for name in browsing.orders(frame):

        def value(row: dict, name: str = name) -> object:
            return row[name].casefold() if isinstance(row[name], str) else row[name]

        records = frame.to_dict("records")
        values = sorted({value(row) for row in records}, reverse=descending)
        expected = [row["no"] for v in values for row in records if value(row) == v]
        assert browsing.in_order(frame, name, descending=descending)["no"].tolist() == expected, name


@given(st.integers(0, 200))
def test_same_texts_are_named(seed: int) -> None:
    found = browsing.sentences(make_rows(seed, 3), SUBSETS)
    for place in range(3):
        texts, original = found.rewrites[place], found.originals[place]
        for i, said in enumerate(browsing.same_texts(found, place)):
            first = next(j for j, text in enumerate(texts) if text == texts[i])
            expected = "unchanged" if texts[i] == original else SUBSETS[first] if first < i else ""
            assert said == expected


def test_a_sentence_is_named_by_what_it_is(found: Sentences) -> None:
    items = [int(found.original_items[2]), int(found.rewrite_items[5, 1]), 10_000]
    said = browsing.roles(found, items, str.upper)
    assert said[items[0]] == f"original {found.numbers[2]}"
    owner = np.argwhere(found.rewrite_items == items[1])[0]
    if items[1] != found.original_items[owner[0]]:
        assert said[items[1]] == f"{SUBSETS[owner[1]].upper()} of {found.numbers[owner[0]]}"
    assert 10_000 not in said


def test_a_file_has_a_row_per_rewrite_in_the_order_of_the_table(rows: pd.DataFrame, found: Sentences) -> None:
    numbers = found.numbers[[7, 0, 3]].tolist()
    out = browsing.for_export(found, numbers, {"aa": Variant("x", "none"), "bb": Variant("y", "center")})
    assert out["item_no"].tolist() == [n for n in numbers for _ in SUBSETS]
    assert out["subset"].tolist() == list(SUBSETS) * 3
    for row in out.to_dict("records"):
        columns = [("aa", "rewrite", "rewrite"), ("aa", "original", "original")]
        columns += [("aa", name, f"{name} x~none") for name in ("similarity", "cosine")]
        columns += [("bb", name, f"{name} y~center") for name in ("similarity", "cosine")]
        for run, name, column in columns:
            assert row[column] == stored(rows, row["item_no"], run, row["subset"], name)
    for read, ending in ((pyarrow.csv.read_csv, ".csv"), (pyarrow.parquet.read_table, ".parquet")):
        again = read(io.BytesIO(as_file(out, ending))).to_pandas()
        pd.testing.assert_frame_equal(again, out, check_dtype=False)
    assert not any(math.isnan(v) for v in out["cosine x~none"])


def test_outcomes_count_the_demanded_orders_that_hold_as_a_loop_does() -> None:
    rng = np.random.default_rng(4)
    n, subsets = 40, ("synonym", "antonym", "negation_main")
    cosine = {run: rng.integers(0, 3, (n, len(subsets))) / 10.0 for run in "ab"}  # ties are frequent
    cosine["a"][0, 1] = math.nan
    found = Sentences(
        np.arange(n), [""] * n, np.arange(n), subsets, [[""] * 3] * n, np.zeros((n, 3), dtype=np.int64), cosine, cosine
    )
    demanded = [Above("synonym", "antonym"), Above("synonym", "negation_main")]
    became = browsing.became(*(browsing.orders_right(found, run, demanded) for run in "ab"), len(demanded))
    expected = []
    for place in range(n):
        held = {"a": 0.0, "b": 0.0}
        for run in held:
            row = dict(zip(subsets, cosine[run][place].tolist(), strict=True))
            for order in demanded:
                lead = row[order.nearer] - row[order.farther]
                held[run] += math.nan if math.isnan(lead) else 1.0 if lead > TAU else 0.0 if lead < -TAU else 0.5
        if math.isnan(held["a"] + held["b"]):
            expected.append("")
        elif held["a"] == held["b"]:
            expected.append("both-right" if held["b"] == 2 else "both-wrong")
        else:
            expected.append("won-by-a" if held["a"] > held["b"] else "won-by-b")
    assert {str(o): n for o, n in became.counts.items()} == {str(o): expected.count(str(o)) for o in became.counts}
    for outcome in became.counts:
        assert became.of(outcome).tolist() == [one == str(outcome) for one in expected]
