"""What is independent among pairs: the same on Similarity, among its findings and on Threshold."""

from __future__ import annotations

import numpy as np
import pandas as pd

from blindspot.diagnostics.similarity.definition import ENTRY
from blindspot.diagnostics.similarity.evidence import evidence
from blindspot.diagnostics.similarity.pairs import ScoredTable
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.studies.threshold.pairs import of_runs
from tests.support.made_up_store import MadeUp

M = 60


def test_texts_that_differ_by_case_and_spaces_are_one_everywhere() -> None:
    gold = np.linspace(0, 5, M)
    about = pd.DataFrame({"item_no": range(M), "set_name": "all", "gold": gold})
    about["first"] = [f"{'A' if i % 2 else 'a '} text {i // 2}" for i in range(M)]
    about["second"] = [f"another {i}" for i in range(M)]
    about["first_no"], about["second_no"] = range(M), range(M, 2 * M)
    store = MadeUp(ENTRY, about)
    store.add("model", {"similarity": gold + np.tile([0.0, 1.0], M // 2)}, {"spearman": 0.9}, {"pairs": M})

    table = ScoredTable(about, {"run": gold})
    material = store.material()
    measured = of_runs(material.runs, material.repository)
    units = {Dependence.of(*ends).units for ends in (table.ends, measured.ends)}
    units |= {one.n for one in evidence(material) if one.kind == "order-of-people"}
    assert units == {M // 2}
