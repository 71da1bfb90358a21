"""Variants, and the values that their references are read as."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from blindspot.variants import Variant
from tests.support.tables import each


@given(
    encoder=st.text(min_size=1),
    transform=st.text(alphabet=st.characters(exclude_characters=Variant.SEPARATOR), min_size=1),
)
def test_a_variant_can_be_read_back_from_its_id(encoder: str, transform: str) -> None:
    variant = Variant(encoder, transform)
    assert Variant.parse(str(variant)) == variant


@each(
    ("text", "variant"),
    [
        ("minilm", Variant("minilm", "none")),
        ("minilm~center", Variant("minilm", "center")),
        ("dir:~/model~abtt:2+center", Variant("dir:~/model", "abtt:2+center")),
    ],
)
def test_ids_of_variants(text: str, variant: Variant) -> None:
    assert Variant.parse(text) == variant


def test_a_tilde_in_the_name_of_a_folder_is_no_transform(tmp_path: Path) -> None:
    folder = tmp_path / "model~old"
    folder.mkdir()
    for path in (f"dir:{folder}", f"dir:{folder}?pooling=cls", str(folder)):
        assert Variant.parse(path) == Variant(path, "none")
        assert Variant.parse(f"{path}~center") == Variant(path, "center")
    assert Variant.parse(f"dir:{tmp_path / 'gone~old'}").transform == "old"  # a later version's, or a mistake


def test_labels_of_variants_leave_none_out() -> None:
    assert Variant("minilm", "none").label == "minilm"
    assert Variant("minilm", "center").label == "minilm + center"


def test_equal_variants_are_one_key() -> None:
    assert len({Variant("minilm", "none"), Variant.parse("minilm"), Variant.parse("minilm~none")}) == 1
