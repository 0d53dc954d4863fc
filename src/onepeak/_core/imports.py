"""Imports of optional packages, and public names that are imported on first use."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from onepeak.errors import MissingExtraError


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Imports an optional module, or raises an error that names the extra to install.

    Args:
        module: Dotted name of the module.
        extra: The extra of onepeak that installs it.
        purpose: What needs the module, as the subject of the message ("This report").

    Example:
        >>> require("a_package_nobody_has", extra="report", purpose="This report")
        Traceback (most recent call last):
        onepeak.errors.MissingExtraError: This report needs a_package_nobody_has: pip install 'onepeak[report]' (See ...
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != top:
            raise  # the package is installed but fails to import something else: show that error
        raise MissingExtraError(f"{purpose} needs {top}: pip install 'onepeak[{extra}]'", page="start") from None


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Builds `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: The package's `__name__`.
        modules: Maps each submodule to the public names it defines. Public submodules themselves are listed under "".
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{homes[name] or name}")
        return getattr(module, name) if homes[name] else module

    return load, lambda: sorted(homes)


if TYPE_CHECKING:
    import pandas

    Frame: TypeAlias = pandas.DataFrame
    Column: TypeAlias = pandas.Series[Any]
else:
    Frame = Column = Any
