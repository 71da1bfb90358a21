"""Sets that change the meaning of a sentence in a known way: minimal pairs by kind of change, and scored pairs.

White space in texts is one space. Each original's kind of change is a column of the dataset (``OwnColumn``) that pages
use to group and filter.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from blindspot.datasets.entries import DatasetEntry, github_file
from blindspot.datasets.kinds.base import Dataset, DatasetKind
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.published.minimal_pairs import minimal_pair_set
from blindspot.datasets.published.scored_pairs import Row, scored_pairs
from blindspot.datasets.published.text_lines import lines, parsed, text_of
from blindspot.datasets.published.word_relations import DTFIT, DTFIT_CITATION, DTFIT_LICENCE, DTFIT_PATH, read_dtfit
from blindspot.errors import DataCorrupt

PARAPHRASE, FOIL = "paraphrase", "foil"
TYPICAL, ATYPICAL = "typical_patient", "atypical_patient"
ENTAILED, NOT_ENTAILED = "entailed", "not_entailed"
KIND = "kind"
_SUGARCREPE = {
    "replace_att": "attribute replaced",
    "replace_obj": "object replaced",
    "replace_rel": "relation replaced",
    "swap_att": "attributes swapped",
    "swap_obj": "objects swapped",
}
_TRIALS = {
    "AI": "animate agent, inanimate patient",
    "AAN": "two animates, one order typical",
    "AAR": "two animates, either order plausible",
}
# Names of an event's four sentences by plausibility and voice; None is the original.
_EVENTS = {
    ("Plausible", "active"): None,
    ("Plausible", "passive"): PARAPHRASE,
    ("Implausible", "active"): "role_swap",
    ("Implausible", "passive"): "role_swap_passive",
}
LABELS = {"entailment": 2.0, "neutral": 1.0, "contradiction": 0.0}  # NLI's labels as scores
_CHANGED = {"sentence1": "premise", "sentence2": "hypothesis"}
_ADVERSARIAL = "adversarial"


def _one_space(text: str) -> str:
    """A text with one space for all white space; raises ``ValueError`` if nothing is left."""
    if not (plain := " ".join(text.split())):
        raise ValueError("an empty text")
    return plain


def _with_columns(dataset: MinimalPairSet, columns: Mapping[str, Sequence[str]]) -> MinimalPairSet:
    """The dataset with a value per original in each column."""
    user_columns = []
    for name, cells in columns.items():
        values = tuple(dict.fromkeys(cells))
        number = {value: code for code, value in enumerate(values)}
        user_columns.append(OwnColumn(name, values, np.array([number[cell] for cell in cells], dtype=np.uint8)))
    return replace(dataset, own_columns=tuple(user_columns))


def _json_of(path: Path) -> Any:
    try:
        return json.loads(text_of(path))
    except ValueError as error:
        raise DataCorrupt(f"{path} is not JSON: {error}", expected="a JSON array") from error


# --- minimal pairs


def sugarcrepe(dataset_id: str, paths: Sequence[Path]) -> MinimalPairSet:
    """SugarCrepe++: two captions that mean the same and one that does not; a file per kind of change, named after it.

    Raises:
        DataCorrupt: a file of another form.
    """
    rows: list[tuple[str, str, str, str]] = []
    for path in paths:
        data = _json_of(path)
        for number, item in enumerate(data if isinstance(data, list) else [data], 1):
            try:
                first, second, foil = (_one_space(item[name]) for name in ("caption", "caption2", "negative_caption"))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise DataCorrupt(
                    f"{path}, entry {number}: no three captions", expected="caption, caption2 and negative_caption"
                ) from error
            rows.append((_SUGARCREPE[path.stem], first, second, foil))
    kinds, originals, paraphrases, foils = zip(*rows, strict=True)
    dataset = minimal_pair_set(dataset_id, originals, {PARAPHRASE: paraphrases, FOIL: foils})
    return _with_columns(dataset, {KIND: kinds})


def events_adapt(dataset_id: str, path: Path) -> MinimalPairSet:
    """EventsAdapt: an event in the active voice, in the passive voice, and both with agent and patient swapped.

    Raises:
        DataCorrupt: an event without one sentence of each plausibility and voice.
    """
    events: dict[str, dict[str | None, str]] = {}
    kinds: dict[str, str] = {}
    reader = csv.DictReader(io.StringIO(text_of(path), newline=""))
    for row in reader:
        try:
            number, kind = row["ItemNum"], _TRIALS[row["TrialType"]]
            role, text = _EVENTS[row["Plausibility"], row["Voice"]], _one_space(row["Sentence"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataCorrupt(
                f"{path}, line {reader.line_num}: no sentence of an event",
                expected="ItemNum, Sentence, Plausibility, Voice and TrialType",
            ) from error
        kinds.setdefault(number, kind)
        texts = events.setdefault(number, {})
        if role in texts:
            raise DataCorrupt(f"{path}, line {reader.line_num}: event {number} again", expected="each form once")
        texts[role] = text
    if lacking := [number for number, texts in events.items() if len(texts) < len(_EVENTS)]:
        raise DataCorrupt(f"{path}: event {lacking[0]} lacks a sentence", expected="four sentences per event")
    rewrites = {role: [texts[role] for texts in events.values()] for role in _EVENTS.values() if role is not None}
    dataset = minimal_pair_set(dataset_id, [texts[None] for texts in events.values()], rewrites)
    return _with_columns(dataset, {KIND: [kinds[number] for number in events]})


def dtfit(dataset_id: str, path: Path) -> MinimalPairSet:
    """DTFit as sentences: *The actor won something.* is the original; the rewrites have its typical and its atypical
    patient instead of *something*. The originals are ours, since the file has none.

    Raises:
        DataCorrupt: a file of another form.
    """
    events = read_dtfit(path)
    begun = [f"The {event.agent} {event.verb}" for event in events]
    rewrites = {
        TYPICAL: [f"{start} the {event.typical}." for start, event in zip(begun, events, strict=True)],
        ATYPICAL: [f"{start} the {event.atypical}." for start, event in zip(begun, events, strict=True)],
    }
    dataset = minimal_pair_set(dataset_id, [f"{start} something." for start in begun], rewrites)
    return _with_columns(dataset, {"verb": [event.verb for event in events]})


def xnli_negation(dataset_id: str, path: Path) -> MinimalPairSet:
    """XNLI with negation cues removed: the unchanged sentence is the original; the changed sentence with and without
    its cue are the rewrites.

    A pair of examples in the file is used if exactly one of the two is an entailment: only then we know which rewrite
    is closer in meaning. Pairs in which both sentences were changed have no original.

    Raises:
        DataCorrupt: a line of another form, or a changed example without its original.
    """
    examples = parsed(path, lines(path), _example, "an NLI example of a minimal pair")
    unchanged = {number: texts for number, version, *texts in examples if version == "Orig"}
    rows: list[tuple[str, str, str, str, str]] = []
    for number, version, *texts in examples:
        if version == "Orig":
            continue
        if number not in unchanged:
            raise DataCorrupt(f"{path}: example {number} has no original", expected="both examples of every pair")
        (*before, was), (*after, became) = unchanged[number], texts
        differ = [side for side in (0, 1) if before[side] != after[side]]
        if len(differ) != 1 or (was == "entailment") == (became == "entailment"):
            continue
        (side,) = differ
        entailed, other = (before, after) if was == "entailment" else (after, before)
        changed = list(_CHANGED.values())[side]
        rows.append((before[1 - side], entailed[side], other[side], f"{was} to {became}", changed))
    if len(rows) < 2:
        raise DataCorrupt(f"{path} has {len(rows)} pair(s) with an entailment", expected="at least two")
    originals, entailments, others, labels, changes = zip(*rows, strict=True)
    dataset = minimal_pair_set(dataset_id, originals, {ENTAILED: entailments, NOT_ENTAILED: others})
    return _with_columns(dataset, {KIND: labels, "cue removed from": changes})


def _example(line: str) -> tuple[str, str, str, str, str]:
    """A line's number of the pair, version, premise, hypothesis and label."""
    item = json.loads(line)
    number, _, version = item["pairID"].rpartition("_")
    if item["gold_label"] not in LABELS or item["version"] != version:
        raise ValueError("no example")
    first, second = (_one_space(item[name]) for name in _CHANGED)
    return number, version, first, second, item["gold_label"]


