"""Digest of a model object of a running program: covers all that can decide its vectors.

That is its weights, and every setting of each of its modules: classes, configurations, prompts, truncation, tokenizer.
The digest is None if something cannot be digested (a hook, a class or function that the program defines or has
replaced): such a model equals no other, and its vectors are never taken for those of another.
"""

from __future__ import annotations

import enum
import hashlib
import json
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any

import numpy as np

# Attributes of ``torch.nn.Module`` to skip: its parts are visited, and hooks are refused below.
_OF_TORCH = frozenset(
    {
        *("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_is_full_backward_hook", "training"),
        *("_backward_pre_hooks", "_backward_hooks", "_state_dict_hooks", "_state_dict_pre_hooks", "call_super_init"),
        *("_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_forward_hooks", "_forward_pre_hooks"),
        *("_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs"),
    }
)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
# Attributes of sentence-transformers and transformers: memory of earlier calls, cards, file names, training settings.
_NOISE = frozenset(
    {
        *("model_card_data", "_model_card_vars", "_model_card_text", "_prompt_length_mapping", "_target_device"),
        *("_method_signature_cache", "_chat_template_suffix_cache", "_modules_placed", "_device_map", "name_or_path"),
        *("_name_or_path", "_commit_hash", "transformers_version", "gradient_checkpointing", "_is_hf_initialized"),
        *("is_hpu_graph_enabled", "_distributed_inference", "_declared_forward_params", "trust_remote_code"),
        *("_gradient_checkpointing_func", "init_kwargs", "init_inputs", "warnings_issued", "_hf_peft_config_loaded"),
        *("deprecation_warnings", "_in_target_context_manager", "verbose"),
    }
)
_LIBRARIES = frozenset({"torch", "transformers", "sentence_transformers", "tokenizers", "peft"})
# Packages of the libraries' base classes and functions: nobody replaces those.
_TRUSTED = _LIBRARIES | {"builtins", "abc", "typing", "collections", "operator", "math", "huggingface_hub"}
_OF_TOKENIZERS = (
    *("model_max_length", "padding_side", "truncation_side", "chat_template", "model_input_names", "add_bos_token"),
    *("add_eos_token", "clean_up_tokenization_spaces", "special_tokens_map", "split_special_tokens"),
)
_DEEPEST = 12


class _Unknown(Exception):
    """Something of a model that cannot be digested."""


def digest_of_object(model: Any) -> str | None:
    """Digest of all that decides the vectors of a ``torch.nn.Module``; None if something cannot be digested.

    Its weights are read where they are, on any device.
    """
    sha = hashlib.sha256()
    try:
        for part in _parts(model):
            sha.update(len(part).to_bytes(8, "little"))
            sha.update(part)
    except (_Unknown, RecursionError):
        return None
    return sha.hexdigest()[:32]


def _parts(model: Any) -> Iterator[bytes]:
    names = {id(module): name for name, module in model.named_modules()}
    count = 0
    for kind in {type(module) for module in model.modules()}:
        _refuse_own_code(kind)
    for name, module in model.named_modules(remove_duplicate=False):
        yield f"{name}: {_name_of(type(module))}".encode()
        if any(getattr(module, hooks, None) for hooks in _HOOKS):
            raise _Unknown(f"{name} has hooks")
        for key, value in sorted(_that_count(vars(module)).items()):
            if key not in _OF_TORCH:
                yield f"{key}={_described(value, names, 0)}".encode()
    for tensors in (model.named_parameters(remove_duplicate=False), model.named_buffers(remove_duplicate=False)):
        for name, tensor in tensors:
            count += 1
            yield name.encode()
            yield _of_tensor(tensor)
    if not count:
        raise _Unknown("it has no weights")


def _of_tensor(tensor: Any) -> bytes:
    import torch

    if getattr(tensor, "is_quantized", False) or tensor.layout != torch.strided or tensor.is_meta:
        raise _Unknown("a tensor of another layout")
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    head = f"{tensor.dtype} {tuple(tensor.shape)} ".encode()
    return head + (hashlib.sha256(flat.view(torch.uint8).numpy().data).digest() if flat.numel() else b"")


def _described(value: Any, names: dict[int, str], depth: int) -> str:
    """A text that differs where a value does; raises ``_Unknown``."""
    if depth > _DEEPEST:
        raise _Unknown("settings of settings")

    def inner(part: Any) -> str:
        return _described(part, names, depth + 1)

    if value is None or isinstance(value, bool | int | float | complex | str | bytes | enum.Enum):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = sorted((inner(key), inner(member)) for key, member in value.items())
        return f"{{{', '.join(': '.join(pair) for pair in pairs)}}}"
    if isinstance(value, Set):
        return f"set({sorted(map(inner, value))})"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(inner, value))}]"
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    return _of_object(value, names, depth)


