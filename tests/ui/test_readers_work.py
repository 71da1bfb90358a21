"""Work on what readers type and send: bounded boxes, its own process, limits, and an end when nobody waits."""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Iterator

import psutil
import pytest

from blindspot.datasets import uploads
from blindspot.datasets.made import making
from blindspot.datasets.own.columns import UnclearColumns
from blindspot.errors import BlindspotError, Cancelled, InputError, LibraryMissing
from blindspot.jobs import in_child
from blindspot.policy import WorkLimits
from blindspot.settings import ROOT, Settings
from blindspot.types import CancelToken

LIMITS = WorkLimits(seconds=30.0, bytes=2 * 2**30)
CORE = ROOT / "core"


def trees(*, holding: str) -> Iterator[tuple[str, ast.Module]]:
    """Files that hold a pattern, parsed."""
    for path in sorted(CORE.rglob("*.py")):
        if re.search(holding, text := path.read_text("utf-8")):
            yield path.relative_to(CORE).as_posix(), ast.parse(text)


def draws(place: str) -> bool:
    """Whether a file is of the pages, by the folder or file that it is in."""
    return re.search(r"(^ui/|^workspace/|/page(/|\.py))", place) is not None


def test_every_box_for_text_is_bounded() -> None:
    boxes = 0
    for place, tree in trees(holding=r"\.(text_input|text_area|chat_input)\("):
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr in {"text_input", "text_area", "chat_input"}:
                boxes += 1
                assert "max_chars" in {keyword.arg for keyword in call.keywords}, f"{place}:{call.lineno}"
    assert boxes >= 27


# Functions that read what a reader typed; those that read bytes are found by their annotations.
OF_TEXTS = {"propose", "of_text", "guessed_folder", "read_folder", "parts", "readings", "preselected", "contents"}
OF_MODELS = {"free_text.place", "what_if.what_if", "asked.explain"}
NOT_OF_READERS = {
    "workspace/models/adding.py": "a demo takes no models",
    "studies/judgement/page/exchange.py": "a demo imports no votes",
    "workspace/data/make_minimal.py tabulate": "rows that rules made, in a callback",
    "workspace/data/make_minimal.py contents": "the same",
    "workspace/data/make_minimal.py add": "the same",
    "workspace/data/upload.py add": "read within the limits before: the button is drawn with what was read",
    "workspace/data/upload.py add_folder": "the same",
    "studies/judgement/page/form.py check": "of names, no texts",
    "studies/judgement/page/training.py zipped": "writes what was computed",
    "studies/lab/page/progress.py readings": "of the lab's own table",
    "studies/size/page.py read": "of a file of the cache",
    "workspace/data/upload_folder.py folder_of": "checks names and sizes",
    "workspace/data/upload_three.py folder_of_files": "checks names and sizes",
}


def of_bytes() -> set[str]:
    """Functions of what pages import that take bytes, or what a browser sent."""
    found = set()
    for place, tree in trees(holding=r"def [a-z].*(bytes|SentFolder)|\bdata: bytes"):
        if draws(place) or not place.startswith(("datasets/", "studies/", "files/", "runs/")):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                said = [ast.unparse(one.annotation) for one in node.args.args if one.annotation is not None]
                if any(re.search(r"\bbytes\b|SentFolder", annotation) for annotation in said):
                    found.add(node.name)
    return found


