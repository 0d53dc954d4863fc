import importlib.util
import subprocess
import sys

import pytest

from onepeak import experiment


@pytest.mark.parametrize("name", experiment.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(experiment, name).__doc__
    assert name in dir(experiment)


def test_no_public_name_is_hidden_by_a_module_of_the_same_name():
    """Once imported, the module would be found in place of the function."""
    for name in experiment.__all__:
        assert importlib.util.find_spec(f"onepeak.experiment.{name}") is None, name


def test_what_is_not_asked_for_is_not_imported():
    code = "import sys, onepeak.experiment; onepeak.experiment.holm; print('torchvision' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
