"""The command ``sweep``: what it prints, what it leaves out, what it survives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from blindspot.cli import output
from blindspot.cli import sweep as cli_sweep
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.errors import BlindspotError
from blindspot.runs import sweeps
from blindspot.settings import ROOT, Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.types import CancelToken
from tests.support.commands import MORE_RUN_KEYS, RUN_KEYS, Command
from tests.support.loopback import serving
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_encoder
from tests.support.tables import each
from tests.support.world import World

ENCODERS = ("--encoder", "trigrams", "--encoder", "bigrams")
DATASETS = ("--dataset", "small-pairs", "--dataset", "small-minimal")
SMALL = ("sweep", *ENCODERS, *DATASETS, "--diagnostic", "evalrank", "--diagnostic", "heros")
SMALL_FILE = """
encoders = ["trigrams", "bigrams"]
transforms = ["none", "center"]
datasets = ["small-pairs", "small-minimal"]
diagnostics = ["evalrank", "heros"]
params.metric = "cos"
"""
PATIENCE_SECONDS = 300
ORIGINALS = ["the cat is big", "a small dog runs", "it rains a lot"]
SMALL_MINIMAL = minimal_pair_set(
    "small-minimal",
    ORIGINALS,
    {
        "synonym": ["the cat is large", "a little dog runs", "it pours a lot"],
        "antonym": ["the cat is tiny", "a big dog runs", "it shines a lot"],
    },
)
TYPOS = minimal_pair_set("typos", ORIGINALS, {"typo": ["the cat is bgi", "a samll dog runs", "it rians a lot"]})


@pytest.fixture(autouse=True)
def small_things(world: World) -> None:
    world.add(GramEncoder("trigrams", 3), GramEncoder("bigrams", 2), SMALL_PAIRS, SMALL_MINIMAL, TYPOS)


def scores(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """All metrics of each run, by its id."""
    return {run["run_id"]: run["metrics"] for run in runs}


# --- what it gives


@pytest.mark.heavy
def test_options_and_a_file_mean_the_same_runs_and_json_has_the_shape_of_run(
    blindspot: Command, tmp_path: Path
) -> None:
    said = blindspot(*SMALL, "--transform", "none", "--transform", "center", "--metric", "cos", "--json")
    assert (said.code, said.err) == (0, "")
    assert set(said.json) == {"runs", "failed"}
    assert said.json["failed"] == []
    runs = said.json["runs"]
    assert len(runs) == 8
    assert all(set(run) == RUN_KEYS | MORE_RUN_KEYS for run in runs)
    assert all(run["computed"] for run in runs)
    assert {(r["diagnostic"], r["dataset"]) for r in runs} == {("evalrank", "small-pairs"), ("heros", "small-minimal")}
    assert {(r["encoder"], r["transform"]) for r in runs} == {
        (e, t) for e in ("trigrams", "bigrams") for t in ("none", "center")
    }

    path = tmp_path / "sweep.toml"
    path.write_text(SMALL_FILE)
    again = blindspot("sweep", str(path), "--json")
    assert [run | {"computed": True} for run in again.json["runs"]] == runs
    assert not any(run["computed"] for run in again.json["runs"])

    single = blindspot("run", "heros", *ENCODERS, "--dataset", "small-minimal", "--transform", "center", "--json")
    assert [r["run_id"] for r in single.json["runs"]] == [
        r["run_id"] for r in runs if (r["diagnostic"], r["transform"]) == ("heros", "center")
    ]


def test_the_evidence_says_first_what_it_takes_and_what_it_lacks_and_is_found_again(
    blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real one takes many minutes: the command runs a small one in its place."""
    small = sweeps.Sweep(
        ("trigrams", "bigrams"),
        ("none",),
        ("small-pairs", "small-minimal"),
        ("evalrank", "heros"),
        notes=("one lacks",),
    )
    monkeypatch.setattr(sweeps, "evidence", lambda *_: small)
    listed = blindspot("sweep", "evidence", "--dry-run")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.endswith("one lacks\n4 runs: 0 in the store, 4 to compute\n")
    said = blindspot("sweep", "evidence")
    assert said.code == 0
    note, cost = said.err.strip().splitlines()
    assert note == "one lacks"
    assert cost.startswith("4 runs, 0 ")
    assert said.out.endswith("one lacks\n4 runs: 4 computed, 0 found in the store\n")
    assert "skipped" not in said.out  # a diagnostic without a dataset is intended
    again = blindspot("sweep", "evidence", "--json")
    assert "4 runs, 4 " in again.err
    assert [run["computed"] for run in again.json["runs"]] == [False] * 4
    assert blindspot("sweep", "evidence", "--encoder", "trigrams").code == 2


