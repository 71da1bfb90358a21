"""Form on the page *Data* that makes minimal pairs from a reader's own texts: kinds, a preview to accept or reject, and
the dataset."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from blindspot.datasets import uploads
from blindspot.datasets.perturbations import keeping, making, source
from blindspot.datasets.perturbations.making import Made, Proposal
from blindspot.datasets.perturbations.measured import MEASURED, SENTENCES
from blindspot.datasets.perturbations.rules import KINDS
from blindspot.errors import BlindspotError
from blindspot.figures.html_tables import marked
from blindspot.texts import counted, word_changes
from blindspot.types import digest_of_strings
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import allowed, cached, explained, scheme, upload_settings, visitor
from blindspot.ui.turns import for_reader
from blindspot.ui.widgets import downloads, tables
from blindspot.ui.widgets.browse_table import Pages
from blindspot.ui.widgets.downloads import Holds
from blindspot.workspace.data import upload

MOST_TEXTS, MOST_OF_VISITOR = 2_000, 500  # texts: the command line takes more
PER_PAGE = 6
_REJECTED = "_make_rejected"  # ids of rewrites, by texts and seed
_PAGE = "make_page"
_ALL = "all kinds"


def make() -> None:
    """Draw the form; what it makes becomes one of the reader's own datasets."""
    with st.expander("Make minimal pairs from your own texts", icon=":material/compare_arrows:", key="make_minimal"):
        st.markdown(
            "Rules change one thing in each text. Some keep the meaning (case, spacing, a typo), others change it (a "
            "number, a negation, a date). *HEROS* then tells how often a model finds the kept meaning nearer. The "
            f"rules are English, and look at closed lists of words. At most {_most():,} texts here."
        )
        file = st.file_uploader(
            "A file of texts: .txt with one per line, or a table with a column called text",
            type=[ending.removeprefix(".") for ending in _endings()],
            max_upload_size=upload.most_megabytes(),
            key="make_file",
        )
        typed = st.text_area(
            "Or type texts, one per line",
            key="make_texts",
            max_chars=allowed().text,
            disabled=file is not None,
            height=100,
        )
        chosen = st.multiselect(
            "Kinds of change",
            list(KINDS),
            format_func=lambda kind: f"{_in_words(kind)} ({KINDS[kind][0].meaning})",
            key="make_kinds",
            placeholder="all kinds",
        )
        seed = int(st.number_input("Seed", 0, 2**31 - 1, making.SEED, key="make_seed", width=160))
        made = None
        try:
            texts = _texts(file, typed)
            made = _made(texts, tuple(chosen), seed) if texts else None
        except BlindspotError as error:
            st.error(as_text(explained(error)), icon=":material/error:")
        _kinds(made, chosen or list(KINDS))
        if made is not None:
            _preview(made)
            _result(made, Path(file.name).stem if file is not None else "typed")


def _endings() -> tuple[str, ...]:
    formats = allowed().uploads.formats  # a demo takes no Parquet
    return tuple(ending for ending in source.ENDINGS if ending == ".txt" or ending.removeprefix(".") in formats)


def _most() -> int:
    return MOST_TEXTS if visitor() is None else MOST_OF_VISITOR


def _texts(file: UploadedFile | None, typed: str) -> tuple[str, ...]:
    """The reader's texts; none where there are none yet."""
    if file is None and not typed.strip():
        return ()
    limits = allowed().uploads
    data = typed.encode() if file is None else file.getvalue()
    if limits.size is not None and file is not None and Path(file.name).suffix.lower() != ".txt":
        limits.check_file(file.name, len(data))
    name = "typed.txt" if file is None else uploads.shown_name(file.name)
    texts = _parsed(name, data)
    limits.check_table(len(texts), 1, max(map(len, texts)))
    return texts


@cached(4, "Reading the texts …", shared=True)
def _parsed(name: str, data: bytes) -> tuple[str, ...]:
    return for_reader(partial(source.parse, Path(name), data, most=_most()))


@cached(4, "Making rewrites …", shared=True)
def _made(texts: tuple[str, ...], kinds: tuple[str, ...], seed: int) -> Made:
    return for_reader(making.propose, texts, kinds, seed)


def _rejected(made: Made) -> set[str]:
    """The rewrites that the reader rejected: kept as long as texts and seed stay the same."""
    key = digest_of_strings([str(made.seed), *made.texts])
    rejected: set[str] = st.session_state.setdefault(_REJECTED, {}).setdefault(key, set())
    return rejected


def _in_words(name: str) -> str:
    return name.replace("_", " ")


