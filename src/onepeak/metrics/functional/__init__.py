"""The metrics as pure functions of tensors.

Functions of posteriors return one value per sample. Functions of labels, and the calibration error, return one value
for all samples.

Arguments mean the same everywhere: `log_probs` are the log-probabilities of the classes, `predicted` and `labels` the
predicted and the true labels. `num_classes` counts the classes that never occur too. `sample_weight` is 1 by default.
"""

from onepeak.metrics.functional.classification_index import (
    closeness_evaluation_measure,
    ordinal_classification_index,
    uniform_ordinal_classification_index,
)
from onepeak.metrics.functional.cohen_kappa import quadratic_weighted_kappa, weighted_kappa
from onepeak.metrics.functional.confusion_matrix import confusion_matrix
from onepeak.metrics.functional.errors import (
    absolute_error_of_median,
    accuracy,
    accuracy_within,
    average_mean_absolute_error,
    maximum_mean_absolute_error,
    mean_absolute_error,
    root_mean_squared_error,
)
from onepeak.metrics.functional.probabilistic import (
    adaptive_calibration_error,
    earth_mover_distance,
    expected_calibration_error,
    negative_log_likelihood,
    ranked_probability_score,
    static_calibration_error,
)
from onepeak.metrics.functional.ranking import kendall_tau, spearman_correlation
from onepeak.metrics.functional.sensitivity import (
    balanced_accuracy,
    extreme_sensitivity,
    geometric_mean_sensitivity,
    index_of_balanced_accuracy,
    minimum_sensitivity,
)
from onepeak.metrics.functional.side_order_index import (
    num_violations,
    side_order_chance,
    side_order_index,
    violation_size,
)

__all__ = [
    "absolute_error_of_median",
    "accuracy",
    "accuracy_within",
    "adaptive_calibration_error",
    "average_mean_absolute_error",
    "balanced_accuracy",
    "closeness_evaluation_measure",
    "confusion_matrix",
    "earth_mover_distance",
    "expected_calibration_error",
    "extreme_sensitivity",
    "geometric_mean_sensitivity",
    "index_of_balanced_accuracy",
    "kendall_tau",
    "maximum_mean_absolute_error",
    "mean_absolute_error",
    "minimum_sensitivity",
    "negative_log_likelihood",
    "num_violations",
    "ordinal_classification_index",
    "quadratic_weighted_kappa",
    "ranked_probability_score",
    "root_mean_squared_error",
    "side_order_chance",
    "side_order_index",
    "spearman_correlation",
    "static_calibration_error",
    "uniform_ordinal_classification_index",
    "violation_size",
    "weighted_kappa",
]
