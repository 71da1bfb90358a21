"""Faults of a served MiniLM are named by the right check, and healthy ways to serve it raise no alarm.

Where it matters how a text is asked for, the model is behind a server of its own on this machine and read through
``api:``; the others are functions, since a request takes longer than their answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache

import pytest

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.encoders.transformer.layers import Edit, Reading
from blindspot.settings import Settings
from blindspot.studies.setup_check import checking, demo
from blindspot.studies.setup_check.fitting import SCHEMES
from blindspot.studies.setup_check.models import Asking, Batch, Model, Reference, model_of, reference_of
from blindspot.studies.setup_check.results import TITLES, Report, State
from blindspot.studies.setup_check.vectors import COARSEST
from blindspot.types import CancelToken, Float32
from tests.support.embedding_server import embedding_server
from tests.support.faulty_models import (
    FAULTS,
    FROM_SERVERS,
    HEALTHY,
    LAYERS,
    OTHER_FAULTS,
    MiniLM,
    Way,
    by_pooling,
    remembering,
)
from tests.support.tables import each
from tests.support.tiers import TRUST

# What differs because of a fault: each is wrong then, but does not name the cause.
CONSEQUENCES = {"agreement", "limit", "asked"}
OF_REQUESTS = {"order", "batch", "asked", "repeat"}  # checks of what depends on how a text is asked for
# Half precision takes minutes where the processor has no arithmetic for it; the others need a reference of their own,
# which faults of the same checks have, too.
LONG = ("float16", "bfloat16", "cased", "prompt of the reference")
BATCH = 16  # texts of a request
FEW = 4 * BATCH
Checked = Callable[[Way, bool], Report]


@pytest.fixture(scope="module")
def minilm(pytestconfig: pytest.Config, shared_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> MiniLM:
    """Two of its layers, for a third of the time, but in ``make trust``."""
    layers = LAYERS if pytestconfig.getoption("tier") == TRUST else 2
    return MiniLM(shared_settings, tmp_path_factory.mktemp("models"), layers)


@pytest.fixture(scope="module")
def checked(minilm: MiniLM, shared_settings: Settings) -> Iterator[Checked]:
    @cache
    def reference(kind: str) -> Reference:
        found = reference_of(resolve_encoder(minilm.reference(kind), shared_settings), CancelToken())
        found.batch = minilm.meant(kind)
        read, known = found.readings, dict[tuple[Edit, tuple[str, ...]], Mapping[Reading, Float32]]()

        def readings(texts: Sequence[str], edit: Edit) -> Mapping[Reading, Float32]:
            assert read is not None
            if (edit, tuple(texts)) not in known:
                known[edit, tuple(texts)] = read(texts, edit)
            return known[edit, tuple(texts)]

        found.readings = readings
        return found

    @cache
    def model(way: Way) -> Callable[[], Model]:
        made = way.make(minilm)
        if is_of_texts(way):
            serve = remembering(made)
            return lambda: Model(serve, asking=Asking(BATCH, 4, lambda _batch, _parallel: serve))
        site = servers.enter_context(embedding_server(made))
        rest = way.rest or (f"?batch={BATCH}" if is_found_in_few(way) else "")
        encoder = resolve_encoder(f"api:{site.url}/v1#m{rest}", shared_settings)
        return lambda: model_of(encoder, CancelToken())

    @cache
    def report(way: Way, alone: bool) -> Report:
        against = None if alone else reference(way.reference)
        with pytest.MonkeyPatch.context() as patch:
            if is_found_in_few(way):
                patch.setattr(checking, "TEXTS_PER_CHUNK", FEW)
            return checking.check(
                "served", model(way)(), shared_settings, against, "" if alone else "meant", quick=True
            )

    with ExitStack() as servers:
        yield report


def is_of_texts(way: Way) -> bool:
    """Whether the vectors are known not to depend on how a text is asked for."""
    return way.check not in {*OF_REQUESTS, ""}


def is_found_in_few(way: Way) -> bool:
    """Whether asking for many texts at once finds no more than asking for a few."""
    return way.check != "asked" and not way.rest


def named(report: Report, *verdicts: State) -> set[str]:
    return {result.check for result in report.results if result.verdict in (verdicts or (State.WRONG, State.LOOK))}


ALL_FAULTS = {**FAULTS, **OTHER_FAULTS, **FROM_SERVERS}
FIRST_OF_A_CHECK = set({way.check: name for name, way in reversed(ALL_FAULTS.items())}.values())
# One fault of each check is tried with every change, the others in make trust. Of two layers, int8 leaves no more than
# what bfloat16 leaves of six.
TRIED = FIRST_OF_A_CHECK - {"int8"} | {"4-bit"}
EACH_FAULT = [name if name in TRIED else pytest.param(name, marks=pytest.mark.slow) for name in ALL_FAULTS]


@pytest.mark.heavy
@pytest.mark.server
@pytest.mark.parametrize("name", EACH_FAULT)
def test_a_fault_is_named(checked: Checked, name: str) -> None:
    way = ALL_FAULTS[name]
    report = checked(way, False)
    wrong = named(report, State.WRONG)
    assert way.check in (named(report) if way.is_small else wrong)
    assert wrong - CONSEQUENCES <= {way.check} | way.also
    found = next(result for result in report.results if result.check == way.check)
    assert found.evidence
    assert found.advice
    assert [result.check for result in report.results] == list(TITLES)


@pytest.mark.server
@pytest.mark.heavy
@pytest.mark.parametrize("name", EACH_FAULT)
def test_without_a_reference_it_is_named_if_it_can_be_seen(checked: Checked, name: str) -> None:
    way = ALL_FAULTS[name]
    found = named(checked(way, True))
    if way.check in {"order", "batch"}:
        assert "asked" in found
        found -= {"asked"}
    assert found == {way.alone} - {""}


@pytest.mark.server
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in HEALTHY]
)
def test_a_healthy_way_raises_no_alarm(checked: Checked, name: str) -> None:
    report = checked(HEALTHY[name], False)
    assert [(r.check, r.evidence) for r in report.results if r.check in named(report)] == []
    assert named(report, State.UNCHECKED) == {"prefixes"}


@pytest.mark.heavy
@pytest.mark.server
def test_what_is_said_names_the_cause(checked: Checked, minilm: MiniLM) -> None:
    def figures(name: str, of: str) -> Mapping[str, object]:
        return next(r.figures for r in checked(ALL_FAULTS[name], False).results if r.check == of)

    assert figures("wrong pooling", "pooling")["best"] == f"first token of layer {minilm.layers}"
    assert figures("another layer", "layer")["best"] == f"mean over tokens of layer {minilm.layers - 1}"
    assert "without its prompt" in str(figures("missing prefix", "prompt")["best"])
    assert "twice" in str(figures("doubled prefix", "prompt")["best"])
    assert figures("cut off at 64 tokens", "limit")["words"] == 62  # and two special tokens
    assert figures("cut off at 64 tokens", "limit")["reference_words"] == 126
    assert figures("4-bit", "precision")["precision"] == COARSEST
    assert figures("dimension cut", "dimension")["dimension"] == 256
    assert figures("lower-cased", "case")["told_apart"] == 0


@pytest.mark.slow
def test_int8_is_named(checked: Checked) -> None:
    figures = next(r.figures for r in checked(FAULTS["int8"], False).results if r.check == "precision")
    assert figures["precision"] == "int8"


@pytest.mark.slow
@pytest.mark.server
@each(
    ("name", "check", "words"),
    [
        ("reversed over 50", "asked", "batch=8"),
        ("concurrent requests mixed up", "asked", "parallel=1"),
        ("another model", "agreement", "Another model"),
        ("random weights", "agreement", "Another model"),
        ("permuted dimensions", "space", "are in other places"),
        ("negated dimensions", "space", "128 are negated"),
        ("rotated", "space", "rotated"),
        ("centered", "space", "centered"),
        ("standardized", "space", "standardized"),
        ("zero-padded", "dimension", "128 at one end are zero"),
        ("last token dropped", "tokens", "no last token "),
        ("last word piece dropped", "tokens", "no last token of the text itself"),
        ("special tokens missing", "tokens", "no special tokens"),
        ("special tokens doubled", "tokens", "special tokens twice"),
        ("suffix", "tokens", "'</s>' after each text"),
        ("a suffix of its own", "agreement", "Something differs"),
        ("a prefix of its own", "agreement", "Something differs"),
        ("noise in the weights", "precision", "Something differs"),
        ("noise in the weights", "precision", "slightly other ones"),
        ("end of long texts", "limit", "at their end"),
        ("both ends of long texts", "limit", "at their ends"),
        ("one of 3 replicas", "repeat", "once in 3 requests"),
        ("one of 8 replicas", "repeat", "several replicas"),
        ("one of 5 replicas in int8", "repeat", "several replicas"),
    ],
)
def test_what_servers_do_is_said(checked: Checked, name: str, check: str, words: str) -> None:
    found = next(r for r in checked(FROM_SERVERS[name], False).results if r.check == check)
    assert words in f"{found.evidence} {found.advice}"


@pytest.fixture(scope="module")
def poolings(shared_settings: Settings) -> Mapping[str, Batch]:
    encoder = resolve_encoder("minilm", shared_settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    return by_pooling(encoder)


@pytest.mark.heavy
@pytest.mark.parametrize("reference", ["minilm", "minilm-cls", "random-projection-64"])
def test_models_of_the_catalog_raise_no_alarm_alone(
    shared_settings: Settings, poolings: Mapping[str, Batch], reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reference in poolings:
        # The third has as many as ever.
        monkeypatch.setattr(checking, "TEXTS_PER_CHUNK", FEW)
        monkeypatch.setattr(demo, "SCHEMES", dict([*SCHEMES.items()][:3]))
    model = model_of(resolve_encoder(reference, shared_settings), CancelToken())
    model.batch = poolings.get(reference, model.batch)
    report = checking.check(reference, model, shared_settings, quick=reference == "minilm-cls")
    assert [(r.check, r.evidence) for r in report.results if r.check in named(report)] == []
    assert Report.of_json(report.to_json()) == report
