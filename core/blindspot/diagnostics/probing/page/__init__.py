"""The page Probing: the views of Transfer on probing tasks, and their correlation with transfer tasks."""

from __future__ import annotations

from collections.abc import Mapping

from blindspot.datasets.catalog import title_of
from blindspot.datasets.kinds.probing import PROBES
from blindspot.datasets.published.probing_tasks import PROBING
from blindspot.diagnostics.probing.definition import ENTRY
from blindspot.diagnostics.probing.page import with_transfer
from blindspot.diagnostics.transfer.page import classifiers, one_task, show_tasks, tasks
from blindspot.diagnostics.transfer.page.runs import Offered, TaskPage, TransferView
from blindspot.diagnostics.transfer.tasks import probe_asked
from blindspot.names import name_of_dataset
from blindspot.ui.widgets.views import View

DEMOS = tuple(PROBING)


def _title(task: str) -> str:
    """The task's name; also the dataset's where that says more, as with several files of one task."""
    probe, title = probe_asked(task), title_of(task)
    if probe is None or task in PROBING:
        return title
    return probe.title if title in {probe.id, name_of_dataset(task)} else f"{probe.title} ({title})"


def _place(task: str) -> tuple[int, str]:
    probe, ids = probe_asked(task), list(PROBES)
    return (len(ids) + 1 if task in PROBING else len(ids) if probe is None else ids.index(probe.id), task)


def _asks(task: str) -> str:
    probe = probe_asked(task)
    return probe.question if probe else "a task of your own."


PAGE = TaskPage(
    ENTRY,
    "A task asks for one property of a sentence, such as its length or the order of its words: a simple classifier "
    "reads it from a model's embeddings. Two small tasks are built in. SentEval's ten are not: add its files, "
    "`sentence_length.txt` and so on, on the page *Data*.",
    "is not a probing task",
    DEMOS,
    (Offered("demo", "Run the demos", DEMOS, is_primary=True),),
    DEMOS,
    titled=_title,
    place=_place,
    asks=_asks,
)

# The keys are also in the address; the first is the default.
VIEWS: Mapping[str, View[TransferView]] = {
    "tasks": View("Which property can be read from which model?", tasks.show),
    "classifiers": View("Does the order of models depend on the classifier?", classifiers.show),
    "confusion": View("Which values of a property are confused?", one_task.confusion),
    "items": View("Which sentences does one model get right and the other wrong?", one_task.items),
    "transfer": View("Do models with high probing scores do well on transfer tasks?", with_transfer.show),
}


def show() -> None:
    """The page."""
    show_tasks(PAGE, VIEWS)
