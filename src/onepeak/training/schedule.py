"""The learning rate of every epoch."""

import math

from onepeak.training.recipe import Recipe


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
