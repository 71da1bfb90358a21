"""The architecture of DESIGN 2: imports point one way, and what pages import is light.

Everything is read from the files that exist, with ``ast``, imports inside functions included. A new module
directly under ``core`` needs a line in ``MAY_IMPORT``; a new module of an existing package needs nothing.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from core.diagnostics.catalog import DIAGNOSTICS

ROOT = Path(__file__).resolve().parent.parent

# What everything may speak of: nouns, errors, and the declarations that components fill in.
NOUNS = "core core.errors core.types core.relations core.labelled core.texts core.diagnostics.base core.encoders.base"
WORLD = f"{NOUNS} core.settings core.policy core.files core.in_use"  # for what reads or writes anything
STORE = "core.store.records core.store.repository"
CATALOGS = "core.datasets.catalog core.diagnostics.catalog core.encoders.catalog"
BELOW_PIPELINE = f"{WORLD} core.encoders core.transforms core.datasets core.diagnostics core.store"

LOGGED = "core.at_work core.joblog"  # for a command that does a piece of work itself

# Per layer, the layers and modules that it may import beside itself. The longest prefix of a module's name decides.
MAY_IMPORT: Mapping[str, str] = {
    "core": "",
    "core.errors": "",
    "core.types": "core.errors",
    "core.relations": "core.types",
    "core.labelled": "core.texts core.types",
    "core.texts": "core.errors core.types",
    "core.settings": "core core.errors core.types",
    "core.policy": "core.errors core.settings",
    "core.files": "core.errors core.types",
    "core.in_use": "",
    "core.joblog": WORLD,
    "core.cache_limit": f"{WORLD} core.datasets",
    "core.at_work": f"{WORLD} core.joblog core.cache_limit",
    "core.parquet_batches": "core.errors",
    "core.spreadsheets": "",
    "core.numerics": NOUNS,
    "core.transform_steps": f"{NOUNS} core.numerics",
    "core.transforms": f"{NOUNS} core.transform_steps",
    "core.frequency": NOUNS,
    "core.frequency_sources": f"{NOUNS} core.frequency",
    "core.pair_features": NOUNS,
    "core.lexical_overlap": NOUNS,
    "core.map_child": f"{WORLD} core.numerics.similarity",
    "core.map_worker": f"{NOUNS} core.numerics",
    "core.maps": f"{WORLD} core.datasets core.numerics core.spaces core.map_child",
    "core.map_colours": f"{WORLD} core.frequency core.numerics core.pair_sources core.diagnostics core.evalrank_rows "
    f"{STORE}",
    "core.cli_map": f"{BELOW_PIPELINE} {LOGGED} core.cli_options core.cli_output core.maps core.numerics core.pipeline "
    "core.spaces core.spreadsheets",
    "core.spaces": f"{WORLD} core.flows core.encoders core.transforms",
    "core.text_search": NOUNS,
    "core.free_text": f"{WORLD} core.flows core.encoders core.transforms core.spaces",
    "core.neighbours": f"{NOUNS} core.numerics core.spaces",
    "core.hubs": f"{WORLD} core.flows core.encoders.cache core.transforms core.numerics core.explore {STORE}",
    "core.hubness": f"{WORLD} core.datasets core.numerics core.spaces",
    "core.reasons": f"{NOUNS} core.hubs core.frequency core.pair_features",
    "core.pair_browsing": f"{NOUNS} core.spreadsheets core.explore core.frequency core.pair_features",
    "core.heros_browsing": f"{NOUNS} core.numerics",
    "core.explore_heros": f"{WORLD} core.flows core.encoders.cache core.transforms core.numerics core.explore {STORE}",
    "core.pair_sources": NOUNS,
    "core.evalrank_rows": f"{NOUNS} core.numerics core.store.repository",
    "core.evalrank_trust": f"{WORLD} core.flows core.encoders.cache core.explore core.transforms core.numerics "
    f"core.diagnostics {STORE} core.evalrank_rows",
    "core.training_overlap": f"{WORLD} core.datasets",
    "core.pair_kinds": f"{NOUNS} core.numerics core.frequency core.evalrank_rows core.pair_features core.pair_sources",
    "core.pair_bands": f"{NOUNS} core.pair_kinds",
    "core.judgement": f"{NOUNS} core.numerics core.parquet_batches core.spreadsheets",
    "core.judgement.making": f"{BELOW_PIPELINE} core.judgement core.pipeline core.spaces "
    "core.frequency_sources core.numerics",
    "core.judgement.inventories": f"{WORLD} core.judgement core.datasets",
    "core.judgement.automatic": f"{WORLD} core.judgement core.datasets core.spaces core.numerics",
    "core.judgement.bundles": f"{WORLD} core.judgement core.store.judgements",
    "core.transfer": f"{WORLD} core.numerics core.datasets.labelled_sets {STORE}",
    "core.scored": f"{WORLD} core.numerics core.store.repository",
    "core.scored.learned": f"{WORLD} core.scored core.numerics core.datasets core.spaces core.transforms",
    "core.evidence": f"{WORLD} {CATALOGS} {STORE} core.numerics core.diagnostics core.encoders.references "
    "core.orderings core.judgement core.store.judgements",
    "core.norms": f"{NOUNS} core.numerics",
    "core.toolkit": f"{NOUNS} core.numerics core.transform_steps core.transforms",
    "core.diagnostics": f"{NOUNS} core.numerics",
    "core.datasets": f"{WORLD} core.parquet_batches",
    "core.encoders": f"{WORLD} core.numerics.principal",
    "core.store": f"{WORLD} core.encoders.cache core.judgement.types core.judgement.raters",
    "core.coverage": NOUNS,
    "core.flows": f"{NOUNS} core.files core.in_use core.numerics",
    "core.fitting": f"{BELOW_PIPELINE} core.manifests",
    "core.plans": f"{BELOW_PIPELINE} core.fitting",
    "core.pipeline": f"{BELOW_PIPELINE} core.at_work core.joblog "
    "core.flows core.coverage core.fitting core.manifests core.plans core.toolkit "
    "core.numerics.similarity core.numerics.threads",
    "core.explore": f"{WORLD} core.flows core.encoders.cache core.transforms core.numerics {STORE}",
    "core.evalrank_uncertainty": f"{NOUNS} core.diagnostics core.numerics core.explore",
    "core.what_if": f"{WORLD} core.flows core.encoders.cache core.transforms core.diagnostics core.numerics "
    f"core.explore {STORE}",
    "core.reference": f"{NOUNS} core.settings core.numerics.similarity",
    "core.reference_heros": f"{NOUNS} core.settings",
    "core.reference_evidence": f"{NOUNS} core.settings",
    "core.word_benchmarks": f"{NOUNS} core.settings",
    "core.resemblance": f"{NOUNS} core.numerics.stats core.reference_heros core.diagnostics.catalog {STORE}",
    "core.orderings": f"{NOUNS} core.diagnostics core.numerics",
    "core.comparison": f"{NOUNS} core.diagnostics core.numerics {STORE} core.orderings",
    "core.chain_profiles": f"{NOUNS} core.transforms core.orderings core.store.records",
    "core.encoder_uploads": f"{WORLD} core.encoders.catalog",
    "core.encoder_library": f"{WORLD} core.encoders {STORE} core.encoder_uploads",
    "core.dataset_library": f"{WORLD} core.training_overlap core.datasets core.encoders.cache {STORE} "
    "core.store.purging",
    "core.sweeps": f"{BELOW_PIPELINE} core.pipeline",
    "core.estimates": f"{BELOW_PIPELINE} core.pipeline",
    "core.lab": f"{BELOW_PIPELINE} core.pipeline core.sweeps core.numerics",
    "core.manifests": BELOW_PIPELINE,
    "core.gate": "",
    "core.hosting": "core.settings core.policy core.gate",
    "core.visitors": f"{WORLD} core.jobs core.store.repository",
    "core.jobs": f"{BELOW_PIPELINE} core.at_work core.estimates core.joblog core.pipeline "
    "core.hubness core.maps core.judgement core.scored.learned",
    "core.benchmarks": f"{BELOW_PIPELINE} core.pipeline core.numerics core.sweeps core.evalrank_uncertainty "
    "core.ui.rerun_client",
    "core.doctor": f"{BELOW_PIPELINE} core.cache_limit core.pipeline",
    "core.cli_output": f"{NOUNS} {STORE}",
    "core.cli_compare": f"{WORLD} {STORE} core.cli_kinds core.cli_output core.comparison core.explore "
    "core.numerics.statistics core.numerics.stats core.evalrank_uncertainty core.diagnostics.catalog core.transfer",
    "core.cli_kinds": f"{BELOW_PIPELINE} core.cli_output core.explore core.frequency core.evalrank_rows "
    "core.pair_kinds core.pair_sources",
    "core.cli_orderings": f"{WORLD} core.cli_output core.cli_kinds core.orderings core.store.repository",
    "core.cli_hubs": f"{BELOW_PIPELINE} {LOGGED} core.pipeline core.cli_options core.cli_output core.hubness "
    "core.spaces core.numerics",
    "core.cli_trust": f"{BELOW_PIPELINE} core.cli_output core.cli_kinds core.explore core.evalrank_rows "
    "core.evalrank_trust core.training_overlap",
    "core.cli_data": f"{WORLD} core.cli_options core.cli_output core.datasets core.encoders.word_pieces "
    "core.lexical_overlap",
    "core.cli_resembles": f"{WORLD} {STORE} core.cli_output core.reference_heros core.resemblance",
    "core.cli_sentences": f"{WORLD} {STORE} {CATALOGS} core.cli_output core.comparison core.heros_browsing",
    "core.cli_neighbours": f"{BELOW_PIPELINE} core.pipeline core.cli_options core.cli_output core.neighbours "
    "core.free_text core.spaces core.numerics",
    "core.cli_doctor": f"{WORLD} core.doctor core.cli_output core.store.repository",
    "core.cli_evidence": f"{WORLD} core.cli_options core.cli_output core.evidence core.numerics core.store.repository",
    "core.cli_options": f"{NOUNS} core.datasets.own_reference core.transforms",
    "core.cli_sweep": f"{BELOW_PIPELINE} core.pipeline core.estimates core.sweeps core.manifests core.cli_options "
    "core.cli_output",
    "core.cli_judge_results": f"{BELOW_PIPELINE} core.pipeline core.cli_options core.cli_output core.judgement "
    "core.spaces core.numerics",
    "core.cli_judge": f"{BELOW_PIPELINE} {LOGGED} core.pipeline core.cli_options core.cli_output core.judgement "
    "core.spaces core.numerics core.cli_judge_make core.cli_judge_results core.cli_judge_exchange",
    "core.cli_judge_make": f"{BELOW_PIPELINE} {LOGGED} core.cli_options core.cli_output core.judgement core.numerics",
    "core.cli_judge_exchange": f"{WORLD} core.cli_options core.cli_output core.judgement core.store.judgements",
    "core.cli": f"{BELOW_PIPELINE} {LOGGED} core.pipeline core.spreadsheets core.benchmarks core.cli_options "
    "core.dataset_library core.training_overlap core.manifests core.cli_output core.cli_compare "
    "core.cli_doctor core.cli_evidence core.cli_kinds core.cli_resembles core.cli_sweep core.cli_trust "
    "core.cli_sentences core.cli_orderings core.cli_data core.cli_neighbours core.cli_map "
    "core.cli_hubs core.cli_judge",
    "core.__main__": "core.cli",
    "core.figures": f"{NOUNS} core.numerics.hubness core.numerics.association core.judgement",
    "core.ui": f"{WORLD} {CATALOGS} core.joblog core.cache_limit "
    f"core.figures {STORE} core.jobs core.visitors core.explore core.pipeline "
    "core.evalrank_uncertainty core.numerics.resampling core.numerics.statistics core.what_if "
    "core.reference core.hubs core.reasons "
    "core.sweeps core.estimates core.manifests core.comparison core.frequency core.pair_features core.pair_browsing "
    "core.orderings core.chain_profiles core.numerics.density "
    "core.evalrank_rows core.evalrank_trust core.pair_kinds core.pair_sources core.training_overlap "
    "core.dataset_library core.encoder_library core.encoder_uploads core.reference_heros core.resemblance "
    "core.word_benchmarks "
    "core.heros_browsing core.explore_heros core.lexical_overlap core.encoders.word_pieces "
    "core.transforms core.flows.store core.datasets core.numerics.similarity core.spaces core.neighbours "
    "core.free_text core.text_search core.numerics.overlap core.numerics.approximate core.maps "
    "core.map_colours core.numerics core.frequency_sources core.numerics.frequency_classes "
    "core.numerics.corpus_ranks core.numerics.nearest core.diagnostics.frequency core.hubness "
    "core.numerics.hubness core.norms core.numerics.association core.pair_bands core.judgement core.store.judgements "
    "core.lab core.scored core.diagnostics.similarity core.transfer core.diagnostics.transfer "
    "core.evidence core.reference_evidence core.store.digests",
    "pages": f"{NOUNS} {CATALOGS} core.judgement.types core.ui core.figures {STORE} core.jobs core.explore",
    "core.serving": "core.settings core.doctor core.store.repository core.ui.resources",
    "app": "core.ui core.hosting core.serving",
}

# Libraries that only some layers may import.
ONLY_IN = {
    "streamlit": ("app", "pages", "core.ui", "core.gate"),
    "plotly": ("pages", "core.ui", "core.figures"),
    "duckdb": ("core.store",),
    "typer": (
        "core.cli",
        "core.cli_compare",
        "core.cli_data",
        "core.cli_evidence",
        "core.cli_hubs",
        "core.cli_judge",
        "core.cli_judge_make",
        "core.cli_judge_results",
        "core.cli_judge_exchange",
        "core.cli_kinds",
        "core.cli_neighbours",
        "core.cli_map",
        "core.cli_options",
        "core.cli_resembles",
        "core.cli_sentences",
        "core.cli_sweep",
        "core.cli_trust",
    ),
}

# Libraries that take seconds to import, or memory that a page has no use for.
HEAVY = ("torch", "sentence_transformers", "transformers", "umap", "sklearn", "numba", "zuko")


@dataclass(frozen=True)
class Import:
    """Module ``importer`` imports ``target``: a module's full name where it is one of ours."""

    importer: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer.replace('.', '/')}.py, line {self.line}: imports {self.target}"


