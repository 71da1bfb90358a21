"""Files of labeled texts: what is read, what is refused, and that the real ones are counted as they are."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.labeled_texts import DEV, TEST, TRAIN, UNSPLIT, LabeledTexts
from blindspot.datasets.published import labeled_texts as read
from blindspot.datasets.published.labeled_texts import Example, labeled_texts
from blindspot.datasets.published.transfer_tasks import LABELED
from blindspot.errors import DataCorrupt
from blindspot.settings import Settings
from tests.support.tables import each

Reader = Callable[[Path, int], list[Example]]


def written(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


def test_one_text_per_line(tmp_path: Path) -> None:
    path = written(tmp_path, "good .\r\n\r\n  \n caf\u00e9\u2028au lait \n".encode())
    assert read.one_per_line(path, "p") == [Example("p", "good ."), Example("p", "caf\u00e9\u2028au lait")]


SICK = b"pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
MRPC = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n".encode()


@pytest.mark.parametrize(
    ("reader", "content", "expected"),
    [
        (
            read.trec,  # in Latin-1; the coarse class counts
            b"DESC:manner How does a caf\xe9: work ?\r\n\nHUM:ind  Who ?\n",
            [("DESC", "How does a caf\u00e9: work ?"), ("HUM", "Who ?")],
        ),
        (read.sst2, b"a\tb\t1\r\n\nbad\t0\n", [("positive", "a\tb"), ("negative", "bad")]),
        (
            read.sst5,
            b"4 so good\r\n0 2 bad\n2 .\n",
            [("very positive", "so good"), ("very negative", "2 bad"), ("neutral", ".")],
        ),
        (read.mrpc, MRPC + b'1\t7\t8\tHe "ran .\tHe ran\r\n', [("paraphrase", 'He "ran .', "He ran")]),
        (
            read.sick,
            SICK + b"1\tA dog\tNo dog\t3.3\tCONTRADICTION\r\n2\ta\tb\t1\tNEUTRAL\n",
            [("contradiction", "A dog", "No dog"), ("neutral", "a", "b")],
        ),
        (
            read.scicite,
            b'{"text": " We use \\u00e9. ", "label": "method", "id": 3}\r\n\n',
            [("method", "We use \u00e9.")],
        ),
    ],
)
def test_every_file_of_a_split(tmp_path: Path, reader: Reader, content: bytes, expected: list[tuple[str, ...]]) -> None:
    path = written(tmp_path, content)
    assert reader(path, DEV) == [Example(*row, split=DEV) for row in expected]


@each(
    ("name", "contents", "expected"),
    [
        *(
            (name, ["dull\n", "fine\ngood\n"], [(classes[0], UNSPLIT), (classes[1], UNSPLIT), (classes[1], UNSPLIT)])
            for name, classes in {
                **dict.fromkeys(("mr", "cr", "mpqa"), ("negative", "positive")),
                "subj": ("objective", "subjective"),
            }.items()
        ),
        ("sst2", ["dull\t0\n", "fine\t1\n", "bad\t0\n"],
         [("negative", TRAIN), ("positive", DEV), ("negative", TEST)]),
    ],
)  # fmt: skip
def test_which_file_has_which_class_and_part(
    tmp_path: Path, name: str, contents: list[str], expected: list[tuple[str, int]]
) -> None:
    paths = [tmp_path / str(number) for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content, "utf-8")
    entry = LABELED[name]
    data = entry.load(name, tuple(paths))
    assert isinstance(data, LabeledTexts)
    found = [(data.classes[label], split) for label, split in zip(data.labels, data.splits, strict=True)]
    assert found == expected


@each(
    ("reader", "content"),
    [
        (read.trec, b"DESC:a ok ?\nno class\n"),
        (read.trec, b"DESC:a ok ?\nDESC a question\n"),
        (read.trec, b"DESC:a ok ?\nDESC:a\n"),
        (read.sst2, b"ok\t1\nno label\n"),
        (read.sst2, b"ok\t1\ntext\t2\n"),
        (read.sst5, b"1 ok\n5 too good\n"),
        (read.sst5, b"1 ok\n3\n"),
        (read.mrpc, b"header\n2\ta\tb\tc\td\n"),
        (read.mrpc, b"header\n1\ta\tb\tc\n"),
        (read.mrpc, b"header\n1\ta\tb\t\td\n"),
        (read.sick, b"header\n1\ta\tb\t3.3\tPERHAPS\n"),
        (read.sick, b"header\n1\ta\tb\n"),
        (read.sick, b"header\n1\t \tb\t3.3\tNEUTRAL\n"),
        (read.scicite, b'{"text": "a", "label": "b"}\n{"text": "a"}\n'),
        (read.scicite, b'{"text": "a", "label": "b"}\n["a", "b"]\n'),
        (read.scicite, b'{"text": "a", "label": "b"}\n{"text": "a", "label"\n'),
        (read.scicite, b'{"text": "a", "label": "b"}\n{"text": " ", "label": "b"}\n'),
        (read.scicite, b'{"text": "a", "label": "b"}\n{"text": "a", "label": 1}\n'),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, reader: Reader, content: bytes) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DataCorrupt, match=rf"{re.escape(str(path))}, line 2: .*; expected") as error:
        reader(path, TRAIN)
    assert "\n" not in str(error.value)


def test_another_encoding_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataCorrupt, match=r"is not UTF-8 \(byte 3\); expected a UTF-8 text file"):
        read.one_per_line(written(tmp_path, b"caf\xe9\n"), "p")


def test_items_are_distinct_and_in_order_of_appearance() -> None:
    rows = [Example("q", "b", "a", TRAIN), Example("p", "a", "c", TEST), Example("q", "b", "a", DEV)]
    data = labeled_texts("x", ("p", "q"), rows)
    assert data.items == ("b", "a", "c")
    assert (data.firsts.tolist(), data.seconds.tolist()) == ([0, 1, 0], [1, 2, 1])
    assert (data.labels.tolist(), data.splits.tolist()) == ([1, 0, 1], [TRAIN, TEST, DEV])
    assert data.has_pairs
    assert data.is_split
    single = labeled_texts("x", ("p", "q"), [Example("q", "b"), Example("p", "b")])
    assert (single.items, single.firsts.tolist(), single.seconds.tolist()) == (("b",), [0, 0], [])
    assert (single.has_pairs, single.is_split) == (False, False)
    assert set(single.splits.tolist()) == {UNSPLIT}
    with pytest.raises(DataCorrupt, match="'x' has examples of class 'r'; expected p, q"):
        labeled_texts("x", ("p", "q"), [Example("r", "b")])


# --- the real files, counted without the readers


def _lines(settings: Settings, path: str, encoding: str = "utf-8") -> list[str]:
    text = (Path(settings.mirror) / "evalrank/data/sent_classification" / path).read_text(encoding)
    return [line for line in text.split("\n") if line.strip()]


def _counted(name: str, settings: Settings) -> Counter[tuple[str, str]]:
    """(class, split) as the files have them."""
    parts = {"train": "train", "dev": "dev", "test": "test"}
    match name:
        case "mr" | "cr" | "mpqa":
            stem = {"mr": "MR/rt-polarity", "cr": "CR/custrev", "mpqa": "MPQA/mpqa"}[name]
            names = {"negative": f"{stem}.neg", "positive": f"{stem}.pos"}
        case "subj":
            names = {label: f"SUBJ/subj.{label}" for label in ("objective", "subjective")}
        case "sst2" | "sst5":
            out: Counter[tuple[str, str]] = Counter()
            for part in parts:
                if name == "sst2":
                    labels = [line.rstrip()[-1] for line in _lines(settings, f"SST/binary/sentiment-{part}")]
                    words = {"0": "negative", "1": "positive"}
                else:
                    labels = [line[0] for line in _lines(settings, f"SST/fine/sentiment-{part}")]
                    words = dict(zip("01234", read.SST5_CLASSES, strict=True))
                out.update((words[label], part) for label in labels)
            return out
        case "trec":
            files = {"train": "TREC/train_5500.label", "test": "TREC/TREC_10.label"}
            return Counter((x.split(":")[0], p) for p, f in files.items() for x in _lines(settings, f, "latin-1"))
        case "mrpc":
            return Counter(
                (("no paraphrase", "paraphrase")[int(line[0])], part)
                for part in ("train", "test")
                for line in _lines(settings, f"MRPC/msr_paraphrase_{part}.txt")[1:]
            )
        case "sick-e":
            files = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
            return Counter(
                (line.split()[-1].lower(), p) for p, f in files.items() for line in _lines(settings, f"SICK/{f}")[1:]
            )
        case "scicite":
            return Counter((json.loads(x)["label"], p) for p in parts for x in _lines(settings, f"SCICITE/{p}.txt"))
        case _:
            raise AssertionError(name)
    return Counter({(label, ""): len(_lines(settings, file)) for label, file in names.items()})


def _pairs(data: LabeledTexts) -> list[tuple[str, str]]:
    return [(data.items[a], data.items[b]) for a, b in zip(data.firsts.tolist(), data.seconds.tolist(), strict=True)]


LEAKS = {"trec": 11, "sst2": 2, "sst5": 2, "sick-e": 81, "mrpc": 0, "scicite": 0}
SWAPPED = {"sick-e": 45}  # tested pairs whose two texts stand in training in the other order
REPEATED = {"mpqa": 3_253, "mr": 0, "subj": 0, "cr": 12}


@pytest.mark.realdata
@pytest.mark.parametrize("name", [name for name, entry in LABELED.items() if entry.files])
def test_the_real_files(name: str, shared_settings: Settings) -> None:
    data = fetch.load(find_dataset(name), shared_settings)
    assert isinstance(data, LabeledTexts)
    counts = data.counts
    found = {
        (c.name, part): n
        for c in counts.classes
        for part, n in (("train", c.train), ("dev", c.dev), ("test", c.test), ("", 0 if data.is_split else c.examples))
        if n
    }
    expected = _counted(name, shared_settings)
    assert found == expected
    assert all(text == text.strip() != "" for text in data.items)
    part = "test" if data.is_split else ""
    trained = {c: n for (c, p), n in expected.items() if p == ("train" if data.is_split else "")}
    majority = max(trained, key=lambda c: trained[c])
    assert counts.majority.name == majority
    of_part = sum(n for (_, p), n in expected.items() if p == part)
    assert counts.baseline == expected[(majority, part)] / of_part
    assert (counts.leaked if data.is_split else counts.repeated) == (LEAKS if data.is_split else REPEATED)[name]
    assert data.overlaps.sum() == (counts.leaked if data.is_split else counts.repeated)
    if data.has_pairs:
        pairs = [(a.casefold(), b.casefold()) for a, b in _pairs(data)]
        learned = {pair for pair, part in zip(pairs, data.splits, strict=True) if part == TRAIN}
        asked = [pair for pair, part in zip(pairs, data.splits, strict=True) if part == TEST and pair[0] != pair[1]]
        assert sum((b, a) in learned for a, b in asked) == SWAPPED.get(name, 0)
        assert counts.leaked == sum((a, b) in learned or (b, a) in learned for a, b in asked)
    if name == "mpqa":
        assert f"{counts.repeated / counts.examples:.1%}" == "30.7%"
        assert (counts.examples, counts.contradictory) == (10_603, 98)


def test_the_demo_needs_no_download(settings: Settings) -> None:
    data = fetch.load(find_dataset("demo-negation"), settings)
    assert isinstance(data, LabeledTexts)
    counts = data.counts
    assert [(c.name, c.examples) for c in counts.classes] == [("affirmed", 1_000), ("negated", 400)]
    assert (counts.repeated, counts.contradictory, counts.is_split) == (0, 0, False)
    negated = [text for text, label in zip(data.items, data.labels, strict=True) if label == 1]
    words = re.compile(r"\b(not|no|never|nobody|nothing|none|cannot|without|nor|neither|hardly)\b|n't|\bun|\bdis", re.I)
    assert sum(bool(words.search(text)) for text in negated) > 300


HEADER = b"text,category\n"


def intents(folder: Path, train: bytes, test: bytes = HEADER, classes: bytes = b'["card", "pin"]') -> tuple[Path, ...]:
    paths = tuple(folder / name for name in ("categories.json", "train.csv", "test.csv"))
    for path, content in zip(paths, (classes, train, test), strict=True):
        path.write_bytes(content)
    return paths


def test_intents_with_quotes_and_line_ends(tmp_path: Path) -> None:
    train = HEADER + b'Where is my card?,card\r\n"\nMy ""PIN"",\n  please\n\n",pin\n'
    classes, found = read.intents(*intents(tmp_path, train, HEADER + b"New PIN,pin\n"))
    assert classes == ("card", "pin")
    assert found == [
        Example("card", "Where is my card?", split=TRAIN),
        Example("pin", 'My "PIN", please', split=TRAIN),
        Example("pin", "New PIN", split=TEST),
    ]


@pytest.mark.parametrize(
    ("train", "classes", "said"),
    [
        (b"a,b\n", b"[]", "line 1"),
        (HEADER + b"ok,pin\nno class\n", b"[]", "line 3"),
        (HEADER + b" ,pin\n", b"[]", "line 2"),
        (HEADER + b'"open,pin\n', b"[]", "no text and class"),
        (HEADER, b"{}", "no list of classes"),
        (HEADER, b"[", "no JSON"),
    ],
)
def test_broken_intents_are_one_line(tmp_path: Path, train: bytes, classes: bytes, said: str) -> None:
    with pytest.raises(DataCorrupt, match=said) as error:
        read.intents(*intents(tmp_path, train, classes=classes))
    assert "\n" not in str(error.value)


@pytest.mark.realdata
def test_the_real_intents(shared_settings: Settings) -> None:
    import pandas as pd

    entry = find_dataset("banking77")
    data = fetch.load(entry, shared_settings)
    assert isinstance(data, LabeledTexts)
    train, test = (pd.read_csv(fetch.local_path(entry.files[place], shared_settings)) for place in (1, 2))
    assert (len(data.firsts), len(data.items), len(data.classes)) == (entry.pairs, entry.texts, 77)
    rows = pd.concat([train, test])
    assert [data.classes[i] for i in data.labels.tolist()] == rows["category"].tolist()
    assert [data.items[i] for i in data.firsts.tolist()] == [" ".join(text.split()) for text in rows["text"]]
    assert Counter(data.splits.tolist()) == {TRAIN: 10_003, TEST: 3_080}
    assert entry.licence == "CC BY 4.0"
