"""Imports only point down the list of layers."""

import ast
from pathlib import Path

import onepeak

PACKAGE = Path(onepeak.__file__).parent

LAYERS = [
    ["errors", "_version", "_core"],
    ["kernels"],
    ["constraints"],
    ["posterior"],
    ["methods"],
    ["metrics"],
    ["networks"],
    ["data"],
    ["training"],
    ["experiment"],
    ["report"],
    ["serving"],
    ["estimator"],
    ["cli"],
    ["__main__"],
]
"""Lowest first. `posterior` lies under `methods`: it knows log-probabilities only, and a method's prediction is one of
its decisions. `kernels` lies under the one that defines the formulas: `constraints`."""

RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def layer_of(dotted):
    return dotted.split(".")[1] if "." in dotted else None


def imports(path):
    """Every module of onepeak that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "onepeak")
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "onepeak":
            whole = node.module == "onepeak"
            yield from (f"onepeak.{alias.name}" for alias in node.names) if whole else [node.module]


def test_every_module_belongs_to_a_layer():
    assert {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES} <= set(RANK)


def test_every_folder_of_modules_is_a_package_that_says_what_it_holds():
    for folder in {path.parent for path in FILES}:
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))), folder


def test_imports_only_point_down():
    wrong = []
    for path in FILES:
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for dotted in imports(path):
            layer = layer_of(dotted)
            if layer is None or layer not in RANK:  # the package itself, whose names are public: for the shells on top
                wrong += [] if own == "cli" else [f"{path.relative_to(PACKAGE)} imports the public package"]
            elif RANK[layer] > RANK[own]:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {dotted}")
    assert wrong == []


def test_only_constraints_and_methods_import_kernels():
    importers = {
        path.relative_to(PACKAGE).parts[0]
        for path in FILES
        if any(dotted.startswith("onepeak.kernels") for dotted in imports(path))
    }
    assert importers <= {"constraints", "kernels", "methods"}


def test_no_file_is_named_for_having_no_subject():
    assert not [path for path in FILES if path.stem in ("utils", "helpers", "common", "misc")]
