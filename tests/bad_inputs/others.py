"""Bad judgment bundles, lists of queries, sweeps, words on the command line, and mirrors."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.bad_inputs.case import BadInput, Edge, Maker, content, folder_named, link_to, made_by, pipe
from tests.support.bundle_files import described, edited, members, sample, swapped, zipped


def cases() -> Iterator[BadInput]:
    """All of them."""
    yield from _bundles()
    yield from _queries()
    yield from _sweeps()
    yield from _words()


# --- judgment bundles


def _as_links(entry: zipfile.ZipInfo) -> None:
    entry.create_system, entry.external_attr = 3, 0o120777 << 16


def _bomb(path: Path) -> None:
    path.write_bytes(edited(votes=b"0" * 2**27))


def _bundles() -> Iterator[BadInput]:
    def case(name: str, make: Maker | bytes, *says: str, is_large: bool = False) -> BadInput:
        given = content("b.zip", make) if isinstance(make, bytes) else make
        return BadInput(f"bundle: {name}", Edge.BUNDLE, given, says, is_large=is_large)

    yield case("no zip", b"hello", "no zip")
    yield case("empty", b"", "no zip")
    yield case("half", sample()[:900], "no zip")
    yield case("bomb", made_by("b.zip", _bomb), "unpacks to more than", is_large=True)
    yield case("many files", zipped({f"{i}.csv": b"" for i in range(99)}), "very many files")
    yield case("traversal", zipped(members(sample()) | {"../../x": b"x"}), "nothing but set.json")
    yield case("absolute path", zipped(members(sample()) | {"/etc/passwd": b"x"}), "nothing but set.json")
    yield case("link", zipped(members(sample()) | {"set.json": b"/etc/passwd"}, change=_as_links), "link")
    yield case("a missing table", edited(votes=None), "no files of 'votes'")
    yield case("deep JSON", edited(set=b"[" * 100_000), "set.json is broken")
    yield case("NaN in the set", described(manifest={"x": float("nan")}), "set.json is broken: NaN is no number")
    yield case("a newer version", described(version=99), "newer Blindspot")
    yield case("another id", described(set_id="0" * 12), "000000000000")
    yield case("traversal in the id", described(set_id="../../../x"), "set")
    yield case("votes of NaN seconds", edited(votes=swapped("c0at1,2.5", "c0at1,nan")), "'nan' in the column 'seconds'")
    yield case(
        "duplicate votes", edited(votes=swapped("Ben,0,2,c0at1", "Anna,0,2,c0at1")), "two votes of 'Anna' on item 0"
    )
    yield case("a cell of 1 MB", edited(votes=swapped("Ben", "B" * 2**20)), "votes.csv", "1,048,576 characters")
    yield case("huge integers", edited(votes=swapped("Ben,0", "Ben,1" + "0" * 30)), "votes.csv")
    yield case("a folder", folder_named("b.zip"), "is a folder")
    yield case("a pipe", pipe("b.zip"), "no regular file")
    yield case("an endless device", link_to("b.zip", "/dev/zero"), "no regular file")
    yield case("no such file", lambda folder: folder / "no.zip", "there is no file")


# --- lists of queries


def _queries() -> Iterator[BadInput]:
    def case(name: str, make: Maker, *says: str) -> BadInput:
        return BadInput(f"queries: {name}", Edge.QUERIES, make, says)

    yield case("empty", content("q.txt", ""), "q.txt")
    yield case("Latin-1", content("q.txt", "café\n".encode("latin-1")), "not UTF-8")
    yield case("null bytes", content("q.txt", b"do\0g\n"), "control character")
    yield case("right-to-left override", content("q.txt", "do\u202eg\ncat\n"), "control character")
    yield case("one of 1 MB", content("q.txt", "x" * 2**20), "1,048,576 characters")
    yield case("a cell of 1 MB", content("q.csv", "word,category\ndog," + "x" * 2**20 + "\n"), "1,048,576 characters")
    yield case("no column", content("q.csv", "a,b\n1,2\n"), "no column of queries")
    yield case("ragged", content("q.csv", "word,category\ndog\n"), "q.csv, line 2: 1 cell(s); expected 2")
    yield case("5 MB", content("q.txt", "dog\n" * 1_300_000), "at most 4,194,304")
    yield case("a pipe", pipe("q.txt"), "no regular file")
    yield case("an endless device", link_to("q.txt", "/dev/zero"), "no regular file")


# --- sweeps


def _sweeps() -> Iterator[BadInput]:
    def case(name: str, make: Maker | str | bytes, *says: str) -> BadInput:
        given = content("s.toml", make) if isinstance(make, str | bytes) else make
        return BadInput(f"sweep: {name}", Edge.SWEEP, given, says)

    lists = 'encoders = ["minilm"]\ndatasets = ["demo-pairs"]\ndiagnostics = ["evalrank"]\n'
    yield case("no TOML", "<html>", "is no TOML")
    yield case("empty", "", "has no 'encoders'")
    yield case("UTF-16", lists.encode("utf-16"), "is no TOML")
    yield case("null bytes", lists + "x = '\0'\n", "is no TOML")
    yield case("great depth", "encoders = " + "[" * 100_000, "is no TOML")
    yield case("deep keys", "a" + ".a" * 100_000 + " = 1\n", "100,000 dots", "at most")
    yield case("a key twice", lists + 'encoders = ["x"]\n', "is no TOML")
    yield case("numbers", lists.replace('"minilm"', "5"), "'encoders' is 5", "a list of strings")
    yield case("dates", lists.replace('"demo-pairs"', "1979-05-27"), "'datasets' is")
    yield case("a huge integer", lists.replace('"minilm"', "1" * 9_999), "is no TOML")
    yield case("an unknown key", lists + "run = 'rm -rf'\n", "unknown key")
    yield case("params of words", lists + "params = 'x'\n", "expected a table")
    yield case("nothing in a list", lists.replace('"minilm"', ""), "names no encoder")
    yield case("an unknown encoder", lists.replace("minilm", "minilmm"), "did you mean 'minilm'")
    yield case("traversal", lists.replace("minilm", "dir:../../../no-such"), "there is no folder /")
    yield case("5 MB", lists + "#" * 5_000_000, "at most")
    yield case("a folder", folder_named("s.toml"), "is a folder")
    yield case("a pipe", pipe("s.toml"), "no regular file")
    yield case("an endless device", link_to("s.toml", "/dev/zero"), "no regular file")


# --- words on the command line


def _words() -> Iterator[BadInput]:
    def case(name: str, command: tuple[str, ...], *says: str) -> BadInput:
        return BadInput(f"words: {name}", Edge.WORDS, lambda folder: folder, says, words=command)

    run = ("run", "evalrank", "--encoder", "random-projection", "--dataset", "demo-pairs")
    yield case("dataset by traversal", (*run[:-1], "../../no-such/passwd"), "there is no file")
    yield case("dataset by absolute path", (*run[:-1], "/etc/passwd"), "cannot tell the format")
    yield case("dataset of 1 MB", (*run[:-1], "x" * 2**20), "unknown dataset")
    yield case("dataset with escape sequences", (*run[:-1], "\x1b]0;owned\x07"), "unknown dataset", "\\x1b")
    yield case("dataset of an unknown user", (*run[:-1], "~no-such-user/pairs.csv"), "there is no file")
    yield case("encoder of an unknown user", (*run[:3], "~no-such-user/model", *run[4:]), "names no folder")
    yield case("encoder of 1 MB", (*run[:3], "x" * 2**20, *run[4:]), "unknown encoder")
    yield case("encoder of a foreign scheme", (*run[:3], "http://example.org/", *run[4:]), "unknown kind of encoder")
    yield case("encoder of HTML", (*run[:3], "<script>alert(1)</script>", *run[4:]), "unknown encoder")
    yield case("transform of code", (*run, "--transform", "__import__('os')"), "unknown transform")
    yield case("transform of a huge number", (*run, "--transform", "abtt:" + "9" * 99), "a whole number")
    yield case("chain of 100,000 steps", (*run, "--transform", "+".join(["center"] * 100_000)), "at most")
    yield case("run id by traversal", ("runs", "show", "../../etc/passwd"), "no run")
    yield case("run id of wildcards", ("runs", "delete", "%"), "no run")
    yield case("run id of SQL", ("runs", "delete", "' OR '1'='1"), "no run")
    yield case("no run id", ("runs", "delete", ""), "run")
    yield case(
        "export to a folder that is not there", ("export", "0", "--output", "{}/no/such/x.csv"), "there is no folder"
    )
    yield case("export to another kind of file", ("export", "0", "--output", "{}/x.py"), ".csv or .parquet")
    yield case("export to a hidden kind of file", ("export", "0", "--output", "{}/.bashrc"), ".csv or .parquet")
    yield case("map to another kind of file", ("map", *run[2:], "--out", "{}/x.html"), ".csv or .parquet")
    yield case("set of items by traversal", ("judge", "export", "../../x", "--output", "{}/x.zip"), "set")
    yield case("fetch by traversal", ("data", "fetch", "../../x"), "there is no file")
    yield case("a text of 1 MB", ("neighbors", "x" * 2**20, *run[2:]), "characters", "at most")


# --- mirrors: what they serve for a dataset's file; run apart, with a server


def mirrors() -> Iterator[tuple[str, bytes, tuple[str, ...]]]:
    """Name, content, and what the message has to contain."""
    page = b"<html><title>Sign in</title></html>"
    yield "a page instead of data", page, ("bytes instead of",)
    yield "nothing", b"", ("0 bytes instead of",)
    yield "more than there is", b"x" * 50_000_000, ("more bytes come than", "expected")
