"""The page Neighbours: the query, its lists, their overlap, and how it is computed."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import ui
from core.datasets import uploads
from core.datasets.kinds.pairs import PairSet
from core.numerics.neighbours.exact import FEWEST_DIMENSIONS_CODED
from core.numerics.neighbours.overlap import P
from core.space.neighbours.lists import ITEMS_FOR_CKA, SAMPLE
from core.space.neighbours.page import lists, overlap, query
from core.space.neighbours.page.query import Query
from core.space.page import Opened, open_picked
from core.ui.pickers import link_to
from core.ui.resources import settings


def _links(opened: Opened, asked: Query) -> None:
    """Links with the same picks: to the query's pair on EvalRank, to the query on the map."""
    picks = opened.picks
    address = link_to(uploads.short_name(picks.dataset, settings()), picks.metric, picks.variants)
    with st.container(horizontal=True):
        if isinstance(opened.dataset, PairSet) and asked.item is not None:
            pairs = np.flatnonzero(opened.dataset.queries == asked.item)
            if len(pairs):
                st.page_link(
                    "pages/evalrank.py",
                    label="See its pair on EvalRank",
                    icon=":material/leaderboard:",
                    query_params=address | {"pair": str(pairs[0])},
                )
        st.page_link(
            "pages/map.py",
            label="See it on the map",
            icon=":material/scatter_plot:",
            query_params=address | ({} if asked.item is None else {"item": str(asked.item)}),
        )


def _how_computed() -> None:
    with st.expander("How is this computed?", icon=":material/function:"):
        st.markdown(
            rf"""
**Neighbours.** In the full space, after the variant's transform, every item is compared with the query: cosine, or
$1/(1 + \lVert x - y \rVert)$ where *l2* is picked. Of few queries, float32 products (faiss) find the candidates; of
many, products of 8-bit codes (by cosine, from {FEWEST_DIMENSIONS_CODED} dimensions on, on a processor that is faster at
them) or else float32 products. Similarities of candidates are computed in float64, which also orders them. Where
another item could still belong to the list, a list from codes is made again from float32 products, and any other from
all items in float64. So lists are exact, whichever way they are made. An item is no neighbour of itself. Of equally
similar items the one with the lower number comes first. Encoders are compared over the same items: those that all of
them have a vector for; transforms are fitted on these, and a text of your own is transformed as they are.

**Overlap.** Of two lists $A$ and $B$ of $k$ items, Jaccard@k $= |A \cap B| / |A \cup B|$. Rank-biased overlap (Webber,
Moffat and Zobel 2010), extrapolated from the first $k$ ranks, with $X_d$ items shared by the first $d$ of both lists:

$$\mathrm{{RBO}} = \frac{{X_k}}{{k}}\,p^k + \frac{{1-p}}{{p}} \sum_{{d=1}}^{{k}} \frac{{X_d}}{{d}}\,p^d$$

with $p = {P:g}$. Lists have no ties, since equal items are ordered by their numbers. Of more than
2,000 items a seeded sample of {SAMPLE:,} serves as queries; neighbours are always looked for among all items.

**CKA.** Linear centred kernel alignment (Kornblith et al. 2019),
$\mathrm{{HSIC}}(K, L) / \sqrt{{\mathrm{{HSIC}}(K, K)\,\mathrm{{HSIC}}(L, L)}}$ with $K = XX^\top$, $L = YY^\top$,
debiased: HSIC is the unbiased estimator of Song et al. (2012). In float64, on the transformed vectors as they are, over
at most {ITEMS_FOR_CKA:,} items. It compares all distances at once; two spaces can have a high CKA and different nearest
neighbours.
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
    if opened is not None and len(opened.spaces[0].items) < 2:
        st.info("This dataset has only one item. Pick a larger one.", icon=":material/info:")
    elif opened is not None:
        headline = st.container()
        asked = query.pick(opened)
        k = lists.depth_picker(opened)
        answer = None
        if asked is not None:
            query.show(asked)
            answer = lists.answer(opened, asked, k)
            _links(opened, asked)
        overlap.show(opened, answer, k, headline)
    _how_computed()
