"""``python -m core runs resembles``: which published encoders a HEROS run resembles, and what that lets one guess."""

from __future__ import annotations

from typing import Any

from core.cli import output
from core.cli.options import AsJson
from core.cli.runs.finished import RunId
from core.diagnostics.heros import resemblance
from core.diagnostics.heros.published import SOURCE, SUBSETS
from core.diagnostics.heros.resemblance import Accuracy, Resemblance
from core.settings import Settings
from core.store.repository import Repository

SHOWN = 5  # nearest profiles in the table


def resembles(
    run_id: RunId,
    as_json: AsJson = False,
) -> None:
    """The published profiles nearest to a HEROS run's, and the training group that they speak for."""
    repository = Repository.at(Settings.from_environment().store)
    record = repository.run(run_id)
    found = resemblance.of_run(record, repository)
    if as_json:
        output.print_json({"run_id": record.run_id, "dataset": record.plan.dataset} | _json(found))
        return
    output.print_table(
        f"{record.plan.variant.label} on {record.plan.dataset}: nearest of the 60 published profiles ({SOURCE})",
        ["published encoder", "training group", "distance", "mean difference", *SUBSETS],
        [
            (
                n.profile.model,
                n.profile.group,
                f"{n.distance:.4f}",
                f"{n.mean_difference:.4f}",
                *(f"{n.profile.means[subset]:.3f}" for subset in SUBSETS),
            )
            for n in found.neighbours[:SHOWN]
        ],
    )
    for sentence in resemblance.in_words(found, record.plan.variant.label):
        print(sentence)


def _json(found: Resemblance) -> dict[str, Any]:
    trust = resemblance.published_reliability()
    vote = found.vote
    return {
        "profile": dict(zip(SUBSETS, found.means.tolist(), strict=True)),
        "nearest": [
            {
                "model": n.profile.model,
                "group": n.profile.group,
                "figure": n.profile.figure,
                "block": n.profile.block,
                "distance": n.distance,
                "mean_difference": n.mean_difference,
            }
            for n in found.neighbours
        ],
        "resembles_none": vote is None,
        "far": trust.far,
        "guess": None if vote is None else {"group": vote.group, "votes": vote.votes, "voters": vote.voters},
        "accuracy": {
            "leave_one_out": _accuracy(trust.leave_one_out),
            "nested": _accuracy(trust.nested),
            "leave_one_family_out": _accuracy(trust.leave_one_family_out),
            "majority": _accuracy(trust.majority) | {"group": trust.largest_group},
            "leave_one_out_by_votes": {str(votes): _accuracy(one) for votes, one in trust.by_votes.items()},
        },
    }


def _accuracy(accuracy: Accuracy) -> dict[str, Any]:
    interval = accuracy.interval
    return {
        "right": accuracy.right,
        "n": accuracy.n,
        "share": accuracy.share,
        "low": interval.low,
        "high": interval.high,
    }
