"""Table of models on the page *Models*, the details of one, and its removal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from blindspot import names
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.diagnostic import Diagnostic, all_diagnostics, find_diagnostic
from blindspot.encoders.base import EncoderIdentity, RolePrompts, prompt_warning, prompts_in_words
from blindspot.encoders.references import with_roles
from blindspot.errors import BlindspotError
from blindspot.figures.html_tables import facts_table
from blindspot.figures.theme import SEQUENTIAL, shade
from blindspot.names import Kind
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import percent
from blindspot.references import ModelRef
from blindspot.runs import encoders_here, requesting
from blindspot.runs.encoders_here import EncoderSummary, Library
from blindspot.studies.setup_check.page import setup_check
from blindspot.texts import counted
from blindspot.ui.markdown import as_text
from blindspot.ui.page_state import PageState, link
from blindspot.ui.pickers import DEFAULT_DATASET, Picks, own_dataset
from blindspot.ui.resources import allowed, explained, jobs, repository, scheme, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.addressed import one_named
from blindspot.ui.widgets.tables import dataset_title
from blindspot.ui.widgets.work import demo_button, run_button
from blindspot.workspace.renaming import name_field

KINDS = {
    encoders_here.CATALOG: "built in",
    encoders_here.WITH_PARAMETERS: "built in, another back end",
    "dir": "folder",
    "hf": "hub model",
    "api": "on a server",
    "vectors": "word vectors",
    "table": "precomputed",
    "run": "run of a search engine",
    "fuse": "fusion",
    "cat": "models joined",
    encoders_here.UNKNOWN: "not in this version",
}
DIAGNOSTIC, OF_RANKINGS = "evalrank", "retrieval"  # what "Run it" computes
CHECKED_KINDS = (encoders_here.CATALOG, "dir", "hf", "vectors", "api")
_ROW = "_models_row"
_ASKED = "_models_asked"  # reference whose removal waits for confirmation
_SAID = "_models_said"  # outcome of the last removal: (success, sentence)


def library() -> Library:
    return encoders_here.read_library(settings(), repository())


def empty(library_now: Library) -> None:
    """Before any run: offer the demo, since no speeds are known."""
    if any(e.runs for e in library_now.encoders):
        return
    with st.container(border=True, key="empty"):
        st.markdown(
            "No model has been run yet, so encoding speeds on this machine are unknown. "
            "The demo runs four models on built-in texts: no download, about a minute on two CPU cores."
        )
        demo_button()


def table(library_now: Library, added: str = "") -> None:
    """Draw all known models, one that was added just now on top and marked; selecting a row shows it below."""
    library_now = replace(library_now, encoders=tuple(sorted(library_now.encoders, key=lambda e: e.reference != added)))
    references = [e.reference for e in library_now.encoders]
    frame = pd.DataFrame([_row(e) for e in library_now.encoders]).astype({"dimension": "Int64", "parameters": "Int64"})
    number = st.column_config.NumberColumn
    is_new = bool(added) and references[0] == added
    marked = {0: f"background-color: {shade(SEQUENTIAL[scheme()], 0.5)}"} if is_new else {}
    tables.draw(
        frame.style.apply(lambda row: [marked.get(row.name, "")] * len(row), axis=1) if is_new else frame,
        key=_ROW,
        placeholder="–",
        on_select=lambda: _choose(references),
        selection_mode="single-row",
        column_config={
            # As wide as the page on a screen of 1400 pixels; the rest is in the details.
            "model": st.column_config.TextColumn(width=150, help="Select a row to see details or rename it."),
            "description": st.column_config.TextColumn(width=265),
            "dimension": number(width=78, format="localized", help="Length of an embedding."),
            "parameters": number(width=88, format="localized", help="Trained weights."),
            "memory, MB": number(width=90, format="%.0f", help="Size of the loaded weights."),
            "runs": number(width=46, help="Finished test runs."),
            "embeddings, MB": number("cached, MB", width=84, format="%.1f", help="Its cached embeddings on disk."),
            **dict.fromkeys(("kind", "license", "revision")),
        },
    )
    st.caption("Select a row for kind, license and other details.")
    if library_now.removed:
        st.caption(f"Removed models whose runs are kept: {_called(library_now.removed)}.")
    for path in library_now.damaged:
        st.warning("A file about cached embeddings is unreadable. Delete it; the texts will be encoded again.")
        st.text(str(path))


def _row(encoder: EncoderSummary) -> dict[str, object]:
    return {
        "model": names.current().model(encoder.reference),
        "description": encoder.title,
        **_sizes(encoder),
        "runs": len(encoder.runs),
        "embeddings, MB": encoder.size / 1e6 if encoder.stored else None,
        "kind": KINDS.get(encoder.kind, encoder.kind),
        "license": encoder.info.licence if encoder.info else None,
        "revision": encoder.identity.revision if encoder.identity else None,
    }


def _sizes(encoder: EncoderSummary) -> dict[str, float | None]:
    if not encoder.reference.has_vectors:
        return dict.fromkeys(("dimension", "parameters", "memory, MB"))
    memory = None if encoder.memory_bytes is None else encoder.memory_bytes / 1e6
    return {"dimension": encoder.dimension, "parameters": encoder.parameters, "memory, MB": memory}


def _called(references: Iterable[str]) -> str:
    return ", ".join(as_text(names.current().model(reference)) for reference in references)


def _choose(references: Sequence[str]) -> None:
    """Callback of a selected row; a name picked later wins."""
    rows = st.session_state[_ROW].selection.rows
    if rows and rows[0] < len(references):
        st.session_state["shown"] = references[rows[0]]


def chosen(library_now: Library) -> EncoderSummary | None:
    """The selected model; its reference is in the address."""
    _notice()
    references = [e.reference for e in library_now.encoders]
    name = one_named(
        "Details",
        references,
        key="shown",
        name=names.current().model,
        placeholder="Choose a model",
    )
    return library_now.find(name) if name else None


def _notice() -> None:
    """Draw the outcome of the last removal, until the next action."""
    if message := st.session_state.pop(_SAID, None):
        is_well, sentence = message
        (st.success if is_well else st.error)(as_text(sentence))


def details(encoder: EncoderSummary, library_now: Library, picks: Picks) -> None:
    """Draw one model's facts, runs and embeddings, and its removal."""
    with st.container(border=True, key="details"):
        name = names.current().model(encoder.reference)
        st.markdown(f"**{as_text(name)}**" + (f": {as_text(encoder.title)}" if encoder.is_of_catalog else ""))
        name_field(Kind.MODEL, encoder.reference, names.current().every_version(encoder.reference))
        st.markdown(as_text(encoder.description))
        prompt_note(encoder)
        left, right = st.columns(2, gap="medium")
        with left:
            st.html(facts_table(_what_and_cost(encoder), scheme(), "Model and cost"))
        with right:
            if encoder.identity:
                facts = _identity(encoder.identity, encoder.unused_prompts, encoder.role_prompts)
                st.html(facts_table(facts, scheme(), "Settings that determine its results"))
            else:
                st.caption("Its settings are unknown until you check it below or run it.")
        _runs(encoder, picks)
        if _may_be_checked(encoder):
            setup_check(
                encoder.reference, [other.reference for other in library_now.encoders if _may_be_checked(other)]
            )
        _on_disk(encoder)
        _removal(encoder, library_now)


