"""What the catalog knows of a metric."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from onepeak._check import check_num_classes

if TYPE_CHECKING:  # the records can be read without the seconds that importing torchmetrics takes
    import torchmetrics


@dataclass(frozen=True, kw_only=True)
class MetricRecord:
    """What is known about one metric."""

    name: str
    """The key of the metric in results and tables."""
    title: str
    higher_is_better: bool
    low: float = 0.0
    """The lowest value there can be."""
    high: float | None = 1.0
    """The highest value there can be; none where it is num_classes - 1, the length of the scale. See `range`."""
    needs: Literal["labels", "log_probs"]
    """Whether true and predicted labels are enough, or the posterior is needed."""
    default: bool = False
    """Whether it is measured where nothing else is asked for, as by training after every epoch."""
    reference: str = ""
    """Who defined it; empty for what needs no source."""
    make: Callable[[int], "torchmetrics.Metric"] = field(repr=False)
    """Makes the metric for a number of classes."""
    chance: Callable[[int], float] | None = field(default=None, repr=False)
    """What guessing reaches for a number of classes, where that is known and not the low end."""

    def range(self, num_classes: int) -> tuple[float, float]:
        """The lowest and the highest value there can be, for so many classes.

        Example:
            >>> from onepeak.metrics.catalog import METRICS
            >>> METRICS["mae"].range(70)
            (0.0, 69.0)
        """
        check_num_classes(num_classes)
        return self.low, float(num_classes - 1) if self.high is None else self.high

    def best(self, num_classes: int) -> float:
        """The best value there can be, for so many classes."""
        return self.range(num_classes)[self.higher_is_better]
