"""The command line: what scripts rely on, in real child processes where streams and exit codes count."""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchmarks import ranking
from blindspot.cli import output as cli_output
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, DatasetEntry, SourceFile, find_dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.pairs import evalrank
from blindspot.diagnostic import all_diagnostics, find_diagnostic
from blindspot.encoders.catalog import ENCODERS
from blindspot.files.export import unguarded
from blindspot.references import BM25
from blindspot.settings import ROOT, Settings
from blindspot.store.records import RunState
from blindspot.store.repository import Repository
from blindspot.transforms.chain import STEPS
from blindspot.types import CancelToken
from blindspot.variants import Variant
from tests.support import store_samples
from tests.support.commands import MORE_RUN_KEYS, RUN_KEYS, Command, Said
from tests.support.loopback import free_port
from tests.support.small_world import SMALL_PAIRS, Gate, GramEncoder, dataset_entry, register_dataset, register_encoder
from tests.support.tables import each

SCORES = ("mrr", "hits@1", "hits@3", "hits@5", "hits@10", "mean_rank", "median_rank")
WAYS = ("", "_optimistic", "_pessimistic", "_filtered")
COUNTS = ("tied_pairs", "self_pairs", "pairs", "background")
METRICS = {f"{score}{way}" for score in SCORES for way in WAYS} | set(COUNTS)
CEILINGS = {f"{score}_ceiling" for score in SCORES[:5]}
DEMO = ("run", "evalrank", "--encoder", "minilm", "--dataset", "demo-pairs")
SMALL = ("run", "evalrank", "--encoder", "trigrams", "--dataset", "small-pairs")
PATIENCE_SECONDS = 300


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> PairSet:
    """The small pairs and two quick encoders, in the catalogs."""
    register_encoder(monkeypatch, GramEncoder("trigrams", 3))
    register_encoder(monkeypatch, GramEncoder("bigrams", 2))
    return register_dataset(monkeypatch, SMALL_PAIRS)


def only_files(folder: Path) -> list[str]:
    """Files below a folder; that the log tells of a failed run is no leftover."""
    found = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path) for path in found if path.parts[0] != "logs")


# --- run: the JSON that scripts read


@pytest.mark.process
def test_run_prints_one_json_object_with_the_names_of_the_contract(encoded: Settings, child: Command) -> None:
    options = ("--transform", "none", "--transform", "center", "--metric", "cos", "--protocol", "definition", "--json")
    said = child(*DEMO, *options)
    assert said.code == 0, said.err
    assert set(said.json) == {"runs", "doubts"}
    assert said.json["doubts"] == []
    first, second = said.json["runs"]
    for run, transform in ((first, "none"), (second, "center")):
        assert set(run) == RUN_KEYS | MORE_RUN_KEYS
        assert (run["diagnostic"], run["encoder"], run["dataset"]) == ("evalrank", "minilm", "demo-pairs")
        assert run["transform"] == transform
        assert run["params"] == {"metric": "cos", "protocol": "definition"}
        assert run["computed"] is True
        assert set(run["metrics"]) == METRICS | CEILINGS
        metrics = run["metrics"]
        assert all(0 <= metrics[f"{s}{way}"] <= 1 for s in SCORES[:5] for way in WAYS)  # fractions, not percents
        assert (metrics["pairs"], metrics["background"], metrics["self_pairs"]) == (400, 1_400, 0)
        assert 0.6 < metrics["mrr"] < 0.8
        assert run["coverage"] == {"pairs": 400, "pairs_covered": 400, "items": 1_400, "items_covered": 1_400}
        assert set(run["timings"]) == {"load", "encode", "transform", "compute"}
        assert run["manifest"]["embeddings"]["encoded_now"] == 0
    assert first["run_id"] != second["run_id"]

    again = child(*DEMO, *options)
    assert again.code == 0
    assert again.err == ""
    found = again.json["runs"]
    assert [run["computed"] for run in found] == [False, False]
    assert [run | {"computed": True} for run in found] == [first, second]


@pytest.mark.process
def test_on_a_terminal_the_bar_is_on_stderr_and_stdout_stays_json(encoded: Settings) -> None:
    controller, terminal = pytest.importorskip("pty").openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "blindspot", *DEMO, "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    ) as process:
        os.close(terminal)
        shown = b""
        try:
            while block := os.read(controller, 4_096):
                shown += block
        except OSError:  # how Linux says that the other end was closed
            pass
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    os.close(controller)
    assert process.returncode == 0, shown
    assert b"EvalRank of minilm on Demo pairs" in shown
    assert len(json.loads(out)["runs"]) == 1


def test_progress_lines_go_to_stderr(small: PairSet, blindspot: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_output, "SECONDS_BETWEEN_LINES", 0.0)
    said = blindspot(*SMALL, "--json")
    assert said.code == 0
    assert len(said.json["runs"]) == 1
    n = len(small.items)
    assert said.err.splitlines() == [
        f"EvalRank of trigrams on small-pairs: {stage}, {done} of {total} ({share})"
        for stage, done, total, share in [
            ("loading the encoder", 0, 1, "0%"),
            ("encoding", 0, n, "0%"),
            ("encoding", n, n, "100%"),
            ("ranking", 0, n, "0%"),
            ("ranking", n, n, "100%"),
            ("storing", 0, 1, "0%"),
            ("storing", 1, 1, "100%"),
        ]
    ]


