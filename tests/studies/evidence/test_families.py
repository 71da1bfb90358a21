"""Which encoders are of one model."""

from __future__ import annotations

import pytest

from core.encoders.catalog import ENCODERS
from core.studies.evidence.families import family_names, family_of


def test_every_encoder_of_the_catalog_declares_its_family() -> None:
    families = {entry.id: entry.family for entry in ENCODERS.values()}
    assert {families[i] for i in families if i.startswith("minilm")} == {"sentence-transformers/all-MiniLM-L6-v2"}
    assert {families[i] for i in families if i.startswith("random-projection")} == {"random-projection"}
    assert families["lsa"] == "lsa"
    assert all(families.values())


@pytest.mark.parametrize(
    ("reference", "revision", "family"),
    [
        ("minilm-cls", "", "sentence-transformers/all-MiniLM-L6-v2"),
        ("hf:sentence-transformers/all-MiniLM-L6-v2@main?pooling=cls", "abc", "sentence-transformers/all-MiniLM-L6-v2"),
        ("hf:made/model", "", "made/model"),
        ("dir:/models/mine?pooling=cls&max_length=64", "", "dir:/models/mine"),
        ("dir:/models/mine?pooling=cls", "0a1b", "dir:0a1b"),
        ("vectors:/data/glove.txt", "", "vectors:/data/glove.txt"),
        ("table:/data/own.parquet", "77", "table:77"),
        ("gone-from-the-catalog", "", "gone-from-the-catalog"),
        ("hf:what/was/that", "", "hf:what/was/that"),
    ],
)
def test_family(reference: str, revision: str, family: str) -> None:
    assert family_of(reference, revision) == family


def test_copies_of_a_file_are_one_family_and_files_of_one_name_are_two() -> None:
    encoders = ["vectors:/a/glove.txt", "vectors:/b/copy.txt", "vectors:/c/glove.txt", "minilm", "minilm-static"]
    revisions = {encoders[0]: "1111", encoders[1]: "1111", encoders[2]: "2222"}
    names = family_names(encoders, revisions)
    assert names[0] == names[1] == "vectors:glove.txt"
    assert names[2] == "vectors:glove.txt (2222)"
    assert names[3] == names[4] == "sentence-transformers/all-MiniLM-L6-v2"
