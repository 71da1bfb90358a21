"""Manifests: everything needed to reproduce a run, and the differences between two runs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

import blindspot
from blindspot import names
from blindspot.datasets.catalog import DatasetEntry
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import FIT_ON, DiagnosticResult, find_diagnostic
from blindspot.encoders.base import Encoder, prompt_warning, versions_here
from blindspot.encoders.cache import Embedded
from blindspot.encoders.gpu.self_check import BOUNDS
from blindspot.encoders.rankings.base import Ranking
from blindspot.encoders.roles import RoleEncoder, assumed_of, encoded_by
from blindspot.encoders.transformer.passages import truncated
from blindspot.numerics.statistics.written import percent
from blindspot.store.records import RunPlan, RunRecord
from blindspot.texts import counted
from blindspot.transforms.chain import FittedChain

NAMED = 5  # documents that lose most
_SMALLEST_SHARE = 0.001  # of texts; a smaller one would be written as 0.0%


def manifest_of(
    plan: RunPlan,
    model: Encoder | Ranking,
    vectors: tuple[Embedded, FittedChain] | None,
    dataset: Dataset,
    entry: DatasetEntry,
    checksums: Mapping[str, str],
    result: DiagnosticResult,
    held_out: Mapping[str, Any] | None = None,
    ranking: Mapping[str, int | str] | None = None,
    wanted_device: str = "auto",
) -> dict[str, Any]:
    """The manifest of a run just computed.

    Args:
        vectors: embeddings and their transform; None of a ranking.
        checksums: of the dataset's files.
        held_out: describes the other dataset that the transform was fitted on.
        ranking: facts of a ranking.
        wanted_device: ``BLINDSPOT_DEVICE``.
    """
    return {
        "blindspot": blindspot.__version__,
        "python": platform.python_version(),
        "machine": {
            "system": platform.platform(),
            "cores": os.cpu_count(),
            "device": result.device,
            **({"device_note": result.device_note} if result.device_note else {}),
            **({"wanted_device": wanted_device} if wanted_device != "auto" else {}),
        },
        "libraries": list(versions_here("numpy", "scipy", "numba", "duckdb", "torch", "transformers", "bm25s")),
        "encoder": {
            **{name: value for name, value in asdict(model.identity).items() if name != "embeds_as" or value},
            **({"prompts": model.prompts} if isinstance(model, RoleEncoder) else {}),
            **({"device": vectors[0].facts.device, "dimension": vectors[1].d_out} if vectors else {}),
            **({"device_note": vectors[0].facts.device_note} if vectors and vectors[0].facts.device_note else {}),
            **({"prompts_not_applied": prompts} if (prompts := dict(model.info.unused_prompts)) else {}),
            **({"assumed": list(assumed)} if (assumed := assumed_of(model)) else {}),
            **({"similarity": model.info.similarity} if model.info.similarity != "cosine" else {}),
            **({"encoded_by": by} if (by := encoded_by(model)) else {}),
        },
        **_of_vectors(plan, model, vectors, dataset, held_out),
        **({"ranking": {"digest": plan.embedding_digest, **ranking}} if ranking is not None else {}),
        "dataset": {"id": dataset.id, "digest": plan.dataset_digest, **source_of(entry, checksums)},
        "support": {"digest": plan.covered_digest, "with": list(plan.covered_by), "own": plan.own_covered},
        "params": dict(plan.params),
        "seeds": dict(result.seeds),
        **({"chosen": dict(result.chosen)} if result.chosen else {}),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _of_vectors(
    plan: RunPlan,
    model: Encoder | Ranking,
    vectors: tuple[Embedded, FittedChain] | None,
    dataset: Dataset,
    held_out: Mapping[str, Any] | None,
) -> dict[str, Any]:
    if vectors is None:
        return {}
    embedded, transform = vectors
    return {
        "embeddings": {
            "digest": plan.embedding_digest,
            "encoded_now": embedded.encoded_now,
            "truncated_share": embedded.facts.truncated_share,
            **_zero_vectors(model, embedded),
            **(
                truncated(model, dataset)
                if embedded.facts.truncated and isinstance(dataset, RetrievalDataset) and not isinstance(model, Ranking)
                else {}
            ),
        },
        "transform": {
            **transform.record(),
            "fitted_on": _fitted_on(plan, transform, dataset),
            **({"held_out": held_out} if held_out else {}),
        },
    }


def _zero_vectors(model: Encoder | Ranking, embedded: Embedded) -> dict[str, int]:
    """How many vectors of a user's model are zero: its answer to what it cannot encode, or a failed call in a table."""
    if ":" not in model.identity.reference:  # a baseline, whose words or letters a text may lack
        return {}
    zero = int(np.count_nonzero(embedded.covered & ~embedded.matrix.any(axis=1)))
    return {"zero_vectors": zero} if zero else {}


