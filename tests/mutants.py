"""Mutants: does the first tier find the faults that all of ``make check`` finds? In a checkout of its own:

    .venv/bin/python tests/mutants.py measure --tier first  # which test executes which line; as long as the tier takes
    .venv/bin/python tests/mutants.py kill --tier first     # change a line, run the tests that execute it

then both with ``--tier rest``, of the mutants that the first tier leaves alive. A mutant is one changed operator or
number on a line of the product. Tests run up to the first that fails, the nearest by folder first.
"""

import argparse
import ast
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
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
# Exit codes of pytest: passed, no such test, none selected; Ctrl-C and SIGKILL. Others are a fault: a crash, a timeout.
NO_FAULT, STOPPED = {0, 4, 5}, {130, 137, -2, -9}
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

    def folder_of_tests(self) -> Path:
        parents = self.path.relative_to(ROOT).parents
        return next(tests for up in parents if (tests := ROOT.joinpath("tests", *up.parts[2:])).is_dir())


def mutants_of(path: Path) -> Iterator[Mutant]:
    rows = path.read_bytes().splitlines()
    for node in ast.walk(ast.parse(b"\n".join(rows))):
        match node:
            case ast.Constant(value=int(number)) if type(number) is int:
                yield Mutant(path, node.lineno, node.col_offset, node.end_col_offset or 0, str(number + 1))
            case (
                ast.Compare(left=left, ops=[operator], comparators=[right])
                | ast.BinOp(left=left, op=operator, right=right)
                | ast.BoolOp(op=operator, values=[left, right])
            ) if left.end_lineno == right.lineno and type(operator) in SWAPS:
                start, end = left.end_col_offset or 0, right.col_offset
                if not set(b"()") & set(rows[right.lineno - 1][start:end]):
                    yield Mutant(path, right.lineno, start, end, f" {SWAPS[type(operator)]} ")


def probed(path: Path, lines: dict[int, int]) -> bytes:
    """The file's source with a probe before each statement of a function in which a line with a number lies."""
    tree = ast.parse(path.read_bytes())
    bodies = [body for node in ast.walk(tree) for _, body in ast.iter_fields(node) if isinstance(body, list)]
    for line, number in lines.items():
        nodes = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
        statements = [node for node in nodes if node.lineno <= line <= (node.end_lineno or 0)]
        functions = [node for node in statements[:-1] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        if not functions or any("jit" in ast.unparse(each) for node in functions for each in node.decorator_list):
            continue  # executed at import, or compiled by numba: all tests of its folder are run
        (body,) = (body for body in bodies if statements[-1] in body)  # ast.walk ends with the innermost
        probe = ast.parse(f"__import__('blindspot.{PROBE.stem}', fromlist=['hit']).hit({number})").body[0]
        body.insert(body.index(statements[-1]), probe)
    return ast.unparse(ast.fix_missing_locations(tree)).encode()


def fails(*arguments: str, seconds: int) -> bool:
    command = ["timeout", str(seconds), sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    code = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False).returncode
    return code not in NO_FAULT if code not in STOPPED else sys.exit(f"pytest was stopped (exit code {code})")


def measure(mutants: list[Mutant], tier: str) -> None:
    """Line "3 tests/x.py::test_y" of the tier's file: test_y executes mutant 3; a folder where that can't be seen."""
    hits = DATA / tier
    PROBE.write_text(WRITES_HITS.format(path=str(hits)))
    for path in {mutant.path for mutant in mutants}:
        path.write_bytes(probed(path, {mutant.line: i for i, mutant in enumerate(mutants) if mutant.path == path}))
    unseen = [i for i, mutant in enumerate(mutants) if b".hit(%d)" % i not in mutant.path.read_bytes()]
    hits.write_text("".join(f"{i} {mutants[i].folder_of_tests()}\n" for i in unseen))
    fails("-n", "2", "--dist", "loadfile", "--tier", tier, seconds=7200)


def kill(mutants: list[Mutant], tier: str) -> None:
    results = DATA / "results.json"
    tiers: dict[str, dict[str, bool]] = json.loads(results.read_text()) if results.exists() else {}
    hits = [line.split(" ", 1) for line in (DATA / tier).read_text().splitlines()]
    for number, mutant in enumerate(mutants):
        killed = tiers.setdefault(f"{mutant.path.relative_to(ROOT)}:{mutant.line} {mutant.new.strip()}", {})
        if tier in killed or any(killed.values()):
            continue
        tests = {test for hit, test in hits if hit == str(number)} - {""}
        parts = {*mutant.path.parts}
        nearest = sorted(tests, key=lambda test: (-len(parts & {*Path(test.partition("::")[0]).parts}), test))
        (names := DATA / "tests").write_text("\n".join(nearest))
        source = mutant.path.read_bytes()
        mutant.path.write_bytes(mutant.source())
        killed[tier] = bool(tests) and fails("-x", "--tier", tier, f"@{names}", seconds=1200)
        mutant.path.write_bytes(source)
        results.write_text(json.dumps(tiers, indent=1))
    print(sum(killed.get(tier, False) for killed in tiers.values()), "of", len(mutants), "killed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("measure", "kill"))
    parser.add_argument("--tier", choices=("first", "rest"), required=True)
    parser.add_argument("--seed", type=int, default=60)
    options = parser.parse_args()
    if subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT):
        parser.error("this checkout has changes, which it would undo; git worktree makes another")
    files = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"])
    mutants = random.Random(options.seed).sample([mutant for path in files for mutant in mutants_of(path)], 60)
    try:
        (measure if options.step == "measure" else kill)(mutants, options.tier)
    finally:
        PROBE.unlink(missing_ok=True)
        subprocess.run(["git", "checkout", "-q", "--", "core", "pages", "app.py"], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
