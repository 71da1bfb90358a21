"""What a page computes itself: it waits for its turn, and ends when the reader has gone."""

from __future__ import annotations

import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from blindspot import policy
from blindspot.datasets.catalog import find_dataset
from blindspot.errors import Cancelled, InputError
from blindspot.policy import WorkLimits
from blindspot.settings import Mode, Settings
from blindspot.space.neighbors import free_text
from blindspot.transforms.chain import READY_CHAINS, STEPS, TransformChain
from blindspot.types import CancelToken
from blindspot.ui import turns
from blindspot.variants import Variant
from tests.support.demo_host import until


def gone() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from blindspot.ui.turns import turn

    with turn() as cancel:
        cancel.check()
        st.markdown("began")
        get_script_run_ctx().script_requests.request_stop()  # type: ignore[union-attr]
        cancel.check()
        st.markdown("went on")


def test_work_ends_when_its_reader_has_gone_and_gives_its_turn_back() -> None:
    for _ in range(2 * turns.AT_ONCE):
        app = AppTest.from_function(gone).run()
        assert [text.value for text in app.markdown] == ["began"]


def slow() -> None:
    import streamlit as st

    from blindspot.errors import InputError
    from blindspot.ui.turns import turn

    st.session_state.looks = 0
    try:
        with turn() as cancel:
            while True:
                st.session_state.looks += 1
                cancel.check()
    except InputError as error:
        st.markdown(str(error))


def test_a_visitor_s_turn_ends_with_its_time(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(policy, "DEMO", replace(policy.DEMO, work=WorkLimits(15.0, 2**30, turn=0.2)))
    monkeypatch.setenv("BLINDSPOT_MODE", "demo")
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    for _ in range(turns.AT_ONCE + 1):
        app = AppTest.from_function(slow).run(timeout=60)
        assert "takes longer than 0 s" in app.markdown[0].value
        assert app.session_state.looks > 1


def test_a_text_is_not_encoded_for_who_has_left_nor_waits_for_another(settings: Settings) -> None:
    left = CancelToken()
    left.cancel()
    space = SimpleNamespace(variant=Variant("random-projection", "none"), dataset=find_dataset("demo-words"))
    with pytest.raises(Cancelled):
        free_text.place("a dog", [space], settings, left)  # type: ignore[list-item]

    class Leaves(CancelToken):
        looks = 0

        def check(self) -> None:
            self.looks += 1
            if self.looks > 3:
                raise Cancelled

    with free_text._LOCK, pytest.raises(Cancelled):
        free_text.place("a dog", [space], settings, Leaves())  # type: ignore[list-item]
    assert not free_text._LOCK.locked()


def test_so_many_at_once_and_the_next_waits() -> None:
    inside, leave, order = threading.Semaphore(0), threading.Event(), []

    def work(name: str) -> None:
        with turns.turn():
            order.append(name)
            inside.release()
            leave.wait(60)

    threads = [threading.Thread(target=work, args=(f"{i}",)) for i in range(turns.AT_ONCE + 3)]
    for thread in threads:
        thread.start()
    for _ in range(turns.AT_ONCE):
        assert inside.acquire(timeout=60)
    assert not inside.acquire(timeout=4 * turns.LOOK_SECONDS), "one more than may"
    leave.set()
    for thread in threads:
        thread.join(60)
    assert len(order) == len(threads)


def test_turns_are_first_come_first_served_and_who_leaves_keeps_none() -> None:
    class Leaves(CancelToken):
        def check(self) -> None:
            if leave.is_set():
                raise Cancelled

    found, leave, order = turns._Turns(1), threading.Event(), []
    found.take(CancelToken())

    def waits(name: str, reader: CancelToken) -> None:
        try:
            found.take(reader)
        except Cancelled:
            return
        order.append(name)
        found.give_back()

    threads = []
    for name in ("first", "gone", "second", "third"):
        reader = Leaves() if name == "gone" else CancelToken()
        threads.append(threading.Thread(target=waits, args=(name, reader)))
        threads[-1].start()
        until(lambda: len(found._waiting) == len(threads))
    leave.set()
    threads[1].join(60)
    found.give_back()
    for thread in threads:
        thread.join(60)
    assert order == ["first", "second", "third"]
    assert found._free == 1


def test_a_chain_looks_before_every_step() -> None:
    class After(CancelToken):
        left = 2

        def check(self) -> None:
            self.left -= 1
            if self.left < 0:
                self.cancel()
            super().check()

    x = np.random.default_rng(0).standard_normal((20, 4)).astype(np.float32)
    with pytest.raises(Cancelled):
        TransformChain.parse("center+zscore+normalize").fit(x, cancel=After())
    assert TransformChain.parse("center+zscore").fit(x, cancel=After()).d_out == 4


@pytest.mark.parametrize(
    "chain",
    [
        "random-project:8192",
        "random-project:1025",
        "+".join(["random-project:8192"] * 20),
        "+".join(["center"] * 5),
        "center+pca:999999999",
    ],
)
def test_chains_that_take_long_are_not_begun_on_a_demo(chain: str, settings: Settings) -> None:
    demo = Settings(settings.cache, "", "cpu", Mode.DEMO)
    with pytest.raises(InputError, match=r"takes? long"):
        policy.check_transform(chain, demo)
    policy.check_transform(chain, settings)  # at home


def test_what_pickers_offer_is_allowed_on_a_demo(settings: Settings) -> None:
    demo = Settings(settings.cache, "", "cpu", Mode.DEMO)
    for chain in (*READY_CHAINS, *(f"center+whiten:128+{name}" for name in STEPS)):
        policy.check_transform(chain, demo)
