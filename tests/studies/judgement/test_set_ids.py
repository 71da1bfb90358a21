"""A set is found by the beginning of its id."""

from pathlib import Path

import pytest

from core.errors import InputError
from core.studies.judgement.store import LISTED, Judgements
from tests.support.judgement_samples import comparative_set, intruder_set


def test_the_beginning_of_an_id_is_enough_where_it_is_one_sets(tmp_path: Path) -> None:
    store = Judgements.at(tmp_path / "results.duckdb")
    with pytest.raises(InputError, match="there is none yet"):
        store.named("abc")
    one, other = intruder_set(2), comparative_set(2)
    store.add_set(one)
    store.add_set(other)
    common = next(i for i in range(13) if one.set_id[i] != other.set_id[i])
    assert store.named(one.set_id).set_id == one.set_id
    assert store.named(other.set_id[: common + 1]).set_id == other.set_id
    for unknown in ("xyz", "", one.set_id + "0"):
        with pytest.raises(InputError, match="no set of items begins with") as caught:
            store.named(unknown)
        assert one.set_id in str(caught.value)
        assert other.set_id in str(caught.value)


def test_the_beginning_of_several_is_refused_with_all_of_them(tmp_path: Path) -> None:
    store = Judgements.at(tmp_path / "results.duckdb")
    sets = [intruder_set(2 + n, f"Set {n}") for n in range(17)]  # more than there are hexadecimal digits
    for items in sets:
        store.add_set(items)
    firsts = [items.set_id[0] for items in sets]
    shared = next(first for first in firsts if firsts.count(first) > 1)
    with pytest.raises(InputError, match="give more characters") as caught:
        store.named(shared)
    assert all(i.set_id in str(caught.value) for i in sets if i.set_id[0] == shared) or firsts.count(shared) > LISTED
