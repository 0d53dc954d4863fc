"""One file a method, all behind one small protocol; `catalog` finds them by name."""

import sys
from types import ModuleType

from onepeak.methods.catalog import method, methods
from onepeak.methods.constrained import Constrained
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord
from onepeak.methods.smoothed import Smoothed

__all__ = ["Constrained", "Method", "MethodRecord", "Smoothed", "method", "methods"]


class _CallablePackage(ModuleType):
    """`onepeak.methods` is this package and `onepeak.methods()` is the catalog: Python gives both the same place."""

    def __call__(self) -> tuple[MethodRecord, ...]:
        return methods()


sys.modules[__name__].__class__ = _CallablePackage
