"""Screenshots of the prepared demo for the README and the documentation, light and dark: ``make screenshots``.

The server computes the demo in a folder of its own first, about two minutes. ``--cache`` takes one that has it. The
numbers in each picture are kept beside it (``figures.json``), and a test compares them with those of the demo. Taken
all together, they are also frames of an animated picture of the way through.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, Page  # noqa: E402

from benchmarks.app_server import serving  # noqa: E402
from benchmarks.browser import chromium  # noqa: E402

FOLDER = ROOT / "assets" / "screenshots"
FIGURES = FOLDER / "figures.json"  # the numbers in each picture
SIZE = {"width": 1280, "height": 735}
SETTLED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PATIENCE_MS = 120_000
COLORS = 160  # of a palette: a third of the bytes
SENTENCES = """(bottom) => [...document.querySelectorAll(
        '[data-testid="stMain"] [data-testid="stMarkdownContainer"], [data-testid="stMain"] .try > p')]
    .filter(element => element.checkVisibility() && element.getBoundingClientRect().top < bottom)
    .map(element => element.innerText)"""  # that begin above the bottom
EVERYWHERE = 1_000_000
DRAWN_MS = 2_000  # charts are drawn after the script has ended


class Shot(NamedTuple):
    """A picture: its name, the address, and what is scrolled to the top, "" for the top of the page."""

    name: str
    address: str
    below: str = ""


_TWO = "model=minilm~none&model=minilm-static~none"
SHOTS = (
    Shot("findings", "findings?on=demo-minimal"),  # fonts of other scripts may be missing
    Shot("compare", f"compare?{_TWO}"),
    Shot("evalrank", f"evalrank?{_TWO}"),
    Shot("pair", "evalrank?model=minilm~none&item=18", ".st-key-drill"),
    Shot("heros", f"heros?{_TWO}"),
    Shot("neighbors", f"neighbors?{_TWO}"),
    Shot("try", f"try_it?sentence={quote('The patient may not take more than two of these tablets.')}"),
)
WAY = ("findings", "evalrank", "pair", "compare", "try")
FRAME_MS = 4_000


def main(arguments: Sequence[str]) -> None:
    """Take all screenshots, or those that are named."""
    names = [name for name in arguments if not name.startswith("--cache=")]
    caches = [Path(name.removeprefix("--cache=")) for name in arguments if name.startswith("--cache=")]
    with tempfile.TemporaryDirectory() as temporary:
        cache = caches[0] if caches else Path(temporary)
        with serving(cache, prepare="no" if caches else "yes") as server, chromium() as browser:
            while not ready(server.address):
                time.sleep(1)
            figures = json.loads(FIGURES.read_text("utf-8")) if names else {}
            for scheme in ("light", "dark"):
                pictures = {}
                for shot in SHOTS:
                    if not names or shot.name in names:
                        pictures[shot.name], figures[shot.name] = take(browser, server.address, shot, scheme)
                if pictures.keys() >= set(WAY):
                    animate([pictures[name] for name in WAY], scheme)
            FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", "utf-8")


def ready(server: str) -> bool:
    """Whether all of the demo is there."""
    try:
        with urlopen(f"{server}/ready"):  # noqa: S310 - a server of ours
            return True
    except HTTPError:  # 503, not yet
        return False


def take(browser: Browser, server: str, shot: Shot, scheme: str) -> tuple[Image.Image, list[str]]:
    """Write ``NAME.png`` or ``NAME-dark.png``; returns the picture, and the numbers in it."""
    context = browser.new_context(viewport=SIZE, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    show(page, server, shot)
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    file = FOLDER / f"{shot.name}{_ending(scheme)}.png"
    picture.quantize(COLORS).save(file, optimize=True)
    _tell(file)
    figures = figures_on(page)
    context.close()
    return picture, figures


def animate(frames: Sequence[Image.Image], scheme: str) -> None:
    """Write ``way.webp`` or ``way-dark.webp``: the frames one after the other, again and again."""
    file = FOLDER / f"way{_ending(scheme)}.webp"
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0, quality=80, method=6)
    _tell(file)


def _ending(scheme: str) -> str:
    return "" if scheme == "light" else "-dark"


def _tell(file: Path) -> None:
    sys.stderr.write(f"{file.name} {file.stat().st_size / 1e3:.0f} kB\n")


def show(page: Page, server: str, shot: Shot) -> None:
    """Open the page of a picture, and scroll to what it shows."""
    page.goto(f"{server}/{shot.address}")
    page.wait_for_selector(SETTLED)
    page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')")
    page.wait_for_timeout(DRAWN_MS)
    if shot.below:
        page.locator(shot.below).first.evaluate("element => element.scrollIntoView({block: 'start'})")
        page.wait_for_timeout(DRAWN_MS)


def figures_on(page: Page, bottom: int = SIZE["height"]) -> list[str]:
    """The numbers in sentences above the bottom, in their order."""
    texts = page.evaluate(SENTENCES, bottom)
    return [number for text in texts for number in re.findall(r"\d+(?:[.,]\d+)*%?", text)]


if __name__ == "__main__":
    main(sys.argv[1:])
