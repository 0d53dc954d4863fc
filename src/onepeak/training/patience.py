"""When a training that gets no better stops before its last epoch."""

from onepeak._listing import counted
from onepeak.training.recipe import Recipe


def has_stalled(epoch: int, *, best_epoch: int, patience: int | None) -> bool:
    """Whether an epoch ends a training: the best one is as many epochs back as the patience lasts.

    It needs no count of its own, so a training that goes on from a checkpoint stops where it would have stopped.

    Args:
        epoch: The last one that was trained and validated, from 0.
        best_epoch: The one that validation found best, from 0.
        patience: Of the recipe; None to run all epochs.

    Example:
        >>> [has_stalled(epoch, best_epoch=4, patience=2) for epoch in (4, 5, 6)]
        [False, False, True]
    """
    return patience is not None and epoch - best_epoch >= patience


def epochs_in_words(recipe: Recipe) -> str:
    """How many epochs a training has, as far as that is known before it.

    Example:
        >>> epochs_in_words(Recipe(epochs=60)), epochs_in_words(Recipe(epochs=60, patience=5))
        ('60 epochs', 'at most 60 epochs')
    """
    return f"{'' if recipe.patience is None else 'at most '}{counted(recipe.epochs, 'epoch')}"
