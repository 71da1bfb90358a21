"""Form that makes questions, with defaults that work with one click, and the list of sets."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.errors import BlindspotError
from blindspot.numerics.similarity import Similarity
from blindspot.runs.encoders_here import known_references
from blindspot.studies.judgments import making, own_queries
from blindspot.studies.judgments.inventories import SENTENCES, SHORTEST_SENTENCE, Inventory, Ready
from blindspot.studies.judgments.making import LONGEST_TITLE, SEED, ItemsRequest
from blindspot.studies.judgments.own_queries import LONGEST, MAX_ROWS
from blindspot.studies.judgments.page import sets
from blindspot.studies.judgments.page.judged_set import judgments
from blindspot.studies.judgments.page.texts import ABOUT
from blindspot.studies.judgments.rules import COUNT_TOLERANCE, INTRUDERS_FROM, LOG10_TOLERANCE, RANKS, Closeness, Rule
from blindspot.studies.judgments.types import Task
from blindspot.ui.markdown import as_text
from blindspot.ui.pickers import known_datasets
from blindspot.ui.resources import allowed, explained, repository, settings
from blindspot.ui.turns import for_reader
from blindspot.ui.widgets.addressed import begin_with
from blindspot.ui.widgets.model_choice import own_at_first
from blindspot.ui.widgets.run_form import encoders_in_words, steps_in_words
from blindspot.ui.widgets.work import task_button
from blindspot.variants import Variant

DEFAULT_VARIANTS = ("minilm", "minilm-static", "random-projection")
MOST_AT_FIRST = 3  # models: every question costs somebody's time
DEFAULT_DATASET = DatasetRef("vocab-wordfreq")
OFFERED_RANKS = (1, 2, 5, 10, 20, 50, 100)
OWN = "own"
RULES = {
    Closeness.LOG10: f"within {LOG10_TOLERANCE:g} of the mean, in log10",
    Closeness.COUNT: f"within {COUNT_TOLERANCE:g} counts of the mean, as in the paper",
}


def show(task: Task) -> None:
    """The form, then the stored sets of the task."""
    if summaries := judgments().sets(task):
        with st.expander("Make other questions", icon=":material/add:", key=f"make_{task}"):
            st.caption(ABOUT[task])
            _form(task, first=False)
    else:
        st.info(f"No questions yet. {ABOUT[task]}", icon=":material/group:")
        _form(task, first=True)
    sets.show(summaries)


def _form(task: Task, *, first: bool) -> None:
    left, right = st.columns(2)
    with left:
        variants = _variants(task)
    with right:
        dataset = DatasetRef(
            st.selectbox(
                "Dataset",
                known_datasets(),
                index=known_datasets().index(DEFAULT_DATASET),
                key=f"make_{task}_dataset",
                persist_state="session",
                format_func=title_of,
                help="Its words or sentences are the queries, neighbors and intruders. The page *Data* shows each "
                "dataset and takes your own files.",
            )
        )
    try:
        of_sentences = dataset.entry().unit == "sentence"
        with left:
            inventory = _inventory(task, of_sentences)
        with right:
            queries = _how_many(task, inventory)
        rule = Rule()
        ranks: tuple[int, ...] = RANKS
        if task is Task.COMPARATIVE:
            with left:
                ranks = _ranks()
        elif not of_sentences:
            with left:
                rule = _rule()
        metric, seed, title = _more(task)
        if inventory is None:
            task_button("Make questions", "Making …", "", [], key=f"make_{task}_start")
            return
        asked = ItemsRequest(task, variants, dataset, metric, inventory, queries, rule, ranks, seed, title)
        request = making.check(asked, settings())
    except BlindspotError as error:
        st.error(as_text(explained(error)), icon=":material/error:")
        task_button("Make questions", "Making …", "", [], key=f"make_{task}_start")
        return
    task_button("Make questions", "Making …", request.label, [request], key=f"make_{task}_start")
    if first:
        st.caption("The first time, the dataset is encoded, which takes a minute or two. The page continues by itself.")


def _variants(task: Task) -> tuple[Variant, ...]:
    least = "One is enough." if task is Task.INTRUDER else "At least two."
    names = [str(v) for s in judgments().sets() for v in s.variants] + [str(v) for v in repository().variants()]
    names += [str(Variant(reference, "none")) for reference in known_references(settings(), repository())]
    offered = [*DEFAULT_VARIANTS, *(_short(Variant.parse(name)) for name in names)]
    begin_with(f"make_{task}_variants", lambda: own_at_first(MOST_AT_FIRST) or DEFAULT_VARIANTS)
    chosen = st.multiselect(
        "Models",
        list(dict.fromkeys(offered)),
        format_func=lambda variant: Variant.parse(variant).label if variant in offered else variant,
        key=f"make_{task}_variants",
        persist_state="session",
        accept_new_options=True,
        placeholder="Choose, or type MODEL~POST-PROCESSING",
        help=f"{least} Choose from the list, or type a model, or a model and its post-processing with `~` between, for "
        "example `minilm~center`, and press Enter.\n\n"
        f"Models:\n\n{encoders_in_words()}\n\nPost-processing:\n\n{steps_in_words()}",
    )
    return tuple(Variant.parse(name) for name in chosen)


def _short(variant: Variant) -> str:
    return variant.encoder if variant.transform == "none" else str(variant)


def _inventory(task: Task, of_sentences: bool) -> Ready | Inventory | None:
    """Choice of queries; None while a list is empty, ``InputError`` if something is wrong with it."""
    names = {
        Ready.DEFAULT: "100 words of ten kinds, balanced",
        Ready.SIMLEX: "Words of SimLex-999",
        Ready.SENTENCES: "Sentences of the dataset",
        OWN: "My own list",
    }
    if not allowed().changes:  # all visitors would see it
        del names[OWN]
    order = [Ready.SENTENCES, OWN, Ready.DEFAULT, Ready.SIMLEX] if of_sentences else list(names)
    chosen = st.selectbox(
        "Queries",
        [str(name) for name in order if name in names],
        key=f"make_{task}_inventory_{'sentences' if of_sentences else 'words'}",
        persist_state="session",
        format_func=lambda name: names[name],
        help="- **100 words**: ours, in the design of Schnabel et al. 2015: adjectives, adverbs, nouns and verbs, half "
        "abstract and half concrete, three of each ten rare\n- **SimLex-999**: about a thousand, with part of speech "
        f"and concreteness\n- **Sentences**: items of the dataset of at least {SHORTEST_SENTENCE} words, drawn at "
        "random\n- **My own list**: words or sentences that the dataset has",
    )
    return _own(task) if chosen == OWN else Ready(str(chosen))


def _own(task: Task) -> Inventory | None:
    typed = st.text_area(
        "One word or sentence a line",
        key=f"make_{task}_own",
        persist_state="session",
        placeholder="honesty\nhammer",
        max_chars=own_queries.MAX_BYTES // 4,
    )
    file = st.file_uploader(
        "Or a .txt, .csv or .tsv file",
        type=list(own_queries.TYPES),
        key=f"make_{task}_file",
        help="A .csv or .tsv has a first line with a column word, query or text, and may have the columns "
        "part_of_speech (adjective, adverb, noun, verb), concreteness (abstract, concrete) and category. At most "
        f"{MAX_ROWS:,} queries of at most {LONGEST} characters.",
    )
    if file is not None:
        own_queries_read = for_reader(own_queries.of_file, file.name, file.getvalue())
    elif typed and typed.strip():
        own_queries_read = for_reader(own_queries.of_text, typed)
    else:
        return None
    st.caption(as_text(own_queries_read.about))
    return own_queries_read


def _how_many(task: Task, inventory: Ready | Inventory | None) -> int | None:
    whole = f"{SENTENCES}" if inventory is Ready.SENTENCES else "all"
    chosen = st.number_input(
        "How many queries",
        min_value=1,
        value=None,
        step=10,
        key=f"make_{task}_queries",
        persist_state="session",
        placeholder=whole,
        help=f"Empty: {whole}. Otherwise this many, drawn at random. Each query makes one question per model, which "
        "takes a rater about ten seconds."
        if task is Task.INTRUDER
        else f"Empty: {whole}. Otherwise this many, drawn at random. Each query makes one question per rank.",
    )
    return None if chosen is None else int(chosen)


def _rule() -> Rule:
    chosen = st.selectbox(
        "An intruder's frequency",
        [str(closeness) for closeness in Closeness],
        key="make_intruder_rule",
        persist_state="session",
        format_func=lambda name: RULES[Closeness(name)],
        help="How close it must be to the mean of the other three words, so that frequency does not give it away. The "
        f"intruder is the first such word from rank {INTRUDERS_FROM} of the neighbor list. Counts depend on the size "
        "of the corpus: rare words have many others within 500 counts, frequent ones few.",
    )
    return Rule.of(Closeness(str(chosen)))


def _ranks() -> tuple[int, ...]:
    chosen: Sequence[int] = st.multiselect(
        "Neighbor ranks (k)",
        OFFERED_RANKS,
        default=RANKS,
        key="make_comparative_ranks",
        persist_state="session",
        help="One question per query and rank: which model's k-th neighbor is most similar?",
    )
    return tuple(chosen)


def _more(task: Task) -> tuple[Similarity, int, str]:
    with st.expander("Title, similarity, seed", key=f"make_{task}_more"):
        title = st.text_input(
            "Title",
            key=f"make_{task}_title",
            persist_state="session",
            max_chars=LONGEST_TITLE,
            disabled=not allowed().changes,
            placeholder="What is in it",
            help="Raters see it: do not name the models here.",
        )
        metric = st.selectbox(
            "Similarity",
            [m.value for m in Similarity],
            key=f"make_{task}_metric",
            persist_state="session",
            help="cos: cosine. l2: 1/(1 + distance).",
        )
        seed = st.number_input(
            "Seed",
            min_value=0,
            max_value=2**31,
            value=SEED,
            key=f"make_{task}_seed",
            persist_state="session",
            help="Seed of the sample of queries. The same settings and seed give the same questions.",
        )
    return Similarity(str(metric)), int(seed), str(title)
