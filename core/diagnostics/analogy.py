"""Analogy: "man is to king as woman is to what?", answered by sums or products of cosines.

Schnabel 2015, section 3.1; the computation stands in ``core.numerics.analogies``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from core.diagnostics import base
from core.errors import BlindspotError
from core.numerics.analogies import EPSILON, Rule, answer
from core.numerics.ranking import expected_hit, expected_reciprocal_rank
from core.relations import Analogies
from core.types import CancelToken, DatasetKind, Float32, Float64, Progress

GROUPS = ("semantic", "syntactic")


def compute(
    embeddings: Float32 | Float64,
    dataset: Analogies,
    params: Mapping[str, str],
    progress: Progress,
    cancel: CancelToken,
) -> base.DiagnosticResult:
    """Accuracy over all questions, per group and per section; see ``base.Compute``. Row i is question i.

    Raises:
        BlindspotError: the embeddings are not all finite.
    """
    if not np.isfinite(embeddings).all():
        raise BlindspotError("some embeddings hold NaN or infinite values", expected="finite numbers")
    found = answer(embeddings, dataset.questions, dataset.answers, Rule(params["rule"]), progress, cancel)
    right = expected_hit(found.greater, found.ties, 1)
    metrics = {"accuracy": float(right.mean())}
    groups = np.array(dataset.groups)[dataset.section_numbers]
    metrics |= {f"accuracy_{g}": float(right[groups == g].mean()) for g in GROUPS if (groups == g).any()}
    for number, section in enumerate(dataset.sections):
        here = dataset.section_numbers == number
        if here.any():
            metrics[f"accuracy@{section}"] = float(right[here].mean())
    metrics["mrr"] = float(expected_reciprocal_rank(found.greater, found.ties).mean())
    metrics |= {"questions": float(len(right)), "candidates": float(len(dataset.items))}
    metrics["tied_questions"] = float(np.count_nonzero(found.ties))
    return base.DiagnosticResult(
        metrics=metrics,
        items=pa.table(
            {
                "greater": found.greater,
                "ties": found.ties,
                "predicted": pa.array([dataset.items[i] for i in found.predicted], pa.string()),
                "score": found.score,
                "best": found.best,
            },
            schema=ENTRY.schema,
        ),
        coverage={
            "questions": len(right),
            "questions_covered": len(right),
            "items": len(dataset.items),
            "items_covered": len(dataset.items),
        },
    )


ENTRY = base.DiagnosticEntry(
    id="analogy",
    version=2,
    title="Analogy",
    question="Is a relation between words the same step in space: Athens to Greece as Oslo to Norway?",
    how=rf"""
A question *a is to b as c is to what?* is answered by the candidate $d$ with the highest score; vectors are brought to
length 1 first.

- **3CosAdd** (Mikolov, Yih and Zweig 2013): $\cos(d,b) - \cos(d,a) + \cos(d,c)$, which the candidate nearest to
  $b - a + c$ has highest.
- **3CosMul** (Levy and Goldberg 2014): $\cos'(d,b)\,\cos'(d,c) / (\cos'(d,a) + {EPSILON})$ with
  $\cos' = (\cos + 1)/2$.
- **Candidates** are the words of all the questions and the 30,000 most frequent English words (as many as word2vec's
  own test takes; the built-in questions have 5,000), so that an encoder of sentences can be asked too. Published
  scores have the whole vocabulary of a file: more candidates are harder. Scores compare on the same candidates only.
  A frequent word that differs from a question's word by its capitals only is no other candidate.
- The three words of the question are no candidates, as in every published score: the answer would often be b or c.
- Scores within $10^{{-6}}$ are tied: accuracy and mean reciprocal rank are *expected* values under random tie order,
  as on the page EvalRank.
- A question with a word that the encoder has no vector for is left out, and such words are no candidates
  (*coverage*). Compare encoders on the words that all of them have.
- **Semantic** and **syntactic** accuracies are shares of all questions of the group, not means of sections. All
  questions of MSR are syntactic.
""",
    citation="Mikolov, Chen, Corrado and Dean 2013, Efficient Estimation of Word Representations in Vector Space; "
    "Levy and Goldberg 2014, Linguistic Regularities in Sparse and Explicit Word Representations; "
    "Schnabel, Labutov, Mimno and Joachims 2015, section 3.1",
    dataset_kind=DatasetKind.ANALOGIES,
    parameters=(base.Parameter("rule", tuple(Rule), Rule.ADD, "how a candidate's three cosines make a score"),),
    columns=(
        base.Column("greater", pa.int64(), "candidates that score higher than the right word"),
        base.Column("ties", pa.int64(), "candidates that score the same"),
        base.Column("predicted", pa.string(), "the candidate with the highest score"),
        base.Column("score", pa.float64(), "the right word's score"),
        base.Column("best", pa.float64(), "the highest score"),
    ),
    metrics=(
        base.Metric("accuracy", "share of all questions that are answered right", True),
        *(base.Metric(f"accuracy_{g}", f"share of the {g} questions that are answered right", True) for g in GROUPS),
        base.Metric("mrr", "mean reciprocal rank of the right word, expected under random tie order", True),
        base.Metric("questions", "questions that were asked", None, is_count=True),
        base.Metric("candidates", "words to choose from, the question's three among them", None, is_count=True),
        base.Metric("tied_questions", "questions whose right word is tied with another", None, is_count=True),
    ),
    headline="accuracy",
    figures="core.figures.words",
    compute=compute,
)
