"""Concatenated models: vectors by hand and by a float64 loop, and every surface that takes a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.encoders.base import EncoderIdentity, EncoderInfo, FittedEncoder, JoinedEncoder
from blindspot.encoders.cache import EmbeddingCache
from blindspot.encoders.catalog import canonical_encoder, encoder_of, may_leave_out, resolve_encoder
from blindspot.encoders.concatenation import concatenation
from blindspot.encoders.roles import RoleEncoder, by_role
from blindspot.errors import InputError
from blindspot.names import in_address, name_of_model
from blindspot.policy import check_encoder
from blindspot.references import ConcatenationRef, ModelRef, made_of, read_otherwise
from blindspot.runs import encoders_here, estimates, pipeline
from blindspot.runs.default_models import default_models, is_own
from blindspot.runs.inputs.roles import texts_of
from blindspot.settings import Mode, Settings
from blindspot.studies.evidence.scores import family_of
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken, Float32, digest_of_strings, no_progress
from blindspot.variants import Variant
from tests.support import retrieval_world as toy
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.tables import each
from tests.support.tiny_models import plain, saved
from tests.support.world import World, small_world

BOTH = "cat:trigrams+letters"
NONE = TransformChain.parse("none")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with small_world(tmp_path_factory.mktemp("world")) as world:
        yield world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1), SMALL_PAIRS, toy.dataset())


class Given(GramEncoder):
    """An encoder with these vectors, whatever the texts."""

    def __init__(self, name: str, rows: Sequence[Sequence[float]]) -> None:
        self.rows = np.array(rows, dtype=np.float32)
        super().__init__(name, info=EncoderInfo(name, self.rows.shape[1], 0, 0, "", "", ""))

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return self.rows[: len(texts)]


def test_the_cosine_is_the_mean_of_the_parts_by_hand() -> None:
    # Of x and y: 0.6 in A, -1 in B. Of x and z, which has no length in B: 0.8 and 0.
    parts = Given("A", [[3, 4], [1, 0], [0, 7]]), Given("B", [[0, 2, 0], [0, -5, 0], [0, 0, 0]])
    both = concatenation("cat:A+B", [(one, NONE) for one in parts])
    x, y, z = both.encode(["x", "y", "z"], CancelToken())
    half = np.sqrt(0.5)
    np.testing.assert_allclose(x, [0.6 * half, 0.8 * half, 0, half, 0], atol=1e-7)
    np.testing.assert_allclose(y, [half, 0, 0, -half, 0], atol=1e-7)
    np.testing.assert_allclose(z, [0, half, 0, 0, 0], atol=1e-7)
    assert (x @ y, x @ x) == pytest.approx(((0.6 - 1) / 2, 1.0), abs=1e-6)
    assert x @ z == pytest.approx((0.8 + 0) / 2, abs=1e-6)
    assert (both.info.dimension, both.device, both.info.title) == (5, "cpu", "A joined with B")


def test_vectors_are_those_of_a_loop_and_a_part_may_be_smaller() -> None:
    rng = np.random.default_rng(0)
    matrices = [rng.normal(size=(20, d)) * scale for d, scale in ((7, 100.0), (4, 0.01), (9, 1.0))]
    matrices[1][3] = np.nan
    chains = [TransformChain.parse(chain) for chain in ("truncate:5", "none", "none")]
    parts = [
        (Given(str(i), matrix.tolist()), chain) for i, (matrix, chain) in enumerate(zip(matrices, chains, strict=True))
    ]
    found = concatenation("cat:0+1+2", parts)
    vectors = found.encode(["text"] * 20, CancelToken())
    assert vectors.shape == (20, found.info.dimension) == (20, 5 + 4 + 9)
    for row in range(20):
        if row == 3:
            assert np.isnan(vectors[row]).all()
            continue
        expected = []
        for matrix, kept in zip(matrices, (5, 4, 9), strict=True):
            own = [float(value) for value in matrix[row, :kept].astype(np.float32)]
            length = sum(value * value for value in own) ** 0.5
            expected += [value / length / 3**0.5 for value in own]
        np.testing.assert_allclose(vectors[row], expected, atol=1e-6)


def test_stored_embeddings_of_the_parts_are_reused(made: World) -> None:
    letters, trigrams = (resolve_encoder(name, made.settings) for name in ("letters", "trigrams"))
    assert isinstance(letters, GramEncoder)
    assert isinstance(trigrams, GramEncoder)
    cache = EmbeddingCache(made.settings.embeddings)
    texts, digest = ("one", "two", "three"), digest_of_strings(("one", "two", "three"))
    stored = cache.encode(letters, texts, digest, no_progress, CancelToken())
    before = letters.encoded, trigrams.encoded
    both = resolve_encoder(BOTH, made.settings)
    assert isinstance(both, JoinedEncoder)
    found = cache.encode(both, texts, digest, no_progress, CancelToken())
    assert (letters.encoded, trigrams.encoded) == (before[0], before[1] + 3)
    assert found.encoded_now == 3
    other = cache.read(trigrams.identity.embedding_digest(digest))
    assert other is not None
    np.testing.assert_array_equal(found.matrix, both.join([other.matrix, stored.matrix]))
    np.testing.assert_array_equal(found.matrix, both.encode(texts, CancelToken()))
    assert cache.encode(both, texts, digest, no_progress, CancelToken()).encoded_now == 0
    assert found.facts.seconds == pytest.approx(stored.facts.seconds + other.facts.seconds)


def test_it_runs_like_any_model_alone_and_in_a_fusion(made: World) -> None:
    run = made.run("evalrank", f"{BOTH}~truncate:100", "small-pairs")
    assert run.plan.variant == Variant(BOTH, "truncate:100")
    assert run.manifest["encoder"]["pooling"] == "vectors of trigrams and letters, each L2-normalized, end to end"
    assert made.run("retrieval", f"fuse:{BOTH.replace('+', '%2B')}+bm25", toy.NAME).metrics
    assert encoders_here.add(BOTH, made.settings, made.repository).info.dimension == 192
    library = encoders_here.read_library(made.settings, made.repository)
    listed = library.find(BOTH)
    assert listed is not None
    assert (listed.kind, listed.reference.has_vectors, listed.title) == (
        "cat",
        True,
        "Character n-grams joined with Character n-grams",
    )
    request = made.request("evalrank", BOTH, "small-pairs")
    assert not pipeline.run(request, made.settings, made.repository, again=True).changed


def test_costs_are_those_of_the_parts_that_are_not_encoded(world: World) -> None:
    world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1))

    def cost(encoder: str) -> estimates.RunEstimate:
        requests = [world.request("evalrank", encoder, "demo-pairs")]
        return estimates.estimate(requests, world.settings, world.repository).runs[0]

    parts, both = [cost(name) for name in ("trigrams", "letters")], cost(BOTH)
    assert both.disk_bytes == 2 * sum(part.disk_bytes for part in parts), "the parts' and its own"
    world.encode("letters", "demo-pairs")
    assert cost(BOTH).disk_bytes == both.disk_bytes - parts[1].disk_bytes
    less = cost(BOTH).seconds
    assert less is not None
    assert both.seconds is not None
    assert less < both.seconds


def test_the_revision_is_that_of_the_parts(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text,embedding\nx,"[1, 2]"\n', "utf-8")
    reference = f"cat:minilm+table:{path}"
    first = resolve_encoder(reference, settings)
    assert first.info.is_partial
    assert may_leave_out(ModelRef.parse(reference))
    assert not may_leave_out(ModelRef.parse("cat:minilm+lsa"))
    assert first.identity.max_length == 256
    path.write_text('text,embedding\nx,"[1, 3]"\n', "utf-8")
    second = resolve_encoder(reference, settings)
    assert first.identity.revision != second.identity.revision
    assert not isinstance(second, FittedEncoder)
    assert isinstance(resolve_encoder("cat:minilm+lsa", settings), FittedEncoder)
    never_asked = resolve_encoder("cat:minilm+api:http://x/v1%23m", settings)
    assert never_asked.info.served_by


def test_what_cannot_change_a_vector_is_not_in_the_key() -> None:
    class Asked(Given):
        """A server's model, of which so many texts are asked at a time."""

        @property
        def identity(self) -> EncoderIdentity:
            return replace(super().identity, embeds_as="api:model")

    asked = [Asked(f"api:model?batch={n}", [[1.0, 0.0]]) for n in (8, 16)]
    found = [concatenation(f"cat:A+{one.reference}", [(Given("A", [[1.0]]), NONE), (one, NONE)]) for one in asked]
    assert found[0].identity != found[1].identity
    assert found[0].identity.embedding_digest("") == found[1].identity.embedding_digest("")


