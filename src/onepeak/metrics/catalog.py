"""The catalog of metrics: the records of all, and several of them as one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from onepeak._core.check import check_num_classes
from onepeak._core.registry import Registry
from onepeak.metrics.functional.classification_index import OCI, UOC
from onepeak.metrics.functional.closeness import CEM
from onepeak.metrics.functional.cohen_kappa import KAPPA, LWK, QWK
from onepeak.metrics.functional.errors import (
    ACCURACY,
    ACCURACY_WITHIN_1,
    ACCURACY_WITHIN_3,
    ACCURACY_WITHIN_5,
    AMAE,
    MAE,
    MAE_MEDIAN,
    MMAE,
    RMSE,
)
from onepeak.metrics.functional.probabilistic import ECE, EMD, NLL, RPS, SCE
from onepeak.metrics.functional.ranking import SPEARMAN, TAU
from onepeak.metrics.functional.sensitivity import (
    BALANCED_ACCURACY,
    EXTREME_GEOMETRIC_SENSITIVITY,
    EXTREME_SENSITIVITY,
    GEOMETRIC_SENSITIVITY,
    IBA,
    MIN_SENSITIVITY,
)
from onepeak.metrics.functional.side_order_index import (
    SOI_PREDICTED,
    SOI_TRUE,
    UNIMODAL,
    UNIMODAL_QUASI,
    UNIMODAL_TWO_DECIMALS,
    UNIMODAL_WEAK,
    VIOLATION_SIZE,
    VIOLATIONS,
)
from onepeak.metrics.record import MetricRecord

if TYPE_CHECKING:
    import torchmetrics

__all__ = ["DEFAULT_NAMES", "METRICS", "NAMES", "MetricRecord", "collection"]

METRICS = Registry(
    "metric",
    [
        *(MAE, MAE_MEDIAN, SOI_PREDICTED, SOI_TRUE, ACCURACY, ACCURACY_WITHIN_1, AMAE, MMAE, QWK, TAU),
        *(SPEARMAN, RPS, NLL, ECE, UNIMODAL, VIOLATIONS, VIOLATION_SIZE, RMSE),
        *(
            BALANCED_ACCURACY,
            GEOMETRIC_SENSITIVITY,
            MIN_SENSITIVITY,
            EXTREME_SENSITIVITY,
            EXTREME_GEOMETRIC_SENSITIVITY,
            IBA,
        ),
        *(KAPPA, LWK, CEM, OCI, UOC, EMD, SCE, UNIMODAL_WEAK, UNIMODAL_QUASI, UNIMODAL_TWO_DECIMALS),
        *(ACCURACY_WITHIN_3, ACCURACY_WITHIN_5),
    ],
)
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
