"""Matrices that are written row by row: the bytes are those of ``np.save``; nothing is left of what is not whole."""

from __future__ import annotations

import errno
import os
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindspot.errors import BlindspotError
from blindspot.files import matrices
from blindspot.files.matrices import MatrixFile


@given(data=st.data(), n=st.integers(0, 40), d=st.integers(1, 5))
def test_any_order_of_rows_gives_the_file_that_numpy_writes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, n: int, d: int
) -> None:
    path = tmp_path_factory.mktemp("matrix") / "some.npy"
    order = np.array(data.draw(st.permutations(range(n))), dtype=np.int64)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=4)))
    whole = np.random.default_rng(n).normal(size=(n, d)).astype(np.float32)
    whole[n // 2 : n // 2 + 1] = np.nan
    with MatrixFile(path, n, d) as file:
        for rows in np.split(order, cuts):
            file.write(rows, whole[rows])
        assert not path.exists()
        file.finish()
    expected = BytesIO()
    np.save(expected, whole)
    assert path.read_bytes() == expected.getvalue()
    assert list(path.parent.iterdir()) == [path]


def test_what_is_not_finished_is_removed(tmp_path: Path) -> None:
    with MatrixFile(tmp_path / "some.npy", 10, 3) as file:
        file.write(np.arange(2), np.ones((2, 3), dtype=np.float32))
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_says_so_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(matrices.os, "posix_fallocate", full, raising=False)
    with pytest.raises(BlindspotError, match=os.strerror(errno.ENOSPC)) as caught:
        MatrixFile(tmp_path / "some.npy", 10, 3)
    assert isinstance(caught.value.__cause__, OSError)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EINVAL])
def test_a_file_system_that_cannot_set_room_aside_is_used(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(matrices.os, "posix_fallocate", cannot, raising=False)
    with MatrixFile(tmp_path / "some.npy", 3, 2) as file:
        file.write(np.array([2]), np.ones((1, 2), dtype=np.float32))
        file.finish()
    assert np.load(tmp_path / "some.npy").tolist() == [[0, 0], [0, 0], [1, 1]]
