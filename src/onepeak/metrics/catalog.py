"""Every metric by its key: what it is, which way is better, between which values it lies."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from onepeak._check import check_num_classes
from onepeak._registry import Registry
from onepeak.metrics.record import MetricRecord
from onepeak.metrics.records_default import DEFAULT_METRICS
from onepeak.metrics.records_further import FURTHER_METRICS

if TYPE_CHECKING:  # the records can be read without the seconds that importing torchmetrics takes
    import torchmetrics

__all__ = ["DEFAULT_NAMES", "METRICS", "NAMES", "MetricRecord", "collection"]

METRICS: Registry[MetricRecord] = Registry("metric", [*DEFAULT_METRICS, *FURTHER_METRICS])
"""All metrics, in the order in which results show them."""

NAMES = tuple(record.name for record in METRICS)
"""The keys of all metrics."""

DEFAULT_NAMES = tuple(record.name for record in METRICS if record.default)
"""The keys of the metrics that are measured where nothing else is asked for."""


def collection(num_classes: int, *, names: Iterable[str] = DEFAULT_NAMES) -> "torchmetrics.MetricCollection":
    """The metrics as one: fed in one call, computed to a dictionary by key.

    The metrics on labels share one table, and those of pairs in order their counts: each is made once a batch.

    Args:
        num_classes: The number of classes, those that may never occur included.
        names: The keys of the metrics wanted; `NAMES` for all there are.

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
    # Named here, because torchmetrics would guess by comparing states after the first batch. Those that refuse the most
    # come first: of a batch that is refused, nothing is counted.
    sharing: dict[tuple[str, ...], list[str]] = {}
    for name, metric in sorted(chosen.items(), key=lambda item: not item[1].refuses_scores):
        sharing.setdefault(tuple(metric.metric_state), []).append(name)
    return torchmetrics.MetricCollection({**chosen}, compute_groups=list(sharing.values()) or False)
