"""Whether the epoch that validation chose is representative of the method that was trained."""

import torch

from onepeak._shapes import Labels

_FIRST = 2
_LEAST = 8
"""In shorter trainings the second epoch is not early."""

_ROUNDING = 1e-6
"""Allows for metrics that were summed in float32."""


def hardly_trained(best_epoch: int, epochs: int, selected_by: str, *, order: float, chance: float) -> bool:
    """Returns whether one of the first two of many epochs was chosen, with a side order index no better than chance.

    This happens if training makes the selection metric worse before it makes it better, or never improves it. On data
    that are learnt at once, an early epoch is as good as any other, and its posteriors are in order.

    Args:
        best_epoch: The epoch that was kept, from 0.
        epochs: Planned number of epochs; patience may have stopped training earlier.
        selected_by: The selection metric; "last" selects nothing.
        order: The side order index of the epoch that was kept.
        chance: The side order index of random posteriors; 1 for two classes, where the check does not apply.

    Example:
        >>> hardly_trained(1, 60, "mae", order=0.55, chance=0.75), hardly_trained(1, 60, "mae", order=0.99, chance=0.75)
        (True, False)
    """
    early = selected_by != "last" and best_epoch < _FIRST and epochs >= _LEAST
    return bool(early and order <= chance < 1)


def best_constant(labels: Labels, num_classes: int) -> tuple[int, float]:
    """Returns the constant prediction with the lowest mean absolute error, and that error; the lowest label of a tie.

    Args:
        labels: True labels, at least one.
        num_classes: Number of classes.

    Example:
        >>> best_constant(torch.tensor([0, 0, 1, 3]), 4)
        (0, 1.0)
    """
    errors = (labels.double() - torch.arange(num_classes).unsqueeze(1)).abs().mean(dim=1)
    return int(errors.argmin()), float(errors.min())


def no_better_than_constant(mae: float, constant: float) -> bool:
    """Returns whether a mean absolute error is no lower than that of the best constant prediction for the same samples.

    That is true of every network that predicts the same label for all samples. It need not mean that the network is
    bad: if most labels are equal, a constant prediction is hard to beat.

    Args:
        mae: The network's error.
        constant: The error of `best_constant`; for 0 (a single label) or NaN (unknown) the result is False.

    Example:
        >>> no_better_than_constant(0.67, 0.67), no_better_than_constant(0.5, 0.67), no_better_than_constant(0.0, 0.0)
        (True, False, False)
    """
    return bool(constant > 0 and mae >= constant * (1 - _ROUNDING))


def never_predicted(labels: Labels, predicted: Labels) -> dict[int, int]:
    """Returns the classes that occur but are never predicted, usually rare ones, with their numbers of samples.

    Args:
        labels: True labels.
        predicted: Predicted labels.

    Example:
        >>> never_predicted(torch.tensor([0, 0, 0, 1, 2, 2]), torch.tensor([0, 0, 1, 0, 0, 0]))
        {2: 2}
    """
    counts, said = torch.bincount(labels), set(predicted.tolist())
    return {label: count for label, count in enumerate(counts.tolist()) if count and label not in said}
