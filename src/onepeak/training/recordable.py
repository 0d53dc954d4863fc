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
    """Whether the steps of a training can be recorded: nothing in them looks at a number on the device.

    Args:
        method: What decides the loss.
        recipe: How it is trained; to clip gradients is to look at their norm.
        fabric: Device, precision and processes; the scaler of fp16 looks at the gradients.
    """
    return (
        graphs_are_on(fabric.device)
        and fabric.world_size == 1
        and getattr(fabric._precision, "scaler", None) is None
        and recipe.clip_norm is None
        and asks_for_no_number(method)
    )


def asks_for_no_number(method: Method) -> bool:
    """Whether a method's loss, on a GPU, never waits for a number: no `.item()`, no `if` on a tensor.

    It is computed on torch's "meta" device, whose tensors have a shape and no numbers. A method of a user's own that
    cannot be computed there for another reason is taken for one that asks.

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
    except Exception:  # whatever somebody's code makes of it
        return False
    return True
