"""Headers of public datasets and tools, with texts of our own: as what each is read, by which diagnostic."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from blindspot.datasets.catalog import DatasetRef, find_dataset
from blindspot.datasets.kinds.base import DatasetKind
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.datasets.user_data.columns import NO_ROLE, OwnFile
from blindspot.datasets.user_data.files import UnclearKind
from blindspot.datasets.user_data.reference import reference_of_files
from blindspot.errors import InputError

PAIRS, SCORED, RETRIEVAL, LABELED = (
    DatasetKind.PAIR_SET,
    DatasetKind.SCORED_PAIRS,
    DatasetKind.RETRIEVAL,
    DatasetKind.LABELED_TEXTS,
)
ROWS = 24
T1 = [f"the {i}. gardener plants a row of beans" for i in range(ROWS)]
T2 = [f"beans are set into bed {i} by somebody" for i in range(ROWS)]
T3 = [f"the ferry of {i} o'clock is late again" for i in range(ROWS)]
BINARY = [i % 2 for i in range(ROWS)]
THREE = [("entailment", "neutral", "contradiction")[i % 3] for i in range(ROWS)]
SCORES = [i % 11 / 2 for i in range(ROWS)]
IDS = [f"{i * 7 + 3}" for i in range(ROWS)]
LISTS = [[text, f"{text}, too"] for text in T2]
OTHERS = [[text] for text in T3]

# Per header: its columns, and as what it is read for which of the wanted kinds; None: it is asked or refused.
CASES: dict[str, tuple[dict[str, list[object]], dict[DatasetKind, tuple[str, ...] | None]]] = {
    "QQP": (
        {"id": IDS, "qid1": IDS, "qid2": IDS[::-1], "question1": T1, "question2": T2, "is_duplicate": BINARY},
        {PAIRS: ("question1", "question2", "is_duplicate"), SCORED: ("question1", "question2", "is_duplicate")},
    ),
    "QQP with topics": (
        {"question1": T1, "question2": T2, "is_duplicate": BINARY, "topic": [("a b", "c")[i % 2] for i in range(ROWS)]},
        {PAIRS: ("question1", "question2", "is_duplicate"), SCORED: ("question1", "question2", "is_duplicate")},
    ),
    "texts with topics": (
        {"title": T1, "text": T2, "topic": THREE, "verified": BINARY},
        {LABELED: ("text", "topic")},
    ),
    "MRPC": (
        {"Quality": BINARY, "#1 ID": IDS, "#2 ID": IDS[::-1], "#1 String": T1, "#2 String": T2},
        {PAIRS: ("#1 String", "#2 String", "Quality"), SCORED: ("#1 String", "#2 String", "Quality")},
    ),
    "PAWS": (
        {"id": IDS, "sentence1": T1, "sentence2": T2, "label": BINARY},
        {PAIRS: ("sentence1", "sentence2", "label"), SCORED: ("sentence1", "sentence2", "label")},
    ),
    "SNLI": (
        {"premise": T1, "hypothesis": T2, "label": THREE},
        {LABELED: ("premise", "hypothesis", "label")},
    ),
    "STS-B": (
        {"split": ["dev"] * ROWS, "genre": ["news"] * ROWS, "sentence1": T1, "sentence2": T2, "score": SCORES},
        {SCORED: ("sentence1", "sentence2", "score")},
    ),
    "MS MARCO triples": (
        {"query": T1, "positive": T2, "negative": T3},
        {RETRIEVAL: ("query", "positive", "negative")},
    ),
    "NQ pairs": ({"query": T1, "answer": T2}, {PAIRS: ("query", "answer")}),
    "graded passages": (
        {"query": T1, "passage": T2, "relevance": [i % 4 for i in range(ROWS)]},
        {RETRIEVAL: ("query", "passage", "relevance")},
    ),
    "FlagEmbedding": (
        {"query": T1, "pos": LISTS, "neg": OTHERS, "pos_scores": [[1, 0.5]] * ROWS},
        {RETRIEVAL: ("query", "pos", "neg")},
    ),
    "sentence-transformers n-tuples": (
        {"anchor": T1, "positive": T2, "negative_1": T3, "negative_2": T3[::-1]},
        {RETRIEVAL: ("anchor", "positive", "negative_1", "negative_2")},
    ),
    "sentence-transformers labels": (
        {"text1": T1, "text2": T2, "label": BINARY},
        {PAIRS: ("text1", "text2", "label"), SCORED: ("text1", "text2", "label")},
    ),
    "Ragas": (
        {"user_input": T1, "reference_contexts": LISTS, "reference": T3, "synthesizer_name": ["x"] * ROWS},
        {RETRIEVAL: ("user_input", "reference_contexts")},
    ),
    "DPR": (
        {
            "dataset": ["x"] * ROWS,
            "question": T1,
            "answers": [["bean"]] * ROWS,
            "positive_ctxs": [[{"title": "Bed", "text": text, "score": 1.0}] for text in T2],
            "negative_ctxs": [[{"title": "", "text": text}] for text in T3],
            "hard_negative_ctxs": [[]] * ROWS,
        },
        {RETRIEVAL: ("question", "positive_ctxs", "negative_ctxs", "hard_negative_ctxs")},
    ),
    "AutoRAG": (
        {"qid": IDS, "query": T1, "retrieval_gt": [[[i]] for i in IDS], "generation_gt": [[text] for text in T2]},
        {RETRIEVAL: None},
    ),
    "LangSmith's lines": (
        {"inputs": [{"question": text} for text in T1], "outputs": [{"answer": text} for text in T2], "id": IDS},
        {PAIRS: ("inputs.question", "outputs.answer")},
    ),
    "promptfoo's lines": (
        {
            "vars": [{"question": a, "answer": b} for a, b in zip(T1, T2, strict=True)],
            "assert": [[{"type": "x"}]] * ROWS,
        },
        {PAIRS: ("vars.question", "vars.answer")},
    ),
    "promptfoo": ({"question": T1, "__expected": T2}, {PAIRS: ("question", "__expected")}),
    "LangSmith": ({"input_question": T1, "output_answer": T2, "id": IDS}, {PAIRS: ("input_question", "output_answer")}),
    "Excel with numbers of rows": (
        {"": [str(i) for i in range(ROWS)], "Question": T1, "Answer": T2},
        {PAIRS: ("Question", "Answer")},
    ),
    "Excel with empty columns": (
        {"Question": T1, "Answer": T2, "": [""] * ROWS},
        {PAIRS: ("Question", "Answer")},
    ),
    "ir_datasets' qrels alone": (
        {
            "query_id": IDS,
            "doc_id": [f"d{i}" for i in IDS],
            "relevance": [i % 3 for i in range(ROWS)],
            "iteration": IDS,
        },
        {PAIRS: None},
    ),
    "BEIR's qrels alone": (
        {"query-id": [f"q{i}" for i in IDS], "corpus-id": [f"d{i}" for i in IDS], "score": BINARY},
        {PAIRS: None, SCORED: None, RETRIEVAL: None},
    ),
    "Excel without a name": ({"": T3, "Question": T1, "Answer": T2}, {PAIRS: None}),
}
AMBIGUOUS = {"QQP", "QQP with topics", "MRPC", "PAWS", "sentence-transformers labels"}


def written(folder: Path, name: str) -> Path:
    columns, _ = CASES[name]
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if any(isinstance(cell, list | dict) for cell in rows[0].values()):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        return path
    path = folder / f"{name}.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(row.values() for row in rows)
    return path


def test_each_header_is_read_as_it_is_meant(tmp_path: Path) -> None:
    wrong = {}
    for name, (_, readings) in CASES.items():
        path = written(tmp_path, name)
        for kind, columns in readings.items():
            try:
                entry = DatasetRef(f"file:{path}").of_kind(kind).entry()
            except InputError as error:
                if columns is not None:
                    wrong[name, kind] = str(error)
                continue
            own = entry.own
            used = tuple(c.name for c in own.columns if c.use not in NO_ROLE) if isinstance(own, OwnFile) else ()
            if columns is None or entry.kind is not kind or sorted(used) != sorted(columns):
                wrong[name, kind] = f"{entry.kind}: {used}"
    assert not wrong


def test_those_that_could_mean_two_things_are_asked_about(tmp_path: Path) -> None:
    asked = set()
    for name in CASES:
        try:
            find_dataset(f"file:{written(tmp_path, name)}")
        except UnclearKind:
            asked.add(name)
        except InputError:
            assert set(CASES[name][1].values()) == {None}, name
    assert asked == AMBIGUOUS


# --- three tables: headers of public collections, in files of their own names

DOCUMENT_ROWS = [("d1", "Bed", "beans are set by somebody"), ("d2", "", "the ferry is late"), ("d3", "", "no news")]
QUERY_ROWS = [("q1", "who plants beans"), ("q2", "is the ferry late")]
JUDGED_ROWS = [("q1", "d1", 2), ("q2", "d2", 1), ("q2", "d3", 0)]
TRIOS: dict[str, tuple[str, str, str]] = {  # headers of documents, queries, judgments; "" for none
    "BEIR as tables": ("_id,title,text", "_id,text", "query-id,corpus-id,score"),
    "ir_datasets": ("doc_id,title,text", "query_id,text", "query_id,doc_id,relevance"),
    "ir_datasets, TREC names": ("docno,title,body", "topic,query", "topic,docno,rel"),
    "DPR's passages": ("id,title,text", "qid,question", "qid,pid,label"),
    "MS MARCO": ("pid,title,passage", "qid,query", "qid,pid,rel"),
    "no headers": ("", "", ""),
    "Pyserini": ("id,title,contents", "id,text", "qid,docid,relevance"),
    "Vespa's names": ("document_id,title,content", "query_id,query_text", "query_id,document_id,grade"),
    "own words": ("Doc ID,Title,Document Text", "Question ID,Question", "Question ID,Document ID,Judgment"),
}


def _table(path: Path, header: str, rows: list[tuple[object, ...]]) -> str:
    between = "\t" if path.suffix == ".tsv" else ","
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter=between)
        if header:
            out.writerow(header.split(","))
        out.writerows(rows)
    return str(path)


def _typed(path: Path, header: str, rows: list[tuple[object, ...]]) -> str:
    objects = [dict(zip(header.split(","), row, strict=True)) for row in rows]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in objects), "utf-8")
    return str(path)


def test_each_trio_of_tables_is_read_by_its_names(tmp_path: Path) -> None:
    wrong = {}
    for name, (documents, queries, judgments) in TRIOS.items():
        for ending in ("csv", "tsv", "jsonl"):
            if ending == "jsonl" and not documents:
                continue
            folder = tmp_path / f"{name}.{ending}"
            folder.mkdir()
            write = _typed if ending == "jsonl" else _table
            files = {
                "documents": write(folder / f"a.{ending}", documents, list(DOCUMENT_ROWS)),
                "queries": write(folder / f"b.{ending}", queries, list(QUERY_ROWS)),
                "judgments": write(folder / f"c.{ending}", judgments, list(JUDGED_ROWS)),
            }
            try:
                entry = find_dataset(reference_of_files(files))
            except InputError as error:
                wrong[name, ending] = str(error)
                continue
            data = entry.load(entry.id, ())
            assert isinstance(data, RetrievalDataset)
            found = [
                (data.query_ids[q], data.document_ids[d], int(g))
                for q, d, g in zip(data.judged_queries, data.judged, data.grades, strict=True)
            ]
            texts = data.document_texts == ("Bed beans are set by somebody", "the ferry is late", "no news")
            if (
                sorted(found) != JUDGED_ROWS
                or not texts
                or data.query_texts != ("who plants beans", "is the ferry late")
            ):
                wrong[name, ending] = f"{found}, {data.document_texts}"
    assert not wrong


def test_exports_of_excel_are_the_same_file(tmp_path: Path) -> None:
    plain = "Question;Answer\n" + "".join(f"{a};{b}\n" for a, b in zip(T1, T2, strict=True))
    forms = {
        "plain": plain.encode(),
        "a mark and line ends of Windows": b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode(),
        "its own first line": f"sep=;\r\n{plain}".encode(),
        "line ends of an old Mac": plain.replace("\n", "\r").encode(),
        "all quoted": "\n".join('"' + line.replace(";", '";"') + '"' for line in plain.splitlines()).encode(),
        "commas": plain.replace(";", ",").encode(),
        "empty rows at the end": (plain + ";\n" * 3).encode(),
        "empty columns": "\n".join(f"{line};;" for line in plain.splitlines()).encode(),
        "a title above": f"Our golden set;;\n;;\n{plain.replace(chr(10), f';{chr(10)}')}".encode(),
    }
    digests = {}
    for name, content in forms.items():
        path = tmp_path / f"{name}.csv"
        path.write_bytes(content)
        entry = find_dataset(f"file:{path}")
        digests[name] = entry.load(entry.id, ()).content_digest
    assert len(set(digests.values())) == 1, digests