def _may_be_checked(encoder: EncoderSummary) -> bool:
    """Whether its set-up can be checked: it encodes any text, and was not fitted to these."""
    return encoder.kind in CHECKED_KINDS and encoder.reference not in ("lsa", "bag-of-words")


def _what_and_cost(encoder: EncoderSummary) -> dict[str, str]:
    speeds = ", ".join(
        f"{speed.texts_per_second:,.0f} texts/s on {speed.device}"
        f"{f' on {speed.measured_at:%Y-%m-%d}' if speed.measured_at else ''}"
        for speed in encoder.speeds
    )
    if speeds and encoder.shares_pass_with:
        others = ", ".join(names.current().model(reference) for reference in encoder.shares_pass_with)
        speeds += f"; the whole pass, together with {others}"
    return {
        "reference": encoder.reference,
        "kind": KINDS.get(encoder.kind, encoder.kind),
        **_about(encoder),
        **_size(encoder),
        **({"speed here": speeds or "not known yet: it was not run"} if encoder.reference.has_vectors else {}),
    }


def found_facts(encoder: EncoderSummary) -> dict[str, str]:
    """What a check found."""
    facts = {"title": encoder.title, **_about(encoder)}
    facts |= _size(encoder)
    if encoder.identity is None:
        return facts
    return facts | _identity(encoder.identity, encoder.unused_prompts, encoder.role_prompts)


