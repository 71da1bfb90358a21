"""Transforms: how chains are written, what each step does, that inputs are left as they are.

Every step is tested against a slow float64 reference written here from its paper's definition.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from blindspot.errors import BlindspotError, InputError
from blindspot.transforms import flow as network
from blindspot.transforms.chain import READY_CHAINS, STEPS, Step, TransformChain
from blindspot.transforms.codes import RESCORE
from blindspot.transforms.steps import RANDOM_SEED, Center
from blindspot.transforms.trained_flows import TrainedFlows
from blindspot.types import CancelToken, Float32, Float64, no_progress
from tests.support.tables import each

embeddings = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8),
    elements=st.floats(-1_000, 1_000, width=32),
)


@each(
    ("text", "canonical"),
    [
        ("none", "none"),
        ("center", "center"),
        (" center ", "center"),
        ("none+center", "center"),
        ("center+none", "center"),
        ("none+none", "none"),
        ("center+center", "center+center"),
        ("abtt:2", "abtt:2"),
        ("abtt:02 ", "abtt:2"),
        (" abtt : 2", "abtt:2"),
        ("pcr", "pcr:1"),
        ("pcr:1", "pcr:1"),
        ("whiten", "whiten"),
        ("none+center+none+whiten:128+none", "center+whiten:128"),
    ],
)
def test_equal_chains_have_one_name(text: str, canonical: str) -> None:
    assert str(TransformChain.parse(text)) == canonical


def spelled(step: Step) -> st.SearchStrategy[str]:
    """The ways to write a step."""
    if step.argument is None:
        return st.just(step.name)
    with_argument = st.integers(1, 999_999_999).map(lambda k: f"{step.name}:{k}")
    return with_argument if step.argument.required else with_argument | st.just(step.name)


spelled_steps = st.sampled_from(sorted(n for n, step in STEPS.items() if not step.is_kept and n != RESCORE)).flatmap(
    lambda name: spelled(STEPS[name])
)


@given(st.lists(spelled_steps, min_size=1, max_size=5), st.booleans())
def test_a_chain_can_be_read_back_from_its_name(steps: list[str], is_rescored: bool) -> None:
    if is_rescored:
        steps = ["center", *steps, f"{RESCORE}:7"]
    chain = TransformChain.parse("+".join(steps))
    assert chain.rescored == (7 if is_rescored else 0)
    assert TransformChain.parse(str(chain)) == chain
    assert str(TransformChain.parse(str(chain))) == str(chain)


@pytest.mark.trains
def test_every_step_that_is_listed_can_be_fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "STEPS", 5)
    flows = TrainedFlows(tmp_path, no_progress, CancelToken())
    corpus = np.random.default_rng(0).standard_normal((20, 6)).astype(np.float32)
    for name, step in STEPS.items():
        assert step.name == name
        assert step.description.endswith(".")
        assert step.help.startswith(step.description)
        assert (f"Written {step.usage}," in step.help) == (step.argument is not None)
        if step.is_kept or name == RESCORE:
            continue
        required = step.argument is not None and step.argument.required
        out = TransformChain.parse(f"{name}:2" if required else name).fit(corpus, flows).apply(corpus)
        assert out.dtype == np.float32
        assert out.ndim == 2
        assert len(out) == 20


def test_a_rescored_chain_searches_with_one_kind_of_vectors_and_compares_again_with_another() -> None:
    corpus = np.random.default_rng(1).standard_normal((20, 6)).astype(np.float32)
    chain = TransformChain.parse("truncate:4+int8+rescore:3")
    assert (chain.rescored, str(chain.searched), str(chain.finer)) == (3, "truncate:4+int8", "truncate:4")
    assert chain.bytes_of(4) == chain.searched.bytes_of(4) == 4  # of what is searched
    fitted = chain.fit(corpus)
    alone = TransformChain.parse("truncate:4+int8").fit(corpus)
    np.testing.assert_array_equal(fitted.searched.apply(corpus), alone.apply(corpus))
    np.testing.assert_array_equal(fitted.finer.apply(corpus), corpus[:, :4])
    assert [step["step"] for step in fitted.record()["steps"]] == ["truncate:4", "int8", "rescore:3"]
    assert fitted.of_parts(corpus.astype(np.float64), np.zeros(20)) is None
    for apply in (fitted.apply, fitted.apply_to_queries):
        with pytest.raises(InputError, match="two vectors per text"):
            apply(corpus)
    once = TransformChain.parse("center")
    assert (once.rescored, once.searched, once.finer) == (0, once, once)


@each("text", ["rescore:5", "none+rescore:5", "rescore:5+binary", "binary+rescore:5+rescore:2"])
def test_rescoring_is_last_and_after_a_step(text: str) -> None:
    with pytest.raises(InputError, match="in another place than the last"):
        TransformChain.parse(text)


def test_what_pickers_offer_is_canonical() -> None:
    assert READY_CHAINS[0] == "none"
    assert [str(TransformChain.parse(chain)) for chain in READY_CHAINS] == list(READY_CHAINS)
    assert {call.name for chain in READY_CHAINS for call in TransformChain.parse(chain).steps} == {
        name for name, step in STEPS.items() if name != "none" and not step.is_kept
    }


@each(
    ("text", "what", "expected"),
    [
        ("abtt", "'abtt' was given no argument", "'abtt:K', K: how many components"),
        ("truncate", "'truncate' was given no argument", "'truncate:D', D: how many dimensions"),
        ("abtt:", "the argument ''", "'abtt:K', K a whole number from 1"),
        ("whiten:", "the argument ''", "'whiten[:K]', K a whole number from 1"),
        ("abtt:0", "the argument '0'", "a whole number from 1"),
        ("abtt:-1", "the argument '-1'", "a whole number from 1"),
        ("abtt:1.5", "the argument '1.5'", "a whole number from 1"),
        ("abtt:1e3", "the argument '1e3'", "a whole number from 1"),
        ("abtt:1_0", "the argument '1_0'", "a whole number from 1"),
        ("abtt:\u00b2", "the argument '\u00b2'", "a whole number from 1"),
        ("abtt:\u0663", "the argument '\u0663'", "a whole number from 1"),
        ("abtt:2:3", "the argument '2:3'", "a whole number from 1"),
        ("abtt:" + "9" * 10, "the argument '9999999999'", "from 1 to 999999999"),
        ("center+abtt:x+zscore", "the argument 'x'", "a whole number from 1"),
        ("zscore:1", "the argument '1'", "'zscore' without an argument"),
        ("none:", "the argument ''", "'none' without an argument"),
        ("center:", "the argument ''", "'center' without an argument"),
    ],
)
def test_a_wrong_argument_is_refused(text: str, what: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        TransformChain.parse(text)
    assert what in caught.value.what
    assert expected in caught.value.expected
    assert "\n" not in str(caught.value)


@each(("text", "name"), [("centre", "centre"), ("", ""), ("center+", ""), ("none++center", ""), ("Center", "Center")])
def test_an_unknown_step_is_refused_with_the_nearest(text: str, name: str) -> None:
    with pytest.raises(InputError) as caught:
        TransformChain.parse(text)
    assert caught.value.what == f"unknown transform '{name}'"
    assert caught.value.remedy == ("did you mean 'center'?" if name else "")
    assert caught.value.exit_code == 2


def test_the_mean_is_accumulated_in_float64() -> None:
    """A float32 running sum of a million values of 0.1 is off by 1e-3 and more."""
    corpus = np.full((1_000_000, 1), 0.1, dtype=np.float32)
    assert Center.fit(corpus).mean[0] == pytest.approx(float(np.float32(0.1)), abs=1e-12)


@given(embeddings)
def test_none_gives_the_very_same_array(matrix: Float32) -> None:
    assert TransformChain.parse("none").fit(matrix).apply(matrix) is matrix


def test_each_step_is_fitted_on_what_the_steps_before_it_make() -> None:
    """A second centering finds a mean of zero."""
    corpus = np.random.default_rng(0).standard_normal((20, 4)).astype(np.float32) + 5
    first, second = TransformChain.parse("center+center").fit(corpus).steps
    assert isinstance(first, Center)
    assert isinstance(second, Center)
    assert first.mean.min() > 4
    assert np.abs(second.mean).max() < 1e-6


def test_a_read_only_memory_map_is_fine(tmp_path: Path) -> None:
    corpus = np.random.default_rng(0).standard_normal((20, 6)).astype(np.float32)
    np.save(tmp_path / "corpus.npy", corpus)
    mapped = np.load(tmp_path / "corpus.npy", mmap_mode="r")
    for text in ("center", *CHAINS):
        chain = TransformChain.parse(text)
        np.testing.assert_array_equal(chain.fit(mapped).apply(mapped), chain.fit(corpus).apply(corpus))
    np.testing.assert_array_equal(mapped, corpus)


# --- each step against its definition


CHAINS = ("zscore", "normalize", "abtt:2", "pcr:2", "whiten", "whiten:3", "truncate:3", "center+whiten:4+normalize")


def draw(seed: int, n: int, d: int, scale: float) -> Float32:
    """Rows with unlike spreads along unlike directions, and a mean; of full rank."""
    generator = np.random.default_rng(seed)
    mixed = (generator.standard_normal((n, d)) * np.geomspace(1, 0.05, d)) @ generator.standard_normal((d, d))
    return ((mixed + generator.standard_normal(d)) * scale).astype(np.float32)


corpora = st.builds(
    draw, st.integers(0, 10_000), st.integers(12, 40), st.integers(3, 9), st.sampled_from([0.01, 1, 50])
)


def slow_zscore(corpus: Float64, x: Float64) -> Float64:
    out = np.zeros_like(x)
    for j in range(corpus.shape[1]):
        mean = sum(corpus[:, j]) / len(corpus)
        sd = (sum((v - mean) ** 2 for v in corpus[:, j]) / len(corpus)) ** 0.5
        for i in range(len(x)):
            out[i, j] = (x[i, j] - mean) / sd
    return out


def slow_normalize(_: Float64, x: Float64) -> Float64:
    return np.array([row / sum(v * v for v in row) ** 0.5 if any(row) else row for row in x])


def slow_removal(corpus: Float64, x: Float64, k: int, mean: Float64) -> Float64:
    right = np.linalg.svd(corpus - mean)[2]
    out = x - mean
    for vector in right[:k]:
        for i in range(len(out)):
            out[i] = out[i] - sum(out[i] * vector) * vector
    return out


def slow_whitened_similarities(corpus: Float64, x: Float64, k: int) -> Float64:
    """Dot products of whitened rows, which do not depend on the signs of the directions."""
    mean = corpus.mean(axis=0)
    _, singular, right = np.linalg.svd(corpus - mean, full_matrices=False)
    out = np.zeros((len(x), len(x)))
    for s, vector in zip(singular[:k], right[:k], strict=True):
        coordinates = (x - mean) @ vector / (s / len(corpus) ** 0.5)
        out += np.outer(coordinates, coordinates)
    return out


@given(corpora, st.integers(1, 2))
def test_steps_are_what_their_papers_define(corpus: Float32, k: int) -> None:
    exact = corpus.astype(np.float64)
    other = corpus[:5][::-1] * np.float32(1.7)  # not what it was fitted on
    mean = exact.mean(axis=0)
    slow: dict[str, Callable[[Float64, Float64], Float64]] = {
        "center": lambda _, x: x - mean,
        "zscore": slow_zscore,
        "normalize": slow_normalize,
        f"abtt:{k}": lambda c, x: slow_removal(c, x, k, mean),
        f"pcr:{k}": lambda c, x: slow_removal(c, x, k, np.zeros_like(mean)),
        f"truncate:{k}": lambda _, x: x[:, :k],
    }
    for text, reference in slow.items():
        fitted = TransformChain.parse(text).fit(corpus)
        for rows in (corpus, other):
            expected = reference(exact, rows.astype(np.float64))
            got = fitted.apply(rows)
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max(), err_msg=text)


def varies_in_all_directions(corpus: Float32) -> bool:
    """Whether no direction is left out of a whitening as rounding."""
    return bool(np.linalg.cond(np.cov(corpus.T.astype(np.float64))) < 1e6)


@given(corpora)
def test_whitening_is_what_its_paper_defines(corpus: Float32) -> None:
    assume(varies_in_all_directions(corpus))
    exact = corpus.astype(np.float64)
    for k in (1, corpus.shape[1] - 1, corpus.shape[1]):
        whitened = TransformChain.parse(f"whiten:{k}").fit(corpus).apply(corpus).astype(np.float64)
        assert whitened.shape == (len(corpus), k)
        expected = slow_whitened_similarities(exact, exact, k)
        np.testing.assert_allclose(whitened @ whitened.T, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@given(corpora)
def test_whitened_columns_are_uncorrelated_with_unit_variance(corpus: Float32) -> None:
    d = corpus.shape[1]
    assume(varies_in_all_directions(corpus))
    for text, k in (("whiten", d), ("whiten:2", 2), ("center+whiten:2", 2)):
        whitened = TransformChain.parse(text).fit(corpus).apply(corpus).astype(np.float64)
        np.testing.assert_allclose(np.cov(whitened.T, bias=True), np.eye(k), atol=1e-4)
        np.testing.assert_allclose(whitened.mean(axis=0), 0, atol=1e-4)


@given(corpora)
def test_the_first_whitened_columns_do_not_depend_on_how_many_are_kept(corpus: Float32) -> None:
    every = TransformChain.parse("whiten").fit(corpus).apply(corpus)
    np.testing.assert_allclose(TransformChain.parse("whiten:2").fit(corpus).apply(corpus), every[:, :2], atol=1e-5)


@given(corpora)
def test_nothing_is_left_along_the_components_that_were_removed(corpus: Float32) -> None:
    exact = corpus.astype(np.float64)
    for text, centred in (("abtt:2", exact - exact.mean(axis=0)), ("pcr:2", exact)):
        _, singular, right = np.linalg.svd(centred, full_matrices=False)
        chain = TransformChain.parse(text).fit(corpus)
        left = chain.apply(corpus).astype(np.float64)
        np.testing.assert_allclose(left @ right[:2].T, 0, atol=1e-5 * np.abs(centred).max())
        (facts,) = chain.record()["steps"]
        (removed,) = (value for name, value in facts.items() if name.endswith("_removed"))
        assert removed == pytest.approx((singular[:2] ** 2).sum() / (singular**2).sum())
        assert (left**2).sum() == pytest.approx((1 - removed) * (centred**2).sum(), rel=1e-3)


@given(corpora)
def test_a_chain_is_its_steps_one_after_another(corpus: Float32) -> None:
    for text in ("center+whiten:2", "abtt:1+zscore+normalize", "truncate:2+none+whiten", "pcr+truncate:2+center"):
        fitted = TransformChain.parse(text).fit(corpus)
        by_hand = corpus
        for step in text.split("+"):
            by_hand = TransformChain.parse(step).fit(by_hand).apply(by_hand)
        np.testing.assert_array_equal(fitted.apply(corpus), by_hand)
        assert fitted.d_out == by_hand.shape[1]


@given(corpora)
def test_fits_are_reproducible_and_leave_the_corpus_alone(corpus: Float32) -> None:
    before = corpus.copy()
    for text in ("center", "zscore", "normalize", "abtt:2", "pcr:2", "whiten", "truncate:2"):
        chain = TransformChain.parse(text)
        np.testing.assert_array_equal(chain.fit(corpus).apply(corpus), chain.fit(corpus.copy()).apply(corpus))
        np.testing.assert_array_equal(corpus, before)


def test_more_rows_than_a_block() -> None:
    corpus = draw(0, 20_000, 3, 1)
    exact = corpus.astype(np.float64)
    whitened = TransformChain.parse("whiten").fit(corpus).apply(corpus).astype(np.float64)
    np.testing.assert_allclose(np.cov(whitened.T, bias=True), np.eye(3), atol=1e-5)
    expected = (exact - exact.mean(axis=0)) / exact.std(axis=0)
    np.testing.assert_allclose(TransformChain.parse("zscore").fit(corpus).apply(corpus), expected, atol=1e-5)
    lengths = np.linalg.norm(TransformChain.parse("normalize").fit(corpus).apply(corpus), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)


def test_steps_by_hand() -> None:
    corpus = np.array([[3, 0], [-3, 0], [0, 1], [0, -1]], dtype=np.float32) + np.float32([10, 0])
    for text, expected in {
        "center": [[3, 0], [-3, 0], [0, 1], [0, -1]],
        "zscore": [[2**0.5, 0], [-(2**0.5), 0], [0, 2**0.5], [0, -(2**0.5)]],
        "abtt:1": [[0, 0], [0, 0], [0, 1], [0, -1]],
        "pcr:1": [[0, 0], [0, 0], [0, 1], [0, -1]],
        "pcr": [[0, 0], [0, 0], [0, 1], [0, -1]],
        "whiten": [[2**0.5, 0], [-(2**0.5), 0], [0, 2**0.5], [0, -(2**0.5)]],
        "whiten:1": [[2**0.5], [-(2**0.5)], [0], [0]],
        "truncate:1": [[13], [7], [10], [10]],
        "center+normalize": [[1, 0], [-1, 0], [0, 1], [0, -1]],
    }.items():
        np.testing.assert_allclose(
            TransformChain.parse(text).fit(corpus).apply(corpus), expected, atol=1e-6, err_msg=text
        )


def test_only_pcr_leaves_the_mean_where_it_was() -> None:
    """The first singular vector is close to the mean; abtt's mean is zero, that of pcr's second component is not."""
    corpus = draw(3, 30, 5, 1)
    assert np.abs(TransformChain.parse("abtt:1").fit(corpus).apply(corpus).mean(axis=0)).max() < 1e-5
    assert np.abs(TransformChain.parse("pcr:1").fit(corpus).apply(corpus).mean(axis=0)).max() > 1e-3


# --- what cannot be divided by


def test_a_constant_column_becomes_zero_for_every_text() -> None:
    corpus = np.array([[1, 0.1, 0], [2, 0.1, 0], [4, 0.1, 0]], dtype=np.float32)
    fitted = TransformChain.parse("zscore").fit(corpus)
    out = fitted.apply(corpus)
    np.testing.assert_array_equal(out[:, 1:], 0)
    assert out[:, 0].std() == pytest.approx(1)
    np.testing.assert_array_equal(fitted.apply(np.array([[1, 5, 5]], dtype=np.float32))[:, 1:], 0)
    (facts,) = fitted.record()["steps"]
    assert facts["constant_columns"] == 2
    assert facts["smallest_sd"] == facts["largest_sd"] == pytest.approx(np.std([1, 2, 4]))


def test_a_column_that_varies_within_rounding_is_constant_and_a_tiny_one_is_not() -> None:
    generator = np.random.default_rng(0)
    rounding = np.float32(0.1) + generator.integers(0, 2, 50) * np.spacing(np.float32(0.1))
    tiny = generator.standard_normal(50) * 1e-9
    corpus = np.column_stack([rounding, tiny, generator.standard_normal(50)]).astype(np.float32)
    out = TransformChain.parse("zscore").fit(corpus).apply(corpus)
    np.testing.assert_allclose(out.std(axis=0), [0, 1, 1], atol=1e-5)


def test_zscore_of_equal_rows_is_zero_and_says_so() -> None:
    corpus = np.ones((4, 3), dtype=np.float32)
    fitted = TransformChain.parse("zscore").fit(corpus)
    np.testing.assert_array_equal(fitted.apply(corpus), 0)
    assert fitted.record()["steps"] == [{"step": "zscore", "d_in": 3, "d_out": 3, "constant_columns": 3}]


def test_a_zero_row_stays_zero() -> None:
    corpus = np.array([[3, 4], [0, 0], [1e-30, 0]], dtype=np.float32)
    fitted = TransformChain.parse("normalize").fit(corpus)
    np.testing.assert_allclose(fitted.apply(corpus), [[0.6, 0.8], [0, 0], [1, 0]], rtol=1e-6)
    assert fitted.record()["steps"][0]["zero_rows"] == 1


@each(
    ("text", "what", "expected"),
    [
        ("whiten:7", "'whiten:7' does not fit embeddings of 6 dimensions", "at most 6"),
        ("pca:7", "'pca:7' does not fit embeddings of 6 dimensions", "at most 6"),
        ("truncate:7", "'truncate:7' does not fit embeddings of 6 dimensions", "at most 6"),
        ("abtt:6", "'abtt:6' does not fit embeddings of 6 dimensions", "at most 5"),
        ("pcr:6", "'pcr:6' does not fit embeddings of 6 dimensions", "at most 5"),
        ("truncate:4+whiten:5", "'whiten:5' does not fit embeddings of 4 dimensions", "at most 4"),
        ("random-project:9000", "'random-project:9000' asks for 9000 dimensions", "at most 8192"),
        ("random-project:9+truncate:10", "'truncate:10' does not fit embeddings of 9 dimensions", "at most 9"),
        ("abtt:2+whiten:5", "20 items vary along 4 of 6", "at most whiten:4"),
        ("abtt:2+abtt:4", "the 20 items have 4 direction(s) in all", "at most abtt:3"),
        ("pcr:2+pcr:4", "the 20 items have 4 direction(s) in all", "at most pcr:3"),
    ],
)
def test_an_argument_beyond_the_corpus_is_refused_at_fitting(text: str, what: str, expected: str) -> None:
    chain = TransformChain.parse(text)
    with pytest.raises(InputError) as caught:
        chain.fit(draw(0, 20, 6, 1))
    assert what in caught.value.what
    assert caught.value.expected == expected
    assert caught.value.exit_code == 2


@each("text", ["whiten", "whiten:1", "abtt:1", "pca:2"])
def test_items_that_are_all_equal_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected items with different embeddings"):
        TransformChain.parse(text).fit(np.full((5, 3), 0.1, dtype=np.float32))


@each(("text", "items"), [("whiten", 5), ("whiten", 10), ("whiten:4", 5), ("center+whiten", 9)])
def test_whitening_needs_more_items_than_dimensions(text: str, items: int) -> None:
    """All that they can vary along, scaled to unit variance, puts every two of them equally far apart."""
    with pytest.raises(InputError, match="every two would be equally far apart"):
        TransformChain.parse(text).fit(draw(0, items, 9, 1))
    assert TransformChain.parse("whiten:3").fit(draw(0, 5, 9, 1)).d_out == 3
    assert TransformChain.parse("whiten").fit(draw(0, 11, 9, 1)).d_out == 9


def test_principal_axes_are_fewer_than_the_items() -> None:
    with pytest.raises(InputError, match=r"pca:4.*needs more than 4 items, there are 4"):
        TransformChain.parse("pca:4").fit(draw(0, 4, 6, 1))


def test_whitening_leaves_out_what_does_not_vary() -> None:
    """A dimension that the encoder never uses."""
    corpus = draw(0, 20, 6, 1)
    corpus[:, 2] = 0.25
    fitted = TransformChain.parse("whiten").fit(corpus)
    whitened = fitted.apply(corpus).astype(np.float64)
    assert fitted.d_out == 5
    np.testing.assert_allclose(np.cov(whitened.T, bias=True), np.eye(5), atol=1e-4)
    (facts,) = fitted.record()["steps"]
    assert facts["explained_variance_kept"] == pytest.approx(1)


@each("text", ["zscore", "abtt:1", "pcr:1", "whiten"])
@each("value", [np.nan, np.inf])
def test_a_corpus_that_is_not_finite_is_refused(text: str, value: float) -> None:
    corpus = draw(0, 20, 6, 1)
    corpus[3, 3] = value
    with pytest.raises(BlindspotError, match="NaN or infinite"), np.errstate(invalid="ignore"):
        TransformChain.parse(text).fit(corpus)


def test_normalize_does_not_hide_what_is_not_finite() -> None:
    corpus = np.array([[1, 1], [np.nan, 1], [np.inf, 1]], dtype=np.float32)
    with np.errstate(invalid="ignore"):
        out = TransformChain.parse("normalize").fit(corpus).apply(corpus)
    assert np.isfinite(out[0]).all()
    assert np.isnan(out[1:]).any(axis=1).all()


# --- principal axes


def test_principal_axes_are_the_singular_vectors() -> None:
    """Coordinates along the right singular vectors of the centred corpus, but for their signs; nothing is scaled."""
    corpus = draw(4, 60, 6, 1)
    centred = corpus.astype(np.float64) - corpus.mean(axis=0, dtype=np.float64)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    fitted = TransformChain.parse("pca:3").fit(corpus)
    found = fitted.apply(corpus)
    assert (found.shape, found.dtype) == ((60, 3), np.float32)
    np.testing.assert_allclose(np.abs(found), np.abs(centred @ directions[:3].T), atol=1e-4)
    (step,) = fitted.record()["steps"]
    assert step["explained_variance_kept"] == pytest.approx((singular[:3] ** 2).sum() / (singular**2).sum())


# --- random projection


@each("d", [3, 6, 50])
def test_a_random_projection_is_the_product_with_its_gaussian_matrix(d: int) -> None:
    corpus = draw(0, 20, 6, 1)
    drawn = np.random.default_rng(RANDOM_SEED).standard_normal((6, d))
    expected = [[sum(x * r for x, r in zip(row, column, strict=True)) / d**0.5 for column in drawn.T] for row in corpus]
    fitted = TransformChain.parse(f"random-project:{d}").fit(corpus)
    assert fitted.d_out == d
    np.testing.assert_allclose(fitted.apply(corpus), expected, rtol=1e-5, atol=1e-5)
    other = TransformChain.parse(f"random-project:{d}").fit(corpus[:2] * 5)
    np.testing.assert_array_equal(other.apply(corpus), fitted.apply(corpus))  # it learns nothing from items
    assert fitted.record()["steps"] == [{"step": f"random-project:{d}", "d_in": 6, "d_out": d, "seed": RANDOM_SEED}]


@pytest.mark.parametrize("d", [100, 1_600])
def test_a_random_projection_keeps_lengths_and_angles_in_expectation(d: int) -> None:
    """Down and up. The standard error of a squared length is sqrt(2/d) of it, over 300 items of one matrix."""
    corpus = draw(0, 300, 400, 1)
    moved = TransformChain.parse(f"random-project:{d}").fit(corpus).apply(corpus).astype(np.float64)
    before = corpus.astype(np.float64)
    ratios = (moved**2).sum(axis=1) / (before**2).sum(axis=1)
    assert ratios.mean() == pytest.approx(1, abs=0.02)
    assert ratios.std() == pytest.approx((2 / d) ** 0.5, rel=0.3)
    lengths = np.linalg.norm(before, axis=1)
    products = (moved[::2] * moved[1::2]).sum(axis=1) - (before[::2] * before[1::2]).sum(axis=1)
    assert abs((products / (lengths[::2] * lengths[1::2])).mean()) < 0.05


def test_which_steps_learn_from_the_items() -> None:
    """What a step that does not learn makes of an item is the same whatever it was fitted on, and only then."""
    corpus, other = draw(0, 30, 6, 1), draw(1, 30, 6, 1) + np.float32(1)
    for name, step in STEPS.items():
        if step.is_trained or step.is_kept or name == RESCORE:
            continue
        chain = TransformChain.parse(f"{name}:2" if step.argument and step.argument.required else name)
        same = np.array_equal(chain.fit(corpus).apply(corpus), chain.fit(other).apply(corpus))
        assert same is not chain.learns, name
    assert TransformChain.parse("truncate:2+center").learns
    assert not TransformChain.parse("truncate:2+normalize").learns
    assert TransformChain.parse("int8+rescore:3").learns
    assert not TransformChain.parse("binary+rescore:3").learns


# --- the record


def test_the_record_says_what_was_fitted() -> None:
    corpus = draw(0, 20, 6, 1)
    record = TransformChain.parse("none+center+abtt:2+truncate:3+normalize").fit(corpus).record()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    steps = record.pop("steps")
    assert record == {"chain": "center+abtt:2+truncate:3+normalize", "n": 20, "d_in": 6, "d_out": 3}
    assert [(s["step"], s["d_in"], s["d_out"]) for s in steps] == [
        ("center", 6, 6),
        ("abtt:2", 6, 6),
        ("truncate:3", 6, 3),
        ("normalize", 3, 3),
    ]
    assert steps[0]["mean_length"] == pytest.approx(np.linalg.norm(corpus.astype(np.float64).mean(axis=0)))
    assert 0 < steps[1]["explained_variance_removed"] < 1
    assert steps[3]["zero_rows"] == 0
    nothing = TransformChain.parse("none").fit(corpus).record()
    assert nothing == {"chain": "none", "n": 20, "d_in": 6, "d_out": 6, "steps": []}


def test_the_condition_of_whitening_is_the_ratio_of_its_variances() -> None:
    corpus = np.array([[3, 0], [-3, 0], [0, 1], [0, -1]], dtype=np.float32)
    (facts,) = TransformChain.parse("whiten").fit(corpus).record()["steps"]
    assert facts["condition"] == pytest.approx(9)
    (facts,) = TransformChain.parse("whiten:1").fit(corpus).record()["steps"]
    assert facts["explained_variance_kept"] == pytest.approx(0.9)
