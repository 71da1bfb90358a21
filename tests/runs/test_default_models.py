"""Models that are meant where nobody names any, and what is said of those that were not run."""

from __future__ import annotations

import pytest

from blindspot.errors import InputError
from blindspot.runs.default_models import check_were_run
from blindspot.variants import Variant
from tests.support.tables import each

KNOWN = [Variant("minilm", "none"), Variant("lsa", "none")]


@each(
    "variant, said",
    [
        ("minilm~center", r"minilm \+ center has not been run yet.*--encoder minilm --transform center$"),
        ("minilm-cls?layer=3~none", "has not been run yet.*--encoder 'minilm-cls.layer=3'$"),
        ("lsaa~none", "unknown variant 'lsaa~none'.*did you mean 'lsa~none'"),
        ("dir:/gone/mine~none", "unknown variant"),
    ],
)
def test_a_model_of_the_catalog_that_was_not_run_is_not_called_unknown(variant: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_were_run([KNOWN[0], Variant.parse(variant)], KNOWN)
