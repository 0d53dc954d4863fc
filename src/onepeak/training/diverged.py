"""The error for training that has diverged."""

from onepeak.errors import OnepeakError


class DivergedError(OnepeakError):
    """The loss is no longer a number."""


def diverged(what: str, *, epoch: int, step: int, learning_rate: float, precision: str) -> DivergedError:
    """Makes the error, with the likely cause.

    Example:
        >>> diverged("loss is not a number", epoch=3, step=7, learning_rate=10.0, precision="32-true")
        DivergedError('The loss is not a number at epoch 3, step 7. Probably the learning rate of 10 is too high. The
        checkpoint of an earlier epoch, if there is one, is kept.')
    """
    likely = f"the learning rate of {learning_rate:g} is too high"
    if "16" in precision:
        likely += ", or half precision overflowed (try --precision fp32)"
    return DivergedError(
        f"The {what} at epoch {epoch}, step {step}. Probably {likely}. The checkpoint of an earlier epoch, if there is "
        "one, is kept."
    )