@pytest.mark.heavy
def test_chains_of_transforms_run_on_the_demo(encoded: Settings, blindspot: Command) -> None:
    chains = {"zscore+normalize": 384, "abtt:2": 384, "pcr": 384, "whiten": 381, "center+whiten:64": 64}
    found = blindspot.json(*DEMO, *(f"--transform={chain}" for chain in (*chains, "truncate:128")))
    runs = {run["transform"]: run for run in found["runs"]}
    assert set(runs) == {"zscore+normalize", "abtt:2", "pcr:1", "whiten", "center+whiten:64", "truncate:128"}
    for chain, dimension in chains.items():
        run = runs["pcr:1" if chain == "pcr" else chain]
        assert run["manifest"]["encoder"]["dimension"] == run["manifest"]["transform"]["d_out"] == dimension
        assert 0.5 < run["metrics"]["mrr"] < 0.8
    (facts,) = runs["abtt:2"]["manifest"]["transform"]["steps"]
    assert 0 < facts["explained_variance_removed"] < 1
    assert blindspot("runs", "show", runs["abtt:2"]["run_id"]).json["manifest"] == runs["abtt:2"]["manifest"]


def test_more_dimensions_than_there_are_is_one_line_and_exit_code_2(encoded: Settings, blindspot: Command) -> None:
    said = blindspot.error(*DEMO, "--transform", "truncate:385")
    assert "'truncate:385'" in said
    assert said.endswith("expected at most 384")


