"""Models that are meant where nobody names any, and what is said of those that were not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from blindspot.datasets.catalog import DatasetRef
from blindspot.errors import InputError
from blindspot.references import ModelRef
from blindspot.runs.default_models import check_were_run, first_run, to_deploy
from blindspot.store.repository import Repository
from blindspot.variants import Variant
from tests.support.store_samples import pair_set, store_run
from tests.support.tables import each

NAMES = ("dir:/mine", "random-projection-7", "minilm-static", "minilm")
KNOWN = [Variant("minilm", "none"), Variant("lsa", "none"), Variant(ModelRef.parse("dir:/here/mine"), "none")]


@each(
    "variant, said",
    [
        ("minilm~center", r"minilm \+ center has not been run yet.*--encoder minilm --transform center$"),
        ("minilm-cls?layer=3~none", "has not been run yet.*--encoder 'minilm-cls.layer=3'$"),
        ("lsaa~none", "unknown variant 'lsaa~none'.*did you mean 'lsa~none'"),
        ("dir:/gone/mine~none", "no file or folder /gone/mine"),
        ("cat:minilm+dir:/gone/mine~none", "no file or folder /gone/mine"),
        ("dir:/~none", "has not been run yet.*--encoder dir:/$"),
        ("hf:org/name~center", "has not been run yet.*--encoder hf:org/name --transform center$"),
        ("random-projection-64~none", "has not been run yet"),
        ("lsa@version-1~none", "unknown variant"),
        ("cat:minilm+minilm-cls~none", r"has not been run yet.*evalrank .*--encoder cat:minilm\+minilm-cls$"),
        ("bm25~none", "has not been run yet.*blindspot run retrieval --dataset demo-retrieval --encoder bm25$"),
        ("fuse:minilm+bm25", r"has not been run yet.*blindspot run retrieval .*--encoder fuse:minilm\+bm25$"),
        ("dir:/here/mine~center", "has not been run yet.*--encoder dir:/here/mine --transform center$"),
    ],
)
def test_a_model_of_the_catalog_that_was_not_run_is_not_called_unknown(
    variant: str, said: str, repository: Repository
) -> None:
    for known in KNOWN:
        store_run(repository, known.encoder.rpartition("/")[2], pair_set(), encoder=known.encoder)
    with pytest.raises(InputError, match=said):
        check_were_run([KNOWN[0], Variant.parse(variant)], repository)


def test_a_command_runs_on_own_data_where_some_was_run_that_is_still_here(tmp_path: Path) -> None:
    kinds = {"pairs": "query,match", "rated": "sentence1,sentence2,score"}
    for name, header in kinds.items():
        (tmp_path / f"{name}.csv").write_text(f"{header}\na cup,a mug,1\na pot,a pan,0\n", "utf-8")
    pairs, rated, gone = (DatasetRef(f"file:{tmp_path / name}.csv") for name in ("pairs", "rated", "gone"))
    of_demo = first_run(datasets=[DatasetRef("demo-scored"), gone])
    assert of_demo == "blindspot run evalrank --dataset demo-pairs --encoder minilm"
    assert first_run([KNOWN[1]], [pairs, rated, gone]) == f"blindspot run similarity --dataset {rated} --encoder lsa"


def test_baselines_are_counted_only_where_there_is_nothing_else(repository: Repository) -> None:
    for name in NAMES:
        store_run(repository, name.replace(":", "").replace("/", ""), pair_set(), encoder=name)
    by_model = {run.plan.variant.encoder: run for run in repository.runs()}
    mine, random, static, minilm = (by_model[name] for name in map(ModelRef.parse, NAMES))
    assert to_deploy([random, mine, static, minilm]) == [mine, minilm]
    assert to_deploy([random, static]) == [random, static]
    assert to_deploy([]) == []
