"""Model objects: what decides their vectors is their identity, and they are encoded as their folders are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blindspot as bs
from blindspot.api import models
from blindspot.encoders import in_process
from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.object_identity import digest_of_object
from blindspot.encoders.roles import by_role
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import ROOT, Settings
from blindspot.types import CancelToken
from tests.support.tiny_models import edit, saved

pytestmark = pytest.mark.heavy
pytest_plugins = "pytester"

PROMPTS = {"query": "what is asked is this: ", "document": "it is said that ", "other": "x: "}
TEXTS = ("A dog runs.", "rain", "Three cats were seen below a table.", "none of them slept", "It rained all night.")
PAIRS = [
    ("a dog runs", "the dog is running"),
    ("rain", "it rains"),
    ("two cats", "a pair of cats"),
    ("a", "the letter a"),
]

# Of no vector: files' names, and how a training or a card is made.
UNIMPORTANT = {
    "transformers_version",
    "model_type",
    "trust_remote_code",
    "is_hpu_graph_enabled",
    "gradient_checkpointing",
    "name_or_path",
}
NOUNS = ("dogs", "cats", "rivers", "words", "houses", "songs", "doors", "letters", "ships", "trees", "roads", "stars")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = saved(tmp_path_factory.mktemp("models") / "model", then={"prompts": PROMPTS})
    # Of letters: a digest has all pieces of the tokenizer, and here are hundreds of digests.
    tokenizer = json.loads((path / "tokenizer.json").read_text("utf-8"))
    pieces = tokenizer["model"]["vocab"].items()
    tokenizer["model"]["vocab"] = {p: n for p, n in pieces if len(p.removeprefix("##")) == 1 or n < 104}
    edit(path / "tokenizer.json", model=tokenizer["model"])
    return path


def loaded(folder: Path, **options: Any) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True, **options)


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    return loaded(folder)


def encoder_of(model: Any, name: str = "") -> Any:
    return in_process.registered(models.variant_of(model, name, lambda: TEXTS).encoder)


def test_an_object_is_encoded_as_its_folder_and_as_the_library_does(
    folder: Path, model: Any, settings: Settings
) -> None:
    here, there = encoder_of(model), resolve_encoder(f"dir:{folder}", settings)
    assert here.info.role_prompts == there.info.role_prompts
    expected = {
        TEXTS: model.encode_query(list(TEXTS)),
        (): model.encode(list(TEXTS)),
        ("no",): model.encode_document(list(TEXTS)),
    }
    for queries, vectors in expected.items():
        for encoder in (here, there):
            np.testing.assert_allclose(by_role(encoder, queries).encode(TEXTS, CancelToken()), vectors, atol=1e-6)


QUESTIONS = {
    "corpus": {f"d{i}": f"there are {i} {noun} below a table" for i, noun in enumerate(NOUNS)},
    "queries": {f"q{i}": f"where are the {noun}?" for i, noun in enumerate(NOUNS)},
    "relevant_docs": {f"q{i}": {f"d{i}"} for i in range(len(NOUNS))},
}


def written(path: Path) -> str:
    """The questions as a folder in BEIR's layout."""

    def lines(name: str, rows: list[dict[str, str]]) -> None:
        (path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    (path / "qrels").mkdir(parents=True)
    lines("corpus.jsonl", [{"_id": key, "text": text} for key, text in QUESTIONS["corpus"].items()])
    lines("queries.jsonl", [{"_id": key, "text": text} for key, text in QUESTIONS["queries"].items()])
    judged = [f"{q}\t{d}\t1" for q, found in QUESTIONS["relevant_docs"].items() for d in sorted(found)]
    (path / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]) + "\n", "utf-8")
    return str(path)


GATED = """
from pathlib import Path
from sentence_transformers import SentenceTransformer

def test_gated(blindspot_gate):
    found = blindspot_gate(
        SentenceTransformer({folder!r}, device="cpu"), data={data!r}, baseline={baseline!r}, score={score!r},
        undecided="pass", max_drop=0.5,
    )
    Path("scores").write_text(f"{{found.new}} {{found.old}}")
"""


