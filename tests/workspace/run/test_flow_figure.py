"""The figure of how a flow was trained."""

from __future__ import annotations

from blindspot.figures.theme import Scheme
from blindspot.workspace.run.flow_figure import likelihood


def test_both_curves_and_where_the_flow_is_kept() -> None:
    figure = likelihood([0, 20, 40], [-1.4, -1.2, -1.1], [-1.4, -1.25, -1.3], 20, Scheme.DARK)
    assert [list(trace.y) for trace in figure.data] == [[-1.4, -1.2, -1.1], [-1.4, -1.25, -1.3]]
    assert [list(trace.x) for trace in figure.data] == [[0, 20, 40]] * 2
    assert figure.data[0].line.dash != figure.data[1].line.dash
    (line,) = figure.layout.shapes
    assert (line.x0, line.x1) == (20, 20)
    assert "kept" in [note.text for note in figure.layout.annotations]
