"""Whether a training went well: which epoch was kept, whether it ran out of epochs, and early stopping."""

import math
from collections.abc import Sequence
from pathlib import Path

import torch

from onepeak._core.tensors import Labels
from onepeak._core.wording import counted
from onepeak.errors import InputError
from onepeak.metrics.catalog import METRICS
from onepeak.training.out_folder import HISTORY, history_columns
from onepeak.training.recipe import Recipe

_FIRST = 2
_LEAST = 8
"""In shorter trainings the second epoch is not early."""

_ROUNDING = 1e-6
"""Allows for metrics that were summed in float32."""


def hardly_trained(best_epoch: int, epochs: int, selected_by: str, *, order: float, chance: float) -> bool:
    """Returns whether one of the first two of many epochs was chosen, with a side order index no better than chance.

    This happens if training makes the selection metric worse before it makes it better, or never improves it. On data
    that are learnt at once, an early epoch is as good as any other, and its posteriors are in order.
    """
    early = selected_by != "last" and best_epoch < _FIRST and epochs >= _LEAST
    return bool(early and order <= chance < 1)


def best_constant(labels: Labels, num_classes: int) -> tuple[int, float]:
    """Returns the constant prediction with the lowest mean absolute error, and that error; the lowest label of a tie.

    Example:
        >>> best_constant(torch.tensor([0, 0, 1, 3]), 4)
        (0, 1.0)
    """
    errors = (labels.double() - torch.arange(num_classes).unsqueeze(1)).abs().mean(dim=1)
    return int(errors.argmin()), float(errors.min())


def no_better_than_constant(mae: float, constant: float) -> bool:
    """Returns whether a mean absolute error is no lower than that of the best constant prediction for the same samples.

    It need not mean that the network is bad: if most labels are equal, a constant prediction is hard to beat.
    """
    return bool(constant > 0 and mae >= constant * (1 - _ROUNDING))


def never_predicted(labels: Labels, predicted: Labels) -> dict[int, int]:
    """Returns the classes that occur but are never predicted, usually rare ones, with their numbers of samples.

    Example:
        >>> never_predicted(torch.tensor([0, 0, 0, 1, 2, 2]), torch.tensor([0, 0, 1, 0, 0, 0]))
        {2: 2}
    """
    counts, said = torch.bincount(labels), set(predicted.tolist())
    return {label: count for label, count in enumerate(counts.tolist()) if count and label not in said}


SHARE = 0.05
"""Largest share of the whole gain that may come late. With a cosine schedule the second half of the epochs has 18 % of
the total learning rate: training that has converged gains almost nothing there, other training about that share."""


def ran_out(values: Sequence[float]) -> bool:
    """Returns whether the best value came in the last quarter and the second half brought over a twentieth of the gain.

    The values are of a loss, or another value where lower is better: before the first epoch, if known, and after every
    epoch. It is not enough that the last epoch is the best: as the learning rate falls to zero, the value settles from
    above, and each epoch is slightly better than the one before.

    Example:
        >>> ran_out([2.0, 1.8, 1.6, 1.5, 1.4]), ran_out([2.0, 1.1, 1.0, 0.99, 0.98])
        (True, False)
    """
    best = min(range(len(values)), key=lambda epoch: values[epoch])
    first = next((value for value in values if math.isfinite(value)), values[0])
    early = min(values[: (len(values) + 1) // 2])
    if not math.isfinite(early):
        early = first  # a metric that becomes defined is no gain
    late = best >= 0.75 * (len(values) - 1) and early - values[best] > SHARE * (first - values[best])
    return bool(late)


def values_to_lower(folder: Path, selected_by: str) -> list[float]:
    """Returns the selection metric after every epoch, negated if higher is better; empty if nothing was selected."""
    if selected_by == "last":
        return []
    name = f"valid_{selected_by}"
    if name not in (columns := history_columns(folder)):
        raise InputError(f"{folder / HISTORY} must have the column {name!r}, by which the epoch was selected.")
    return [to_lower(value, selected_by) for value in columns[name].tolist()]


def to_lower(value: float, select: str) -> float:
    """Returns a value of a validation metric so that the lowest is the best, which an undefined one never is.

    Example:
        >>> to_lower(0.9, "accuracy"), to_lower(0.9, "mae"), to_lower(math.nan, "mae")
        (-0.9, 0.9, inf)
    """
    if not math.isfinite(value):
        return math.inf
    return -value if select in METRICS and METRICS[select].higher_is_better else value


def has_stalled(epoch: int, *, best_epoch: int, patience: int | None) -> bool:
    """Returns whether training stops after an epoch, because the best one is `patience` epochs back.

    It keeps no counter, so a resumed training stops where it would have stopped without the interruption.
    """
    return patience is not None and epoch - best_epoch >= patience


def epochs_in_words(recipe: Recipe) -> str:
    """Describes the number of epochs, as far as it is known before training."""
    return f"{'' if recipe.patience is None else 'at most '}{counted(recipe.epochs, 'epoch')}"
