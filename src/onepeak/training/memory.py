"""Tells a lack of memory from other errors."""

import torch

_WORDS = ("out of memory", "ALLOC_FAILED", "allocate memory")
"""Of CUDA, its libraries and the CPU, whose errors have no class of their own."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there was too little memory, of the device or of the machine.

    Example:
        >>> is_out_of_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"))
        True
        >>> is_out_of_memory(RuntimeError("CUDA error: an illegal memory access was encountered"))
        False
    """
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _WORDS)
