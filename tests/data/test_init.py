import importlib.util
import subprocess
import sys

import pytest

from onepeak import data


@pytest.mark.parametrize("name", data.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(data, name).__doc__
    assert name in dir(data)


def test_no_public_name_is_hidden_by_a_module_of_the_same_name():
    """Once imported, the module would be found in place of the function."""
    for name in data.__all__:
        assert importlib.util.find_spec(f"onepeak.data.{name}") is None, name


def test_what_is_not_asked_for_is_not_imported():
    code = "import sys, onepeak.data; print({'torch', 'numpy', 'pandas', 'PIL'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
