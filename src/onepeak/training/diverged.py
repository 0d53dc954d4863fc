"""When training has run away."""

from onepeak.errors import OnepeakError


class DivergedError(OnepeakError):
    """The loss is no longer a number."""


def diverged(what: str, *, epoch: int, step: int, learning_rate: float, precision: str) -> DivergedError:
    """The error, with the likely cause.

    Example:
        >>> diverged("loss is not a number", epoch=3, step=7, learning_rate=10.0, precision="32-true")
        DivergedError('The loss is not a number at epoch 3, step 7. Likely the learning rate of 10 is too high. The
        checkpoint of an epoch before, if there is one, is kept.')
    """
    likely = f"the learning rate of {learning_rate:g} is too high"
    if "16" in precision:
        likely += ", or half precision overflowed (try --precision fp32)"
    return DivergedError(
        f"The {what} at epoch {epoch}, step {step}. Likely {likely}. The checkpoint of an epoch before, if there is "
        "one, is kept."
    )