@pytest.mark.heavy
def test_the_tables_have_the_best_variant_first_and_say_what_was_left_out(blindspot: Command) -> None:
    options = (*SMALL, "--transform", "none", "--transform", "center", "--transform", "truncate:2")
    said = blindspot(*options)
    assert (said.code, said.err) == (0, "")
    runs = blindspot.json(*options)["runs"]
    for title, diagnostic, headline in (
        ("EvalRank on small-pairs, metric cos, protocol definition, best mrr first", "evalrank", "mrr"),
        ("HEROS on small-minimal, best synonym>antonym first", "heros", "synonym>antonym"),
    ):
        assert title in said.out
        ranked = sorted(
            (run for run in runs if run["diagnostic"] == diagnostic), key=lambda run: -run["metrics"][headline]
        )
        table = said.out.partition(title)[2].partition("└")[0]
        shown = [line for line in table.splitlines() if line.startswith("│")]
        assert len(shown) == len(ranked) == 6
        for line, run in zip(shown, ranked, strict=True):
            assert f" {run['metrics'][headline]:.3f} " in line
        assert {run["run_id"] for run in ranked} == {line.split()[-2] for line in shown}
    skipped = [line for line in said.out.splitlines() if line.startswith("skipped: ")]
    assert [line.removeprefix("skipped: ").partition(";")[0] for line in skipped] == [
        "heros on small-pairs",
        "evalrank on small-minimal",
    ]
    assert said.out.endswith("12 runs: 12 computed, 0 found in the store\n")


def test_runs_without_the_headline_are_listed_as_they_come(blindspot: Command) -> None:
    out = blindspot.out("sweep", *ENCODERS, "--dataset", "typos", "--diagnostic", "heros")
    assert out.splitlines()[0].strip() == "HEROS on typos"
    shown = [line.split() for line in out.splitlines() if line.startswith("│")]
    assert [(line[1], line[3]) for line in shown] == [("trigrams", "–"), ("bigrams", "–")]


def test_each_combination_of_parameters_has_its_table(blindspot: Command) -> None:
    said = blindspot(*SMALL, "--metric", "cos", "--metric", "l2", "--protocol", "definition")
    titles = [line.strip() for line in said.out.splitlines() if " on " in line and "first" in line]
    assert titles == [
        "EvalRank on small-pairs, metric cos, protocol definition, best mrr first",
        "EvalRank on small-pairs, metric l2, protocol definition, best mrr first",
        "HEROS on small-minimal, best synonym>antonym first",
    ]


def test_word_vectors_are_ranked_on_common_items_unless_told_otherwise(blindspot: Command, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("query,match\ncat,dog\ndog,cat\ncow,pig\nhen,owl\n")
    draw = {"cat": 3, "dog": 1, "cow": 4, "pig": 1, "hen": 5, "owl": 9}
    for name, words in {"a": "cat dog cow pig", "b": "cat dog hen owl"}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{w} {draw[w]} 1 {len(w)}.5\n" for w in words.split()))
    sweep = ["sweep", "--encoder", f"vectors:{tmp_path}/a.txt", "--encoder", f"vectors:{tmp_path}/b.txt"]
    sweep += ["--dataset", f"file:{pairs}", "--diagnostic", "evalrank"]
    covered = {
        options: [run["coverage"]["pairs_covered"] for run in blindspot.json(*sweep, *options)["runs"]]
        for options in [(), ("--support", "common"), ("--support", "own")]
    }
    assert covered == {(): [2, 2], ("--support", "common"): [2, 2], ("--support", "own"): [3, 3]}
    own = blindspot(*sweep, "--support", "own").out
    assert "3 of 4" in own
    assert "their scores cannot be compared" in own
    assert "4 pairs, 6 texts" in own  # how the file was read
    assert "cannot be compared" not in blindspot(*sweep).out


def test_a_dry_run_tells_what_is_there_and_does_nothing(blindspot: Command, environment: Settings) -> None:
    plan = (*SMALL, "--transform", "none", "--transform", "center")
    assert blindspot(*plan, "--dry-run").out.endswith("8 runs: 0 in the store, 8 to compute\n")
    assert not environment.cache.exists()
    done = blindspot.json("run", "evalrank", *ENCODERS, "--dataset", "small-pairs")["runs"]
    planned = blindspot.json(*plan, "--dry-run")["planned"]
    first, second = (run["run_id"] for run in done)
    assert [run["run_id"] for run in planned] == [first, None, second, None] + [None] * 4
    assert set(planned[0]) == {"diagnostic", "encoder", "transform", "dataset", "params", "run_id"}
    said = blindspot(*plan, "--dry-run")
    assert said.out.endswith("8 runs: 2 in the store, 6 to compute\n")
    assert f"run {done[0]['run_id']}" in said.out
    assert len(Repository.at(environment.store).runs()) == 2


def test_a_dry_run_finds_what_was_ranked_in_common(blindspot: Command, tmp_path: Path) -> None:
    """Which items that were is known only from the embeddings, and without them it is not told."""
    encoders = []
    for name, words in {"a": ["cat", "dog", "money"], "b": ["cat", "dog", "love", "sex"]}.items():
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"{word} {n + 1} {len(word)}\n" for n, word in enumerate(words)))
        encoders += ["--encoder", f"vectors:{path}"]
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("query,match\ncat,dog\ndog,cat\ncat,money\n")
    sweep = ("sweep", *encoders, "--dataset", f"file:{pairs}", "--diagnostic", "evalrank", "--json")
    runs = blindspot(*sweep).json["runs"]
    assert [r["run_id"] for r in blindspot(*sweep, "--dry-run").json["planned"]] == [r["run_id"] for r in runs]
    (tmp_path / "a.txt").write_text("cat 1 1\ndog 2 2\n")  # another file now
    assert [r["run_id"] for r in blindspot(*sweep, "--dry-run").json["planned"]] == [None, None]


