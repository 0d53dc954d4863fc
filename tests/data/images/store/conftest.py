"""Small image files, and processes that build stores of them."""

import os
import textwrap
import time
from itertools import count

import pytest

from forked import Forked
from image_files import write_images


@pytest.fixture
def images(tmp_path):
    """Writes PNG files of given sizes and random pixels; gives the items and the pixels."""

    def write(*sizes, folder="pictures"):
        return write_images(tmp_path / folder, sizes)

    return write


NAMES = """
from pathlib import Path
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.build import build_store
from onepeak.data.images.store.failures import StoreError
from onepeak.data.manifest import ImageFiles
"""


@pytest.fixture(scope="session")
def processes(tmp_path_factory):
    """Runs pieces of code at once, each in a process of its own; gives the exit code and the output of each.

    The names of the image store are imported already. With `kill_after` the processes are killed after some seconds.
    """
    if not hasattr(os, "fork"):
        pytest.skip("forks and kills processes the POSIX way")
    folder, numbers = tmp_path_factory.mktemp("code"), count()

    def run(*codes, kill_after=None):
        scripts = [folder / f"{next(numbers)}.py" for _ in codes]
        for script, code in zip(scripts, codes, strict=True):
            script.write_text(NAMES + "Path(__file__).rename(__file__ + '.begun')\n" + textwrap.dedent(code))
        team = [Forked(script) for script in scripts]
        if kill_after is not None:
            while any(script.exists() for script in scripts):
                time.sleep(0.001)
            time.sleep(kill_after)
            for process in team:
                process.kill()
        outputs = ["".join(process.communicate()) for process in team]
        return [(process.returncode, output) for process, output in zip(team, outputs, strict=True)]

    return run
