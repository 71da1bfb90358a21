"""How variants look: the same on every page, and told apart where they are shown together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.figures import theme
from core.figures.theme import Style
from core.types import Variant
from core.ui.pickers import picked_variants
from core.ui.resources import repository, scheme


def variant_styles(shown: Iterable[Variant]) -> Mapping[Variant, Style]:
    """The look of every variant in the store, by first appearance, and of ``shown`` beside them.

    No two of ``shown`` have one colour, as far as the palette goes. What is picked in the sidebar is told apart as a
    whole, so that it looks the same on every page, whichever of it a page shows.
    """
    together = dict.fromkeys(shown)
    stored = repository().variants()
    known = [*stored, *(variant for variant in together if variant not in set(stored))]
    picked = dict.fromkeys([*together, *(v for v in picked_variants() if v in set(stored))])
    return theme.styles(known, scheme(), picked if len(picked) <= theme.palette_size() else together)
