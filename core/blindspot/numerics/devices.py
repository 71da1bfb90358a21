"""Torch's devices: what they say when memory runs out, how much is free, and float32 products that are float32."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar

import psutil

if TYPE_CHECKING:
    import torch

LONGEST_LINE = 120
# Parts of messages, in lower case. Only CUDA's own allocator raises ``torch.OutOfMemoryError``: its libraries, the
# driver, Apple's GPUs and the processor's memory raise a bare ``RuntimeError``.
OF_MEMORY = (
    "out of memory",  # "CUDA error: out of memory", "HIP out of memory", "MPS backend out of memory"
    "status_alloc_failed",  # cuBLAS, cuDNN, cuSPARSE, hipBLAS: a workspace or a handle
    "host_allocation_failed",  # cuDNN
    "erroroutofmemory",  # hipErrorOutOfMemory
    "errormemoryallocation",  # cudaErrorMemoryAllocation
    "out_of_host_memory",
    "out_of_device_memory",
    "out_of_resources",
    "invalid buffer size",  # MPS: one buffer larger than the device allows
    "can't allocate memory",  # the processor's: DefaultCPUAllocator
    "not enough memory",  # likewise, on Windows
    "cannot allocate memory",
)
# Parts of messages of a GPU, or of what drives one, that failed for another reason.
OF_DEVICE = ("cuda", "cublas", "cudnn", "nvrtc", "nvml", "hip error", "hipblas", "miopen", "mps", "metal")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the memory of a device, or of the processor, was too small."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(part in str(error).lower() for part in OF_MEMORY)


def is_of_device(error: BaseException) -> bool:
    """Whether an error comes from a GPU: its memory, driver or libraries, or that there is no GPU."""
    import torch

    if is_out_of_memory(error) or isinstance(error, getattr(torch, "AcceleratorError", ())):
        return True
    of_torch = isinstance(error, RuntimeError | AssertionError | NotImplementedError)  # "not compiled with CUDA"
    return of_torch and any(part in str(error).lower() for part in OF_DEVICE)


def first_line(error: BaseException) -> str:
    """The first line of an error, or the first sentence of a long line: the rest of torch's errors is advice."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return line if len(line) <= LONGEST_LINE else line.partition(". ")[0][:LONGEST_LINE]


def kind_of(device: str) -> str:
    """``cpu``, ``cuda``, ``mps``: a device without its number."""
    return device.partition(":")[0]


def free_memory(device: str) -> int:
    """Bytes that new tensors on a device may take, including those that torch keeps for reuse.

    Raises:
        RuntimeError: a GPU does not answer.
    """
    import torch

    if kind_of(device) == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(free + kept)
    if kind_of(device) == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    return int(psutil.virtual_memory().available)


def pinned_like(tensor: torch.Tensor) -> torch.Tensor:
    """Memory on the processor's side that a GPU can reach by itself; ordinary memory where none of that is left."""
    import torch

    try:
        return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        return torch.empty(tensor.shape, dtype=tensor.dtype)


def release(device: str) -> None:
    """Give back memory that torch keeps for reuse, so that other sizes, libraries and programs can have it."""
    import torch

    with suppress(RuntimeError):  # a broken device says so where it is used next
        if kind_of(device) == "cuda":
            torch.cuda.empty_cache()
        elif kind_of(device) == "mps":
            torch.mps.empty_cache()


class _Precision:
    """Claims on the precision of products, which is a setting of the whole process."""

    lock = threading.Lock()
    claims = 0
    before: ClassVar[list[Callable[[], None]]] = []  # restore what was set, in this order


@contextmanager
def full_precision() -> Iterator[None]:
    """Context in which torch rounds no operand of a float32 product (TF32, or bfloat16 on a processor) and sums float16
    and bfloat16 products in float32.

    The setting is for the whole process: it stays as long as any thread needs it, and the last one restores the former
    setting. Autocast, which a caller may have switched on, is a setting of the thread and is off in the context.
    """
    import torch

    with _Precision.lock:
        if not _Precision.claims:
            _Precision.before = _set_full_precision()
        _Precision.claims += 1
    try:
        with _without_autocast(torch):
            yield
    finally:
        with _Precision.lock:
            _Precision.claims -= 1
            if not _Precision.claims:
                for restore in _Precision.before:
                    restore()


@contextmanager
def _without_autocast(torch: Any) -> Iterator[None]:
    kinds = [kind for kind in ("cpu", "cuda", "mps") if torch.is_autocast_enabled(kind)]
    before = {kind: torch.get_autocast_dtype(kind) for kind in kinds}
    for kind in kinds:
        torch.set_autocast_enabled(kind, False)
    try:
        yield
    finally:
        for kind, dtype in before.items():
            torch.set_autocast_enabled(kind, True)
            torch.set_autocast_dtype(kind, dtype)


def _set_full_precision() -> list[Callable[[], None]]:
    """Set full precision; returns functions that restore each setting.

    Torch has each setting twice, old and new. It refuses to read one that contradicts the other, and to multiply while
    they contradict. So both are set, the old one first, since that overwrites the new one.
    """
    import torch

    backends, restores = torch.backends, []

    def put(read: Callable[[], Any], write: Callable[[Any], None], value: Any) -> None:
        try:
            before = read()
        except RuntimeError:  # the two contradict each other: the new one counts
            return
        write(value)
        restores.append(lambda: write(before))

    def attribute(owner: Any, name: str, value: Any) -> None:
        if hasattr(owner, name):
            put(lambda: getattr(owner, name), lambda new: setattr(owner, name, new), value)

    new = (backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn, backends.mkldnn.matmul, backends.mkldnn.conv)
    before = [(owner, owner.fp32_precision) for owner in new]
    put(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest")
    try:
        if backends.cudnn.allow_tf32:
            attribute(backends.cudnn, "allow_tf32", False)
    except RuntimeError:
        pass
    for owner, _ in before:
        owner.fp32_precision = "ieee"
    restores += [lambda o=owner, p=value: setattr(o, "fp32_precision", p) for owner, value in before]  # type: ignore[misc]
    for name in ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction"):
        attribute(backends.cuda.matmul, name, False)
    return restores
