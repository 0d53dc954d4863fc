"""How much each class counts in the loss."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from onepeak.errors import InputError


def class_weights(
    wanted: str | Sequence[float] | None, labels: npt.NDArray[np.int64], num_classes: int
) -> tuple[float, ...] | None:
    """The weight of each class that a recipe's `class_weight` means for some training labels.

    "balanced" is scikit-learn's: every class that occurs weighs the same in sum, and a sample weighs 1 in the mean. A
    class that does not occur, which only a validation loss can meet, gets the weight of the rarest that does.

    Args:
        wanted: "balanced", a number a class, or None.
        labels: Of the samples to train on.
        num_classes: How many classes there are.

    Example:
        >>> class_weights("balanced", np.array([0, 0, 0, 1]), 3)
        (0.666..., 2.0, 2.0)
    """
    if wanted is None:
        return None
    if isinstance(wanted, str):
        counts = np.bincount(labels, minlength=num_classes)
        found = counts[counts > 0]
        weights = counts.sum() / (len(found) * counts.clip(min=found.min()))
        return tuple(weights.tolist())
    if len(wanted) != num_classes:
        raise InputError(
            f"`class_weight` must be 'balanced' or {num_classes} numbers, one a class, got {len(wanted)} of them."
        )
    return tuple(float(weight) for weight in wanted)
