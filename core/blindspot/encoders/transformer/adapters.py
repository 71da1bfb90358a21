"""Adapters (LoRA and its kin): a folder with changes to the weights of another model, its base; peft loads them."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindspot.encoders.transformer.backends import is_installed
from blindspot.errors import InputError

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
# Kinds that put vectors before a text's; transformers loads only those that change weights.
OF_PROMPTS = ("PROMPT_TUNING", "MULTITASK_PROMPT_TUNING", "P_TUNING", "PREFIX_TUNING", "CPT", "ADAPTION_PROMPT")
HEADS = {
    "SEQ_CLS": "a classifier or a cross-encoder",
    "TOKEN_CLS": "a classifier of tokens",
    "QUESTION_ANS": "a model that answers questions",
}
MERGE = "merge it into its model (merge_and_unload of peft) and save that folder, with the tokenizer"


@dataclass(frozen=True)
class Adapter:
    """An adapter that is fit to load.

    Attributes:
        kind: such as LORA, as peft names it.
        base_name: the base as the adapter names it: a folder, or a model of the hub.
        base: its folder here.
        files: the base's files that loading reads.
    """

    kind: str
    base_name: str
    base: Path
    files: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        return f"{'LoRA' if self.kind == 'LORA' else self.kind} of {Path(self.base_name).name}"


def nowhere(_name: str) -> Path | None:
    """As a search for a model of the hub that finds none."""
    return None


def read(
    settings: Mapping[str, Any], of_hub: Callable[[str], Path | None], reference: str, *, is_plain: bool
) -> Adapter:
    """An adapter from its settings, its base found.

    Args:
        of_hub: gives the folder of a model of the hub; None if it is not here.
        is_plain: whether the folder names no steps, so that its task decides what it is.

    Raises:
        InputError: it gives no vectors, peft is not installed, or the base is not here.
    """
    kind, named = str(settings.get("peft_type") or ""), settings.get("base_model_name_or_path")
    name = named if isinstance(named, str) else ""
    what = f"'{reference}' is an adapter ({'LoRA' if kind == 'LORA' else kind[:40]}) of {name[:200] or 'another model'}"
    head = HEADS.get(str(settings.get("task_type"))) if is_plain else None
    if head or kind in OF_PROMPTS:
        raise InputError(
            f"{what}{f', for {head}' if head else ''}",
            expected="an adapter of a model that gives a vector per text"
            if head
            else "an adapter that changes weights, such as LoRA",
        )
    if not is_installed("peft"):
        raise InputError(
            f"{what}, and peft, which loads adapters, is not installed", remedy=f"pip install peft; or {MERGE}"
        )
    if not name:
        raise InputError(f"{what}", expected=f"base_model_name_or_path in {CONFIG}", remedy=MERGE)
    base = Path(name) if Path(name).is_dir() else of_hub(name)
    if base is None:
        is_path = Path(name).is_absolute() or name.startswith((".", "~")) or name.count("/") > 1
        raise InputError(
            f"{what}, which is not on this machine",
            expected="its model's folder" if is_path else "its model's folder, or the model in the hub's cache",
            remedy=f"name the folder as base_model_name_or_path in {CONFIG}"
            + ("" if is_path else f", or run hf:{name} once, which downloads it"),
        )
    return Adapter(kind, name, base.absolute())


@contextmanager
def beside_base(folder: Path, files: Sequence[Path], adapter: Adapter) -> Iterator[Path]:
    """The folder to load, whose adapter names its base by the path here; a copy of its files where it does not."""
    if Path(adapter.base_name).is_dir():
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="blindspot-") as temporary:
        copy = Path(temporary) / folder.name
        for file in files:
            target = copy / file.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        settings = json.loads((copy / CONFIG).read_text("utf-8"))
        (copy / CONFIG).write_text(json.dumps({**settings, "base_model_name_or_path": str(adapter.base)}), "utf-8")
        yield copy


def merge(layers: Any) -> None:
    """Add an adapter's changes to the weights of a transformers model, whose layers are then plain ones again."""
    from peft.tuners.tuners_utils import BaseTunerLayer
    from peft.utils.other import AuxiliaryTrainingWrapper

    for parent in list(layers.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, AuxiliaryTrainingWrapper):
                plain = child.unload_and_optionally_merge_module(merge=True, safe_merge=False, adapter_names=None)
                setattr(parent, name, plain)
            elif isinstance(child, BaseTunerLayer):
                child.merge()
                setattr(parent, name, child.get_base_layer())
