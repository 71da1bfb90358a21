"""View *published* of the page Evidence: correlations in papers, compared with those measured here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from blindspot.diagnostics.words.schnabel_table import table_1
from blindspot.figures.theme import Scheme, looks
from blindspot.numerics.statistics.written import interval, number
from blindspot.studies.evidence import published
from blindspot.studies.evidence.correlation import Cell
from blindspot.studies.evidence.figures import Column, Line, MapRow, bump_chart, published_map
from blindspot.studies.evidence.page import beside
from blindspot.studies.evidence.page.choices import EvidenceView
from blindspot.studies.evidence.page.correlations import cells_of
from blindspot.studies.evidence.published import Models, PublishedCorrelation
from blindspot.studies.evidence.scores import Level
from blindspot.studies.evidence.view import places_by_columns
from blindspot.ui.widgets import tables
from blindspot.ui.widgets.choices import one_of

SCHNABEL = "Schnabel"
BESIDE = {"table 1a": "wang-1a", "table 4": "wang-4"}
TABLES = {  # by their names in the address
    "table 6": published.SENTENCE_TABLE,
    "table 11": published.PLAIN_TABLE,
    "table 3": published.WORD_TABLE,
    "table 7": published.SOURCES_TABLE,
}
HELP = """
- **table 6**: sentence benchmarks against eight tasks, over 67 models
- **table 11**: the same without post-processed models, 34
- **table 3**: word benchmarks against ten tasks, over 38 models
- **table 7**: EvalRank by the source of its positive pairs
- **table 1a**: six models on the STS Benchmark and on two tasks
- **table 4**: EvalRank on words without some of its parts
- **Schnabel**: six word embeddings by benchmarks (table 1), chunking (table 4) and sentiment (table 5)