# --- scored pairs


def glue_diagnostic(dataset_id: str, path: Path) -> ScoredPairs:
    """The GLUE diagnostic set: a set of scored pairs per phenomenon, with the labels as scores (``LABELS``).

    A pair with several phenomena is in the set of each; a pair without any is left out.
    """
    header, *rows = [(number, line.split("\t")) for number, line in lines(path)]
    groups = header[1].index("Domain")  # the columns before it name phenomena

    def parse(line: str) -> tuple[list[str], Row]:
        cells = line.split("\t")
        first, second, label = cells[groups + 1 :]
        phenomena = [name for cell in cells[:groups] for name in cell.split(";") if name]
        return phenomena, (_one_space(first), _one_space(second), LABELS[label])

    numbered = [(number, "\t".join(cells)) for number, cells in rows]
    sets: dict[str, list[Row]] = {}
    for phenomena, row in parsed(path, numbered, parse, "phenomena, a domain, two sentences and a label"):
        for name in phenomena:
            sets.setdefault(name, []).append(row)
    return scored_pairs(dataset_id, sets)


def sts3k(dataset_id: str, path: Path, adversarial: Path, plain: Path) -> ScoredPairs:
    """STS3k: two sentences and their mean rating per line; the other files have the numbers of lines, from 0.

    Lines in neither file are adversarial pairs of a sentence and its opposite.
    """

    def parse(line: str) -> Row:
        first, second, score = line.split(";")
        return _one_space(first), _one_space(second), float(score)

    rows = parsed(path, lines(path), parse, "two sentences and a rating, semicolons between")
    numbers = [set(parsed(file, lines(file), int, "the number of a line")) for file in (adversarial, plain)]
    if numbers[0] & numbers[1] or max(numbers[0] | numbers[1], default=-1) >= len(rows):
        raise DataCorrupt(f"{adversarial} and {plain} do not fit {path}", expected="each line in one of them at most")
    sets: dict[str, list[Row]] = {"not adversarial": [], _ADVERSARIAL: [], f"{_ADVERSARIAL}, opposites": []}
    for number, row in enumerate(rows):
        which = 1 if number in numbers[0] else 0 if number in numbers[1] else 2
        list(sets.values())[which].append(row)
    return scored_pairs(dataset_id, sets)


