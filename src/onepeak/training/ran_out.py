"""Whether training ran out of epochs while it was still improving."""

import math
from collections.abc import Sequence
from pathlib import Path

from onepeak._extras import require
from onepeak.metrics.catalog import METRICS
from onepeak.training.history import HISTORY

SHARE = 0.05
"""Largest share of the whole gain that may come late. With a cosine schedule the second half of the epochs has 18 % of
the total learning rate: training that has converged gains almost nothing there, other training about that share."""


def ran_out(values: Sequence[float]) -> bool:
    """Returns whether the best value came in the last quarter and the second half brought over a twentieth of the gain.

    It is not enough that the last epoch is the best: as the learning rate falls to zero, the value settles from above,
    and each epoch is slightly better than the one before.

    Args:
        values: A loss, or another value where lower is better, of a training that was not stopped early: before the
            first epoch, if known, and after every epoch.

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
    """Returns the selection metric after every epoch, negated if higher is better; empty if nothing was selected.

    Args:
        folder: The run's folder.
        selected_by: The validation metric, "loss", or "last".
    """
    if selected_by == "last":
        return []
    pandas = require("pandas", extra="data", purpose="The history")
    values = pandas.read_csv(folder / HISTORY)[f"valid_{selected_by}"]
    higher = selected_by != "loss" and METRICS[selected_by].higher_is_better
    listed: list[float] = (-values if higher else values).fillna(math.inf).tolist()  # undefined is never the best
    return listed
