"""Processes forked from one that has imported everything once, because torch and lightning alone take five seconds."""

import atexit
import multiprocessing
import os
import runpy
import shutil
import signal
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    ["lightning.fabric", "pandas", "pyarrow.parquet", "safetensors.torch", "torchmetrics", "torch._dynamo"]
)


class Forked:
    """A script, or a module as `python -m` runs it, with the members of `subprocess.Popen` that tests use.

    It leads a group of processes, as a command in a shell does.
    """

    def __init__(self, program, *arguments, **environment):
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
        self._files = [Path(folder, name) for name in ("stdout", "stderr")]
        given = (str(program), [str(each) for each in arguments], environment, self._files)
        self._process = _SERVER.Process(target=_run, args=given)
        self._process.start()
        self.pid = self._process.pid

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def communicate(self, timeout=570):
        """What it has printed, and its errors, once it has ended."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutError(self._files[1].read_text())
        return tuple(file.read_text() for file in self._files)

    def kill(self):
        self._process.kill()
        self._process.join()


def output_of(program, *arguments, **environment):
    """What a script prints; an error where it failed."""
    process = Forked(program, *arguments, **environment)
    try:
        output, errors = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)  # and what it has started
        raise
    assert process.returncode == 0, errors
    return output


def _run(program, arguments, environment, files):
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    os.environ |= environment
    sys.argv = [program, *arguments]
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
