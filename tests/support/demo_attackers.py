"""Ten attackers of a demo on this machine, for ``tests/server/test_demo_attacked.py``.

``python -m tests.support.demo_attackers PORT SECONDS [ATTACK]`` is a process of its own, so that it costs the honest
visitor's clock nothing; all of it is bounded in time and goes to 127.0.0.1 alone.
"""

from __future__ import annotations

import http.client
import itertools
import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from benchmarks.rerun_client import opened
from blindspot.errors import BlindspotError

PAUSE_SECONDS = 0.05  # what a proxy's bound of requests by address leaves of a flood
EXPECTED = (OSError, WebSocketException, BlindspotError, http.client.HTTPException)


class Attack:
    """A server, and when it is left alone again."""

    def __init__(self, port: int, seconds: float) -> None:
        self.port, self.until = port, time.monotonic() + seconds
        self.address = f"http://127.0.0.1:{port}"
        self.socket = f"ws://127.0.0.1:{port}/_stcore/stream"

    def visit(self, page: str, **query: str) -> None:
        with opened(self.address, page, query) as client:
            client.run()

    def leave(self, page: str, **query: str) -> None:
        """Open a page and be gone before it is drawn."""
        request = BackMsg()
        request.rerun_script.page_name = page
        request.rerun_script.query_string = "&".join(f"{name}={value}" for name, value in query.items())
        with connect(self.socket, compression=None) as page_socket:
            page_socket.send(request.SerializeToString())

    def ask(self, method: str, path: str, body: bytes | None = None) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.request(method, path, body)
            connection.getresponse().read()


def heavy_chains(attack: Attack, number: int) -> None:
    chain = "%2B".join([f"random-project:{1_024 - number % 500}"] * 4)
    attack.leave("evalrank", view="what+if", if_transform=chain)


def heavy_chains_read(attack: Attack, number: int) -> None:
    attack.visit("evalrank", view="what if", if_transform=f"whiten:{300 - number % 200}+random-project:1024")


def refused_chains(attack: Attack, _: int) -> None:
    attack.visit("evalrank", view="what if", if_transform="+".join(["random-project:8192"] * 20))


def idle_pages(attack: Attack, _: int) -> None:
    with ExitStack() as stack:
        for _number in range(40):
            stack.enter_context(connect(attack.socket, compression=None))
        time.sleep(2)


def half_requests(attack: Attack, _: int) -> None:
    with ExitStack() as stack:
        for _number in range(100):
            sent = stack.enter_context(socket.create_connection(("127.0.0.1", attack.port), timeout=10))
            sent.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        time.sleep(2)


def long_messages(attack: Attack, number: int) -> None:
    with connect(attack.socket, compression=None) as page:
        page.send(b"\0" * ((5 if number % 2 else 30) * 2**20))
        page.recv(10)


def texts(attack: Attack, number: int) -> None:
    attack.visit("neighbors", q=f"a text of its own, number {number} " * 40)


def maps(attack: Attack, number: int) -> None:
    attack.visit("map", picture="pca", item=str(number % 100))


def addresses(attack: Attack, number: int) -> None:
    attack.ask("GET", f"/{'x' * (number % 2_000)}")
    attack.ask("POST", "/_stcore/health", b"x" * 60_000)


def strange_pages(attack: Attack, number: int) -> None:
    pages = ("intruder", "heros", "data", "run", "evidence", "words")
    attack.leave(pages[number % len(pages)], data="file:/etc/passwd", model="dir:/", session="x" * 5_000, item="1e999")


ATTACKS: tuple[Callable[[Attack, int], None], ...] = (
    heavy_chains,
    heavy_chains_read,
    refused_chains,
    idle_pages,
    half_requests,
    long_messages,
    texts,
    maps,
    addresses,
    strange_pages,
)


# --- by which one visitor stopped the demo for all: five connections of each


def many_names(attack: Attack, number: int) -> None:
    """Ask for addresses of files, two million at first, then as many as are taken."""
    request = BackMsg()
    request.file_urls_request.file_names.extend([""] * (2_000_000, 200_000, 30_000, 1_000)[number % 4])
    with connect(attack.socket, compression=None, max_size=None) as page:
        for _ in range(20):
            page.send(request.SerializeToString())
            page.recv(20)


def many_reruns(attack: Attack, number: int) -> None:
    """Ask for the page again and again, twenty times a second or as fast as it goes."""
    request = BackMsg()
    request.rerun_script.page_name = "evalrank"
    with connect(attack.socket, compression=None, max_size=None) as page:
        threading.Thread(target=_read_all, args=(page,), daemon=True).start()
        while time.monotonic() < attack.until:
            page.send(request.SerializeToString())
            time.sleep(0.05 * (number % 2))


def _read_all(page: ClientConnection) -> None:
    with suppress(*EXPECTED):
        while True:
            page.recv()


def rewriting(attack: Attack, number: int) -> None:
    """Have texts rewritten that are slow for rules, others every time, and leave."""
    with opened(attack.address, "data") as client:
        client.run()
        box = next(one.widget_id for one in client.widgets.values() if one.widget_id.endswith("make_texts"))
        lines = [f"{'a ' * 18}{number} {threading.get_ident()} {line}" for line in range(40)]
        client.run([WidgetState(id=box, string_value="\n".join(lines)[:2_000])])


def many_areas(attack: Attack, number: int) -> None:
    """Name areas of a figure, thousands of them."""
    attack.visit("evalrank", view="pairs", area=";".join(["1-3,1-500"] * (2_000 + number % 1_000)))


STOPPERS = {stopper.__name__: stopper for stopper in (many_names, many_reruns, rewriting, many_areas)}
AT_ONCE = 5


def main(port: int, seconds: float, kinds: Sequence[Callable[[Attack, int], None]] = ATTACKS) -> dict[str, int]:
    """Attack; how often each came through its turn, and how often it was refused or cut off."""
    attack, done = Attack(port, seconds), Counter[str]()

    def attacker(kind: Callable[[Attack, int], None]) -> None:
        for number in itertools.count():
            if time.monotonic() > attack.until:
                return
            try:
                kind(attack, number)
                done[kind.__name__] += 1
            except EXPECTED:
                done[f"{kind.__name__}, refused"] += 1
            time.sleep(PAUSE_SECONDS)

    threads = [threading.Thread(target=attacker, args=(kind,), daemon=True) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 60)
    return dict(done)


if __name__ == "__main__":
    chosen = [STOPPERS[name] for name in sys.argv[3:]] * AT_ONCE
    print(json.dumps(main(int(sys.argv[1]), float(sys.argv[2]), chosen or ATTACKS)))
