"""Served models from the command line and on pages: what is sent is told before, and the key is found nowhere."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot.encoders.alone import FIRST
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.served import client, encoder
from blindspot.encoders.served.probes import PROBES
from blindspot.errors import InputError
from blindspot.runs import estimates, pipeline, requesting
from blindspot.runs.encoders_here import add, read_library
from blindspot.settings import Mode, Settings
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from blindspot.ui.resources import jobs
from tests.conftest import make_settings
from tests.support.commands import Command
from tests.support.embedding_server import EmbeddingSite, Reply, embedding_server, hash_vectors
from tests.support.pages import OpenApp, written
from tests.support.small_world import wait_until

KEY = "sk-Zq7VhT0nobodymayseethis42Xw"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingSite]:
    monkeypatch.setattr(client, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(encoder, "FRESH_SECONDS", 0.0)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with embedding_server() as running:
        yield running


def all_text(app: AppTest) -> str:
    """Everything on a page: what is written, widgets' values, the address."""
    kinds = ("text_input", "selectbox", "multiselect", "button", "error", "warning", "info", "success", "code", "json")
    values = [str(vars(element)) + str(element.value) for kind in kinds for element in app.get(kind)]
    return "\n".join([written(app), *values, str(dict(app.query_params))])


@pytest.mark.server
def test_the_key_is_found_nowhere(
    site: EmbeddingSite,
    open_app: OpenApp,
    blindspot: Command,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SERVER_KEY", KEY)
    cache = settings.cache
    site.key = KEY
    reference = f"api:{site.url}/v1#m?key_env=SERVER_KEY"
    said = []

    def run(*options: str) -> int:
        given = ("run", "evalrank", "--encoder", reference, "--dataset", "demo-pairs", *options)
        found = blindspot(*given)
        said.append(found.out + found.err)
        return found.code

    # Servers that repeat the key in every way they can, first as errors.
    echo = f"Bearer {KEY} is wrong: {KEY}"
    for reply in (
        Reply(401, {"error": {"message": echo}}),
        Reply(400, {"detail": echo}),
        Reply(500, body=echo.encode()),
        Reply(200, body=echo.encode()),
        Reply(200, {"error": echo}),
        Reply(307, headers={"Location": f"http://elsewhere.invalid/{KEY}"}),
        Reply(307, headers={"Location": f"http://{KEY}.invalid/"}),
        Reply(200, headers={"Content-Encoding": KEY}),
        Reply(raw=echo.encode() + b"\r\n\r\n"),
    ):
        site.change = lambda _, healthy, reply=reply: reply  # type: ignore[misc]
        assert run() != 0
    site.change = lambda request, reply: Reply(400, {"error": echo}) if request.texts != PROBES else reply
    assert run() != 0  # with a chunk begun
    site.change = lambda _, reply: reply
    assert run() == 0
    assert run("--json") == 0
    report = tmp_path / "report.html"
    out = blindspot("report", "--variant", reference, "--dataset", "demo-pairs", "--out", str(report))
    said.append(out.out + out.err)
    assert out.code == 0, out.err
    add(reference, settings, Repository.at(settings.store))

    pages = [open_app(cache, "models", shown=reference), open_app(cache, "run"), open_app(cache, "evalrank")]
    app = pages[0]
    app.text_input(key="served_url").set_value(f"{site.url}/v1")
    app.text_input(key="served_model").set_value("m")
    app.text_input(key="served_key_env").set_value("SERVER_KEY")
    app.button(key="served_test").click().run()
    assert app.success
    site.change = lambda _, reply: Reply(401, {"error": {"message": echo}})
    app.button(key="served_test").click().run()
    assert app.error
    said += [all_text(app) for app in pages]
    said += [record.getMessage() + str(record.args) + (record.exc_text or "") for record in caplog.records]
    assert KEY not in "\n".join(said)

    files = [path for path in (*cache.rglob("*"), report) if path.is_file()]
    assert any(path.suffix == ".duckdb" for path in files)
    assert not [path for path in files if KEY.encode() in path.read_bytes() or KEY in str(path)]
    store = Repository.at(settings.store)
    for run_record in store.runs():
        assert KEY not in str(run_record)
    assert KEY not in str(store.references())
    sent = {request.headers.get("authorization") for request in site.requests}
    assert sent == {f"Bearer {KEY}"}


@pytest.mark.server
def test_a_dry_run_says_what_would_be_sent_and_sends_nothing(site: EmbeddingSite, blindspot: Command) -> None:
    reference = f"api:{site.url}/v1#m"
    sweep = ("sweep", "--encoder", reference, "--dataset", "demo-pairs", "--diagnostic", "evalrank", "--dry-run")
    found = blindspot(*sweep, "--json").json
    assert [(one["host"], one["texts"], one["key_env"]) for one in found["sends"]] == [
        (site.url.removeprefix("http://"), 1_400, "")
    ]
    plain = blindspot(*sweep)
    assert "1,400" in plain.out
    assert site.url.removeprefix("http://") in plain.out
    assert not site.requests
    done = blindspot(*sweep[:-1])
    assert done.code == 0, done.err
    assert "1,400" in done.err
    asked = [text for text in site.texts if text not in PROBES]
    assert len(set(asked)) == 1_400
    assert len(asked) == 1_400 + FIRST + 5  # asked again alone, of six chunks
    assert "sends" not in blindspot(*sweep, "--json").json


@pytest.mark.server
def test_a_server_is_asked_once_as_a_part_of_several_models(site: EmbeddingSite, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    repository = Repository.at(settings.store)
    reference = f"cat:random-projection+api:{site.url}/v1%23m?batch=8"
    request = requesting.request("evalrank", reference, "none", "demo-pairs", {}, settings)
    (sending,) = estimates.estimate([request], settings, repository).sendings
    assert (sending.texts, sending.host) == (1_400, site.url.removeprefix("http://"))
    run = pipeline.run(request, settings, repository).record
    asked = [text for text in site.texts if text not in PROBES]
    assert len(set(asked)) == 1_400
    assert not estimates.estimate([request], settings, repository).sendings
    alone = requesting.request("evalrank", f"api:{site.url}/v1#m", "none", "demo-pairs", {}, settings)
    pipeline.run(alone, settings, repository)
    assert [text for text in site.texts if text not in PROBES] == asked, "its embeddings are those of the part"
    assert run.manifest["encoder"]["embeds_as"].endswith("#m")


@pytest.mark.server
def test_estimates_count_texts_and_tokens_once(site: EmbeddingSite, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    repository = Repository.at(settings.store)
    requests = [
        requesting.request("evalrank", f"api:{site.url}/v1#{model}", transform, "demo-pairs", {}, settings)
        for model in ("m", "m?batch=8", "n")
        for transform in ("none", "center")
    ]
    (sending,) = estimates.estimate(requests, settings, repository).sendings
    assert sending.texts == 2 * 1_400  # of two models
    assert 5 < sending.tokens / sending.texts < 30
    assert sending.is_private
    assert not site.requests
    pipeline.run(requests[0], settings, repository)
    (sending,) = estimates.estimate(requests, settings, repository).sendings
    assert sending.texts == 1_400


def test_run_asks_before_texts_go_to_a_public_host(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "run")
    app.multiselect(key="run_encoders").set_value(["api:https://api.example.org/v1#m"]).run()
    assert app.button(key="run_all").disabled
    (agree,) = [box for box in app.checkbox if box.key and box.key.startswith("run_send_")]
    assert "api.example.org" in agree.label
    agree.check().run()
    assert not app.button(key="run_all").disabled


@pytest.mark.server
def test_a_served_model_is_connected_added_and_run(site: EmbeddingSite, open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "models")
    app.text_input(key="served_url").set_value(f"{site.url}/v1/")
    app.text_input(key="served_model").set_value("a model")
    app.text_input(key="served_query_prompt").set_value("query: ")
    app.button(key="served_add").click().run()
    assert not app.error
    settings = make_settings(tmp_path)
    reference = f"api:{site.url}/v1#a%20model?query_prompt=query%3A%20"
    found = read_library(settings, Repository.at(settings.store)).find(reference)
    assert found is not None
    assert (found.dimension, found.parameters) == (32, None)
    sent = len(site.requests)
    app.run()
    assert len(site.requests) == sent, "showing it asks nothing"
    app.button(key="run_address").click().run()
    wait_until(lambda: not jobs().active())
    assert len(read_library(settings, Repository.at(settings.store)).find(reference).runs) >= 1  # type: ignore[union-attr]


def test_a_wrong_address_is_one_line(open_app: OpenApp, tmp_path: Path) -> None:
    app = open_app(tmp_path, "models")
    for url in ("", "localhost", "http://user:pw@h/v1", "http://127.0.0.1:1/v1"):
        app.text_input(key="served_url").set_value(url)
        app.text_input(key="served_model").set_value("m")
        app.button(key="served_test").click().run()
        assert len(app.error) == 1
        assert "pw@" not in app.error[0].value


@pytest.mark.server
def test_another_model_behind_the_address_is_said_and_kept_apart(
    site: EmbeddingSite, open_app: OpenApp, blindspot: Command, settings: Settings
) -> None:
    repository = Repository.at(settings.store)
    reference = f"api:{site.url}/v1#m"
    request = requesting.request("evalrank", reference, "none", "demo-pairs", {}, settings)
    first = pipeline.run(request, settings, repository).record
    site.embed = lambda texts: np.abs(hash_vectors(texts))
    repository.database.close()
    said = blindspot(
        "run",
        "evalrank",
        "--encoder",
        reference,
        "--dataset",
        "demo-pairs",
        "--transform",
        "center",
    )
    assert said.code == 0, said.err
    assert "another model" in said.err
    repository = Repository.at(settings.store)
    runs = repository.runs()
    assert len({run.plan.embedding_digest for run in runs}) == 2
    older = [run for run in runs if "@version-" in run.plan.variant.encoder]
    assert [run.run_id for run in older] == [first.run_id]
    app = open_app(settings.cache, "models", shown=reference)
    assert any("another model" in warning.value for warning in app.warning)


@pytest.mark.server
def test_showing_stored_results_asks_nothing(site: EmbeddingSite, open_app: OpenApp, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    reference = f"api:{site.url}/v1#m"
    repository = Repository.at(settings.store)
    pipeline.run(requesting.request("evalrank", reference, "none", "demo-pairs", {}, settings), settings, repository)
    sent = len(site.requests)
    for page in ("overview", "models", "run", "evalrank", "findings", "compare", "neighbors"):
        app = open_app(tmp_path, page, variants=f"{reference}~none", dataset="demo-pairs")
        assert not app.exception
    assert len(site.requests) == sent


@pytest.mark.server
def test_a_demo_names_no_server(
    site: EmbeddingSite, open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    monkeypatch.setenv("BLINDSPOT_PREPARE", "no")
    app = open_app(tmp_path, "models", shown=f"api:{site.url}/v1#m")
    assert "served_url" not in [field.key for field in app.text_input]
    app = open_app(tmp_path, "evalrank", variants=f"api:{site.url}/v1#m~none", dataset="demo-pairs")
    assert not site.requests
    demo = replace(make_settings(tmp_path), mode=Mode.DEMO)
    of_several = (f"{scheme}:lsa+api:{site.url}/v1%23m" for scheme in ("fuse", "cat"))
    for reference in (f"api:{site.url}/v1#m", *of_several):
        with pytest.raises(InputError):
            requesting.request("evalrank", reference, "none", "demo-pairs", {}, demo)
    with pytest.raises(InputError):
        resolve_encoder(f"api:{site.url}/v1#m", demo).encode(["a"], CancelToken())
    assert not site.requests
