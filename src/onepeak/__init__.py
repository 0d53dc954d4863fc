"""onepeak: deep ordinal classification whose posteriors have one peak.

Every public name is imported on first use, so `import onepeak` stays fast.
"""

from typing import TYPE_CHECKING

from onepeak._core.imports import lazy_names
from onepeak._version import __version__ as __version__

if TYPE_CHECKING:
    from onepeak import constraints, data, errors, metrics, networks, posterior
    from onepeak.constraints import ELBLoss, LogBarrier, PenaltyLoss, QuadraticPenalty, UnimodalLoss, order_gaps
    from onepeak.estimator import OrdinalClassifier
    from onepeak.methods import Constrained, Method, PeakLoss, SmoothScores, method, methods
    from onepeak.serving import load

__all__ = [
    "Constrained",
    "ELBLoss",
    "LogBarrier",
    "Method",
    "OrdinalClassifier",
    "PeakLoss",
    "PenaltyLoss",
    "QuadraticPenalty",
    "SmoothScores",
    "UnimodalLoss",
    "constraints",
    "data",
    "errors",
    "load",
    "method",
    "methods",
    "metrics",
    "networks",
    "order_gaps",
    "posterior",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        # `methods` is a callable package, see its `__init__`
        "": ["constraints", "data", "errors", "methods", "metrics", "networks", "posterior"],
        "constraints": ["ELBLoss", "LogBarrier", "PenaltyLoss", "QuadraticPenalty", "UnimodalLoss", "order_gaps"],
        "estimator": ["OrdinalClassifier"],
        "methods.catalog": ["method"],
        "methods.constrained": ["Constrained"],
        "methods.method": ["Method"],
        "methods.peak": ["PeakLoss"],
        "methods.smoothed": ["SmoothScores"],
        "serving": ["load"],
    },
)
