"""ORCU: soft labels under a steep log-barrier (Kim et al. 2024)."""

from onepeak._core.tensors import PerClass
from onepeak.constraints.barrier import LogBarrier
from onepeak.methods.constrained import Constrained
from onepeak.methods.record import MethodRecord
from onepeak.methods.soft_labels import sord


def orcu(
    num_classes: int, *, t: float = 10.0, sharpness: float = 1.0, class_weight: PerClass | None = None
) -> Constrained:
    r"""The soft labels of SORD under the paper's log-barrier, which does not tighten.

    .. math:: \ell = \mathrm{KL}(q_y \,\|\, p) + \sum_{k=0}^{c-2} \hat I_t(\Delta_k), \qquad
              q_{yk} \propto e^{-s (k - y)^2}

    ELB's closest rival: it has ELB's barrier, from the start as steep as it will be, and a target that has one peak
    itself, which calibrates the posterior. The cross-entropy of the paper is larger by the entropy of the target and
    has the same gradient.

    Args:
        t: Steepness of the barrier, constant during training.
        sharpness: s of the soft label.

    Example:
        >>> import torch
        >>> orcu(3).loss(torch.tensor([[-1.0, 0.0, -1.0]]), torch.tensor([1])).abs() < 1e-6  # both terms are 0
        tensor(True)

    Reference: Kim, Chung, Jang, "Calibration of ordinal regression networks", 2024.
    """
    base = sord(num_classes, sharpness=sharpness, class_weight=class_weight)
    return Constrained(base, LogBarrier(num_classes, t, growth=1.0, t_max=t))


ORCU = MethodRecord(
    name="orcu",
    title="soft labels under a steep barrier",
    family="constraint",
    reference="Kim, Chung, Jang 2024, Calibration of ordinal regression networks",
    build=orcu,
)
