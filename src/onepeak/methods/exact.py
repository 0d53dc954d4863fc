"""A constant table of a method that moves between devices with it and is never rounded."""

from collections.abc import Callable

from torch import Tensor, float32, float64, nn


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
        place = fn(self.values.float()).device
        self.values = self.values.to(place, float32 if place.type == "mps" else float64)
        return self
