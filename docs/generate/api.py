"""One page of reference a public package, from its docstrings."""

import importlib
import inspect
import re
from pathlib import Path

PACKAGES = (
    "onepeak.constraints",
    "onepeak.methods",
    "onepeak.posterior",
    "onepeak.metrics",
    "onepeak.metrics.functional",
    "onepeak.metrics.catalog",
    "onepeak.networks",
    "onepeak.data",
    "onepeak.data.splits",
    "onepeak.experiment",
    "onepeak.estimator",
    "onepeak.report",
    "onepeak.serving",
    "onepeak.errors",
)
"""Where public names are at home; those of `onepeak` itself are taken from these."""

_PAGE = """# {package}

```{{eval-rst}}
.. automodule:: {package}
   :no-index:
   :no-members:

.. currentmodule:: {package}

{entries}
```
"""


def write_pages(folder: Path) -> None:
    """Writes the pages and the list of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        text = _PAGE.format(package=package, entries="\n".join(_entries(package)))
        _write(folder / f"{package}.md", text)
    links = "\n".join(f"{package} <{package}>" for package in PACKAGES)
    names = "\n".join(_summaries(package) for package in PACKAGES)
    toctree = f"```{{toctree}}\n:hidden:\n{links}\n```"
    _write(folder / "index.md", f"# Reference\n\n{_INTRODUCTION}\n{toctree}\n\n{names}")


def _summaries(package: str) -> str:
    """Every public name of a package with the first line of its docstring."""
    module = importlib.import_module(package)
    lines = [f"## [{package}]({package}.md)", ""]
    for name in public(package):
        value = getattr(module, name)
        documented = isinstance(value, type) or callable(value)
        first = (inspect.getdoc(value) or "").partition("\n")[0] if documented else ""
        text = re.sub(r":\w+:`~?([^`]*)`", r"\1", first)
        lines.append(f"- [`{name}`]({package}.md): {text}" if text else f"- [`{name}`]({package}.md)")
    return "\n".join([*lines, ""])


_INTRODUCTION = """Made from the docstrings, whose examples the tests run. Names of `onepeak` itself are at home in
these packages: `onepeak.ELBLoss` is `onepeak.constraints.ELBLoss`, `onepeak.load` is `onepeak.serving.load`. What is
not listed here is not public and may change.
"""


def public(package: str) -> list[str]:
    """The names that a package gives to others."""
    module = importlib.import_module(package)
    names: list[str] = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if isinstance(value, type) and value.__module__ == package
    ]
    return names


def _entries(package: str) -> list[str]:
    module, found = importlib.import_module(package), []
    for name in public(package):
        value = getattr(module, name)
        if isinstance(value, type):
            found.append(f".. autoclass:: {name}\n")
        elif callable(value):
            found.append(f".. autofunction:: {name}\n")
        elif type(value).__name__ != "module":  # modules have a page of their own
            found.append(f".. autodata:: {name}\n   :no-value:\n")
    return found


def _write(path: Path, text: str) -> None:
    """Only where it changed, so that a second build has little to do."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
