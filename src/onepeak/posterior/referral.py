"""Which samples to refer to a person: uncertainties, the risk that is left, and thresholds with a confidence bound."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor

from onepeak._core.check import check_choice, check_number
from onepeak.errors import InputError
from onepeak.posterior.conformal import binomial_at_most, sizes
from onepeak.posterior.predictions import Combine, Predictions

Uncertainty: TypeAlias = Literal["probability", "interval", "entropy", "expected error", "distance"]
"""What a sample is referred by, more being less sure: the probability of the classes that must not be missed, or of any
class but the predicted one; the interval's upper end, or its size; the entropy of the posterior; the mean distance of
the truth from the prediction by the posterior; the distance from the training samples."""


UNLIKE = "unlike the training"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """When a person is asked; `onepeak refer --save` keeps it with the model.

    Example:
        >>> log_probs = torch.tensor([[0.8, 0.1, 0.1], [0.3, 0.4, 0.3]]).log()
        >>> found = Predictions(classes=("I", "II", "III"), predicted_index=log_probs.argmax(1), log_probs=log_probs)
        >>> Policy(uncertainty="probability", threshold=0.25, at_least=2).reasons(found)
        (None, 'may be III or above')
    """

    uncertainty: Uncertainty
    threshold: float
    """A sample is referred if its uncertainty is at least this; infinity refers none, minus infinity all."""
    at_least: int | None = None
    """The lowest class that must not be missed; None where it is errors of any class that count."""
    promise: str = ""
    """What the policy was set to hold, in words."""
    combine: Combine | None = None
    """How samples were combined to the groups it was set on, such as patients; None if it was set on samples."""

    def __post_init__(self) -> None:
        check_choice("uncertainty", self.uncertainty, get_args(Uncertainty))
        if self.combine is not None:
            check_choice("combine", self.combine, get_args(Combine))

    def reasons(self, found: Predictions) -> tuple[str | None, ...]:
        """Returns why each sample is referred, None for those that are not; an unlike one always is."""
        values = uncertainty_of(found, self.uncertainty, at_least=self.at_least)
        why = f"{self.uncertainty} too high"
        if self.at_least is not None:
            name = found.classes[self.at_least] if found.classes else str(self.at_least)
            why = f"may be {name} or above"
        unlike = found.unlike or ((),) * len(found)
        return tuple(
            UNLIKE if odd else (why if value >= self.threshold else None)
            for value, odd in zip(values.tolist(), unlike, strict=True)
        )


def uncertainty_of(found: Predictions, name: Uncertainty, *, at_least: int | None = None) -> Tensor:
    """Returns one number per sample, in float64; see `Uncertainty`."""
    probs = found.log_probs.double().exp()
    labels = torch.arange(probs.shape[-1])
    match name:
        case "probability" if at_least is not None:
            return probs[:, at_least:].sum(dim=-1)
        case "probability":
            return 1 - probs.gather(1, found.predicted_index[:, None]).squeeze(1)
        case "entropy":
            return -(probs * found.log_probs.double().clamp(min=-1e3)).sum(dim=-1)
        case "expected error":
            return (probs * (labels - found.predicted_index[:, None]).abs()).sum(dim=-1)
        case "interval" if found.intervals is not None:
            return (found.intervals[:, 1] if at_least is not None else sizes(found.intervals)).double()
        case "distance" if found.distance is not None:
            return found.distance.double()
    raise InputError(f"`uncertainty` {name!r} needs a model that has it: train it again, or choose another.")


def uncertainties(found: Predictions) -> tuple[Uncertainty, ...]:
    """Returns the names of what these predictions can be referred by."""
    without = {"interval": found.intervals, "distance": found.distance}
    return tuple(name for name in get_args(Uncertainty) if without.get(name, name) is not None)


def sensitivity_threshold(values: Tensor, positive: Tensor, sensitivity: float, *, confidence: float) -> float | None:
    r"""Returns the highest threshold at or above which a share of all positive samples lies, at least `sensitivity`.

    With n positive samples, the threshold leaves out as many as :math:`m`, the largest number for which
    :math:`P(\mathrm{Bin}(n, 1 - s) \le m) \le 1 - c`: over samples like these, it then holds the sensitivity s with
    confidence c (a tolerance limit, distribution-free).

    Returns:
        The threshold; None if there are too few positive samples for any.
    """
    check_number("sensitivity", sensitivity, above=0, below=1)
    check_number("confidence", confidence, above=0, below=1)
    ordered = values[positive].sort().values
    missed = -1
    while missed + 1 < len(ordered) and binomial_at_most(missed + 1, len(ordered), 1 - sensitivity) <= 1 - confidence:
        missed += 1
    return None if missed < 0 else float(ordered[missed])


def error_threshold(values: Tensor, wrong: Tensor, error: float, *, confidence: float) -> float | None:
    r"""Returns the highest threshold below which at most a share `error` of the predictions is wrong.

    Of 20 thresholds, which answer 5, 10, ... 100 % of the samples, it is the highest at which a binomial test rejects a
    larger error at the level :math:`(1 - c) / 20`: over samples like these, the error then holds with confidence c
    (Learn then test; Angelopoulos et al. 2021). None if no threshold does.
    """
    check_number("error", error, above=0, below=1)
    check_number("confidence", confidence, above=0, below=1)
    ordered = values.sort().values
    found = None
    for step in range(1, _STEPS + 1):
        place = len(ordered) * step // _STEPS
        threshold = float(ordered[place]) if place < len(ordered) else math.inf
        answered = values < threshold
        count = int(answered.sum())
        if count and binomial_at_most(int(wrong[answered].sum()), count, error) <= (1 - confidence) / _STEPS:
            found = threshold
    return found


_STEPS = 20


def risk_coverage(values: Tensor, losses: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the shares that are answered, from 1/n to 1, and the mean loss of those, the surest first."""
    order = values.argsort(stable=True)
    count = torch.arange(1, len(values) + 1, dtype=torch.float64)
    return count / len(values), losses.double()[order].cumsum(0) / count


def area_under_roc(values: Tensor, positive: Tensor) -> float:
    """Returns how often a positive sample has a higher value than another; ties count half."""
    yes, no = values[positive].double(), values[~positive].double().sort().values
    if not len(yes) or not len(no):
        return math.nan
    below = (torch.searchsorted(no, yes) + torch.searchsorted(no, yes, right=True)).double() / 2
    return float(below.mean() / len(no))