The last is from Schnabel et al. 2015, all others from Wang, Kuo and Li 2022.
"""
OF_WHAT = {
    published.WORD_TABLE: "word benchmarks",
    published.SENTENCE_TABLE: "sentence benchmarks",
    published.PLAIN_TABLE: "sentence benchmarks, without post-processed models",
    published.SOURCES_TABLE: "EvalRank by the source of its positive pairs",
}
# The average of table 1, and one column of each group: relatedness, categories, analogies.
SOME_COLUMNS = ("average", "ws", "ap", "an")


def show(shown: EvidenceView) -> None:
    """A published table, with the same correlations as measured here."""
    show_tables(shown.scheme, shown)


def show_tables(scheme: Scheme, shown: EvidenceView | None = None) -> None:
    """The published tables, with or without measured scores."""
    chosen = one_of("Published", [*TABLES, *BESIDE, SCHNABEL], "ev_published", HELP)
    if chosen == SCHNABEL:
        _schnabel(scheme)
        return
    if chosen in BESIDE:
        beside.show(BESIDE[chosen], shown.downstream if shown else None)
        return
    cells = published.of_table(TABLES[chosen])
    here: dict[tuple[str, str], Cell] = {}
    if shown is not None:
        here = {(c.evaluator.id, c.task.dataset): c for c in cells_of(shown.table) if c.rho is not None}
        _hints(cells[0], shown)
    rows, pairs = _rows(cells, here)
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    st.markdown(f"**Published: {OF_WHAT[cells[0].table]}** ({cells[0].source}, table {cells[0].table})")
    st.plotly_chart(published_map(rows, tasks, scheme), key="ev_published_map")
    measured = "Nothing measured here has the same benchmark and task yet."
    if pairs:
        n, families = max(cell.n for cell in here.values()), max(cell.families for cell in here.values())
        measured = (
            f"Filled: measured here, over at most {n} models of {families} families, for the same benchmark and task. "
            "Hover over a cell for details."
        )
    st.caption(f"Spearman's ρ. Framed: published, not computed here. {measured}")
    _means(cells)
    if pairs:
        with st.expander("Published and measured here", icon=":material/table:", expanded=False):
            tables.draw(pairs, key="ev_published_pairs", column_config=_COLUMNS)
            st.caption(
                "The two columns of rho are over different models, so one does not replicate the other. Published "
                "ranks use the toolkit's arithmetic, those here the definition, and the classifiers are set up "
                "differently."
            )


_COLUMNS = dict.fromkeys(("published rho", "rho here"), "%.2f")


def _hints(first: PublishedCorrelation, shown: EvidenceView) -> None:
    if first.level != shown.level:
        st.info(
            f"This table is about {first.level}s: choose *{Level(first.level)}* under Options to see what was "
            "measured here.",
            icon=":material/info:",
        )
    elif not first.models.post_processed and any(v.transform != "none" for v in shown.table.variants):
        st.info(
            "This table has no post-processed models: keep *untransformed* under Options for the same here.",
            icon=":material/info:",
        )


def _rows(
    cells: Sequence[PublishedCorrelation], here: Mapping[tuple[str, str], Cell]
) -> tuple[list[MapRow], list[dict[str, object]]]:
    rows, pairs = [], []
    for name, positives in dict.fromkeys((cell.evaluator, cell.positives) for cell in cells):
        cells_of_row = [cell for cell in cells if (cell.evaluator, cell.positives) == (name, positives)]
        label = f"{name}, {positives}" if positives else name
        ids = {cell.task: (cell.measure_id, cell.task_id) for cell in cells_of_row}
        both = {task: here[both_ids] for task, both_ids in ids.items() if both_ids in here}
        texts = {cell.task: _in_words(cell, both.get(cell.task)) for cell in cells_of_row}
        rows.append(MapRow(label, {cell.task: cell.rho for cell in cells_of_row}, texts))
        if both:
            values = {task: cell.rho for task, cell in both.items() if cell.rho is not None}
            rows.append(MapRow(label, values, texts, is_published=False))
        for cell in cells_of_row:
            if cell.task in both:
                measured = both[cell.task]
                pairs.append(
                    {
                        "benchmark": label,
                        "task": cell.task,
                        "published rho": cell.rho,
                        "over models": cell.models.count,
                        "rho here": measured.rho,
                        "over models here": measured.n,
                        "of families": measured.families,
                        "interval here": interval(measured.interval),
                    }
                )
    return rows, pairs


def _in_words(cell: PublishedCorrelation, measured: Cell | None) -> str:
    lines = [f"published: {number(cell.rho, '.2f')} over {cell.models.count} models of {cell.models.names} names"]
    if measured is not None and measured.rho is not None:
        lines.append(f"here: {number(measured.rho, '.2f')} over {measured.n} models of {measured.families} families")
    return "\n".join(lines)


def _means(cells: Sequence[PublishedCorrelation]) -> None:
    table, models = cells[0].table, cells[0].models
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    best = {task: max((c for c in cells if c.task == task), key=lambda c: c.rho) for task in tasks}
    if table == published.SOURCES_TABLE:
        wins = sum(cell.positives == "STS-B + STR" for cell in best.values())
        of = f"with pairs of both sources, EvalRank predicts {wins} of the {len(tasks)} tasks best"
    else:
        wins = sum(bool(cell.evaluator.startswith("EvalRank")) for cell in best.values())
        of = f"EvalRank predicts {wins} of the {len(tasks)} tasks better than any similarity benchmark"
    st.markdown(
        f"**What this shows:** {of}, over the {models.count} models that one group of authors chose and measured.\n\n"
        f"**What it does not show:** whether the same is true of other models. {_dependent(models)} The paper gives no "
        "intervals, so differences between cells could be chance. Tasks were scored with one classifier, logistic "
        "regression."
    )


def _dependent(models: Models) -> str:
    processed = (
        f", and {models.post_processed} of them are post-processed copies of others" if models.post_processed else ""
    )
    return (
        f"The {models.count} models have {models.names} names{processed}. Models of one name score alike, so there "
        "are far fewer independent observations than models."
    )


# --- Schnabel et al.


def _schnabel(scheme: Scheme) -> None:
    intrinsic = table_1()
    f1 = {(s.table, s.model): s for s in published.task_scores() if s.part == "test"}
    st.markdown(f"**Published: six word embeddings on benchmarks and on two tasks** ({published.SCHNABEL})")
    columns = [
        *(Column(name, "table 1") for name in SOME_COLUMNS),
        Column("chunking", "table 4"),
        Column("sentiment", "table 5"),
    ]
    values = [
        [*(scores[name] for name in SOME_COLUMNS), *(f1[table, model].f1 for table in (4, 5))]
        for model, scores in intrinsic.items()
    ]
    places = places_by_columns(values)
    lines = [
        Line(f"{model}, published", model, places[i].tolist(), [f"{100 * v:.4g}" for v in values[i]], look, False, True)
        for i, (model, look) in enumerate(zip(intrinsic, looks(len(intrinsic), scheme), strict=True))
    ]
    st.plotly_chart(bump_chart(lines, columns, scheme), key="ev_schnabel")
    st.caption(
        "Ranks by the average of table 1, by three of its columns (relatedness ws, categories ap, analogies an), and "
        "by F1 on the test parts of tables 4 and 5. Hollow and dashed: published, not computed here."
    )
    st.markdown(
        "**What this shows:** the order of embeddings depends on the test. Of six trained on the same text in 50 "
        "dimensions, the best by the average of table 1 is best at sentiment but not at chunking, where all six are "
        "within a quarter of a point of F1.\n\n"
        "**What it does not show:** how well one score predicts the other: six embeddings are too few for a "
        "correlation. They are one of each kind, untuned. The p-values compare each with the best on the same test "
        "set; they say nothing about other models or other training."
    )
    with st.expander("The numbers of tables 1, 4 and 5", icon=":material/table:"):
        _numbers()


def _numbers() -> None:
    first = [
        {"embedding": model} | {name: round(100 * score, 1) for name, score in scores.items()}
        for model, scores in table_1().items()
    ]
    st.markdown("Table 1, times 100")
    tables.draw(first, key="ev_schnabel_1", column_config={"embedding": _PINNED})
    for table, title in ((4, "Table 4: F1 of noun phrase chunking"), (5, "Table 5: F1 of sentiment")):
        scores_of_table = [s for s in published.task_scores() if s.table == table]
        rows = [
            {"embedding": model}
            | {s.part: round(100 * s.f1, 2) for s in scores_of_table if s.model == model}
            | {
                "p-value": next(s.p_value for s in scores_of_table if s.model == model and s.part == "test") or "–",
                "note": next(s.note for s in scores_of_table if s.model == model and s.part == "test"),
            }
            for model in dict.fromkeys(s.model for s in scores_of_table)
        ]
        st.markdown(f"{title}, times 100")
        tables.draw(rows, key=f"ev_schnabel_{table}")


_PINNED = st.column_config.TextColumn(pinned=True)
