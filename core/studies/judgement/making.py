"""Making a set of items: encode what is not encoded, look for neighbours, apply the rules, store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from core import policy
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.datasets.kinds.base import Dataset
from core.datasets.kinds.vocabulary import Vocabulary
from core.datasets.word_frequency import by_wordfreq, of_vocabulary
from core.encoders import catalog as encoders
from core.errors import BlindspotError, InputError
from core.numerics.neighbours.exact import ExactIndex
from core.numerics.similarity import Metric, row_norms
from core.runs import pipeline
from core.runs.log import JobLine
from core.runs.pipeline import EncodeRequest
from core.runs.spaces import Space, open_spaces
from core.settings import Settings
from core.store.repository import Repository
from core.studies.judgement import inventories, rules
from core.studies.judgement.inventories import SENTENCES, Found, Inventory, Ready
from core.studies.judgement.rules import RANKS, Asked, Closeness, Made, Pool, Quartet, Reason, Rule
from core.studies.judgement.store import Judgements
from core.studies.judgement.types import ItemSet, Task
from core.transforms.chain import TransformChain
from core.types import CancelToken, Int64, Progress, Variant, no_progress

SEED = 2_015
FIRST_LOOK = 1_000  # neighbours: most intruders are among them, and ranking all 20,000 takes seven times as long
AT_ONCE = 32  # queries between two looks at the cancel token
LONGEST_TITLE = 120


@dataclass(frozen=True)
class ItemsRequest:
    """Items to be made. Equal requests lead to the same set.

    Attributes:
        inventory: a ready one by name, or the user's own queries.
        queries: a seeded sample of so many; None for all. Of sentences 100 where it is None.
        rule: of the intruder test.
        ranks: of the comparative task.
        title: of the set; "" for one that says what is in it. A set that is there already keeps its own.
    """

    task: Task
    variants: tuple[Variant, ...]
    dataset: str
    metric: Metric = Metric.COS
    inventory: Ready | Inventory = Ready.DEFAULT
    queries: int | None = None
    rule: Rule = Rule()  # noqa: RUF009 - frozen
    ranks: tuple[int, ...] = RANKS
    seed: int = SEED
    title: str = ""

    @property
    def label(self) -> str:
        return f"Items for {len(self.variants)} variant{'s' * (len(self.variants) != 1)} on {self.dataset}"

    @property
    def encoders(self) -> frozenset[str]:
        """References of the encoders that it encodes with."""
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
        """Make them, as a task of the queue; what came out."""
        return told(make(self, settings, repository, progress, cancel))


@dataclass(frozen=True, eq=False)
class _Sizes:
    """What must be alike in an intruder: how frequent words are, or how long sentences.

    Attributes:
        pool: ``counts`` are occurrences, or lengths in words.
        corpus_size: in words; None of lengths.
        source: whose counts they are.
    """

    pool: Pool
    corpus_size: float | None
    source: str


def check(request: ItemsRequest, settings: Settings) -> ItemsRequest:
    """Check what can be checked before any work, and make the request canonical.

    Raises:
        InputError: an unknown encoder, transform or dataset; too few variants; a number that makes no sense.
    """
    for variant in request.variants:
        policy.check_encoder(variant.encoder, settings)
    policy.check_dataset(request.dataset, settings)
    if request.title or isinstance(request.inventory, Inventory):  # it would stand in what all share
        policy.of(settings).check_change("items have no title or queries of a visitor's own")
    named = [Variant(encoders.canonical(v.encoder), str(TransformChain.parse(v.transform))) for v in request.variants]
    variants = tuple(dict.fromkeys(named))
    for reference in dict.fromkeys(v.encoder for v in variants):
        encoders.resolve(reference, settings)
    least = 2 if request.task is Task.COMPARATIVE else 1
    if len(variants) < least:
        raise InputError(
            f"{len(variants)} variant{'s' * (len(variants) != 1)} chosen",
            expected=f"at least {least}" + (", since they are compared" if least > 1 else ""),
            remedy="choose an encoder more, or one encoder with two transforms",
        )
    entry = datasets.find(request.dataset)
    if request.queries is not None:
        inventories.check_sample(request.queries)
    rules.check_ranks(request.ranks)
    if not 0 <= request.seed < 2**63:
        raise InputError(f"the seed is {request.seed}", expected="a number from 0")
    if request.task is Task.INTRUDER and not request.rule.tolerance >= 0:
        raise InputError(f"the tolerance is {request.rule.tolerance:g}", expected="a number from 0")
    if len(request.title) > LONGEST_TITLE:
        raise InputError(f"the title has {len(request.title)} characters", expected=f"at most {LONGEST_TITLE}")
    return ItemsRequest(
        request.task,
        variants,
        entry.id,
        request.metric,
        request.inventory,
        request.queries,
        request.rule,
        tuple(sorted(request.ranks)),
        request.seed,
        " ".join(request.title.split()),
    )


def make(
    request: ItemsRequest,
    settings: Settings,
    repository: Repository,
    progress: Progress = no_progress,
    cancel: CancelToken | None = None,
) -> ItemSet:
    """Make the items and store them; what is stored already is found.

    Raises:
        InputError: as ``check``, or the dataset has none of the queries.
        BlindspotError: no query gave an item; the reasons are in it.
    """
    cancel = cancel or CancelToken()
    request = check(request, settings)
    entry = datasets.find(request.dataset)
    dataset = fetch.load(entry, settings, progress, cancel)
    by_words = dataset.of_words
    if request.task is Task.INTRUDER and request.rule.closeness is Closeness.COUNT and not by_words:
        raise InputError(
            f"the rule of counts is for words, and '{dataset.id}' has sentences",
            expected=f"the rule {Closeness.LOG10}, on lengths in words",
        )
    inventory = _inventory(request, dataset, settings, progress, cancel)
    everything = np.arange(len(dataset.items), dtype=np.int64)
    inventories.find(inventory, dataset, everything)  # before minutes are spent on encoding
    for reference in dict.fromkeys(v.encoder for v in request.variants):
        cancel.check()
        pipeline.encode(EncodeRequest(reference, request.dataset), settings, repository, progress, cancel)
    spaces = open_spaces(request.variants, dataset, settings)
    places = _with_direction(spaces, request.metric)
    found = inventories.find(inventory, dataset, spaces[0].items[places])
    found = inventories.sample(found, request.queries, request.seed)
    sizes = _sizes(dataset, spaces[0].items[places], by_words)
    made = _made(request, found, spaces, places, sizes, progress, cancel)
    if not made.items:
        why = "; ".join(f"{reason}: {count:,}" for reason, count in made.skipped.items())
        raise BlindspotError(
            f"none of the {len(found.queries):,} queries gives an item ({why})",
            remedy="choose a larger dataset, another rule or another inventory",
        )
    title = request.title or f"{inventory.title} · {dataset.id}"  # raters see it: it names no encoder
    manifest = _manifest(request, dataset, inventory, found, spaces, sizes, made, len(places))
    items = ItemSet(request.task, title, request.variants, made.items, manifest, datetime.now(UTC))
    stored = Judgements(repository.database)
    return items if stored.add_set(items) else stored.find_set(items.set_id) or items


def told(items: ItemSet) -> str:
    """What came out, in words: items, what was skipped and why, what the vocabulary lacks."""
    manifest = items.manifest
    said = f"{len(items.items):,} items of {manifest.get('queries', 0):,} queries."
    if skipped := manifest.get("skipped"):
        unit = "queries" if items.task is Task.INTRUDER else "questions"
        said += f" Skipped {unit}: " + ", ".join(f"{reason} {count:,}" for reason, count in skipped.items()) + "."
    if missing := manifest.get("unknown"):
        more = manifest["unknown_total"] - len(missing)
        said += f" Not in the vocabulary: {', '.join(missing)}" + (f" and {more:,} more." if more else ".")
    return said


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


def _with_direction(spaces: Sequence[Space], metric: Metric) -> Int64:
    """Rows of the spaces whose similarity to others is defined by all variants: with cosine, zero vectors have none.

    Raises:
        BlindspotError: there are fewer than two.
    """
    usable = np.ones(len(spaces[0].items), dtype=np.bool_)
    if metric is Metric.COS:
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


def _sizes(dataset: Dataset, items: Int64, by_words: bool) -> _Sizes:
    """Of the items that have a vector everywhere, in their order."""
    texts = [dataset.items[i] for i in items]
    if not by_words:
        lengths = np.array([len(text.split()) for text in texts], dtype=np.float64)
        return _Sizes(Pool.of(texts, np.where(lengths > 0, lengths, np.nan)), None, "lengths in words")
    counted = of_vocabulary(dataset, "") if isinstance(dataset, Vocabulary) else by_wordfreq(dataset)
    return _Sizes(Pool.of(texts, counted.counts[items]), counted.corpus_size, counted.source)


def _made(
    request: ItemsRequest,
    found: Found,
    spaces: Sequence[Space],
    places: Int64,
    sizes: _Sizes,
    progress: Progress,
    cancel: CancelToken,
) -> Made:
    pool = sizes.pool
    numbers = np.searchsorted(spaces[0].items[places], found.items).astype(np.int64)  # of the queries, in the pool
    own = pool.counts[numbers]
    if sizes.corpus_size is None:
        bands = rules.bands_of_lengths(own)
    else:
        bands = rules.bands_of_words(own, sizes.corpus_size, inventories.RARE, inventories.FREQUENT)
    asked = [Asked(*row) for row in zip(found.queries, numbers.tolist(), bands, strict=True)]
    quartets: list[list[Quartet | Reason]] = [[] for _ in asked]
    lists: list[list[Int64]] = [[] for _ in asked]
    for space in spaces:
        vectors = space.vectors if len(places) == len(space.vectors) else space.vectors[places]
        index = ExactIndex(np.asarray(vectors, dtype=np.float32), request.metric)
        stage = f"neighbours by {space.variant.label}"
        for part in rules.blocks(len(asked), AT_ONCE):
            cancel.check()
            progress(stage, part.start, len(asked))
            if request.task is Task.INTRUDER:
                for query, one in zip(quartets[part], _quartets(index, numbers[part], pool, request.rule), strict=True):
                    query.append(one)
            else:
                for listed, near in zip(lists[part], _lists(index, numbers[part], pool, request.ranks), strict=True):
                    listed.append(near)
        progress(stage, len(asked), len(asked))
    if request.task is Task.INTRUDER:
        return rules.intruder_items(asked, quartets, pool)
    return rules.comparative_items(asked, lists, request.ranks, pool)


def _quartets(index: ExactIndex, numbers: Int64, pool: Pool, rule: Rule) -> list[Quartet | Reason]:
    """Those of some queries, ``[q] int64``; all items are ranked only for queries whose intruder is far off."""
    out: list[Quartet | Reason] = [Reason.TOO_FEW] * len(numbers)
    open_ones = np.arange(len(numbers))
    for depth in sorted({min(FIRST_LOOK, len(index) - 1), len(index) - 1}):
        ranked = index.of_rows(numbers[open_ones], depth).rows
        for i, row in zip(open_ones, ranked, strict=True):
            item = int(numbers[i])
            out[i] = rules.quartet(item, rules.distinct(item, row, pool.twins), pool.counts, rule)
        open_ones = np.array([i for i in open_ones if out[i] in (Reason.TOO_FEW, Reason.NO_INTRUDER)], dtype=np.int64)
        if not len(open_ones):
            break
    return out


def _lists(index: ExactIndex, numbers: Int64, pool: Pool, ranks: Sequence[int]) -> list[Int64]:
    """The beginnings of the neighbour lists of some queries, as far as the ranks go where there are so many."""
    deepest = max(ranks)
    most = len(index) - 1
    out: list[Int64] = []
    ranked = index.of_rows(numbers, min(2 * deepest + 50, most)).rows  # twins are among them
    for item, row in zip(numbers.tolist(), ranked, strict=True):
        near = rules.distinct(item, row, pool.twins)
        if len(near) < deepest and len(row) < most:
            everything = index.of_rows(np.array([item], dtype=np.int64), most).rows[0]
            near = rules.distinct(item, everything, pool.twins)
        out.append(near[:deepest])
    return out


def _manifest(
    request: ItemsRequest,
    dataset: Dataset,
    inventory: Inventory,
    found: Found,
    spaces: Sequence[Space],
    sizes: _Sizes,
    made: Made,
    support: int,
) -> dict[str, object]:
    """All that decided the items, and what was left out."""
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
        "support": support,
        "frequencies": sizes.source,
        "corpus_size": sizes.corpus_size,
        "queries": len(found.queries),
        "unknown": list(found.unknown[: inventories.NAMED]),
        "unknown_total": len(found.unknown),
        "repeated": found.repeated,
        "skipped": dict(made.skipped),
    }
