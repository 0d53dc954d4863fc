"""Distinguishes out-of-memory errors from others."""

import torch

_WORDS = ("out of memory", "ALLOC_FAILED", "allocate memory")
"""From messages of CUDA, its libraries and the CPU, whose errors have no class of their own."""


def is_out_of_memory(error: BaseException) -> bool:
    """Returns whether an error means too little memory, on the device or on the host.

    Example:
        >>> is_out_of_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"))
        True
        >>> is_out_of_memory(RuntimeError("CUDA error: an illegal memory access was encountered"))
        False
    """
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _WORDS)
