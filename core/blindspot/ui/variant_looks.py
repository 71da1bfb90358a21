"""Colors and symbols of models: the same on every page, and different where models are shown together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from blindspot.figures import theme
from blindspot.figures.theme import Style
from blindspot.runs.default_models import undeployed
from blindspot.ui.pickers import picked_variants
from blindspot.ui.resources import repository, scheme
from blindspot.variants import Variant


def variant_styles(shown: Iterable[Variant]) -> Mapping[Variant, Style]:
    """The look of every variant in the store, by first appearance, and of ``shown``.

    No two of ``shown`` have the same color, as far as the palette goes. Neither have the picks in the sidebar, so that
    they look the same on every page, whichever of them it shows. Baselines that nobody would deploy are gray.
    """
    together = dict.fromkeys(shown)
    stored = repository().variants()
    variants = [*stored, *(variant for variant in together if variant not in set(stored))]
    picked = dict.fromkeys([*together, *(v for v in picked_variants() if v in set(stored))])
    apart = picked if len(picked) <= theme.palette_size() else together
    return theme.styles(variants, scheme(), apart, undeployed(variants))
