"""Visitors of a demo whose connection ends: they are waited for, and end when they do not come back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from blindspot.jobs import visitors
from blindspot.jobs.queue import JobQueue
from blindspot.jobs.visitors import Visitors
from blindspot.settings import Mode, Settings
from blindspot.store.repository import Repository


class Later:
    """A timer that goes off when the test says so."""

    started: list[Later]

    def __init__(self, seconds: float, function: Callable[..., None], args: tuple[str, ...]) -> None:
        self.function, self.args, self.is_on = function, args, False
        self.started.append(self)

    def start(self) -> None:
        self.is_on = True

    def cancel(self) -> None:
        self.is_on = False

    @classmethod
    def all_go_off(cls) -> None:
        for timer in cls.started:
            if timer.is_on:
                timer.function(*timer.args)


class World:
    def __init__(self, settings: Settings, queue: JobQueue) -> None:
        self.connected: set[str] = set()
        self.visitors = Visitors(settings, queue, self.connected.__contains__, 120)

    def arrives(self, session: str) -> visitors.Visitor:
        self.connected.add(session)
        return self.visitors.arrives(session)

    def leaves(self, session: str) -> None:
        self.connected.discard(session)
        self.visitors.leaves(session)


@pytest.fixture
def world(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    Later.started = []
    monkeypatch.setattr(threading, "Timer", Later)
    demo = replace(settings, mode=Mode.DEMO)
    queue = JobQueue(demo, Repository.at(demo.store))
    yield World(demo, queue)
    queue.close()


def test_who_comes_back_finds_their_texts(world: World) -> None:
    first = world.arrives("a")
    uploads = first.place.settings.uploads
    uploads.mkdir(parents=True)
    world.leaves("a")
    assert not first.gone.is_set()
    assert uploads.is_dir()
    assert world.arrives("a") is first
    assert world.visitors.came_back("a")
    assert not world.visitors.came_back("a"), "it is said once"
    Later.all_go_off()
    assert uploads.is_dir()
    world.leaves("a")
    Later.all_go_off()
    assert first.gone.is_set()
    assert not first.place.settings.home.exists()
    assert world.arrives("a") is not first


def test_a_page_that_is_still_drawn_when_its_reader_leaves_keeps_nothing(world: World) -> None:
    first = world.arrives("a")
    world.leaves("a")
    assert world.visitors.arrives("a") is first, "the page had not noticed yet"
    Later.all_go_off()
    assert first.gone.is_set()


def test_a_second_loss_begins_the_time_anew(world: World) -> None:
    first = world.arrives("a")
    world.leaves("a")
    early = Later.started[-1]
    world.arrives("a")
    world.leaves("a")
    assert not early.is_on
    assert not first.gone.is_set()


def test_of_many_who_are_away_the_first_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "MOST_AWAY", 2)
    everybody = {name: world.arrives(name) for name in "abcd"}
    for name in "abc":
        world.leaves(name)
    assert [name for name, one in everybody.items() if one.gone.is_set()] == ["a"]
    world.leaves("d")
    assert [name for name, one in everybody.items() if one.gone.is_set()] == ["a", "b"]