def prompt_note(encoder: EncoderSummary) -> None:
    """Warn of declared prompts that are not applied, naming the reference that applies them, and of a server that
    answers with another model than before."""
    if encoder.is_served and (change := encoders_here.change_of(encoder.reference, settings())):
        st.warning(as_text(change), icon=":material/published_with_changes:")
    if warning := prompt_warning(encoder.unused_prompts):
        st.warning(as_text(f"{names.current().model(encoder.reference)} {warning}"), icon=":material/report:")
    roles = encoder.role_prompts
    if roles and not roles.given and (reference := with_roles(encoder.reference, roles.query, roles.document)):
        st.caption(f"With its prompts of queries and documents in {_in_words(_given_only())}, too:")
        st.code(reference, language=None, wrap_lines=True)


def _given_only() -> list[str]:
    """Titles of the diagnostics that take only prompts of roles which the reference gives."""
    return [entry.title for entry in all_diagnostics().values() if entry.roles and not entry.roles.declared_too]


def _in_words(titles: Sequence[str]) -> str:
    return f"{', '.join(titles[:-1])} and {titles[-1]}" if len(titles) > 1 else "".join(titles)


def _about(encoder: EncoderSummary) -> dict[str, str]:
    info = encoder.info
    decides = {
        "assumed": "; ".join(encoder.assumed),
        "declared similarity": "" if encoder.similarity == "cosine" else encoder.similarity,
        "encoded by": encoder.encoded_by,
    }
    decides = {name: text for name, text in decides.items() if text}
    if info is None:
        return {"license": "unknown", **decides}
    partial = {"coverage": "some texts may have no vector"} if info.is_partial else {}
    link = {"link": info.url} if info.url.startswith("https://") else {}  # a browser opens no file of the server's
    return {"license": info.licence or "unknown", "citation": info.citation, **link, **partial, **decides}


def _size(encoder: EncoderSummary) -> dict[str, str]:
    dimension, parameters, memory_bytes = encoder.dimension, encoder.parameters, encoder.memory_bytes
    if not encoder.reference.has_vectors:
        return {"vectors": "none: it ranks documents"}
    return {
        "dimension": "unknown" if dimension is None else f"{dimension:,}",
        "parameters": "unknown" if parameters is None else f"{parameters:,}",
        "size in memory": "unknown" if memory_bytes is None else _bytes(memory_bytes),
    }


def _identity(identity: EncoderIdentity, unused: Mapping[str, str], roles: RolePrompts | None) -> dict[str, str]:
    """``unused`` are declared prompts that are not applied."""
    by_role = {}
    if roles:
        where = [e.title for e in all_diagnostics().values() if e.roles and (roles.given or e.roles.declared_too)]
        for role, prompt in (("queries", roles.query), ("documents", roles.document)):
            by_role[f"prompt of {role}"] = f"{f'“{prompt}”' if prompt else 'none'}, in {_in_words(where)}"
    return {
        "revision": identity.revision,
        "pooling": identity.pooling,
        **by_role,
        "prompt of other texts" if roles else "prompt": f"“{identity.prompt}”"
        if identity.prompt
        else "none applied"
        if unused
        else "none",
        **({"prompts not applied": prompts_in_words(unused)} if unused else {}),
        "max length": f"{identity.max_length:,} tokens, then cut off" if identity.max_length else "no limit",
        "precision": identity.dtype,
        "libraries": ", ".join(identity.libraries) or "none that matter",
    }