def _kinds(made: Made | None, kinds: Sequence[str]) -> None:
    """A row per kind: what it does, how well, and what it made of the texts."""
    counts = {counted.kind: counted for counted in made.by_kind(_rejected(made))} if made else {}
    rows = []
    for kind in (kind for kind in KINDS if kind in kinds):
        first, measured = KINDS[kind][0], MEASURED[kind]
        row: dict[str, object] = {"kind": _in_words(kind), "meaning": first.meaning.value}
        if made:
            of_kind = counts[kind]
            row |= {
                "accepted": of_kind.rewrites,
                "passed over": of_kind.passed_over,
                "most frequent reason": of_kind.reasons[0][0] if of_kind.reasons else "",
            }
        else:
            row["change"] = first.what.replace("at place 1 of", "at each place of")
        rows.append(row | {"changed of 100": measured.changed, "right": round(100 * measured.precision)})
    tables.draw(
        rows,
        key="make_kinds_table",
        height=35 * (min(len(rows), 10) + 1) + 3,
        column_config={
            "kind": st.column_config.TextColumn(width=130),
            "meaning": st.column_config.TextColumn(width=75),
            "accepted": st.column_config.NumberColumn(format="%,d", width=75, help="Rewrites that you did not reject"),
            "passed over": st.column_config.NumberColumn(format="%,d", width=90),
            "changed of 100": st.column_config.NumberColumn(
                width=110, help=f"Of {SENTENCES} sentences that we wrote for this, how many the rule changes"
            ),
            "right": st.column_config.NumberColumn(
                format="%d%%", width=70, help="Share of these rewrites that are right, judged by hand"
            ),
        },
    )


# --- the preview


def _preview(made: Made) -> None:
    """The rewrites with their changed words marked, and a box for each."""
    kinds = [kind for kind in KINDS if any(p.rule.kind == kind for p in made.proposals)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = st.selectbox(
            "Show",
            [_ALL, *kinds],
            format_func=_in_words,
            key="make_shown",
            on_change=_to_first_page,
            width=220,
        )
        proposals = [p for p in made.proposals if shown in (_ALL, p.rule.kind)]
        st.button("Accept all shown", key="make_accept_all", on_click=_decide, args=(made, proposals, True))
        st.button("Reject all shown", key="make_reject_all", on_click=_decide, args=(made, proposals, False))
    pages = Pages.of(_PAGE, len(proposals), PER_PAGE)
    rejected = _rejected(made)
    for proposal in proposals[pages.rows]:
        with st.container(horizontal=True, gap="small", key=f"make_row_{proposal.id}"):
            key = f"make_accept_{proposal.id}"
            st.session_state[key] = proposal.id not in rejected
            label = f"{_in_words(proposal.rule.name)}: {as_text(' '.join(proposal.said.split()))}"
            st.checkbox(label, key=key, width=300, on_change=_toggle, args=(made, proposal, key))
            st.html(marked(word_changes(proposal.original, proposal.rewrite), scheme()), width="stretch")
    pages.turn(f"{counted(len(proposals), 'rewrite')}; clear a box to leave one out")
    st.caption("Underlined: added. Struck through: removed.")
    skipped = [skip for skip in made.skipped if shown in (_ALL, skip.rule.kind)]
    if shown != _ALL and skipped:
        st.markdown("**Passed over**")
        tables.draw(
            pd.DataFrame([{"text": made.texts[skip.number], "reason": skip.why} for skip in skipped]).drop_duplicates(),
            key="make_skipped",
            height=200,
        )


def _to_first_page() -> None:
    st.session_state[_PAGE] = 1


def _toggle(made: Made, proposal: Proposal, key: str) -> None:
    _decide(made, [proposal], bool(st.session_state[key]))


def _decide(made: Made, proposals: Sequence[Proposal], accepted: bool) -> None:
    ids = {proposal.id for proposal in proposals}
    rejected = _rejected(made)
    if accepted:
        rejected -= ids
    else:
        rejected |= ids


# --- the dataset


def _result(made: Made, stem: str) -> None:
    """The number of rows, and the buttons that keep and download them."""
    try:
        rows = making.rows(made, _rejected(made))
    except BlindspotError as error:
        st.info(as_text(explained(error)), icon=":material/info:")
        return
    name = keeping.name_of(stem)
    st.markdown(f"**{counted(len(rows), 'row')}** of {counted(len({row['original'] for row in rows}), 'text')}")
    with st.container(horizontal=True):
        st.button(
            "Add dataset",
            key="make_keep",
            type="primary",
            icon=":material/check:",
            on_click=_keep,
            args=(name, rows),
        )
        downloads.button(
            "JSONL",
            partial(making.as_jsonl, rows),
            Holds(),
            file_name=name,
            mime=downloads.LINES[2],
            key="make_download",
            help="A file of minimal pairs, for file: or another machine",
        )


def _keep(name: str, rows: Sequence[dict[str, str]]) -> None:
    upload.keep_as(lambda: keeping.keep(name, rows, upload_settings()))
