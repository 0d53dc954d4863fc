"""Ordinal scorers for scikit-learn's `scoring`: they use the order of the classes, so labels may be text."""
# ruff: noqa: N803 - `X` is scikit-learn's name for the rows

from typing import Any

import numpy as np
import torch

from onepeak.estimator.label_order import positions_of
from onepeak.metrics import functional


def neg_mae(estimator: Any, X: Any, y: Any) -> float:
    """Negative mean absolute error, in classes: at most 0, higher is better.

    Args:
        estimator: A fitted classifier whose `classes_` are in order, or a pipeline that ends with one.
        X: Rows, as the estimator takes them.
        y: The true labels, numbers or text.

    Example:
        >>> from onepeak.estimator import OrdinalClassifier
        >>> X, y = np.arange(30.0).reshape(-1, 1), np.repeat(["low", "middle", "high"], 10)
        >>> model = OrdinalClassifier(order=["low", "middle", "high"], random_state=0).fit(X, y)
        >>> neg_mae(model, X, y), qwk(model, X, y)
        (0.0, 1.0)
    """
    return 0.0 - functional.mean_absolute_error(_predicted(estimator, X), _positions(estimator, y)).item()  # no -0.0


def qwk(estimator: Any, X: Any, y: Any) -> float:
    """Cohen's kappa of predictions and labels with quadratic weights: at most 1, higher is better.

    Args:
        estimator: As for `neg_mae`.
        X: Rows.
        y: The true labels.
    """
    return functional.quadratic_weighted_kappa(
        _predicted(estimator, X), _positions(estimator, y), num_classes=len(estimator.classes_)
    ).item()


def neg_rps(estimator: Any, X: Any, y: Any) -> float:
    """Negative mean ranked probability score of the posterior: at most 0, higher is better.

    Args:
        estimator: As for `neg_mae`; the columns of its `predict_proba` must be its `classes_`.
        X: Rows.
        y: The true labels.
    """
    probs = torch.as_tensor(np.asarray(estimator.predict_proba(X), dtype=np.float64))
    return -functional.ranked_probability_score(probs.log(), _positions(estimator, y)).mean().item()


def _positions(estimator: Any, labels: Any) -> torch.Tensor:
    return torch.from_numpy(positions_of(np.asarray(labels), np.asarray(estimator.classes_)))


def _predicted(estimator: Any, X: Any) -> torch.Tensor:
    return _positions(estimator, estimator.predict(X))
