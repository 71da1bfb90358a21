"""``python -m core runs frequency``: an EvalRank run's score by how frequent the words of its pairs are."""

from __future__ import annotations

from core.cli import output
from core.cli.options import AsJson
from core.cli.runs.finished import RunId, finished_run
from core.datasets import word_frequency
from core.diagnostics.evalrank.pairs import pair_table
from core.settings import Settings
from core.store.repository import Repository


def frequency(run_id: RunId, as_json: AsJson = False) -> None:
    """MRR of an EvalRank run by how frequent query and mate are in English, raw and filtered."""
    repository = Repository.at(Settings.from_environment().store)
    entry, record = finished_run(run_id, repository)
    table = pair_table(entry, [record.run_id], repository)
    rows = []
    for side in ("query", "mate"):
        zipf = word_frequency.zipf_of(table.frame[side].tolist())
        raw, filtered = (
            word_frequency.band_scores(zipf, table.reciprocal_ranks(record.run_id, filtered=f)) for f in (False, True)
        )
        for band, pairs, mrr, mrr_filtered in zip(raw["band"], raw["pairs"], raw["mrr"], filtered["mrr"], strict=True):
            known = {"mrr": float(mrr), "mrr_filtered": float(mrr_filtered)} if pairs else {}
            rows.append(
                {"side": side, "per_million": band, "pairs": int(pairs), "mrr": None, "mrr_filtered": None} | known
            )
    if as_json:
        output.print_json({"run_id": record.run_id, "bands": rows})
        return
    output.print_table(
        f"{record.plan.variant.label} on {record.plan.dataset}, by occurrences per million words (wordfreq)",
        ["side", "per million", "pairs", "mrr", "mrr_filtered"],
        [[output.cell(value) for value in row.values()] for row in rows],
    )