def test_a_dry_run_asks_no_hub(blindspot: Command) -> None:
    of_hub = ("--encoder", "hf:no/such", "--dataset", "demo-pairs", "--diagnostic", "evalrank")
    assert blindspot.out("sweep", *of_hub, "--dry-run").endswith("1 run: 0 in the store, 1 to compute\n")


# --- what goes wrong


def test_one_that_fails_stops_none_of_the_others(blindspot: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: CancelToken) -> None:
        raise BlindspotError("the weights are gone", remedy="find them")

    register_encoder(monkeypatch, GramEncoder("broken", before=broken))
    said = blindspot(*SMALL, "--encoder", "broken", "--json")
    assert said.code == 1
    found = json.loads(said.out)
    assert {run["encoder"] for run in found["runs"]} == {"trigrams", "bigrams"}
    assert found["failed"] == [
        {
            "diagnostic": diagnostic,
            "encoder": "broken",
            "transform": "none",
            "dataset": dataset,
            "params": params,
            "error": "the weights are gone; find them",
        }
        for diagnostic, dataset, params in (
            ("evalrank", "small-pairs", {"metric": "cos", "protocol": "definition"}),
            ("heros", "small-minimal", {}),
        )
    ]
    assert said.err == (
        "error: 2 of 6 runs failed; the first was EvalRank of broken on small-pairs: the weights are gone; find them\n"
    )
    table = blindspot(*SMALL, "--encoder", "broken")
    assert "Failed" in table.out
    assert table.out.endswith("6 runs: 0 computed, 4 found in the store, 2 failed\n")


def test_the_exit_code_is_2_only_where_all_failed_for_bad_input(blindspot: Command) -> None:
    some = blindspot(*SMALL, "--transform", "none", "--transform", "whiten:97")  # the embeddings have 96 dimensions
    assert some.code == 1
    assert "4 of 8 runs failed" in some.err
    every = blindspot(*SMALL, "--transform", "whiten:97")
    assert every.code == 2
    assert "whiten:97" in every.err
    assert len(every.err.splitlines()) == 1


