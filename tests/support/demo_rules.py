"""HEROS's construction rules (Chiang 2023, section 2.2), as far as a program can check them.

Used by ``test_demo_sentences.py``; also a command for whoever edits the sentences::

    python tests/support/demo_rules.py assets/demo/minimal_pairs.tsv
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from pathlib import Path

from rapidfuzz.distance import OSA

COLUMNS = (
    "topic",
    "part_of_speech",
    "word",
    "original",
    "synonym",
    "antonym",
    "random_mlm",
    "typo",
    "negation_main",
    "negation_antonym",
)
REPLACEMENTS = ("synonym", "antonym", "random_mlm", "typo")
NEGATIONS = ("negation_main", "negation_antonym")
REWRITES = REPLACEMENTS + NEGATIONS

# Principle 3 of section 2.2.3: words that merely collocate may change with the replaced word.
FUNCTION_WORDS = frozenset(
    (
        "a an the of to in on at for with from by about into over up out off down as than that "
        "through toward towards against upon away"
    ).split()
)
AUXILIARIES = frozenset("do does did is are was were be been being am has have had will would can could".split())
NOT = frozenset({"not", "cannot"})


def words(text: str) -> list[str]:
    """Lower-case words of ``text``, punctuation left out; an apostrophe or hyphen inside stays."""
    return re.findall(r"[a-z0-9]+(?:['’-][a-z0-9]+)*", text.lower())


def changes(a: list[str], b: list[str]) -> tuple[Counter[str], Counter[str]]:
    """Words lost from ``a`` and words gained in ``b``, as multisets."""
    return Counter(a) - Counter(b), Counter(b) - Counter(a)


def _stem(word: str) -> str:
    """Crude stem, so that ``closed`` and ``close`` agree: the first four letters."""
    return word[:4]


def _replacement_problems(row: dict[str, str], subset: str) -> list[str]:
    original, rewrite, word = words(row["original"]), words(row[subset]), row["word"].lower()
    lost, gained = changes(original, rewrite)
    lost_content = [w for w in lost.elements() if w not in FUNCTION_WORDS]
    gained_content = [w for w in gained.elements() if w not in FUNCTION_WORDS]
    out = []
    if lost_content != [word]:
        out.append(f"{subset}: exactly '{word}' should be replaced, lost {lost_content}")
    if not 1 <= len(gained_content) <= 2:
        out.append(f"{subset}: one content word should come in, gained {gained_content}")
    if abs(len(original) - len(rewrite)) > 2:
        out.append(f"{subset}: {len(rewrite)} words against {len(original)}")
    if subset == "typo":
        if len(gained_content) != 1 or len(original) != len(rewrite):
            out.append("typo: only the word itself should change")
        elif not 1 <= OSA.distance(word, gained_content[0]) <= 2:
            out.append(f"typo: '{gained_content[0]}' is more than two edits from '{word}'")
    return out


def _negation_problems(row: dict[str, str], subset: str) -> list[str]:
    original, rewrite, word = words(row["original"]), words(row[subset]), row["word"].lower()
    lost, gained = changes(original, rewrite)
    difference = sum(w in NOT for w in rewrite) - sum(w in NOT for w in original)
    out = []
    if abs(difference) != 1:
        out.append(f"{subset}: 'not' should be added once or removed once, net {difference:+d}")
    if any(re.search(r"n['’]t$", w) for w in rewrite + original):
        out.append(f"{subset}: write 'not' out, without n't")
    content_lost = sorted(_stem(w) for w in lost.elements() if w not in AUXILIARIES | NOT | FUNCTION_WORDS)
    content_gained = sorted(_stem(w) for w in gained.elements() if w not in AUXILIARIES | NOT | FUNCTION_WORDS)
    if content_lost != content_gained or len(content_lost) > 1:
        out.append(f"{subset}: at most one verb may change its form, lost {content_lost}, gained {content_gained}")
    near = rewrite if difference > 0 else original  # where the "not" stands
    places = [i for i, w in enumerate(near) if w in NOT]
    if subset == "negation_antonym" and not any(_stem(w) == _stem(word) for i in places for w in near[i + 1 : i + 4]):
        out.append(f"negation_antonym: 'not' should stand just before '{word}'")
    return out


def row_problems(row: dict[str, str]) -> list[str]:
    """What is wrong with one row; empty when nothing is."""
    out = []
    if row["part_of_speech"] not in {"verb", "adjective"}:
        out.append("part_of_speech: verb or adjective (section 2.2.2)")
    original = row["original"]
    if not 9 <= len(original.split()) <= 24:
        out.append(f"original: {len(original.split())} words, expected 9 to 24")
    for name in ("original", *REWRITES):
        text = row[name]
        if text != " ".join(text.split()):
            out.append(f"{name}: stray white space")
        if not text[:1].isupper() or text[-1:] not in {".", "!"}:
            out.append(f"{name}: a statement, starting with a capital and ending in a full stop")
    if words(original).count(row["word"].lower()) != 1:
        out.append(f"word: '{row['word']}' should stand in the original exactly once")
    for subset in REPLACEMENTS:
        out += _replacement_problems(row, subset)
    for subset in NEGATIONS:
        out += _negation_problems(row, subset)
    keys = ["".join(words(row[n])) for n in ("original", *REWRITES)]
    if len(set(keys)) != 7:
        out.append("the original and its six rewrites should be seven different sentences")
    return out


def rouge_n(a: list[str], b: list[str], n: int) -> float:
    """ROUGE-N F1 between two token lists."""
    grams = [Counter(tuple(t[i : i + n]) for i in range(len(t) - n + 1)) for t in (a, b)]
    shared = sum((grams[0] & grams[1]).values())
    return 2 * shared / max(1, sum(grams[0].values()) + sum(grams[1].values()))


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as f:
        reader = csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"header {reader.fieldnames}, expected {COLUMNS}")
        rows = list(reader)
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise ValueError(f"line {number}: expected {len(COLUMNS)} tab-separated cells")
    return rows


def file_problems(rows: list[dict[str, str]]) -> list[str]:
    """Problems of single rows and of the whole: repeats, sentences that are too alike."""
    out = [f"row {i}: {p}" for i, row in enumerate(rows, 1) for p in row_problems(row)]
    seen: dict[str, str] = {}
    for i, row in enumerate(rows, 1):
        for name in ("original", *REWRITES):
            key = "".join(words(row[name]))
            if key in seen:
                out.append(f"row {i}: {name} repeats {seen[key]}")
            seen[key] = f"row {i} {name}"
    originals = [words(r["original"]) for r in rows]
    for i, a in enumerate(originals):
        out += [f"rows {j + 1} and {i + 1}: originals too alike" for j in range(i) if rouge_n(a, originals[j], 1) > 0.6]
    return out


if __name__ == "__main__":
    table = read_rows(Path(sys.argv[1]))
    found = file_problems(table)
    print("\n".join(found) or "no problems")
    mean_words = sum(len(r["original"].split()) for r in table) / len(table)
    r1 = sum(rouge_n(words(r["original"]), words(r[s]), 1) for r in table for s in REWRITES) / len(table) / 6
    verbs = sum(r["part_of_speech"] == "verb" for r in table)
    print(f"{len(table)} rows, {verbs} verbs, mean {mean_words:.1f} words, ROUGE-1 {100 * r1:.1f} (aim: 92.9)")
    sys.exit(bool(found))
