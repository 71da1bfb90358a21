"""The library as the judge of a folder: its vectors of texts, and what is wrong with ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from blindspot.encoders.catalog import resolve_encoder
from blindspot.encoders.roles import by_role
from blindspot.encoders.transformer import library
from blindspot.settings import Settings
from blindspot.types import CancelToken

TEXTS = (
    "A dog runs.",
    "rain",
    "Three cats were seen below a table; none of them slept. " * 2,
    "A text that is longer than what some of the models can read at all, in so many words. " * 9,
    "東京 and Élodie, 🙂 [MASK]",
    "A dog runs.",
)
TEXT, QUERY, DOCUMENT = "", "query", "document"  # tasks, as the library names them


def of_library(folder: Path, *tasks: str) -> list[np.ndarray]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    calls = {TEXT: model.encode, QUERY: model.encode_query, DOCUMENT: model.encode_document}
    return [np.asarray(calls[task](list(TEXTS), batch_size=1, show_progress_bar=False)) for task in tasks]


def differs(folder: Path, settings: Settings, *tasks: str) -> str:
    """What is wrong with our vectors of a folder for these tasks; "" for nothing."""
    encoder = resolve_encoder(f"dir:{folder}", settings)
    ways = {TEXT: encoder, QUERY: by_role(encoder, TEXTS), DOCUMENT: by_role(encoder, ("another text",))}
    wrong = []
    for task, theirs in zip(tasks, of_library(folder, *tasks), strict=True):
        worst = library.difference(theirs, ways[task].encode(TEXTS, CancelToken()))
        if not worst <= 1e-5:
            wrong.append(f"{task or 'text'} differs by {worst:.2g}")
    return ", ".join(wrong)
