"""What visitors of a demo read of an error: the same words, without folders of the server."""

from __future__ import annotations

from blindspot.errors import InputError, without_paths
from blindspot.policy import DEMO, LOCAL

TOLD = [
    (
        "cannot write /var/lib/blindspot/cache/x.npy: No space left on device",
        "cannot write x.npy: No space left on device",
    ),
    ("file:/srv/cache/sessions/1-abc/uploads/p-1/p.csv: line 3", "p.csv: line 3"),
    ("'~/models/y.txt' is no file", "'y.txt' is no file"),
    ("no folder (/a/b/c)", "no folder (c)"),
    (r"cannot read C:\Users\me\a.txt", "cannot read a.txt"),
    ("dir:/data/models/minilm?split=a", "minilm?split=a"),
    ("/srv/blindspot/", "a folder"),
]
STAYS = [
    "hf:org/name and/or 1/2",
    "https://a.b/c/d",
    "demo-pairs/evalrank",
    "the root /",
    "3 / 4",
    "nDCG@10",
    "60 texts/s",
]


def test_folders_are_left_out() -> None:
    for text, told in TOLD:
        assert without_paths(text) == told
        assert DEMO.explained(InputError(text)) == told
        assert LOCAL.explained(InputError(text)) == text


def test_other_slashes_stay() -> None:
    assert [without_paths(text) for text in STAYS] == STAYS
