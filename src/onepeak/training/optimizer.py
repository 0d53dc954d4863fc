"""The optimiser of a recipe."""

from typing import Any

import torch
from torch import Tensor, nn

from onepeak.networks.network import Network
from onepeak.training.recipe import Recipe

_FACTOR = "factor"
"""Key of a parameter group's learning-rate factor."""


def make_optimizer(network: Network, recipe: Recipe) -> torch.optim.Optimizer:
    """Returns the recipe's optimiser over all parameters: in one group, as in the paper, or in two.

    The second group is for a method whose own parameters have a higher learning rate (`Method.own_rate`). On a GPU the
    learning rate is a tensor on the device, so that a recorded step follows it; see `set_learning_rate`.
    """
    groups, on_gpu = _groups(network, recipe), next(network.parameters()).is_cuda
    match recipe.optimizer:
        case "sgd":
            return torch.optim.SGD(
                groups,
                fused=on_gpu,
                momentum=recipe.momentum,
                nesterov=recipe.nesterov,
                weight_decay=recipe.weight_decay,
            )
        case "adamw":
            return torch.optim.AdamW(groups, fused=on_gpu, capturable=on_gpu, weight_decay=recipe.weight_decay)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Sets the learning rate of all parameters, in place if it is a tensor on a device."""
    for group in optimizer.param_groups:
        own = rate * group.get(_FACTOR, 1.0)
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(own)
        else:
            group["lr"] = own


def _groups(network: Network, recipe: Recipe) -> list[dict[str, Any]]:
    factor = network.method.own_rate
    own = [] if factor == 1 else list(network.method.parameters())
    others = [each for each in network.parameters() if not any(each is one for one in own)]
    return [_group(others, recipe, 1.0), *([_group(own, recipe, factor)] if own else [])]


def _group(parameters: list[nn.Parameter], recipe: Recipe, factor: float) -> dict[str, Any]:
    rate, device = recipe.lr * factor, parameters[0].device
    lr = torch.tensor(rate, device=device) if device.type == "cuda" else rate
    return {"params": parameters, "lr": lr, _FACTOR: factor}
