"""Early stopping."""

from onepeak._listing import counted
from onepeak.training.recipe import Recipe


def has_stalled(epoch: int, *, best_epoch: int, patience: int | None) -> bool:
    """Returns whether training stops after an epoch, because the best one is `patience` epochs back.

    It keeps no counter, so a resumed training stops where it would have stopped without the interruption.

    Args:
        epoch: The last epoch that was trained and validated, from 0.
        best_epoch: The best epoch by validation, from 0.
        patience: The recipe's patience; None to run all epochs.

    Example:
        >>> [has_stalled(epoch, best_epoch=4, patience=2) for epoch in (4, 5, 6)]
        [False, False, True]
    """
    return patience is not None and epoch - best_epoch >= patience


def epochs_in_words(recipe: Recipe) -> str:
    """Describes the number of epochs, as far as it is known before training.

    Example:
        >>> epochs_in_words(Recipe(epochs=60)), epochs_in_words(Recipe(epochs=60, patience=5))
        ('60 epochs', 'at most 60 epochs')
    """
    return f"{'' if recipe.patience is None else 'at most '}{counted(recipe.epochs, 'epoch')}"
