"""An encoder of the tests with prompts of queries and documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from blindspot.encoders.base import EncoderIdentity, RolePrompts
from blindspot.types import CancelToken, Float32
from tests.support.small_world import GramEncoder

ASK, TELL = "ask ", "tell of "


@dataclass
class AskingEncoder(GramEncoder):
    """Trigrams of prompt and text."""

    reference: str = "asking"
    prompt: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.info = replace(self.info, role_prompts=RolePrompts(ASK, TELL, given=True))

    @property
    def identity(self) -> EncoderIdentity:
        return replace(super().identity, prompt=self.prompt)

    def prompted(self, prompt: str, task: str = "") -> AskingEncoder:
        return replace(self, prompt=prompt)

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return super().encode([f"{self.prompt}{text}" for text in texts], cancel)
