"""What is in the store: every variant's scores and what it costs."""

import pandas as pd
import streamlit as st

from core import ui
from core.diagnostics import catalog as diagnostics
from core.figures import overview as figures
from core.store.records import RunRecord, RunState
from core.ui import tables

COLUMNS = {
    "mrr": "MRR",
    "hits@1": "Hits@1",
    "hits@3": "Hits@3",
    "hits@10": "Hits@10",
    "mrr_filtered": "MRR filtered",
    "hits@1_filtered": "Hits@1 filtered",
}


def empty() -> None:
    """Nothing was run yet: say what happens next and offer it."""
    with st.container(border=True, key="empty"):
        others = bool(ui.repository().runs())
        st.subheader("No EvalRank run yet" if others else "Nothing has been run yet", anchor=False)
        st.markdown(
            "The demo ranks 400 sentence pairs of Blindspot's own with a real encoder, **all-MiniLM-L6-v2**, with and "
            "without centering. It needs no download and takes under a minute on two CPU cores. "
            "Afterwards you can look at every pair that the encoder gets wrong."
        )
        ui.demo_button(key="run_demo")


def interrupted(runs: list[RunRecord]) -> None:
    """Offer to go on with runs whose process ended."""
    with st.container(border=True, key="interrupted"):
        what = "1 run was" if len(runs) == 1 else f"{len(runs)} runs were"
        st.warning(f"{what} interrupted. What was encoded is kept.", icon=":material/report:")
        ui.rerun_button("Continue", "Interrupted runs", runs, key="resume")


def section(dataset: str, runs: list[RunRecord]) -> None:
    """One dataset's table."""
    st.subheader(tables.dataset_title(dataset), anchor=False)
    frame = pd.concat([tables.score_table(runs, COLUMNS), tables.cost_table(runs)], axis=1)
    st.dataframe(tables.mark_best(frame, ENTRY, COLUMNS), hide_index=True, key=f"scores_{dataset}")
    pairs, background = runs[0].metrics["pairs"], runs[0].metrics["background"]
    star = " ★ best of its column." if len(runs) > 1 else ""
    devices = ", ".join(sorted({r.device for r in runs if r.device}))
    known = " that all of them have a vector for" if runs[0].plan.support_digest else ""
    st.caption(
        f"`{dataset}`: {pairs:,.0f} pairs ranked among the {background:,.0f} items{known}.{star} texts/s: speed of "
        f"encoding on {devices}; poolings of one model share one pass, and each shows the whole pass's speed."
    )


ENTRY = diagnostics.find("evalrank")
picks = ui.page("Overview", "Which encoder puts texts next to what means the same, and what does it cost?")
everything = ui.repository().runs(diagnostic=ENTRY.id)
lost = [r for r in everything if r.state is RunState.INTERRUPTED]
if lost := [r for r, busy in zip(lost, ui.being_computed(lost), strict=True) if not busy]:
    interrupted(lost)
finished = tables.of_newest_content([r for r in everything if r.state is RunState.DONE])
done = [r for r in finished if r.plan.params == picks.params and picks.keeps(r.plan.variant)]
done = tables.comparable(done)

if not finished:
    empty()
elif not done:
    st.info(
        f"No runs with similarity `{picks.metric}` and protocol `{picks.protocol}` for these variants. "
        "Change the pickers in the sidebar."
    )
else:
    newest_first = [r.plan.dataset for r in sorted(done, key=lambda r: -r.run_seq)]
    names = sorted(dict.fromkeys(newest_first), key=lambda name: name != picks.dataset)  # the picked one on top
    scores = pd.DataFrame(
        [{"variant": r.plan.variant, "dataset": r.plan.dataset, "mrr": r.metrics["mrr"]} for r in done]
    )
    st.plotly_chart(figures.score_dots(scores, names, ui.variant_styles(), ui.scheme()), key="dots")
    for name in names:
        section(name, [r for r in done if r.plan.dataset == name])
    st.page_link("pages/evalrank.py", label="See which pairs they get wrong", icon=":material/arrow_forward:")
    ui.how_computed(ENTRY)
