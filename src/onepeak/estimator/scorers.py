"""Ordinal scorers for scikit-learn's `scoring`: they use the order of the classes, so labels may be text."""
# ruff: noqa: N803 - `X` is scikit-learn's name for the rows

import functools
from collections.abc import Callable
from typing import Any, final

import numpy as np
import torch
from sklearn.utils.metadata_routing import MetadataRequest

from onepeak.errors import InputError
from onepeak.estimator.target import positions_of
from onepeak.metrics import functional


@final
class OrdinalScorer:
    """A function of a fitted classifier, rows and labels that metadata can be routed to, as to scikit-learn's scorers.

    Args:
        measure: The function; it is called where the scorer is.
        requests: Whether the scorer asks for `sample_weight`, or by which name, as in `set_score_request`.
    """

    def __init__(self, measure: Callable[..., float], **requests: bool | str | None) -> None:
        functools.update_wrapper(self, measure)
        self.__name__: str = measure.__name__
        self._measure, self._requests = measure, requests

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the value for these rows: greater is better."""
        return self._measure(estimator, X, y, sample_weight=sample_weight)

    def __repr__(self) -> str:
        return self.__name__

    def set_score_request(self, *, sample_weight: bool | str | None) -> "OrdinalScorer":
        """Returns a scorer that asks for `sample_weight` (True, False, or the name it is given by), unlike this one."""
        return OrdinalScorer(self._measure, sample_weight=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """Returns what scikit-learn's routing may pass."""
        routing = MetadataRequest(owner=self)
        routing.score.add_request(param="sample_weight", alias=self._requests.get("sample_weight"))
        return routing

    def __reduce__(self) -> tuple[Callable[..., "OrdinalScorer"], tuple[Any, ...]]:
        return _scorer, (self.__name__, self._requests)


def _scorer(name: str, requests: dict[str, bool | str | None]) -> OrdinalScorer:
    """Returns a scorer of this module by its name, as pickles need it."""
    scorer: OrdinalScorer = globals()[name]
    return scorer.set_score_request(**requests) if requests else scorer


@OrdinalScorer
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


@OrdinalScorer
def qwk(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Cohen's kappa of predictions and labels with quadratic weights: at most 1, higher is better.

    The arguments are those of `neg_mae`.
    """
    truth, weights = _positions(estimator, y), _weights(sample_weight)
    return functional.quadratic_weighted_kappa(
        _predicted(estimator, X), truth, num_classes=len(estimator.classes_), sample_weight=weights
    ).item()


@OrdinalScorer
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
