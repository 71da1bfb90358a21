"""Prompts by role: equal to sentence-transformers' for queries and documents, kept apart in the cache, and recorded."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.base import RolePrompts, prompt_warning
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.roles import RoleEncoder, by_role, role_prompts
from blindspot.runs import estimates, manifests, pipeline, requesting, why_similar
from blindspot.runs.embeddings import embedded_of
from blindspot.runs.why_similar import PairOfTexts
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.transforms.contributions import CannotExplain, Contributions
from blindspot.types import CancelToken
from tests.support import retrieval_world as toy
from tests.support.commands import Command
from tests.support.small_world import GramEncoder, register_dataset
from tests.support.tables import each
from tests.support.tiny_models import edit, saved

PROMPTS = {"query": "query: ", "document": "passage: ", "clustering": "cluster: "}
DATA = toy.made("asked", ["where is rain", "dogs"], ["Rain in the hills.", "A dog runs.", "Cats."], [{0: 1}, {1: 1}])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny model with prompts, none of them by default; its pooling leaves them out of the mean."""
    path = saved(tmp_path / "asking", then={"prompts": PROMPTS, "default_prompt_name": None})
    edit(path / "1_Pooling/config.json", include_prompt=False)
    return path


@pytest.mark.heavy
def test_a_run_has_the_vectors_of_encode_query_and_encode_document(
    folder: Path, settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import SentenceTransformer

    register_dataset(monkeypatch, DATA)
    request = requesting.request("retrieval", f"dir:{folder}", "none", DATA.id, {}, settings)
    run = pipeline.run(request, settings, repository).record
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    matrix = embedded_of(run, settings).matrix
    np.testing.assert_allclose(matrix[DATA.queries], model.encode_query(list(DATA.query_texts)), atol=1e-6)
    np.testing.assert_allclose(matrix[DATA.documents], model.encode_document(list(DATA.document_texts)), atol=1e-6)
    facts = run.manifest["encoder"]
    assert facts["prompt"] == "passage: "
    assert "'query: '" in facts["pooling"]
    assert facts["prompts_not_applied"] == {"clustering": "cluster: "}
    assert run.manifest["embeddings"]["truncated_share"] == 0


# The functions of roles take no notice of a prompt by default; two of these are enough for a pooling of all tokens.
PROMPTS_OF_ROLES: list[tuple[dict[str, str], str | None]] = [
    ({"query": "Represent the question: ", "document": "Represent the passage: "}, None),
    ({"query": "query: ", "document": "passage: "}, "query"),
    ({"query": "query: "}, "query"),
    ({"query": "query: ", "all": "all: "}, "all"),
    ({"document": "title: none | text: "}, None),
]


@pytest.mark.heavy
@each(
    ("prompts", "default", "include"),
    [(*case, False) for case in PROMPTS_OF_ROLES] + [(*case, True) for case in PROMPTS_OF_ROLES[:2]],
)
def test_vectors_of_roles_are_those_of_sentence_transformers(
    folder: Path, settings: Settings, prompts: dict[str, str], default: str | None, include: bool
) -> None:
    """Also where the model has a prompt by default, which neither of their functions applies, and where the pooling
    leaves out the prompt's tokens."""
    from sentence_transformers import SentenceTransformer

    edit(folder / "config_sentence_transformers.json", prompts=prompts, default_prompt_name=default)
    edit(folder / "1_Pooling/config.json", include_prompt=include)
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    plain = resolve_encoder(f"dir:{folder}", settings)
    found = by_role(plain, DATA.asked).encode(DATA.items, CancelToken())
    np.testing.assert_allclose(found[DATA.queries], model.encode_query(list(DATA.query_texts)), atol=1e-6)
    np.testing.assert_allclose(found[DATA.documents], model.encode_document(list(DATA.document_texts)), atol=1e-6)
    np.testing.assert_allclose(plain.encode(DATA.items, CancelToken()), model.encode(list(DATA.items)), atol=1e-6)
    given = by_role(resolve_encoder(f"dir:{folder}?query_prompt=ask%3A%20&document_prompt=", settings), DATA.asked)
    found = given.encode(DATA.items, CancelToken())
    np.testing.assert_allclose(found[DATA.queries], model.encode(list(DATA.query_texts), prompt="ask: "), atol=1e-6)
    np.testing.assert_allclose(found[DATA.documents], model.encode(list(DATA.document_texts), prompt=""), atol=1e-6)


DECLARED = {"query": "q: ", "document": "d0: ", "passage": "p: ", "sts": "s: "}


@each(
    ("declared", "prompt", "query", "document", "found"),
    [
        ({}, None, None, None, None),
        ({"sts": "s: "}, None, None, None, None),
        (DECLARED, None, None, None, RolePrompts("q: ", "d0: ")),
        ({"passage": "p: "}, None, None, None, None),
        (DECLARED, "", None, None, None),
        (DECLARED, "a: ", None, None, None),
        (DECLARED, None, "", None, RolePrompts("", "d0: ", given=True)),
        (DECLARED, None, None, "d: ", RolePrompts("q: ", "d: ", given=True)),
        (DECLARED, "a: ", None, "d: ", RolePrompts("a: ", "d: ", given=True)),
        ({}, "a: ", "b: ", None, RolePrompts("b: ", "a: ", given=True)),
        ({}, None, "b: ", None, RolePrompts("b: ", "", given=True)),
    ],
)
def test_what_the_reference_gives_counts_before_what_the_model_declares(
    declared: dict[str, str], prompt: str | None, query: str | None, document: str | None, found: RolePrompts | None
) -> None:
    assert role_prompts(declared, prompt, query, document) == found


def test_a_given_prompt_of_a_role_leaves_other_texts_alone(folder: Path, settings: Settings) -> None:
    """So that E5, which has "query: " before texts of one kind, is one reference."""
    encoder = resolve_encoder(f"dir:{folder}?prompt=query%3A%20&document_prompt=passage%3A%20", settings)
    assert encoder.identity.prompt == "query: "
    assert encoder.info.role_prompts == RolePrompts("query: ", "passage: ", given=True)
    assert encoder.info.unused_prompts == ()
    given = resolve_encoder(f"dir:{folder}?query_prompt=", settings)
    assert given.identity.prompt == ""
    assert dict(given.info.unused_prompts) == {"clustering": "cluster: "}


def test_a_reference_that_decides_the_prompt_is_left_alone(folder: Path, settings: Settings) -> None:
    plain = resolve_encoder(f"dir:{folder}", settings)
    asked = by_role(plain, DATA.asked)
    assert isinstance(asked, RoleEncoder)
    digests = {encoder.identity.embedding_digest("texts") for encoder in (plain, asked)}
    for decided in ("?prompt=", "?prompt=query%3A%20"):
        own = resolve_encoder(f"dir:{folder}{decided}", settings)
        assert by_role(own, DATA.asked) is own
        digests.add(own.identity.embedding_digest("texts"))
    assert len(digests) == 4
    assert by_role(plain, frozenset()) is plain
    counting = GramEncoder()
    assert by_role(counting, DATA.asked) is counting


def test_a_prompt_of_passages_is_declared_and_not_applied(folder: Path, settings: Settings) -> None:
    """As in sentence-transformers, which gives every model an empty prompt called "document" and takes that one."""
    path = folder / "config_sentence_transformers.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"prompts": {"passage": "passage: "}}), "utf-8")
    encoder = resolve_encoder(f"dir:{folder}", settings)
    assert by_role(encoder, DATA.asked) is encoder
    assert dict(encoder.info.unused_prompts) == {"passage": "passage: "}
    assert "document_prompt=" in encoder.info.prompt_warning


def test_a_warning_of_prompts_knows_which_ones_the_texts_had() -> None:
    unused = {"passage": "passage: "}
    alike = prompt_warning(unused)
    of_queries = prompt_warning(unused, {"query": "query: ", "document": ""})
    of_both = prompt_warning(unused, {"query": "query: ", "document": "passage: "})
    assert ["alike" in warning for warning in (alike, of_queries, of_both)] == [True, False, False]
    assert ["no prompt" in warning for warning in (alike, of_queries, of_both)] == [True, True, False]
    assert not prompt_warning({}, {"query": "query: ", "document": ""})


@pytest.mark.heavy
def test_each_text_has_the_prompt_of_its_role_in_any_order(folder: Path, settings: Settings) -> None:
    encoder = by_role(resolve_encoder(f"dir:{folder}", settings), {"dogs"})
    encoder.load()
    one = encoder.encode(["dogs", "cats", "rain"], CancelToken())
    other = encoder.encode(["rain", "dogs"], CancelToken())
    np.testing.assert_allclose(other, one[[2, 0]], atol=1e-6)
    alone = by_role(resolve_encoder(f"dir:{folder}", settings), {"rain"}).encode(["dogs"], CancelToken())
    assert np.abs(alone - one[:1]).max() > 1e-3


def test_an_estimate_names_the_prompts_that_some_run_does_not_apply(
    folder: Path, settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_dataset(monkeypatch, DATA)
    name = f"dir:{folder}"
    retrieval = requesting.request("retrieval", name, "none", DATA.id, {}, settings)
    pairs = requesting.request("evalrank", name, "none", "demo-pairs", {}, settings)
    (info,) = estimates.estimate([retrieval], settings, repository).infos.values()
    assert dict(info.unused_prompts) == {"clustering": "cluster: "}
    for requests in ([retrieval, pairs], [pairs, retrieval]):
        (info,) = estimates.estimate(requests, settings, repository).infos.values()
        assert dict(info.unused_prompts) == PROMPTS


@pytest.mark.heavy
def test_with_and_without_prompts_are_two_models_that_are_compared(
    folder: Path, settings: Settings, repository: Repository, blindspot: Command
) -> None:
    """Three references of one model on pairs of questions and passages, from the command line."""
    from sentence_transformers import SentenceTransformer

    edit(folder / "config_sentence_transformers.json", prompts={})
    pairs = folder.parent / "pairs.csv"
    texts = [
        ("where does rain fall", "Rain in the hills."),
        ("what runs", "A dog runs."),
        ("who is there", "what runs"),
        ("A dog runs.", "dogs"),
    ]
    pairs.write_text("query,match\n" + "".join(f"{query},{match}\n" for query, match in texts), "utf-8")
    given = f"dir:{folder}?document_prompt=passage%3A%20&query_prompt=query%3A%20"
    one = f"dir:{folder}?prompt=query%3A%20"
    command = ["run", "evalrank", "--dataset", f"file:{pairs}", "--json"]
    for reference in (f"dir:{folder}", given, one):
        command += ["--encoder", reference]
    done = blindspot(*command)
    assert "warning" not in done.err, done.err
    shown = blindspot("runs", "show", done.json["runs"][1]["run_id"]).json
    assert shown["manifest"]["encoder"]["prompts"] == {"query": "query: ", "document": "passage: "}
    by_reference = {run.plan.variant.encoder: run for run in repository.runs()}
    assert set(by_reference) == {f"dir:{folder}", given, one}
    alike, roles = by_reference[f"dir:{folder}"], by_reference[given]
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    model.prompts = {"query": "query: ", "document": "passage: "}
    items = list(repository.texts(roles.plan.dataset_digest, range(7)).values())
    asking = [items[number] for number in repository.asking(roles.plan.dataset_digest)]
    assert sorted(asking) == sorted(query for query, _ in texts)
    expected = np.concatenate([model.encode_document(items), model.encode_query(asking)])
    np.testing.assert_allclose(embedded_of(roles, settings).matrix, expected, atol=1e-6)
    np.testing.assert_allclose(embedded_of(alike, settings).matrix, model.encode(items), atol=1e-6)
    differing = {
        (fact.group, fact.name) for fact in manifests.compare(alike, roles) if fact.differs and fact.can_matter
    }
    assert {("Encoder", "prompts query"), ("Encoder", "prompts document")} <= differing
    compared = blindspot("compare", f"dir:{folder}", given, "--json")
    assert (compared.code, bool(compared.json)) == (0, True)


@pytest.mark.heavy
def test_words_are_not_weighed_under_two_prompts_and_that_is_one_sentence(
    folder: Path, settings: Settings, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_dataset(monkeypatch, DATA)
    pair = PairOfTexts((DATA.query_texts[0], DATA.document_texts[0]), (int(DATA.queries[0]), int(DATA.documents[0])))
    found = {}
    for prompt in ("", "?prompt=", "?query_prompt=ask%3A%20&document_prompt="):
        request = requesting.request("retrieval", f"dir:{folder}{prompt}", "none", DATA.id, {}, settings)
        run = pipeline.run(request, settings, repository).record
        try:
            found[prompt] = why_similar.of_run(pair, run, DATA, settings, repository, CancelToken())
        except CannotExplain as refused:
            found[prompt] = str(refused)
    assert isinstance(found["?prompt="], Contributions)
    for said in (found[""], found["?query_prompt=ask%3A%20&document_prompt="]):
        assert isinstance(said, str)
        assert said.endswith(".")
        assert "\n" not in said
        assert said.count(".") == 1
