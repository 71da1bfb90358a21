"""Repairs as tasks of the queue, and their reports, kept as files beside the maps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from blindspot import names, policy
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.kinds.base import DatasetKind, any_of
from blindspot.encoders.base import Encoder
from blindspot.encoders.catalog import encoder_of, model_alone, resolve_encoder
from blindspot.errors import BlindspotError, Cancelled, InputError, unknown
from blindspot.files.writing import write_atomically
from blindspot.runs.inputs.repaired import check_frozen
from blindspot.runs.log import JobLine
from blindspot.runs.training_data.examples import sources
from blindspot.settings import Settings, prepare_runtime
from blindspot.store.repository import Repository
from blindspot.studies.repair import fitting, measuring
from blindspot.studies.repair.examples import Examples, examples_of, vectors_of
from blindspot.studies.repair.fitting import Map, Method
from blindspot.studies.repair.measuring import Maps
from blindspot.studies.repair.results import Measure, Report
from blindspot.transforms import repairs
from blindspot.transforms.repairs import KINDS, Repair
from blindspot.types import CancelToken, Progress, digest_of_strings
from blindspot.variants import Variant

VERSION = 2  # raised when the same request gives another repair or other measures
RANDOM = 5  # seeds of random maps
SHUFFLED = 3  # trainings on shuffled labels


@dataclass(frozen=True)
class RepairTask:
    """A repair to train and test: a task of the queue, as ``blindspot.jobs.queue.SpaceTask`` describes it.

    Attributes:
        tests: references of datasets to test on; the usual ones that are on this machine if empty.
        kinds: of negatives to train on; all if empty.
    """

    encoder: str
    dataset: DatasetRef
    method: Method = Method.LOW_RANK
    rank: int = fitting.RANK
    keep: float = fitting.KEEP
    seed: int = fitting.SEED
    tests: tuple[DatasetRef, ...] = ()
    kinds: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        encoder: str,
        dataset: DatasetRef,
        settings: Settings,
        *,
        method: str = Method.LOW_RANK,
        rank: int = fitting.RANK,
        keep: float = fitting.KEEP,
        seed: int = fitting.SEED,
        tests: Sequence[DatasetRef] = (),
        kinds: Sequence[str] = (),
    ) -> RepairTask:
        """A request, checked as far as possible without work.

        Raises:
            InputError: an unknown model, dataset, method or number; a model without vectors of its own for a text; a
                dataset without triplets.
        """
        model = model_alone(encoder)
        dataset_entry = dataset.entry()
        for name in (dataset, *tests):
            policy.check_dataset(name, settings)
        policy.check_model(model, settings)
        if dataset_entry.kind not in {entry.dataset_kind for entry in sources()}:
            raise InputError(
                f"'{dataset}' is a {dataset_entry.kind.in_words}, which has no triplets",
                expected=any_of(entry.dataset_kind for entry in sources()),
            )
        resolved = encoder_of(model, settings)
        check_frozen(resolved)
        if method not in list(Method):
            raise unknown("method", method, list(Method))
        form, most = Method(method), min(resolved.info.dimension, fitting.MOST_RANK)
        if form is not Method.LOW_RANK:
            rank = fitting.RANK
        elif not 1 <= rank <= most:
            raise InputError(
                f"a map of rank {rank:,} of {resolved.info.dimension:,} dimensions", expected=f"1 to {most}"
            )
        if not 0 <= keep <= fitting.MOST_KEEP:
            raise InputError(f"a weight of {keep:g}", expected=f"0 to {fitting.MOST_KEEP:,.0f}")
        chosen = measuring.checked_tests(tests, dataset, settings) if tests else ()
        return cls(model, dataset, form, rank, float(keep), seed, chosen, tuple(sorted(set(kinds))))

    @property
    def label(self) -> str:
        return f"Repair of {names.current().model(self.encoder)} on {title_of(self.dataset)}"

    @property
    def encoders(self) -> frozenset[str]:
        return frozenset({self.encoder})

    @property
    def typed_variants(self) -> frozenset[Variant]:
        return frozenset()

    @property
    def takes_uploads(self) -> bool:
        return True

    @property
    def line(self) -> JobLine:
        return JobLine("repair", variant=names.current().model(self.encoder), dataset=self.dataset)

    def do(self, settings: Settings, repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """Train and test it, and keep both, unless they are there; returns "", since the page shows the answer."""
        report = find(self, settings)
        if report is None or not is_of_today(report, settings):
            make(self, settings, repository, progress, cancel)
        return ""


def make(
    asked: RepairTask, settings: Settings, repository: Repository, progress: Progress, cancel: CancelToken
) -> Report:
    """Train a repair, test it, and keep the map and the report.

    Raises:
        InputError: see ``examples_of`` and ``fitting.fit``.
        Cancelled: between two steps; nothing is kept.
        BlindspotError: a model or dataset failed; nothing is kept.
    """
    policy.check_runs(settings)
    prepare_runtime(settings)
    began = perf_counter()
    encoder = resolve_encoder(asked.encoder, settings)
    tests = asked.tests or measuring.usual_tests(asked.dataset, settings)
    examples = examples_of(
        encoder, asked.dataset, tests, asked.kinds, asked.seed, settings, repository, progress, cancel
    )
    maps = _maps(asked, examples, progress, cancel)
    digest = digest_of_strings(
        [str(VERSION), examples.digest, asked.method, str(asked.rank), str(asked.keep), str(asked.seed)]
    )
    model = repairs.model_digest(encoder.identity)
    kind = KINDS["repair-queries" if asked.method.is_of_queries else "repair"]
    repair, random = (
        kind(fitted.matrix, model, name) for fitted, name in ((maps.repair, digest), (maps.random[0], "random"))
    )
    repairs.keep(repair, settings.repairs)
    try:
        measures, not_tested = _measures(
            asked, encoder, tests, examples, maps, repair, random, settings, progress, cancel
        )
    except (BlindspotError, Cancelled):
        repairs.forget(repair, settings.repairs)
        raise
    report = Report(
        encoder=asked.encoder,
        dataset=asked.dataset,
        kinds=asked.kinds,
        method=asked.method.value,
        rank=asked.rank,
        keep=asked.keep,
        seed=asked.seed,
        chain=repair.chain,
        dimension=repair.d_out,
        steps=maps.repair.steps,
        moved=maps.repair.moved,
        trained=len(examples.train),
        stopped=len(examples.stop),
        tested=len(examples.test),
        components=examples.components,
        left_out=dict(examples.left_out),
        measures=measures,
        tested_on=tests,
        not_tested=not_tested,
        model_digest=model,
        data_digest=digest,
        dataset_digest=examples.vectors.dataset.content_digest,
        seeds={"random": RANDOM, "shuffled": SHUFFLED},
        warning=examples.warning,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(perf_counter() - began, 1),
    )
    text = json.dumps(report.to_json(), ensure_ascii=False, indent=1, allow_nan=False)
    write_atomically(path_of(asked, settings), lambda file: file.write(text.encode()))
    return report


def _maps(asked: RepairTask, examples: Examples, progress: Progress, cancel: CancelToken) -> Maps:
    """The repair, and the maps that it is compared with."""

    def trained(train: fitting.Triplets, stop: fitting.Triplets, seed: int, stage: str) -> Map:
        return fitting.fit(
            examples.vectors.matrix,
            train,
            stop,
            asked.method,
            progress,
            cancel,
            rank=asked.rank,
            keep=asked.keep,
            seed=seed,
            stage=stage,
        )

    repair = trained(examples.train, examples.stop, asked.seed, fitting.STAGE)
    shuffled = [
        # What decides when to stop is shuffled, too: otherwise it would choose by the true labels.
        trained(
            examples.train.shuffled(asked.seed + 2 * i + 1),
            examples.stop.shuffled(asked.seed + 2 * i + 2),
            asked.seed + i + 1,
            f"training on shuffled labels, {i + 1} of {SHUFFLED}",
        )
        for i in range(SHUFFLED)
    ]
    random = [fitting.random_map(repair, asked.method, asked.seed + i, asked.rank) for i in range(RANDOM)]
    return Maps(fitting.nothing(len(repair.matrix)), repair, tuple(random), tuple(shuffled))


def _measures(
    asked: RepairTask,
    encoder: Encoder,
    tests: Sequence[DatasetRef],
    examples: Examples,
    maps: Maps,
    repair: Repair,
    random: Repair,
    settings: Settings,
    progress: Progress,
    cancel: CancelToken,
) -> tuple[tuple[Measure, ...], dict[str, str]]:
    """All measures, and why a dataset has none."""
    measures = [*measuring.held_out(examples, maps), *measuring.other_kinds_of_the_same(examples, maps)]
    not_tested, has_neighbors = dict[str, str](), False
    with measuring.scratch(random, settings) as scratch:
        for done, reference in enumerate(tests):
            cancel.check()
            progress(f"testing on {title_of(reference)}", done, len(tests))
            entry = reference.entry()
            try:
                if entry.kind is DatasetKind.MINIMAL_PAIR_SET:
                    measures += measuring.other_kinds(reference, encoder, maps, settings, progress, cancel)
                    continue
                measures.append(
                    measuring.damage(reference, asked.encoder, repair, random, settings, scratch, progress, cancel)
                )
                if entry.kind is DatasetKind.PAIR_SET and not has_neighbors:
                    vectors = vectors_of(entry, encoder, settings, progress, cancel)
                    measures.append(measuring.neighbors_kept(vectors, maps))
                    has_neighbors = True
            except InputError as error:  # one that does not fit such a repair or model; the others do
                not_tested[reference] = str(error)
    return measuring.with_corrected(measures), not_tested


def path_of(asked: RepairTask, settings: Settings) -> Path:
    """The file of a report."""
    parts = [
        str(VERSION),
        asked.encoder,
        asked.dataset,
        asked.method,
        str(asked.rank),
        str(asked.keep),
        str(asked.seed),
        *asked.tests,
        "",
        *asked.kinds,
    ]
    return settings.repairs / f"{digest_of_strings(parts)[:32]}.json"


def find(asked: RepairTask, settings: Settings) -> Report | None:
    """The kept report; None if there is none that can be read, or its map is gone."""
    return _read(path_of(asked, settings), settings)


def kept(asked: RepairTask, settings: Settings) -> dict[RepairTask, Report]:
    """The reports that differ from a request at most in what was tested on and in the seed, the newest first.

    Those that were tested on what this reader may not name are left out.
    """
    reports = {}
    for path in settings.repairs.glob("*.json"):
        if (report := _read(path, settings)) is None:
            continue
        for tests in ((), tuple(map(DatasetRef, report.tested_on))):
            alike = replace(asked, seed=report.seed, tests=tests)
            if path_of(alike, settings) == path and all(_may_be_named(test, settings) for test in tests):
                reports[alike] = report
    return dict(sorted(reports.items(), key=lambda item: item[1].made, reverse=True))


def _may_be_named(dataset: DatasetRef, settings: Settings) -> bool:
    try:
        policy.check_dataset(dataset, settings)
    except InputError:
        return False
    return True


def _read(path: Path, settings: Settings) -> Report | None:
    """The report in a file; None if it cannot be read, or its map is gone."""
    try:
        report = Report.of_json(json.loads(path.read_text("utf-8")))
        return report if repairs.find(settings.repairs, report.chain.partition(":")[2]) is not None else None
    except (OSError, ValueError, KeyError, TypeError, BlindspotError):
        return None


def is_of_today(report: Report, settings: Settings) -> bool:
    """Whether the model is still the one that was repaired; raises ``InputError`` if it cannot be used any more."""
    return repairs.model_digest(resolve_encoder(report.encoder, settings).identity) == report.model_digest


def repair_of(report: Report, settings: Settings) -> Repair:
    """The map of a report; raises as ``repairs.load``."""
    step, _, repair_id = report.chain.partition(":")
    return repairs.load(settings.repairs, step, repair_id, report.dimension)