# --- entries


def _entry(
    dataset_id: str,
    title: str,
    description: str,
    licence: str,
    citation: str,
    source: tuple[str, str, str],
    paths: Iterable[str],
    load: Callable[[str, tuple[Path, ...]], Dataset],
    *,
    scored: tuple[int, int, int] | None = None,
    minimal: tuple[int, int, int] | None = None,
) -> DatasetEntry:
    """An entry; ``source`` is a folder of the mirror, a repository and a commit.

    Args:
        scored: pairs, sets and texts of scored pairs; ``minimal``: originals, rewrites of each, and texts.
    """
    folder, repository, revision = source
    if scored:
        rows, sets, texts = scored
        kind, size = DatasetKind.SCORED_PAIRS, f"{rows:,} scored pairs in {sets} sets"
    elif minimal:
        originals, rewrites, texts = minimal
        kind, rows = DatasetKind.MINIMAL_PAIR_SET, originals * rewrites
        size = f"{originals:,} originals with {rewrites} rewrites each, {texts:,} sentences"
    else:
        raise ValueError(f"{dataset_id} has no counts")
    return DatasetEntry(
        id=dataset_id,
        title=title,
        description=description,
        kind=kind,
        unit="sentence",
        size=size,
        pairs=rows,
        texts=texts,
        licence=licence,
        citation=citation,
        url=f"https://github.com/{repository}",
        revision=revision,
        files=tuple(github_file(folder, repository, revision, path) for path in paths),
        load=load,
    )


_XNLI = {  # title, originals, texts
    "en": ("English", 632, 1_665),
    "de": ("German", 749, 1_969),
    "fr": ("French", 449, 1_185),
    "zh": ("Chinese", 480, 1_341),
    "bg": ("Bulgarian", 562, 1_465),
}

