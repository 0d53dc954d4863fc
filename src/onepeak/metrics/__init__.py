"""Metrics for ordered classes: `torchmetrics` classes built on the pure functions in `onepeak.metrics.functional`.

Every metric has the same call, `metric.update(log_probs, labels, predicted)`. `onepeak.metrics.catalog` lists the
metrics by name, with the range and direction of each. SOI, the paper's measure of consistency, is
`functional.side_order_index`.

Example:
    >>> import torch
    >>> from onepeak.metrics import MeanAbsoluteError
    >>> metric = MeanAbsoluteError(num_classes=4)
    >>> metric.update(torch.tensor([0, 3, 2, 3]), torch.tensor([0, 1, 2, 3]))  # or log-probabilities, and the labels
    >>> metric.compute().item()
    0.5
"""

from typing import TYPE_CHECKING

from onepeak._core.imports import lazy_names
from onepeak.metrics import catalog

if TYPE_CHECKING:
    from onepeak.metrics import functional
    from onepeak.metrics.bootstrap import confidence_intervals
    from onepeak.metrics.classes import *  # noqa: F403

_CLASSES = sorted({record.class_name for record in catalog.METRICS})

__all__ = ["catalog", "confidence_intervals", "functional", *_CLASSES]

# torchmetrics takes seconds to import, so it is imported with the first class that is used.
__getattr__, __dir__ = lazy_names(
    __name__, {"": ["catalog", "functional"], "bootstrap": ["confidence_intervals"], "classes": _CLASSES}
)
