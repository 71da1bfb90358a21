"""Torch's devices: which errors are of memory, and a precision that threads share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from blindspot.numerics.devices import first_line, free_memory, full_precision, is_of_device, is_out_of_memory

OF_MEMORY = (
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    MemoryError(),
    RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    RuntimeError("HIP out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("HIP error: hipErrorOutOfMemory"),
    RuntimeError("MPS backend out of memory (MPS allocated: 8.9 GB, other allocations: 1.1 GB, max allowed: 9.0 GB)."),
    RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory: you tried to ..."),
)
OF_DEVICE = (
    RuntimeError("CUDA error: an illegal memory access was encountered"),
    RuntimeError("CUDA error: device-side assert triggered"),
    AssertionError("Torch not compiled with CUDA enabled"),
    RuntimeError("No CUDA GPUs are available"),
    RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"),
)
OTHERS = (
    RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"),
    ValueError("out of memory is not what this is about"),
    KeyError("cuda"),
)


def test_errors_of_memory_are_told_from_others() -> None:
    assert [is_out_of_memory(error) for error in (*OF_MEMORY, *OF_DEVICE, *OTHERS)] == [
        *[True] * len(OF_MEMORY),
        *[False] * (len(OF_DEVICE) + len(OTHERS)),
    ]
    assert [is_of_device(error) for error in (*OF_MEMORY, *OF_DEVICE)] == [True] * len((*OF_MEMORY, *OF_DEVICE))
    assert not any(is_of_device(error) for error in OTHERS)
    assert max(len(first_line(error)) for error in (*OF_MEMORY, *OF_DEVICE)) <= 120


def test_the_processor_has_memory() -> None:
    assert free_memory("cpu") > 1 << 20


def settings_now() -> list[Any]:
    backends, out = torch.backends, list[Any]()
    reads: tuple[Callable[[], Any], ...] = (
        torch.get_float32_matmul_precision,
        lambda: backends.cudnn.allow_tf32,
        lambda: backends.cuda.matmul.fp32_precision,
        lambda: backends.cudnn.conv.fp32_precision,
        lambda: backends.mkldnn.matmul.fp32_precision,
        lambda: backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
        lambda: backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
    )
    for read in reads:
        try:
            out.append(read())
        except RuntimeError:  # the old setting contradicts the new one
            out.append("contradiction")
    return out


@pytest.fixture
def restored() -> Any:
    before = torch.get_float32_matmul_precision(), torch.backends.cuda.matmul.fp32_precision
    yield
    torch.set_float32_matmul_precision(before[0])
    torch.backends.cuda.matmul.fp32_precision = before[1]


@pytest.mark.usefixtures("restored")
def test_whatever_a_process_has_set_products_are_full_and_its_settings_come_back() -> None:
    def old_way() -> None:
        torch.set_float32_matmul_precision("medium")

    def new_way() -> None:
        torch.set_float32_matmul_precision("highest")
        torch.backends.cuda.matmul.fp32_precision = "tf32"

    for change in (lambda: None, old_way, new_way):
        change()
        before = settings_now()
        with full_precision():
            inside = settings_now()
            assert inside[0] == "highest"
            assert inside[2:] == ["ieee", "ieee", "ieee", False, False]
            with full_precision():
                pass
            assert settings_now() == inside, "the inner one restores nothing"
        assert settings_now() == before


@pytest.mark.usefixtures("restored")
def test_the_last_of_several_threads_restores_the_setting() -> None:
    torch.set_float32_matmul_precision("high")
    before, entered, leave = settings_now(), threading.Barrier(3), [threading.Event(), threading.Event()]

    def work(number: int) -> None:
        with full_precision():
            entered.wait(10)
            leave[number].wait(10)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    entered.wait(10)
    for number, thread in enumerate(threads):
        assert torch.get_float32_matmul_precision() == "highest", f"{2 - number} threads need it"
        leave[number].set()
        thread.join()
    assert settings_now() == before


def test_autocast_of_a_caller_is_off_inside() -> None:
    ones = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with full_precision():
            assert (ones @ ones).dtype is torch.float32
        assert (ones @ ones).dtype is torch.bfloat16
