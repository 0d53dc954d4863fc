"""Which runs of two methods belong together: those of the same split and fold."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.data.frame_types import Frame
from onepeak.data.listing import listed
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Two methods on the splits and folds that both have run."""

    differences: npt.NDArray[np.float64]
    """The first method's figure minus the second's, one a pair."""
    test_train_ratio: float
    """Samples tested on by samples trained on, on average over the pairs; NaN where there is no pair."""


def paired(results: Frame, column: str, first: str, second: str) -> Pairs:
    """The differences of two methods' runs on one data set.

    A split and fold that one of the two has not run, or whose figure is not defined, is left out.

    Args:
        results: Runs on one data set, as `read_results` gives them.
        column: Which figure, such as `test_mae`.
        first: The label of one method.
        second: The label of the other.
    """
    key = ["split", "fold"]
    sides = [
        results.loc[results["label"] == label, [*key, "num_train", "num_test", column]] for label in (first, second)
    ]
    for label, side in zip((first, second), sides, strict=True):
        twice = side[side.duplicated(key)]
        if len(twice):
            names = (f"split{row.split}-fold{row.fold}" for row in twice.itertuples())
            raise InputError(f"`results` must have one run of {label!r} a split and fold, got more of {listed(names)}.")
    both = sides[0].merge(sides[1], on=key, suffixes=("", "_second")).dropna().sort_values(key)
    return Pairs(
        differences=(both[column] - both[f"{column}_second"]).to_numpy(dtype=np.float64),
        test_train_ratio=float((both["num_test"] / both["num_train"]).mean()),
    )
