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
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "core" / "blindspot"
sys.path.insert(0, str(ROOT))
from tests.support.tiers import MARKS  # noqa: E402

(DATA := ROOT / ".mutants").mkdir(exist_ok=True)
PROBE = PACKAGE / "probe_of_mutants.py"
# The probe's source: a line of the file per mutant and test, in processes that a test starts, too.
WRITES_HITS = """
import os
HITS = set()
def hit(number):
    hit = (number, os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0])
    if hit not in HITS:
        HITS.add(hit)
        with open({path!r}, "a") as file:
            file.write(f"{{hit[0]}} {{hit[1]}}\\n")
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
                continue
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                pass
            case ast.BinOp(left=left, op=operator, right=right) | ast.BoolOp(op=operator, values=[left, right]):
                pass
            case _:
                continue
        start, end, new = left.end_col_offset or 0, right.col_offset, SWAPS.get(type(operator))
        is_on_one_line = left.end_lineno == right.lineno
        if new and is_on_one_line and not {b"("[0], b")"[0]} & set(rows[right.lineno - 1][start:end]):
            yield Mutant(path, right.lineno, start, end, f" {new} ")


def chosen(n: int, seed: int) -> list[Mutant]:
    files = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"])
    every = [mutant for path in files for mutant in mutants_of(path)]
    return random.Random(seed).sample(every, n)


def probed(path: Path, lines: dict[int, int]) -> str:
    """The file's source with a probe before each statement of a function in which a line with a number lies."""
    tree = ast.parse(path.read_bytes())
    for line, number in lines.items():
        statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and hasattr(node, "end_lineno")
                      and node.lineno <= line <= (node.end_lineno or 0)]  # fmt: skip
        if not any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in statements[:-1]):
            continue  # executed at import
        innermost = min(statements, key=lambda node: (node.end_lineno or 0) - node.lineno)
        probe = ast.parse(f"__import__('blindspot.{PROBE.stem}', fromlist=['hit']).hit({number})").body
        for node in ast.walk(tree):
            for body in (value for _, value in ast.iter_fields(node) if isinstance(value, list)):
                if innermost in body:
                    body[body.index(innermost) : body.index(innermost)] = probe
    return ast.unparse(ast.fix_missing_locations(tree))


def pytest(*arguments: str, limit: Sequence[str] = ()) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*limit, *command], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False)
    return done.returncode


def measure(mutants: list[Mutant], tier: str) -> None:
    hits = DATA / tier
    hits.unlink(missing_ok=True)
    before = {mutant.path: mutant.path.read_bytes() for mutant in mutants}
    try:
        PROBE.write_text(WRITES_HITS.format(path=str(hits)))
        for path in before:
            path.write_text(probed(path, {m.line: i for i, m in enumerate(mutants) if m.path == path}))
        pytest("-n", "2", "--dist", "loadfile", "--tier", tier)
    finally:
        PROBE.unlink()
        for path, source in before.items():
            path.write_bytes(source)


def tests_of(number: int, mutant: Mutant, tier: str) -> list[str]:
    """Those that execute its statement, nearest by folder first; of one executed at import, its folder's."""
    hits = (line.split(" ", 1) for line in (DATA / tier).read_text().splitlines())
    tests = {test for hit, test in hits if hit == str(number)} - {""}
    near = set(mutant.path.relative_to(ROOT).parts)
    mirrors = (ROOT / "tests" / "/".join(parent.parts[2:]) for parent in mutant.path.relative_to(ROOT).parents)
    nearest = sorted(tests, key=lambda test: (-len(near & set(Path(test.partition("::")[0]).parts)), test))
    return nearest or [str(next(folder for folder in mirrors if folder.is_dir()))]


def is_killed(number: int, mutant: Mutant, tier: str) -> bool:
    before = mutant.path.read_bytes()
    marked = " or ".join(name for name in MARKS if name != "slow")
    names = DATA / f"tests of {number}"
    names.write_text("\n".join(tests_of(number, mutant, tier)))
    try:
        mutant.path.write_bytes(mutant.source())
        marks = marked if tier == "rest" else f"not ({marked} or slow)"
        return pytest("-x", "-m", marks, f"@{names}", limit=("timeout", LONGEST)) not in NO_FAULT
    finally:
        mutant.path.write_bytes(before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("measure", "kill"))
    parser.add_argument("--tier", choices=("first", "rest"), required=True)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=60)
    options = parser.parse_args()
    mutants = chosen(options.mutants, options.seed)
    if options.step == "measure":
        measure(mutants, options.tier)
        return
    results = DATA / "results.jsonl"
    earlier = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    decided = {row["number"] for row in earlier if row["killed"] or row["tier"] == options.tier}
    for number, mutant in enumerate(mutants):
        if number not in decided:
            place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            row = {"number": number, "mutant": place, "new": mutant.new.strip(), "tier": options.tier}
            with results.open("a") as file:
                file.write(json.dumps(row | {"killed": is_killed(number, mutant, options.tier)}) + "\n")
    killed = [row["tier"] for row in map(json.loads, results.read_text().splitlines()) if row["killed"]]
    print({tier: killed.count(tier) for tier in ("first", "rest")}, "of", len(mutants))


if __name__ == "__main__":
    main()
