"""Every metric by its key, with its title, range and direction."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from onepeak._check import check_num_classes
from onepeak._registry import Registry
from onepeak.metrics.record import MetricRecord
from onepeak.metrics.records_default import DEFAULT_METRICS
from onepeak.metrics.records_further import FURTHER_METRICS

if TYPE_CHECKING:  # importing torchmetrics takes seconds, and the records do not need it
    import torchmetrics

__all__ = ["DEFAULT_NAMES", "METRICS", "NAMES", "MetricRecord", "collection"]

METRICS: Registry[MetricRecord] = Registry("metric", [*DEFAULT_METRICS, *FURTHER_METRICS])
"""All metrics, in the order in which results show them."""

NAMES = tuple(record.name for record in METRICS)
"""The keys of all metrics."""

DEFAULT_NAMES = tuple(record.name for record in METRICS if record.default)
"""The keys of the metrics that are measured by default."""


def collection(num_classes: int, *, names: Iterable[str] = DEFAULT_NAMES) -> "torchmetrics.MetricCollection":
    """Returns several metrics as one: updated in one call, computed into a dictionary by key.

    Metrics on labels share one confusion matrix, and metrics on adjacent pairs share their counts; each is computed
    once per batch.

    Args:
        num_classes: Number of classes, including any that never occur.
        names: Keys of the metrics; `NAMES` for all.

    Example:
        >>> import torch
        >>> chosen = collection(3, names=["mae", "soi_predicted"])
        >>> chosen.update(torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]).log(), torch.tensor([1, 1]))
        >>> {name: value.item() for name, value in chosen.compute().items()}
        {'mae': 0.5, 'soi_predicted': 0.75}
    """
    import torchmetrics

    check_num_classes(num_classes)
    chosen = {name: METRICS[name].make(num_classes) for name in names}
    # Compute groups are given here, because torchmetrics would guess them by comparing states after the first batch.
    # The strictest metrics come first, so that nothing of a rejected batch is counted.
    sharing: dict[tuple[str, ...], list[str]] = {}
    for name, metric in sorted(chosen.items(), key=lambda item: not item[1].refuses_scores):
        sharing.setdefault(tuple(metric.metric_state), []).append(name)
    return torchmetrics.MetricCollection({**chosen}, compute_groups=list(sharing.values()) or False)
