"""Public names that are imported on first use, so `import onepeak` stays fast."""

import importlib
from collections.abc import Callable, Mapping, Sequence


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
