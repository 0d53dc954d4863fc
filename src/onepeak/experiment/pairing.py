"""Pairs the runs of two methods by split and fold."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from onepeak._registry import unknown_name
from onepeak.data.frame_types import Frame
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Two methods on the splits and folds that both have run."""

    differences: npt.NDArray[np.float64]
    """The first method's value minus the second's, one per pair."""
    test_train_ratio: float
    """Test samples divided by training samples, averaged over the pairs; NaN without pairs."""


def paired(results: Frame, column: str, first: str, second: str) -> Pairs:
    """Returns the differences between two methods' runs on one data set.

    A split and fold that one of the two has not run, or whose value is not defined, is left out.

    Args:
        results: Runs on one data set, from `read_results`.
        column: The metric column, such as `test_mae`.
        first: The label of one method.
        second: The label of the other.

    Example:
        >>> import pandas as pd
        >>> runs = pd.DataFrame({"label": ["elb", "elb", "ce", "ce"], "split": [0, 1, 0, 1], "fold": 0})
        >>> runs = runs.assign(test_mae=[0.5, 0.75, 1.0, 1.0], num_test=20, num_train=60)
        >>> paired(runs, "test_mae", "elb", "ce").differences
        array([-0.5 , -0.25])
    """
    for label in (first, second):
        if label not in set(results["label"]):
            raise unknown_name("row of `results`", label, dict.fromkeys(results["label"]))
    return pairs_there_are(results, column, first, second)


def pairs_there_are(results: Frame, column: str, first: str, second: str) -> Pairs:
    """The same; empty if a method has no run."""
    one, other = _by_split(results, column, first), _by_split(results, column, second)
    shared = sorted(one.keys() & other.keys())
    ratios = [one[key].test_train_ratio for key in shared]
    return Pairs(
        differences=np.array([one[key].value - other[key].value for key in shared], dtype=np.float64),
        test_train_ratio=float(np.mean(ratios)) if ratios else np.nan,
    )


class _Figure(NamedTuple):
    value: float
    test_train_ratio: float


def _by_split(results: Frame, column: str, label: str) -> dict[tuple[int, int], _Figure]:
    """The defined values of one method, by split and fold."""
    own = (results["label"] == label).to_numpy()
    names = ("split", "fold", column, "num_test", "num_train")
    columns = [results[name].to_numpy()[own].tolist() for name in names]
    found: dict[tuple[int, int], _Figure] = {}
    for split, fold, value, num_test, num_train in zip(*columns, strict=True):
        if (split, fold) in found:
            raise InputError(f"`results` must have one run of {label!r} on split {split}, fold {fold}, got more.")
        found[split, fold] = _Figure(value=value, test_train_ratio=num_test / num_train)
    return {key: figure for key, figure in found.items() if not np.isnan(figure.value)}
