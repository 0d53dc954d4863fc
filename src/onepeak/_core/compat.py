"""Interfaces of other packages that they do not promise to keep, each in one function with a test."""

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from lightning.fabric import Fabric


def precision_of(fabric: "Fabric") -> str:
    """Returns Lightning's name of a fabric's precision, such as "32-true"."""
    return str(fabric._precision.precision)


def loss_scaler_of(fabric: "Fabric") -> torch.amp.GradScaler | None:
    """Returns the scaler of the loss, which only fp16 has."""
    scaler: torch.amp.GradScaler | None = getattr(fabric._precision, "scaler", None)
    return scaler
