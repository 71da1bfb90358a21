"""Neighbours: what stands nearest to a query in every encoder, and where encoders disagree."""

from core import ui
from core.ui import neighbours_lists as lists
from core.ui import neighbours_overlap as overlap
from core.ui import neighbours_parts as parts
from core.ui import neighbours_query as queries
from core.ui.neighbours_view import open_inside

picks = ui.page("Neighbours", "What does each encoder hold for nearest, and where do encoders disagree?")
inside = open_inside(picks)
if inside is not None:
    query = queries.pick(inside)
    k = lists.depth_picker(inside)
    answer = None
    if query is not None:
        queries.show(query)
        answer = lists.answer(inside, query, k)
        parts.onward(inside, query)
    overlap.show(inside, answer, k)
parts.how_computed()
