"""Small image files, and a store of them."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from image_files import write_images


@pytest.fixture
def images(tmp_path):
    """Writes PNG files of given sizes and random pixels; gives the items and the pixels."""

    def write(*sizes, folder="pictures"):
        return write_images(tmp_path / folder, sizes)

    return write


# Imports once, then forks a process for each piece of code: twenty processes need not wait for twenty imports.
FORKER = """
import json, os, signal, sys, tempfile, time, traceback
from pathlib import Path
from onepeak.data.manifest import ImageFiles
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.failures import StoreError; from onepeak.data.images.store.build import build_store

def forked(code):
    output = tempfile.TemporaryFile("w+")
    pid = os.fork()
    if pid:
        return pid, output
    os.dup2(output.fileno(), 1)
    try:
        exec(code, globals())
        status = 0
    except BaseException:
        print(traceback.format_exc())
        status = 1
    sys.stdout.flush()
    os._exit(status)

for line in sys.stdin:
    task = json.loads(line)
    children = [forked(code) for code in task["codes"]]
    if task["kill_after"] is not None:
        time.sleep(task["kill_after"])
        for pid, _ in children:
            os.kill(pid, signal.SIGKILL)
    answers = []
    for pid, output in children:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        output.seek(0)
        answers.append([status, output.read()])
    print(json.dumps(answers), flush=True)
"""


@pytest.fixture(scope="session")
def processes():
    """Runs pieces of code at once, each in a process of its own; gives the exit code and the output of each.

    The names of the image store are imported already. With `kill_after` the processes are killed after some seconds.
    """
    if not hasattr(os, "fork"):
        pytest.skip("forks and kills processes the POSIX way")
    with subprocess.Popen(
        [sys.executable, "-c", FORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},  # a fork copies no threads
    ) as forker:

        def run(*codes, kill_after=None):
            task = {"codes": [textwrap.dedent(code) for code in codes], "kill_after": kill_after}
            forker.stdin.write(json.dumps(task) + "\n")
            forker.stdin.flush()
            return json.loads(forker.stdout.readline())

        yield run
        forker.stdin.close()