@pytest.mark.heavy
def test_pages_leave_readers_texts_to_their_process() -> None:
    """What reads them is handed to ``for_reader``, never called by a page; what asks a model has a turn."""
    reading, outside, within = of_bytes() | OF_TEXTS, [], 0
    assert {"tabulate", "parse", "of_file", "take_in"} <= reading
    for place, tree in trees(holding=rf"\b({'|'.join(reading)})\(|for_reader|{'|'.join(OF_MODELS)}"):
        if not draws(place) or place == "ui/turns.py":
            continue
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        read_from = re.compile(r"blindspot\.(datasets|studies|files|runs)")
        imported = {
            alias.asname or alias.name for node in imports if read_from.match(node.module or "") for alias in node.names
        } | {"table", "OWN_KINDS"}
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func)
            within += name == "for_reader"
            last = name.rpartition(".")[2]
            is_excused = place in NOT_OF_READERS or f"{place} {last}" in NOT_OF_READERS
            if last in reading and re.split(r"[.\[]", name)[0] in imported and not is_excused:
                outside.append(f"{place}:{call.lineno} {name}")
        turns = [node for node in ast.walk(tree) if isinstance(node, ast.With) and "turn()" in ast.unparse(node)]
        asked = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in OF_MODELS]
        inside = {id(node) for block in turns for node in ast.walk(block)}
        outside += [f"{place}:{node.lineno} {ast.unparse(node.func)}" for node in asked if id(node) not in inside]
        within += len(asked)
    assert outside == [], "\n".join(outside)
    assert within >= 12


# --- the process


@pytest.fixture
def children() -> Iterator[list[psutil.Process]]:
    """The children that there are now and at the end none."""
    before = {child.pid for child in psutil.Process().children()}
    yield []
    with in_child._LOCK:
        kept = list(in_child._IDLE)
        in_child._IDLE.clear()
    for child in kept:
        child.end()
    assert {child.pid for child in psutil.Process().children()} <= before


@pytest.mark.process
def test_a_child_answers_as_the_function_does(children: list[psutil.Process], settings: Settings) -> None:
    texts, cancel = ("Anna paid 5 dollars on Monday.", "He did not see the red house."), CancelToken()
    assert repr(in_child.call(making.propose, (texts, (), 1), LIMITS, cancel)) == repr(making.propose(texts, (), 1))
    (first,) = [child.pid for child in in_child_processes()]
    table = in_child.call(uploads.tabulate, ("a.csv", b"query,mate\na,b\nc,d\n", True, settings), LIMITS, cancel)
    assert table == uploads.tabulate("a.csv", b"query,mate\na,b\nc,d\n", True, settings)
    with pytest.raises(InputError, match="no rule can change") as refused:
        in_child.call(making.propose, (("…",), (), 1), LIMITS, cancel)
    assert type(refused.value) is InputError
    with pytest.raises(RuntimeError, match="the log has"):
        in_child.call(os.listdir, ("/nowhere",), LIMITS, cancel)
    assert [child.pid for child in in_child_processes()] == [first], "it is kept for the next call"


@pytest.mark.process
def test_a_child_ends_with_its_time_its_memory_or_its_reader(children: list[psutil.Process]) -> None:
    with pytest.raises(InputError, match="longer than 0 s"):
        in_child.call(time.sleep, (60,), WorkLimits(0.1, 2**30), CancelToken())
    with pytest.raises(InputError, match="more memory"):
        in_child.call(bytes, (2**31,), WorkLimits(30.0, 2**30), CancelToken())

    class Leaves(CancelToken):
        looks = 0

        def check(self) -> None:
            self.looks += 1
            if self.looks > 3:
                raise Cancelled

    with pytest.raises(Cancelled):
        in_child.call(time.sleep, (60,), LIMITS, Leaves())
    assert in_child_processes() == []


def in_child_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "blindspot.jobs.in_child" in child.cmdline()]


def test_errors_cross_processes_with_their_class() -> None:
    import pickle

    for error in (
        InputError("a", expected="b", remedy="c"),
        BlindspotError("x"),
        Cancelled(),
        LibraryMissing("who", "torch", "encoders"),
        UnclearColumns("unclear"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_errors_are_told_by_one_function() -> None:
    """What an error says may name folders of the server: pages let ``explained`` say it."""
    told = re.compile(r"str\(error\)|\{error\}|\{error!")
    texts = {path.relative_to(CORE).as_posix(): path.read_text("utf-8") for path in CORE.rglob("*.py")}
    found = [f"{place}: {line}" for place, text in texts.items() if draws(place) for line in told.findall(text)]
    assert sorted(found) == ["ui/boundary.py: str(error)", "ui/widgets/work.py: {error}"], (
        "a crash's, a job's own words"
    )