def zero_vector_warnings(runs: Iterable[RunRecord]) -> list[str]:
    """A sentence per model that gives zero vectors."""
    zeros = {r.plan.variant.encoder: int(r.manifest.get("embeddings", {}).get("zero_vectors", 0)) for r in runs}
    called = names.current().model
    return [
        f"{called(encoder)} gives {counted(count, 'zero vector')}: such a text is equally far from all others."
        for encoder, count in zeros.items()
        if count
    ]


def truncation_warnings(runs: Iterable[RunRecord]) -> list[str]:
    """A sentence per model and dataset of which it does not read some texts to their end."""
    called, out = names.current(), []
    for run in runs:
        facts = run.manifest.get("embeddings", {})
        if not (share := facts.get("truncated_share")):
            continue
        model, most = called.model(run.plan.variant.encoder), int(run.manifest["encoder"]["max_length"])
        begin = f"{model} reads at most {most:,} tokens: it cuts off"
        if "truncated_documents" not in facts:
            part = percent(share, 1) if share >= _SMALLEST_SHARE else "fewer than 0.1%"
            out.append(f"{begin} {part} of the texts of {called.dataset(run.plan.dataset)}.")
            continue
        documents, queries = int(facts["truncated_documents"]), int(facts["truncated_queries"])
        worst, n = ", ".join(list(facts["most_truncated"])[:NAMED]), int(run.metrics["documents"])
        out.append(
            f"{begin} {documents:,} of {counted(n, 'document')} ({percent(documents / n, 1)}"
            + (f"; most of {worst}" if worst else "")
            + f") and {counted(queries, 'query', 'queries')}."
        )
    return list(dict.fromkeys(out))


def prompt_warnings(runs: Iterable[RunRecord]) -> list[str]:
    """A warning per encoder that declares prompts which were not applied."""
    called, warnings = names.current().model, []
    for run in runs:
        facts = run.manifest.get("encoder", {})
        if warning := prompt_warning(facts.get("prompts_not_applied", {}), facts.get("prompts")):
            warnings.append(f"{called(run.plan.variant.encoder)} {warning}")
    return list(dict.fromkeys(warnings))


def notes(runs: Iterable[RunRecord]) -> list[str]:
    """All sentences about what decided the runs' scores and may surprise: prompts, assumptions, devices, texts that
    were cut, zero vectors, rankings."""
    runs = list(runs)
    kinds = (prompt_warnings, assumptions, device_notes, truncation_warnings, zero_vector_warnings, ranking_notes)
    return [sentence for sentences in kinds for sentence in sentences(runs)]


def reading_notes(runs: Iterable[RunRecord]) -> list[str]:
    """A sentence for each thing that was assumed when the user's own data was read, and decides scores."""
    readings = {run.plan.dataset: run.manifest.get("dataset", {}).get("reading", {}) for run in runs}
    called = names.current().dataset
    return [
        f"{called(dataset)}: {remark}."
        for dataset, reading in readings.items()
        for remark in reading.get("remarks", ())
    ]


WITHOUT_SIMILARITY = frozenset({"chunking", "probing", "transfer"})  # a classifier reads the vectors
SIMILARITIES = {"cos": "cosine", "l2": "euclidean"}  # of Blindspot, as sentence-transformers names them


