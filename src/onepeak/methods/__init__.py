"""The methods, one per file, behind one small base class; `catalog` finds them by name."""

import sys
from types import ModuleType

from onepeak.methods.catalog import method, methods
from onepeak.methods.constrained import Constrained
from onepeak.methods.method import Method, Wrapped
from onepeak.methods.noise_corrected import NoiseCorrected
from onepeak.methods.peak import PeakLoss
from onepeak.methods.record import MethodRecord
from onepeak.methods.smoothed import Smoothed, SmoothScores

__all__ = [
    "Constrained",
    "Method",
    "MethodRecord",
    "NoiseCorrected",
    "PeakLoss",
    "SmoothScores",
    "Smoothed",
    "Wrapped",
    "method",
    "methods",
]


class _CallablePackage(ModuleType):
    """Makes `onepeak.methods()` return the catalog, although `onepeak.methods` is this package."""

    def __call__(self) -> tuple[MethodRecord, ...]:
        return methods()


sys.modules[__name__].__class__ = _CallablePackage
