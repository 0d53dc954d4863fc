"""The weight of each class in the loss."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from onepeak.errors import InputError


def class_weights(
    wanted: str | Sequence[float] | None, labels: npt.NDArray[np.int64], num_classes: int
) -> tuple[float, ...] | None:
    """Returns the weight of each class for a recipe's `class_weight` and the training labels.

    "balanced" is defined as in scikit-learn: every class that occurs has the same total weight, and the mean weight of
    a sample is 1. A class that does not occur, which only a validation loss can meet, gets the weight of the rarest
    class that does.

    Args:
        wanted: "balanced", one number per class, or None.
        labels: Labels of the training samples.
        num_classes: Number of classes.

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
            f"`class_weight` must be 'balanced' or {num_classes} numbers, one per class, got {len(wanted)} numbers.",
            argument="class_weight",
        )
    return tuple(float(weight) for weight in wanted)
