"""Small files of word vectors for ``sweep evidence``, so that it compares more than three families.

They are parts of well-known files, with only the most frequent words. They lack many words of the texts, so these
encoders are weaker than those with the whole files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from blindspot.datasets import fetch
from blindspot.datasets.entries import SourceFile, evalrank_file
from blindspot.errors import DataMissing
from blindspot.settings import Settings
from blindspot.types import CancelToken, Progress, no_progress

# Decoded from R data files, so that no public address serves these bytes: ``url`` is "".
VECTOR_FILES = (
    evalrank_file(  # GloVe, 50 dimensions, 5,000 words: the toolkit's example
        "src/models/word_emb/toy_emb.txt"
    ),
    SourceFile(  # word2vec of Google News, 300 dimensions, 8,000 words: PsychWordVec's data/demodata.rda
        "word_vectors",
        "word2vec_googlenews_300d_8k.txt",
        "",
        22_577_912,
        "02aeb55c4f2aa7824b62288d94cea4ab2c40fcaae01b6d91e2d00fd58de76e3a",
    ),
    SourceFile(  # GloVe of Twitter, 25 dimensions, 11,925 words: embedplyr's data/glove_twitter_25d.rda
        "word_vectors",
        "glove_twitter_25d_12k.txt",
        "",
        2_575_210,
        "bec4b94e97bd5dce096f020987211bfa2bd3690952689a11aecf55c25fac36cc",
    ),
)


@dataclass(frozen=True)
class Brought:
    """Which files of word vectors are in the cache.

    Attributes:
        paths: of the files in the cache, in the order of ``VECTOR_FILES``.
        missing: for each file that could not be fetched, a sentence with its name, the reason and what to do.
    """

    paths: tuple[Path, ...]
    missing: tuple[str, ...]


def bring(
    settings: Settings,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
    files: Sequence[SourceFile] | None = None,
) -> Brought:
    """Fetch the files that are not in the cache, from the mirror or their source; ``missing`` lists the others.

    Args:
        files: None for ``VECTOR_FILES``.

    Raises:
        DataCorrupt: a downloaded file has the wrong checksum.
        Cancelled: the part downloaded so far is kept.
    """
    paths, missing = [], []
    for file in VECTOR_FILES if files is None else files:
        name = Path(file.path).name
        is_here = fetch.file_state(file, settings).state is fetch.DataState.DOWNLOADED
        if not is_here and not file.url and not settings.mirror:
            wanted = f"{file.source}/{file.path}"
            missing.append(f"{name} is only in a mirror: set BLINDSPOT_MIRROR to a folder or URL that has {wanted}")
            continue
        try:
            paths.append(fetch.fetch_file(file, settings, progress, cancel))
        except DataMissing as error:
            missing.append(f"{name}: {error}")
    return Brought(tuple(paths), tuple(missing))
