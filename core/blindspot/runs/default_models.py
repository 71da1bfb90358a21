"""Models that are meant where nobody names any: one rule for pages, commands, reports and programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blindspot.names import step_of
from blindspot.types import Variant


def default_models(
    variants: Iterable[Variant],
    known: Sequence[Variant],
    baseline: Variant | None = None,
    *,
    postprocessed: bool = False,
) -> list[Variant]:
    """Those without post-processing, and the baseline, as long as there are two to compare; of a training its last
    step.

    Args:
        known: all of the store, those that appeared first in front.
        postprocessed: keep post-processed ones, too.
    """
    kept = list(dict.fromkeys(variants))
    last = {training: one.encoder for one in known if (training := step_of(one.encoder)[0])}
    final = [v for v in kept if last.get(step_of(v.encoder)[0]) in {None, v.encoder} or v == baseline]
    kept = final if len(final) > 1 else kept
    plain = [variant for variant in kept if variant.transform == "none" or variant == baseline]
    return kept if postprocessed or len(plain) < 2 else plain
