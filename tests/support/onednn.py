"""Where torch's packed products run."""

from __future__ import annotations

import platform

import pytest
import torch

from blindspot.encoders.transformer import packed

needs_onednn = pytest.mark.skipif(
    platform.machine().lower() not in packed.X86 or not torch.backends.mkldnn.is_available(),
    reason="torch has no oneDNN for this processor",
)
