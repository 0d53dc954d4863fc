"""Whether the predicted labels rank the samples like the true ones."""

from typing import final

from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, function_of_labels


@final
class KendallTau(LabelMetric):
    """Kendall's tau-b of predicted and true labels, exact for any number of samples: `functional.kendall_tau`."""

    higher_is_better = True
    _value = function_of_labels(functional.kendall_tau, "num_classes")


@final
class SpearmanCorrelation(LabelMetric):
    """Spearman's rank correlation of predicted and true labels, exact for any number of samples.

    See `functional.spearman_correlation`.
    """

    higher_is_better = True
    _value = function_of_labels(functional.spearman_correlation, "num_classes")