@pytest.mark.server
def test_a_dataset_that_cannot_be_had_is_asked_for_once(blindspot: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as site:
        monkeypatch.setenv("BLINDSPOT_MIRROR", site.url)
        said = blindspot("sweep", *ENCODERS, "--dataset", "evalrank-sent", "--diagnostic", "evalrank", "--json")
        assert len(site.ranges) == 1
    assert said.code == 1
    failed = json.loads(said.out)["failed"]
    assert len(failed) == 2
    assert all("404" in failure["error"] for failure in failed)


@each(
    ("arguments", "words"),
    [
        ((), ("--encoder, --dataset, --diagnostic missing", "sweep demo")),
        (("--encoder", "lsa", "--dataset", "demo-pairs"), ("--diagnostic missing",)),
        (("demo", "--encoder", "lsa"), ("both 'demo' and --encoder are given",)),
        (("x.toml", "--support", "own", "--metric", "l2"), ("both 'x.toml' and --metric, --support are given",)),
        (("no-such.toml",), ("there is no file no-such.toml",)),
        (("demos",), ("there is no file demos", "demo")),
        ((*SMALL[1:], "--metric", "cosine"), ("unknown metric 'cosine'", "did you mean 'cos'?")),
        ((*SMALL[1:], "--encoder", "trigram"), ("unknown encoder 'trigram'", "did you mean 'trigrams'?")),
        (("--encoder", "lsa", "--dataset", "small-pairs", "--diagnostic", "heros"), ("nothing to run",)),
        ((*SMALL[1:], "--support", "both"), ("both", "common")),
    ],
)
def test_bad_input_is_one_line(blindspot: Command, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    error = blindspot.error("sweep", *arguments)
    assert all(word in error for word in words), error


def test_the_example_of_the_help_is_a_file_that_is_read(blindspot: Command, tmp_path: Path) -> None:
    example = cli_sweep.HELP.partition("\b\n")[2]
    path = tmp_path / "example.toml"
    path.write_text(example)
    assert sweeps.read_toml(path).params == {"metric": ("cos", "l2"), "protocol": ("definition",)}
    shown = blindspot("sweep", "--help").out
    assert all(" ".join(line.split()) in " ".join(shown.split()) for line in example.splitlines() if line)


# --- interrupted and killed


def test_ctrl_c_says_how_many_are_done_and_the_same_command_continues(
    blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt = iter([True])

    def before(_: CancelToken) -> None:
        if next(interrupt, False):
            signal.raise_signal(signal.SIGINT)

    register_encoder(monkeypatch, GramEncoder("slow", before=before))
    command = (*SMALL, "--encoder", "slow", "--json")
    assert blindspot.error(*command, code=1).startswith("interrupted; 4 of 6 runs are done; ")
    again = blindspot(*command)
    assert again.code == 0
    assert [run["computed"] for run in again.json["runs"]] == [False, False, False, False, True, True]


def test_progress_names_number_run_and_what_is_left(blindspot: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", 0.0)
    said = blindspot(*SMALL, "--transform", "none", "--transform", "center")
    assert said.code == 0
    lines = said.err.splitlines()
    assert any(line.startswith("1 of 8: EvalRank of trigrams on small-pairs: ") for line in lines)
    assert not any("left" in line for line in lines if line.startswith(("1 of", "2 of", "3 of", "4 of", "5 of")))
    # The last is like another one before it, and its texts had been encoded.
    assert any(
        line.startswith("8 of 8 (about ") and "left): HEROS of bigrams + center on small-minimal" in line
        for line in lines
    )


@pytest.mark.slow
def test_a_killed_sweep_continues_and_ends_with_the_numbers_of_an_undisturbed_one(
    settings: Settings, tmp_path: Path
) -> None:
    """On the built-in sentences, in processes of their own; ``kill -9`` once something is in the store."""
    path = tmp_path / "sweep.toml"
    path.write_text(
        'encoders = ["random-projection-64", "random-projection"]\n'
        'transforms = ["none", "center", "zscore", "truncate:32"]\n'
        'datasets = ["demo-pairs", "demo-minimal"]\n'
        'diagnostics = ["evalrank", "heros"]\n'
    )

    def start(cache: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "blindspot", "sweep", str(path), "--json"],
            cwd=ROOT,
            env={**os.environ, "BLINDSPOT_CACHE": str(cache), "BLINDSPOT_DEVICE": "cpu"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def finish(cache: Path) -> list[dict[str, Any]]:
        with start(cache) as process:
            out, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0
        runs: list[dict[str, Any]] = json.loads(out)["runs"]
        return runs

    undisturbed = finish(tmp_path / "undisturbed")
    assert len(undisturbed) == 16

    with start(settings.cache) as process:
        deadline = time.monotonic() + PATIENCE_SECONDS
        # Runs come one after another: once the second encoder's embeddings are there, the first one's run is stored.
        while len([*settings.embeddings.glob("*.json")]) < 2:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    repository = Repository.at(settings.store)
    stored = {run.run_id for run in repository.runs(state=RunState.DONE)}
    repository.database.close()  # so that the next process need not wait for it
    assert 1 <= len(stored) < 16

    resumed = finish(settings.cache)
    assert {run["run_id"] for run in resumed if not run["computed"]} == stored
    assert scores(resumed) == scores(undisturbed)
