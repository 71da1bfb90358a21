"""Forms that add a model on the page *Models*, by reference or by upload."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from blindspot.encoders import uploads
from blindspot.encoders.catalog import RANKINGS, SCHEMES, RankingEntry, SchemeEntry
from blindspot.encoders.served.reference import USUAL_KEY, ServedReference
from blindspot.figures.html_tables import facts_table
from blindspot.policy import MOST_NAMED
from blindspot.references import BM25
from blindspot.runs import encoders_here
from blindspot.runs.encoders_here import CheckedEncoder, Library
from blindspot.ui.boundary import errors_shown, said_of
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import Picks
from blindspot.ui.resources import allowed, repository, scheme, settings
from blindspot.ui.widgets.doors import TO_ADD, TYPED_MODEL
from blindspot.workspace.models import encoders

BY_REFERENCE, BY_UPLOAD, BY_ADDRESS = "reference", "upload", "address"
_TEST = "test"
_STYLES = {
    "openai": "OpenAI's API (vLLM, infinity, llama.cpp, ...)",
    "tei": "Text Embeddings Inference",
    "ollama": "Ollama",
    "cohere": "Cohere",
}
_OUTCOME = "_models_outcome"  # of the last check: (which form, reference or None, error as markdown)
_WANTED = "_models_wanted"  # the check that a button started: a rerun of the page forgets its buttons
_UPLOADS = "_models_uploads"  # number of uploads: a new key empties the field after each


def by_reference(library: Library, picks: Picks) -> None:
    """Draw the field for a model, and below it what was found; a model is checked before anything runs."""
    if not allowed().changes:
        st.info(
            "Models cannot be added or removed on this shared demo. Run Blindspot on your own machine to test your own."
        )
        return
    st.subheader("Add a model", anchor=False)
    with errors_shown():
        _by_reference(library, picks)


def other_ways(library: Library, picks: Picks) -> None:
    """Draw the forms for a model on a server, and for files to upload."""
    if not allowed().changes:
        return
    st.subheader("Add a model from a server, or upload one", anchor=False)
    with errors_shown():
        _by_address(library, picks)
    with errors_shown():
        _by_upload(library, picks)


def added() -> str:
    """Reference of the model that was added last in this session; "" without one."""
    _, reference, _ = st.session_state.get(_OUTCOME, ("", None, ""))
    return reference or ""


def _by_reference(library: Library, picks: Picks) -> None:
    if named := st.session_state.pop(TO_ADD, ""):
        st.session_state["reference"] = named
    if typed := st.session_state.pop(TYPED_MODEL, ""):
        st.session_state["reference"] = typed
        _want(BY_REFERENCE)
    # Streamlit's hint to press Enter would cover the end of a long path.
    st.html('<style>.st-key-reference [data-testid="InputInstructions"] {display: none}</style>')
    with st.form("check_form"):
        field, button = st.columns([5, 1], vertical_alignment="bottom")
        reference = field.text_input(
            "Model folder, Hugging Face name, or file",
            key="reference",
            max_chars=MOST_NAMED,
            persist_state="session",
            placeholder="for example /models/mine or BAAI/bge-small-en-v1.5",
        )
        button.form_submit_button(
            "Check", key="check", type="primary", width="stretch", on_click=_want, args=(BY_REFERENCE,)
        )
        st.caption(
            "Check reads the model's settings and lists it; its first run loads the weights. A hub model is downloaded "
            "first, which may take minutes. Paths are on the machine that runs Blindspot."
        )
    if _is_wanted(BY_REFERENCE):
        if reference.strip():
            _check(BY_REFERENCE, reference, lambda: encoders_here.add(reference, settings(), repository()))
        else:
            st.session_state[_OUTCOME] = (BY_REFERENCE, None, "Type where the model is, then press Check.")
    _outcome(BY_REFERENCE, library, picks)
    with st.expander("Every form of reference", icon=":material/list:"):
        st.markdown("\n".join(f"- `{s.form}`: {s.description}" for s in _by_path()))


def _by_path() -> list[SchemeEntry | RankingEntry]:
    return [*SCHEMES.values(), *(entry for name, entry in RANKINGS.items() if name != BM25)]


def _by_address(library: Library, picks: Picks) -> None:
    """Draw the form for a model on a server: its connection can be tested before it is added."""
    with st.form("served_form"):
        st.markdown("Connect to a model on a server")
        left, right = st.columns(2)
        url = left.text_input(
            "Address",
            key="served_url",
            max_chars=MOST_NAMED,
            persist_state="session",
            placeholder="http://localhost:8000/v1",
        )
        model = right.text_input(
            "Model name on the server",
            key="served_model",
            max_chars=MOST_NAMED,
            persist_state="session",
            placeholder="BAAI/bge-small-en-v1.5",
        )
        first, second, third = st.columns(3)
        style = first.selectbox(
            "Server",
            list(_STYLES),
            format_func=_STYLES.__getitem__,
            key="served_style",
            persist_state="session",
        )
        key_env = second.text_input(
            "Variable with the key",
            key="served_key_env",
            max_chars=MOST_NAMED,
            persist_state="session",
            placeholder=USUAL_KEY,
            help="Name of the environment variable that has the key, never the key itself. Set it where Blindspot is "
            f"started. If empty, {USUAL_KEY} is sent to servers of OpenAI's kind, where it is set.",
        )
        dimensions = third.text_input(
            "Dimensions",
            key="served_dimensions",
            max_chars=MOST_NAMED,
            persist_state="session",
            placeholder="the model's own",
        )
        query, document = st.columns(2)
        query_prompt = query.text_input(
            "Prompt of queries", key="served_query_prompt", max_chars=MOST_NAMED, persist_state="session"
        )
        document_prompt = document.text_input(
            "Prompt of documents", key="served_document_prompt", max_chars=MOST_NAMED, persist_state="session"
        )
        with st.container(horizontal=True):
            st.form_submit_button("Test connection", key="served_test", on_click=_want, args=(_TEST,))
            st.form_submit_button("Add", key="served_add", type="primary", on_click=_want, args=(BY_ADDRESS,))
        st.caption(
            "Both send a few short texts to this address. Before a run starts, it says what it sends. "
            "More options, such as texts per request, go into a reference at the top of this page: "
            "`api:URL#MODEL?batch=16`."
        )
    params = {
        "style": style,
        "key_env": key_env.strip(),
        "dimensions": dimensions.strip(),
        "query_prompt": query_prompt,
        "document_prompt": document_prompt,
    }
    tests = _is_wanted(_TEST)
    if tests or _is_wanted(BY_ADDRESS):
        st.session_state[_OUTCOME] = ("", None, "")
        reference = str(ServedReference.of(url, model, params))
        if tests:
            _test(reference)
        else:
            _check(BY_ADDRESS, model, lambda: encoders_here.add(reference, settings(), repository()))
    _outcome(BY_ADDRESS, library, picks)


def _test(reference: str) -> None:
    """Ask the server while the reader waits, and say how it answers."""
    with st.spinner("Asking the server …", show_time=True):
        answer = encoders_here.connect(reference, settings())
    limit = f"cuts texts after {answer.longest:,} tokens" if answer.longest else "does not say where it cuts texts"
    st.success(
        f"The server answers: {answer.dimension:,} dimensions, {answer.milliseconds:,.0f} ms for one text; it {limit}.",
        icon=":material/check_circle:",
    )


def _by_upload(library: Library, picks: Picks) -> None:
    number = st.session_state.setdefault(_UPLOADS, 0)
    with st.container(border=True, key="upload_box"):
        files = st.file_uploader(
            "Or upload word vectors, precomputed embeddings, or the run of a search engine",
            type=list(uploads.endings()),
            accept_multiple_files=True,
            key=f"upload_{number}",
            help="Word vectors: one .txt, .vec, .bin or .gz. "
            "Embeddings with their texts: one .parquet, .csv, .tsv or .jsonl; "
            "or a .npy together with a .txt with one text per line. "
            "The ranking of a search engine: a TREC run (.run, .trec), or MTEB's predictions (.json).",
        )
        limit = st.get_option("server.maxUploadSize")
        st.caption(
            f"For files above {limit} MB, enter their path at the top. Uploads stay in the cache until you remove the "
            "model."
        )
        st.button("Check the upload", key="check_upload", disabled=not files, on_click=_want, args=(BY_UPLOAD,))
    if _is_wanted(BY_UPLOAD):
        named = [(file.name, file.getbuffer()) for file in files]
        st.session_state[_UPLOADS] = number + 1
        title = " and ".join(name for name, _ in named)
        _check(BY_UPLOAD, title, lambda: encoders_here.add_upload(named, settings(), repository()))
    _outcome(BY_UPLOAD, library, picks)


def _want(origin: str) -> None:
    st.session_state[_WANTED] = origin


def _is_wanted(origin: str) -> bool:
    """Whether that form's check was started; True once."""
    if st.session_state.get(_WANTED) != origin:
        return False
    del st.session_state[_WANTED]
    return True