def test_a_model_has_one_score_whatever_way_it_is_given(
    folder: Path, model: Any, tmp_path: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder, an object and a function, in the evaluator, the gate and the fixture of pytest."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    questions, pairs = written(tmp_path / "questions"), tmp_path / "pairs.csv"
    rows = [f"{number} {noun},the {noun} of number {number}" for number, noun in enumerate(NOUNS)]
    pairs.write_text("\n".join(["query,match", *rows]) + "\n", "utf-8")
    reference = f"dir:{folder}"
    as_asked = f"{reference}?query_prompt=&document_prompt="

    def function(texts: list[str]) -> Any:
        return model.encode(texts, batch_size=2)

    def scores(diagnostic: Callable[..., Any], of: Any, data: Any, name: str) -> float:
        return float(diagnostic(of, data).metrics[name])

    expected = scores(bs.evalrank, reference, pairs, "mrr")
    found = {
        "object": scores(bs.evalrank, model, pairs, "mrr"),
        "function": scores(bs.evalrank, function, pairs, "mrr"),
        "evaluator": bs.Evaluator(pairs)(model, steps=1)["evalrank_mrr"],
        "evaluator of a function": bs.Evaluator(pairs)(function, steps=1)["evalrank_mrr"],
    }
    assert found == pytest.approx(dict.fromkeys(found, expected), abs=1e-6)
    ndcg = scores(bs.retrieval, reference, questions, "ndcg@10")
    without = scores(bs.retrieval, as_asked, questions, "ndcg@10")
    assert scores(bs.retrieval, model, questions, "ndcg@10") == pytest.approx(ndcg, abs=1e-6)
    assert scores(bs.retrieval, function, questions, "ndcg@10") == pytest.approx(without, abs=1e-6)
    assert abs(ndcg - without) > 1e-3, "prompts of roles decide"
    for data, score, value in ((str(pairs), "mrr", expected), (f"dir:{questions}", "ndcg@10", ndcg)):
        verdict = bs.gate(model, data, reference, score=score, max_drop=0.5)
        pytester.makepyfile(GATED.format(folder=str(folder), data=data, baseline=reference, score=score))
        pytester.runpytest_inprocess("-p", "no:blindspot", "-p", "blindspot.testing.plugin").assert_outcomes(passed=1)
        gated = [float(one) for one in (pytester.path / "scores").read_text("utf-8").split()]
        assert [verdict.new, verdict.old, *gated] == pytest.approx([value] * 4, abs=1e-6)


def _other_activation(model: Any) -> None:
    import torch

    model[0].auto_model.encoder.layer[0].intermediate.intermediate_act_fn = torch.nn.ReLU()


def _tokenizer(name: str, value: Any) -> Callable[[Any], None]:
    return lambda model: setattr(model[0].tokenizer, name, value)


def _other_words(model: Any) -> None:
    from tokenizers.normalizers import NFD

    model[0].tokenizer.backend_tokenizer.normalizer = NFD()


def _weight(model: Any) -> None:
    model[0].auto_model.encoder.layer[1].output.dense.bias.data[0] += 1


CHANGES: dict[str, Callable[[Any], object]] = {
    "dimensions": lambda m: setattr(m, "truncate_dim", 5),
    "limit": lambda m: setattr(m, "max_seq_length", 7),
    "pooling": lambda m: setattr(m[1], "pooling_mode", "cls"),
    "prompt left out": lambda m: setattr(m[1], "include_prompt", False),
    "default prompt": lambda m: setattr(m, "default_prompt_name", "other"),
    "prompts": lambda m: m.prompts.update(query="ask: "),
    "activation": _other_activation,
    "a weight": _weight,
    "cut on the left": _tokenizer("truncation_side", "left"),
    "padding": _tokenizer("padding_side", "left"),
    "chat template": _tokenizer("chat_template", "{{ messages }}"),
    "words": _other_words,
    "length of queries": lambda m: setattr(m[0], "query_length", 4),
    "calls of the tokenizer": lambda m: m[0].processing_kwargs.update(text={"max_length": 4}),
    "modalities": lambda m: m[0].modality_config["text"].update(method_output_name="pooler_output"),
    "configuration": lambda m: setattr(m[0].auto_model.config, "layer_norm_eps", 0.1),
    "rounding of a layer": lambda m: setattr(m[0].auto_model.embeddings.LayerNorm, "eps", 0.1),
    "dropout": lambda m: setattr(m[0].auto_model.embeddings.dropout, "p", 0.7),
    "attention": lambda m: m[0].auto_model.set_attn_implementation("eager"),
    "another module": lambda m: m.append(_normalize()),
}


def _normalize() -> Any:
    from sentence_transformers.base.modules import Normalize

    return Normalize()


def test_what_decides_vectors_is_in_the_identity(folder: Path) -> None:
    plain = digest_of_object(loaded(folder))
    assert plain is not None
    digests, wrong = {"nothing": plain}, []
    for name, change in CHANGES.items():
        other = loaded(folder)
        change(other)
        digest = digest_of_object(other)
        if digest is None or digest in digests.values():
            wrong.append(f"{name}: {digest}")
        digests[name] = str(digest)
    assert not wrong


def test_every_setting_of_every_module_is_in_the_identity(model: Any) -> None:
    """Each number, flag, text, list and mapping that a module has as an attribute, or its model's configuration, is
    changed and changed back."""
    before, wrong, tried = digest_of_object(model), [], 0
    seen: set[tuple[type, str]] = set()
    for name, of in [*model.named_modules(), ("config", model[0].auto_model.config)]:
        for key, value in list(vars(of).items()):
            if key.startswith("_") or key == "training" or (type(of), key) in seen:
                continue
            changed = other_than(value)
            if changed is None or key in UNIMPORTANT:
                continue
            seen.add((type(of), key))
            tried += 1
            vars(of)[key] = changed
            if digest_of_object(model) == before:
                wrong.append(f"{name}.{key}")
            vars(of)[key] = value
    assert tried > 40
    assert not wrong
    assert digest_of_object(model) == before


def other_than(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, dict):
        return {**value, "new": "a"}
    if isinstance(value, list | tuple):
        return type(value)([*value, "a"])
    return f"{value}x" if isinstance(value, str) else None


def test_using_a_model_changes_nothing_of_its_identity(folder: Path, model: Any) -> None:
    before = digest_of_object(model)
    model.encode(list(TEXTS), prompt_name="query")
    model.encode_document(list(TEXTS))
    model.train()
    assert digest_of_object(model) == before == digest_of_object(loaded(folder))


def test_what_cannot_be_digested_is_never_shared(folder: Path) -> None:
    other = loaded(folder)
    hook = other[1].register_forward_hook(lambda *_: None)
    assert digest_of_object(other) is None
    revisions = {encoder_of(other).identity.revision for _ in range(2)}
    hook.remove()
    other.encode = lambda texts, **_: np.ones((len(texts), 3))
    assert digest_of_object(other) is None
    assert len(revisions) == 2


def _with_own_pooling(model: Any, sign: float) -> None:
    import torch

    class Pooled(torch.nn.Module):  # type: ignore[misc]
        def forward(self, features: dict[str, Any]) -> dict[str, Any]:
            return features | {"sentence_embedding": sign * features["sentence_embedding"]}

    model.append(Pooled())


def _of_own_class(model: Any, sign: float) -> None:
    from sentence_transformers import SentenceTransformer

    class Own(SentenceTransformer):  # type: ignore[misc]
        def encode(self, *texts: Any, **options: Any) -> Any:
            return sign * super().encode(*texts, **options)

    model.__class__ = Own


def _with_own_activation(model: Any, sign: float) -> None:
    from sentence_transformers.base.modules import Dense

    class Activation:
        def __call__(self, values: Any) -> Any:
            return sign * values

    model.append(Dense(32, 8, activation_function=Activation()))


@pytest.mark.parametrize("change", [_with_own_pooling, _of_own_class, _with_own_activation])
def test_code_of_the_program_is_never_taken_for_what_it_was(change: Callable[[Any, float], None], folder: Path) -> None:
    """As in a notebook, whose cell with a class is edited and run again."""
    for sign in (1.0, -1.0):
        other = loaded(folder)
        change(other, sign)
        assert digest_of_object(other) is None


def test_an_exchanged_method_of_a_library_is_never_shared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling

    monkeypatch.setattr(Pooling, "forward", lambda _, features: features)
    assert digest_of_object(loaded(folder)) is None


def test_a_function_of_the_main_program_is_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sentence_transformers.base.modules import Dense

    import __main__

    def activation(values: Any) -> Any:
        return values

    activation.__module__, activation.__qualname__ = "__main__", "activation"
    monkeypatch.setattr(__main__, "activation", activation, raising=False)
    other = loaded(folder)
    other.append(Dense(32, 8, activation_function=activation))
    assert digest_of_object(other) is None


def test_prompts_are_told_apart_whatever_they_are_called(folder: Path) -> None:
    digests = set()
    for name in ("verbose", "init_kwargs", "query"):
        for prompt in ("one: ", "other: "):
            other = loaded(folder)
            other.prompts, other.default_prompt_name = {name: prompt}, name
            digests.add(digest_of_object(other))
    assert len(digests) == 6
    assert None not in digests


# --- what else a program has


class Wrapped:
    """An object that has nothing but ``encode``."""

    def encode(self, sentences: list[str]) -> Any:
        return [[len(text), 1.0, text.count("a")] for text in sentences]


def _tensor(texts: list[str]) -> Any:
    import torch

    return torch.tensor(Wrapped().encode(texts), requires_grad=True).to(torch.bfloat16)


def _sparse(texts: list[str]) -> Any:
    from scipy import sparse

    return sparse.csr_matrix(np.array(Wrapped().encode(texts)))


def _rows(texts: list[str]) -> Iterator[Any]:
    yield from Wrapped().encode(texts)


def _tensors(texts: list[str]) -> Any:
    import torch

    return list(torch.tensor(Wrapped().encode(texts)))


def _vectorizer() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer().fit(TEXTS)


def test_what_gives_a_matrix_is_a_model() -> None:
    expected = np.array(Wrapped().encode(list(TEXTS)), dtype=np.float32)
    for given in (Wrapped(), _tensor, _sparse, _rows, _tensors):
        found = encoder_of(given, "given").encode(TEXTS, CancelToken())
        np.testing.assert_allclose(found, expected, rtol=1e-2)
    vectorizer = _vectorizer()
    found = encoder_of(vectorizer).encode(TEXTS, CancelToken())
    np.testing.assert_allclose(found, vectorizer.transform(TEXTS).toarray(), atol=1e-6)


def test_what_gives_none_is_told_in_a_line() -> None:
    async def later(texts: list[str]) -> Any:
        return Wrapped().encode(texts)

    def growing(texts: list[str]) -> Any:
        growing.width = getattr(growing, "width", 2) + 1  # type: ignore[attr-defined]
        return np.ones((len(texts), growing.width))  # type: ignore[attr-defined]

    async def rows(texts: list[str]) -> AsyncIterator[Any]:
        for text in texts:
            yield Wrapped().encode([text])[0]

    class Late:
        encode = staticmethod(later)

    def centered(texts: list[str]) -> Any:
        return np.array(Wrapped().encode(texts)) - np.mean(Wrapped().encode(texts), axis=0)

    chance = np.random.default_rng(0)
    no_matrix = (lambda texts: {"dense": texts}, lambda texts: "vectors")
    loses = (
        lambda texts: np.array(Wrapped().encode(texts)) + 1j,
        lambda texts: np.ma.masked_less(Wrapped().encode(texts), 2),
    )
    not_of_the_text = (centered, lambda texts: chance.normal(size=(len(texts), 3)))
    for given in (later, rows, Late(), growing, *no_matrix, *loses, *not_of_the_text, Wrapped):
        with pytest.raises(BlindspotError) as caught:
            encoder_of(given, "given").encode(TEXTS, CancelToken())
        assert "\n" not in str(caught.value)


class InRoles(Wrapped):
    """An object that encodes queries and documents in ways of their own."""

    def encode_query(self, sentences: list[str]) -> Any:
        return [[-value for value in row] for row in self.encode(sentences)]

    def encode_document(self, sentences: list[str]) -> Any:
        return self.encode(sentences)


def test_an_object_with_functions_of_roles_is_asked_by_them() -> None:
    encoder = encoder_of(InRoles())
    texts = np.array(Wrapped().encode(list(TEXTS)), dtype=np.float32)
    np.testing.assert_array_equal(encoder.encode(TEXTS, CancelToken()), texts)
    np.testing.assert_array_equal(by_role(encoder, TEXTS).encode(TEXTS, CancelToken()), -texts)
    np.testing.assert_array_equal(by_role(encoder, ("another",)).encode(TEXTS, CancelToken()), texts)
    data = {
        "queries": {"id": ["1", "2"], "text": ["a", "banana"]},
        "documents": {"id": ["x", "y", "z"], "text": ["b", "bananas", "the rain, then"]},
        "judgments": {"query": ["1", "2"], "document": ["x", "y"], "grade": [1, 1]},
    }
    as_texts, in_roles = (bs.retrieval(one, data).metrics["ndcg@10"] for one in (Wrapped(), InRoles()))
    assert in_roles < as_texts


def test_a_model_of_transformers_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="takes tokens"):
        bs.evalrank(loaded(folder)[0].auto_model, PAIRS)


def test_a_cross_encoder_is_refused(tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    from tests.support.tiny_models import plain

    scorer = CrossEncoder(str(plain(tmp_path / "scorer", kind="AutoModelForSequenceClassification")), device="cpu")
    with pytest.raises(InputError, match="CrossEncoder"):
        bs.evalrank(scorer, PAIRS)
