"""Public names that are imported when they are first used, so that `import onepeak` stays fast."""

import importlib
from collections.abc import Callable, Mapping


def lazy_names(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Makes `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: The package's `__name__`.
        names: Each public name and the module that holds it; a name that is its own module maps to "".
    """

    def load(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(names[name] or f"{package}.{name}")
        return getattr(module, name) if names[name] else module

    return load, lambda: sorted(names)
