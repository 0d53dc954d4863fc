"""The catalog record of a metric. Records stand beside the functions, whose import needs no torchmetrics."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from onepeak._core.check import check_num_classes

if TYPE_CHECKING:
    import torchmetrics


@dataclass(frozen=True, kw_only=True)
class MetricRecord:
    """Name, range, direction and source of one metric, and how to make it."""

    name: str
    """The key of the metric in results and tables."""
    title: str
    higher_is_better: bool
    low: float = 0.0
    """The lowest possible value."""
    high: float | None = 1.0
    """The highest possible value; None if it is num_classes - 1, the length of the scale. See `range`."""
    needs: Literal["labels", "log_probs"] = "labels"
    """Whether the metric needs only true and predicted labels, or the posterior."""
    default: bool = False
    """Whether it is measured by default, for example after every training epoch."""
    reference: str = ""
    """Who defined it; empty if no source is needed."""
    make: Callable[[int], "torchmetrics.Metric"] = field(repr=False)
    """Makes the metric for a number of classes."""
    chance: Callable[[int, str], float] | None = field(default=None, repr=False)
    """The value that random guessing reaches for a number of classes and a decision, if it is known and not `low`."""

    def range(self, num_classes: int) -> tuple[float, float]:
        """Returns the lowest and the highest possible value for a number of classes."""
        check_num_classes(num_classes)
        return self.low, float(num_classes - 1) if self.high is None else self.high

    def best(self, num_classes: int) -> float:
        """Returns the best possible value for a number of classes."""
        return self.range(num_classes)[self.higher_is_better]


def metric_class(name: str, **settings: object) -> Callable[[int], "torchmetrics.Metric"]:
    """Makes a metric of `onepeak.metrics` for a number of classes, and imports its class only then."""

    def make(num_classes: int) -> "torchmetrics.Metric":
        metric: torchmetrics.Metric = getattr(importlib.import_module("onepeak.metrics"), name)(
            num_classes=num_classes, **settings
        )
        return metric

    return make
