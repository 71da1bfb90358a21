"""What is in the store: every variant's scores and what it costs."""

import streamlit as st

from core import ui
from core.diagnostics import catalog as diagnostics
from core.figures import overview as figures
from core.ui import overview_parts as parts

# Per diagnostic: the metrics that stand in its tables, its page, and what that page shows.
SECTIONS = (
    (
        "evalrank",
        "MRR, raw ranks (higher is better)",
        {
            "mrr": "MRR",
            "hits@1": "Hits@1",
            "hits@3": "Hits@3",
            "hits@10": "Hits@10",
            "mrr_filtered": "MRR filtered",
            "hits@1_filtered": "Hits@1 filtered",
        },
        "See which pairs they get wrong",
    ),
    (
        "heros",
        "Sentences whose synonym is nearer than the antonym (higher is better)",
        {
            "synonym>antonym": "synonym > antonym",
            "synonym>negation_main": "synonym > negation",
            "synonym>random_mlm": "synonym > random word",
            "typo>random_mlm": "typo > random word",
        },
        "See which rewrites they take for the same",
    ),
    (
        "frequency",
        "Words told to be frequent or rare by a linear classifier (0.5 is chance)",
        {
            "accuracy": "accuracy",
            "accuracy_max": "highest accuracy",
            "control": "shuffled labels",
            "neighbour_exponent": "neighbours' exponent",
            "neighbour_r2": "R² of its fit",
        },
        "See it by threshold",
    ),
)

picks = ui.page("Overview", "Which encoder puts texts next to what means the same, and what does it cost?")
parts.interrupted()
finished = {count.diagnostic for count in ui.repository().counts() if count.finished}
if not finished:
    parts.empty()
for diagnostic, axis, columns, link in SECTIONS:
    if diagnostic not in finished:
        continue
    entry = diagnostics.find(diagnostic)
    st.header(entry.title, anchor=False)
    boards = parts.leaderboards(entry, picks, list(columns))
    if boards:
        scores = parts.headlines(entry, boards)
        names = [board.dataset for board in boards]
        chart = figures.score_dots(scores, names, axis, ui.variant_styles(), ui.scheme())
        st.plotly_chart(chart, key=f"dots_{diagnostic}")
        tested = parts.tested(boards)
        for board in boards:
            parts.board_table(entry, board, columns, test=board.dataset in tested)
        st.page_link(f"pages/{diagnostic}.py", label=link, icon=":material/arrow_forward:")
        ui.how_computed(entry)
    else:
        parts.none_fit(entry, picks)