def _check(origin: str, title: str, add: Callable[[], CheckedEncoder]) -> None:
    """Check while the reader waits, keep the outcome, and redraw the page, since its table may have a new row."""
    with st.spinner(f"Checking {as_text(title)} …", show_time=True):
        try:
            st.session_state[_OUTCOME] = (origin, add().reference, "")
        except Exception as error:  # noqa: BLE001 - files may contain anything: logged, and shown below
            st.session_state[_OUTCOME] = (origin, None, said_of(error))
    st.rerun()


def _outcome(origin: str, library: Library, picks: Picks) -> None:
    """Draw the outcome of the last check: the model and a button to run it, or the error."""
    asked_by, reference, error = st.session_state.get(_OUTCOME, ("", None, ""))
    if asked_by != origin:
        return
    if error:
        st.error(error, icon=":material/error:")
        return
    encoder = library.find(reference) if reference else None
    if encoder is None:  # removed since
        return
    with st.container(border=True, key=f"found_{origin}"):
        outcome = "is built in" if encoder.is_of_catalog else "works and is now in the list, marked"
        st.success(f"{as_text(encoder.reference)} {outcome}.", icon=":material/check_circle:")
        encoders.prompt_note(encoder)
        encoders.offer(encoder.reference, picks, key=f"run_{origin}")
        st.html(facts_table(encoders.found_facts(encoder), scheme(), "What was found"))
