"""Whether the epochs of a training ran out while it was still getting better."""

import math
from collections.abc import Sequence
from pathlib import Path

from onepeak._extras import require
from onepeak.metrics.catalog import METRICS
from onepeak.training.history import HISTORY

SHARE = 0.05
"""How much of the whole gain may come late. A rate that falls along a cosine leaves the second half of the epochs 18 %
of all its steps: a training that has arrived gains next to nothing there, one that has not about that much."""


def ran_out(values: Sequence[float]) -> bool:
    """Whether the best value came in the last quarter, and the second half brought more than a twentieth of the gain.

    That the last epoch is the best alone says little: as the learning rate falls to nothing, what is measured settles
    from above, and each epoch is better than the one before by a hair.

    Args:
        values: A loss, or another number of which the lowest is the best, over a training that was not stopped early:
            before it, where that is known, and after every epoch.

    Example:
        >>> ran_out([2.0, 1.8, 1.6, 1.5, 1.4]), ran_out([2.0, 1.1, 1.0, 0.99, 0.98])
        (True, False)
    """
    best = min(range(len(values)), key=lambda epoch: values[epoch])
    first = next((value for value in values if math.isfinite(value)), values[0])
    early = min(values[: (len(values) + 1) // 2])
    if not math.isfinite(early):
        early = first  # that the metric came to be defined is no gain
    late = best >= 0.75 * (len(values) - 1) and early - values[best] > SHARE * (first - values[best])
    return bool(late)


def values_to_lower(folder: Path, selected_by: str) -> list[float]:
    """What chose the epoch, after every one, turned so that the lowest is the best; nothing where none was chosen.

    Args:
        folder: Of the run.
        selected_by: The validation metric, "loss", or "last".
    """
    if selected_by == "last":
        return []
    pandas = require("pandas", extra="data", purpose="The history")
    values = pandas.read_csv(folder / HISTORY)[f"valid_{selected_by}"]
    higher = selected_by != "loss" and METRICS[selected_by].higher_is_better
    listed: list[float] = (-values if higher else values).fillna(math.inf).tolist()  # undefined is never the best
    return listed
