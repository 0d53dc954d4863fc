"""Double precision where single would make ties: tables of weights, and scores that are close differences."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def widened(outputs: Tensor) -> Tensor:
    """The outputs in float64, if the device has it: scores near the peak are close differences of large sums."""
    return outputs if outputs.device.type == "mps" else outputs.double()


def below_the_peak(scores: Tensor, dtype: torch.dtype) -> Tensor:
    """Shifts scores to a maximum of 0, so that those near the peak keep their precision in a narrower dtype."""
    return (scores - scores.amax(dim=-1, keepdim=True).detach()).to(dtype)


class ExactTable(nn.Module):
    """A table in float64, or in float32 on devices without float64. It is not part of the `state_dict`.

    Args:
        values: The table. Loading a method rebuilds it from the settings.
    """

    def __init__(self, values: Tensor) -> None:
        super().__init__()
        # No buffer: `from_pretrained` of Hugging Face overwrites those that no checkpoint holds by unwritten memory.
        self.values = values.double()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "ExactTable":
        # `module.bfloat16()` must not round the table, and `module.to("mps")` cannot move float64.
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        device = fn(self.values.float()).device
        self.values = self.values.to(device, torch.float32 if device.type == "mps" else torch.float64)
        return self
