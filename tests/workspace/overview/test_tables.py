"""Costs beside scores: those in which models differ are columns, the others a sentence."""

from __future__ import annotations

import pandas as pd

from blindspot.workspace.overview.tables import apart


def test_a_cost_that_all_models_share_is_no_column() -> None:
    costs = pd.DataFrame({"dimension": [384, 384], "parameters": [1, 22_000_000], "memory, MB": [None, None]})
    differing, in_all = apart(costs)
    assert list(differing) == ["parameters"]
    assert in_all == "384 dimensions", "what is not known is not said"
    assert apart(costs.head(1))[0].shape == (1, 3), "one model has nothing in common"
