"""Whether the epoch that validation chose says anything of the method that was trained."""

_FIRST = 2
_LEAST = 8
"""Of shorter trainings a second epoch is no early one."""


def hardly_trained(best_epoch: int, epochs: int, selected_by: str, *, order: float, chance: float) -> bool:
    """Whether one of the first two epochs was chosen, though there were many, and knows no more of order than chance.

    It happens where a training makes the chosen metric worse before it makes it better, or never makes it better. On
    data that are learnt at once an early epoch is as good as any, and in order.

    Args:
        best_epoch: The one that was kept, from 0.
        epochs: How many there were.
        selected_by: The metric; "last" chooses nothing.
        order: The side order index of the one that was kept.
        chance: That of random posteriors; 1 for two classes, of which nothing can be said.

    Example:
        >>> hardly_trained(1, 60, "mae", order=0.55, chance=0.75), hardly_trained(1, 60, "mae", order=0.99, chance=0.75)
        (True, False)
    """
    early = selected_by != "last" and best_epoch < _FIRST and epochs >= _LEAST
    return bool(early and order <= chance < 1)
