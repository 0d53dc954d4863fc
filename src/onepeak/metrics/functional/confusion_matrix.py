"""The table of true against predicted labels, from which every metric on labels can be computed exactly."""

import torch
from torch import Tensor

from onepeak._core.check import check_labels, check_num_classes, check_weights
from onepeak._core.tensors import Labels, PerSample


def confusion_matrix(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Tensor:
    """Counts how often each true label (row) received each predicted label (column).

    Returns:
        A square float64 matrix, in which counts are exact and can be summed over batches and processes.

    Example:
        >>> confusion_matrix(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), num_classes=2)
        tensor([[1., 1.], [0., 1.]], dtype=torch.float64)
    """
    check_num_classes(num_classes)
    check_labels(labels, num_classes, getattr(labels, "shape", torch.Size()))
    check_labels(predicted, num_classes, labels.shape, name="predicted")
    weights = as_weights(sample_weight, labels)
    cells = (labels.long() * num_classes + predicted.long()).flatten()
    # Not `bincount`: on a GPU it synchronises with the host, and it rejects weights in deterministic mode.
    table = torch.zeros(num_classes * num_classes, dtype=torch.float64, device=labels.device)
    return table.index_add(0, cells, weights.flatten()).view(num_classes, num_classes)


def class_distances(table: Tensor) -> Tensor:
    """Returns the distance in classes between the two labels of each cell, with the table's dtype and device."""
    classes = torch.arange(table.shape[-1], dtype=table.dtype, device=table.device)
    return (classes - classes.unsqueeze(-1)).abs()


def as_weights(sample_weight: PerSample | None, labels: Labels) -> Tensor:
    """Returns one float64 weight per sample; 1 by default."""
    if sample_weight is None:
        return torch.ones(labels.shape, dtype=torch.float64, device=labels.device)
    check_weights(sample_weight, labels.shape, name="sample_weight")
    return sample_weight.double()


def weighted_sum(values: Tensor, weights: Tensor | None) -> Tensor:
    """Returns the sum of values times weights, exact or float64; a value of weight zero is ignored, even infinite."""
    if weights is None:
        return values.sum(dtype=torch.float64 if values.is_floating_point() else None)  # integers are exact
    return torch.where(weights > 0, values.double() * weights, 0.0).sum()


def total_weight(labels: Labels, weights: Tensor | None) -> Tensor:
    """Returns the float64 sum of the weights; without any, the number of samples."""
    if weights is None:
        return torch.full((), labels.numel(), dtype=torch.float64, device=labels.device)
    return weights.sum()
