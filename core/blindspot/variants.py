"""An encoder with a transform chain: what is compared everywhere."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property

from blindspot import names
from blindspot.references import FusionRef, ModelRef
from blindspot.transforms.chain import STEPS, TransformChain


@dataclass(frozen=True, init=False)
class Variant:
    """An encoder with a transform chain; its id is ``<encoder reference>~<transform chain>``.

    Stored variants may name what this version lacks, so they are compared by text, and parsed only on use.
    """

    encoder: ModelRef
    transform: str

    SEPARATOR = "~"

    def __init__(self, encoder: str, transform: str) -> None:
        object.__setattr__(self, "encoder", ModelRef.parse(encoder))
        object.__setattr__(self, "transform", transform)

    def __str__(self) -> str:
        return f"{self.encoder}{self.SEPARATOR}{self.transform}"

    @cached_property
    def chain(self) -> TransformChain:
        """The transform, as a value; raises ``InputError`` if this version lacks a step of it."""
        return TransformChain.parse(self.transform)

    @property
    def label(self) -> str:
        """Display name: the model's name (``blindspot.names``), with its transform if any."""
        model = names.current().model(self.encoder)
        return model if self.transform == "none" else f"{model} + {self.transform}"

    def label_within(self, width: int) -> str:
        """The label for narrow places: at most ``width`` characters, if that leaves eight for the model's name, which
        is cut in the middle; the transform stays, since a menu would cut it off."""
        within = names.current().model_within
        if self.transform == "none":
            return within(self.encoder, width)
        return f"{within(self.encoder, max(width - len(self.transform) - 3, 8))} + {self.transform}"

    @classmethod
    def parse(cls, text: str) -> Variant:
        alone = cls(text, "none")
        if isinstance(alone.encoder, FusionRef):  # its models have transforms, and itself none
            return cls(text.removesuffix(f"{cls.SEPARATOR}none"), "none")
        encoder, separator, transform = text.rpartition(cls.SEPARATOR)
        if not separator or (re.split("[+:]", transform)[0] not in STEPS and _is_path(text)):  # a folder called a~b
            return alone
        return cls(encoder, transform)


def _is_path(reference: str) -> bool:
    """Whether a reference, or a path, names a file or folder as it is."""
    targets = (reference, reference.partition(":")[2].partition("?")[0])
    return any(target and os.path.exists(os.path.expanduser(target)) for target in targets)  # noqa: PTH110, PTH111 - false for a name too long
