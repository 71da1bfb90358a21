"""Sweeps: their runs and order, files that describe them, and the remaining time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.datasets import vector_sources
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.entries import SourceFile
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.named import dataset_named
from blindspot.datasets.published.meaning_changes import MEANING_CHANGES
from blindspot.diagnostic import find_diagnostic
from blindspot.encoders.catalog import ENCODERS
from blindspot.encoders.named import encoder_named
from blindspot.errors import InputError
from blindspot.files.writing import sha256_of
from blindspot.runs import requesting, sweeps
from blindspot.runs.sweeps import RemainingTime, Sweep
from blindspot.settings import Mode, Settings
from tests.conftest import make_settings
from tests.support.tables import each

SMALL = Sweep(
    encoders=("random-projection", "lsa"),
    transforms=("none", "center"),
    datasets=("demo-pairs", "demo-minimal"),
    diagnostics=("evalrank", "heros"),
)
SOME_FILE = """
encoders = ["minilm", "minilm-cls"]
transforms = ["none", "abtt:2"]
datasets = ["demo-pairs", "demo-minimal"]
diagnostics = ["evalrank", "heros"]
support = "own"
[params]
metric = ["cos", "l2"]
protocol = "definition"
"""
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8)
LISTS = st.lists(WORDS, max_size=4).map(tuple)


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a cache that nothing is written to."""
    return make_settings(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "sweep.toml"
        path.write_text(text, "utf-8")
        return path

    return write


# --- which runs


def test_the_demo_is_every_encoder_over_both_diagnostics_without_a_network(at: Settings) -> None:
    expansion = sweeps.expand(sweeps.demo(), at)
    variants = {request.variant for request in expansion.requests}
    assert len(variants) >= 24
    assert {variant.encoder for variant in variants} == set(ENCODERS)
    assert {(r.diagnostic, r.variant) for r in expansion.requests} == set(product(("evalrank", "heros"), variants))
    assert all(not find_dataset(request.dataset).files for request in expansion.requests)


def test_changes_of_meaning_are_every_encoder_on_every_set_by_the_diagnostic_of_its_kind(at: Settings) -> None:
    requests = sweeps.expand(sweeps.meaning(), at).requests
    assert {request.variant.encoder for request in requests} == set(ENCODERS)
    assert {request.dataset for request in requests} == set(MEANING_CHANGES)
    for request in requests:
        kind = find_dataset(request.dataset).kind
        assert request.diagnostic == ("heros" if kind is DatasetKind.MINIMAL_PAIR_SET else "similarity")
    assert len(requests) == len(ENCODERS) * len(MEANING_CHANGES)


@pytest.fixture
def small_vectors(at: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a mirror that has three small files of word vectors in place of the real ones."""
    files = []
    for name in ("one.txt", "two.txt", "three.txt"):
        path = tmp_path / "small" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{name} 1 0 0\nthe 0 1 0\n")
        files.append(SourceFile("small", name, "", path.stat().st_size, sha256_of(path)))
    monkeypatch.setattr(vector_sources, "VECTOR_FILES", tuple(files))
    return replace(at, mirror=str(tmp_path), cache=tmp_path / "cache")


def test_the_evidence_is_24_variants_of_6_families_over_every_kind_on_common_coverage(small_vectors: Settings) -> None:
    sweep = sweeps.evidence(small_vectors)
    requests = sweeps.expand(sweep, small_vectors).requests
    variants = {request.variant for request in requests}
    assert sweep.notes == ()
    assert set(ENCODERS) < {variant.encoder for variant in variants}
    assert len({variant.encoder for variant in variants}) == len(ENCODERS) + 3  # each file is a family
    assert len(variants) >= 24
    cells = {(request.diagnostic, request.dataset) for request in requests}
    assert {diagnostic for diagnostic, _ in cells} == {"evalrank", "geometry", "similarity", "transfer"}
    assert {(r.diagnostic, r.dataset, r.variant) for r in requests} == {(*c, v) for c in cells for v in variants}
    for request in requests:  # what leaves texts out is the same for all
        assert len({*request.covered_by, request.variant.encoder} - set(ENCODERS)) == 3


def test_the_evidence_goes_on_without_word_vectors_and_says_how_many_families_are_left(small_vectors: Settings) -> None:
    sweep = sweeps.evidence(replace(small_vectors, mirror=""))
    assert sweep.encoders == tuple(ENCODERS)
    assert sweep.notes[0] == "4 families of encoders instead of 6"
    assert [note.partition(" ")[0] for note in sweep.notes[1:]] == ["one.txt", "two.txt", "three.txt"]
    assert all("BLINDSPOT_MIRROR" in note for note in sweep.notes[1:])
    assert all(not request.covered_by for request in sweeps.expand(sweep, small_vectors).requests)

    hosted = replace(small_vectors, mode=Mode.DEMO)
    assert sweeps.evidence(hosted).encoders == tuple(ENCODERS)
    assert "hosted demo" in sweeps.evidence(hosted).notes[1]


def test_a_diagnostic_runs_on_datasets_of_its_kind_and_the_rest_is_named(at: Settings) -> None:
    expansion = sweeps.expand(SMALL, at)
    assert {(r.diagnostic, r.dataset) for r in expansion.requests} == {
        ("evalrank", "demo-pairs"),
        ("heros", "demo-minimal"),
    }
    assert expansion.unfit == (("heros", "demo-pairs"), ("evalrank", "demo-minimal"))


def test_an_encoder_meets_all_datasets_in_a_row_and_a_second_transform_once_all_have(at: Settings) -> None:
    sweep = replace(SMALL, transforms=("none", "center", "zscore"))
    labels = [request.label for request in sweeps.expand(sweep, at).requests]
    assert labels == [
        "EvalRank of random-projection on Demo pairs",
        "HEROS of random-projection on Demo minimal pairs",
        "EvalRank of lsa on Demo pairs",
        "HEROS of lsa on Demo minimal pairs",
        "EvalRank of random-projection + center on Demo pairs",
        "HEROS of random-projection + center on Demo minimal pairs",
        "EvalRank of random-projection + zscore on Demo pairs",
        "HEROS of random-projection + zscore on Demo minimal pairs",
        "EvalRank of lsa + center on Demo pairs",
        "HEROS of lsa + center on Demo minimal pairs",
        "EvalRank of lsa + zscore on Demo pairs",
        "HEROS of lsa + zscore on Demo minimal pairs",
    ]


@given(
    chosen=st.lists(st.sampled_from(["minilm", "lsa", "random-projection"]), min_size=1, max_size=4),
    chains=st.lists(st.sampled_from(["none", "center", "none+center", "abtt: 2", "abtt:2"]), min_size=1, max_size=5),
    where=st.lists(st.sampled_from(["demo-pairs", "demo-minimal", "demo-words"]), min_size=1, max_size=4),
    metrics=st.lists(st.sampled_from(["cos", "l2"]), min_size=1, max_size=3),
)
def test_a_sweep_is_the_runs_that_one_would_ask_for_one_by_one(
    at: Settings, chosen: list[str], chains: list[str], where: list[str], metrics: list[str]
) -> None:
    sweep = Sweep(tuple(chosen), tuple(chains), tuple(where), ("evalrank", "heros"), {"metric": tuple(metrics)})
    requests = sweeps.expand(sweep, at).requests
    expected = set()
    for diagnostic, encoder, chain, dataset, metric in product(("evalrank", "heros"), chosen, chains, where, metrics):
        entry = find_diagnostic(diagnostic)
        if entry.dataset_kind is find_dataset(dataset).kind:
            params = {"metric": metric} if entry.parameters else {}
            expected.add(requesting.request(diagnostic, encoder, chain, dataset, params, at))
    assert len(requests) == len(set(requests))
    assert set(requests) == expected


def test_parameters_are_combined_and_go_to_those_who_have_them(at: Settings) -> None:
    sweep = replace(SMALL, params={"metric": ("cos", "l2"), "protocol": ("definition", "toolkit")})
    requests = sweeps.expand(sweep, at).requests
    ranked = {request.params for request in requests if request.diagnostic == "evalrank"}
    assert ranked == {(("metric", m), ("protocol", p)) for m, p in product(("cos", "l2"), ("definition", "toolkit"))}
    assert {request.params for request in requests if request.diagnostic == "heros"} == {()}
    assert len(requests) == 4 * 4 + 4


def test_common_coverage_names_the_other_encoders_that_may_lack_words(at: Settings, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("cat 1 2\ndog 2 1\n")
    a, b = f"vectors:{tmp_path}/a.txt", f"vectors:{tmp_path}/b.txt"
    sweep = replace(SMALL, encoders=(a, "lsa", b), datasets=("demo-words",), diagnostics=("evalrank",))
    named = {r.variant.encoder: r.covered_by for r in sweeps.expand(sweep, at).requests}
    assert named == {a: (b,), b: (a,), "lsa": (a, b)}
    own = sweeps.expand(replace(sweep, covered_by_all=False), at)
    assert {r.covered_by for r in own.requests} == {()}


@each(
    ("change", "words"),
    [
        ({"encoders": ()}, ("no encoder", "at least one")),
        ({"transforms": ()}, ("no transform",)),
        ({"datasets": ()}, ("no dataset",)),
        ({"diagnostics": ()}, ("no diagnostic",)),
        ({"params": {"metric": ()}}, ("no value of the parameter metric",)),
        ({"encoders": ("minilm", "minlm")}, ("unknown encoder 'minlm'", "did you mean 'minilm'?")),
        ({"encoders": ("lsa", "dir:/no/such")}, ("/no/such",)),
        ({"transforms": ("none", "centre")}, ("unknown transform 'centre'", "did you mean 'center'?")),
        ({"transforms": ("abtt",)}, ("abtt:K",)),
        ({"datasets": ("demo-pair",)}, ("unknown dataset 'demo-pair'", "did you mean 'demo-pairs'?")),
        ({"diagnostics": ("evalrnk",)}, ("unknown diagnostic 'evalrnk'", "did you mean 'evalrank'?")),
        ({"params": {"metrc": ("cos",)}}, ("unknown parameter of evalrank, heros 'metrc'", "did you mean 'metric'?")),
        ({"params": {"metric": ("cos", "l3")}}, ("unknown metric 'l3'", "did you mean 'l2'?")),
        ({"params": {"metric": ("cos",)}, "diagnostics": ("heros",)}, ("heros has no parameters", "'metric'")),
        ({"datasets": ("demo-pairs",), "diagnostics": ("heros",)}, ("demo-pairs", "heros on a minimal-pair set")),
    ],
)
def test_what_is_wrong_is_said_before_any_work(at: Settings, change: dict[str, object], words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        sweeps.expand(replace(SMALL, **change), at)  # type: ignore[arg-type]
    assert all(word in str(caught.value) for word in words), caught.value
    assert not at.cache.joinpath("results.duckdb").exists()


# --- files


def test_a_file_says_what_a_sweep_says(file: Callable[[str], Path]) -> None:
    assert sweeps.read_toml(file(SOME_FILE)) == Sweep(
        encoders=("minilm", "minilm-cls"),
        transforms=("none", "abtt:2"),
        datasets=("demo-pairs", "demo-minimal"),
        diagnostics=("evalrank", "heros"),
        params={"metric": ("cos", "l2"), "protocol": ("definition",)},
        covered_by_all=False,
    )


def test_what_may_be_left_out_of_a_file(file: Callable[[str], Path]) -> None:
    found = sweeps.read_toml(file('\ufeffencoders = "lsa"\ndatasets = "demo-pairs"\ndiagnostics = "evalrank"\n'))
    assert found == Sweep(("lsa",), ("none",), ("demo-pairs",), ("evalrank",))
    assert found.covered_by_all


@each(
    ("text", "words"),
    [
        (SOME_FILE.replace("encoders", "encoder"), ("'encoder'", "did you mean 'encoders'?")),
        (SOME_FILE.replace("[params]", "[parameters]"), ("'parameters'", "did you mean 'params'?")),
        (SOME_FILE.replace('datasets = ["demo-pairs", "demo-minimal"]', ""), ("no 'datasets'", "demo-pairs")),
        (SOME_FILE.replace('["none", "abtt:2"]', "true"), ("'transforms' is True",)),
        (SOME_FILE.replace('"own"', '"mine"'), ("'support' is 'mine'", "common, own")),
        (SOME_FILE.replace('"own"', "[]"), ("'support' is []",)),
        (SOME_FILE.replace('"definition"', "1.5"), ("'params.protocol' is 1.5",)),
        (SOME_FILE.replace("[params]", "[params.metric]"), ("'params.metric' is {",)),
        ('params = "cos"\n' + SOME_FILE.partition("[params]")[0], ("'params' is 'cos'", "[params]")),
    ],
)
def test_what_is_wrong_with_a_file_is_named(file: Callable[[str], Path], text: str, words: tuple[str, ...]) -> None:
    path = file(text)
    with pytest.raises(InputError) as caught:
        sweeps.read_toml(path)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in (str(path), *words)), message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path, words in {tmp_path / "none.toml": "no file", tmp_path: "is a folder", "a\0b": "no file"}.items():
        with pytest.raises(InputError, match=words):
            sweeps.read_toml(path)


@given(
    lists=st.fixed_dictionaries({"encoders": LISTS, "transforms": LISTS, "datasets": LISTS, "diagnostics": LISTS}),
    params=st.dictionaries(WORDS, LISTS, max_size=3),
    common=st.booleans(),
)
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_file_says_is_read_back(
    tmp_path: Path, lists: dict[str, tuple[str, ...]], params: dict[str, tuple[str, ...]], common: bool
) -> None:
    def quoted(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    lines = [f"{key} = {quoted(value)}" for key, value in lists.items()]
    lines += [f"support = {quoted('common' if common else 'own')}", "[params]"]
    lines += [f"{quoted(name)} = {quoted(values)}" for name, values in params.items()]
    path = tmp_path / "sweep.toml"
    path.write_text("\n".join(lines), "utf-8")
    for key, reference in (("encoders", encoder_named), ("datasets", dataset_named)):
        lists[key] = tuple(map(reference, lists[key]))
    assert sweeps.read_toml(path) == Sweep(**lists, params=params, covered_by_all=common)


@given(content=st.binary(max_size=30))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_sweep_or_an_error_of_ours(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sweep.toml"
    path.write_bytes(content)
    with pytest.raises(InputError):  # nothing so short names encoders, datasets and diagnostics
        sweeps.read_toml(path)


# --- how long the rest takes


def test_the_rest_is_told_once_nothing_is_left_to_encode(at: Settings) -> None:
    requests = sweeps.expand(SMALL, at).requests
    pace = RemainingTime()
    assert pace.remaining(requests) is None
    for number, request in enumerate(requests[:4]):
        assert pace.remaining(requests[number:]) is None
        pace.note(request, 100.0, is_typical=False)  # their texts were encoded first
    assert pace.remaining(requests[4:]) is None  # nothing like them was timed yet
    pace.note(requests[4], 2.0, is_typical=True)  # evalrank, center
    assert pace.remaining(requests[5:]) is None
    pace.note(requests[5], 5.0, is_typical=True)  # heros, center
    assert pace.remaining(requests[6:]) == 2.0 + 5.0
    pace.note(requests[6], 4.0, is_typical=True)
    assert pace.remaining(requests[6:]) == 3.0 + 5.0
    assert pace.remaining(()) == 0


def test_texts_that_are_still_to_be_encoded_take_a_time_of_their_own(at: Settings) -> None:
    first, _, second, *_ = sweeps.expand(SMALL, at).requests
    assert (first.variant.encoder, second.variant.encoder) == SMALL.encoders
    pace = RemainingTime()
    pace.note(first, 1.0, is_typical=True)
    assert pace.remaining([first]) == 1.0
    assert pace.remaining([second]) is None
