"""A device without float64, as Apple's GPUs are, for machines that have none."""

import torch
from torch import Tensor


def moved(tensor):
    """What `module.to("mps")` asks for every tensor: the device refuses float64."""
    if tensor.dtype == torch.float64:
        raise TypeError("Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64.")
    return tensor


class Distant(Tensor):
    """A tensor that says it is there."""

    @property
    def device(self):
        return torch.device("mps")

    def cpu(self):
        return self.as_subclass(Tensor)
