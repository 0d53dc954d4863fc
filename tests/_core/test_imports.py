import re
import tomllib
from pathlib import Path

import pytest

from onepeak._core.imports import require

ROOT = Path(__file__).parents[2]
PART_OF = {"data": "data", "sklearn": "estimator"}
"""The part of onepeak that an extra is for, where it is for one."""


@pytest.mark.parametrize("extra", PART_OF)
def test_an_extra_brings_only_what_its_part_imports(extra):
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [re.match(r"[\w-]+", need)[0] for need in content["project"]["optional-dependencies"][extra]]
    files = (ROOT / "src" / "onepeak" / PART_OF[extra]).rglob("*.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    modules = [{"pillow": "PIL", "scikit-learn": "sklearn"}.get(name, name) for name in needed]
    assert [name for name in modules if not re.search(rf'(import|from) {name}\b|require\("{name}\b', text)] == []


def test_a_package_that_fails_for_a_reason_of_its_own_shows_that_reason(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import something_it_needs\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="something_it_needs"):
        require("broken_package", extra="report", purpose="This report")
