"""What the tasks of the queue have in common that work on the space of one stored variant."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.runs.log import JobLine
from core.types import Variant


class OnStoredVariant:
    """The part of ``SpaceTask`` that follows from one variant and one dataset.

    Attributes:
        kind: what the log calls it.
    """

    kind: ClassVar[str]

    if TYPE_CHECKING:  # fields of the dataclass that this is mixed into

        @property
        def variant(self) -> Variant: ...

        @property
        def dataset(self) -> str: ...

    @property
    def encoders(self) -> frozenset[str]:
        """References of the encoders whose embeddings it reads."""
        return frozenset({self.variant.encoder})

    @property
    def typed_variants(self) -> frozenset[Variant]:
        return frozenset()

    @property
    def takes_uploads(self) -> bool:
        return True

    @property
    def line(self) -> JobLine:
        return JobLine(self.kind, variant=self.variant.label, dataset=self.dataset)