def assumptions(runs: Iterable[RunRecord]) -> list[str]:
    """A sentence per encoder and thing that its model leaves open and decides scores, or declares and was not done."""
    called, out = names.current().model, []
    for run in runs:
        facts, model = run.manifest.get("encoder", {}), called(run.plan.variant.encoder)
        out += [f"{model}: {sentence}." for sentence in facts.get("assumed", ())]
        if by := facts.get("encoded_by"):
            out.append(f"{model}: {by} encodes its texts, since our own way gives other vectors; this takes longer.")
        metric, declared = run.plan.params.get("metric", "cos"), facts.get("similarity", "")
        if declared and run.plan.diagnostic not in WITHOUT_SIMILARITY and declared != SIMILARITIES.get(metric):
            other = next((f"; --metric {ours} is that" for ours, name in SIMILARITIES.items() if name == declared), "")
            used = SIMILARITIES.get(metric, metric)
            out.append(f"{model} declares the similarity {declared}, and its scores are of {used}{other}.")
    return list(dict.fromkeys(out))


def device_notes(runs: Iterable[RunRecord]) -> list[str]:
    """A sentence for each reason why a GPU was not used that should have been, and for each model whose vectors come
    from a GPU although the CPU is asked for."""
    out: dict[str, None] = {}
    for run in runs:
        encoder, machine = run.manifest.get("encoder", {}), run.manifest.get("machine", {})
        out |= dict.fromkeys(note for part in (encoder, machine) if (note := part.get("device_note")))
        device = encoder.get("device", "cpu")
        is_of_gpu = any(part.startswith(("cuda", "mps")) for part in device.split(" and "))  # else a server's host
        if machine.get("wanted_device") == "cpu" and is_of_gpu:
            called = names.current().model(run.plan.variant.encoder)
            out[
                f"The stored vectors of {called} were encoded on {device} and are used though BLINDSPOT_DEVICE is cpu: "
                f"a GPU that passed its check differs by at most {BOUNDS[encoder['dtype']]:g} of a vector's length."
            ] = None
    return list(out)


def ranking_notes(runs: Iterable[RunRecord]) -> list[str]:
    """A sentence per ranking whose file lacks queries of the dataset, has others, or ranks against its scores; and per
    dataset of which queries are documents themselves."""
    out = []
    runs = list(runs)
    for run in runs:
        unranked, ignored = (int(run.metrics.get(name, 0)) for name in ("unranked", "ignored"))
        parts = []
        if unranked:
            of = counted(int(run.metrics["queries"]), "query", "queries")
            parts.append(f"has no document for {unranked:,} of {of}: they score 0")
        if ignored:
            parts.append(f"ranks {counted(ignored, 'query', 'queries')} that the dataset does not have, to no effect")
        ranking = run.manifest.get("ranking") or {}
        if tied := int(ranking.get("tied", 0)):
            of = counted(tied, "query", "queries")
            parts.append(f"has the same score for all documents of {of}: these are ties, since ranks do not count")
        if contradicted := int(ranking.get("contradicted", 0)):
            of = counted(contradicted, "query", "queries")
            parts.append(
                f"has ranks that say the opposite of its scores for {of}: if these are distances, write "
                f"{run.plan.variant.encoder}?scores=distance"
            )
        if parts:
            out.append(f"{names.current().model(run.plan.variant.encoder)} {'; it '.join(parts)}.")
    by_dataset = {
        run.plan.dataset: [int(run.metrics.get(name, 0)) for name in ("own_documents", "own_relevant")] for run in runs
    }
    for count, relevant in by_dataset.values():
        if count:
            note = f"{counted(count, 'query is a document itself', 'queries are documents themselves')}, left out of "
            note += "their own rankings, as BEIR and MTEB do"
            if relevant:
                note += f"; {relevant:,} of these documents are judged relevant to themselves, and count as not found"
            out.append(f"{note} (--own-document count counts them).")
    return out


