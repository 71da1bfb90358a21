"""Search times: measured, kept with the machine's name, and read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from blindspot.errors import BlindspotError, Cancelled
from blindspot.studies.size import speed
from blindspot.studies.size.grid import PRECISIONS, settings_of
from blindspot.types import CancelToken, no_progress
from tests.conftest import make_settings

SETTINGS = settings_of(16, [16, 8], PRECISIONS, rescored=[20])


def test_every_setting_is_timed_and_what_is_kept_is_read_again(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    assert speed.read(settings) is None
    found = speed.keep(speed.measure(SETTINGS, no_progress, CancelToken(), vectors=500), settings)
    assert speed.read(settings) == found
    assert found.machine == speed.machine_here()
    for setting in SETTINGS:
        timing = found.of(setting)
        assert timing is not None
        assert timing.own_ms > 0
        assert (timing.faiss_ms is None) is (setting.precision == "binary-docs")
    one = replace(found, timings=(replace(found.timings[0], own_ms=123.0),))
    assert len(speed.keep(one, settings).timings) == len(found.timings)
    other = speed.keep(replace(one, machine="another"), settings)
    assert other.timings == one.timings, "nothing of another machine is kept beside it"


def test_a_cancelled_or_damaged_one_says_so(tmp_path: Path) -> None:
    settings, cancel = make_settings(tmp_path), CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        speed.measure(SETTINGS, no_progress, cancel, vectors=100)
    speed.path_of(settings).parent.mkdir(parents=True, exist_ok=True)
    for content in ("{", "[]", '{"timings": [{"x": 1}]}', "{}"):
        speed.path_of(settings).write_text(content)
        with pytest.raises(BlindspotError, match="damaged"):
            speed.read(settings)
