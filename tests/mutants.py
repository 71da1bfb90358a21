"""Mutants: does the first tier find the faults that all of ``make check`` finds? In a checkout of its own:

    .venv/bin/python tests/mutants.py measure --tier first  # which test executes which line; as long as the tier takes
    .venv/bin/python tests/mutants.py kill --tier first     # change a line, run the tests that execute it

then both with ``--tier rest``, of the mutants that the first tier leaves alive. A mutant is one changed operator or
number on a line of the product. Tests run up to the first that fails, the nearest by folder first.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "core" / "blindspot"
(DATA := ROOT / ".mutants").mkdir(exist_ok=True)
PROBE = PACKAGE / "probe_of_mutants.py"
# The probe's source: a line of the file per mutant and test, in processes that a test starts, too.
WRITES_HITS = """
import os
def hit(number, before=set()):
    line = f"{{number}} {{os.environ.get('PYTEST_CURRENT_TEST', '').rpartition(' ')[0]}}\\n"
    if line not in before:
        before.add(line)
        open({path!r}, "a").write(line)
"""
# Exit codes of pytest: passed, no such test, none selected; others are of crashes and timeout, too.
NO_FAULT = {0, 4, 5}
LONGEST = "1200"  # seconds that the tests of one mutant may take
SWAPS: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.And: "or", ast.Or: "and",
}  # fmt: skip


class Mutant(NamedTuple):
    path: Path
    line: int
    start: int  # columns of the piece that is replaced, in bytes
    end: int
    new: str

    def source(self) -> bytes:
        lines = self.path.read_bytes().splitlines(keepends=True)
        row = lines[self.line - 1]
        lines[self.line - 1] = row[: self.start] + self.new.encode() + row[self.end :]
        return b"".join(lines)


def mutants_of(path: Path) -> Iterator[Mutant]:
    source = path.read_bytes()
    rows = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=int(number)) if type(number) is int:
                yield Mutant(path, node.lineno, node.col_offset, node.end_col_offset or 0, str(number + 1))
            case (
                ast.Compare(left=left, ops=[operator], comparators=[right])
                | ast.BinOp(left=left, op=operator, right=right)
                | ast.BoolOp(op=operator, values=[left, right])
            ) if left.end_lineno == right.lineno and type(operator) in SWAPS:
                start, end = left.end_col_offset or 0, right.col_offset
                if not {b"("[0], b")"[0]} & set(rows[right.lineno - 1][start:end]):
                    yield Mutant(path, right.lineno, start, end, f" {SWAPS[type(operator)]} ")


def probed(path: Path, lines: dict[int, int]) -> bytes:
    """The file's source with a probe before each statement of a function in which a line with a number lies."""
    tree = ast.parse(path.read_bytes())
    bodies = [body for node in ast.walk(tree) for _, body in ast.iter_fields(node) if isinstance(body, list)]
    for line, number in lines.items():
        statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and hasattr(node, "end_lineno")
                      and node.lineno <= line <= (node.end_lineno or 0)]  # fmt: skip
        functions = [node for node in statements[:-1] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        if not functions or any("jit" in ast.unparse(each) for node in functions for each in node.decorator_list):
            continue  # executed at import, or compiled by numba, which knows no probe
        innermost = min(statements, key=lambda node: (node.end_lineno or 0) - node.lineno)
        (body,) = (body for body in bodies if innermost in body)
        probe = ast.parse(f"__import__('blindspot.{PROBE.stem}', fromlist=['hit']).hit({number})").body
        body[body.index(innermost) : body.index(innermost)] = probe
    return ast.unparse(ast.fix_missing_locations(tree)).encode()


def pytest(*arguments: str, limit: Sequence[str] = ()) -> int:
    command = [*limit, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False).returncode


@contextmanager
def changed(sources: dict[Path, bytes]) -> Iterator[None]:
    before = {path: path.read_bytes() for path in sources}
    try:
        for path, source in sources.items():
            path.write_bytes(source)
        yield
    finally:
        for path, source in before.items():
            path.write_bytes(source)


def measure(mutants: list[Mutant], tier: str) -> None:
    (hits := DATA / tier).unlink(missing_ok=True)
    PROBE.write_text(WRITES_HITS.format(path=str(hits)))
    paths = {mutant.path for mutant in mutants}
    with changed({path: probed(path, {m.line: i for i, m in enumerate(mutants) if m.path == path}) for path in paths}):
        try:
            pytest("-n", "2", "--dist", "loadfile", "--tier", tier)
        finally:
            PROBE.unlink()


def tests_of(number: int, mutant: Mutant, tier: str) -> list[str]:
    """Those that execute its statement, nearest by folder first; of one executed at import, its folder's."""
    hits = (line.split(" ", 1) for line in (DATA / tier).read_text().splitlines())
    tests = {test for hit, test in hits if hit == str(number)} - {""}
    place = mutant.path.relative_to(ROOT)
    folders = (ROOT / "tests" / "/".join(parent.parts[2:]) for parent in place.parents)
    nearest = sorted(tests, key=lambda test: (-len({*place.parts} & {*Path(test.partition("::")[0]).parts}), test))
    return nearest or [str(next(folder for folder in folders if folder.is_dir()))]


def is_killed(number: int, mutant: Mutant, tier: str) -> bool:
    (names := DATA / f"tests of {number}").write_text("\n".join(tests_of(number, mutant, tier)))
    with changed({mutant.path: mutant.source()}):
        return pytest("-x", "--tier", tier, f"@{names}", limit=("timeout", LONGEST)) not in NO_FAULT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("measure", "kill"))
    parser.add_argument("--tier", choices=("first", "rest"), required=True)
    parser.add_argument("--seed", type=int, default=60)
    options = parser.parse_args()
    files = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"])
    mutants = random.Random(options.seed).sample([mutant for path in files for mutant in mutants_of(path)], 60)
    if options.step == "measure":
        measure(mutants, options.tier)
        return
    results = DATA / "results.json"
    tiers: dict[str, dict[str, bool]] = json.loads(results.read_text()) if results.exists() else {}
    for number, mutant in enumerate(mutants):
        killed = tiers.setdefault(f"{mutant.path.relative_to(ROOT)}:{mutant.line} {mutant.new.strip()}", {})
        if options.tier not in killed and not any(killed.values()):
            killed[options.tier] = is_killed(number, mutant, options.tier)
            results.write_text(json.dumps(tiers, indent=1))
    for tier in ("first", "rest"):
        print(tier, sum(killed.get(tier, False) for killed in tiers.values()), "of", len(mutants))


if __name__ == "__main__":
    main()
