"""Many runs, one after another: what is done, what fails, and which are typical of those to come."""

from __future__ import annotations

from blindspot.errors import BlindspotError, InputError
from blindspot.runs.computing import Done, Failed, compute, failure, interrupted
from blindspot.types import CancelToken
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World


def test_a_failure_does_not_stop_the_others(world: World) -> None:
    def broken(_: CancelToken) -> None:
        raise BlindspotError("the weights are gone")

    world.add(SMALL_PAIRS, GramEncoder(), GramEncoder("broken", before=broken))
    requests = [world.request("evalrank", name, SMALL_PAIRS.id) for name in ("trigrams", "broken", "trigrams~center")]
    first, failed, last = compute(requests, world.settings, world.repository)
    assert isinstance(first, Done)
    assert isinstance(failed, Failed)
    assert isinstance(last, Done)
    assert [(one.computed, one.is_typical) for one in (first, last)] == [(True, False), (True, True)]
    assert [one.request for one in (first, failed, last)] == requests
    again = list(compute(requests, world.settings, world.repository))
    assert [isinstance(one, Done) and one.computed for one in again] == [False] * 3
    error = failure([failed], 3)
    assert str(error).startswith("1 of 3 runs failed; the first was EvalRank of broken on ")
    assert not isinstance(error, InputError)
    assert isinstance(failure([Failed(requests[1], InputError("no such thing"))], 1), InputError)
    assert str(interrupted(again, 3)).startswith("interrupted; 2 of 3 runs are done")
