"""Faults of a served MiniLM are named by the right check, and healthy ways to serve it raise no alarm.

Every model is behind a server of its own on this machine, and read through ``api:``.
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
from blindspot.studies.setup_check import checking
from blindspot.studies.setup_check.models import Batch, Reference, model_of, reference_of
from blindspot.studies.setup_check.results import TITLES, Report, State
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
Checked = Callable[[Way, bool], Report]


@pytest.fixture(scope="module")
def minilm(pytestconfig: pytest.Config, shared_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> MiniLM:
    """Half of its layers, for half the time, but in ``make trust``."""
    layers = LAYERS if pytestconfig.getoption("tier") == TRUST else LAYERS // 2
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
    def served_by(way: Way) -> str:
        made = way.make(minilm)
        site = servers.enter_context(embedding_server(remembering(made) if is_of_texts(way) else made))
        return f"api:{site.url}/v1#m{way.rest or ('?batch=16' if is_of_texts(way) else '')}"

    @cache
    def report(way: Way, alone: bool) -> Report:
        encoder = resolve_encoder(served_by(way), shared_settings)
        against = None if alone else reference(way.reference)
        model = model_of(encoder, CancelToken())
        with pytest.MonkeyPatch.context() as patch:
            if is_of_texts(way):
                patch.setattr(checking, "TEXTS_PER_CHUNK", 64)  # asking for many at once finds nothing in these
            return checking.check("served", model, shared_settings, against, "" if alone else "meant", quick=True)

    with ExitStack() as servers:
        yield report


def is_of_texts(way: Way) -> bool:
    """Whether the vectors are known not to depend on how a text is asked for."""
    return way.check not in {*OF_REQUESTS, ""}


def named(report: Report, *verdicts: State) -> set[str]:
    return {result.check for result in report.results if result.verdict in (verdicts or (State.WRONG, State.LOOK))}


ALL_FAULTS = {**FAULTS, **OTHER_FAULTS, **FROM_SERVERS}
FIRST_OF_A_CHECK = set({way.check: name for name, way in reversed(ALL_FAULTS.items())}.values())
# One fault of each check is tried with every change, the others in make trust.
EACH_FAULT = [name if name in FIRST_OF_A_CHECK else pytest.param(name, marks=pytest.mark.slow) for name in ALL_FAULTS]


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
        return next(r.figures for r in checked(FAULTS[name], False).results if r.check == of)

    assert figures("wrong pooling", "pooling")["best"] == f"first token of layer {minilm.layers}"
    assert figures("another layer", "layer")["best"] == f"mean over tokens of layer {minilm.layers - 1}"
    assert "without its prompt" in str(figures("missing prefix", "prompt")["best"])
    assert "twice" in str(figures("doubled prefix", "prompt")["best"])
    assert figures("cut off at 64 tokens", "limit")["words"] == 62  # and two special tokens
    assert figures("cut off at 64 tokens", "limit")["reference_words"] == 126
    assert figures("int8", "precision")["precision"] == "int8"
    assert figures("dimension cut", "dimension")["dimension"] == 256
    assert figures("lower-cased", "case")["told_apart"] == 0


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
    shared_settings: Settings, poolings: Mapping[str, Batch], reference: str
) -> None:
    model = model_of(resolve_encoder(reference, shared_settings), CancelToken())
    model.batch = poolings.get(reference, model.batch)
    report = checking.check(reference, model, shared_settings, quick=reference == "minilm-cls")
    assert [(r.check, r.evidence) for r in report.results if r.check in named(report)] == []
    assert Report.of_json(report.to_json()) == report
