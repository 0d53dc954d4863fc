"""Settings kept as tensors need memory, even where a model is first laid out without any."""

from contextlib import AbstractContextManager, nullcontext

import torch


def real_tensors() -> AbstractContextManager[object]:
    """Makes tensors on the CPU where the default device is meta.

    Large models are often built on the meta device and filled from a checkpoint later (`from_pretrained` of Hugging
    Face, FSDP). A checkpoint of the backbone holds no t of a barrier and no table of weights: they would stay
    uninitialised memory.

    Example:
        >>> with torch.device("meta"), real_tensors():
        ...     torch.ones(2)
        tensor([1., 1.])
    """
    return torch.device("cpu") if torch.get_default_device().type == "meta" else nullcontext()
