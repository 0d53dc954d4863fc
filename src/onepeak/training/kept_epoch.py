"""Whether the epoch that validation chose says anything of the method that was trained."""

_FIRST = 2
_LEAST = 8
"""Of shorter trainings a second epoch is no early one."""


def hardly_trained(best_epoch: int, epochs: int, selected_by: str) -> bool:
    """Whether one of the first two epochs was chosen, though there were many.

    It happens where a training makes the chosen metric worse before it makes it better, or never makes it better.

    Args:
        best_epoch: The one that was kept, from 0.
        epochs: How many there were.
        selected_by: The metric; "last" chooses nothing.

    Example:
        >>> hardly_trained(1, 60, "mae"), hardly_trained(1, 3, "mae"), hardly_trained(24, 60, "mae")
        (True, False, False)
    """
    return selected_by != "last" and best_epoch < _FIRST and epochs >= _LEAST
