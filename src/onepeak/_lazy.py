"""Public names that are imported when they are first used, so that `import onepeak` stays fast."""

import importlib
from collections.abc import Callable, Mapping, Sequence


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Makes `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: The package's `__name__`.
        modules: The public names that each module below the package holds; those that are modules stand under "".
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{homes[name] or name}")
        return getattr(module, name) if homes[name] else module

    return load, lambda: sorted(homes)
