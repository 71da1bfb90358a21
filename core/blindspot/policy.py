"""Permissions of visitors, above all on a hosted demo (``BLINDSPOT_MODE=demo``).

On one's own machine everything is allowed. On a demo strangers share results on the catalog, and nobody can change
them: visitors add runs through the queue, within limits, and vote. Results on a visitor's own texts are kept in a part
of the cache that only the visitor sees (``Settings.session``).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from blindspot.errors import DiskRefused, InputError, without_paths
from blindspot.references import ModelRef, ModelsRef
from blindspot.settings import Mode, Settings

OWN_MACHINE = "run Blindspot on a machine of your own"
MOST_SEARCHED = 2_000  # characters of a search in texts
MOST_NAMED = 4_000  # of a path, an address or a reference
NO_RUNS = "This server shows stored results: nothing new can be run here"
_FILE = "file:"
_FOLDER = "dir:"
_OWN = (_FILE, _FOLDER)
_FOLDER_OPTION = r"(split|missing|documents|queries|judgments)(\.\w+)?=[\w.%~-]+"  # no slash: no more of the path
_FOLDER_OPTIONS = re.compile(rf"({_FOLDER_OPTION}(&{_FOLDER_OPTION})*)?")
FOLDER_FORMATS = ("jsonl", "tsv", "csv", "txt", "trec", "xml", "qrels", "qrel", "topics")  # of files in a sent folder


@dataclass(frozen=True)
class UploadLimits:
    """Limits of an upload; None if only those of the file formats apply.

    Attributes:
        formats: accepted endings of file names.
        size: bytes of a file.
        cell: characters of a text.
        files: uploads that a visitor may keep at a time.
    """

    formats: tuple[str, ...]
    size: int | None = None
    rows: int | None = None
    columns: int | None = None
    cell: int | None = None
    files: int | None = None

    def check_file(self, name: str, size: int) -> None:
        """Raise ``InputError`` for a file that is too large or of another format, before it is read."""
        if Path(name).suffix.lower().removeprefix(".") not in self.formats:
            raise InputError(
                f"{Path(name).name} is of a format that is not accepted here",
                expected=f"a name that ends in {', '.join(f'.{ending}' for ending in self.formats)}",
            )
        self._check(self.size, size, "bytes")

    def check_folder(self, size: int, rows: int, longest_cell: int) -> None:
        """Raise ``InputError`` for a folder with files that are too large together, or too many or too long texts."""
        self._check(self.size, size, "bytes", "folder")
        self._check(self.rows, rows, "documents or queries", "folder")
        self._check(self.cell, longest_cell, "characters in one text", "folder")

    def check_table(self, rows: int, columns: int, longest_cell: int) -> None:
        """Raise ``InputError`` for a table that is too large; ``longest_cell`` in characters."""
        self._check(self.rows, rows, "rows")
        self._check(self.columns, columns, "columns")
        self._check(self.cell, longest_cell, "characters in one cell")

    def check_number(self, there_are: int) -> None:
        """Raise ``InputError`` if there is no room for another upload."""
        if self.files is not None and there_are >= self.files:
            raise InputError(
                f"you keep {there_are} uploads already", expected=f"at most {self.files}", remedy="remove one of them"
            )

    @staticmethod
    def _check(most: int | None, n: int, what: str, where: str = "file") -> None:
        if most is not None and n > most:
            raise InputError(
                f"the {where} has {n:,} {what}",
                expected=f"at most {most:,} on this demo",
                remedy=f"take a part of it, or {OWN_MACHINE}",
            )


@dataclass(frozen=True)
class WorkLimits:
    """Seconds of one piece of work on a reader's texts, and bytes of its process.

    Attributes:
        turn: seconds of a turn, for a model's work within the server; the model may have to be loaded first.
    """

    seconds: float
    bytes: int
    turn: float = 60.0


@dataclass(frozen=True)
class SessionRoom:
    """Sessions of raters on a server.

    Attributes:
        in_all: the most at a time; of those older than an hour, the ones with the fewest votes end to make room.
        an_hour: the most that are opened within an hour.
        days: a session ends after so many days without a vote.
    """

    in_all: int
    an_hour: int
    days: int


@dataclass(frozen=True)
class Policy:
    """What visitors may do; None is no limit.

    Attributes:
        own_encoders: name encoders by path or hub, upload and remove them.
        server_files: name files of the server's machine.
        changes: delete or repeat runs, clear caches, make items of their own queries, import judgments.
        downloads: download data from its public source; from the host's mirror they always may.
        orders_queue: move or cancel other visitors' work in the queue.
        error_details: read the details of unexpected errors, and paths of the server in other errors.
        raters_names: download raters' nicknames; a facilitator always may, for their session.
        text: characters of a typed text.
        line: characters of a text that rules rewrite, or that is compared with others.
        work: limits of work on a reader's texts, which then has a process of its own.
        runs_planned: runs that a form lists, stored ones too: models times post-processing times datasets.
        steps, dimensions: of a chain of transforms, since an address alone starts the work.
        raters_by_one: nicknames that a visitor may answer under: people take turns at a screen.
        sessions_by_one: sessions of raters per visitor.
        session_room: sessions altogether.
        pages_in_all: open pages.
        uploads_kept: bytes of files in forms, per page and altogether; they stay in memory until the page is closed.
        uploads_at_once: files in transfer.
        queued_kept: places beyond ``queued_in_all`` for visitors who have nothing in the queue, one each.
        queued_by_one, queued_in_all: waiting and running tasks per visitor, and altogether.
    """

    own_encoders: bool
    server_files: bool
    changes: bool
    downloads: bool
    orders_queue: bool
    error_details: bool
    raters_names: bool
    uploads: UploadLimits
    text: int
    line: int
    work: WorkLimits | None = None
    runs_planned: int | None = None
    steps: int | None = None
    dimensions: int | None = None
    raters_by_one: int | None = None
    sessions_by_one: int | None = None
    session_room: SessionRoom | None = None
    pages_in_all: int | None = None
    uploads_kept: tuple[int, int] | None = None
    uploads_at_once: int | None = None
    queued_by_one: int | None = None
    queued_in_all: int | None = None
    queued_kept: int = 0

    def explained(self, error: Exception) -> str:
        """Text of an error for visitors; on a demo it has no paths of the server and no links."""
        if isinstance(error, DiskRefused) and not self.error_details:
            return "nothing can be stored on this server: its disk is full or cannot be written; tell whoever runs it"
        text = str(error)
        return text if self.error_details else without_paths(text).replace("://", ":\N{WORD JOINER}//")

    def check_change(self, what: str) -> None:
        """Raise ``InputError`` unless visitors may change what all share; ``what`` is a clause."""
        if not self.changes:
            raise refused(what)

    def check_planned(self, runs: int) -> None:
        """Raise ``InputError`` for a choice of more runs than are listed here."""
        if self.runs_planned is not None and runs > self.runs_planned:
            raise InputError(
                f"that would be {runs:,} runs",
                expected=f"at most {self.runs_planned:,} at a time on this demo",
                remedy=f"choose fewer, or {OWN_MACHINE}",
            )

    def check_rater(self, there_are: int) -> None:
        """Raise ``InputError`` for one nickname more than allowed."""
        if self.raters_by_one is not None and there_are >= self.raters_by_one:
            raise InputError(
                f"answers under {there_are} nicknames came from here already",
                expected=f"at most {self.raters_by_one} from one visitor of this demo",
                remedy="go on under one of them",
            )

    def check_session(self, there_are: int) -> None:
        """Raise ``InputError`` for one session more than allowed."""
        if self.sessions_by_one is not None and there_are >= self.sessions_by_one:
            raise InputError(
                f"you opened {there_are} sessions already",
                expected=f"at most {self.sessions_by_one} for each visitor of this demo",
                remedy=f"go on with one of them, or {OWN_MACHINE}",
            )

    def check_room(self, wanted: int, mine: int, in_all: int) -> None:
        """Raise ``InputError`` if the queue has no room for ``wanted`` more tasks."""
        if self.queued_by_one is not None and mine + wanted > self.queued_by_one:
            raise InputError(
                f"that would be {mine + wanted} runs of yours at a time",
                expected=f"at most {self.queued_by_one} for each visitor of this demo",
                remedy="wait for some to end, or choose fewer" if mine else "choose fewer",
            )
        is_first = not mine and wanted == 1
        kept = self.queued_kept if is_first else 0
        if self.queued_in_all is not None and in_all + wanted > self.queued_in_all + kept:
            raise InputError(
                f"the queue is full: {in_all} runs of all visitors are in it",
                expected=f"at most {self.queued_in_all}",
                remedy="try again in a few minutes" + ("" if mine or is_first else ", or choose one run"),
            )


LOCAL = Policy(
    own_encoders=True,
    server_files=True,
    changes=True,
    downloads=True,
    orders_queue=True,
    error_details=True,
    raters_names=True,
    uploads=UploadLimits(("csv", "tsv", "jsonl", "json", "parquet", "txt")),
    text=20_000,  # no encoder here reads more than a few thousand
    line=2_000,
)
DEMO = Policy(
    own_encoders=False,
    server_files=False,
    changes=False,
    downloads=False,
    orders_queue=False,
    error_details=False,
    raters_names=False,
    # No Parquet: what a small file unpacks to is only known afterwards.
    uploads=UploadLimits(("csv", "tsv", "jsonl", "txt"), size=2 * 2**20, rows=2_000, columns=50, cell=2_000, files=5),
    text=2_000,
    line=300,
    work=WorkLimits(seconds=15.0, bytes=2 * 2**30),
    runs_planned=2_000,
    steps=4,
    dimensions=1_024,
    raters_by_one=4,
    sessions_by_one=5,
    session_room=SessionRoom(in_all=200, an_hour=40, days=14),
    pages_in_all=250,
    uploads_kept=(16 * 2**20, 256 * 2**20),
    uploads_at_once=20,
    queued_by_one=12,
    queued_in_all=60,
    queued_kept=30,
)


def of(settings: Settings) -> Policy:
    return DEMO if settings.mode is Mode.DEMO else LOCAL


def check_runs(settings: Settings) -> None:
    """Raise ``InputError`` if nothing can be run, since the store is only read."""
    if settings.read_only:
        raise InputError(NO_RUNS, remedy=OWN_MACHINE)


def refused(what: str) -> InputError:
    """The error for what a demo refuses; ``what`` is a clause in the passive."""
    return InputError(f"{what} on a hosted demo", remedy=OWN_MACHINE)


def check_encoder(reference: str, settings: Settings) -> None:
    """``check_model`` for a reference that somebody gives."""
    check_model(ModelRef.parse(reference), settings)


def check_model(model: ModelRef, settings: Settings) -> None:
    """Raise ``InputError`` for an encoder outside of the catalog, on a demo; does not look at what it names.

    Fusions and concatenations of the catalog's encoders are allowed.
    """
    if isinstance(model, ModelsRef):
        for part, chain in model.parts:
            check_model(part, settings)
            check_transform(chain, settings)
        return
    if (":" in model or "backend=" in model) and not of(settings).own_encoders:
        raise InputError(
            f"'{model[:80]}' cannot be used on a hosted demo",
            expected="an encoder of the catalog",
            remedy=f"{OWN_MACHINE} for your own encoders",
        )


def check_transform(chain: str, settings: Settings) -> None:
    """Raise ``InputError`` if a chain ``STEP[:ARG][+STEP...]`` has too many steps or dimensions."""
    may = of(settings)
    steps = chain.split("+")
    if may.steps is not None and len(steps) > may.steps:
        raise InputError(
            f"a chain of {len(steps):,} transforms, which takes long",
            expected=f"at most {may.steps} on this demo",
            remedy=f"take fewer, or {OWN_MACHINE}",
        )
    for step in steps:
        argument = step.partition(":")[2]
        if may.dimensions is not None and argument.isdecimal() and int(argument) > may.dimensions:
            raise InputError(
                f"the transform '{step[:40]}' takes long",
                expected=f"at most {may.dimensions:,} after the colon on this demo",
                remedy=f"take fewer, or {OWN_MACHINE}",
            )


def check_dataset(reference: str, settings: Settings) -> None:
    """Raise ``InputError`` for a file that is not the visitor's upload, on a demo; does not look at what it names."""
    if not reference.startswith(_OWN) or of(settings).server_files:
        return
    if reference.startswith(_FOLDER):
        target, mark, options = reference.removeprefix(_FOLDER).partition("?")
        names_columns = bool(mark) and not _FOLDER_OPTIONS.fullmatch(options)
    else:
        target = reference.removeprefix(_FILE)
        names_columns = "?" in target.removeprefix(str(settings.uploads))  # an upload's are known
    path = Path(os.path.normpath(target))
    if not settings.session or names_columns or settings.uploads not in path.parents:
        raise InputError(
            "files cannot be named on a hosted demo",
            expected="a dataset of the catalog, or a file that you uploaded in this session",
            remedy=f"{OWN_MACHINE} for your own files",
        )


def check_delivery(dataset: str, settings: Settings, *, reader_is_gone: bool) -> None:
    """Check that a file with texts of a dataset ("" for no dataset) may be downloaded now, however old its page is.

    Raises:
        InputError: the reader has left or may not name the dataset, or it was their own and is gone.
    """
    if reader_is_gone:
        raise InputError("this visit has ended, and what was made in it is deleted", remedy="open the page anew")
    check_dataset(dataset, settings)
    is_gone = dataset.startswith(_FILE) and not Path(dataset.removeprefix(_FILE)).is_file()
    is_gone |= dataset.startswith(_FOLDER) and not Path(dataset.removeprefix(_FOLDER).partition("?")[0]).is_dir()
    if is_gone and not of(settings).server_files:  # at home stored runs outlive the file, and are shown
        raise InputError("these texts have been deleted", remedy="upload them again")


def may_read_votes(*, revealed: bool, facilitates: bool) -> bool:
    return revealed or facilitates
