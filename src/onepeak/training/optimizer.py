"""The optimiser of a recipe."""

import torch
from torch import Tensor, nn

from onepeak.training.recipe import Recipe


def make_optimizer(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """The recipe's optimiser over all parameters, in one group, as the paper has it.

    On a GPU the learning rate is a number on the device, so that a recorded step follows it; see `set_learning_rate`.
    """
    device = next(network.parameters()).device
    on_gpu = device.type == "cuda"
    lr = torch.tensor(recipe.lr, device=device) if on_gpu else recipe.lr
    match recipe.optimizer:
        case "sgd":
            return torch.optim.SGD(
                network.parameters(),
                lr=lr,
                fused=on_gpu,
                momentum=recipe.momentum,
                nesterov=recipe.nesterov,
                weight_decay=recipe.weight_decay,
            )
        case "adamw":
            return torch.optim.AdamW(
                network.parameters(), lr=lr, fused=on_gpu, capturable=on_gpu, weight_decay=recipe.weight_decay
            )


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Sets the learning rate of all parameters, in place where it is a number on a device."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate
