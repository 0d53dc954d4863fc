"""Which trainings can be recorded as CUDA graphs."""

import copy
from typing import TYPE_CHECKING

import torch

from onepeak.methods.method import Method
from onepeak.training.graph import graphs_are_on
from onepeak.training.recipe import Recipe

if TYPE_CHECKING:
    from lightning.fabric import Fabric


def can_be_recorded(method: Method, recipe: Recipe, *, fabric: "Fabric") -> bool:
    """Returns whether training steps can be recorded: nothing in them may read a number from the device.

    Args:
        method: The method, for its loss.
        recipe: The recipe; clipping gradients reads their norm.
        fabric: Device, precision and processes; the loss scaler of fp16 reads the gradients.
    """
    return (
        graphs_are_on(fabric.device)
        and fabric.world_size == 1
        and getattr(fabric._precision, "scaler", None) is None
        and recipe.clip_norm is None
        and asks_for_no_number(method)
    )


def asks_for_no_number(method: Method) -> bool:
    """Returns whether a method's loss never reads a number from the device: no `.item()`, no `if` on a tensor.

    The loss is computed on torch's "meta" device, whose tensors have shapes but no values. A custom method that fails
    there for another reason counts as one that reads numbers.

    Args:
        method: The method; it is not changed.

    Example:
        >>> import onepeak
        >>> asks_for_no_number(onepeak.method("elb", num_classes=5))
        True
    """
    try:
        there = copy.deepcopy(method).to("meta")
        outputs = torch.empty(4, method.num_outputs, device="meta", requires_grad=True)
        there.loss(outputs, torch.empty(4, dtype=torch.int64, device="meta"), reduction="mean").backward()
    except Exception:  # a custom method may raise anything
        return False
    return True
