"""A network of the user's own through the commands, in processes of their own."""

import os
import subprocess
import sys

import pytest

NETS = """
from torch import nn


class Wide(nn.Sequential):
    def __init__(self, num_features):
        super().__init__(nn.Linear(num_features, 24), nn.GELU())
"""
TINY = ("--epochs", "2", "--device", "cpu", "--quiet")


@pytest.fixture
def onepeak(tmp_path):
    """Runs a command in a folder with the user's file, as a process."""
    (tmp_path / "nets.py").write_text(NETS)

    def call(*arguments, folder=tmp_path, **environment):
        command = [sys.executable, "-m", "onepeak", *map(str, arguments)]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | environment)

    return call


def test_it_is_trained_and_asked_where_its_file_is(onepeak, table, tmp_path):
    flags = ("--label", "grade", "--method", "elb", "--backbone", "nets:Wide", "--out", "model", "--logger", "none")
    assert onepeak("train", table, *flags, *TINY).returncode == 0
    refused = onepeak("predict", "model", table)
    assert (refused.returncode, "set the environment variable ONEPEAK_TRUST=nets" in refused.stderr) == (2, True)
    answered = onepeak("predict", "model", table, "--csv", ONEPEAK_TRUST="nets")
    assert (answered.returncode, len(answered.stdout.splitlines())) == (0, 81)
    (tmp_path / "nets.py").write_text(NETS + "# another\n")
    warned = onepeak("predict", "model", table, "--csv", ONEPEAK_TRUST="nets")
    assert (warned.returncode, warned.stdout) == (0, answered.stdout)
    assert "The file that nets:Wide is written in was changed since the model was trained" in warned.stderr
    (tmp_path / "elsewhere").mkdir()
    refused = onepeak("predict", tmp_path / "model", table, folder=tmp_path / "elsewhere", ONEPEAK_TRUST="nets")
    assert refused.returncode == 2
    assert "`backbone` must name a module that can be imported, got 'nets:Wide'" in refused.stderr


def test_a_comparison_trains_it_in_workers_and_knows_when_it_was_changed(onepeak, table, tmp_path):
    flags = ("--label", "grade", "--backbone", "nets:Wide", "--folds", "1", "--out", "all", "--workers", "2")
    first = onepeak("compare", table, "--methods", "ce,elb", *flags, *TINY)
    assert first.returncode == 0, first.stderr
    assert len(list(tmp_path.glob("all/runs/*/*/result.json"))) == 2
    (tmp_path / "nets.py").write_text(NETS.replace("GELU", "ReLU"))
    again = onepeak("compare", table, "--methods", "ce,elb,slopes", *flags, *TINY)
    assert (again.returncode, "the file that the backbone is written in differs" in again.stderr) == (2, True)
