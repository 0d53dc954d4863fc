"""The state from which a training run resumes: written atomically, loaded without executing code."""

import warnings
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from onepeak._core.files import write_in_one_step
from onepeak.errors import InputError, OnepeakError

HASH = "hash:"
"""Prefix of fingerprint values that are a hash of a file or of data."""


class CheckpointError(OnepeakError):
    """A checkpoint cannot be read."""


@dataclass(kw_only=True)
class Checkpoint:
    """The state of a run at the end of an epoch. Data order and augmentation have none: they follow from the seed."""

    epoch: int
    """The next epoch to train."""
    network: dict[str, Tensor]
    """Weights and buffers, including the barrier's t."""
    optimizer: dict[str, Any]
    scaler: dict[str, Any] | None
    """The loss scaler of fp16."""
    average: dict[str, Tensor] | None
    """The running average of the weights, if there is one."""
    best: dict[str, Tensor]
    """The weights of the best epoch."""
    best_epoch: int
    best_value: float
    history: list[dict[str, float]]
    fingerprint: dict[str, str]
    """What the run was started with, by name; a run with another fingerprint does not resume from this checkpoint."""


def save_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Writes a temporary file and renames it, so that a kill leaves either the old checkpoint or the new one."""
    content = {each.name: getattr(checkpoint, each.name) for each in fields(checkpoint)}
    write_in_one_step(path, lambda part: torch.save(content, part))


def load_checkpoint(path: Path, *, fingerprint: dict[str, str]) -> Checkpoint | None:
    """Returns the checkpoint, or None if there is none yet."""
    checkpoint = _read(path)
    if checkpoint is not None and (differences := _differences(checkpoint.fingerprint, fingerprint)):
        raise InputError(
            f"The checkpoint {path} belongs to a run with other settings ({differences}): "
            "give the same settings to resume it, or another --out to start a new run."
        )
    return checkpoint


def epochs_done(path: Path) -> int:
    """Returns how many epochs a run has finished according to its checkpoint, or 0 without one. Reads no weights."""
    checkpoint = _read(path, mapped=True)
    return 0 if checkpoint is None else checkpoint.epoch


def _read(path: Path, *, mapped: bool = False) -> Checkpoint | None:
    if not path.exists():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the pickle protocol; the file is rejected or read regardless
            checkpoint = Checkpoint(**torch.load(path, map_location="cpu", weights_only=True, mmap=mapped))
        checkpoint.fingerprint.items()  # older versions wrote a string
    except Exception as error:  # a damaged file can raise anything
        raise CheckpointError(
            f"The checkpoint {path} cannot be read ({type(error).__name__}): "
            "delete it to start again, or replace it with a good copy."
        ) from error
    return checkpoint


def _differences(before: dict[str, str], now: dict[str, str]) -> str:
    """Describes the differences between two fingerprints; hashes mean nothing to a reader and are left out.

    A setting that one side lacks belongs to another version. If its value is None it has no effect, so it is no
    difference.
    """
    names = [name for name in {**before, **now} if before.get(name, "None") != now.get(name, "None")]
    return "; ".join(
        f"other {name}"
        if any(side.get(name, "").startswith(HASH) for side in (before, now))
        else f"{name} was {before.get(name, 'unknown')}, is now {now.get(name, 'unknown')}"
        for name in names
    )
