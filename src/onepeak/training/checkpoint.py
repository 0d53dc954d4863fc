"""What a training run needs to go on after anything: written in one step, loaded without running code."""

import warnings
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from onepeak._one_step import write_in_one_step
from onepeak.errors import InputError, OnepeakError

HASH = "hash:"
"""What a value of a fingerprint begins with that stands for the content of a file or of data."""


class CheckpointError(OnepeakError):
    """A checkpoint cannot be read."""


@dataclass(kw_only=True)
class Checkpoint:
    """The state of a run at the end of an epoch. Data order and augmentation need none: they follow from the seed."""

    epoch: int
    """The next epoch to train."""
    network: dict[str, Tensor]
    """Weights and buffers; the barrier's t is one of them."""
    optimizer: dict[str, Any]
    scaler: dict[str, Any] | None
    """The loss scaling of fp16."""
    average: dict[str, Tensor] | None
    """The running average of the weights, where there is one."""
    best: dict[str, Tensor]
    """The weights of the best epoch."""
    best_epoch: int
    best_value: float
    history: list[dict[str, float]]
    fingerprint: dict[str, str]
    """What the run was started with, by name; a checkpoint of another run is not gone on with."""


def save_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Writes beside the place and moves there in one step, so that a kill leaves the old checkpoint or the new one."""
    content = {each.name: getattr(checkpoint, each.name) for each in fields(checkpoint)}
    write_in_one_step(path, lambda part: torch.save(content, part))


def load_checkpoint(path: Path, *, fingerprint: dict[str, str]) -> Checkpoint | None:
    """The checkpoint, or None where there is none yet."""
    checkpoint = _read(path)
    if checkpoint is not None and (differences := _differences(checkpoint.fingerprint, fingerprint)):
        raise InputError(
            f"The checkpoint {path} belongs to a run with other settings ({differences}): "
            "give the same settings to go on with it, or another --out to start anew."
        )
    return checkpoint


def epochs_done(path: Path) -> int:
    """How many epochs a run has finished, by its checkpoint; 0 where there is none. The weights are not read."""
    checkpoint = _read(path, mapped=True)
    return 0 if checkpoint is None else checkpoint.epoch


def _read(path: Path, *, mapped: bool = False) -> Checkpoint | None:
    if not path.exists():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on the dialect of a pickle, which is refused or read all the same
            checkpoint = Checkpoint(**torch.load(path, map_location="cpu", weights_only=True, mmap=mapped))
        checkpoint.fingerprint.items()  # what an older version wrote there was one text
    except Exception as error:  # whatever a damaged file makes of the reader
        raise CheckpointError(
            f"The checkpoint {path} cannot be read ({type(error).__name__}): "
            "delete it to start anew, or put a good copy in its place."
        ) from error
    return checkpoint


def _differences(before: dict[str, str], now: dict[str, str]) -> str:
    """What differs between two fingerprints, in words; hashes say nothing to a reader and are left out.

    A setting that one side lacks belongs to another version; where it is None it does nothing, and the runs are alike.
    """
    names = [name for name in {**before, **now} if before.get(name, "None") != now.get(name, "None")]
    return "; ".join(
        f"other {name}"
        if any(side.get(name, "").startswith(HASH) for side in (before, now))
        else f"{name} was {before.get(name, 'unknown')}, is now {now.get(name, 'unknown')}"
        for name in names
    )
