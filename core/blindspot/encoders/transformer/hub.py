"""Users' own models: a folder on this machine (``dir:``) or a repository of the hub (``hf:``)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from blindspot.encoders.base import EncoderInfo
from blindspot.encoders.gpu import self_check
from blindspot.encoders.gpu.running import BYTES
from blindspot.encoders.references import (
    OF_A_PASS,
    PUBLISHED,
    Backend,
    DirReference,
    Dtype,
    HubReference,
    Pooling,
    Readout,
    check_backend,
    check_layers,
    layers_beside,
)
from blindspot.encoders.roles import role_prompts, without_roles
from blindspot.encoders.transformer import backends, library
from blindspot.encoders.transformer.encoder import Output, SentenceTransformerEncoder
from blindspot.encoders.transformer.folder import RELEVANT, ModelFolder, inspect_folder, refuse_outside
from blindspot.errors import BlindspotError, InputError
from blindspot.settings import Settings

DOWNLOADED = [f"*{suffix}" for suffix in RELEVANT]
_ASKS_HUB: ContextVar[bool] = ContextVar("_ASKS_HUB", default=True)
OTHER_FORMATS = ("onnx", "openvino", "original")  # folders of the hub's repositories that are not downloaded


def dir_encoder(reference: DirReference, settings: Settings) -> SentenceTransformerEncoder:
    """The encoder of a folder, inspected but not loaded.

    Raises:
        InputError: see ``inspect_folder``; or ``max_length`` is more than the model can read.
    """
    source = inspect_folder(reference.path, str(reference), lambda name: _here(name, settings))
    return _encoder(reference, source, reference.path.name, reference.path.as_uri(), settings)


def _of_the_model(name: str) -> Any:
    """A property of a ``HubEncoder`` that returns an attribute or method of its model."""
    return property(lambda hub: getattr(hub.transformer, name))


@dataclass(frozen=True)
class HubEncoder:
    """A model of the hub, found and downloaded when first needed, so that naming it stays fast."""

    reference: HubReference
    settings: Settings

    @cached_property
    def transformer(self) -> SentenceTransformerEncoder:
        """The model, downloaded; raises as ``snapshot``."""
        folder = snapshot(self.reference, self.settings)
        source = inspect_folder(folder, str(self.reference), self._base)
        pinned = replace(source, commit=folder.name)  # no checksums needed
        from huggingface_hub import constants

        url = f"{constants.ENDPOINT}/{self.reference.repo}"
        return _encoder(self.reference, pinned, self.reference.repo, url, self.settings)

    def _base(self, name: str) -> Path | None:
        """The folder of the base of an adapter, downloaded as the adapter is."""
        try:
            base = HubReference.parse(f"hf:{name}")
        except InputError:  # a folder elsewhere
            return _here(name, self.settings)
        return snapshot(base, self.settings)

    folder = _of_the_model("folder")
    identity = _of_the_model("identity")
    info = _of_the_model("info")
    device = _of_the_model("device")
    encodes_alone = _of_the_model("encodes_alone")
    family = _of_the_model("family")
    for_work = _of_the_model("for_work")
    load = _of_the_model("load")
    encode = _of_the_model("encode")
    encode_family = _of_the_model("encode_family")
    prepare = _of_the_model("prepare")
    sibling = _of_the_model("sibling")
    prompted = _of_the_model("prompted")
    encoded_by = _of_the_model("encoded_by")
    measured = _of_the_model("measured")
    counts_truncated = _of_the_model("counts_truncated")
    reads_layers = _of_the_model("reads_layers")
    readings = _of_the_model("readings")
    token_parts = _of_the_model("token_parts")


def _here(name: str, settings: Settings) -> Path | None:
    """The folder of a model of the hub in our cache or in that of all programs; None if it is in neither."""
    from huggingface_hub import constants, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for cache in (settings.cache / "hub", Path(constants.HF_HUB_CACHE)):
        try:
            config = try_to_load_from_cache(name, "config.json", cache_dir=cache)
        except HFValidationError:  # a path
            return None
        if isinstance(config, str):
            return Path(config).parent
    return None


@contextmanager
def as_cached() -> Iterator[None]:
    """Models of the hub as they are in the cache, within: nobody is asked for newer ones."""
    token = _ASKS_HUB.set(False)
    try:
        yield
    finally:
        _ASKS_HUB.reset(token)


def cached_name(reference: HubReference, settings: Settings) -> Path:
    """The file in the cache that names the commit of a branch; it need not exist."""
    cached = settings.cache / "hub" / f"models--{reference.repo.replace('/', '--')}"
    return cached / "refs" / (reference.revision or "main")


def snapshot(reference: HubReference, settings: Settings) -> Path:
    """The cached folder of a hub model, named after its commit; downloaded unless a pinned commit is complete here.

    Raises:
        InputError: no such model or revision, or the hub cannot be reached and the model is not here.
        BlindspotError: the download broke off or the disk is full.
    """
    import httpx2
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()  # ours is the only bar
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it logs every attempt; we report the last
    name, folder = str(reference), settings.cache / "hub"
    offline = (httpx2.TransportError, LocalEntryNotFoundError)

    named = PurePosixPath(reference.params.file) if reference.params.file else None
    # A graph's weights may be in a file beside it: model.onnx_data, model.onnx.data, model.bin.
    graph = [str(named), str(named.with_suffix(".bin"))] if named else []
    folders = named.parts[:-1] if named else ()

    is_pinned = re.fullmatch("[0-9a-f]{40}", reference.revision) is not None

    def fetch(*, local: bool) -> Path:
        if is_pinned and not local:
            # Listing files retries for half a minute if nobody answers; this request does not.
            HfApi().model_info(reference.repo, revision=reference.revision)
        return Path(
            snapshot_download(
                reference.repo,
                revision=reference.revision or None,
                cache_dir=folder,
                allow_patterns=[*DOWNLOADED, *(f"{name}*" for name in graph)],
                ignore_patterns=[f"{folder}/*" for folder in OTHER_FORMATS if folder not in folders],
                local_files_only=local,
            )
        )

    if is_pinned:
        try:
            return fetch(local=True)
        except LocalEntryNotFoundError:
            pass
    try:
        return fetch(local=not _ASKS_HUB.get())
    except (RevisionNotFoundError, RepositoryNotFoundError, HFValidationError) as error:
        raise InputError(
            f"'{name}': the hub at {constants.ENDPOINT} shows no such model or revision ({type(error).__name__})",
            expected="hf:ORG/NAME or hf:ORG/NAME@REVISION of a public model, or one that HF_TOKEN may read",
        ) from error
    except offline as error:
        cause = error.__cause__ or error
        raise InputError(
            f"'{name}' is not in {folder} and the hub at {constants.ENDPOINT} cannot be reached "
            f"({type(cause).__name__})",
            expected="a network connection once: afterwards the model is in the cache",
            remedy="connect and run it again, or copy the model's folder to this machine and name it dir:PATH",
        ) from error
    except (EntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise BlindspotError(
            f"'{name}': the download failed: {type(error).__name__}: {str(error)[:200]}",
            remedy="run it again: what was downloaded is kept",
        ) from error


def _encoder(
    reference: DirReference | HubReference, source: ModelFolder, name: str, url: str, settings: Settings
) -> SentenceTransformerEncoder:
    params = reference.params
    if params.max_length and source.longest and params.max_length > source.longest:
        raise InputError(
            f"max_length is {params.max_length} in '{reference}'", expected=f"at most {source.longest} tokens"
        )

    if params.passages:
        params.passages.check(params.max_length or source.max_length, str(reference))
    roles = role_prompts(
        dict(source.prompts),
        params.prompt,
        params.query_prompt,
        params.document_prompt,
        default=source.prompt,
        tells_roles=source.tells_roles,
    )
    unused = source.unused_prompts if params.prompt is None else ()
    if roles and roles.given:
        unused = without_roles(unused)

    own_graph = backends.own_graph(
        source.path, source.transformer, params, str(reference), has_weights=source.has_weights
    )
    backend = own_graph.backend if own_graph else params.backend
    readout = params.readout
    is_changed = readout != PUBLISHED or backend is not Backend.TORCH
    if is_changed and (source.is_sparse or not source.is_transformer):
        what = "a sparse model, whose vectors are its word pieces'" if source.is_sparse else "no transformer alone"
        raise InputError(f"'{reference}' is {what}", expected="no pooling, no layer and no backend")
    check_layers(readout, source.depth, str(reference))
    if readout.layers and readout.pooling is Pooling.PUBLISHED and source.reads_pooler:
        what = f"'{reference}' reads the model's own vector of a text, which only its last layer gives"
        raise InputError(what, remedy="name a pooling, too: ?layer=4&pooling=last-avg")
    if backend is not Backend.TORCH:
        check_backend(replace(params, backend=backend), str(reference))
        backends.require(backends.PACKAGES[backend], backend, str(reference))
    if own_graph:
        refuse_outside(own_graph.path.parent, source.path, str(reference), every_file=True)
    if readout.pooling is Pooling.STATIC and not source.has_weights:
        raise InputError(
            f"'{reference}': a graph gives the last layer, not the input embeddings", expected="no pooling"
        )
    adapted = source.adapter.title if source.adapter else None
    by = [adapted, backends.TITLES.get(backend), own_graph.name if own_graph and own_graph.is_model else None]
    assumed = [own_graph.assumed] if own_graph and own_graph.assumed else []
    kept = source.precision
    if kept in list(Dtype) and params.dtype is Dtype.FLOAT32 and kept != Dtype.FLOAT32:
        assumed += [f"it is computed in float32, not in {kept} as sentence-transformers would; ?dtype={kept} does"]

    def output(readout: Readout) -> Output:
        pooling = readout.pooling
        how = source.pooling if pooling is Pooling.PUBLISHED else readout.written
        info = EncoderInfo(
            title=f"{name} ({', '.join(filter(None, (readout.of_layers, how.partition(':')[0], *by)))})",
            dimension=sum(map(source.dimension_of, readout.poolings)),
            parameters=source.parameters_of(pooling) if source.has_weights else 0,
            memory_bytes=own_graph.path.stat().st_size
            if own_graph and own_graph.is_model
            else source.parameters * BYTES[params.dtype],
            licence="not known here: see the model's card",
            citation=f"the model's card in {url}",
            url=url,
            unused_prompts=unused,
            role_prompts=roles,
            assumed=(*assumed, *(source.assumed_pooling if pooling is Pooling.PUBLISHED else ()), *source.assumed),
            similarity=source.similarity,
        )
        return Output(str(replace(reference, params=replace(params, readout=readout))), info, readout)

    read_out = output(readout)
    # Published vectors come alone; poolings and layers are for comparisons, so all come from one pass.
    siblings = layers_beside(readout, source.depth)
    if not (readout.layers or readout.more) and readout.pooling in OF_A_PASS[1:]:
        left = {readout.pooling} | ({Pooling.FIRST_LAST_AVG} if backend is not Backend.TORCH else set())
        left |= set() if source.has_weights else {Pooling.STATIC}
        siblings = [Readout(p) for p in OF_A_PASS if p not in left]
    return SentenceTransformerEncoder(
        reference=read_out.reference,
        info=read_out.info,
        folder=source.path,
        pooling=source.pooling,
        max_length=params.max_length or source.max_length,
        wanted_device=settings.device,
        source=source,
        own=readout,
        others=tuple(map(output, siblings)),
        prompt=source.prompt if params.prompt is None else params.prompt,
        dtype=params.dtype,
        backend=backend,
        own_graph=own_graph,
        exports=settings.cache / backends.EXPORTS,
        agreements=settings.cache / library.FOLDER,
        gpu_checks=settings.cache / self_check.FOLDER,
    )
