import pytest

from onepeak._extras import require
from onepeak.errors import MissingExtraError


def test_a_module_that_is_there_is_given():
    assert require("json.decoder", extra="cli", purpose="This").__name__ == "json.decoder"


def test_a_missing_package_names_its_extra():
    with pytest.raises(MissingExtraError, match=r"This report needs nowhere: pip install 'onepeak\[report\]'"):
        require("nowhere.to.be.found", extra="report", purpose="This report")


def test_a_package_that_fails_for_a_reason_of_its_own_shows_that_reason(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import something_it_needs\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="something_it_needs"):
        require("broken_package", extra="report", purpose="This report")