def test_several_encoders_datasets_and_transforms_are_all_combined_once(
    small: PairSet, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = register_dataset(
        monkeypatch, replace(small, id="other-pairs", queries=small.matches, matches=small.queries)
    )
    options = ["--encoder", "bigrams", "--dataset", other.id, "--transform", "none", "--transform", "center"]
    found = blindspot.json(*SMALL, *options, "--transform", "none", "--encoder", "trigrams")
    assert [(run["dataset"], run["encoder"], run["transform"]) for run in found["runs"]] == [
        (dataset, encoder, transform)
        for dataset in ("small-pairs", "other-pairs")
        for encoder in ("trigrams", "bigrams")
        for transform in ("none", "center")
    ]
    assert len({run["run_id"] for run in found["runs"]}) == 8


@pytest.mark.parametrize("dataset", ["small-pairs", "demo-pairs"])
def test_run_without_json_shows_scores_and_tells_computed_from_found(
    small: PairSet, blindspot: Command, dataset: str
) -> None:
    command = ("run", "evalrank", "--encoder", "trigrams", "--dataset", dataset, "--metric", "l2")
    out = blindspot.out(*command)
    (run,) = blindspot.json(*command)["runs"]
    assert run["params"] == {"metric": "l2", "protocol": "definition"}
    rows = {
        cells[0]: cells[1]
        for line in out.splitlines()
        if line.startswith("│") and len(cells := line.replace("│", " ").split()) == 2
    }
    for name in (*SCORES, "mrr_filtered", "hits@10_filtered"):
        assert rows[name] == f"{run['metrics'][name]:,.3f}"
    for name in COUNTS:
        assert rows[name] == f"{run['metrics'][name]:,.0f}"
    assert not any(name.endswith(("_optimistic", "_pessimistic", "_ceiling")) for name in rows)
    assert f"run {run['run_id']}: computed\n" in out
    assert f"run {run['run_id']}: found in the store\n" in blindspot(*command).out


# --- run: pairs of the user's own

OWN = (
    ("The cat sleeps on the sofa.", "A cat is asleep on the couch."),
    ("He bought a new car.", "He purchased a new automobile."),
    ("The cat sleeps on the sofa.", "A cat is asleep on the couch."),  # twice
    ("It rains.", "It rains."),
)


@pytest.mark.heavy
def test_columns_are_named_where_their_names_do_not_say_it(blindspot: Command, tmp_path: Path) -> None:
    """Three texts that are about as long: the two that are named are paired, and the run says which."""
    path = tmp_path / "kb.csv"
    lines = [f"T-{n},a dog barks {n},the dog is barking {n},rain {n} falls" for n in range(6)]
    path.write_text("\n".join(["ticket_id,first one,second,third", *lines]), "utf-8")
    run = ("run", "evalrank", "--encoder", "minilm", "--dataset", f"file:{path}")
    refused = blindspot(*run)
    assert (refused.code, refused.out) == (2, "")
    (line,) = refused.err.splitlines()
    assert "--query-column 'first one' --match-column second" in line
    named = ("--query-column", "first one", "--match-column", "second", "--json")
    said = blindspot(*run, *named)
    assert said.code == 0, said.err
    (stored,) = said.json["runs"]
    assert stored["dataset"] == f"file:{path}?query=first%20one&match=second"
    reading = stored["manifest"]["dataset"]["reading"]
    assert (reading["query"], reading["match"]) == ("first one", "second")
    (again,) = blindspot.json(*run[:-1], stored["dataset"])["runs"]
    assert (again["run_id"], again["computed"]) == (stored["run_id"], False)
    sweep = ("sweep", "--diagnostic", "evalrank", *run[2:], *named)
    assert blindspot(*sweep).json["runs"][0]["run_id"] == stored["run_id"]
    shown = blindspot("data", "show", f"file:{path}", "--word-column", "first one", "--count-column", "third")
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert blindspot(*DEMO, *named).code == 2, "columns of no file"


@pytest.mark.heavy
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_pairs_of_ones_own_in_every_format(
    blindspot: Command, environment: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    path = tmp_path / f"own.{ending}"
    names = ("Sentence 1", "Sentence 2")
    if ending == "parquet":
        parquet.write_table(pa.Table.from_pylist([dict(zip(names, pair, strict=True)) for pair in OWN]), path)
    elif ending == "jsonl":
        path.write_text("\n".join(json.dumps(dict(zip(names, pair, strict=True))) for pair in OWN), "utf-8")
    else:
        path.write_text("\n".join({"csv": ";", "tsv": "\t"}[ending].join(row) for row in (names, *OWN)), "utf-8")
    monkeypatch.chdir(tmp_path)
    options = ("run", "evalrank", "--encoder", "minilm", "--dataset")
    found = blindspot.json(*options, f"file:own.{ending}", "--transform", "none", "--transform", "center")
    for run in found["runs"]:
        assert run["dataset"] == f"file:{path}"
        metrics = run["metrics"]
        assert (metrics["pairs"], metrics["background"], metrics["self_pairs"]) == (4, 5, 1)
        assert metrics["mrr"] == metrics["hits@1_ceiling"] == 1.0
        dataset = run["manifest"]["dataset"]
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        assert (dataset["id"], dataset["revision"]) == (f"file:{path}", sha256)
        assert dataset["files"] == {str(path): sha256}
        assert dataset["reading"] == {
            "query": names[0],
            "match": names[1],
            "why": ["by its name", "by its name"],
            "format": ending,
            "separator": {"csv": ";", "tsv": "\t"}.get(ending, ""),
            "rows": 4,
            "duplicate_pairs": 1,
            "self_pairs": 1,
        }

    again = blindspot(*options, f"file:{path}")
    assert again.code == 0, again.err
    assert f"run {found['runs'][0]['run_id']}: found in the store\n" in again.out
    assert (
        f"read own.{ending}: query is column 'Sentence 1' (by its name) and match is column 'Sentence 2' (by its "
        "name); 4 pairs, 5 texts, repeated pairs: 1,"
    ) in again.out

    copy = path.rename(tmp_path / f"moved.{ending}")
    moved = blindspot(*options, f"file:{copy}")
    (found_as,) = [line for line in moved.out.splitlines() if "found in the store" in line]
    assert f"file:{path}" in found_as
    by_new_name = blindspot.json("runs", "--dataset", f"file:{copy}")["runs"]
    assert found["runs"][0]["run_id"] in [run["run_id"] for run in by_new_name], "the pages find it so, too"
    assert len(by_new_name) == 2
    assert len(blindspot.json("runs", "--dataset", f"file:own.{ending}")["runs"]) == 2, "by the path alone"
    assert blindspot("data", "fetch", f"file:{copy}").out == f"file:{copy}: your file, nothing to download\n"
    assert blindspot("data", "verify", f"file:{copy}").out == f"file:{copy}: your file\n"
    assert path.name not in blindspot("data", "list").out + blindspot("list").out


def test_a_file_is_checked_before_anything_is_begun(blindspot: Command, environment: Settings, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("query,match\na,b\nc\n", "utf-8")
    said = blindspot.error(*DEMO, "--dataset", f"file:{path}", "--json")
    assert said.startswith(f"{path}, line 3: 1 cell(s); expected 2, as in line 1")
    assert not environment.cache.exists()


# --- run: what is wrong


@each(
    ("arguments", "parts"),
    [
        (["run", "evalrnk", *DEMO[2:]], ["unknown diagnostic 'evalrnk'", "did you mean 'evalrank'?"]),
        ([*DEMO, "--encoder", "mini-lm"], ["unknown encoder 'mini-lm'", "did you mean 'minilm'?"]),
        ([*DEMO, "--dataset", "demo-pair"], ["unknown dataset 'demo-pair'", "did you mean 'demo-pairs'?"]),
        ([*DEMO, "--dataset", "file:no-such.csv"], ["there is no file", "no-such.csv"]),
        ([*DEMO, "--dataset", "file:tests"], ["cannot tell the format", ".parquet"]),
        ([*DEMO, "--dataset", "file:"], ["'file:' names no file", "file:PATH"]),
        ([*DEMO, "--dataset", "fil:pairs.csv"], ["unknown dataset", "file:PATH"]),
        ([*DEMO, "--dataset", "evalrank_sent"], ["unknown dataset", "did you mean 'evalrank-sent'?"]),
        ([*DEMO, "--transform", "centre"], ["unknown transform 'centre'", "did you mean 'center'?"]),
        ([*DEMO, "--metric", "cso"], ["unknown metric 'cso'", "cos, l2", "did you mean 'cos'?"]),
        ([*DEMO, "--protocol", "defintion"], ["unknown protocol", "did you mean 'definition'?"]),
        (["run"], ["Missing argument 'diagnostic'"]),
        (["run", "evalrank", "--encoder", "minilm"], ["there is no dataset", "--dataset"]),
        (["run", "evalrank", "--dataset", "demo-pairs"], ["Missing option '--encoder'"]),
        ([*DEMO, "--transform"], ["'--transform' requires an argument"]),
        ([*DEMO, "--metrik", "cos"], ["No such option: --metrik", "--metric"]),
        ([*DEMO, "heros"], ["unexpected extra argument", "heros"]),
        (["rnu"], ["No such command 'rnu'", "'run'"]),
        (["--jsn"], ["No such option: --jsn"]),
        (["list", "encoder"], ["unknown catalog 'encoder'", "did you mean 'encoders'?"]),
        (["data", "fetch"], ["Missing argument 'ids'"]),
        (["data", "fetch", "evalrank-snt"], ["unknown dataset", "did you mean 'evalrank-sent'?"]),
        (["data", "verify", "demo-pair"], ["unknown dataset", "did you mean 'demo-pairs'?"]),
        (["data", "ftch"], ["No such command 'ftch'", "'fetch'"]),
        (["runs", "--diagnostic", "evalrnk"], ["unknown diagnostic", "did you mean 'evalrank'?"]),
        (["runs", "--dataset", "demo-pair"], ["unknown dataset", "did you mean 'demo-pairs'?"]),
        (["runs", "--dataset", "file:"], ["'file:' names no file"]),
        (["runs", "shw"], ["No such command 'shw'", "'show'"]),
        (["runs", "show"], ["Missing argument 'run_id'"]),
        (["runs", "show", "abc"], ["no runs", "'abc'", "blindspot runs"]),
        (["runs", "delete", "abc"], ["no runs", "'abc'"]),
        (["runs", "delete", ""], ["no runs", "begins with ''"]),
        (["export", "abc", "--output", "x.csv"], ["no runs", "'abc'"]),
        (["export", "abc"], ["Missing option '--output'"]),
        (["bench", "rank_vs_gem"], ["unknown benchmark", "did you mean 'rank_vs_gemm'?"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_line_and_exit_code_2(
    blindspot: Command, environment: Settings, arguments: Sequence[str], parts: Sequence[str]
) -> None:
    error = blindspot.error(*arguments)
    for part in parts:
        assert part in error
    assert not environment.cache.exists()  # nothing was begun


@each(
    ("name", "value", "part"),
    [
        ("BLINDSPOT_DEVICE", "gpu", "expected auto, cpu, cuda"),
        ("BLINDSPOT_DEVICE", "cuda:one", "BLINDSPOT_DEVICE is 'cuda:one'"),
        ("BLINDSPOT_MODE", "demp", "did you mean 'demo'?"),
    ],
)
@each("command", [DEMO, ("runs",), ("data", "list"), ("bench",)], ids=" ".join)
def test_a_setting_that_means_nothing_is_bad_input(
    blindspot: Command, monkeypatch: pytest.MonkeyPatch, command: Sequence[str], name: str, value: str, part: str
) -> None:
    monkeypatch.setenv(name, value)
    error = blindspot.error(*command)
    assert name in error
    assert part in error


def test_all_is_checked_before_anything_is_computed(small: PairSet, blindspot: Command, environment: Settings) -> None:
    assert "did you mean" in blindspot.error(*SMALL, "--encoder", "quadgrams", "--json")
    assert not environment.cache.exists()


@pytest.mark.process
@pytest.mark.server
def test_no_network_is_one_line_and_exit_code_1(child: Command, environment: Settings) -> None:
    mirror = f"http://127.0.0.1:{free_port()}"
    error = child.error(
        "run", "evalrank", "--encoder", "minilm", "--dataset", "evalrank-sent", BLINDSPOT_MIRROR=mirror, code=1
    )
    assert f"cannot reach {mirror}/evalrank/" in error
    assert "BLINDSPOT_MIRROR" in error
    assert only_files(environment.cache) == []


@pytest.mark.process
def test_debug_shows_the_traceback_above_the_line(blindspot: Command, child: Command) -> None:
    plain = blindspot("runs", "show", "abc")
    debug = child("runs", "show", "abc", "--debug")
    assert plain.code == debug.code == 2
    assert "Traceback" not in plain.err
    assert debug.out == ""
    lines = debug.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert any("repository.py" in line for line in lines)
    assert lines[-1] == plain.err.strip()


def test_debug_changes_nothing_where_all_is_well(small: PairSet, blindspot: Command) -> None:
    said = blindspot("--debug", *SMALL, "--json")
    assert said.code == 0
    assert said.err == ""
    assert len(said.json["runs"]) == 1


def test_what_nobody_foresaw_is_one_line_too(
    small: PairSet, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(cancel: CancelToken) -> None:
        raise ZeroDivisionError("one line\nand another")

    register_encoder(monkeypatch, GramEncoder("broken", before=breaks))
    broken = ("run", "evalrank", "--encoder", "broken", "--dataset", small.id)
    assert blindspot.error(*broken, code=1).startswith("unexpected ZeroDivisionError: one line and another; ")
    assert "in breaks" in blindspot(*broken, "--debug").err


@pytest.mark.parametrize("debug", [False, True])
def test_ctrl_c_is_one_line_and_the_work_is_resumed(
    blindspot: Command, environment: Settings, monkeypatch: pytest.MonkeyPatch, debug: bool
) -> None:
    gate = Gate()
    gate.open(1_000)

    def interrupted(cancel: CancelToken) -> None:
        gate(cancel)
        if gate.reached == 2:  # one chunk is done
            signal.raise_signal(signal.SIGINT)

    encoder = register_encoder(monkeypatch, GramEncoder("slow", before=interrupted))
    command = ("run", "evalrank", "--encoder", "slow", "--dataset", "demo-pairs")
    assert blindspot.error(*command, *(["--debug"] if debug else []), code=1).startswith("interrupted; ")
    (run,) = Repository.at(environment.store).runs()
    assert run.state is RunState.INTERRUPTED
    assert blindspot(*command).code == 0
    assert encoder.encoded == 1_400  # none twice


def test_ctrl_c_while_it_starts_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupts:
        """Ctrl-C, pressed in the middle of the imports."""

        def find_spec(self, name: str, *_: object) -> None:
            if name == "blindspot.cli":
                signal.raise_signal(signal.SIGINT)

    monkeypatch.delitem(sys.modules, "blindspot.cli")
    monkeypatch.delitem(sys.modules, "blindspot.__main__", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupts(), *sys.meta_path])
    with pytest.raises((SystemExit, KeyboardInterrupt)) as ended:
        runpy.run_module("blindspot", run_name="__main__")
    assert isinstance(ended.value, SystemExit)
    assert ended.value.code == 1
    assert Said(1, *capsys.readouterr()).error == "interrupted"


def test_help_is_help(blindspot: Command) -> None:
    out = blindspot.out("--help")
    for command in ("list", "run", "data", "runs", "export", "bench"):
        assert f" {command} " in out
    assert blindspot("run", "--help").code == 0
    assert blindspot().code == 2  # nothing was asked for
    assert blindspot("data").code == 2


# --- the device


def test_a_gpu_that_is_not_there_matters_only_when_encoding(
    demo_cache: Path, blindspot: Command, environment: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    monkeypatch.setenv("BLINDSPOT_DEVICE", "cuda")
    assert blindspot("list").code == 0
    assert blindspot("runs").code == 0
    assert "BLINDSPOT_DEVICE is 'cuda' but this machine shows 0 CUDA device(s)" in blindspot.error(
        *DEMO, "--json", code=1
    )
    assert only_files(environment.embeddings) == []

    shutil.copytree(demo_cache / "embeddings", environment.embeddings, dirs_exist_ok=True)
    assert blindspot.json(*DEMO)["runs"][0]["computed"] is True


# --- list


def test_list_names_everything_in_the_catalogs(blindspot: Command) -> None:
    found = blindspot.json("list")
    ids = {name: [row["id"] for row in rows] for name, rows in found.items()}
    assert ids == {
        "encoders": [*ENCODERS, BM25],
        "transforms": list(STEPS),
        "datasets": list(DATASETS),
        "diagnostics": list(all_diagnostics()),
    }
    assert "minilm" in ids["encoders"]
    assert set(ids["transforms"]) >= set("none center zscore normalize abtt pcr whiten truncate".split())
    help_of = {row["id"]: row["description"] for row in found["transforms"]}
    assert "abtt:K" in help_of["abtt"]
    assert "1 if left out" in help_of["pcr"]
    assert {"demo-pairs", "demo-words", "evalrank-sent", "evalrank-word"} <= set(ids["datasets"])
    assert "file:PATH" in blindspot("list", "datasets").out
    assert "evalrank" in ids["diagnostics"]
    assert all(set(row) == {"id", "description"} for rows in found.values() for row in rows)
    assert all(row["description"] for rows in found.values() for row in rows)
    table = blindspot("list").out
    for name, rows in found.items():
        assert blindspot.json("list", name) == {name: rows}
        assert name.capitalize() in table
        assert all(f"│ {row['id']} " in table for row in rows)


# --- runs


def test_an_empty_store_says_what_to_do_and_is_not_created(blindspot: Command, environment: Settings) -> None:
    assert blindspot.out("runs") == "No runs yet. Try: blindspot run evalrank --dataset demo-pairs --encoder minilm\n"
    assert blindspot.json("runs") == {"runs": []}
    assert not environment.cache.exists()


def test_runs_are_listed_shown_and_deleted(small: PairSet, blindspot: Command, environment: Settings) -> None:
    computed = blindspot.json(*SMALL, "--transform", "none", "--transform", "center")["runs"]
    first, second = ({key: run[key] for key in run if key != "computed"} | {"state": "done"} for run in computed)

    assert blindspot.json("runs") == {"runs": [second, first]}  # newest first
    assert blindspot.json("runs", "--dataset", small.id, "--diagnostic", "evalrank")["runs"] == [
        second,
        first,
    ]
    assert blindspot.json("runs", "--dataset", "demo-pairs") == {"runs": []}
    assert blindspot("runs", "--dataset", "demo-pairs").out == "No such runs.\n"
    table = blindspot("runs").out
    for run in (first, second):
        (line,) = (line for line in table.splitlines() if run["run_id"] in line)
        label = Variant(run["encoder"], run["transform"]).label
        for cell in (find_diagnostic("evalrank").title, label, small.id, "cos, definition", "done"):
            assert f"│ {cell} " in line
        assert f"{run['metrics']['mrr']:.3f}" in line

    for prefix in (first["run_id"], first["run_id"][:8]):
        assert blindspot("runs", "show", prefix).json == first

    said = blindspot("runs", "delete", first["run_id"][:8])
    assert (said.code, said.out) == (0, f"run {first['run_id']} deleted\n")
    assert blindspot.json("runs") == {"runs": [second]}
    gone = blindspot("runs", "show", first["run_id"])
    assert gone.code == 2
    assert "no runs" in gone.error
    with Repository.at(environment.store).database.cursor() as cursor:
        for table_name in ("metric", find_diagnostic("evalrank").table):
            seqs = cursor.execute(f"SELECT count(DISTINCT run_seq) FROM {table_name}").fetchall()
            assert seqs == [(1,)]

    (again,) = blindspot.json(*SMALL)["runs"]
    assert again["computed"] is True
    assert again["run_id"] == first["run_id"]
    assert again["metrics"] == first["metrics"]
    assert again["manifest"]["embeddings"]["encoded_now"] == 0  # the embeddings had stayed


def test_the_beginning_of_several_ids_names_none(blindspot: Command, environment: Settings, tmp_path: Path) -> None:
    repository = Repository.at(environment.store)
    for run_id in ("aa11" * 4, "aa22" * 4):
        store_samples.store_run(repository, run_id, store_samples.pair_set())
    for command in (["runs", "show"], ["runs", "delete"], ["export", "--output", str(tmp_path / "x.csv")]):
        assert "2 runs have an id" in blindspot.error(*command, "aa")
    assert len(repository.runs()) == 2
    assert not (tmp_path / "x.csv").exists()
    assert blindspot("runs", "show", "aa2").json["run_id"] == "aa22" * 4


def test_an_interrupted_run_is_listed_but_not_exported(
    blindspot: Command, environment: Settings, tmp_path: Path
) -> None:
    repository = Repository.at(environment.store)
    run_seq = repository.begin(store_samples.plan("ab" * 8, store_samples.pair_set()))
    repository.abandon(run_seq)
    (run,) = blindspot.json("runs")["runs"]
    assert (run["state"], run["metrics"]) == ("interrupted", {})
    assert " interrupted " in blindspot("runs").out
    assert "is interrupted" in blindspot.error("export", "ab", "--output", str(tmp_path / "x.csv"))
    assert not (tmp_path / "x.csv").exists()
    assert blindspot("runs", "delete", "ab").code == 0
    assert blindspot.json("runs") == {"runs": []}


# --- export

COLUMNS = {
    "run_id": "string",
    "item_no": "int32",
    "similarity": "double",
    "greater": "int32",
    "ties": "int32",
    "greater_filtered": "int32",
    "ties_filtered": "int32",
    "rank": "double",
    "rank_filtered": "double",
    "query_no": "int32",
    "match_no": "int32",
    "query": "string",
    "match": "string",
}


def scores_of(rows: Sequence[Mapping[str, Any]], suffix: str) -> dict[str, float]:
    """MRR and Hits@k of exported rows, averaged over all orders of the tied, in exact fractions."""
    out = dict.fromkeys(SCORES[:5], Fraction(0))
    for row in rows:
        greater, ties = int(row[f"greater{suffix}"]), int(row[f"ties{suffix}"])
        for rank in range(greater + 1, greater + ties + 2):
            out["mrr"] += Fraction(1, rank * (ties + 1))
            for k in (1, 3, 5, 10):
                out[f"hits@{k}"] += Fraction(int(rank <= k), ties + 1)
    return {f"{name}{suffix}": float(total / len(rows)) for name, total in out.items()}


def check_export(folder: Path, blindspot: Command, run: Mapping[str, Any], dataset: PairSet) -> None:
    """Both formats hold every pair, its texts, and ranks that give the stored scores."""
    folder.mkdir()
    for name in ("rows.csv", "rows.parquet"):
        assert (
            blindspot.out("export", run["run_id"][:10], "--output", str(folder / name))
            == f"{len(dataset.queries)} rows written to {folder / name}\n"
        )
    assert only_files(folder) == ["rows.csv", "rows.parquet"]

    table = parquet.read_table(folder / "rows.parquet")
    types = {field.name: str(field.type).removeprefix("large_") for field in table.schema}
    assert types == COLUMNS
    rows = table.to_pylist()
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        as_text = list(reader)
    assert reader.fieldnames == list(COLUMNS)
    read = {"string": unguarded, "int32": int, "double": float}
    assert [{name: read[COLUMNS[name]](row[name]) for name in row} for row in as_text] == rows

    assert [row["item_no"] for row in rows] == list(range(len(dataset.queries)))
    assert {row["run_id"] for row in rows} == {run["run_id"]}
    assert [row["query_no"] for row in rows] == dataset.queries.tolist()
    assert [row["match_no"] for row in rows] == dataset.matches.tolist()
    assert [row["query"] for row in rows] == [dataset.items[i] for i in dataset.queries]
    assert [row["match"] for row in rows] == [dataset.items[i] for i in dataset.matches]
    for suffix in ("", "_filtered"):
        for metric, value in scores_of(rows, suffix).items():
            assert value == pytest.approx(run["metrics"][metric], abs=1e-12), metric
    shown = [1 + row["greater"] + row["ties"] / 2 for row in rows]
    assert [row["rank"] for row in rows] == shown
    assert [row["rank_filtered"] for row in rows] == [1 + r["greater_filtered"] + r["ties_filtered"] / 2 for r in rows]
    assert sum(shown) / len(shown) == pytest.approx(run["metrics"]["mean_rank"])
    assert sum(row["ties"] > 0 for row in rows) == run["metrics"]["tied_pairs"]


def test_an_export_gives_back_the_texts_and_the_scores(encoded: Settings, blindspot: Command, tmp_path: Path) -> None:
    (run,) = blindspot.json(*DEMO, "--transform", "center")["runs"]
    folder = tmp_path / "export"
    check_export(folder, blindspot, run, fetch.load(find_dataset("demo-pairs"), encoded))


@pytest.mark.parametrize("metric", ["cos", "l2"])
def test_an_export_keeps_quotes_line_ends_and_ties(
    small: PairSet, blindspot: Command, tmp_path: Path, metric: str
) -> None:
    (run,) = blindspot.json(*SMALL, "--metric", metric)["runs"]
    assert run["metrics"]["tied_pairs"] > 0
    check_export(tmp_path / "export", blindspot, run, small)


def test_an_export_goes_where_it_is_sent_whatever_the_path_is_called(
    small: PairSet, blindspot: Command, tmp_path: Path
) -> None:
    """No part of a path is taken for markup or an emoji, and a long one stays on one line."""
    (run,) = blindspot.json(*SMALL)["runs"]
    file = tmp_path / "[red]new" / ":smile:" / ("long " * 40) / "rows.csv"
    file.parent.mkdir(parents=True)
    said = blindspot("export", run["run_id"], "--output", str(file))
    assert said.out == f"{len(small.queries)} rows written to {file}\n"
    assert file.is_file()


def test_an_export_that_cannot_be_written_leaves_nothing(small: PairSet, blindspot: Command, tmp_path: Path) -> None:
    (run,) = blindspot.json(*SMALL)["runs"]
    folder = tmp_path / "export"
    (folder / "folder.csv").mkdir(parents=True)
    (folder / "file").write_text("not a folder")
    for output in (folder / "folder.csv", Path("/proc/rows.parquet")):
        assert "cannot write" in blindspot.error("export", run["run_id"], "--output", str(output), code=1)
    for output in (folder / "file" / "rows.csv", folder / "no" / "such" / "rows.csv"):  # a typo makes no folders
        assert f"there is no folder {output.parent}" in blindspot.error(
            "export", run["run_id"], "--output", str(output)
        )
    for output in (folder / "rows.xlsx", folder / "rows", folder):
        assert ".csv or .parquet" in blindspot.error("export", run["run_id"], "--output", str(output))
    assert only_files(folder) == ["file"]


def test_an_export_replaces_the_file_of_before(small: PairSet, blindspot: Command, tmp_path: Path) -> None:
    (run,) = blindspot.json(*SMALL)["runs"]
    file = tmp_path / "rows.parquet"
    file.write_text("something else")
    assert blindspot("export", run["run_id"], "--output", str(file)).code == 0
    assert parquet.read_table(file).num_rows == len(small.queries)
    assert pa.types.is_int32(parquet.read_table(file).schema.field("greater").type)


# --- data

PAIR_LINES = b"A dog runs.\tA dog is running.\nIt rains.\tRain falls.\n"
BACKGROUND_LINES = "A cat sleeps.\nThe sun shines – at last.\n".encode()


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: Settings) -> Path:
    """A mirror folder with a dataset of two files, ``filed-pairs``, which is in the catalog."""
    folder = tmp_path / "mirror"
    files = []
    for name, content in (("pairs.txt", PAIR_LINES), ("background.txt", BACKGROUND_LINES)):
        path = folder / "somewhere" / "deep" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        checksum = hashlib.sha256(content).hexdigest()
        files.append(SourceFile("somewhere", f"deep/{name}", "http://127.0.0.1:9/", len(content), checksum))
    entry: DatasetEntry = replace(
        dataset_entry(SMALL_PAIRS),
        id="filed-pairs",
        files=tuple(files),
        load=lambda dataset_id, paths: evalrank(dataset_id, paths[0], paths[1:]),
    )
    monkeypatch.setitem(DATASETS, entry.id, entry)
    monkeypatch.setenv("BLINDSPOT_MIRROR", str(folder))
    return folder / "somewhere" / "deep"


def state_of(blindspot: Command, dataset: str = "filed-pairs") -> str:
    (state,) = (row["state"] for row in blindspot.json("data", "list")["datasets"] if row["id"] == dataset)
    return str(state)


def test_data_list_describes_every_dataset(blindspot: Command, environment: Settings) -> None:
    rows = blindspot.json("data", "list")["datasets"]
    assert [row["id"] for row in rows] == list(DATASETS)
    fields = {"id", "title", "kind", "size", "licence", "citation", "url", "revision", "state"}
    assert all(set(row) == fields for row in rows)
    states = {row["id"]: row["state"] for row in rows}
    assert states == {e.id: "missing" if e.files else "built in" for e in DATASETS.values()}
    assert (states["demo-pairs"], states["evalrank-sent"]) == ("built in", "missing")
    table = blindspot("data", "list").out
    for row in rows:
        (line,) = (line for line in table.splitlines() if f"│ {row['id']} " in line)
        assert row["state"] in line
        assert row["size"] in line
        assert row["licence"] in line
    assert not environment.cache.exists()


def test_data_is_fetched_verified_found_corrupt_and_mended(
    small: PairSet, mirror: Path, blindspot: Command, environment: Settings
) -> None:
    folder = environment.data / "somewhere" / "deep"
    assert state_of(blindspot) == "missing"
    assert blindspot.out("data", "fetch", "demo-pairs", "filed-pairs") == (
        f"demo-pairs: built in, nothing to download\nfiled-pairs: 2 file(s) verified in {folder}\n"
    )
    assert only_files(folder) == ["background.txt", "pairs.txt"]
    assert (folder / "pairs.txt").read_bytes() == PAIR_LINES
    assert state_of(blindspot) == "downloaded"
    said = blindspot("data", "verify", "filed-pairs")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "filed-pairs: deep/pairs.txt: downloaded",
        "filed-pairs: deep/background.txt: downloaded",
    ]

    damaged = PAIR_LINES.replace(b"dog", b"hog")  # of the same size
    (folder / "pairs.txt").write_bytes(damaged)
    assert state_of(blindspot) == "corrupt"
    said = blindspot("data", "verify")
    assert said.code == 1
    assert "filed-pairs: deep/pairs.txt: corrupt (sha256 " in said.out
    assert "filed-pairs: deep/background.txt: downloaded" in said.out
    (line,) = said.err.splitlines()
    assert line.startswith("error: 1 dataset(s)")
    assert "blindspot data fetch filed-pairs" in line
    error = blindspot.error("run", "evalrank", "--encoder", "trigrams", "--dataset", "filed-pairs", code=1)
    assert "is corrupt" in error
    assert "blindspot data fetch filed-pairs" in error
    assert (folder / "pairs.txt").read_bytes() == damaged  # left for whoever wants to look
    assert Repository.at(environment.store).runs() == []

    assert blindspot("data", "fetch", "filed-pairs").code == 0
    assert (folder / "pairs.txt").read_bytes() == PAIR_LINES
    assert blindspot("data", "verify", "filed-pairs").code == 0
    assert blindspot("run", "evalrank", "--encoder", "trigrams", "--dataset", "filed-pairs").code == 0


def test_verify_minds_what_is_missing_only_where_it_was_asked_for(mirror: Path, blindspot: Command) -> None:
    said = blindspot("data", "verify")
    assert (said.code, said.err) == (0, "")
    assert "filed-pairs: deep/pairs.txt: missing" in said.out
    assert "demo-pairs: built in" in said.out
    said = blindspot("data", "verify", "filed-pairs")
    assert said.code == 1
    assert said.err.startswith("error: 1 dataset(s) with corrupt or missing files: filed-pairs;")


@pytest.mark.parametrize("command", [("data", "fetch", "filed-pairs"), (*SMALL[:4], "--dataset", "filed-pairs")])
@pytest.mark.parametrize(
    ("content", "part"),
    [
        (None, "the mirror has no"),
        (PAIR_LINES[:-10], "bytes instead of"),
        (PAIR_LINES + b"more\tof it\n", "more bytes come than"),
        (PAIR_LINES.upper(), "sha256"),
        (b"", "0 bytes instead of"),
    ],
    ids=["missing", "truncated", "longer", "changed", "empty"],
)
def test_a_bad_mirror_is_one_line_and_leaves_nothing(
    small: PairSet,
    mirror: Path,
    blindspot: Command,
    environment: Settings,
    command: Sequence[str],
    content: bytes | None,
    part: str,
) -> None:
    if content is None:
        (mirror / "pairs.txt").unlink()
    else:
        (mirror / "pairs.txt").write_bytes(content)
    error = blindspot.error(*command, code=1)
    assert part in error
    assert "BLINDSPOT_MIRROR" in error
    assert not environment.cache.exists() or only_files(environment.cache) == []


def test_a_mirror_folder_that_is_not_there(blindspot: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BLINDSPOT_MIRROR", str(tmp_path / "nowhere"))
    error = blindspot.error("run", "evalrank", "--encoder", "minilm", "--dataset", "evalrank-sent", "--json", code=1)
    assert f"the mirror has no {tmp_path / 'nowhere' / 'evalrank'}" in error
    assert "BLINDSPOT_MIRROR" in error


@pytest.mark.realdata
def test_the_real_data_is_fetched_and_verified(
    blindspot: Command, environment: Settings, shared_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_MIRROR", shared_settings.mirror)
    said = blindspot("data", "fetch", "evalrank-sent")
    assert said.code == 0, said.err
    assert state_of(blindspot, "evalrank-sent") == "downloaded"
    assert blindspot("data", "verify", "evalrank-sent").code == 0
    assert len(only_files(environment.data)) == 2


def test_a_cache_that_cannot_be_written_is_one_line(
    small: PairSet, mirror: Path, blindspot: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("BLINDSPOT_CACHE", str(tmp_path / "file" / "cache"))
    for command in (SMALL, ("data", "fetch", "filed-pairs")):
        error = blindspot.error(*command, code=1)
        assert "cannot write" in error
        assert "BLINDSPOT_CACHE" in error


def test_a_store_that_is_none_is_one_line(small: PairSet, blindspot: Command, environment: Settings) -> None:
    environment.cache.mkdir()
    environment.store.write_bytes(b"this is no database" * 1_000)
    for command in (SMALL, ("runs",), ("runs", "show", "a")):
        assert str(environment.store) in blindspot.error(*command, code=1)
    assert environment.store.read_bytes() == b"this is no database" * 1_000


# --- bench


@pytest.fixture
def tiny_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real benchmark on a problem that takes no time."""
    problem = functools.partial(ranking.ranking_problem, items=300, queries=40)
    monkeypatch.setattr(ranking, "ranking_problem", problem)


@pytest.mark.heavy
def test_bench_prints_one_json_object(tiny_problem: None, blindspot: Command) -> None:
    found = blindspot.json("bench", "rank_vs_gemm")
    assert set(found) == {"machine", "results"}
    machine, results = found["machine"], found["results"]
    assert set(machine) == {"processor", "instructions", "threads", "memory_gib", "system", "python", "numpy"}
    assert machine["threads"] >= 1
    assert set(results) == {"rank_vs_gemm", "rank_vs_gemm_384", "rank_vs_gemm_768"}
    for result in results.values():
        assert set(result) == {"value", "unit", "samples"}
        assert result["unit"] == "ratio"
        assert len(result["samples"]) == 5
        assert sorted(result["samples"])[2] == result["value"] > 0  # the median


@pytest.mark.heavy
def test_bench_prints_a_table_of_what_was_asked_for(tiny_problem: None, blindspot: Command) -> None:
    out = blindspot.out("bench", "rank_vs_gemm")
    for name in ("rank_vs_gemm", "rank_vs_gemm_384", "rank_vs_gemm_768"):
        assert f"│ {name} " in out
