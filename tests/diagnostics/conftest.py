"""Less to compute, for tests of what is made of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blindspot.diagnostics.frequency import classes


@pytest.fixture(scope="module")
def few_thresholds() -> Iterator[None]:
    """Three of the diagnostic ``frequency`` instead of eleven: a classifier is trained a hundred times at each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes, "PERCENTILES", (20, 50, 80))
        yield
