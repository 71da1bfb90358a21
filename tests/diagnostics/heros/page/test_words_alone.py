"""The view *words alone* of the HEROS page: kinds of change of a published set, tests and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.diagnostics.heros import words_alone
from blindspot.diagnostics.heros.definition import ENTRY
from blindspot.diagnostics.heros.orderings import Cosines
from blindspot.numerics.statistics.written import percent
from blindspot.runs.findings.baselines import VARIANTS
from tests.support.heros_world import ORIGINALS, SIX, HerosWorld, heros_world
from tests.support.pages import OpenApp, chart_named, written

TWO = ["bigrams~none", "trigrams~none"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HerosWorld]:
    """A set of two kinds: a paraphrase with other letters, a foil with the same words in another order."""
    with heros_world(tmp_path_factory.mktemp("words")) as built:
        foils = [" ".join(reversed(text.split())) for text in ORIGINALS]
        dataset = minimal_pair_set("kinds", ORIGINALS, {"paraphrase": SIX["typo"], "foil": foils})
        kind = OwnColumn("kind", ("first", "second"), np.array([0] * 10 + [1] * 14, dtype=np.uint8))
        other = OwnColumn("length", ("short",), np.zeros(24, dtype=np.uint8))
        built.add(replace(dataset, own_columns=(kind, other)))
        built.compute("kinds", *TWO)
        built.compute("nameless", TWO[0])
        yield built


def test_every_kind_has_the_models_and_words_with_a_test(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="kinds", view="words alone")
    assert not app.error
    (frame,) = [d.value for d in app.dataframe if "best measure" in d.value]
    assert frame["kind"].tolist() == ["all", "second", "first"] * 2
    assert frame["sentences"].tolist() == [24, 14, 10] * 2
    traces = {trace["name"] for trace in chart_named(app, "heros_words")["data"]}
    assert traces == {"bigrams", "trigrams", *(variant.label for variant in VARIANTS.values())}
    for name in ("bigrams", "trigrams"):
        run = small.runs["kinds", f"{name}~none"]
        rows = small.repository.items(ENTRY, [run.run_id], texts=False)
        right = words_alone.outcomes(Cosines.of_rows(rows, small.repository.same_texts(run.plan.dataset_digest)))
        own = frame[frame["model"] == name]["right"].tolist()
        assert own == pytest.approx([100 * part.mean() for part in (right, right[10:], right[:10])])
        assert own[0] == pytest.approx(100 * run.metrics["accuracy"])
        assert percent(run.metrics["accuracy"], 1) in written(app), "a sentence per model"
    small.repository.database.close()


def test_another_column_gives_other_kinds(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="kinds", view="words alone")
    app.segmented_control(key="heros_kinds").set_value("length").run()
    (frame,) = [d.value for d in app.dataframe if "best measure" in d.value]
    assert frame["kind"].tolist() == ["all", "short"] * 2


def test_nothing_is_right_where_names_do_not_tell(open_app: OpenApp, small: HerosWorld) -> None:
    app = open_app(small.cache, "heros", data="nameless", view="words alone")
    assert not app.error
    assert not [d for d in app.dataframe if "best measure" in d.value]
    assert len(app.info) == 1
