"""Options that several commands share, with their help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from core.transforms import STEPS

TRANSFORM_HELP = (
    f"transform chain, for example abtt:2 or center+whiten:128, of {', '.join(s.usage for s in STEPS.values())}; "
    "several times for several variants"
)
SUPPORT_HELP = (
    "which items are ranked where word vectors leave some out: those that all the encoders cover, so that their scores "
    "can be compared (common), or those that each one covers (own)"
)
FIT_ON_HELP = (
    "dataset id: fit the transform on that dataset's items, encoded by the same encoder, instead of on the very items "
    "that are evaluated (held out); the run remembers it"
)


class Support(StrEnum):
    """The items that an encoder of several is ranked on."""

    COMMON = "common"
    OWN = "own"


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
