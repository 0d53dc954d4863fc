"""Closeness evaluation measure: how informative it is that a prediction is as close to the truth as it is."""

import torch

from onepeak._core.tensors import Labels, PerSample, Scalar
from onepeak.metrics.functional.confusion_matrix import confusion_matrix
from onepeak.metrics.record import MetricRecord, metric_class


def closeness_evaluation_measure(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    r"""The CEM: the closeness of predicted to true labels, in bits, relative to a perfect prediction.

    .. math:: \frac{\sum_i \mathrm{prox}(\hat y_i, y_i)}{\sum_i \mathrm{prox}(y_i, y_i)}, \qquad
              \mathrm{prox}(k, r) = -\log_2 \frac1n \Big( \frac{n_k}2 + \sum_{j \text{ after } k}^{r} n_j \Big)

    where :math:`n_j` samples truly are of class j, and the sum runs from k (excluded) towards r (included). Classes are
    as far apart as there are samples between them: to mistake two neighbours that hold most samples costs more than
    to mistake two rare ones. Range 0 to 1, higher is better; nan without samples.

    Example:
        >>> predicted, labels = torch.tensor([0, 1, 1, 1]), torch.tensor([0, 0, 1, 1])
        >>> index = closeness_evaluation_measure(predicted, labels, num_classes=2)  # three of 2 bits, log2 4/3, of 8
        >>> round(index.item(), 4)
        0.8019

    Reference: Amigó, Gonzalo, Mizzaro, Carrillo-de-Albornoz 2020, An effectiveness metric for ordinal classification.
    """
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    counts = table.sum(dim=-1)
    reached = counts.cumsum(dim=-1)
    middle, last = reached - counts / 2, reached.unsqueeze(-1)
    below = torch.arange(num_classes, device=table.device) <= torch.arange(num_classes, device=table.device)[:, None]
    between = torch.where(below, last - middle, middle - last + counts.unsqueeze(-1))
    bits = -(between / counts.sum()).log2()
    closeness = torch.where(table > 0, table * bits, 0.0).sum()
    return closeness / torch.where(counts > 0, counts * bits.diagonal(), 0.0).sum()


CEM = MetricRecord(
    name="cem",
    title="Closeness evaluation measure",
    higher_is_better=True,
    reference="Amigó et al. 2020, An effectiveness metric for ordinal classification",
    make=metric_class("ClosenessEvaluationMeasure"),
)