def module_files(root: Path) -> dict[str, Path]:
    """Every module of the app by its full name: ``app``, ``pages.*``, ``core`` and what is below."""
    files = {"app": root / "app.py"} if (root / "app.py").is_file() else {}
    for top in ("core", "pages"):
        for path in sorted((root / top).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imports(root: Path) -> list[Import]:
    """Every import statement of every module."""
    files = module_files(root)
    return [
        Import(importer, target, line)
        for importer, path in files.items()
        for target, line in _imports_of_file(importer, path, files)
    ]


def _imports_of_file(importer: str, path: Path, files: Mapping[str, Path]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                package = importer.split(".") if path.name == "__init__.py" else importer.split(".")[:-1]
                base = package[: len(package) - node.level + 1]
                source = ".".join([*base, source] if source else base)
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                yield (submodule if submodule in files else source), node.lineno


def layer(module: str) -> str | None:
    """The entry of ``MAY_IMPORT`` that a module belongs to; ``core`` stands for itself only."""
    names = [name for name in MAY_IMPORT if name != "core" and (module == name or module.startswith(f"{name}."))]
    return max(names, key=len) if names else ("core" if module == "core" else None)


def is_within(module: str, prefix: str) -> bool:
    return module == prefix or (prefix != "core" and module.startswith(f"{prefix}."))


def wrong_directions(root: Path) -> list[str]:
    """Imports among our own modules that no rule allows."""
    files = module_files(root)
    out = []
    for found in imports(root):
        if found.target not in files:
            continue
        own = layer(found.importer)
        allowed = [*MAY_IMPORT[own].split(), own] if own else []
        if not any(is_within(found.target, prefix) for prefix in allowed):
            out.append(str(found))
    return out


def libraries_out_of_place(root: Path) -> list[str]:
    out = []
    for found in imports(root):
        homes = ONLY_IN.get(found.target.partition(".")[0])
        if homes is not None and not any(is_within(found.importer, home) for home in homes):
            out.append(str(found))
    return out


def cycles(root: Path) -> list[str]:
    """Modules that import each other in a circle; empty when there are none."""
    files = module_files(root)
    graph: dict[str, set[str]] = {name: set() for name in files}
    for found in imports(root):
        if found.target in files and found.target != found.importer:
            graph[found.importer].add(found.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


# --- the rules, on the app ---


def test_every_module_belongs_to_a_layer() -> None:
    files = module_files(ROOT)
    assert len(files) > 20
    assert [name for name in files if layer(name) is None] == []


def test_imports_point_one_way() -> None:
    assert wrong_directions(ROOT) == []


def test_no_module_imports_itself_by_a_detour() -> None:
    assert cycles(ROOT) == []


def test_libraries_stay_where_they_belong() -> None:
    """Only app.py, pages/ and core/ui import streamlit; diagnostics (and all else below the UI) never plotly."""
    assert libraries_out_of_place(ROOT) == []


def test_pages_and_app_never_import_a_heavy_library() -> None:
    own = [found for found in imports(ROOT) if is_within(found.importer, "pages") or found.importer == "app"]
    assert [str(found) for found in own if found.target.partition(".")[0] in HEAVY] == []


def test_a_catalog_names_its_figures_by_dotted_path() -> None:
    drawn = [entry for entry in DIAGNOSTICS.values() if entry.figures]  # "" while a diagnostic has no page
    assert "evalrank" in [entry.id for entry in drawn]
    for entry in drawn:
        assert entry.figures.startswith("core.figures.")
        assert importlib.util.find_spec(entry.figures) is not None, entry.figures


IMPORT_AND_LOOK = """
import importlib, json, sys
guilty = {}
for module in json.loads(sys.argv[1]):
    before = set(sys.modules)
    importlib.import_module(module)
    heavy = sorted(set(json.loads(sys.argv[2])) & (set(sys.modules) - before))
    if heavy:
        guilty[module] = heavy
print(json.dumps(guilty))
"""


def test_what_pages_import_is_light() -> None:
    """In a process of its own: after importing all that a page can import, nothing heavy is loaded."""
    within = (*MAY_IMPORT["pages"].split(), "core.pipeline", "core.datasets", "core.transforms")
    modules = [name for name in module_files(ROOT) if any(is_within(name, prefix) for prefix in within)]
    for expected in (
        "core.pipeline",
        "core.store.repository",
        "core.diagnostics.catalog",
        "core.encoders.catalog",
    ):
        assert expected in modules
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_AND_LOOK, json.dumps(modules), json.dumps(HEAVY)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {}


# --- the checks themselves, on small trees that break the rules ---


def write_tree(root: Path, files: Mapping[str, str]) -> Path:
    for package in ("core", "core/diagnostics", "core/figures", "core/store", "core/ui", "core/numerics"):
        (root / package).mkdir(parents=True, exist_ok=True)
        (root / package / "__init__.py").touch()
    (root / "pages").mkdir()
    for path, source in files.items():
        (root / path).write_text(source, "utf-8")
    return root


@pytest.mark.parametrize(
    ("path", "source", "target"),
    [
        ("core/diagnostics/new.py", "import core.store.db", "core.store.db"),
        ("core/diagnostics/new.py", "from core.figures import theme", "core.figures.theme"),
        ("core/diagnostics/new.py", "from ..figures import theme", "core.figures.theme"),
        ("core/diagnostics/__init__.py", "from ..figures.theme import colour", "core.figures.theme"),
        ("core/diagnostics/new.py", "def draw():\n    from core.figures.theme import colour", "core.figures.theme"),
        ("core/numerics/new.py", "from core import settings", "core.settings"),
        ("core/pipeline.py", "from core import cli", "core.cli"),
        ("core/figures/new.py", "from core.store import db", "core.store.db"),
        ("core/ui/new.py", "from core.store.db import Database", "core.store.db"),
        ("pages/new.py", "from core import store, pipeline", "core.pipeline"),
        ("app.py", "from core import settings", "core.settings"),
        ("core/forgotten.py", "import core.errors", "core.errors"),
    ],
)
def test_a_wrong_direction_is_caught(tmp_path: Path, path: str, source: str, target: str) -> None:
    empty = dict.fromkeys(
        ["core/store/db.py", "core/figures/theme.py", "core/settings.py", "core/cli.py", "core/pipeline.py"], ""
    )
    root = write_tree(tmp_path, empty | {"core/errors.py": ""} | {path: source})
    importer = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    found = wrong_directions(root)
    assert any(line.startswith(importer.replace(".", "/")) and line.endswith(f"imports {target}") for line in found)


def test_what_is_allowed_is_not_caught(tmp_path: Path) -> None:
    files = {
        "core/errors.py": "import os",
        "core/numerics/ranking.py": "from core.errors import X\nfrom .similarity import Y",
        "core/numerics/similarity.py": "import numpy as np",
        "core/diagnostics/new.py": "from core.numerics import ranking\nfrom core.diagnostics import base",
        "core/diagnostics/base.py": "",
        "core/figures/new.py": "import plotly.graph_objects as go",
        "pages/new.py": "import streamlit as st\nfrom core import ui\nfrom core.figures import new",
        "app.py": "import streamlit as st\nfrom core import ui",
    }
    root = write_tree(tmp_path, files)
    assert wrong_directions(root) == libraries_out_of_place(root) == cycles(root) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("core/diagnostics/new.py", "import plotly.graph_objects as go"),
        ("core/diagnostics/new.py", "def f():\n    from plotly import express"),
        ("core/figures/new.py", "import streamlit as st"),
        ("core/jobs.py", "if True:\n    from streamlit.runtime import get_instance"),
        ("pages/new.py", "import duckdb"),
    ],
)
def test_a_library_out_of_place_is_caught(tmp_path: Path, path: str, source: str) -> None:
    assert len(libraries_out_of_place(write_tree(tmp_path, {path: source}))) == 1


def test_a_circle_is_caught(tmp_path: Path) -> None:
    files = {
        "core/numerics/a.py": "from core.numerics import b",
        "core/numerics/b.py": "def f():\n    from core.numerics.c import x",
        "core/numerics/c.py": "import core.numerics.a",
    }
    assert set(cycles(write_tree(tmp_path, files))) == {"core.numerics.a", "core.numerics.b", "core.numerics.c"}


def test_a_heavy_import_is_caught(tmp_path: Path) -> None:
    """The child process names the module that brings the library in."""
    (tmp_path / "light.py").write_text("import json\ndef f():\n    import numba\n", "utf-8")
    (tmp_path / "heavy.py").write_text("import numba\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_AND_LOOK, '["light", "heavy"]', json.dumps(HEAVY)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {"heavy": ["numba"]}
