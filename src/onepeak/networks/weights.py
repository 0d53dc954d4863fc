"""The weights that training starts from: drawn from a seed for each part of a network, or read from a file."""

import hashlib
import pickle
import threading
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from onepeak._core.check import check_integer
from onepeak._core.imports import require
from onepeak._core.wording import did_you_mean_file, listed
from onepeak.errors import InputError, first_line

_DRAWING = threading.RLock()


@contextmanager
def own_random_numbers(device: torch.device | None = None) -> Iterator[None]:
    """Restores the global random state, and that of a GPU, on exit: one thread at a time, as the process shares it."""
    with _DRAWING, torch.random.fork_rng(devices=[device] if device is not None and device.type == "cuda" else []):
        yield


@contextmanager
def seeded(seed: int | None, part: str) -> Iterator[None]:
    """Seeds torch for the weights of one part, such as "head", and restores the global random state on exit.

    Each part has its own random numbers, so another backbone does not change the head's weights. They are drawn on the
    CPU, so they are the same on every device. Without a seed they come from torch's global random state.
    """
    if seed is None:
        yield
        return
    check_integer("seed", seed, minimum=0)
    digest = hashlib.sha256(f"{seed}/{part}".encode()).digest()
    with own_random_numbers(), torch.device("cpu"):
        # Not torch.manual_seed: it would also seed every GPU, and their states are not restored.
        torch.default_generator.manual_seed(int.from_bytes(digest[:7], "big"))
        yield


def reset_weights(module: nn.Module) -> None:
    """Reinitialises the weights of every layer."""
    for layer in module.modules():
        reset = getattr(layer, "reset_parameters", None)
        if callable(reset):
            reset()


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
    votes: Counter[str] = Counter()  # which prefix of the wanted names most names have
    for key in found:
        parts = key.split(".")
        for start in range(len(parts)):
            if ".".join(parts[start:]) in wanted:
                votes[".".join([*parts[:start], ""]) if start else ""] += 1
    prefix = max(votes, key=lambda each: (votes[each], -len(each)), default="")
    own = {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}
    others = [key for key in found if not key.startswith(prefix)]
    left = [key for key in own if key not in wanted and any(key.startswith(f"{layer}.") for layer in unused)]
    counters = {key: value for key, value in wanted.items() if key.endswith(_COUNTER)}
    fitting = counters | {key: value for key, value in own.items() if key not in left}
    if problems := misfits(fitting, wanted):
        raise InputError(
            f"`weights` must fit the backbone's {len(wanted)} tensors, {path.name} does not: {problems}. "
            "Choose the backbone the file was made for."
        )
    module.load_state_dict(fitting)
    ignored = [*left, *others]
    if not ignored:
        return ()
    return (f"{len(ignored)} of {len(found)} tensors in {path.name} were not used: {listed(ignored, limit=5)}.",)


def misfits(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> str:
    """Describes the tensors that keep weights from being loaded; empty if they fit."""
    groups = {
        "missing": [key for key in wanted if key not in found],
        "unexpected": [key for key in found if key not in wanted],
        "of another shape": [
            f"{key} {tuple(found[key].shape)} for {tuple(wanted[key].shape)}"
            for key in wanted
            if key in found and found[key].shape != wanted[key].shape
        ],
        "of another type": [
            f"{key} {found[key].dtype} for {wanted[key].dtype}"
            for key in wanted
            if key in found and wanted[key].is_floating_point() and not found[key].is_floating_point()
        ],
    }
    return "; ".join(f"{len(keys)} {what} ({listed(keys, limit=5)})" for what, keys in groups.items() if keys)


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
    named = content if isinstance(content, Mapping) else {}
    tensors = {str(key): value for key, value in named.items() if isinstance(value, Tensor)}
    if not tensors:
        what = f"only {', '.join(repr(key) for key in list(named)[:5])}" if named else f"a {type(content).__name__}"
        raise InputError(f"`weights` must hold tensors by name, {str(path)!r} holds {what}.")
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
