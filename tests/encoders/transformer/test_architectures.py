"""Every architecture: its vectors are the library's, and its last layer as a model is the model itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.transformer.encoder import SentenceTransformerEncoder
from blindspot.errors import InputError
from blindspot.settings import Settings
from blindspot.types import CancelToken
from tests.support.by_the_library import TEXT, TEXTS, differs
from tests.support.tables import each
from tests.support.tiny_models import ARCHITECTURES, LAYERS, plain

# Bart has two stacks; the library encodes the others, since padding or the texts beside one change its vector.
WITHOUT_LAYERS = {"BartConfig", "FunnelConfig", "ConvBertConfig"}

# Each runs through the same lines of ours and of transformers as one of the others, or takes many times as long.
OF_THE_SAME_KIND = {
    *("XLMRobertaConfig", "CamembertConfig", "EsmConfig"),  # Roberta
    *("MegatronBertConfig", "SqueezeBertConfig", "MobileBertConfig", "ElectraConfig", "RoFormerConfig"),  # Bert
    *("MistralConfig", "Qwen2Config"),  # Llama, Qwen3 and, for windows, Gemma 3
    "MT5Config",  # T5
    "FunnelConfig",  # ConvBert: the library encodes it
}


def encoder_of(reference: str, settings: Settings) -> SentenceTransformerEncoder:
    encoder = resolve_encoder(reference, settings)
    assert isinstance(encoder, SentenceTransformerEncoder)
    return encoder


@pytest.mark.matrix
@each("architecture", sorted(set(ARCHITECTURES) - OF_THE_SAME_KIND))
def test_an_architecture_gives_what_the_library_gives_and_its_last_layer_is_the_model(
    architecture: str, settings: Settings, tmp_path: Path
) -> None:
    check(architecture, settings, tmp_path)


@pytest.mark.slow
@each("architecture", sorted(OF_THE_SAME_KIND))
def test_so_it_is_with_the_others(architecture: str, settings: Settings, tmp_path: Path) -> None:
    check(architecture, settings, tmp_path)


def check(architecture: str, settings: Settings, tmp_path: Path) -> None:
    folder = plain(tmp_path / "model", architecture)
    assert not differs(folder, settings, TEXT)
    if architecture in WITHOUT_LAYERS:
        with pytest.raises(InputError, match="layer"):
            encoder_of(f"dir:{folder}?layer=1", settings).encode(TEXTS, CancelToken())
    else:
        check_layers(folder, settings)


def test_the_last_layer_of_any_transformer_is_the_model(settings: Settings, tmp_path: Path) -> None:
    check_layers(plain(tmp_path / "bert"), settings)


def check_layers(folder: Path, settings: Settings) -> None:
    first, model = encoder_of(f"dir:{folder}?layer=0", settings), encoder_of(f"dir:{folder}", settings)
    together = first.encode_family(TEXTS, CancelToken())
    assert len(together.vectors) == LAYERS + 1
    np.testing.assert_allclose(together.vectors[-1], model.encode(TEXTS, CancelToken()), rtol=1e-6, atol=1e-6)
    assert all(np.abs(together.vectors[0] - other).max() > 1e-3 for other in together.vectors[1:])
    by_hand = (together.vectors[1].astype(np.float64) + together.vectors[2]) / 2
    if first.pooling.startswith("mean"):  # of layers and of tokens can be taken in any order
        both = encoder_of(f"dir:{folder}?layer=mean(1,2)", settings).encode(TEXTS, CancelToken())
        np.testing.assert_allclose(both, by_hand, rtol=1e-5, atol=1e-5)
