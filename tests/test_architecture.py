"""The layers of the package, ``core/blindspot/``: each imports only what is above it in ``LAYERS``, or its own layer.

All is read from the files, imports inside functions included; a new file in an existing folder needs no edit here.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from blindspot.diagnostic import MODULES
from blindspot.settings import ROOT
from tests.support import sources

# The first is the vocabulary of the whole project; what implements "diagnostic", a contract, is found by name.
LAYERS = (
    "errors collector settings policy references names types texts / files numerics / datasets / "
    "encoders transforms variants / figures / "
    "diagnostic / store / runs / jobs / doctor / ui / server / diagnostics / space studies workspace / api / "
    "testing / benchmarks / cli / documentation"
).split(" / ")
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names.split()}
# A diagnostic knows no other, but the view *bands* shows EvalRank's rows by the frequency of their words, and Probing
# is Transfer on other tasks.
BETWEEN_DIAGNOSTICS = {("frequency", "evalrank"), ("probing", "transfer")}
# Library: what a module's path below core contains, one of these, where it may be imported.
HOMES = {
    "streamlit": "ui page workspace server serve",
    "plotly": "figures flow_figure",
    "duckdb": "store files",
    "ray": "cluster",
    "submitit": "cluster",
    "typer": "cli documentation",
    "pytest": "testing",
}
# Libraries that take seconds to import, or memory that a page has no use for.
HEAVY = ("torch", "sentence_transformers", "transformers", "umap", "sklearn", "numba", "zuko")


class Import(NamedTuple):
    importer: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer.replace('.', '/')}.py:{self.line} imports {self.target}"


def named(paths: Iterable[Path]) -> dict[str, Path]:
    files = {path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path for path in paths}
    files = {name.removeprefix("core."): path for name, path in files.items()}
    return {name.removesuffix(".__init__"): path for name, path in files.items()}


@cache
def modules() -> dict[str, Path]:
    """Every module of the app by its full name: ``app``, ``pages.*``, ``blindspot`` and what is below."""
    return named(sources.product())


@cache
def imports() -> tuple[Import, ...]:
    files = modules()
    return tuple(Import(name, target, line) for name, path in files.items() for target, line in _targets(path, files))


# A diagnostic's methods are called with what is stored, and the store needs the columns that diagnostics declare.
NAMES_TYPES_BELOW = ROOT / "core" / "blindspot" / "diagnostic.py"


def _targets(path: Path, files: dict[str, Path]) -> Iterator[tuple[str, int]]:
    types = [
        node
        for block in (sources.tree(path).body if path == NAMES_TYPES_BELOW else ())
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
    ]
    for node in _statements(sources.tree(path)):
        if node in types:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            wholes = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from ((whole if whole in files else str(node.module), node.lineno) for whole in wholes)


def _statements(block: ast.AST) -> Iterator[ast.stmt]:
    """Those in a block, at any depth: expressions, most of a file's nodes, contain none."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(block, field, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from _statements(node)


def level(module: str) -> int:
    """The layer's place, 0 at the top; app.py, pages and ``python -m blindspot`` stand below all."""
    parts = module.split(".")
    if module == "blindspot":
        return 0  # the version; what else it has it imports when asked for
    if parts[0] == "benchmarks":  # beside the package
        return LEVEL["benchmarks"]
    return len(LAYERS) if parts[0] != "blindspot" or parts[1] == "__main__" else LEVEL[parts[1]]


def pointing_up() -> list[str]:
    ours = modules()
    found = [one for one in imports() if one.target in ours and one.importer != "blindspot"]
    return [str(one) for one in found if level(one.target) > level(one.importer)]


def between_diagnostics() -> set[tuple[str, str]]:
    pairs = [(one.importer.split("."), one.target.split(".")) for one in imports()]
    inside = [(a, b) for a, b in pairs if a[:2] == b[:2] == ["blindspot", "diagnostics"] and min(len(a), len(b)) > 2]
    return {(a[2], b[2]) for a, b in inside if a[2] != b[2]}


def out_of_place() -> list[str]:
    found = [(one, HOMES.get(one.target.partition(".")[0], "")) for one in imports()]
    homeless = [one for one, homes in found if homes and not set(homes.split()) & set(one.importer.split("."))]
    return [str(one) for one in homeless if one.importer.startswith("blindspot.")]


MAYBE_OF_TESTS = re.compile(r"^\s*(?:from|import) tests\..*\btest_", re.MULTILINE)


def of_test_modules() -> list[str]:
    """What tests share is in tests/support or a conftest.py."""
    files = named((ROOT / "tests").rglob("*.py"))
    suspects = {name: path for name, path in files.items() if MAYBE_OF_TESTS.search(path.read_text("utf-8"))}
    found = [Import(name, *target) for name, path in suspects.items() for target in _targets(path, files)]
    return [str(one) for one in found if one.target.startswith("tests.") and ".test_" in one.target]


