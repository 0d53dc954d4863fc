"""The course of a metric with a value at every epoch, where a history kept only some of them."""

import numpy as np
import numpy.typing as npt


def at_every_epoch(epochs: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """One value an epoch, from 0 to the last one kept; between two that were kept the course is a straight line.

    Args:
        epochs: Those kept, in rising order, at least one.
        values: The metric at each.

    Example:
        >>> at_every_epoch(np.array([0, 2, 5]), np.array([4.0, 2.0, 5.0]))
        array([4., 3., 2., 3., 4., 5.])
    """
    course: npt.NDArray[np.float64] = np.interp(np.arange(epochs[-1] + 1), epochs, values)
    return course
