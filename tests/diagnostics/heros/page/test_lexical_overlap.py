"""The view *the data* of the HEROS page, and the accuracy below its profile; HEROS' own file in place of the demo."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.datasets import catalog, fetch
from core.datasets.kinds.minimal_pairs import MinimalPairSet
from core.datasets.published.minimal_pairs import minimal_pair_set
from core.diagnostics.heros.lexical_overlap import mean_of, of_subsets
from core.encoders.transformer.word_pieces import bert_uncased
from core.errors import BlindspotError
from core.runs import pipeline
from core.settings import ASSETS, Settings
from core.store.repository import Repository
from tests.conftest import make_settings
from tests.support.demo_rules import read_rows
from tests.support.pages import OpenApp, chart, written
from tests.support.small_world import GramEncoder, register_dataset, register_encoder

HEADER = ("Original", "Synonym", "Antonym", "Negation", "Random", "Typo", "Negation")
COLUMNS = ("original", "synonym", "antonym", "negation_main", "random_mlm", "typo", "negation_antonym")
ROWS = read_rows(ASSETS / "demo" / "minimal_pairs.tsv")


def stored(settings: Settings, dataset: str, encoders: tuple[str, ...]) -> None:
    repository = Repository.at(settings.store)
    for encoder in encoders:
        pipeline.run(pipeline.request("heros", encoder, "none", dataset, {}, settings), settings, repository)
    repository.database.close()


def overlap_table(app: AppTest) -> pd.DataFrame:
    (frame,) = (f.value for f in app.dataframe if "Lev" in f.value)
    return frame.set_index(["pairs of", "from"])


def test_lexical_overlap_beside_what_is_published(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BLINDSPOT_MIRROR", raising=False)
    settings = make_settings(tmp_path)
    register_encoder(monkeypatch, GramEncoder())
    stored(settings, "demo-minimal", ("trigrams",))
    app = open_app(tmp_path, "heros", data="demo-minimal", heros_view="the data")
    assert not app.exception
    table = overlap_table(app)
    demo = catalog.find("demo-minimal").load("demo-minimal", ())
    assert isinstance(demo, MinimalPairSet)
    found = of_subsets(demo, bert_uncased)
    mean = mean_of(list(found.values()))
    for name, o in (("synonym", found["synonym"]), ("random word", found["random_mlm"]), ("all subsets", mean)):
        shown = table.loc[(name, "measured here")]
        assert shown.tolist() == pytest.approx(
            [100 * o.rouge_1, 100 * o.rouge_2, 100 * o.rouge_l, o.levenshtein, o.length, o.pairs]
        )
    assert table.loc[("SICK-R", "published"), "R2"] == pytest.approx(37.4)
    assert ("STS-B test", "measured here") not in table.index
    assert f"changes **{mean.levenshtein:.0%}** of the word pieces" in written(app)
    offered = [b.key for b in app.button if str(b.key).startswith("fetch_")]
    assert offered == ["fetch_stsb-test", "fetch_sick-test"]
    assert "(0.2 MB), which is not on this machine yet" in written(app)
    assert not [f for f in app.dataframe if "accuracy" in f.value]


@pytest.mark.realdata
def test_the_test_splits_are_measured_where_they_are(
    open_app: OpenApp, shared_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(tmp_path, shared_settings.mirror)
    for name in ("stsb-test", "sick-test"):
        fetch.load(catalog.find(name), settings)
    register_encoder(monkeypatch, GramEncoder())
    register_dataset(monkeypatch, minimal_pair_set("own", ["a b.", "c d."], {"mine": ["a c.", "c d."]}))
    stored(settings, "own", ("trigrams",))
    app = open_app(tmp_path, "heros", data="own", heros_view="the data")
    assert not app.exception
    table = overlap_table(app)
    assert table.loc[("STS-B test", "measured here"), ["Lev", "length"]].round(2).tolist() == [0.54, 12.15]
    assert table.loc[("SICK-R test", "measured here"), ["Lev", "length"]].round(2).tolist() == [0.53, 10.0]
    assert table.loc[("mine", "measured here"), "R1"] == pytest.approx(75, abs=1e-4)
    assert ("all subsets", "measured here") not in table.index, "it is the only one"
    assert not [b for b in app.button if str(b.key).startswith("fetch_")]


def test_the_accuracy_of_finding_the_paraphrase(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(tmp_path)
    originals = [f"{word} is not bad at all" for word in "this that it he she we they one".split()]
    rewrites = {
        "paraphrase": [f"{o.split()[0]} seems rather fine" for o in originals],
        "negation": [o.replace(" not", "") for o in originals],
    }
    register_dataset(monkeypatch, minimal_pair_set("options", originals, rewrites))
    for name, size in (("trigrams", 3), ("bigrams", 2)):
        register_encoder(monkeypatch, GramEncoder(name, size))
    stored(settings, "options", ("trigrams", "bigrams"))
    app = open_app(tmp_path, "heros", data="options", heros_view="the data")
    assert not app.exception
    (frame,) = (f.value for f in app.dataframe if "accuracy" in f.value)
    assert frame["variant"].tolist() == ["trigrams", "bigrams"] or frame["accuracy"].is_monotonic_decreasing
    assert set(frame["accuracy"]) == {0.0}, "a rewrite that drops a word is nearer than one that drops them all"
    assert "Guessing finds 50%; all of these variants do worse" in written(app)


# --- the file as it is published


def heros_file(mirror: Path, header: tuple[str, ...] = HEADER, rows: int = 1_000) -> Path:
    """As many rows as HEROS has, all different, in its columns; the two negations have one name."""
    path = mirror / "heros" / "heros.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [[f"{ROWS[i % 200][c]} {i // 200}" for c in COLUMNS] for i in range(rows)]
    path.write_text("".join("\t".join(line) + "\n" for line in [header, *lines]), "utf-8")
    return path


def test_the_published_file_runs_from_pipeline_to_page(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the file is put in its place."""
    settings = make_settings(tmp_path / "cache", str(tmp_path / "mirror"))
    heros_file(tmp_path / "mirror")
    monkeypatch.setenv("BLINDSPOT_MIRROR", settings.mirror)
    register_encoder(monkeypatch, GramEncoder())
    stored(settings, "heros", ("trigrams",))
    (run,) = Repository.at(settings.store).runs()
    assert run.metrics["originals"] == 1_000
    assert run.coverage["pairs"] == 6_000
    app = open_app(settings.cache, "heros", data="heros", heros_view="the data")
    assert not app.exception
    assert not app.error
    heat = chart(app, 0)["data"][0]
    assert heat["x"] == ["synonym", "antonym", "negation of the clause", "negation of the word", "random word", "typo"]
    assert overlap_table(app).loc[("all subsets", "measured here"), "pairs"] == 6_000
    rows = fetch.load(catalog.find("heros"), settings)
    assert isinstance(rows, MinimalPairSet)
    for subset in ("negation_main", "negation_antonym"):
        assert rows.items[rows.rewrites[subset][7]] == f"{ROWS[7][subset]} 0"


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        (("Sentence", *HEADER[1:]), 1_000, "none for original"),
        (HEADER, 999, "999 row(s) below its header; expected 1,000"),
        ((*HEADER[:6], "Nay"), 1_000, "1 for the two negations"),
    ],
)
def test_another_file_is_refused_and_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: tuple[str, ...], rows: int, said: str
) -> None:
    settings = make_settings(tmp_path / "cache", str(tmp_path / "mirror"))
    heros_file(tmp_path / "mirror", header, rows)
    with pytest.raises(BlindspotError) as caught:
        fetch.load(catalog.find("heros"), settings)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    entry = catalog.find("heros")
    assert fetch.dataset_state(entry, settings) is fetch.DataState.MISSING


def test_missing_cells_of_the_published_file_are_named(tmp_path: Path) -> None:
    settings = make_settings(tmp_path / "cache", str(tmp_path / "mirror"))
    path = heros_file(tmp_path / "mirror")
    lines = path.read_text("utf-8").splitlines()
    lines[500] = "\t".join(["", *lines[500].split("\t")[1:]])
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(BlindspotError, match="line 501 has no Original"):
        fetch.load(catalog.find("heros"), settings)
