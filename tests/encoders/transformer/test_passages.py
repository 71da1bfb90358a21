"""Documents cut into passages: windows by a loop, spans in the text, and references with the parameter."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.datasets.kinds.passages import Cut
from blindspot.encoders.catalog import canonical_encoder, passages_of, resolve_encoder
from blindspot.encoders.references import Passages
from blindspot.encoders.transformer.passages import TokenCutter, windows
from blindspot.errors import InputError
from blindspot.settings import Settings
from tests.support.tables import each

TEXT = "Boundary-layer transition: unbelievably thin wings aren't re-entering naïve flows — or so they say (1958)."


@given(st.integers(0, 60), st.integers(1, 12), st.data())
def test_windows_are_those_of_a_loop(tokens: int, window: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, window - 1))
    expected, first = [], 0
    while tokens:
        expected.append((first, min(first + window, tokens)))
        if first + window >= tokens:
            break
        first += window - overlap
    assert windows(tokens, Passages(window, overlap)) == expected


@pytest.mark.parametrize("passages", [Passages(5, 2), Passages(4, 0), Passages(1, 0), Passages(200, 32)])
def test_spans_are_windows_of_the_models_tokens(settings: Settings, passages: Passages) -> None:
    encoder = resolve_encoder("minilm", settings)
    texts = [TEXT, "", " ", "one"]
    found = TokenCutter(passages, "minilm", encoder).spans(texts)
    offsets = [one[0] for one in TokenCutter(Passages(1, 0), "minilm", encoder).spans([TEXT])[0:1]]
    tokens = TokenCutter(Passages(1, 0), "minilm", encoder).spans([TEXT])[0]
    assert found[0] == [(tokens[a][0], tokens[b - 1][1]) for a, b in windows(len(tokens), passages)]
    assert found[0][0][0] == offsets[0][0] == 0
    assert found[0][-1][1] == len(TEXT)
    assert found[1:] == [[(0, 0)], [(0, 1)], [(0, 3)]]
    assert [TEXT[a:b] for a, b in tokens][:4] == ["Boundary", "-", "layer", "transition"]


class Halves:
    """Cuts texts of more than four characters in two, with one character in both."""

    digest = "halves"

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[(0, len(t))] if len(t) <= 4 else [(0, len(t) // 2 + 1), (len(t) // 2, len(t))] for t in texts]


def test_the_title_is_before_every_passage_and_short_documents_stay() -> None:
    found = Cut.of(["who", "T abcd"], ["T abcdef", "xy", "T abcd", "T"], ["T", "", "T", "T"], Halves())
    texts = [found.texts[i] for i in found.passages]
    assert texts == ["T abcd", "T def", "xy", "T abcd", "T"]
    assert found.starts.tolist() == [0, 2, 3, 4, 5]
    assert found.spans.tolist() == [[0, 6], [5, 8], [0, 2], [0, 6], [0, 1]]
    assert "T abcdef"[5:8] == "def"
    assert [found.texts[i] for i in found.queries] == ["who", "T abcd"]
    assert len(set(found.texts)) == len(found.texts) == 5


@each(
    ("reference", "canonical"),
    [
        ("minilm?passages=128/32", "minilm?passages=128/32"),
        ("minilm-cls?passages=128%2F32", "minilm-cls?passages=128/32"),
        ("dir:/a?pooling=cls&passages=9/0", "dir:/a?passages=9/0&pooling=cls"),
        ("hf:a/b@main?passages=9/0", "hf:a/b@main?passages=9/0"),
    ],
)
def test_references_say_how_to_cut(reference: str, canonical: str) -> None:
    assert canonical_encoder(reference) == canonical
    assert str(passages_of(canonical)) in canonical
    assert passages_of(canonical.partition("?")[0]) is None
    assert passages_of(f"{canonical}@version-abc") == passages_of(canonical)


@pytest.mark.parametrize(
    ("reference", "part"),
    [
        ("minilm?passages=32/32", "WINDOW/OVERLAP"),
        ("minilm?passages=0/0", "WINDOW/OVERLAP"),
        ("minilm?passages=128", "WINDOW/OVERLAP"),
        ("minilm?passages=255/32", "at most 254"),
        ("minilm?passages=9/1&passages=9/1", "twice"),
        ("minilm?prompts=a", "passages"),
        ("lsa?passages=9/1", "no parameters"),
    ],
)
def test_what_cannot_be_cut_is_said_in_one_line(settings: Settings, reference: str, part: str) -> None:
    with pytest.raises(InputError, match=part) as error:
        resolve_encoder(reference, settings)
    assert "\n" not in str(error.value)
