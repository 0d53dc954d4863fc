"""The optimiser of a recipe."""

import torch
from torch import nn

from onepeak.training.recipe import Recipe


def make_optimizer(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """The recipe's optimiser over all parameters, in one group, as the paper has it."""
    match recipe.optimizer:
        case "sgd":
            return torch.optim.SGD(
                network.parameters(),
                lr=recipe.lr,
                momentum=recipe.momentum,
                nesterov=recipe.nesterov,
                weight_decay=recipe.weight_decay,
            )
        case "adamw":
            return torch.optim.AdamW(network.parameters(), lr=recipe.lr, weight_decay=recipe.weight_decay)
