"""Labels of axes and cells."""

from __future__ import annotations

from blindspot.figures.labels import wrapped
from tests.support.tables import each


@each(("name", "expected"), [("negation of the clause", "negation of<br>the clause"), ("a<b", "a&lt;b"), (" ", " ")])
def test_labels_are_wrapped_and_no_html(name: str, expected: str) -> None:
    assert wrapped(name) == expected
