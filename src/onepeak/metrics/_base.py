"""What all metric classes share: the same `update`, and states that are summed over batches and processes.

States are float64, in which counts are exact. On a device without float64 (MPS) they stay on the CPU and every batch
is copied there; the pure functions then need CPU tensors.
"""

import functools
import inspect
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torchmetrics import Metric

from onepeak._core.check import check_class_scores, check_labels, check_num_classes, check_scores
from onepeak._core.tensors import Labels, LogProbs, PerSample, Scalar
from onepeak.errors import InputError
from onepeak.metrics.functional.confusion_matrix import as_weights, confusion_matrix, weighted_sum


class OrdinalMetric(Metric):
    """A metric over `num_classes` ordered classes. Its value is nan before the first sample.

    Args:
        num_classes: Number of classes, including any that never occur.
        standard: The arguments of every torchmetrics metric, such as `sync_on_compute` or `dist_sync_on_step`.
    """

    full_state_update = False
    higher_is_better = True
    is_differentiable = False
    refuses_scores = False
    """Whether a batch must hold log-probabilities, which the function checks; other metrics accept any class scores."""
    takes_labels = False
    """Whether a batch may hold the predicted labels in place of a posterior."""
    _function: Callable[..., Tensor]
    """The pure function that the metric measures."""

    def __init_subclass__(
        cls, *, function: Callable[..., Tensor] | None = None, higher_is_better: bool | None = None
    ) -> None:
        super().__init_subclass__()
        if function is not None:
            cls._function = staticmethod(function)
        if higher_is_better is not None:
            cls.higher_is_better = higher_is_better

    def __init__(self, num_classes: int, **standard: Any) -> None:
        super().__init__(**standard)
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
        if self.takes_labels and isinstance(log_probs, Tensor) and not log_probs.is_floating_point():
            if predicted is not None:
                raise InputError(
                    "`log_probs` must be floating-point when `predicted` is also given, "
                    f"got {log_probs.dtype}: give the predicted labels once."
                )
            predicted, batch_shape = log_probs, getattr(labels, "shape", torch.Size())
        else:
            check = check_scores if self.refuses_scores else check_class_scores
            check(log_probs, self.num_classes, name="log_probs")
            batch_shape = log_probs.shape[:-1]
        check_labels(labels, self.num_classes, batch_shape)
        if predicted is not None:
            check_labels(predicted, self.num_classes, batch_shape, name="predicted")
        self._add(log_probs, labels, predicted, None if sample_weight is None else as_weights(sample_weight, labels))

    @abstractmethod
    def compute(self) -> Scalar:
        """Returns the value over all samples so far, in all processes."""

    def extra_repr(self) -> str:
        """Returns the settings, as in `SideOrderIndex(num_classes=70, reference='predicted')`."""
        arguments = inspect.signature(type(self)).parameters.values()
        names = [each.name for each in arguments if each.kind != each.VAR_KEYWORD]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plots results of `compute`, by default that of now, into matplotlib's axes; returns figure and axes."""
        return self._plot(val, ax)

    @abstractmethod
    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor | None) -> None:
        """Adds a batch to the states; the predicted labels default to the mode, the weights to 1.

        Not in place: a tensor made under `torch.inference_mode` cannot be changed in place outside of it.
        """

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

    Its settings are the keyword arguments of its function. All label metrics keep the same matrix, so a
    `torchmetrics.MetricCollection` counts it once for all of them.
    """

    takes_labels = True
    confusion: Tensor
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, *, function: Callable[..., Tensor], higher_is_better: bool = True) -> None:
        super().__init_subclass__(function=function, higher_is_better=higher_is_better)
        num_classes, standard = inspect.signature(OrdinalMetric).parameters.values()
        settings = _settings(function).values()
        own = [each for each in settings if each.name != "num_classes"]
        cls.__signature__ = inspect.Signature([num_classes, *own, standard])

    def __init__(self, num_classes: int, **given: Any) -> None:
        settings = {name: given.pop(name, each.default) for name, each in _settings(type(self)._function).items()}
        super().__init__(num_classes, **given)
        for name, value in (settings | {"num_classes": self.num_classes}).items():
            setattr(self, name, value)
        table = torch.zeros(self.num_classes, self.num_classes, dtype=torch.float64)
        self.add_state("confusion", table, dist_reduce_fx="sum")
        LabelMetric.compute(self)  # the function checks its settings

    def compute(self) -> Scalar:
        # Each cell stands for all samples with one pair of labels: its count is their weight.
        classes = torch.arange(self.num_classes, device=self.confusion.device)
        labels, predicted = torch.meshgrid(classes, classes, indexing="ij")
        settings = {name: getattr(self, name) for name in _settings(type(self)._function)}
        return type(self)._function(predicted, labels, sample_weight=self.confusion, **settings)

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor | None) -> None:
        predicted = log_probs.argmax(dim=-1) if predicted is None else predicted
        self.confusion = self.confusion + confusion_matrix(
            predicted, labels, num_classes=self.num_classes, sample_weight=weights
        )


@functools.cache
def _settings(function: Callable[..., Tensor]) -> dict[str, inspect.Parameter]:
    """Returns the keyword arguments of a pure function except the weights, which are attributes of its metric."""
    arguments = inspect.signature(function).parameters.values()
    return {each.name: each for each in arguments if each.kind == each.KEYWORD_ONLY and each.name != "sample_weight"}


class SampleMean(OrdinalMetric):
    """A metric that is a mean over samples of a quantity, named with its settings.

    That names the state, because torchmetrics merges two metrics of a collection whose states are equal after the
    first batch.
    """

    def __init__(self, num_classes: int, *, quantity: str, **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        self._total, self._weight = f"sum_of_{quantity}", f"weight_of_{quantity}"
        for state in (self._total, self._weight):
            self.add_state(state, torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")

    def compute(self) -> Scalar:
        mean: Tensor = getattr(self, self._total) / getattr(self, self._weight)
        return mean

    @abstractmethod
    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:
        """Returns the quantity for every sample."""

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor | None) -> None:
        decided = log_probs.argmax(dim=-1) if predicted is None else predicted
        total = weighted_sum(self._values(log_probs, labels, decided), weights)
        setattr(self, self._total, getattr(self, self._total) + total)
        weight = labels.numel() if weights is None else weights.sum()
        setattr(self, self._weight, getattr(self, self._weight) + weight)
