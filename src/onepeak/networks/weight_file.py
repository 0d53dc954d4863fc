"""Reads a weight file: safetensors, or written by torch.save. No code in a file is ever executed."""

import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from onepeak._extras import require
from onepeak._nearest import did_you_mean_file
from onepeak.errors import InputError, first_line

_WRAPPERS = ("state_dict", "model_state_dict", "model")
"""Keys under which training scripts store the weights, in order of preference."""


def read_weights(path: Path) -> dict[str, Tensor]:
    """Returns the tensors of a weight file by name, on the CPU.

    The file type is detected from the content, not from the file name. From a training checkpoint, the weights under
    "state_dict", "model_state_dict" or "model" are taken.

    Args:
        path: A safetensors file, or a file from torch.save that holds only tensors.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     torch.save({"state_dict": {"fc.bias": torch.zeros(2)}}, Path(folder, "weights.pt"))
        ...     read_weights(Path(folder, "weights.pt"))
        {'fc.bias': tensor([0., 0.])}
    """
    if not path.is_file():
        what = "a folder" if path.is_dir() else "not there"
        raise InputError(f"`weights` must be a file, {str(path)!r} is {what}.{did_you_mean_file(path)}", page="images")
    with path.open("rb") as file:
        start = file.read(9)
    content = _read_safetensors(path) if start[8:] == b"{" else _read_torch(path)
    for wrapper in _WRAPPERS:
        if isinstance(content, Mapping) and isinstance(content.get(wrapper), Mapping):
            content = content[wrapper]
    tensors = {str(key): value for key, value in _items(content) if isinstance(value, Tensor)}
    if not tensors:
        raise InputError(f"`weights` must hold tensors by name, {str(path)!r} holds {_description(content)}.")
    return tensors


def _read_safetensors(path: Path) -> Mapping[str, object]:
    safetensors = require("safetensors.torch", extra="train", purpose="A safetensors file")
    try:
        content: Mapping[str, object] = safetensors.load_file(path)
    except require("safetensors", extra="train", purpose="A safetensors file").SafetensorError as error:
        raise InputError(f"`weights` must be a whole safetensors file, {str(path)!r} is damaged: {error}.") from None
    return content


def _read_torch(path: Path) -> object:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the pickle protocol; the file is rejected or read regardless
            content: object = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise InputError(
            f"`weights` must hold only tensors, {str(path)!r} is a pickle of other objects, which could run code and "
            "is not opened. If you trust it, save its state dict with safetensors.torch.save_file."
        ) from None
    except Exception as error:  # a damaged file can raise anything
        raise InputError(
            f"`weights` must be a safetensors or torch.save file, {str(path)!r} is neither: {first_line(error)}"
        ) from None
    return content


def _items(content: object) -> list[tuple[object, object]]:
    return list(content.items()) if isinstance(content, Mapping) else []


def _description(content: object) -> str:
    if isinstance(content, Mapping):
        return f"only {', '.join(repr(key) for key in list(content)[:5])}" if content else "nothing"
    return f"a {type(content).__name__}"
