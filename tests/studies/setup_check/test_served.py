"""The set-up check over HTTP: the same faults behind a server, through ``api:``, by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from blindspot.cli.studies import check as command
from blindspot.encoders.catalog import resolve_encoder
from blindspot.settings import Settings
from blindspot.studies.setup_check import task
from blindspot.studies.setup_check.results import State
from blindspot.studies.setup_check.task import SetupCheck, find, make
from blindspot.types import CancelToken, Float32, no_progress
from tests.support.commands import Command
from tests.support.embedding_server import Reply, Request, embedding_server

ALL = "random-projection-64"


@pytest.mark.server
@pytest.mark.parametrize(("sign", "code", "wrong"), [(1, 0, set()), (-1, 1, {"space", "agreement"})])
def test_the_command_says_what_a_server_does(
    environment: Settings, blindspot: Command, sign: int, code: int, wrong: set[str]
) -> None:
    """Vectors travel as numbers, since the server refuses base64."""
    meant = resolve_encoder(ALL, environment)
    with embedding_server(lambda texts: sign * meant.encode(texts, CancelToken())) as site:
        site.change = without_base64
        said = blindspot("check", "--encoder", f"api:{site.url}/v1#m", "--reference", ALL, "--quick", "--json")
    found = {result["check"]: result["verdict"] for result in json.loads(said.out)["results"]}
    assert {check for check, verdict in found.items() if verdict in {"wrong", "look"}} == wrong
    assert said.code == code


def without_base64(request: Request, reply: Reply) -> Reply:
    if request.body.get("encoding_format") == "base64":
        return Reply(400, {"error": {"message": "encoding_format must be float"}})
    return reply


def grams(texts: list[str]) -> Float32:
    """Vectors that depend on every word of a text, whatever its length."""
    out = np.zeros((len(texts), 48), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split() or ["-"]:
            out[row] += np.random.default_rng(sum(word.encode()) * 7 + len(word)).standard_normal(48)
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True), dtype=np.float32)


@pytest.mark.server
def test_a_server_that_refuses_long_texts_is_checked_with_shorter_ones(environment: Settings) -> None:
    with embedding_server(grams) as site:

        def change(request: Request, reply: Reply) -> Reply:
            if any(len(text.split()) > 150 for text in request.texts):
                return Reply(400, {"error": {"message": "maximum context length is 150 words"}})
            return reply

        site.change = change
        report = make(SetupCheck(f"api:{site.url}/v1#m", "", True), environment, no_progress, CancelToken())
    limit = next(result for result in report.results if result.check == "limit")
    assert 130 <= limit.figures["tried"] <= 150
    assert "150 words" in limit.figures["refused"]
    assert report.of(State.WRONG) == ()


@pytest.mark.server
def test_every_answer_is_fetched_now(environment: Settings) -> None:
    """A text that is encoded twice is asked for twice: else a server that answers differently would not be seen."""
    with embedding_server(grams) as site:
        make(SetupCheck(f"api:{site.url}/v1#m", "", True), environment, no_progress, CancelToken())
        assert site.texts.count("She lost her keys again.") >= 3


# --- the command


def test_a_report_is_printed_and_kept(environment: Settings, blindspot: Command) -> None:
    found = blindspot.json("check", "--encoder", ALL, "--reference", ALL, "--quick")
    assert {result["verdict"] for result in found["results"]} <= {"ok", "not checked"}
    kept = find(ALL, ALL, environment)
    assert kept is not None
    assert kept.to_json() == found
    assert task.is_of_today(kept, environment)
    out = blindspot.out("check", "--encoder", ALL, "--quick")
    assert kept.headline.split()[0] in out
    assert command.shortened("x" * 200).count("x") < 100


@pytest.mark.parametrize(
    "arguments",
    [
        ("--encoder", "no-such-model"),
        ("--encoder", ALL, "--reference", "no-such-model"),
        ("--encoder", "lsa"),
        ("--encoder", "dir:/no/such/folder"),
    ],
)
def test_bad_input_is_one_line(environment: Settings, blindspot: Command, arguments: tuple[str, ...]) -> None:
    assert blindspot.error("check", *arguments)
    assert not environment.checks.exists()


def test_a_demo_refuses_models_of_ones_own(
    environment: Settings, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    for arguments in (("--encoder", "api:http://localhost:1/v1#m"), ("--encoder", ALL, "--reference", "dir:/tmp")):
        assert "demo" in blindspot.error("check", *arguments)


def test_a_table_of_other_texts_cannot_be_checked(environment: Settings, blindspot: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.eye(3, dtype=np.float32))
    (tmp_path / "t.txt").write_text("one\ntwo\nthree\n", "utf-8")
    assert blindspot.error("check", "--encoder", f"table:{tmp_path / 't.npy'}")