@pytest.fixture(scope="module")
def _parsed() -> None:
    """All files, parsed once for the tests of this module that read their trees."""
    imports()


@pytest.mark.usefixtures("_parsed")
def test_imports_point_down_and_stay_where_they_belong() -> None:
    assert pointing_up() == []
    assert out_of_place() == []
    assert of_test_modules() == []


@pytest.mark.usefixtures("_parsed")
def test_diagnostics_do_not_know_each_other() -> None:
    assert between_diagnostics() == BETWEEN_DIAGNOSTICS


@pytest.mark.usefixtures("_parsed")
def test_no_module_imports_itself_by_a_detour() -> None:
    ours, graph = modules(), TopologicalSorter[str]()
    entries = {f"blindspot.diagnostics.{module}" for module in MODULES}
    for one in imports():
        if one.importer in entries and one.target.startswith(f"{one.importer.rpartition('.')[0]}."):
            continue  # what is made of a diagnostic's runs: its methods import it when they are called
        if one.target in ours and one.importer not in {one.target, "blindspot"}:  # its names are imported when used
            graph.add(one.importer, one.target)
    graph.prepare()  # raises CycleError


# Where somebody names a chain: arguments, an address, a file, a page's field; and ``Variant.chain`` for what is stored.
PARSING_CHAINS = {
    "blindspot.variants": 1,
    "blindspot.encoders.catalog": 1,
    "blindspot.runs.sweeps": 1,
    "blindspot.studies.lab.page.form": 2,
    "blindspot.diagnostics.evalrank.page.what_if": 1,
    "blindspot.ui.widgets.addressed": 1,
}
# What people type, what visitors may use, what the store and the cache have as text, and what a name is made of.
PARSING_MODELS = {
    "blindspot.variants": 1,
    "blindspot.names": 1,
    "blindspot.policy": 1,
    "blindspot.encoders.catalog": 1,
    "blindspot.encoders.named": 1,
    "blindspot.runs.encoders_here": 1,
}

# Options of commands, an upload's path, and a user's file, of which the entry says how it is spelled.
PARSING_DATASETS = {"blindspot.cli.options": 1, "blindspot.workspace.own_datasets": 1, "blindspot.datasets.catalog": 1}


def test_references_are_read_at_the_edges_and_a_run_has_values() -> None:
    texts = {name: sources.text(path) for name, path in modules().items()}
    product = {name: text for name, text in texts.items() if name.split(".")[0] != "benchmarks"}
    for parse, edges in (
        ("TransformChain.parse", PARSING_CHAINS),
        ("ModelRef.parse", PARSING_MODELS),
        ("DatasetRef.parse", PARSING_DATASETS),
    ):
        counts = {name: text.count(parse) for name, text in product.items() if name != "blindspot.references"}
        assert {name: count for name, count in counts.items() if count} == edges
    for look_up, most in (
        ("find_dataset(", 0),
        ("resolve_encoder(", 13),
    ):  # what somebody typed; else values are passed
        looked_up = {name: text.count(look_up) for name, text in product.items() if not name.endswith(".catalog")}
        assert sum(looked_up.values()) <= most, {name: count for name, count in looked_up.items() if count}
    for stage in ("planning", "pipeline"):
        assert ".parse(" not in texts[f"blindspot.runs.{stage}"]
    assert texts["blindspot.runs.pipeline"].count("\n") < 400
    for syntax in ("bm25", "run:", "fuse:"):
        assert syntax not in texts["blindspot.names"].lower()


MAKING_FRAMES = 31  # places; it may only fall


@pytest.mark.usefixtures("_parsed")
def test_pages_draw_what_views_compute() -> None:
    """``tables.draw`` takes records, so a page needs no frames; of ``numerics`` it needs types and ``written``."""
    texts = {name: sources.text(path) for name, path in modules().items()}
    drawing = {
        name for name, text in texts.items() if "import streamlit" in text and name != "blindspot.ui.widgets.tables"
    }
    computing = [
        f"{name}: {alias.name}"
        for name in drawing
        for node in ast.walk(sources.tree(modules()[name]))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("blindspot.numerics")
        for alias in node.names
        if not str(node.module).endswith(".written") and alias.name[0].islower()
    ]
    assert computing == []
    assert sum(texts[name].count("pd.DataFrame(") for name in drawing) <= MAKING_FRAMES


