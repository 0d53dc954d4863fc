"""The optimiser of a recipe."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from onepeak.networks.network import Network
from onepeak.networks.text_encoder import TrainedText
from onepeak.training.recipe import Recipe

_FACTOR = "factor"
"""Key of a parameter group's learning-rate factor."""


def make_optimizer(network: Network, recipe: Recipe) -> torch.optim.Optimizer:
    """Returns the recipe's optimiser over all parameters: in one group, as in the paper, or in more.

    A method whose own parameters have a higher learning rate (`Method.own_rate`) has a group, and so has an encoder of
    texts that is trained (`Recipe.encoder_lr`). On a GPU the
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
    of_method = [] if factor == 1 else list(network.method.parameters())
    of_encoder = list(network.backbone.encoder.parameters()) if isinstance(network.backbone, TrainedText) else []
    own = {id(each) for each in (*of_method, *of_encoder)}
    others = [each for each in network.parameters() if id(each) not in own]
    groups = [(others, 1.0), (of_method, factor), (of_encoder, (recipe.encoder_lr or recipe.lr) / recipe.lr)]
    return [_group(parameters, recipe, factor) for parameters, factor in groups if parameters]


def _group(parameters: list[nn.Parameter], recipe: Recipe, factor: float) -> dict[str, Any]:
    rate, device = recipe.lr * factor, parameters[0].device
    lr = torch.tensor(rate, device=device) if device.type == "cuda" else rate
    return {"params": parameters, "lr": lr, _FACTOR: factor}


def learning_rate(recipe: Recipe, epoch: int) -> float:
    """Returns the learning rate of an epoch, which depends only on the recipe and the epoch's number.

    Example:
        >>> paper = Recipe(epochs=1000, lr=1e-3, schedule="step", step_every=100, step_factor=0.1, lr_floor=1e-7)
        >>> [f"{learning_rate(paper, epoch):.0e}" for epoch in (0, 99, 100, 250, 999)]
        ['1e-03', '1e-03', '1e-04', '1e-05', '1e-07']
    """
    if epoch < recipe.warmup_epochs:
        return recipe.lr * (epoch + 1) / (recipe.warmup_epochs + 1)
    match recipe.schedule:
        case "constant":
            rate = recipe.lr
        case "step":
            rate = recipe.lr * recipe.step_factor ** (epoch // recipe.step_every)
        case "cosine":
            share = (epoch - recipe.warmup_epochs) / max(1, recipe.epochs - recipe.warmup_epochs)
            rate = recipe.lr * 0.5 * (1 + math.cos(math.pi * share))
    return max(rate, min(recipe.lr_floor, recipe.lr))
