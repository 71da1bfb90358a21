"""Page Neighbors: the query, its lists, their overlap, and how they are computed."""

from __future__ import annotations

import numpy as np
import streamlit as st

from blindspot import ui
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.numerics.neighbors.exact import FEWEST_DIMENSIONS_CODED
from blindspot.numerics.neighbors.overlap import P
from blindspot.space.neighbors.lists import ITEMS_FOR_CKA, SAMPLE, depth
from blindspot.space.neighbors.page import lists, overlap, query
from blindspot.space.neighbors.page.query import Query
from blindspot.space.page import Opened, open_picked
from blindspot.ui.page_state import link


def _links(opened: Opened, asked: Query) -> None:
    """Links with the same picks: to the query's pair on EvalRank, to the query on the map."""
    state = opened.picks.state.with_(item=asked.item)
    with st.container(horizontal=True):
        if isinstance(opened.dataset, PairSet) and asked.item is not None:
            pairs = np.flatnonzero(opened.dataset.queries == asked.item)
            if len(pairs):
                pair = state.with_(item=int(pairs[0]))
                link("evalrank", pair, label="Open this text's pair in EvalRank", icon=":material/leaderboard:")
        link("map", state, label="Show this text on the map", icon=":material/scatter_plot:")


def _how_computed() -> None:
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(
            rf"""
**Neighbors.** Each text is compared with the query in the full space, after post-processing: by cosine, or by
$1/(1 + \lVert x - y \rVert)$ for *l2*. For few queries, float32 products (faiss) find the candidates; for many, also
products of 8-bit codes, which leave out what cannot belong to the list (by cosine, from {FEWEST_DIMENSIONS_CODED}
dimensions, on a processor that is faster at them). Candidates are compared and ordered in float64. If another text
could still belong to the list, all texts that come close are compared in float64, so lists are always exact. A text is
not its own neighbor. Of equally similar texts, the one with the lower number comes first. Models are compared on the
texts that all of them cover; post-processing is fitted on these and applied to your own text too.

**Similarities of different models are not comparable.** In one model, unrelated texts may have a cosine of 0.1, in
another 0.8. Compare orders, not values.

**Overlap.** Two lists $A$ and $B$ of $k$ texts have Jaccard@k $= |A \cap B| / |A \cup B|$. Rank-biased overlap (Webber,
Moffat and Zobel 2010), extrapolated from the first $k$ ranks, with $X_d$ texts shared by the first $d$ of both lists:

$$\mathrm{{RBO}} = \frac{{X_k}}{{k}}\,p^k + \frac{{1-p}}{{p}} \sum_{{d=1}}^{{k}} \frac{{X_d}}{{d}}\,p^d$$

with $p = {P:g}$. Lists have no ties, since equally similar texts are ordered by number. With more than 2,000 texts, a
seeded sample of {SAMPLE:,} serves as queries; their neighbors come from all texts. Of a retrieval set, its queries ask
and only its documents can be found.

**CKA.** Linear centered kernel alignment (Kornblith et al. 2019),
$\mathrm{{HSIC}}(K, L) / \sqrt{{\mathrm{{HSIC}}(K, K)\,\mathrm{{HSIC}}(L, L)}}$ with $K = XX^\top$, $L = YY^\top$,
debiased: HSIC is the unbiased estimator of Song et al. (2012). Computed in float64 on the post-processed vectors of at
most {ITEMS_FOR_CKA:,} texts. It compares all distances at once: two spaces can have a high CKA and different nearest
neighbors.
"""
        )
        st.caption(
            "Sources: Schnabel, Labutov, Mimno and Joachims 2015, Evaluation methods for unsupervised word embeddings "
            "(ranks 1, 5, 50); Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings; Kornblith, "
            "Norouzi, Lee and Hinton 2019, Similarity of neural network representations revisited; Song, Smola, "
            "Gretton, Bedo and Borgwardt 2012, Feature selection via dependence maximization."
        )


def show() -> None:
    """The page."""
    picks = ui.page("Neighbors", "What does each model retrieve, and where do models disagree?")
    opened = open_picked(picks)
    if opened is not None and depth(opened.spaces) < 1:
        st.info("This dataset has only one text to find. Pick a larger one.", icon=":material/info:")
    elif opened is not None:
        headline = st.container()
        asked = query.pick(opened)
        answer = None
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        if asked is not None:
            with left:
                query.show(asked)
        with right:
            k = lists.depth_picker(opened)
        if asked is not None:
            answer = lists.answer(opened, asked, k)
            _links(opened, asked)
        overlap.show(opened, answer, k, headline)
    _how_computed()
