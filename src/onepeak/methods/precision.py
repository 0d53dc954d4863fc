"""Double precision where single would make ties: tables of weights, and scores that are close differences."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from onepeak._core.tensors import Labels


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
        self._single = _single(self.values)

    def rows(self, labels: Labels, dtype: torch.dtype) -> Tensor:
        """The row of each label, in the precision of the outputs."""
        return F.embedding(labels, self.values if dtype == torch.float64 else self._single)

    def offsets(self, labels: Labels, dtype: torch.dtype) -> Tensor:
        """The number for the distance of each class above each label, from a table of 2c - 1, for 1 - c to c - 1."""
        numbers = self.values if dtype == torch.float64 else self._single
        num_classes = (len(numbers) + 1) // 2
        return F.embedding(num_classes - 1 - labels, numbers.unfold(0, num_classes, 1))  # windows take no memory

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "ExactTable":
        # `module.bfloat16()` must not round the table, and `module.to("mps")` cannot move float64.
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        device = fn(self.values.float()).device
        self.values = self.values.to(device, torch.float32 if device.type == "mps" else torch.float64)
        self._single = _single(self.values)
        return self


def _single(values: Tensor) -> Tensor:
    """In float32, without the numbers below its normal range, with which processors calculate many times slower."""
    single = values.float()
    return single.masked_fill(single.abs() < torch.finfo(torch.float32).tiny, 0)


def offsets(num_classes: int) -> Tensor:
    """How far a class can lie above a label: 1 - c to c - 1, for a table by `ExactTable.offsets`."""
    return torch.arange(1 - num_classes, num_classes, dtype=torch.float64)
