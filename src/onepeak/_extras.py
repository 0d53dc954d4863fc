"""Imports of optional packages. When one is missing, the error names the extra that installs it."""

import importlib
from types import ModuleType

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
