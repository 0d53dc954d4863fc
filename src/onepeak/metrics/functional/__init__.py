"""The metrics as pure functions of tensors.

Those on posteriors give one number a sample; those on labels, and the calibration error, give one for all samples.
"""

from onepeak.metrics.functional.agreement import kendall_tau, quadratic_weighted_kappa, spearman_correlation
from onepeak.metrics.functional.confusion import confusion_matrix
from onepeak.metrics.functional.errors import (
    accuracy,
    accuracy_within,
    average_mean_absolute_error,
    maximum_mean_absolute_error,
    mean_absolute_error,
)
from onepeak.metrics.functional.order import num_violations, side_order_chance, side_order_index, violation_size
from onepeak.metrics.functional.probabilistic import (
    expected_calibration_error,
    negative_log_likelihood,
    ranked_probability_score,
)

__all__ = [
    "accuracy",
    "accuracy_within",
    "average_mean_absolute_error",
    "confusion_matrix",
    "expected_calibration_error",
    "kendall_tau",
    "maximum_mean_absolute_error",
    "mean_absolute_error",
    "negative_log_likelihood",
    "num_violations",
    "quadratic_weighted_kappa",
    "ranked_probability_score",
    "side_order_chance",
    "side_order_index",
    "spearman_correlation",
    "violation_size",
]
