"""``python -m core runs show``: everything about one run."""

from __future__ import annotations

from core.cli import output
from core.cli.options import AnyRun
from core.settings import Settings
from core.store.repository import Repository


def show(run_id: AnyRun) -> None:
    """Print everything about one run as JSON: scores, coverage, timings, manifest."""
    record = Repository.at(Settings.from_environment().store).run(run_id)
    output.print_json(output.run_json(record) | {"state": record.state})