P_VALUES = re.compile(
    r"(?<!def )\b(p_values|mcnemar\w*|p_of_change|sign_flip_p_values|swap_p_value|mean_zero_p_value|holm)\("
)
# Findings test a run against chance, words or the best baseline, and correct for all findings. Phrases of chunking have
# a ``Statistic`` of their own.
TESTING_THEMSELVES = re.compile(r"\.(evidence|words_alone|findings\.baselines|chunking\.scoring)$")


def test_whether_one_model_is_better_is_decided_in_one_module() -> None:
    """Others hand it item scores (``numerics.statistics.compare``)."""
    others = {
        name: path
        for name, path in modules().items()
        if not name.startswith("blindspot.numerics.statistics.") and not TESTING_THEMSELVES.search(name)
    }
    assert [name for name, path in others.items() if P_VALUES.search(sources.text(path))] == []


# Calls that say from numbers what is independent: of texts, as ``same_texts`` numbers them, or of what is no text or
# more than equal ones (near-duplicate queries, triplets, simulated items). No number rises.
FROM_NUMBERS = {
    "benchmarks.bootstrap": 1,
    "diagnostics.frequency.corpus_ranks": 1,
    "diagnostics.heros.dependence": 3,
    "diagnostics.retrieval.long_texts.definition": 1,
    "diagnostics.retrieval.long_texts.evidence": 1,
    "diagnostics.retrieval.outcomes": 1,
    "diagnostics.similarity.pairs": 1,
    "diagnostics.similarity.view": 2,
    "diagnostics.words.item_scores": 1,
    "numerics.thresholds.curves": 2,
    "studies.evidence.beside": 1,
    "studies.gate.audit": 1,
    "studies.languages.scores": 1,
    "studies.repair.measuring": 4,
    "studies.setup_check.demo": 1,
}
NUMBERING_TEXTS = {
    "datasets.kinds.base": 1,
    "diagnostics.heros.words_alone": 1,
    "diagnostics.similarity.pairs": 1,
    "diagnostics.words.cases": 1,
    "diagnostics.words.item_scores": 1,
    "store.repository": 1,
    "studies.judgments.tallies": 1,
    "studies.threshold.pairs": 1,
}


def test_one_function_says_what_is_independent() -> None:
    """Else it is ``Dependence.of_texts``, by which texts that differ by case and spaces are one."""
    texts = {name.removeprefix("blindspot."): sources.text(path) for name, path in modules().items()}
    others = {name: text for name, text in texts.items() if not name.startswith("numerics.statistics.")}
    grouping = Counter(
        {name: len(re.findall(r"\bDependence\.of(?:_groups)?\(", text)) for name, text in others.items()}
    )
    numbering = Counter(
        {
            name: len(re.findall(r"(?<![\w.])numbered\(", text))
            for name, text in others.items()
            if re.search(r"^from blindspot\.texts import .*\bnumbered\b", text, re.MULTILINE)
        }
    )
    assert grouping - Counter(FROM_NUMBERS) == Counter()
    assert numbering - Counter(NUMBERING_TEXTS) == Counter()


# What imports a module of ours that a string names: the registries of diagnostics and of commands, what is loaded late.
LOADING = re.compile(r"import_module\((?:f?\"blindspot|self)")
IMPORTING_BY_NAME = {"blindspot", "blindspot.cli.on_call", "blindspot.diagnostic", "blindspot.server.routes"}


def test_one_source_root_one_schema_one_way_to_a_page_and_functions_are_no_strings() -> None:
    assert not [path for path in (*ROOT.iterdir(), *(ROOT / "core").rglob("*")) if path.is_symlink()]
    assert [path.name for path in (ROOT / "core/blindspot/store/migrations").iterdir()] == ["001_baseline.sql"]
    texts = {name: sources.text(path) for name, path in modules().items()}
    assert {name for name, text in texts.items() if LOADING.search(text)} == IMPORTING_BY_NAME
    links = re.compile(r"st\.(?:page_link|switch_page)\(|query_params=")
    assert {name for name, text in texts.items() if links.search(text)} == {"blindspot.ui.navigation"}
    drawn = {name for name, text in texts.items() if "draw_link" in text}
    assert drawn == {"blindspot.ui.navigation", "blindspot.ui.page_state"}, "links are made by page_state.link"


LOOK = """
import importlib, json, sys
for module in json.loads(sys.argv[1]):
    importlib.import_module(module)
print(json.dumps(sorted(set(json.loads(sys.argv[2])) & set(sys.modules))))
"""


@pytest.mark.process
def test_what_pages_import_is_light() -> None:
    """In a process of its own: after importing all pages, nothing heavy is loaded."""
    pages = [name for name in modules() if name.startswith("blindspot.") and "page" in name.split(".")]
    command = [
        sys.executable,
        "-c",
        LOOK,
        json.dumps([*pages, "blindspot.ui", "blindspot.runs.pipeline"]),
        json.dumps(HEAVY),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
