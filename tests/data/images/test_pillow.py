import ast
import importlib
import sys
from pathlib import Path

import pytest

import onepeak
import onepeak.data.images.pillow  # so that it is there to be taken away
from onepeak.errors import MissingExtraError

PACKAGE = Path(onepeak.__file__).parent


def test_where_pillow_is_missing_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)  # as on a machine without the extra
    monkeypatch.delitem(sys.modules, "onepeak.data.images.pillow")
    with pytest.raises(MissingExtraError, match=r"Reading images needs PIL: pip install 'onepeak\[data\]'"):
        importlib.import_module("onepeak.data.images.pillow")


def test_no_other_file_imports_pillow_itself():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] == "PIL" for name in names):
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found == {"data/images/pillow.py"}
