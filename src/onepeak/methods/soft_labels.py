"""Soft labels: the target is a distribution around the label instead of the label alone."""

from typing import final

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._check import check_number
from onepeak._shapes import Labels, Outputs, PerClass, PerSample
from onepeak.errors import InputError
from onepeak.methods.exact import ExactTable
from onepeak.methods.softmax import SoftmaxMethod


@final
class SoftLabels(SoftmaxMethod):
    r"""Learns a target distribution for each label.

    .. math:: \ell = \mathrm{KL}(q_y \,\|\, p) = \sum_{k=0}^{c-1} q_{yk} \log \frac{q_{yk}}{p_k}, \qquad
              p = \mathrm{softmax}(o)

    The targets are a table with one row per label. `sord`, `triangular` and others build the published tables; you can
    pass any other. Papers often write cross-entropy, which is larger by the entropy of the target and has the same
    gradient; the divergence is 0 when the posterior equals the target. The sum over classes is weighted by a
    distribution and needs no normaliser. Prediction: the mode. Not one-peaked by construction, although all published
    targets here are.

    Args:
        targets: A c x c table; row y is the target distribution of label y and sums to one.
        class_weight: Weight of each class.

    Example:
        >>> sure_of_the_ends = SoftLabels(torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.6, 0.2], [0.0, 0.0, 1.0]]))
        >>> sure_of_the_ends.loss(torch.zeros(1, 3), torch.tensor([1]))
        tensor(0.1483)
    """

    def __init__(self, targets: Tensor, *, class_weight: PerClass | None = None) -> None:
        check_targets(targets)
        super().__init__(len(targets), class_weight=class_weight)
        self._table = ExactTable(targets)

    @property
    def targets(self) -> Tensor:
        """The table of targets; row y is the target distribution of label y."""
        return self._table.values

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The divergence from the target of the label."""
        targets = F.embedding(labels, self.targets).to(outputs.dtype)
        return (targets.xlogy(targets) - targets * outputs.log_softmax(dim=-1)).sum(dim=-1)


def check_targets(targets: Tensor) -> None:
    """Checks for a square table whose rows are distributions."""
    if not isinstance(targets, Tensor) or not targets.is_floating_point():
        found = targets.dtype if isinstance(targets, Tensor) else type(targets).__name__
        raise InputError(f"`targets` must be a floating-point tensor, got {found}.")
    if targets.ndim != 2 or targets.shape[0] != targets.shape[1]:
        raise InputError(f"`targets` must have one row and one column per class, got shape {tuple(targets.shape)}.")
    if not (targets >= 0).all() or not ((targets.double().sum(dim=-1) - 1).abs() <= 1e-5).all():
        raise InputError("`targets` must be distributions: every row non-negative with a sum of 1.")


def mixed(soft: Tensor, mix: float) -> Tensor:
    """A share `mix` of the soft targets plus a share 1 - `mix` of the label itself."""
    share = check_number("mix", mix, above=0, maximum=1)
    return share * soft + (1 - share) * torch.eye(len(soft), dtype=soft.dtype)


def distances(num_classes: int) -> Tensor:
    """The distance of each class (column) from each label (row)."""
    classes = torch.arange(num_classes, dtype=torch.float64)
    return (classes - classes.unsqueeze(-1)).abs()
