"""Whether the epoch that validation chose says anything of the method that was trained."""

import torch

from onepeak._shapes import Labels

_FIRST = 2
_LEAST = 8
"""Of shorter trainings a second epoch is no early one."""

_ROUNDING = 1e-6
"""Metrics are summed in float32."""


def hardly_trained(best_epoch: int, epochs: int, selected_by: str, *, order: float, chance: float) -> bool:
    """Whether one of the first two epochs was chosen, though there were many, and knows no more of order than chance.

    It happens where a training makes the chosen metric worse before it makes it better, or never makes it better. On
    data that are learnt at once an early epoch is as good as any, and in order.

    Args:
        best_epoch: The one that was kept, from 0.
        epochs: How many there were to be; patience may have ended it before.
        selected_by: The metric; "last" chooses nothing.
        order: The side order index of the one that was kept.
        chance: That of random posteriors; 1 for two classes, of which nothing can be said.

    Example:
        >>> hardly_trained(1, 60, "mae", order=0.55, chance=0.75), hardly_trained(1, 60, "mae", order=0.99, chance=0.75)
        (True, False)
    """
    early = selected_by != "last" and best_epoch < _FIRST and epochs >= _LEAST
    return bool(early and order <= chance < 1)


def best_constant(labels: Labels, num_classes: int) -> tuple[int, float]:
    """The one label that is nearest to all others on average, and its mean absolute error; the lowest of equals.

    Args:
        labels: At least one.
        num_classes: How many there could be.

    Example:
        >>> best_constant(torch.tensor([0, 0, 1, 3]), 4)
        (0, 1.0)
    """
    errors = (labels.double() - torch.arange(num_classes).unsqueeze(1)).abs().mean(dim=1)
    return int(errors.argmin()), float(errors.min())


def no_better_than_constant(mae: float, constant: float) -> bool:
    """Whether a mean absolute error is no lower than that of the best constant answer to the same samples.

    That holds for all networks that give one answer to everything. It is a fact and no verdict: where most labels are
    alike, one answer is hard to beat.

    Args:
        mae: Of the network.
        constant: That of `best_constant`; of 0 (one label only) or NaN (not known) nothing can be said.

    Example:
        >>> no_better_than_constant(0.67, 0.67), no_better_than_constant(0.5, 0.67), no_better_than_constant(0.0, 0.0)
        (True, False, False)
    """
    return bool(constant > 0 and mae >= constant * (1 - _ROUNDING))


def never_predicted(labels: Labels, predicted: Labels) -> dict[int, int]:
    """The classes of samples that are never the answer, and how many samples each has: rare ones, most often.

    Args:
        labels: The true classes.
        predicted: The answers.

    Example:
        >>> never_predicted(torch.tensor([0, 0, 0, 1, 2, 2]), torch.tensor([0, 0, 1, 0, 0, 0]))
        {2: 2}
    """
    counts, said = torch.bincount(labels), set(predicted.tolist())
    return {label: count for label, count in enumerate(counts.tolist()) if count and label not in said}
