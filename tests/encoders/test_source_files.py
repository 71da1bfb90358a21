"""Files that users name: what is kept of one follows the file, whatever its size and time say."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from blindspot.encoders.source_files import lines_once, sha256_once


def test_a_file_of_the_same_size_and_time_is_another_file(tmp_path: Path) -> None:
    """As a copy that keeps times leaves it, or an archive in which all files have one."""
    path, other = tmp_path / "model.safetensors", tmp_path / "new"
    path.write_bytes(b"one\n")
    os.utime(path, (1, 1))
    found = [(sha256_once(path), lines_once(path))]
    other.write_bytes(b"1\n2\n")
    os.utime(other, (1, 1))
    other.replace(path)
    found.append((sha256_once(path), lines_once(path)))
    path.write_bytes(b"a b\n")  # in its place
    os.utime(path, (1, 1))
    found.append((sha256_once(path), lines_once(path)))
    contents = ((b"one\n", 1), (b"1\n2\n", 2), (b"a b\n", 1))
    assert found == [(hashlib.sha256(content).hexdigest(), count) for content, count in contents]
