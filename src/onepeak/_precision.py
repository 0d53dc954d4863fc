"""How many digits to work with."""

from torch import Tensor


def full_precision(tensor: Tensor) -> Tensor:
    """Half precision as float32: a sum over many classes and a difference of near equals need its digits."""
    return tensor.float() if tensor.dtype.itemsize < 4 else tensor
