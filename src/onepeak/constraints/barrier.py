r"""The extended log-barrier of the paper (Belharbi et al. 2019, eq. 7; Kervadec et al. 2019)."""

from collections.abc import Callable
from typing import final

import torch
from torch import Tensor

from onepeak._core.check import check_number, readable
from onepeak._core.tensors import Gaps, real_tensors
from onepeak.constraints.gaps import OrderConstraint
from onepeak.errors import InputError


def log_barrier(gaps: Gaps, t: float | Tensor) -> Gaps:
    r"""The extended log-barrier cost of each gap: a barrier while it is in order, linear beyond that.

    .. math::
        \hat I(r) = \begin{cases} -\frac1t \log(-r) & r \le -\frac1{t^2} \\
        t r - \frac1t \log\frac1{t^2} + \frac1t & \text{otherwise} \end{cases}

    The cost is convex, once continuously differentiable and defined for every gap, so training may start out of order.
    It is negative for a pair that is well in order; this is intended. With :math:`c = \max(-r, 1/t^2)` both branches
    are :math:`t (c + r) - \frac1t \log c` with slope :math:`1 / (t c)`. This form has no untaken branch that could turn
    the gradient into NaN.

    Args:
        gaps: Signed differences, negative if in order (see `order_gaps`).
        t: Steepness of the barrier; the duality gap is at most 1 / t.

    Returns:
        One cost per gap, not summed.

    Example:
        >>> log_barrier(torch.tensor([-1.0, 0.0, 1.0]), t=1.0)
        tensor([0., 1., 2.])

    Reference: Belharbi et al. 2019, eq. 7.
    """
    if not isinstance(t, Tensor):
        check_number("t", t, above=0)
    elif readable(t) and not t > 0:
        raise InputError(f"`t` must be > 0, got {t.item():g}.")
    clear = torch.clamp(-gaps, min=t**-2)
    return t * (clear + gaps) - clear.log() / t


T_MAX = 5.0
"""The limit of t by default. It gives way to a higher initial t: a limit that nobody set is no reason to fail."""

UNWRITTEN_BELOW = 1e-30
"""No t is this small; the content of uninitialised memory mostly is."""


@final
class LogBarrier(OrderConstraint):
    r"""The order constraints as an extended log-barrier that tightens during training.

    .. math:: \sum_{k=0}^{c-2} \hat I(\Delta_k), \qquad t \leftarrow \min(\text{growth} \cdot t, t_{max})

    where :math:`\hat I` is `log_barrier` and :math:`\Delta_k` are the c - 1 gaps of `order_gaps`. Call `tighten`, which
    updates t, once per epoch, after validation. The `state_dict` holds t.

    Args:
        num_classes: Number of classes, at least 2.
        t: Initial t.
        growth: Factor applied to t at every `tighten`, at least 1.
        t_max: Upper limit of t, at least the initial t; the default gives way to an initial t above it.

    Example:
        >>> barrier = LogBarrier(num_classes=3, t=1.0, growth=2.0, t_max=3.0)
        >>> barrier(torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([1]))
        tensor([0.])
        >>> barrier.tighten(); barrier.tighten(); barrier.t
        tensor(3., dtype=torch.float64)

    Reference: Belharbi et al. 2019, eq. 6 and 7.
    """

    t: Tensor

    def __init__(self, num_classes: int, t: float = 1.0, growth: float = 1.001, t_max: float = T_MAX) -> None:
        super().__init__(num_classes)
        self.first_t = check_number("t", t, above=0)
        self.growth = check_number("growth", growth, minimum=1)
        self.t_max = check_number("t_max", max(t_max, self.first_t) if t_max == T_MAX else t_max, minimum=self.first_t)
        with real_tensors():
            self.register_buffer("t", torch.tensor(self.first_t, dtype=torch.float64))

    def reset_parameters(self) -> None:
        """Sets t to its first value, for a model filled from a checkpoint that holds no t."""
        self.t.fill_(self.first_t)

    def tighten(self) -> None:
        """Makes the barrier steeper. Works in place, so a captured CUDA graph sees the new t."""
        if readable(self.t):
            self.read_t()
        self.t.mul_(self.growth).clamp_(max=self.t_max)

    def read_t(self) -> float:
        """The current t. Raises an error if it is uninitialised memory."""
        t = self.t.item()
        if not UNWRITTEN_BELOW < t < float("inf"):
            raise InputError(
                f"`t` must be a positive number, got {t:g}: was the model filled from a checkpoint that holds no t? "
                "Call reset_parameters() of the barrier after that."
            )
        return t

    def gap_costs(self, gaps: Gaps) -> Gaps:
        if readable(gaps):
            return log_barrier(gaps, self.read_t())
        return log_barrier(gaps, self.t.to(gaps.dtype, copy=True))  # `tighten` may change t before the backward pass

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "LogBarrier":
        # `module.bfloat16()` must not round t: 1.001 t would round back to t and the barrier would never tighten.
        # `module.to("mps")` cannot move float64.
        exact, self.t = self.t, self.t.float()
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        device = self.t.device
        self.t = exact.to(device, torch.float32 if device.type == "mps" else torch.float64)
        return self

    def extra_repr(self) -> str:
        return f"num_classes={self.num_classes}, t={self.t.item():g}, growth={self.growth:g}, t_max={self.t_max:g}"
