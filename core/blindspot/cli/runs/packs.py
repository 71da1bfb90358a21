"""Commands ``runs import`` and ``runs export``: finished runs as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, settings_and_store
from blindspot.runs.packs import exporting, importing
from blindspot.runs.packs.exporting import Exported
from blindspot.runs.packs.folders import folder_at
from blindspot.runs.packs.importing import Imported, Refused
from blindspot.store.records import RunState
from blindspot.texts import counted

FOLDER_HELP = "a folder, or an address such as s3://BUCKET/FOLDER"


def import_(
    folder: Annotated[str, typer.Argument(help=f"{FOLDER_HELP}, with result packs")], as_json: AsJson = False
) -> None:
    """Bring result packs into the store, each once.

    A pack of a run that is in the store already changes nothing. A damaged or foreign pack is refused with its reason;
    the others are imported.
    """
    _, repository = settings_and_store()
    packs = folder_at(folder)
    new, there, refused = list[str](), list[str](), list[Refused]()
    try:
        with output.progress(f"import from {packs.address}") as progress:
            total = importing.count(packs)
            for number, pack in enumerate(importing.import_packs(packs, repository), 1):
                if isinstance(pack, Imported):
                    (new if pack.is_new else there).append(pack.run_id)
                else:
                    refused.append(pack)
                progress("runs", number, total)
    except KeyboardInterrupt:
        raise importing.interrupted(len(new)) from None
    if as_json:
        output.print_json({"imported": new, "in_the_store": there, "refused": _refused_json(refused)})
    else:
        _print_refused("Refused", refused)
        print(
            f"{counted(len(new) + len(there) + len(refused), 'pack')}: {len(new)} imported, {len(there)} in the store "
            f"already, {len(refused)} refused"
        )
    if refused:
        raise importing.refusal(refused, len(new) + len(there) + len(refused))


def export(
    run_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="ids of runs or their beginnings; default: all")
    ] = None,
    out: Annotated[str, typer.Option(help=FOLDER_HELP)] = "",
    as_json: AsJson = False,
) -> None:
    """Write finished runs as result packs, with the texts that they are about, for `runs import` elsewhere."""
    settings, repository = settings_and_store()
    packs = folder_at(importing.required(out))
    runs = [repository.run(run_id) for run_id in run_ids] if run_ids else repository.runs(state=RunState.DONE)
    written, refused = list[str](), list[Refused]()
    with output.progress(f"export to {packs.address}") as progress:
        for number, pack in enumerate(exporting.export_packs(runs, packs, settings, repository), 1):
            if isinstance(pack, Exported):
                written.append(pack.run_id)
            else:
                refused.append(pack)
            progress("runs", number, len(runs))
    if as_json:
        output.print_json({"exported": written, "refused": _refused_json(refused)})
    else:
        _print_refused("Not exported", refused)
        print(f"{counted(len(runs), 'run')}: {len(written)} exported to {packs.address}, {len(refused)} not")
    if refused:
        raise exporting.refusal(refused, len(runs))


def _refused_json(refused: Sequence[Refused]) -> list[dict[str, str]]:
    return [{"name": refusal.name, "error": str(refusal.error)} for refusal in refused]


def _print_refused(title: str, refused: Sequence[Refused]) -> None:
    output.print_rows(title, [{"run": refusal.name[:80], "why": refusal.error} for refusal in refused])