def _of_object(value: Any, names: dict[int, str], depth: int) -> str:
    if id(value) in names:
        return f"as {names[id(value)]}"
    if isinstance(value, type):
        return _name_of(value)

    def inner(part: Any) -> str:
        return _described(part, names, depth + 1)

    description = _of_torch(value) or _of_callable(value, inner)
    if description:
        return description
    kind = type(value)
    if _package_of(kind) not in _LIBRARIES:
        raise _Unknown(f"an object of type {_name_of(kind)}")
    _refuse_own_code(kind)
    described = f"{_name_of(kind)} {_of_a_library(value, inner)}"
    names[id(value)] = hashlib.sha256(described.encode()).hexdigest()  # each layer has the same configuration
    return described


def _of_torch(value: Any) -> str:
    import torch

    if isinstance(value, torch.nn.Module):
        raise _Unknown("a module that is no part of the model")
    if isinstance(value, torch.Tensor):
        return _of_tensor(value).hex()
    if isinstance(value, torch.device):
        return "device"  # vectors are the same on each, but for rounding
    return str(value) if isinstance(value, torch.dtype) else ""


def _of_callable(value: Any, inner: Callable[[Any], str]) -> str:
    if isinstance(value, partial):
        return f"partial({inner(value.func)}, {inner(value.args)}, {inner(value.keywords)})"
    if isinstance(value, types.MethodType):
        if getattr(type(value.__self__), value.__name__, None) is not value.__func__:
            raise _Unknown("a method of another object")
        return f"method {value.__name__} of {inner(value.__self__)}"
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        return _of_function(value)
    return ""


def _of_a_library(value: Any, inner: Callable[[Any], str]) -> str:
    """An object of one of the libraries: a tokenizer, a configuration, or what has plain settings."""
    if hasattr(value, "to_str"):
        return hashlib.sha256(value.to_str().encode()).hexdigest()
    if hasattr(value, "backend_tokenizer"):
        return _of_tokenizer(value, inner)
    if hasattr(value, "to_dict") and hasattr(value, "model_type"):
        settings = _configuration(value.to_dict())
        return f"{inner(settings)} {inner(getattr(value, '_attn_implementation', None))}"
    if not hasattr(value, "__dict__"):
        raise _Unknown(f"an object of type {_name_of(type(value))}")
    return inner({name: member for name, member in _that_count(vars(value)).items() if name not in _OF_TORCH})


def _that_count(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes without those that change no vector; not for a mapping with a user's own names, such as prompts."""
    return {name: value for name, value in settings.items() if name not in _NOISE}


def _configuration(value: Any) -> Any:
    """A configuration's mapping, and the mappings in it, through ``_that_count``."""
    if not isinstance(value, Mapping):
        return value
    return {name: _configuration(member) for name, member in _that_count(value).items()}


def _of_tokenizer(tokenizer: Any, inner: Callable[[Any], str]) -> str:
    """A tokenizer without what each call sets anew: how it cut and padded the texts of the last call."""
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    for name in ("truncation", "padding"):
        state.pop(name, None)
    content = hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()
    settings = {name: str(getattr(tokenizer, name, None)) for name in _OF_TOKENIZERS}
    return f"{content} {inner(settings)}"


def _of_function(function: Any) -> str:
    """The name of a function that can be found by it; raises ``_Unknown`` for others, which may do anything."""
    value: Any = sys.modules.get(function.__module__ or "")
    for part in function.__qualname__.split("."):
        value = getattr(value, part, None)
    is_built_in = isinstance(function, types.BuiltinFunctionType)
    if not is_built_in and (value is not function or _package_of(function) not in _TRUSTED):
        raise _Unknown(f"a function of the program's own: {function.__qualname__}")
    return f"{function.__module__}.{function.__qualname__}"


def _refuse_own_code(kind: type) -> None:
    """Raise ``_Unknown`` for a class that the program defines, since its code may change under the same name, and for a
    library's class with a method that the program has replaced."""
    for base in kind.__mro__:
        if _package_of(base) not in _TRUSTED:
            raise _Unknown(f"a class of the program's own: {_name_of(base)}")
        for name, member in vars(base).items():
            if isinstance(member, types.FunctionType) and _package_of(member) not in _TRUSTED:
                raise _Unknown(f"a method of the program's own: {_name_of(base)}.{name}")


def _package_of(named: Any) -> str:
    """The package of a class or function; a model's own code is in ``transformers_modules``, not in a library."""
    return str(named.__module__ or "").partition(".")[0]


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
