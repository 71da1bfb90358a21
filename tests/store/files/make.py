"""Makes the stores of earlier schema versions that lie here, each with the Blindspot of that time.

    python tests/store/files/make.py [VERSION ...]

Schema version 1 was never released alone: the first commit with a store has 1 and 2. Every commit below is one of the
last with so many migrations. Its own command line runs on the sentences that Blindspot brings along, with
random projections; nothing here is anybody else's. ``vN.duckdb.xz`` is the store that it left, ``vN.json`` what
its ``runs --json`` printed then: ids, states and scores.
"""

from __future__ import annotations

import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
COMMITS = {
    2: "18808f1",
    3: "b44f510",
    4: "ecd3a27",
    5: "fcf5d45",
    6: "b37af32",
    7: "3d2bdbe",
    8: "4e49c61",
    9: "2d79120",
    10: "d4e2b13",
    11: "b2ee4fa",
    12: "470352d",
    13: "42419a7",
    14: "71a145e",
}
ENCODER = "random-projection-64"
# Runs the command line of that version; "killed": until it would store, then kill -9.
COMMAND = """
import os, signal, sys
from blindspot import cli
from blindspot.store.repository import Repository
if sys.argv[1] == "killed":
    Repository.finish = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(cli.main(sys.argv[2:]))
"""
REFERENCE = """
import sys
from pathlib import Path
from blindspot.store.repository import Repository
Repository.at(Path(sys.argv[1])).remember_reference("vectors:/nowhere/words.txt", {"dimension": 8})
"""
JUDGED = """
import sys
from pathlib import Path
from blindspot.studies.judgement.types import Ballot, Task
from blindspot.studies.judgement.store import Judgements
from tests.support.judgement_samples import intruder_set
items, store = intruder_set(), Judgements.at(Path(sys.argv[1]))
store.add_set(items)
store.add_session("team", {Task.INTRUDER: items.set_id}, "key")
for rater in ("Ada", "Grace"):
    ballot = Ballot(items.set_id, session="team", rater=rater)
    for number, option in enumerate((0, 1, None, 2)):
        store.vote(ballot, number, option, 1.5)
"""
VECTORS = "{word} " + " ".join(["{}"] * 8) + "\n"


def make(version: int) -> None:
    """One store, from a checkout of its commit in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        code, cache, own = Path(folder, "code"), Path(folder, "cache"), Path(folder, "own")
        code.mkdir()
        own.mkdir()
        archive = subprocess.run(["git", "archive", COMMITS[version]], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "x", "-C", str(code)], input=archive.stdout, check=True)
        environment = os.environ | {"BLINDSPOT_CACHE": str(cache), "BLINDSPOT_DEVICE": "cpu"}
        environment.pop("BLINDSPOT_MIRROR", None)

        def python(program: str, *arguments: str, code_is: int = 0) -> str:
            done = subprocess.run(
                [sys.executable, "-c", program, *arguments],
                cwd=code, env=environment, stdout=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            if done.returncode != code_is:
                raise RuntimeError(f"version {version}: {arguments} ended with {done.returncode}")
            return done.stdout

        def run(diagnostic: str, dataset: str, *more: str, encoder: str = ENCODER) -> None:
            python(COMMAND, "whole", "run", diagnostic, "--encoder", encoder, "--dataset", dataset, *more)

        run("evalrank", "demo-pairs", "--transform", "none", "--transform", "center", "--metric", "l2")
        if version >= 3:
            words = "car automobile dog puppy king queen house home".split()
            (own / "pairs.csv").write_text("text1,text2\n" + "".join(f"{a},{b}\n" for a, b in pairwise(words)), "utf-8")
            lines = (VECTORS.format(*range(i, i + 8), word=word) for i, word in enumerate(words[:6], 1))
            (own / "words.txt").write_text("".join(lines), "utf-8")
            run("evalrank", f"file:{own / 'pairs.csv'}", encoder=f"vectors:{own / 'words.txt'}")
        store = str(cache / "results.duckdb")
        if version >= 4:
            python(REFERENCE, store)
        if version >= 5:
            run("heros", "demo-minimal")
        if version >= 6:
            shutil.copy(own / "pairs.csv", own / "copy.csv")
            run("evalrank", f"file:{own / 'copy.csv'}", encoder=f"vectors:{own / 'words.txt'}")
        if version >= 7:
            python(JUDGED, store)
        if version >= 9:
            run("analogy", "demo-analogies")
            run("categorization", "demo-categories")
        killed = ("run", "evalrank", "--encoder", ENCODER, "--dataset", "demo-pairs", "--transform", "abtt:2")
        python(COMMAND, "killed", *killed, code_is=-9)
        shown = json.loads(python(COMMAND, "whole", "runs", "--json"))["runs"]
        kept = [{name: run.get(name) for name in ("run_id", "state", "dataset", "metrics")} for run in shown]
        packed = lzma.compress(Path(store).read_bytes(), preset=9 | lzma.PRESET_EXTREME)
        (HERE / f"v{version}.duckdb.xz").write_bytes(packed)
        (HERE / f"v{version}.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
        print(f"version {version}: {len(kept)} runs, {len(packed):,} bytes")


if __name__ == "__main__":
    for wanted in [int(v) for v in sys.argv[1:]] or COMMITS:
        make(wanted)
