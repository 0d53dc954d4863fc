"""What all metric classes share: the same `update`, and states that are summed over batches and processes.

States are float64, in which counts are exact. On a device without float64 (MPS) they stay on the CPU and every batch
is copied there; the pure functions then need CPU tensors.
"""

import functools
import inspect
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric

from onepeak._core.check import check_class_scores, check_labels, check_num_classes
from onepeak._core.tensors import Labels, LogProbs, PerSample, Scalar
from onepeak.errors import InputError
from onepeak.metrics.functional.confusion_matrix import as_weights, confusion_matrix, weighted_sum
from onepeak.posterior import mode


class OrdinalMetric(Metric):
    """A metric over `num_classes` ordered classes. Its value is nan before the first sample.

    Args:
        num_classes: Number of classes, including any that never occur.
    """

    full_state_update = False
    is_differentiable = False
    refuses_scores = False
    """Whether a batch must hold log-probabilities; other metrics accept any class scores."""

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.num_classes = check_num_classes(num_classes)

    def update(
        self,
        log_probs: LogProbs | Labels,
        labels: Labels,
        predicted: Labels | None = None,
        *,
        sample_weight: PerSample | None = None,
    ) -> None:
        """Adds a batch. The signature is the same for every metric, so a whole collection can be updated in one call.

        Args:
            log_probs: Log-probabilities of the classes. Metrics that need only labels also accept the predicted labels.
            labels: True labels.
            predicted: Predicted labels; the mode of `log_probs` by default.
            sample_weight: Weight of each sample; 1 by default.
        """
        log_probs, labels = _with_float64(log_probs), _with_float64(labels)
        predicted, sample_weight = _with_float64(predicted), _with_float64(sample_weight)
        self._check(log_probs, labels, predicted)
        self._add(log_probs, labels, predicted, as_weights(sample_weight, labels))

    @abstractmethod
    def compute(self) -> Scalar:
        """Returns the value over all samples so far, in all processes."""

    def extra_repr(self) -> str:
        """Returns the settings, as in `SideOrderIndex(num_classes=70, reference='predicted')`."""
        names = inspect.signature(type(self)).parameters
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)

    @abstractmethod
    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor) -> None:
        """Adds a batch to the states; the predicted labels default to the mode.

        Not in place: a tensor made under `torch.inference_mode` cannot be changed in place outside of it.
        """

    def _check(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None) -> None:
        """Checks everything in a batch except the weights."""
        check_class_scores(log_probs, self.num_classes, name="log_probs")
        check_labels(labels, self.num_classes, log_probs.shape[:-1])
        if predicted is not None:
            check_labels(predicted, self.num_classes, log_probs.shape[:-1], name="predicted")

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = "") -> "OrdinalMetric":
        try:
            fn(torch.zeros(1, dtype=torch.float64))
        except TypeError:  # the device has no float64
            return self
        super()._apply(fn, exclude_state)
        return self

    def _wrap_compute(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Silences torchmetrics' warning about `compute` before `update`: the value is then nan, as documented."""
        wrapped = super()._wrap_compute(compute)

        @functools.wraps(wrapped)
        def quiet() -> Any:
            if self.update_called:
                return wrapped()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The ``compute`` method of metric", category=UserWarning)
                return wrapped()

        return quiet


def _with_float64(given: Any) -> Any:
    """Moves a tensor to a device with float64; returns anything else unchanged."""
    return given.cpu() if isinstance(given, Tensor) and given.device.type == "mps" else given


class LabelMetric(OrdinalMetric):
    """A metric that needs only the true and the predicted labels. Its state is the confusion matrix.

    All label metrics keep the same matrix, so a `torchmetrics.MetricCollection` counts it once for all of them.
    """

    confusion: Tensor

    def __init__(self, num_classes: int) -> None:
        super().__init__(num_classes=num_classes)
        table = torch.zeros(self.num_classes, self.num_classes, dtype=torch.float64)
        self.add_state("confusion", table, dist_reduce_fx="sum")

    def compute(self) -> Scalar:
        # Each cell stands for all samples with one pair of labels: its count is their weight.
        classes = torch.arange(self.num_classes, device=self.confusion.device)
        labels, predicted = torch.meshgrid(classes, classes, indexing="ij")
        return self._value(predicted, labels, self.confusion)

    @abstractmethod
    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor, /) -> Tensor:
        """Returns the metric of weighted pairs of labels."""

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor) -> None:
        if predicted is None:
            predicted = mode(log_probs) if log_probs.is_floating_point() else log_probs
        self.confusion = self.confusion + confusion_matrix(
            predicted, labels, num_classes=self.num_classes, sample_weight=weights
        )

    def _check(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None) -> None:
        """Also allows the predicted labels in place of the posterior; `confusion_matrix` checks those."""
        if not isinstance(log_probs, Tensor) or log_probs.is_floating_point():
            super()._check(log_probs, labels, predicted)
        elif predicted is not None:
            raise InputError(
                "`log_probs` must be floating-point when `predicted` is also given, "
                f"got {log_probs.dtype}: give the predicted labels once."
            )


def function_of_labels(
    function: Callable[..., Tensor], *settings: str
) -> Callable[[LabelMetric, Tensor, Tensor, Tensor], Tensor]:
    """Returns the `_value` of a metric: a pure function, called with these attributes of the metric."""

    def value(self: LabelMetric, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        given = {name: getattr(self, name) for name in settings}
        return function(predicted, labels, sample_weight=sample_weight, **given)

    return value


class SampleMean(OrdinalMetric):
    """A metric that is a mean over samples.

    Args:
        num_classes: Number of classes, including any that never occur.
        quantity: What is averaged, including its settings. It names the state, because torchmetrics merges two metrics
            of a collection whose states are equal after the first batch.
    """

    def __init__(self, num_classes: int, *, quantity: str) -> None:
        super().__init__(num_classes=num_classes)
        self._state = f"sum_and_weight_of_{quantity}"
        self.add_state(self._state, torch.zeros(2, dtype=torch.float64), dist_reduce_fx="sum")

    def compute(self) -> Scalar:
        total, weight = getattr(self, self._state)
        mean: Tensor = total / weight
        return mean

    @abstractmethod
    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:
        """Returns the quantity for every sample."""

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor) -> None:
        decided = mode(log_probs) if predicted is None else predicted
        total = weighted_sum(self._values(log_probs, labels, decided), weights)
        setattr(self, self._state, getattr(self, self._state) + torch.stack([total, weights.sum()]))


class PosteriorMean(SampleMean):
    """The mean of a pure function of log-probabilities and true labels."""

    refuses_scores = True
    higher_is_better = False
    _function: Callable[[Tensor, Tensor], Tensor]

    def __init__(self, num_classes: int) -> None:
        super().__init__(num_classes=num_classes, quantity=type(self).__name__)

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return type(self)._function(log_probs, labels)