def _bytes(size: int) -> str:
    """A size in bytes or MB."""
    if size < 1e5:
        return f"{size:,.0f} bytes"
    return f"{size / 1e6:,.1f} MB"


def _runs(encoder: EncoderSummary, picks: Picks) -> None:
    """Draw links to its runs, and the button that runs it on the picked dataset."""
    st.markdown("**Runs**")
    diagnostic = find_diagnostic(DIAGNOSTIC if encoder.reference.has_vectors else OF_RANKINGS)
    ours = [run for run in encoder.runs if run.plan.diagnostic == diagnostic.id]
    for dataset in sorted({run.plan.dataset for run in ours}):
        runs = [run for run in ours if run.plan.dataset == dataset]
        metrics = sorted({run.plan.params.get("metric", Similarity.COS.value) for run in runs})
        variants = list(dict.fromkeys(run.plan.variant for run in reversed(runs)))  # the first run first
        transforms = ", ".join(variant.transform for variant in variants)
        with st.container(horizontal=True, vertical_alignment="center"):
            label = f"{diagnostic.title} on {dataset_title(dataset)}: {as_text(transforms)}"
            there = PageState(dataset, metrics[0], variants)
            link(diagnostic.place[0], there, label=label, icon=":material/leaderboard:")
            if encoder.reference.has_vectors:
                st.caption(_cut_off(runs[0].manifest.get("embeddings", {}).get("truncated_share")))
    if not ours:
        st.caption("No runs yet.")
    offer(encoder.reference, picks, key="run_chosen", primary=not ours)


def _cut_off(share: float | None) -> str:
    if share is None:
        return "Truncation was not recorded."
    if share == 0:
        return "No text was truncated."
    return (
        f"{percent(share, 1)} of the texts were truncated."
        if share >= 0.001
        else "Fewer than 0.1% of the texts were truncated."
    )


def _on_disk(encoder: EncoderSummary) -> None:
    if not encoder.stored:
        return
    st.markdown("**Embeddings on disk**")
    rows = [
        {
            "texts of": ", ".join(encoder.datasets.get(stored.facts.digest, ())) or "unknown",
            "texts": stored.facts.texts,
            "MB": stored.size / 1e6,
            "encoded on": stored.facts.device,
            "seconds": stored.facts.seconds,
            "truncated texts": stored.facts.truncated,
        }
        for stored in encoder.stored
    ]
    tables.draw(
        pd.DataFrame(rows).astype({"truncated texts": "Int64"}),
        key="on_disk",
        placeholder="–",
        column_config={
            "texts": "localized",
            "MB": "%.1f",
            "seconds": "%.1f",
        },
    )


def offer(reference: ModelRef, picks: Picks, *, key: str, primary: bool = True) -> None:
    """Draw the button that tests a model on the picked dataset, or on one of the reader's own."""
    dataset = _to_test_on(picks)
    try:
        entry = _testing(reference, dataset)
        params = {"metric": picks.metric} if entry.has_metric else {}
        requests = [requesting.request(entry.id, reference, "none", dataset, params, settings())]
    except BlindspotError as error:  # its folder is gone, or the dataset's file
        st.warning(f"This model cannot run now: {as_text(explained(error))}")
        return
    title = f"{names.current().model(reference)} on {title_of(dataset)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        run_button(f"Test it on {dataset_title(dataset)}", title, requests, key=key, primary=primary)
        st.caption(
            f"{entry.title}, similarity {picks.metric}. "
            "Pick another dataset in the sidebar, or use *Run* for more. Existing results are reused."
        )


