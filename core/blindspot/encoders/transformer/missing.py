"""Weights missing from a model's files: transformers sets them at random, with a warning; here they are errors."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from blindspot.encoders.transformer.adapters import MERGE
from blindspot.errors import InputError

# Parts that no text vector needs: heads of other tasks, a pooler that is not read, layers for pictures and sound.
UNUSED = re.compile(
    r"(?:^|\.)(?:pooler|lm_head|classifier|qa_outputs|cls|vision\w*|visual\w*|image\w*|audio\w*|multi_modal\w*)\."
)
HEAD = re.compile(r"(?:^|\.)(?:pooler|classifier|qa_outputs|vision\w*|visual\w*|image\w*|audio\w*|multi_modal\w*)\.")
NAMED = 3
_LOCK = threading.RLock()


@contextmanager
def missing_refused(
    reference: str, *, needs_head: bool, needs_pooler: bool, has_weights: bool = True, is_adapter: bool = False
) -> Iterator[None]:
    """Refuse a model that is loaded in this context and lacks weights.

    Args:
        needs_head: whether the head with the word pieces' logits is needed (sparse models).
        needs_pooler: whether the model's own vector of a text is read.
        has_weights: False if a graph replaces the layers, so that they may have any weights.
        is_adapter: whether an adapter's weights are loaded, too; of some kinds (DoRA) transformers loads not all.

    Raises:
        InputError: when the context ends.
    """
    from transformers import PreTrainedModel

    here, missing, instead = threading.get_ident(), set[str](), set[str]()
    original = PreTrainedModel.__dict__["from_pretrained"]

    def from_pretrained(cls: type, *args: Any, **options: Any) -> Any:
        load = original.__get__(None, cls)
        if threading.get_ident() != here or options.get("output_loading_info"):
            return load(*args, **options)
        if not has_weights:
            return cls._from_config(options["config"])  # type: ignore[attr-defined]
        options.setdefault("ignore_mismatched_sizes", True)  # reported by name below
        model, facts = load(*args, output_loading_info=True, **options)
        missing.update(facts["missing_keys"])
        instead.update(facts["unexpected_keys"])
        missing.update(str(fact[0]) for fact in facts.get("mismatched_keys", ()))
        return model

    with _LOCK:
        PreTrainedModel.from_pretrained = classmethod(from_pretrained)
        try:
            yield
        finally:
            PreTrainedModel.from_pretrained = original
    unused = HEAD if needs_head else UNUSED
    lost = sorted(
        name for name in missing if not unused.search(name) or (needs_pooler and re.search(r"(?:^|\.)pooler\.", name))
    )
    if lost:
        more = f" and {len(lost) - NAMED:,} more" if len(lost) > NAMED else ""
        beside = f"; its files have others, such as {min(instead)}" if instead else ""
        raise InputError(
            f"'{reference}': weights are missing, or of another shape: {', '.join(lost[:NAMED])}{more}{beside}",
            expected="all weights of the adapter and its base"
            if is_adapter
            else "all weights that config.json describes",
            remedy=MERGE
            if is_adapter
            else "copy or download the folder again, or save it again as the model that it is",
        )
