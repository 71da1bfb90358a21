"""Mutants: does the first tier of tests find the faults that all of ``make check`` finds?

    .venv/bin/python tests/mutants.py measure  # which test executes which line: an hour, once
    .venv/bin/python tests/mutants.py kill     # change a line, run the tests that execute it

A mutant is one changed operator or number on one line of the product, chosen with a fixed seed. Tests of the first
tier run first, up to the first that fails; if none fails, the others of ``make check`` do. Run it in a checkout of its
own: a mutant is written into the file and taken back.
"""

from __future__ import annotations

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

import coverage

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "core" / "blindspot"
sys.path.insert(0, str(ROOT))
from tests.support.tiers import MARKS  # noqa: E402

(DATA := ROOT / ".mutants").mkdir(exist_ok=True)
TIERS = ("first", "rest")
LONGEST = 4_000 if "measure" in sys.argv else 600  # seconds
NO_FAULT = {
    0,
    4,
    5,
}  # exit codes of pytest: passed, no such test, none selected; others are of crashes and timeout, too
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
    files = sorted([*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"])
    every = [mutant for path in files for mutant in mutants_of(path)]
    return random.Random(seed).sample(every, n)


def pytest(*arguments: str, **variables: str) -> int:
    command = ["timeout", str(LONGEST), sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False).returncode


def measure(tier: str) -> None:
    how = ["-n", "2", "--dist", "loadfile", "--cov=core", "--cov=pages", "--cov-context=test", "--cov-report="]
    pytest(*how, "--tier", tier, COVERAGE_FILE=str(DATA / tier))


def tests_of(mutant: Mutant, tier: str) -> list[str]:
    """Those that execute the line, nearest by folder first; of an import's line, or unmeasured, its mirrors."""
    if not (DATA / tier).exists():
        return nearest(mutant)
    (data := coverage.CoverageData(str(DATA / tier))).read()
    contexts = {name for file in data.measured_files() if Path(file).resolve() == mutant.path
                for name in data.contexts_by_lineno(file).get(mutant.line, ())}  # fmt: skip
    near = set(mutant.path.relative_to(ROOT).parts)
    tests = {context.rpartition("|")[0] for context in contexts} - {""}
    if not tests:  # executed at import, or compiled
        return nearest(mutant)
    return sorted(tests, key=lambda test: (-len(near & set(Path(test.partition("::")[0]).parts)), test))


def nearest(mutant: Mutant) -> list[str]:
    """The test file of the module's name, then the folder that mirrors the module's; of the root's only its files."""
    inside = mutant.path.relative_to(next(top for top in (PACKAGE, PACKAGE.parent, ROOT) if top in mutant.path.parents))
    folder = next(tests for tests in (ROOT / "tests" / parent for parent in inside.parents) if tests.is_dir())
    file = folder / f"test_{mutant.path.stem}.py"
    others = [folder] if folder != ROOT / "tests" else sorted(folder.glob("test_*.py"))
    return [str(path) for path in dict.fromkeys([file, *others]) if path.exists()]


def killer(mutant: Mutant) -> str:
    """The tier that kills it, or nothing."""
    before = mutant.path.read_bytes()
    marked = " or ".join(name for name in MARKS if name != "slow")
    try:
        mutant.path.write_bytes(mutant.source())
        for tier, marks in {"first": f"not ({marked})", "rest": marked}.items():
            (DATA / "tests").write_text("\n".join(tests := tests_of(mutant, tier)))
            if tests and pytest("-x", "-m", marks, f"@{DATA / 'tests'}") not in NO_FAULT:
                return tier
    finally:
        mutant.path.write_bytes(before)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("measure", "kill"))
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--part", default="1/1", help="which of several parts, each in a checkout of its own: 1/2, 2/2")
    given = parser.parse_args()
    if given.step == "measure":
        for tier in TIERS:
            measure(tier)
        return
    killed: dict[str, list[str]] = {tier: [] for tier in (*TIERS, "")}
    part, parts = map(int, given.part.split("/"))
    for mutant in chosen(given.mutants, given.seed)[part - 1 :: parts]:
        place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
        killed[tier := killer(mutant)].append(place)
        print(json.dumps({"mutant": place, "new": mutant.new.strip(), "killed by": tier}), flush=True)
    counts = {tier or "none": len(places) for tier, places in killed.items()}
    share = counts["first"] / max(counts["first"] + counts["rest"], 1)
    print(json.dumps({**counts, "share of the first tier": share, "to promote": killed["rest"]}))


if __name__ == "__main__":
    main()