def _to_test_on(picks: Picks) -> DatasetRef:
    """The picked dataset if it is the reader's own or picked by them, else their own that was added or run last."""
    if picks.dataset != DEFAULT_DATASET:
        return picks.dataset
    return own_dataset() or picks.dataset


def _testing(reference: ModelRef, dataset: DatasetRef) -> Diagnostic:
    """The diagnostic to begin with on a dataset: the first of its kind that has a page."""
    kind, has_vectors = dataset.entry().kind, reference.has_vectors
    fitting = [entry for entry in all_diagnostics().values() if entry.dataset_kind is kind and entry.page]
    fitting = [entry for entry in fitting if has_vectors or entry.takes_rankings]
    return fitting[0] if fitting else find_diagnostic(DIAGNOSTIC if has_vectors else OF_RANKINGS)


# --- removal


def _removal(encoder: EncoderSummary, library_now: Library) -> None:
    """Draw the removal of a model, or of a built-in model's embeddings, with a confirmation."""
    if not allowed().changes:
        return
    if encoder.is_of_catalog and not encoder.stored:
        st.caption("Built in, no cached embeddings: nothing to remove.")
        return
    label = "Delete embeddings" if encoder.is_of_catalog else "Remove model"
    if _in_use(encoder):
        st.button(f"{label} …", key="remove", icon=":material/delete:", disabled=True)
        st.caption("A job uses this model. Cancel it or wait until it ends.")
        return
    if st.session_state.get(_ASKED) != encoder.reference:
        st.button(f"{label} …", key="remove", icon=":material/delete:", on_click=_ask, args=(encoder.reference,))
        return
    with st.container(border=True, key="confirm"):
        st.markdown(_consequences(encoder, library_now))
        with st.container(horizontal=True):
            st.button(label, key="remove_yes", type="primary", on_click=_remove, args=(encoder.reference,))
            st.button("Keep", key="remove_no", on_click=_ask, args=(None,))


def _consequences(encoder: EncoderSummary, library_now: Library) -> str:
    """What a removal deletes and keeps, as Markdown."""
    removal = encoders_here.removal_of(encoder, library_now, settings())
    parts = []
    if removal.embeddings:
        parts.append(counted(removal.embeddings, "set of embeddings", "sets of embeddings"))
    if removal.upload:
        parts.append("the uploaded file")
    text = "This removes it from the list. It has no cached embeddings."
    if parts:
        text = f"**This deletes** {' and '.join(parts)} ({_bytes(removal.size)})."
    if encoder.runs:
        text += f" **Kept**: {counted(len(encoder.runs), 'run')} with all scores. "
        text += (
            "You will not be able to inspect their single pairs."
            if removal.upload
            else "Inspecting single pairs will need encoding again."
        )
    if encoder.kind == "hf":
        text += " The downloaded model files stay in the cache."
    elif encoder.kind != encoders_here.CATALOG and not removal.upload:
        text += " Its own files stay."
    return text


def _in_use(encoder: EncoderSummary) -> bool:
    """Whether a job of this server or another process uses it."""
    queued = any(encoder.reference in job.encoders for job in jobs().active())
    return queued or encoder.is_running


def _ask(reference: str | None) -> None:
    st.session_state[_ASKED] = reference


def _remove(reference: str) -> None:
    st.session_state[_ASKED] = None
    library_now = library()
    encoder = library_now.find(reference)
    if encoder and _in_use(encoder):  # since the page was drawn
        st.session_state[_SAID] = (False, f"{names.current().model(reference)} is in use; nothing was removed.")
        return
    try:
        removal = encoders_here.remove(reference, settings(), repository())
    except BlindspotError as error:
        st.session_state[_SAID] = (False, explained(error))
        return
    is_gone = bool(encoder and not encoder.is_of_catalog)
    if is_gone:
        st.session_state["shown"] = None
    what = "was removed" if is_gone else "no longer has cached embeddings"
    deleted = f" {_bytes(removal.size)} were deleted." if removal.size else ""
    st.session_state[_SAID] = (True, f"{names.current().model(reference)} {what}.{deleted}")