# Pearson correlations of the mean ratings of two halves of the raters, corrected for their number, as the repository
# gives them: a model that agrees with people can be expected to reach these values, and not more.
CEILINGS = {"sts3k": {"all pairs": 0.95, "adversarial pairs": 0.94}}
MEANING_CHANGES = {
    entry.id: entry
    for entry in (
        _entry(
            "sugarcrepe-pp",
            "SugarCrepe++",
            "Is a caption closer to one that means the same in other words than to one with an object, attribute or "
            "relation replaced, or with objects or attributes swapped? Five kinds of change.",
            "CC BY 4.0 (data), MIT (repository)",
            "Dumpala et al. 2024, SUGARCREPE++ Dataset: Vision-Language Model Sensitivity to Semantic and Lexical "
            "Alterations",
            ("sugarcrepe_pp", "Sri-Harsha/scpp", "c083bbf039a5ca215acaf25e7ee736d2ea6f3864"),
            (f"data/{name}.json" for name in _SUGARCREPE),
            sugarcrepe,
            minimal=(4_757, 2, 13_121),
        ),
        _entry(
            "events-adapt",
            "EventsAdapt",
            "Is a sentence on who did what to whom closer to its passive, which means the same, than to the sentences "
            "in which agent and patient are swapped? 391 events of three kinds.",
            "none stated",
            "Kauf et al. 2023, Event Knowledge in Large Language Models: The Gap Between the Impossible and the "
            "Unlikely",
            (
                "event_knowledge",
                "carina-kauf/lm-event-knowledge",
                "ac6fca04224b47498895cc7ee4dc4d8d771666af",
            ),
            ("analyses/clean_data/clean_EventsAdapt_SentenceSet.csv",),
            lambda dataset_id, paths: events_adapt(dataset_id, paths[0]),
            minimal=(391, 3, 1_564),
        ),
        _entry(
            "dtfit-sentences",
            "DTFit sentences",
            "Is a sentence that leaves open what was done something to closer to the one with a typical patient than "
            "to the one with an atypical patient? The sentences with 'something' are Blindspot's own; shared words "
            "cannot tell the two apart.",
            DTFIT_LICENCE,
            DTFIT_CITATION,
            DTFIT,
            (DTFIT_PATH,),
            lambda dataset_id, paths: dtfit(dataset_id, paths[0]),
            minimal=(395, 2, 1_175),
        ),
        *(
            _entry(
                f"xnli-negation-{code}",
                f"XNLI negation, {language}",
                f"With a negation cue removed from one of two {language} sentences, does the model still find the "
                "version that is an entailment closer to the other sentence? Tokenized; pairs in which exactly one "
                "version is an entailment.",
                "none stated",
                "Hartmann et al. 2021, A Multilingual Benchmark for Probing Negation-Awareness with Minimal Pairs",
                ("xnli_negation", "mahartmann/negationminpairs", "1defc22b5d26be434c1ba265a0ef149abe4febad"),
                (f"data/minimal_pairs/minimal_pairs_All_xnli_{code}.test.jsonl",),
                lambda dataset_id, paths: xnli_negation(dataset_id, paths[0]),
                minimal=(originals, 2, texts),
            )
            for code, (language, originals, texts) in _XNLI.items()
        ),
        _entry(
            "glue-diagnostic",
            "GLUE diagnostic",
            "Are two sentences more alike the closer they are to an entailment (2; neutral 1, contradiction 0), for "
            "each of 33 phenomena? A pair with several phenomena counts in each; 2 of the 1,104 pairs have none and "
            "are left out.",
            "CC BY-SA 4.0 (the repository that it is taken from)",
            "Wang et al. 2018, GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language Understanding",
            ("cannot_negation", "dmlls/cannot-dataset", "3b94fb51fcf8e642ea28cdc065805d1d3da3247f"),
            ("datasets/glue-diagnostic/original/diagnostic-full.tsv",),
            lambda dataset_id, paths: glue_diagnostic(dataset_id, paths[0]),
            scored=(1_540, 33, 830),
        ),
        _entry(
            "sts3k",
            "STS3k",
            "Does similarity follow people's ratings also for pairs that are adversarial, with the same words in other "
            "roles or one word changed? Mean ratings from 0 to 1; the ratings of two halves of the raters correlate "
            f"at {CEILINGS['sts3k']['all pairs']} (Pearson, corrected for length; adversarial pairs "
            f"{CEILINGS['sts3k']['adversarial pairs']}), says the repository.",
            "none stated",
            "Fodor, De Deyne and Suzuki 2025, Compositionality and Sentence Meaning: Comparing Semantic Parsing and "
            "Transformers on a Challenging Sentence Similarity Dataset",
            ("sts3k", "bmmlab/compositional-semantics-eval", "c310abbe8a50f38135a67939d3e71a878ef359bb"),
            (
                f"Data-experiment/{name}.txt"
                for name in ("STS3k_all", "STS3k_adv_noneg_indices", "STS3k_non_adv_indices")
            ),
            lambda dataset_id, paths: sts3k(dataset_id, *paths),
            scored=(2_800, 3, 4_428),
        ),
    )
}
