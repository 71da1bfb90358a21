"""``blindspot judge make``, in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Command
from tests.support.making_world import WORDS, register


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "mine.csv"
    path.write_text("word,part_of_speech\n" + "".join(f"{w},noun\n" for w in ["zebra", *WORDS[:40], WORDS[0].upper()]))
    return str(path)


ON_WORDS = ["judge", "make", "--dataset", "words-300", "--encoder", "trigrams", "--encoder", "bigrams"]


def test_items_are_made_from_a_file_and_found_again(own: str, blindspot: Command) -> None:
    command = [*ON_WORDS, "--task", "comparative", "-k", "5", "-k", "1", "--queries", own, "--title", "[b]T[/b]"]
    said = blindspot.json(*command)
    assert said["task"] == "comparative"
    assert said["title"] == "[b]T[/b]"
    assert said["variants"] == ["trigrams~none", "bigrams~none"]
    assert said["manifest"]["rule"] == {"ranks": [1, 5]}
    assert said["manifest"]["about"].startswith("41 queries of mine.csv. 1 more")
    assert said["items"] + sum(said["skipped"].values()) == 2 * said["queries"]
    assert "zebra" in said["unknown"]
    out = blindspot.out(*command)
    assert out.startswith(f"{said['set_id']}  [b]T[/b]\n{said['items']} items of {said['queries']} queries.")
    assert "Not in the vocabulary: " in out
    assert blindspot.out("judge", "list").count(said["set_id"]) == 1


def test_transforms_make_variants_and_queries_can_be_sampled(own: str, blindspot: Command) -> None:
    transforms = ["--transform", "none", "--transform", "center", "--sample", "15", "--rule", "count"]
    said = blindspot.json(*ON_WORDS, "--task", "intruder", "--queries", own, *transforms)
    assert len(said["variants"]) == 4
    assert said["queries"] == 15
    assert said["manifest"]["rule"] == {"count": 500.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--queries", "sentences:x"], "expected sentences:N, for example sentences:100"),
        (["--queries", "sentences:5", "--sample", "3"], "--sample"),
        (["--queries", "nowhere.txt"], "there is no such file"),
        (["--queries", "no\0where"], "no\\x00where"),
        (["--encoder", "trigram"], "did you mean 'trigrams'"),
        (["--sample", "0"], "0 queries are asked for"),
        (["--queries", "sentences:5"], "at least 4 words"),
    ],
)
def test_what_is_wrong_is_said(blindspot: Command, arguments: list[str], message: str) -> None:
    assert message in blindspot.error(*ON_WORDS, "--task", "intruder", *arguments).replace("\0", "")
