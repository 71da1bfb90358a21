"""Models that are meant where nobody names any, and their order: one rule for every surface."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.user_data.files import is_own as is_own_dataset
from blindspot.diagnostic import all_diagnostics
from blindspot.encoders.catalog import RANKINGS, SCHEMES, entry_of
from blindspot.errors import BlindspotError, InputError, unknown
from blindspot.references import BM25, ModelRef, has_path, made_of, step_of, version_of
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.variants import Variant

USUAL_BASELINE = Variant("minilm", "none")
KNOW_NO_MEANING = ("random-projection", "lsa", "bag-of-words")
UNDEPLOYED = (*KNOW_NO_MEANING, "minilm-static")


def is_own(encoder: ModelRef) -> bool:
    """Whether a user brought a model: a folder, a hub's name, a server, a file, an object of a program, or several
    models with one."""
    return any(":" in version_of(model)[0].partition("?")[0] for model in encoder.models)


def is_undeployed(encoder: str) -> bool:
    """Whether it is a baseline that nobody would deploy: random, word-counting, or word pieces without context."""
    name = version_of(encoder)[0].partition("?")[0]
    return name in UNDEPLOYED or name.startswith(f"{UNDEPLOYED[0]}-")


def to_deploy(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """The runs of other models than such baselines; all runs where there are no others."""
    runs = list(runs)
    return [run for run in runs if not is_undeployed(run.plan.variant.encoder)] or runs


def undeployed(variants: Iterable[Variant]) -> list[Variant]:
    """The variants of such baselines, which figures draw in gray."""
    return [variant for variant in variants if is_undeployed(variant.encoder)]


def usual_baseline(variants: Iterable[Variant]) -> Variant | None:
    """MiniLM as published; without it, the oldest model without post-processing, if possible one to deploy."""
    variants = list(variants)
    if USUAL_BASELINE in variants:
        return USUAL_BASELINE
    plain = [variant for variant in variants if variant.transform == "none"] or variants
    return next((variant for variant in plain if not is_undeployed(variant.encoder)), plain[0] if plain else None)


def place_of(encoder: ModelRef) -> int:
    """0 for a user's own model, 2 for a baseline that nobody would deploy, 1 for any other: own ones come first."""
    return 0 if is_own(encoder) else 2 if is_undeployed(encoder) else 1


def default_models(
    variants: Iterable[Variant],
    stored: Sequence[Variant],
    baseline: Variant | None = None,
    *,
    postprocessed: bool = False,
) -> list[Variant]:
    """The variants without post-processing and the baseline, as long as there are two to compare; else these first.

    Of a training, only the last step; of a model with variants by layer, by prompt or joined with others, only the
    model itself.

    Args:
        stored: all variants in the store, in the order of their first runs.
        postprocessed: keep post-processed ones, too.
    """
    kept = list(dict.fromkeys(variants))
    last = {training: model.encoder for model in stored if (training := step_of(model.encoder)[0])}
    final = [v for v in kept if last.get(step_of(v.encoder)[0]) in {None, v.encoder} or v == baseline]
    kept = final if len(final) > 1 else kept
    encoders = {variant.encoder for variant in kept}
    plain = [
        variant
        for variant in kept
        if variant == baseline or (variant.transform == "none" and encoders.isdisjoint(made_of(variant.encoder)))
    ]
    if postprocessed:
        return kept
    return plain if len(plain) > 1 else [*plain, *(variant for variant in kept if variant not in plain)]


def check_were_run(variants: Collection[Variant], repository: Repository) -> None:
    """Refuse models without a finished run.

    Raises:
        InputError: there are no runs at all, or none of a model that can be run (it says how to begin), or of something
            else (it names the nearest, and a path that is not there).
    """
    stored, datasets = repository.variants(), repository.datasets()
    if not stored:
        raise InputError("there are no runs yet", remedy=f"begin with: {first_run(variants)}")
    for variant in variants:
        if variant in stored:
            continue
        was_run = any(variant.encoder == other.encoder for other in stored)  # after other post-processing
        if was_run or all(map(_is_here, variant.encoder.models)):
            raise InputError(
                f"{variant.label} has not been run yet", remedy=f"run it with: {first_run([variant], datasets)}"
            )
        error = unknown("variant", str(variant), map(str, stored), every="blindspot runs")
        if missing := [path for model in variant.encoder.models if (path := _missing_path(model))]:
            raise InputError(f"there is no file or folder {missing[0]}, and no run of it", remedy=error.remedy)
        raise error


def _missing_path(model: ModelRef) -> str:
    """The path of a model whose file or folder is not there; "" if it is, or if the model has none."""
    path = model.partition(":")[2].partition("?")[0]
    return path if has_path(model) and not os.path.lexists(path) else ""


def _is_here(model: ModelRef) -> bool:
    """Whether a model can be run as far as its reference tells: of the catalog, or of a kind whose file, if it has one,
    is there; no older version."""
    scheme, colon, _ = model.partition(":")
    if version_of(model)[1]:
        return False
    if not colon:
        return model == BM25 or entry_of(model) is not None
    return scheme in {*SCHEMES, *RANKINGS} and not _missing_path(model)


def first_run(variants: Collection[Variant] = (), datasets: Sequence[DatasetRef] = ()) -> str:
    """The command that runs some models, the usual baseline if none is named, on the last of the datasets that is a
    user's own and can be read, else on the demo's pairs."""
    have_vectors = all(variant.encoder.has_vectors for variant in variants)
    diagnostic, dataset = ("evalrank", "demo-pairs") if have_vectors else ("retrieval", "demo-retrieval")
    for own in filter(is_own_dataset, datasets):
        with suppress(BlindspotError):  # its file is gone
            kind = own.entry().kind
            fitting = (
                entry.id
                for entry in all_diagnostics().values()
                if entry.page and entry.dataset_kind is kind and (have_vectors or entry.takes_rankings)
            )
            diagnostic, dataset = next(((fit, str(own)) for fit in fitting), (diagnostic, dataset))
    options = dict.fromkeys(
        option
        for variant in variants or [USUAL_BASELINE]
        for option in (("--encoder", variant.encoder), ("--transform", variant.transform))
        if option[1] != "none"
    )
    named = [word for option in options for word in option]
    return shlex.join(["blindspot", "run", diagnostic, "--dataset", dataset, *named])
