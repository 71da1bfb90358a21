"""What the Lab's transforms were fitted on, in words, and one click to a corpus that is held out."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.datasets import catalog as datasets
from core.datasets import fetch, uploads
from core.datasets.catalog import DatasetEntry
from core.studies.lab.cells import share_seen
from core.studies.lab.grid import Grid
from core.studies.lab.page import form as lab_form
from core.transforms.chain import TransformChain
from core.ui.gone import readable_datasets
from core.ui.markdown import as_text
from core.ui.resources import cached, repository, settings

SEEN = 0.05  # of the tested texts: with more of them in the corpus, it is no longer called held out
TRIED = 8  # corpora that are looked at for one to offer


def fit_note(grid: Grid, key: str = "lab_fit") -> None:
    """What transforms were fitted on: a warning where it is the test items, and one click to the alternative.

    Args:
        key: of its parts, where it stands twice on the page.
    """
    learned = [chain for chain in grid.transforms if TransformChain.parse(chain).learns]
    if not learned:
        st.caption("No transform of this grid learns from items, so none has seen the test.")
        return
    names = ", ".join(learned)
    tested = list(dict.fromkeys(task.dataset for task in grid.tasks))
    with st.container(border=True, key=f"{key}_note"):
        text, button = st.columns([4, 1], vertical_alignment="center")
        if grid.fit_on:
            text.markdown(_on_another(names, tested, grid.fit_on))
            button.button("Fit on the test items", key=f"{key}_own", on_click=lab_form.fit_on(""), width="stretch")
            return
        corpora = "; ".join(_items(name) for name in tested)
        text.markdown(
            f":material/warning: {as_text(f'{names}: fitted on the very items that are tested: {corpora}.')} "
            "Some of what they gain may be gained from having seen the test."
        )
        if other := _other(tested, grid.encoders):
            button.button(
                f"Fit on {uploads.short_name(other, settings())} instead",
                key=f"{key}_other",
                on_click=lab_form.fit_on(other),
                help="The same grid, held out: runs of their own, which are kept beside these. Any other dataset can "
                "be chosen above.",
                width="stretch",
            )


def _on_another(names: str, tested: Sequence[str], corpus: str) -> str:
    """Markdown: how much of each test the corpus holds too."""
    here = lab_form.available(readable_datasets())
    shares = {name: _seen(name, corpus, here) for name in tested}
    seen = [f"{share:.0%} of {uploads.short_name(n, settings())}" for n, share in shares.items() if share]
    fitted = f"{names}: fitted on the {_items(corpus)}."
    if not seen:
        return as_text(f"Held out. {fitted} None of the tested texts is among them.")
    among = f"Of the tested texts, some are among them: {', '.join(seen)}."
    if max(shares.values()) > SEEN:
        return f":material/warning: {as_text(f'Not held out. {fitted} {among}')}"
    return as_text(f"Held out, but for a few texts. {fitted} {among}")


def _items(dataset: str) -> str:
    """``1,400 sentences of demo-pairs``."""
    entry = datasets.find(dataset)
    name = uploads.short_name(dataset, settings())
    return f"{entry.texts:,} {entry.unit}s of {name}" if entry.texts else f"items of {name}"


def _other(tested: Sequence[str], encoders: Sequence[str]) -> str:
    """A corpus of the same unit that holds next to none of the tested texts: encoded already if there is one, and then
    the largest; else the smallest. "" where there is none."""
    units = {datasets.find(name).unit for name in tested}
    encoded = {(facts.encoder, facts.texts) for facts in repository().embeddings()}
    readable = readable_datasets()
    here = lab_form.available(readable)
    entries = [readable[name] for name in here if readable[name].unit in units]

    def order(entry: DatasetEntry) -> tuple[bool, int]:
        is_here = all((encoder, entry.texts) in encoded for encoder in encoders)
        return not is_here, -entry.texts if is_here else entry.texts

    candidates = [entry.id for entry in sorted((e for e in entries if e.id not in tested), key=order)]
    return next((name for name in candidates[:TRIED] if all(_seen(test, name, here) <= SEEN for test in tested)), "")


def _seen(tested: str, corpus: str, here: Sequence[str]) -> float:
    """Share of the tested texts that stand in a corpus; 0 where one of them is not ``here`` yet."""
    if tested not in here or corpus not in here:
        return 0.0
    return _share(datasets.find(tested), datasets.find(corpus))


@cached(512, "Comparing texts …")
def _share(tested: DatasetEntry, corpus: DatasetEntry) -> float:
    return share_seen(fetch.load(tested, settings()), fetch.load(corpus, settings()))