@each(
    "given, canonical",
    [
        ("cat:minilm+lsa", "cat:minilm+lsa"),
        ("cat:lsa+minilm", "cat:lsa+minilm"),
        ("cat:minilm%7Enone+minilm?pooling=max%2Bmin", "cat:minilm+minilm?pooling=max%2Bmin"),
        ("cat:minilm%7Etruncate:64+lsa+dir:/a b", "cat:minilm%7Etruncate:64+lsa+dir:/a b"),
    ],
)
def test_the_one_spelling_of_a_reference(given: str, canonical: str) -> None:
    assert canonical_encoder(given) == canonical_encoder(canonical) == canonical
    model = ModelRef.parse(canonical)
    assert isinstance(model, ConcatenationRef)
    assert model.has_vectors
    assert Variant.parse(f"{canonical}~center+abtt:2") == Variant(canonical, "center+abtt:2")
    assert read_otherwise(f"cat:minilm+{canonical.removeprefix('cat:')}?layer=4") == ""


@each(
    "wrong, said",
    [
        ("cat:", "lacks a model"),
        ("cat:minilm", "names 1 model"),
        ("cat:minilm+", "lacks a model"),
        ("cat:minilm+no", "unknown encoder 'no'"),
        ("cat:minilm+minilm", "twice"),
        ("cat:minilm+bm25", "no vectors"),
        ("cat:minilm+cat:lsa%2Bminilm", "inside of another"),
        ("cat:minilm+vectors:/glove.txt", "word vectors with a model of whole texts"),
        ("cat:minilm~center+lsa", "%7E"),
        ("cat:minilm%7Ecenter+lsa", "cat:A+B~center"),
        ("cat:minilm%7Ebinary-docs+lsa", "treats some texts otherwise"),
        ("cat:minilm?passages=128/32+lsa", "passages"),
    ],
)
def test_a_wrong_reference_is_one_line_that_helps(wrong: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        canonical_encoder(wrong)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_and_what_a_demo_allows(settings: Settings) -> None:
    assert name_of_model("cat:minilm+dir:/secret/mine") == "minilm joined with mine"
    assert "secret" not in in_address("cat:minilm+dir:/secret/mine")
    assert is_own(ModelRef.parse("cat:minilm+dir:/secret/mine"))
    assert not is_own(ModelRef.parse("cat:minilm+lsa"))
    assert family_of("cat:minilm+dir:/secret/mine") == family_of("minilm")
    # What a study made of a model is not what a page begins with.
    own, joined = "dir:/secret/mine", "cat:minilm+dir:/secret/mine"
    assert made_of(joined) == ("minilm", own)
    assert made_of(f"{own}?pooling=mean+max") == made_of(f"{own}?layer=2&pooling=mean%2Bmax") == (own,)
    assert made_of(f"{own}?pooling=max") == made_of(own) == made_of("fuse:minilm+bm25") == ()
    every = [Variant(one, "none") for one in ("minilm", own, joined, f"{own}?pooling=mean+max")]
    assert default_models(every, every) == every[:2]
    demo = replace(settings, mode=Mode.DEMO)
    check_encoder("cat:minilm+lsa", demo)
    with pytest.raises(InputError, match="demo"):
        check_encoder("cat:minilm+dir:/secret/mine", demo)


@pytest.mark.heavy
def test_each_part_has_its_own_prompts_by_role(tmp_path: Path, settings: Settings) -> None:
    folder = saved(tmp_path / "e5", then={"prompts": {"query": "q: ", "document": "d: "}})
    reference = f"cat:dir:{folder}+dir:{plain(tmp_path / 'plain')}"
    encoder = encoder_of(ModelRef.parse(reference), settings)
    assert encoder.info.role_prompts is not None
    assert (encoder.info.role_prompts.query, encoder.info.role_prompts.given) == ("q: ", False)
    roles = by_role(encoder, ("a dog",))
    assert isinstance(roles, JoinedEncoder)
    assert [isinstance(one, RoleEncoder) for one in roles.encoders] == [True, False]
    assert roles.identity.revision != encoder.identity.revision
    given = f"cat:dir:{folder}?query_prompt=q%253A%2520&document_prompt=d%253A%2520+dir:{tmp_path / 'plain'}"
    texts = texts_of(ENTRY, {}, resolve_encoder(given, settings), SMALL_PAIRS)
    n = len(SMALL_PAIRS.items)
    vectors = texts.encoder.encode(list(texts.texts), CancelToken())
    own = resolve_encoder(canonical_encoder(given), settings)
    assert isinstance(own, JoinedEncoder)
    alone = [texts_of(ENTRY, {}, one, SMALL_PAIRS) for one in own.encoders]
    asked = alone[0].encoder.encode(list(alone[0].texts), CancelToken())
    plain_part = own.encoders[1].encode(list(texts.texts), CancelToken())
    np.testing.assert_allclose(vectors, own.join([asked, plain_part]), atol=1e-6)
    assert len(vectors) == n + len(SMALL_PAIRS.asking)
