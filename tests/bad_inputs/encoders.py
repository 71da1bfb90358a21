"""Bad encoders of one's own (``vectors:``, ``table:``, ``dir:``, ``hf:``; the page *Models*)."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from tests.bad_inputs.case import BadInput, Edge, Maker, content, folder_named, link_to, made_by, pipe, referred

WORDS = "a 1 2 3\nb 4 5 6\nc 7 8 9\n"
CONFIG = {"model_type": "bert", "hidden_size": 8, "max_position_embeddings": 16}


def _case(name: str, make: Maker, *says: str, is_large: bool = False) -> BadInput:
    return BadInput(name, Edge.ENCODER, make, says, is_large=is_large)


def cases() -> Iterator[BadInput]:
    """All of them."""
    yield from _vectors()
    yield from _tables()
    yield from _models()
    yield from _hub()


# --- word vectors


def _packed_bomb(path: Path) -> None:
    """Two gigabytes of one vector, as gzip members of half a megabyte that unpack to 64 MB each."""
    line = b"word 1 2 3\n"
    member = gzip.compress(line * (2**26 // len(line)), compresslevel=1)
    path.write_bytes(gzip.compress(WORDS.encode()) + member * 32)


def _packed_zeros(path: Path) -> None:
    path.write_bytes(gzip.compress(b"a 1 2 3\n" + b"b" * 2**27, compresslevel=1))


def _vectors() -> Iterator[BadInput]:
    def text(data: str | bytes, name: str = "v.txt") -> Maker:
        return referred("vectors", content(name, data))

    yield _case(
        "vectors: gzip bomb",
        referred("vectors", made_by("v.txt.gz", _packed_bomb)),
        "unpacks to",
        "at most",
        is_large=True,
    )
    yield _case(
        "vectors: gzip of one endless line",
        referred("vectors", made_by("v.txt.gz", _packed_zeros)),
        "v.txt.gz",
        is_large=True,
    )
    yield _case("vectors: empty", text(""), "is empty (0 bytes)")
    yield _case("vectors: a header alone", text("3 3\n"), "header promises 3 words")
    yield _case("vectors: more words promised", text(f"4 3\n{WORDS}"), "has 3 words, but its header promises 4")
    yield _case("vectors: fewer words promised", text(f"2 3\n{WORDS}"), "line 4: the header promises 2 words")
    yield _case("vectors: another dimension promised", text(f"3 2\n{WORDS}"), "line 2: 3 numbers", "expected 2")
    yield _case("vectors: 3 TB promised", text(f"999999999999 750\n{WORDS}"), "promises 999,999,999,999 words")
    yield _case("vectors: NaN", text(f"{WORDS}dog 1 nan 3\n"), "line 4: the vector of 'dog' contains NaN")
    yield _case("vectors: infinity", text(f"{WORDS}dog 1 inf 3\n"), "line 4", "infinite")
    yield _case("vectors: ragged", text(f"{WORDS}dog 1 2\n"), "line 4: 2 numbers", "'dog'; expected 3")
    yield _case("vectors: null bytes", text(f"{WORDS}d\0g 1 2 3\n"), "binary file")
    yield _case("vectors: prose", text("It was the best of times.\n"), "has no word vectors: its first line is 'It")
    yield _case("vectors: HTML", text("<html><script>alert(1)</script></html>\n"), "has no word vectors")
    yield _case("vectors: a program", text(b"\x7fELF" + bytes(range(256))), "is a program (ELF)")
    yield _case("vectors: pickle", text(pickle.dumps({"a": [1.0]})), "is a pickle")
    yield _case(
        "vectors: half a gzip", text(gzip.compress(WORDS.encode() * 99)[:-20], "v.gz"), "is a damaged packed file"
    )
    yield _case("vectors: a folder", referred("vectors", folder_named("v.txt")), "is a folder")
    yield _case("vectors: a pipe", referred("vectors", pipe("v.txt")), "no regular file")
    yield _case("vectors: an endless device", referred("vectors", link_to("v.txt", "/dev/zero")), "no regular file")
    yield _case(
        "vectors: traversal", lambda folder: f"vectors:{folder}/../../../../etc/no-such-file", "there is no file /"
    )
    yield _case("vectors: a zero byte in the path", lambda folder: f"vectors:{folder}/a\0b.txt", "zero character")
    yield _case("vectors: a name that is no text", lambda folder: f"vectors:{folder}/\udcff.txt", "name", "UTF-8")


# --- tables of embeddings


def _embedding_bomb(path: Path) -> None:
    """Kilobytes: one embedding of four million numbers, several times."""
    row = pa.array([[0.5] * 4_000_000], pa.list_(pa.float32()))
    table = pa.table({"text": ["a"], "embedding": row})
    with parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        writer.write_table(pa.table({"text": [f"t{i}" for i in range(8)], "embedding": pa.concat_arrays([row] * 8)}))


def _array(shape: str, body: int = 16, kind: str = "'<f4'") -> bytes:
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(body)


def _npy(data: bytes, lines: str = "a\nb\n") -> Maker:
    def make(folder: Path) -> str:
        (folder / "t.txt").write_text(lines)
        return f"table:{content('t.npy', data)(folder)}"

    return make


def _saved(array: np.ndarray) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=True)
    return sink.getvalue()


def _tables() -> Iterator[BadInput]:
    def text(name: str, data: str | bytes) -> Maker:
        return referred("table", content(name, data))

    yield _case(
        "table: embeddings of 4 million numbers",
        referred("table", made_by("t.parquet", _embedding_bomb)),
        "4,000,000 numbers",
        "at most",
        is_large=True,
    )
    yield _case("table: empty", text("t.csv", ""), "is empty")
    yield _case("table: a header alone", text("t.csv", "text,embedding\n"), "no rows")
    yield _case("table: no embeddings", text("t.csv", "text,label\na,b\n"), "no column 'embedding'")
    yield _case("table: ragged", text("t.csv", 'text,embedding\na,"[1, 2]"\nb,"[1]"\n'), "line 3: 1 numbers")
    yield _case("table: NaN", text("t.jsonl", '{"text": "a", "embedding": [NaN]}\n'), "line 1", "NaN")
    yield _case("table: deep JSON", text("t.jsonl", "[" * 100_000), "line 1: broken JSON")
    yield _case("table: deep JSON in a cell", text("t.csv", 'text,embedding\na,"' + "[" * 50_000 + '"\n'), "line 2")
    yield _case("table: a lying array", _npy(_array("(750000000000, 4)")), "(750000000000, 4)")
    yield _case("table: pickled array", _npy(_saved(np.array([[{}]], dtype=object))), "an array of objects (a pickle)")
    yield _case("table: code in the header", _npy(_array("(1, __import__('os'))")), "damaged header")
    yield _case(
        "table: more texts than rows",
        _npy(_saved(np.ones((2, 2), dtype=np.float32)), "a\nb\nc\n"),
        "has 3 lines",
        "2 rows",
    )
    yield _case("table: a program", text("t.csv", b"\x7fELF" + bytes(range(128))), "is a program (ELF)")
    yield _case("table: no file", lambda folder: f"table:{folder}/t.csv", "there is no file", "t.csv")
    yield _case("table: a zero byte in the path", lambda folder: f"table:{folder}/a\0b.csv", "zero character")
    yield _case("table: a folder", referred("table", folder_named("t.parquet")), "is a folder")
    yield _case("table: a pipe", referred("table", pipe("t.csv")), "no regular file")
    yield _case("table: a broken Parquet", text("t.parquet", b"PAR1" + bytes(40) + b"PAR1"), "Parquet")
    yield _case(
        "table: parameters", lambda folder: f"table:{content('t.csv', 'text,embedding')(folder)}?x=1", "takes none"
    )


# --- folders of models


def _weights(shapes: int = 1) -> bytes:
    body = bytes(4 * 8 * shapes)
    header = json.dumps({"w": {"dtype": "F32", "shape": [shapes, 8], "data_offsets": [0, len(body)]}}).encode()
    return len(header).to_bytes(8, "little") + header + body


def _model(spoil: Callable[[Path], object]) -> Maker:
    """A folder that would do but for what ``spoil`` makes of it."""

    def make(folder: Path) -> str:
        path = folder / "model"
        path.mkdir()
        (path / "config.json").write_text(json.dumps(CONFIG))
        (path / "model.safetensors").write_bytes(_weights())
        (path / "tokenizer.json").write_text("{}")
        spoil(path)
        return f"dir:{path}"

    return make


def _with(name: str, data: object) -> Callable[[Path], object]:
    """A model with another file, or another content of one."""

    def spoil(path: Path) -> None:
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).unlink(missing_ok=True)
        (path / name).write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())

    return spoil


def _prompts_that_are_a_list(path: Path) -> None:
    _with("modules.json", _modules(("Transformer", ""), ("Pooling", "1_Pooling")))(path)
    _with("1_Pooling/config.json", {"pooling_mode_mean_tokens": True})(path)
    _with("config_sentence_transformers.json", {"prompts": [1], "default_prompt_name": "x"})(path)


def _pickles_only(path: Path) -> None:
    (path / "model.safetensors").rename(path / "pytorch_model.bin")


def _link_out(name: str, target: str = "") -> Callable[[Path], object]:
    def spoil(path: Path) -> None:
        outside = path.parent / "outside"
        if (path / name).exists():
            (path / name).rename(outside)
        (path / name).symlink_to(target or outside)

    return spoil


def _folder_out(path: Path) -> None:
    (path.parent / "1_Pooling").mkdir()
    (path.parent / "1_Pooling" / "config.json").write_text("{}")
    (path / "1_Pooling").symlink_to(path.parent / "1_Pooling")
    _with("modules.json", _modules(("Transformer", ""), ("Pooling", "1_Pooling")))(path)


def _shard_out(path: Path) -> None:
    (path / "model.safetensors").rename(path.parent / "w.safetensors")
    (path / "w.safetensors").write_bytes(_weights())
    _with("model.safetensors.index.json", {"weight_map": {"w": "../w.safetensors"}})(path)


def _as_pipe(name: str) -> Callable[[Path], object]:
    def spoil(path: Path) -> None:
        (path / name).unlink(missing_ok=True)
        os.mkfifo(path / name)

    return spoil


def _modules(*modules: tuple[str, str], package: str = "sentence_transformers.models") -> list[dict[str, object]]:
    return [
        {"idx": i, "name": str(i), "path": path, "type": f"{package}.{name}"} for i, (name, path) in enumerate(modules)
    ]


def _lying_header(claimed: int, body: bytes = b"{}") -> bytes:
    return claimed.to_bytes(8, "little") + body


def _overlapping() -> bytes:
    one = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    header = json.dumps({"a": one, "b": one}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(8)


def _huge_shape() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 16]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(16)


def _models() -> Iterator[BadInput]:
    def case(name: str, spoil: Callable[[Path], object], *says: str, is_large: bool = False) -> BadInput:
        return _case(f"model: {name}", _model(spoil), *says, is_large=is_large)

    weights = "model.safetensors"
    yield case("pickles only", _pickles_only, "pytorch_model.bin, which can run code", "expected model.safetensors")
    yield case(
        "auto_map",
        _with("config.json", CONFIG | {"auto_map": {"AutoModel": "m.Mine"}}),
        "run code of its own",
        "auto_map",
    )
    yield case(
        "auto_map of a tokenizer",
        _with("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["t.T", None]}}),
        "run code of its own",
    )
    yield case(
        "trust_remote_code",
        _with("config.json", CONFIG | {"text_config": {"trust_remote_code": True}}),
        "run code of its own",
        "trust_remote_code",
    )
    yield case(
        "foreign class",
        _with("modules.json", _modules(("system", ""), package="os")),
        "run code of its own",
        "os.system",
    )
    yield case(
        "class beside ours",
        _with("modules.json", _modules(("Evil", ""), package="sentence_transformers_evil")),
        "run code of its own",
    )
    yield case(
        "module out of the folder", _with("modules.json", _modules(("Transformer", "../x"))), "leads out of the folder"
    )
    yield case("absolute module", _with("modules.json", _modules(("Transformer", "/etc"))), "leads out of the folder")
    yield case("link of weights out of the folder", _link_out(weights), "leads out of the folder")
    yield case(
        "link of settings out of the folder", _link_out("tokenizer.json", "/etc/passwd"), "leads out of the folder"
    )
    yield case("link of a module out of the folder", _folder_out, "leads out of the folder")
    yield case("shard out of the folder", _shard_out, "leads out of the folder")
    yield case("truncated weights", _with(weights, _weights()[:-9]), "damaged or cut short")
    yield case("empty weights", _with(weights, b""), "damaged or cut short")
    yield case("weights of a lying header", _with(weights, _lying_header(2**60)), "damaged or cut short")
    yield case("weights of a header that is no JSON", _with(weights, _lying_header(4, b"nope")), "damaged or cut short")
    yield case("weights that overlap", _with(weights, _overlapping()), "damaged or cut short")
    yield case("weights of 2^64 numbers", _with(weights, _huge_shape()), "damaged or cut short")
    yield case("weights that are a pickle", _with(weights, pickle.dumps({"w": 1})), "damaged or cut short")
    yield case("weights that are a pipe", _as_pipe(weights), "no regular file")
    yield case("weights that never end", _link_out(weights, "/dev/zero"), "leads out of the folder")
    yield case("settings that are a pipe", _as_pipe("config.json"), "config.json", "no regular file")
    yield case("settings of great depth", _with("config.json", b'{"a":' * 100_000), "is no JSON")
    yield case("settings of another type", _with("config.json", [1]), "expected a JSON object")
    yield case("settings not of this world", _with("config.json", CONFIG | {"hidden_size": 1e300}), "hidden_size")
    yield case("modules that are no list", _with("modules.json", "x"), "modules.json")
    yield case(
        "prompts that are no table",
        _prompts_that_are_a_list,
        "prompts",
    )
    yield case("UTF-16 settings", _with("config.json", json.dumps(CONFIG).encode("utf-16")), "is no JSON")
    yield case(
        "settings of 100 MB",
        _with("config.json", b"[" + b"[]," * 35_000_000 + b"1]"),
        "config.json",
        "at most",
        is_large=True,
    )
    yield _case("model: an empty folder", lambda folder: f"dir:{folder}", "has no config.json")
    yield _case("model: a file", referred("dir", content("model", "x")), "is a file")
    yield _case("model: traversal", lambda folder: f"dir:{folder}/../../../../no-such-folder", "there is no folder /")
    yield _case("model: unknown parameter", lambda folder: f"dir:{folder}?trust_remote_code=1", "unknown parameter")
    yield _case("model: a zero byte in the path", lambda _: "dir:a\0b", "zero character")


# --- models of the hub: refused before anybody is asked


def _hub() -> Iterator[BadInput]:
    def case(name: str, reference: str, *says: str) -> BadInput:
        return _case(f"hub: {name}", lambda _: reference, *says)

    yield case("traversal", "hf:../../etc", "hub")
    yield case("traversal in the name", "hf:org/..", "hub")
    yield case("traversal in the revision", "hf:org/name@../../x", "hub")
    yield case("an address", "hf:https://example.org/x", "hub")
    yield case("no organisation", "hf:bert", "hub")
    yield case("control characters", "hf:org/na\x1b[31mme", "hub", "\\x1b")
