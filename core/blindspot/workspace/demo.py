"""Demo: runs of different models on built-in data, maps, and items for raters, in the order of a visit."""

from __future__ import annotations

from collections.abc import Sequence

from blindspot.datasets.catalog import DatasetRef
from blindspot.datasets.published.tatoeba import BOTH, PARALLEL
from blindspot.jobs.queue import Task
from blindspot.runs import requesting
from blindspot.runs.requests import RunRequest
from blindspot.settings import Mode, Settings
from blindspot.space.maps.maps import MapRequest
from blindspot.studies.judgments.making import ItemsRequest
from blindspot.studies.judgments.types import Task as Judging
from blindspot.variants import Variant

FIRST = Variant("minilm", "none")
CENTERED = Variant("minilm", "center")
STATIC = Variant("minilm-static", "none")
# A sentence transformer, spelling, the texts' own word statistics, and the transformer's word pieces without context.
# The last one is last because Compare starts with the newest other model, and a baseline would be dull.
UNTRANSFORMED = (FIRST, *(Variant(encoder, "none") for encoder in ("random-projection", "lsa")), STATIC)
VARIANTS = (*UNTRANSFORMED, CENTERED)
OF_PAIRS = (("evalrank", "demo-pairs"), ("heros", "demo-minimal"))
SIMILARITY = ("similarity", "demo-scored")
GEOMETRY = ("geometry", "demo-pairs")
TRAINED = (("transfer", "demo-negation"), ("probing", "demo-bigram-shift"))
OF_WORDS = (
    ("analogy", "demo-analogies"),
    ("categorization", "demo-categories"),
    ("outliers", "demo-outliers"),
    ("thematic_fit", "demo-events"),
    ("chunking", "demo-chunks"),
)
# LSA learns from texts which words go together; of single words it has only the letters, as random projection has.
SINGLE_WORDS = tuple(variant for variant in UNTRANSFORMED if variant.encoder != "lsa")
RETRIEVAL = ("retrieval", "demo-retrieval")
FREQUENCY = ("frequency", "demo-vocabulary")  # takes ten seconds per model
QUERIES = 40  # of each set of items: a rater's quarter of an hour
JUDGED = (FIRST, STATIC)
LANGUAGES = "demo-languages"
MAPPED = (FIRST, STATIC)  # a UMAP takes ten to twenty seconds, the first one of a machine a minute


def tasks(settings: Settings) -> list[Task]:
    """All work of the demo; a host's has also what takes long: the maps, last, and a second model's frequency. Readers
    of their own machine ask for it on these pages."""
    kinds = (Judging.INTRUDER, Judging.COMPARATIVE)
    items = [ItemsRequest(kind, JUDGED, DatasetRef(FREQUENCY[1]), queries=QUERIES) for kind in kinds]
    maps = [MapRequest(variant, DatasetRef(OF_PAIRS[0][1])) for variant in _only_hosted(settings, *MAPPED)]
    return [*requests(settings), *items, *maps]


def first_requests(settings: Settings) -> list[RunRequest]:
    """The runs behind the first findings of one model; the one of the fewest texts first."""
    return _requests((SIMILARITY, *OF_PAIRS), [FIRST], settings)


def requests(settings: Settings) -> list[RunRequest]:
    """All runs of the demo, without any download; about a minute on two cores."""
    return [
        *first_requests(settings),
        *_requests((*OF_PAIRS, SIMILARITY), VARIANTS[1:], settings),
        *_requests([GEOMETRY], VARIANTS, settings),
        *(request for task in (*TRAINED, RETRIEVAL) for request in _requests([task], UNTRANSFORMED, settings)),
        *_requests(OF_WORDS, SINGLE_WORDS, settings),
        *_requests([FREQUENCY], (FIRST, *_only_hosted(settings, STATIC)), settings),
        *_of_languages(settings),
    ]


def _of_languages(settings: Settings) -> list[RunRequest]:
    """What the page of languages shows: translations of 40 sentences into seven languages, both ways."""
    sets, (encoder, transform) = PARALLEL[LANGUAGES], (FIRST.encoder, FIRST.transform)
    datasets = [sets.member(code, direction) for code in sets.codes for direction in BOTH]
    params = {"candidates": "matches"}
    return [requesting.request("evalrank", encoder, transform, dataset, params, settings) for dataset in datasets]


def _only_hosted(settings: Settings, *variants: Variant) -> tuple[Variant, ...]:
    """The variants on a server for others, none on a reader's own machine."""
    return variants if settings.mode is Mode.DEMO else ()


def _requests(tasks: Sequence[tuple[str, str]], variants: Sequence[Variant], settings: Settings) -> list[RunRequest]:
    return [
        requesting.request(diagnostic, variant.encoder, variant.transform, dataset, {}, settings)
        for variant in variants
        for diagnostic, dataset in tasks
    ]
