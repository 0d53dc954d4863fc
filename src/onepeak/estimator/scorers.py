"""Ordinal scorers for scikit-learn's `scoring`: they use the order of the classes, so labels may be text."""
# ruff: noqa: N803 - `X` is scikit-learn's name for the rows

from typing import Any

import numpy as np
import torch

from onepeak.errors import InputError
from onepeak.estimator.label_order import positions_of
from onepeak.metrics import functional


def neg_mae(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Negative mean absolute error, in classes: at most 0, higher is better.

    Args:
        estimator: A fitted classifier whose `classes_` are in order, or a pipeline that ends with one.
        X: Rows, as the estimator takes them.
        y: The true labels, numbers or text.
        sample_weight: A weight for each row, not negative.

    Example:
        >>> from onepeak.estimator import OrdinalClassifier
        >>> X, y = np.arange(30.0).reshape(-1, 1), np.repeat(["low", "middle", "high"], 10)
        >>> model = OrdinalClassifier(order=["low", "middle", "high"], random_state=0).fit(X, y)
        >>> neg_mae(model, X, y), qwk(model, X, y)
        (0.0, 1.0)
    """
    truth, weights = _positions(estimator, y), _weights(sample_weight)
    error = functional.mean_absolute_error(_predicted(estimator, X), truth, sample_weight=weights)
    return 0.0 - error.item()  # no -0.0


def qwk(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Cohen's kappa of predictions and labels with quadratic weights: at most 1, higher is better.

    The arguments are those of `neg_mae`.
    """
    truth, weights = _positions(estimator, y), _weights(sample_weight)
    return functional.quadratic_weighted_kappa(
        _predicted(estimator, X), truth, num_classes=len(estimator.classes_), sample_weight=weights
    ).item()


def neg_rps(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Negative mean ranked probability score of the posterior: at most 0, higher is better.

    The arguments are those of `neg_mae`. The columns of the estimator's `predict_proba` must be its `classes_`.
    """
    truth = _positions(estimator, y)
    probs = torch.as_tensor(np.asarray(estimator.predict_proba(X), dtype=np.float64))
    scores = functional.ranked_probability_score(probs.log(), truth)
    return -float(np.average(scores.numpy(), weights=sample_weight))


def _weights(sample_weight: Any) -> torch.Tensor | None:
    return None if sample_weight is None else torch.as_tensor(np.asarray(sample_weight, dtype=np.float64))


def _positions(estimator: Any, labels: Any) -> torch.Tensor:
    if not hasattr(estimator, "classes_"):
        raise InputError(
            f"`scoring` by `neg_mae`, `qwk` or `neg_rps` needs a classifier whose `classes_` are in order, got "
            f"{type(estimator).__name__}: for a regressor of numeric labels use scoring='neg_mean_absolute_error'."
        )
    return torch.from_numpy(positions_of(np.asarray(labels), np.asarray(estimator.classes_)))


def _predicted(estimator: Any, X: Any) -> torch.Tensor:
    return _positions(estimator, estimator.predict(X))
