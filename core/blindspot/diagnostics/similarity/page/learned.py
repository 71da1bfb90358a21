"""The view *learned* of the page Similarity: a learned similarity compared with the cosine (Eger et al. 2019)."""

from __future__ import annotations

import streamlit as st

from blindspot.diagnostics.similarity import figures, learned
from blindspot.diagnostics.similarity.learned import MODELS, Learned, LearnRequest
from blindspot.diagnostics.similarity.page import bands
from blindspot.diagnostics.similarity.page.runs import SimilarityView
from blindspot.diagnostics.similarity.view import Row, rows_of
from blindspot.errors import BlindspotError
from blindspot.figures.dots import dot, dots
from blindspot.numerics.statistics.correlations import KINDS
from blindspot.numerics.statistics.written import SCORE
from blindspot.runs.spaces import NotEncoded
from blindspot.ui.markdown import as_text
from blindspot.ui.resources import cached, explained, settings
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.choices import one_of
from blindspot.ui.widgets.work import task_button
from blindspot.variants import Variant


def show(shown: SimilarityView) -> None:
    """Every variant's cosine and learned similarities on the test part; a button for those not learned yet."""
    by_variant: dict[Variant, Learned] = {}
    wanted: list[LearnRequest] = []
    not_encoded: list[str] = []
    for run in shown.runs:
        request = LearnRequest(run.plan.variant)
        try:
            done = learned.find(request, settings())
        except NotEncoded:
            not_encoded.append(run.plan.variant.label)
            continue
        except BlindspotError as error:
            st.warning(as_text(f"{run.plan.variant.label}: {explained(error)}"), icon=":material/report:")
            continue
        if done is None:
            wanted.append(request)
        else:
            by_variant[run.plan.variant] = done
    if not_encoded:
        bands.offer(shown, "a similarity is learned from its train part and measured on its test part")
    if wanted:
        _offer(wanted)
    if by_variant:
        _results(by_variant, shown)


def _offer(wanted: list[LearnRequest]) -> None:
    text, button = st.columns([4, 1], vertical_alignment="center")
    names = ", ".join(f"`{request.variant.label}`" for request in wanted)
    text.info(f"Not learned yet: {names}. Takes up to a minute each.", icon=":material/info:")
    with button:
        title = wanted[0].label if len(wanted) == 1 else f"Learned similarity of {len(wanted)} models"
        task_button("Learn them", "Learning …", title, wanted, key="learn")


@cached(64, "Computing intervals …", keys={Learned: lambda learned_model: learned_model.digest})
def _row(learned_model: Learned, model: str) -> Row:
    ends = learned_model.firsts, learned_model.seconds
    return rows_of(learned_model.predicted[model], learned_model.gold, [learned.TEST] * len(learned_model.gold), ends)[
        0
    ]


def _results(by_variant: dict[Variant, Learned], shown: SimilarityView) -> None:
    about = "The paper's table 2 has Pearson's."
    kind = one_of("Correlation on the test part", KINDS, "sim_learned_kind", about, default="pearson")
    lines, rows = [], []
    for variant, learned_model in by_variant.items():
        for model in MODELS:
            estimates = _row(learned_model, model).estimates
            values = {name: estimates[k].value if k in estimates else None for k, name in figures.NAMES.items()}
            error = learned_model.squared_error(model)
            rows.append({"model": variant.label, "similarity": model, **values, "squared error": error})
            if kind in estimates:
                lines.append(dot(variant, model, estimates[kind]))
    if lines:
        figure = dots(lines, shown.styles, shown.scheme, axis=figures.NAMES[kind])
        st.plotly_chart(figure, key="sim_learned")
    number = st.column_config.NumberColumn
    tables.draw(
        rows,
        key="sim_learned_table",
        placeholder="–",
        column_config=dict.fromkeys(figures.NAMES.values(), f"%{SCORE}")
        | {
            "squared error": number(
                format="%.3f",
                help="Mean squared error of the predicted scores; of the cosine after a linear fit",
            )
        },
    )
    sizes = next(iter(by_variant.values())).pairs
    st.caption(
        f"Trained on the {sizes[learned.TRAIN]:,} pairs of STS-Benchmark's train part, chosen by the "
        f"{sizes[learned.DEV]:,} of dev, tested on the {sizes[learned.TEST]:,} of test; transforms and feature scales "
        "are fitted on train. **linear**: ridge regression, **MLP**: a perceptron with one hidden layer of "
        f"{learned.HIDDEN} units (seed {learned.SEED}), both from |u − v| and u · v by element. After Eger, Rücklé and "
        "Gurevych 2019, section 3: a cosine far behind a learned similarity on the same vectors says more about the "
        "cosine than about the vectors. The learned ones were trained on scores of this task; the cosine was not."
    )
