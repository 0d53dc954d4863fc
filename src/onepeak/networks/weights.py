"""Loads weights from a file into a backbone, or reports what does not fit."""

import pickle
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from onepeak._core.imports import require
from onepeak._core.wording import did_you_mean_file
from onepeak.errors import InputError, first_line

_SHOWN = 5
_COUNTER = ".num_batches_tracked"
"""Batch norm's count of batches: old files lack it, and nothing here needs it."""


def load_weights(module: nn.Module, path: Path, *, unused: Collection[str] = ()) -> tuple[str, ...]:
    """Loads a weight file into a module, completely or not at all; returns a note on tensors that were not used.

    The names in the file may have a prefix ("module.", "backbone.", "model." or any other). The prefix under which most
    of the module's names are found is removed; tensors without it belong to other parts. Values in another precision
    are converted.
    """
    wanted = module.state_dict()
    found = read_weights(path)
    prefix = _prefix(found, wanted)
    own = {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}
    others = [key for key in found if not key.startswith(prefix)]
    left = [key for key in own if key not in wanted and any(key.startswith(f"{layer}.") for layer in unused)]
    _check_fit(path, {key: value for key, value in own.items() if key not in left}, wanted)
    module.load_state_dict({key: own[key] if key in own else wanted[key] for key in wanted})
    ignored = [*left, *others]
    if not ignored:
        return ()
    return (f"{len(ignored)} of {len(found)} tensors in {path.name} were not used: {_listed(ignored)}.",)


def _prefix(found: Iterable[str], wanted: Collection[str]) -> str:
    """Returns the prefix of the wanted names, by a vote of all names found."""
    votes: Counter[str] = Counter()
    for key in found:
        parts = key.split(".")
        for start in range(len(parts)):
            if ".".join(parts[start:]) in wanted:
                votes[".".join([*parts[:start], ""]) if start else ""] += 1
    return max(votes, key=lambda prefix: (votes[prefix], -len(prefix)), default="")


def _check_fit(path: Path, found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    missing = [key for key in wanted if key not in found and not key.endswith(_COUNTER)]
    unexpected = [key for key in found if key not in wanted]
    misshapen = [
        f"{key} {tuple(found[key].shape)} for {tuple(wanted[key].shape)}"
        for key in wanted
        if key in found and found[key].shape != wanted[key].shape
    ]
    groups = {"missing": missing, "unexpected": unexpected, "of another shape": misshapen}
    problems = [f"{len(keys)} {what} ({_listed(keys)})" for what, keys in groups.items() if keys]
    if problems:
        raise InputError(
            f"`weights` must fit the backbone's {len(wanted)} tensors, {path.name} does not: {'; '.join(problems)}. "
            "Choose the backbone the file was made for."
        )


def _listed(keys: list[str]) -> str:
    rest = len(keys) - _SHOWN
    return ", ".join(keys[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


_WRAPPERS = ("state_dict", "model_state_dict", "model")
"""Keys under which training scripts store the weights, in order of preference."""


def read_weights(path: Path) -> dict[str, Tensor]:
    """Returns the tensors of a safetensors file, or of a file from torch.save that holds only tensors, by name.

    The file type is detected from the content, not from the file name. From a training checkpoint, the weights under
    "state_dict", "model_state_dict" or "model" are taken.
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
