"""Questions and the passages that answer them, each way only: a question is nearest to other questions."""

from __future__ import annotations

import csv
from pathlib import Path

THINGS = (
    ("the spare key", "It hangs on the nail behind the boiler, under the blue coat."),
    ("the first-aid kit", "Look in the left drawer of the kitchen, next to the oven gloves."),
    ("the guest list", "Ada printed it on Monday and pinned the sheet to the cork board."),
    ("the winter tires", "They are stacked in the shed, with chalk marks for left and right."),
    ("the spare fuse", "Three of them lie in a jam jar on top of the meter cupboard."),
    ("the tax folder", "Grace filed the spare papers in the green binder on shelf four."),
    ("the bicycle pump", "Someone lent it to the neighbors; ring at number nine."),
    ("the picnic blanket", "Rolled up in the boot of the car, beneath the umbrella."),
    ("the old camera", "The museum has borrowed it until the exhibition closes in May."),
    ("the bird seed", "A sack of it is kept dry in the tin trunk below the stairs."),
    ("the garden hose", "Wound round the reel by the tap on the south wall."),
    ("the chess clock", "Inside the piano stool, together with the metronome."),
)
PAIRS = tuple((f"Where in the house can I find {thing}?", passage) for thing, passage in THINGS)


def write(folder: Path) -> str:
    """A file of them, as a dataset's reference."""
    path = folder / "questions.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("query", "match"), *PAIRS])
    return f"file:{path}?query=query&match=match"
