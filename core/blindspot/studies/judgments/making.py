"""Making a set of items: encode if needed, look up neighbors, apply the rules, store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from blindspot import policy
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DatasetRef, title_of
from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.vocabulary import Vocabulary
from blindspot.datasets.word_frequency import by_wordfreq, of_vocabulary
from blindspot.encoders.catalog import encoder_of, variant_named
from blindspot.errors import BlindspotError, InputError
from blindspot.names import name_of_dataset
from blindspot.numerics.neighbors.exact import ExactIndex
from blindspot.numerics.similarity import Similarity, row_norms
from blindspot.runs import pipeline
from blindspot.runs.log import JobLine
from blindspot.runs.requests import EncodeRequest
from blindspot.runs.spaces import Space, open_spaces
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from blindspot.studies.judgments import inventories, rules
from blindspot.studies.judgments.inventories import SENTENCES, Found, Inventory, Ready
from blindspot.studies.judgments.rules import RANKS, Asked, Closeness, Made, Pool, Quartet, Reason, Rule
from blindspot.studies.judgments.store import Judgments
from blindspot.studies.judgments.types import ItemSet, Task
from blindspot.types import CancelToken, Int64, Progress, no_progress
from blindspot.variants import Variant

SEED = 2_015
FIRST_LOOK = 1_000  # neighbors: most intruders are among them; ranking all 20,000 takes seven times as long
AT_ONCE = 32  # queries between two checks of the cancel token
LONGEST_TITLE = 120


@dataclass(frozen=True)
class ItemsRequest:
    """Items to make. Equal requests lead to the same set.

    Attributes:
        queries: size of a seeded sample; None for all queries, or for 100 sentences.
        rule: of the intruder test.
        ranks: of the comparative task.
        title: "" for a title made of the inventory's and the dataset's; a set that exists keeps its title.
    """

    task: Task
    variants: tuple[Variant, ...]
    dataset: DatasetRef
    metric: Similarity = Similarity.COS
    inventory: Ready | Inventory = Ready.DEFAULT
    queries: int | None = None
    rule: Rule = Rule()  # noqa: RUF009 - frozen
    ranks: tuple[int, ...] = RANKS
    seed: int = SEED
    title: str = ""

    @property
    def label(self) -> str:
        return f"Items for {len(self.variants)} variant{'s' * (len(self.variants) != 1)} on {title_of(self.dataset)}"

    @property
    def encoders(self) -> frozenset[str]:
        return frozenset(variant.encoder for variant in self.variants)

    @property
    def typed_variants(self) -> frozenset[Variant]:
        return frozenset(self.variants)

    @property
    def takes_uploads(self) -> bool:
        return False

    @property
    def line(self) -> JobLine:
        return JobLine("items", variant=", ".join(v.label for v in self.variants), dataset=self.dataset)

    def do(self, settings: Settings, repository: Repository, progress: Progress, cancel: CancelToken) -> str:
        """Make them: a task of the queue. Returns the result in words."""
        return in_words(make(self, settings, repository, progress, cancel))


@dataclass(frozen=True, eq=False)
class _Sizes:
    """What an intruder must match: the frequency of words, or the length of sentences."""

    pool: Pool
    corpus_size: float | None  # None for lengths
    source: str  # of the counts


def check(request: ItemsRequest, settings: Settings) -> ItemsRequest:
    """The request in canonical form, with everything checked that needs no work.

    Raises:
        InputError: an unknown encoder, transform or dataset; too few variants; a number out of range.
    """
    for variant in request.variants:
        policy.check_model(variant.encoder, settings)
    policy.check_dataset(request.dataset, settings)
    if request.title or isinstance(request.inventory, Inventory):  # all visitors would see it
        policy.of(settings).check_change("items have no title or queries of a visitor's own")
    named = [variant_named(v.encoder, v.transform) for v in request.variants]
    variants = tuple(dict.fromkeys(named))
    for model in dict.fromkeys(v.encoder for v in variants):
        encoder_of(model, settings)
    least = 2 if request.task is Task.COMPARATIVE else 1
    if len(variants) < least:
        raise InputError(
            f"{len(variants)} variant{'s' * (len(variants) != 1)} chosen",
            expected=f"at least {least}" + (", since they are compared" if least > 1 else ""),
            remedy="choose an encoder more, or one encoder with two transforms",
        )
    dataset = DatasetRef(request.dataset.entry().id)
    if request.queries is not None:
        inventories.check_sample(request.queries)
    rules.check_ranks(request.ranks)
    if not 0 <= request.seed < 2**63:
        raise InputError(f"the seed is {request.seed}", expected="a number from 0")
    if request.task is Task.INTRUDER and not request.rule.tolerance >= 0:
        raise InputError(f"the tolerance is {request.rule.tolerance:g}", expected="a number from 0")
    if len(request.title) > LONGEST_TITLE:
        raise InputError(f"the title has {len(request.title)} characters", expected=f"at most {LONGEST_TITLE}")
    title = " ".join(request.title.split())
    return replace(request, variants=variants, dataset=dataset, ranks=tuple(sorted(request.ranks)), title=title)


def make(
    request: ItemsRequest,
    settings: Settings,
    repository: Repository,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> ItemSet:
    """Make the items and store them; an equal set that is stored is returned.

    Raises:
        InputError: for the reasons of ``check``, or the dataset has none of the queries.
        BlindspotError: no query gives an item, with the reasons.
    """
    cancel = cancel or CancelToken()
    request = check(request, settings)
    dataset = fetch.load(request.dataset.entry(), settings, progress, cancel)
    if request.task is Task.INTRUDER and request.rule.closeness is Closeness.COUNT and not dataset.of_words:
        raise InputError(
            f"the rule of counts is for words, and '{dataset.id}' has sentences",
            expected=f"the rule {Closeness.LOG10}, on lengths in words",
        )
    inventory = _inventory(request, dataset, settings, progress, cancel)
    inventories.find(inventory, dataset, np.arange(len(dataset.items)))  # fails before minutes of encoding
    for reference in dict.fromkeys(v.encoder for v in request.variants):
        cancel.check()
        pipeline.encode(EncodeRequest(reference, request.dataset), settings, repository, progress, cancel)
    spaces = open_spaces(request.variants, dataset, settings)
    places = _nonzero_rows(spaces, request.metric)
    queries = inventories.find(inventory, dataset, spaces[0].items[places])
    queries = inventories.sample(queries, request.queries, request.seed)
    sizes = _sizes(dataset, spaces[0].items[places])
    made = _made(request, queries, spaces, places, sizes, progress, cancel)
    if not made.items:
        why = "; ".join(f"{rules.in_words(reason)}: {count:,}" for reason, count in made.skipped.items())
        raise BlindspotError(
            f"none of the {len(queries.queries):,} queries gives an item ({why})",
            remedy="choose a larger dataset, another rule or another inventory",
        )
    # Raters see it, so it names no encoder and no path.
    title = request.title or f"{inventory.title} · {name_of_dataset(dataset.id)}"
    manifest = _manifest(request, dataset, inventory, queries, spaces, sizes, made, len(places))
    items = ItemSet(request.task, title, request.variants, made.items, manifest, datetime.now(UTC))
    stored = Judgments(repository.database)
    return items if stored.add_set(items) else stored.find_set(items.set_id) or items


def in_words(items: ItemSet) -> str:
    """A summary: how many items there are, what was skipped and why, what the vocabulary lacks."""
    manifest = items.manifest
    text = f"{len(items.items):,} items of {manifest.get('queries', 0):,} queries."
    if skipped := manifest.get("skipped"):
        unit = "queries" if items.task is Task.INTRUDER else "questions"
        text += (
            f" Skipped {unit}: "
            + ", ".join(f"{rules.in_words(reason)} {count:,}" for reason, count in skipped.items())
            + "."
        )
    if missing := manifest.get("unknown"):
        more = manifest["unknown_total"] - len(missing)
        text += f" Not in the vocabulary: {', '.join(missing)}" + (f" and {more:,} more." if more else ".")
    return text


def as_json(items: ItemSet) -> dict[str, Any]:
    manifest = items.manifest
    return {
        "set_id": items.set_id,
        "task": items.task,
        "title": items.title,
        "variants": [str(v) for v in items.variants],
        "items": len(items.items),
        **{name: manifest[name] for name in ("queries", "skipped", "unknown", "unknown_total")},
        "manifest": dict(manifest),
    }


# --- the parts


def _inventory(
    request: ItemsRequest, dataset: Dataset, settings: Settings, progress: Progress, cancel: CancelToken
) -> Inventory:
    match request.inventory:
        case Inventory():
            return request.inventory
        case Ready.DEFAULT:
            return inventories.default()
        case Ready.SIMLEX:
            return inventories.load_simlex(settings, progress, cancel)
        case Ready.SENTENCES:
            return inventories.sentences(dataset, request.queries or SENTENCES, request.seed)


def _nonzero_rows(spaces: Sequence[Space], metric: Similarity) -> Int64:
    """Rows that are not zero in any space, since zero vectors have no cosine; ``BlindspotError`` if fewer than two."""
    usable = np.ones(len(spaces[0].items), dtype=np.bool_)
    if metric is Similarity.COS:
        for space in spaces:
            usable &= row_norms(space.vectors) > 0
    places = np.flatnonzero(usable).astype(np.int64)
    if len(places) < 2:
        raise BlindspotError(
            f"{len(places)} items have a vector with a direction in all variants",
            expected="many more",
            remedy="choose other variants or another dataset",
        )
    return places


def _sizes(dataset: Dataset, items: Int64) -> _Sizes:
    texts = [dataset.items[i] for i in items]
    if not dataset.of_words:
        lengths = np.array([len(text.split()) for text in texts], dtype=np.float64)
        return _Sizes(Pool.of(texts, np.where(lengths > 0, lengths, np.nan)), None, "lengths in words")
    counted = of_vocabulary(dataset, "") if isinstance(dataset, Vocabulary) else by_wordfreq(dataset)
    return _Sizes(Pool.of(texts, counted.counts[items]), counted.corpus_size, counted.source)


def _made(
    request: ItemsRequest,
    query_list: Found,
    spaces: Sequence[Space],
    places: Int64,
    sizes: _Sizes,
    progress: Progress,
    cancel: CancelToken,
) -> Made:
    pool = sizes.pool
    numbers = np.searchsorted(spaces[0].items[places], query_list.items).astype(np.int64)  # of the queries, in the pool
    lengths = pool.counts[numbers]
    if sizes.corpus_size is None:
        bands = rules.bands_of_lengths(lengths)
    else:
        bands = rules.bands_of_words(lengths, sizes.corpus_size, inventories.RARE, inventories.FREQUENT)
    asked = [Asked(*row) for row in zip(query_list.queries, numbers.tolist(), bands, strict=True)]
    quartets: list[list[Quartet | Reason]] = []
    lists: list[list[Int64]] = []
    for space in spaces:
        quartets.append([])
        lists.append([])
        vectors = space.vectors if len(places) == len(space.vectors) else space.vectors[places]
        index = ExactIndex(np.asarray(vectors, dtype=np.float32), request.metric)
        stage = f"neighbors by {space.variant.label}"
        for start in range(0, len(asked), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            cancel.check()
            progress(stage, start, len(asked))
            if request.task is Task.INTRUDER:
                quartets[-1] += _quartets(index, numbers[part], pool, request.rule)
            else:
                lists[-1] += _lists(index, numbers[part], pool, request.ranks)
        progress(stage, len(asked), len(asked))
    if request.task is Task.INTRUDER:
        return rules.intruder_items(asked, list(zip(*quartets, strict=True)), pool)
    return rules.comparative_items(asked, list(zip(*lists, strict=True)), request.ranks, pool)


def _quartets(index: ExactIndex, numbers: Int64, pool: Pool, rule: Rule) -> list[Quartet | Reason]:
    """One quartet or reason per query of ``numbers [q]``; all items are ranked only for queries with a far intruder."""
    out: list[Quartet | Reason] = [Reason.TOO_FEW] * len(numbers)
    open_ones = np.arange(len(numbers))
    for depth in sorted({min(FIRST_LOOK, len(index) - 1), len(index) - 1}):
        ranked = index.of_rows(numbers[open_ones], depth).rows
        for i, row in zip(open_ones, ranked, strict=True):
            item = int(numbers[i])
            out[i] = rules.quartet(item, rules.distinct(item, row, pool.copies), pool.counts, rule)
        open_ones = np.array([i for i in open_ones if out[i] in (Reason.TOO_FEW, Reason.NO_INTRUDER)], dtype=np.int64)
        if not len(open_ones):
            break
    return out


def _lists(index: ExactIndex, numbers: Int64, pool: Pool, ranks: Sequence[int]) -> list[Int64]:
    """The beginnings of the neighbor lists, down to the deepest rank if there are so many neighbors."""
    deepest = max(ranks)
    most = len(index) - 1
    out: list[Int64] = []
    ranked = index.of_rows(numbers, min(2 * deepest + 50, most)).rows  # near-duplicates are among them
    for item, row in zip(numbers.tolist(), ranked, strict=True):
        near = rules.distinct(item, row, pool.copies)
        if len(near) < deepest and len(row) < most:
            everything = index.of_rows(np.array([item], dtype=np.int64), most).rows[0]
            near = rules.distinct(item, everything, pool.copies)
        out.append(near[:deepest])
    return out


def _manifest(
    request: ItemsRequest,
    dataset: Dataset,
    inventory: Inventory,
    query_list: Found,
    spaces: Sequence[Space],
    sizes: _Sizes,
    made: Made,
    covered: int,
) -> dict[str, object]:
    """What decided the items, and what was left out."""
    by_task: dict[str, object] = {"rule": {"ranks": list(request.ranks)}}
    if request.task is Task.INTRUDER:
        by_task = {
            "rule": {request.rule.closeness.value: request.rule.tolerance},
            "intruders_from": rules.INTRUDERS_FROM,
        }
    return by_task | {
        "version": rules.VERSION,
        "dataset": dataset.id,
        "dataset_digest": dataset.content_digest,
        "metric": request.metric.value,
        "inventory": inventory.title,
        "inventory_id": str(inventory.id),
        "inventory_digest": inventory.digest,
        "about": inventory.about,
        "seed": request.seed,
        "embeddings": {str(space.variant): space.digest for space in spaces},
        "support": covered,
        "frequencies": sizes.source,
        "corpus_size": sizes.corpus_size,
        "queries": len(query_list.queries),
        "unknown": list(query_list.unknown[: inventories.NAMED]),
        "unknown_total": len(query_list.unknown),
        "repeated": query_list.repeated,
        "skipped": dict(made.skipped),
    }