def source_of(entry: DatasetEntry, checksums: Mapping[str, str]) -> dict[str, Any]:
    """A dataset's revision and checksums; for a user's file also how it was read."""
    if entry.own:
        files = {str(path): checksum for path, checksum in entry.own.files.items()}
        return {"revision": entry.revision, "files": files, "reading": entry.own.as_manifest()}
    return {"revision": entry.revision, "files": dict(checksums)}


def _fitted_on(plan: RunPlan, transform: FittedChain, dataset: Dataset) -> str:
    if other := plan.params.get(FIT_ON):
        return f"{transform.n} items of {other}"
    preparation = find_diagnostic(plan.diagnostic).preparation(plan.params)
    if preparation and transform.n != len(dataset.items):
        return f"{transform.n} {preparation.fitted_on}"
    if dataset.whole is not dataset:
        return f"{transform.n} queries and passages of {plan.dataset}"
    if not preparation and transform.n > len(dataset.items):
        return f"{transform.n} vectors of {plan.dataset}, those of texts in both roles twice"
    return f"{transform.n} {'ranked items' if plan.covered_digest else 'items'} of {plan.dataset}"


# --- two manifests

NOT_THERE = "–"
# In the order in which they matter for the numbers; others come last, by their own name.
_GROUPS = {
    "encoder": "Encoder",
    "embeddings": "Embeddings",
    "ranking": "Ranking",
    "transform": "Transform",
    "dataset": "Data",
    "support": "Items ranked",
    "params": "Parameters",
    "seeds": "Seeds",
    "chosen": "Chosen",
    "blindspot": "Blindspot",
    "python": "Python",
    "libraries": "Libraries",
    "machine": "Machine",
    "finished": "When",
}
# Facts that cannot change numbers; "" is a whole group.
_CIRCUMSTANCES = frozenset({("When", ""), ("Machine", ""), ("Embeddings", "encoded_now")})


@dataclass(frozen=True)
class Fact:
    """A fact of two manifests, with both values as text; ``name`` is "" if the group has a single value."""

    group: str
    name: str
    first: str
    second: str

    @property
    def differs(self) -> bool:
        return self.first != self.second

    @property
    def can_matter(self) -> bool:
        """Whether it can change numbers."""
        return _CIRCUMSTANCES.isdisjoint({(self.group, ""), (self.group, self.name)})


def compare(first: RunRecord, second: RunRecord) -> tuple[Fact, ...]:
    """Every fact of two runs' manifests and identities, those that matter for the numbers first."""
    left, right, order = _facts(first), _facts(second), list(_GROUPS.values())
    keys = sorted({**left, **right}, key=lambda key: order.index(key[0]) if key[0] in order else len(order))
    return tuple(Fact(*key, left.get(key, NOT_THERE), right.get(key, NOT_THERE)) for key in keys)


def _facts(run: RunRecord) -> dict[tuple[str, str], str]:
    """``(group, name) -> value``."""
    plan = run.plan
    facts = {
        ("Diagnostic", "id"): plan.diagnostic,
        ("Diagnostic", "version"): str(plan.diagnostic_version),
        ("Encoder", "reference"): plan.variant.encoder,
        ("Transform", "chain"): plan.variant.transform,
        ("Data", "id"): plan.dataset,
        ("Data", "digest"): plan.dataset_digest,
    }
    for key, value in run.manifest.items():
        group = _GROUPS.get(key, key)
        for name, text in leaves(value):
            facts[group, name] = text
    return facts


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """A nested value as ``path -> text``; a list of ``library==version`` is keyed by library."""
    if isinstance(value, list):
        if value and all(isinstance(v, str) and "==" in v for v in value):
            value = dict(entry.split("==", 1) for entry in value)
        elif all(isinstance(v, str | int | float) for v in value):
            value = ", ".join(map(str, value))
        else:
            value = dict(enumerate(value, 1))
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, f"{path} {name}".strip())
    else:
        yield path, NOT_THERE if value is None or value == "" else str(value)
