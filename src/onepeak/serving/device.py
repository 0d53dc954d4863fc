"""The device a loaded model answers on."""

import torch

from onepeak._check import check_choice
from onepeak.errors import InputError


def find_device(name: str) -> torch.device:
    """The device of a name, if this machine has it.

    Args:
        name: "cpu", "cuda", "cuda:1", "mps", or "auto" for a GPU where there is one.

    Example:
        >>> find_device("cpu")
        device(type='cpu')
    """
    kind, colon, number = name.partition(":")
    check_choice("device", kind, ("auto", "cpu", "cuda", "mps"))
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if colon and (kind != "cuda" or not number.isdecimal() or int(number) >= gpus):
        raise InputError(f"`device` must be one that is there, got {name!r} on a machine with {gpus} CUDA GPUs.")
    match kind:
        case "cuda" if not gpus:
            raise InputError(
                "`device` must be one that is there, got 'cuda' and this machine has no CUDA GPU: use cpu."
            )
        case "mps" if not torch.backends.mps.is_available():
            raise InputError("`device` must be one that is there, got 'mps' and this machine has none: use cpu.")
        case "auto" if gpus:
            return torch.device("cuda")
        case "auto":
            return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    return torch.device(name)
