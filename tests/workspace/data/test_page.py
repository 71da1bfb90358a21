"""The page *Data*: what is listed, downloads, rows, and pairs of one's own."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from blindspot.datasets import uploads
from blindspot.datasets.catalog import DATASETS, SourceFile, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.published.pairs import evalrank
from blindspot.datasets.user_data import files as own
from blindspot.datasets.user_data import guess
from blindspot.names import in_address
from blindspot.runs import requesting
from blindspot.settings import ASSETS, Settings
from blindspot.store.repository import Repository
from blindspot.types import digest_of_strings
from blindspot.ui.resources import jobs
from blindspot.workspace.data.datasets import NOT_KNOWN
from tests.conftest import make_settings
from tests.support.data_page import keep, listed, picker, rows, upload
from tests.support.pages import OpenApp, written
from tests.support.small_world import SMALL_PAIRS, Gate, GramEncoder, dataset_entry, register_encoder, wait_until
from tests.support.world import World

CONTENT = b"a *text*\tits match\nanother\tone\nanother\tsecond\nsame\tsame\n"
OWN = b"id,left,right\n1,a dog runs,a dog is running\n2,it *rains*,rain falls\n3,old,aged\n"


@pytest.fixture
def distant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The mirror's file of the dataset ``distant``, which is in the catalog."""
    file = SourceFile("there", "pairs.txt", "http://127.0.0.1:9/", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    entry = replace(
        dataset_entry(SMALL_PAIRS),
        id="distant",
        title="Far away",
        files=(file,),
        load=lambda dataset_id, paths: evalrank(dataset_id, paths[0], ()),
    )
    monkeypatch.setitem(DATASETS, "distant", entry)
    monkeypatch.setenv("BLINDSPOT_MIRROR", str(tmp_path / "mirror"))
    path = tmp_path / "mirror" / "there" / "pairs.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    return path


def until_idle(app: AppTest) -> AppTest:
    """Look again until no work is under way."""

    def idle() -> bool:
        app.run()
        return not any((button.key or "").startswith("cancel_") for button in app.button)

    wait_until(idle)
    return app


def kept(cache: Path) -> tuple[uploads.Upload, ...]:
    return uploads.found(make_settings(cache))


# One that is built in and one that is downloaded of every kind.
SORTS = {(entry.kind, bool(entry.files)): name for name, entry in DATASETS.items()}


@pytest.mark.matrix
@pytest.mark.parametrize("name", [*SORTS.values(), ""])
def test_a_dataset_of_every_kind_is_listed_and_shown(open_app: OpenApp, tmp_path: Path, name: str) -> None:
    app = open_app(tmp_path, "data", **({"data": name} if name else {}))
    assert not app.error
    assert listed(app) == {i: "○ not downloaded" if e.files else "● built in" for i, e in DATASETS.items()}
    entry = DATASETS[name or "demo-pairs"]  # the sidebar's
    assert entry.title in [heading.value for heading in app.subheader]
    assert entry.citation in written(app).replace("\\", "")
    assert any(b.key == "fetch" for b in app.button) == bool(entry.files)
    for file in entry.files:
        assert (file.sha256 or NOT_KNOWN) in rows(app, "sha256")
    assert ("Rows" in [heading.value for heading in app.subheader]) != bool(entry.files)
    assert not (tmp_path / "results.duckdb").exists()


def test_a_dataset_picked_in_the_sidebar_is_shown(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data")
    assert rows(app, "query")[0].endswith("the flesh.")
    app.selectbox(key="data").set_value("demo-words").run()
    assert "Demo words" in [heading.value for heading in app.subheader]
    assert all(" " not in word for word in rows(app, "query"))


def test_minimal_pairs_are_shown_with_what_was_done_to_them(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data", data="demo-minimal")
    assert "**200** originals · **1,400** distinct sentences" in written(app)
    dataset = DATASETS["demo-minimal"].load("demo-minimal", ())
    assert rows(app, "number") == [0] * 6 + [1] * 6
    assert rows(app, "subset") == list(dataset.subsets) * 2
    assert rows(app, "original")[5:7] == [dataset.items[i] for i in dataset.originals[:2]]
    assert rows(app, "rewrite")[6] == dataset.items[dataset.rewrites["synonym"][1]]
    assert "heros" in [link.proto.page for link in app.get("page_link")]
    app.session_state[f"rows_page_{digest_of_strings(['demo-minimal', '1'])[:12]}"] = 100
    app.run()
    assert rows(app, "number") == [198] * 6 + [199] * 6


def test_a_dataset_without_a_declared_checksum_says_about_how_large_it_is(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data", data="heros")
    about = sum(file.download for file in DATASETS["heros"].files)
    assert f"{about / 1e6:.1f} MB" in written(app)


def test_pages_of_rows_and_other_background(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data")
    assert "**400** pairs · **1,400** distinct sentences · **400** queries" in written(app)
    assert rows(app, "pair") == list(range(10))
    before = rows(app, "sentence")
    app.button(key="other_background").click().run()
    assert rows(app, "sentence") != before
    assert len(rows(app, "sentence")) == 10
    app.session_state[f"rows_page_{digest_of_strings(['demo-pairs', '1'])[:12]}"] = 40
    app.run()
    assert rows(app, "pair") == list(range(390, 400))


def test_a_missing_dataset_is_downloaded_as_a_job(open_app: OpenApp, tmp_path: Path, distant: Path) -> None:
    app = open_app(tmp_path / "cache", "data", data="distant")
    assert listed(app)["distant"] == "○ not downloaded"
    assert "0.1 kB" in written(app)
    app.button(key="fetch").click().run()
    until_idle(app)
    assert listed(app)["distant"] == "✓ downloaded"
    assert rows(app, "query") == ["a *text*", "another", "another", "same"]
    assert rows(app, "match") == ["its match", "one", "second", "same"]
    assert "**4** pairs · **6** distinct sentences · **3** queries, 1 of them" in written(app)
    assert "**1** pairs of a sentence with itself" in written(app)


def test_a_corrupt_dataset_is_said_and_repaired(open_app: OpenApp, tmp_path: Path, distant: Path) -> None:
    path = tmp_path / "cache" / "data" / "there" / "pairs.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-1])
    app = open_app(tmp_path / "cache", "data", data="distant")
    assert listed(app)["distant"] == "▲ damaged"
    assert f"pairs.txt: {len(CONTENT) - 1} bytes instead of {len(CONTENT)}" in written(app)
    (button,) = (b for b in app.button if b.key == "fetch")
    button.click().run()
    until_idle(app)
    assert listed(app)["distant"] == "✓ downloaded"
    path.write_bytes(CONTENT.replace(b"one", b"two"))  # of the same size
    assert listed(app.run())["distant"] == "▲ damaged"


def test_a_download_that_fails_says_what_to_do(open_app: OpenApp, tmp_path: Path, distant: Path) -> None:
    distant.unlink()
    app = open_app(tmp_path / "cache", "data", data="distant")
    app.button(key="fetch").click().run()
    wait_until(lambda: bool(app.error or app.run().error))
    (error,) = app.error
    assert "Download of Far away failed: the mirror has no" in error.value
    assert "correct BLINDSPOT\\_MIRROR, or unset it" in error.value
    assert not app.button(key="fetch").disabled


@pytest.mark.matrix
def test_uploaded_pairs_become_the_picked_dataset_and_can_be_run(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = upload(open_app(tmp_path, "data"), OWN)
    assert rows(app, "read as") == ["not used", "query", "match"]
    assert rows(app, "first cells") == [
        "1 | 2 | 3",
        "a dog runs | it *rains* | old",
        "a dog is running | rain falls | aged",
    ]
    assert len(app.info) == 1, "a doubt: the names say nothing"
    assert not kept(tmp_path), "nothing is kept before it is confirmed"
    picker(app, "Query").set_value("right").run()
    assert [error.value for error in app.error] == [
        "column 'right' cannot be both query and match; expected two columns"
    ]
    assert not any(b.key == "upload_keep" for b in app.button)
    picker(app, "Match").set_value("left").run()
    keep(app)

    (stored,) = kept(tmp_path)
    assert app.selectbox(key="data").value == stored.reference
    assert next(iter(listed(app))) == "my_pairs", "one's own come first"
    links = [link.proto.label for link in app.get("page_link") if link.proto.label != "Docs"]
    assert links[:2] == ["Run models on it", "Add a model of your own"]
    assert "my_pairs" in [heading.value.replace("\\", "") for heading in app.subheader]
    assert rows(app, "query") == ["a dog is running", "rain falls", "aged"]
    assert rows(app, "match") == ["a dog runs", "it *rains*", "old"]
    assert listed(app)["my_pairs"] == "◆ your file"
    assert app.file_uploader[0].value is None

    register_encoder(monkeypatch, GramEncoder("grams"))
    app.switch_page("pages/evalrank.py").run()
    assert app.selectbox(key="data").value == stored.reference
    app.selectbox(key="new_encoder").options.append("grams")
    app.selectbox(key="new_encoder").set_value("grams").run()
    app.button(key="run_new").click().run()
    until_idle(app)
    assert app.get("plotly_chart")
    (run,) = Repository.at(tmp_path / "results.duckdb").runs()
    assert run.plan.dataset == stored.reference
    assert run.metrics["pairs"] == 3


def test_a_file_without_a_header(open_app: OpenApp, tmp_path: Path) -> None:
    app = upload(open_app(tmp_path, "data"), b"it rains,rain falls\nold,aged\nold,aged\n")
    assert "The first 2 of 2 pairs" in written(app)
    next(box for box in app.checkbox if "first line" in box.label).uncheck().run()
    assert "The first 3 of 3 pairs" in written(app)
    assert "1 repeated pairs" in written(app)
    keep(app)
    assert rows(app, "query") == ["it rains", "old", "old"]


@pytest.mark.parametrize(
    ("content", "query", "match"),
    [
        (b"id,left,right\n1,1984,a novel\n2,1985,a year\n", "left", "right"),  # nothing to guess by
        (b"note,left,right\n,a,b\nx,c,d\n", "left", "right"),  # the guess has a cell with nothing in it
    ],
)
def test_a_guess_of_no_use_can_be_corrected(
    open_app: OpenApp, tmp_path: Path, content: bytes, query: str, match: str
) -> None:
    app = upload(open_app(tmp_path, "data"), content)
    assert not any(b.key == "upload_keep" for b in app.button)
    picker(app, "Query").set_value(query).run()
    picker(app, "Match").set_value(match).run()
    keep(app)
    assert len(kept(tmp_path)) == 1


def reasons(app: AppTest) -> dict[str, str]:
    """Why each column is read as it is."""
    frame = next(frame.value for frame in app.dataframe if "because" in frame.value)
    return dict(zip(frame["column"], frame["because"], strict=True))


def test_only_what_somebody_chose_is_called_chosen_and_the_doubt_ends_there(open_app: OpenApp, tmp_path: Path) -> None:
    lines = [f"T-{n},Desk,Which way is {n}?,Number {n} is straight on and then left.,Turn {n}" for n in range(30)]
    content = "\n".join(["nr,shop,left,right,third", *lines]).encode()
    app = upload(open_app(tmp_path, "data"), content)
    assert (picker(app, "Query").value, picker(app, "Match").value) == ("left", "right"), (
        "the guess of the command line"
    )
    guessed = reasons(app)
    assert guessed["left"] == guessed["right"] == guess.LONGEST
    assert len(app.info) == 1, "a doubt about the guess"
    picker(app, "Match").set_value("third").run()
    assert reasons(app)["left"] == guess.LONGEST, "nobody touched it"
    assert reasons(app)["third"] not in guessed.values()
    assert not app.info


def test_columns_that_are_not_clear_have_to_be_chosen(open_app: OpenApp, tmp_path: Path) -> None:
    lines = [f"Way {n} of all,What {n} is this,Turn {n} and on" for n in range(30)]
    app = upload(open_app(tmp_path, "data"), "\n".join(["left,right,third", *lines]).encode())
    assert picker(app, "Query").value is picker(app, "Match").value is None
    assert not any(b.key == "upload_keep" for b in app.button)
    picker(app, "Query").set_value("right").run()
    picker(app, "Match").set_value("left").run()
    assert not app.info
    assert reasons(app)["left"] == reasons(app)["right"]
    keep(app)
    assert rows(app, "query")[0] == "What 0 is this"


MINIMAL = (
    b"query\tmatch\toriginal\ttypo\tNegation\n"
    b"q0\tm0\ta *big* dog\ta bgi dog\tno dog\n"
    b"q1\tm1\tit rains\tit rians\tno rain\n"
)


def role(app: AppTest, which: str):
    return next(box for box in app.selectbox if box.label == which)


def test_what_a_file_leaves_open_or_assumes_is_said_before_it_is_kept(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "data")
    rows = [f"who is there {i},the person of flat {i},nobody at number {i}" for i in range(12)]
    upload(app, "\n".join(["sentence1,sentence2,sentence3", *rows]).encode())
    assert any("column 'sentence3' would not be used" in one.value for one in app.warning)
    rows = [f"who is there {i},the person of flat {i},{i % 5}" for i in range(20)]
    upload(app, "\n".join(["query,document,clicks", *rows]).encode())
    assert any("column 'clicks'" in one.value for one in app.warning)
    upload(app, "\n".join(["query,document,relevance", *(row[:-1] + str(1 + int(row[-1])) for row in rows)]).encode())
    assert not app.warning
    assert any("none is 0" in one.value for one in app.info)
    keep(app)


@pytest.mark.matrix
def test_uploaded_minimal_pairs_are_corrected_kept_and_run(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = upload(open_app(tmp_path, "data"), MINIMAL, "mine.tsv")
    assert [role(app, which).value for which in ("Original", "Typo", "Negated clause")] == [2, 3, -1]
    (others,) = (box for box in app.multiselect if box.label == "Other rewrites")
    assert others.value == [4]
    assert rows(app, "read as") == ["original", "typo", "negation"] * 2
    role(app, "Negated clause").set_value(4).run()
    assert rows(app, "read as")[:3] == ["original", "negated clause", "typo"]
    assert rows(app, "text")[:4] == ["a *big* dog", "no dog", "a bgi dog", "it rains"]
    assert "query and match" in written(app)
    role(app, "Synonym").set_value(4).run()
    assert [e.value for e in app.error] == [
        "column 'Negation' cannot be both synonym and negation\\_main; expected two columns"
    ]
    assert not any(b.key == "upload_keep" for b in app.button)
    role(app, "Synonym").set_value(-1).run()
    columns = next(f.value for f in app.dataframe if "because" in f.value).set_index("column")
    assert columns.loc["match", "read as"] == "not used"
    keep(app)

    (stored,) = kept(tmp_path)
    assert app.selectbox(key="data").value == stored.reference
    assert stored.size == "2 originals with 2 rewrites each, 6 texts"
    assert stored.size in rows(app, "contents")
    assert "original from column “original”, negation_main from column “Negation”" in written(app).replace("\\", "")
    assert rows(app, "subset") == ["negation_main", "typo"] * 2
    assert rows(app, "rewrite") == ["no dog", "a bgi dog", "no rain", "it rians"]
    assert "heros" in [link.proto.page for link in app.get("page_link")]

    register_encoder(monkeypatch, GramEncoder("grams"))
    app.switch_page("pages/heros.py").run()
    app.selectbox(key="new_encoder").options.append("grams")
    app.selectbox(key="new_encoder").set_value("grams").run()
    app.button(key="run_new").click().run()
    until_idle(app)
    assert app.get("plotly_chart")
    (run,) = Repository.at(tmp_path / "results.duckdb").runs()
    assert (run.plan.diagnostic, run.plan.dataset) == ("heros", stored.reference)
    assert run.metrics["originals"] == 2


def test_a_file_of_minimal_pairs_can_be_kept_as_pairs(open_app: OpenApp, tmp_path: Path) -> None:
    app = upload(open_app(tmp_path, "data"), MINIMAL, "mine.tsv")
    (kind,) = (g for g in app.get("button_group") if g.label == "Read as")
    assert kind.value is DatasetKind.MINIMAL_PAIR_SET
    kind.set_value(DatasetKind.PAIR_SET).run()
    assert rows(app, "read as") == ["query", "match", "not used", "not used", "not used"]
    keep(app)
    (stored,) = kept(tmp_path)
    assert (stored.kind, stored.rows) == (DatasetKind.PAIR_SET, 2)
    assert rows(app, "match") == ["m0", "m1"]


@pytest.mark.matrix
def test_a_file_that_was_run_is_listed_as_what_it_held(open_app: OpenApp, tmp_path: Path, world: World) -> None:
    world.add(GramEncoder("grams"))
    names = []
    for diagnostic, example in (("evalrank", "own_pairs.csv"), ("heros", "own_minimal.tsv")):
        names.append(f"file:{shutil.copy(ASSETS / 'demo' / example, tmp_path)}")
        world.run(diagnostic, "grams", names[-1])
    (tmp_path / "own_minimal.tsv").unlink()
    app = open_app(world.cache, "data", data=names[1])
    frame = next(f.value for f in app.dataframe if {"dataset", "state"} <= set(f.value)).set_index("dataset")
    pairs = frame.loc["own_pairs", ["state", "contents", "pages"]]
    assert pairs.tolist() == [
        "◆ your file",
        "8 pairs, 16 texts",
        "EvalRank",
    ]
    assert frame.loc["own_minimal", ["state", "contents", "pages"]].tolist() == [
        "○ file is gone",
        find_dataset(f"file:{ASSETS / 'demo' / 'own_minimal.tsv'}").size,
        "HEROS",
    ]
    app.switch_page("pages/heros.py").run()
    assert "over 6 sentences" in written(app).lower()
    assert "Nothing more can be computed on this file" in written(app)
    app.switch_page("pages/evalrank.py").run()
    assert app.button(key="pick_shown"), "the other file, which has pairs"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"original,typo\na,b\n", "has 1 original"),
        ("a.tsv", b"original\ttypo\na\tb\nc\t\n", "line 3, column 'typo': nothing there"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"query,match\n", "no rows"),
        ("a.csv", b"query\nx\ny\n", "has one column"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\x00\x00,", "is not UTF-8 (byte 0)"),
        ("a.csv", "query,match\na,é\n".encode() + "ü,b\n".encode("latin-1"), "is not UTF-8"),
        ("a.tsv", b"query\tmatch\na\n", "line 2: 1 cell"),
        ("a.jsonl", b'{"a": 1}\n', "1 column"),
        ("a.parquet", b"PAR1 no", "Parquet file"),
        ("*a*.csv", b"1,2\n3,4\n", "no two columns"),
        ("a.csv", b"query,match\na,b\n", "has 1 pair"),
        ("a.csv", b"query,match\n" + b"a,b\n" * 200_001, "at least 200,001 rows"),
    ],
)
def test_a_bad_upload_is_said_in_one_line_and_leaves_nothing(
    open_app: OpenApp, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    app = upload(open_app(tmp_path, "data"), content, name)
    (shown,) = [e.value.replace("\\", "") for e in (*app.error, *app.info)]
    assert said in shown
    assert shown.startswith(name)
    assert not any(b.key == "upload_keep" for b in app.button)
    assert not (tmp_path / "uploads").exists()
    assert rows(app, "query"), "the rest of the page stands"


def test_an_upload_that_cannot_be_written_is_said(open_app: OpenApp, tmp_path: Path) -> None:
    (tmp_path / "uploads").write_text("in the way")
    app = upload(open_app(tmp_path, "data"), OWN)
    app.button(key="upload_keep").click().run()
    assert app.error[0].value.startswith("cannot write")
    assert app.selectbox(key="data").value == "demo-pairs"


def uploaded(settings: Settings) -> uploads.Upload:
    content = (ASSETS / "demo" / "own_pairs.csv").read_bytes()
    return uploads.add(own.parse(Path("own_pairs.csv"), content), content, settings)


def test_an_upload_is_removed_after_a_second_question(open_app: OpenApp, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    stored = uploaded(settings)
    app = open_app(tmp_path, "data", data=in_address(stored.reference))
    assert app.selectbox(key="data").value == stored.reference
    app.button(key="remove_for_good").click().run()
    assert not kept(tmp_path)
    assert app.selectbox(key="data").value == "demo-pairs"
    assert set(listed(app)) == set(DATASETS)


def test_a_removed_upload_that_was_run_stays_in_the_list(open_app: OpenApp, world: World) -> None:
    stored = uploaded(world.settings)
    world.add(GramEncoder("grams")).run("evalrank", "grams", stored.reference)
    uploads.remove(stored, world.settings)
    name = in_address(stored.reference)
    app = open_app(world.cache, "data", data=name)
    assert listed(app)[stored.path.stem] == "○ file is gone"
    assert "there is no file" in written(app)
    app.switch_page("pages/evalrank.py").run()
    assert app.get("plotly_chart")


@pytest.mark.matrix
def test_what_was_computed_is_deleted_on_request_with_an_upload_or_without(
    open_app: OpenApp, tmp_path: Path, world: World
) -> None:
    repository, stored = world.repository, uploaded(world.settings)
    path = tmp_path / "mine.csv"
    path.write_bytes(b"query,match\nsnow falls,it snows\nwind,it blows\n")
    world.add(GramEncoder("grams"))
    for reference in (stored.reference, f"file:{path}"):
        world.run("evalrank", "grams", reference)
    app = open_app(world.cache, "data", data=in_address(stored.reference))
    app.checkbox(key="remove_computed").check().run()
    assert "1 run, 8 rows of results, 16 stored texts, 1 set of embeddings" in written(app)
    app.button(key="remove_for_good").click().run()
    assert not app.error
    assert not kept(world.cache)
    assert [run.plan.dataset for run in repository.runs()] == [f"file:{path}"]
    app.selectbox(key="data").set_value(f"file:{path}").run()
    assert not any(box.key == "remove_computed" for box in app.checkbox), "only what was computed is ours to delete"
    app.button(key="remove_for_good").click().run()
    assert repository.runs() == []
    assert path.is_file()
    assert set(listed(app)) == set(DATASETS)


def test_nothing_is_removed_while_it_is_computed_on(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, gate = make_settings(tmp_path), Gate()
    stored = uploaded(settings)
    register_encoder(monkeypatch, GramEncoder("slow", before=gate))
    app = open_app(tmp_path, "data", data=in_address(stored.reference))
    job = jobs().submit("slow", [requesting.request("evalrank", "slow", "none", stored.reference, {}, settings)])
    wait_until(lambda: gate.reached == 1)
    app.run()
    assert not any(b.key == "remove_for_good" for b in app.button)
    jobs().cancel(job)
    until_idle(app)
    assert any(b.key == "remove_for_good" for b in app.button)


def test_a_demo_shows_no_upload_of_the_host_and_says_what_may_be_uploaded(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(tmp_path)
    stored = uploaded(settings)
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = open_app(tmp_path, "data", data=in_address(stored.reference))
    assert "names what is not here" in written(app)
    assert stored.path.stem not in listed(app)
    assert "At most 2,097,152 bytes, 2,000 rows, 50 columns, 2,000 characters" in written(app)
    assert not any(b.key == "remove_for_good" for b in app.button)
    assert app.selectbox(key="data").value == "demo-pairs"


def test_a_file_that_another_session_removed_gives_way(open_app: OpenApp, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    stored = uploaded(settings)
    app = open_app(tmp_path, "data", data=in_address(stored.reference))
    uploads.remove(stored, settings)
    app.run()
    assert app.selectbox(key="data").value == "demo-pairs"
    assert find_dataset("demo-pairs").title in [heading.value for heading in app.subheader]
