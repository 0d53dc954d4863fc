"""Soft labels: a distribution around the label is learnt in place of the label alone."""

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

    The targets are a table with one row a label: `sord`, `triangular`, ... make the published ones, and any other will
    do. Papers often write cross-entropy, which is more by the target's entropy and has the same gradient; the
    divergence is 0 where the target is learnt. The sum over classes is weighed by a distribution and needs no
    normaliser. Prediction: the mode. Not one-peaked by construction, though all the targets here are.

    Args:
        targets: Row y is the distribution to learn for the label y: c x c, rows that sum to one.
        class_weight: A weight of each class.

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
        """Row y is the distribution to learn for the label y."""
        return self._table.values

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The divergence from the label's row."""
        targets = F.embedding(labels, self.targets).to(outputs.dtype)
        return (targets.xlogy(targets) - targets * outputs.log_softmax(dim=-1)).sum(dim=-1)


def check_targets(targets: Tensor) -> None:
    """A square table of distributions."""
    if not isinstance(targets, Tensor) or not targets.is_floating_point():
        found = targets.dtype if isinstance(targets, Tensor) else type(targets).__name__
        raise InputError(f"`targets` must be a floating-point tensor, got {found}.")
    if targets.ndim != 2 or targets.shape[0] != targets.shape[1]:
        raise InputError(f"`targets` must have one row and one column a class, got shape {tuple(targets.shape)}.")
    if not (targets >= 0).all() or not ((targets.double().sum(dim=-1) - 1).abs() <= 1e-5).all():
        raise InputError("`targets` must be distributions: no row with a negative or a sum other than 1.")


def mixed(soft: Tensor, mix: float) -> Tensor:
    """The soft targets, or a share `mix` of them and the label itself for the rest."""
    share = check_number("mix", mix, above=0, maximum=1)
    return share * soft + (1 - share) * torch.eye(len(soft), dtype=soft.dtype)


def distances(num_classes: int) -> Tensor:
    """How far every class (column) lies from every label (row)."""
    classes = torch.arange(num_classes, dtype=torch.float64)
    return (classes - classes.unsqueeze(-1)).abs()
