"""Loads weights from a file into a backbone, or reports what does not fit."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from torch import Tensor, nn

from onepeak.errors import InputError
from onepeak.networks.weight_file import read_weights

_SHOWN = 5
_COUNTER = ".num_batches_tracked"
"""Batch norm's count of batches: old files lack it, and nothing here needs it."""


def load_weights(module: nn.Module, path: Path, *, unused: Collection[str] = ()) -> tuple[str, ...]:
    """Loads a weight file into a module, completely or not at all.

    The names in the file may have a prefix ("module.", "backbone.", "model." or any other). The prefix under which most
    of the module's names are found is removed; tensors without it belong to other parts. Values in another precision
    are converted.

    Args:
        module: The module to load into.
        path: See `read_weights`.
        unused: Layers that the file may have and the module does not, such as the classifier "fc".

    Returns:
        A sentence on the tensors of the file that were not used, if there are any.

    Example:
        >>> import tempfile, torch
        >>> layer = nn.Linear(2, 1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "weights.pt")
        ...     torch.save({"module.weight": torch.ones(1, 2), "module.bias": torch.zeros(1)}, file)
        ...     load_weights(layer, file)
        ()
        >>> layer.weight.tolist()
        [[1.0, 1.0]]
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
