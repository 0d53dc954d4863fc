import os
import subprocess
import sys

import pytest

from onepeak.experiment.scratch import scratch_folder


def test_a_folder_is_there_while_it_is_worked_in_and_gone_afterwards(tmp_path):
    with scratch_folder(tmp_path) as one, scratch_folder(tmp_path) as other:
        assert one != other
        (one / "checkpoint.pt").write_text("large")
        assert sorted(path for path in tmp_path.iterdir() if path.is_dir()) == sorted([one, other])
    assert list(tmp_path.iterdir()) == []


def test_it_is_gone_after_an_error_too(tmp_path):
    with pytest.raises(KeyboardInterrupt), scratch_folder(tmp_path):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_and_nothing_else(tmp_path):
    (tmp_path / "mine").mkdir()
    code = f"""
import os, signal
from pathlib import Path
from onepeak.experiment.scratch import scratch_folder
with scratch_folder(Path({str(tmp_path)!r})) as folder:
    (folder / "checkpoint.pt").write_text("large")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False, env=os.environ)
    (left,) = [path for path in tmp_path.iterdir() if path.is_dir() and path.name != "mine"]
    assert (left / "checkpoint.pt").exists()
    with scratch_folder(tmp_path) as folder:
        assert {path for path in tmp_path.iterdir() if path.is_dir()} == {tmp_path / "mine", folder}
    assert list(tmp_path.iterdir()) == [tmp_path / "mine"]
