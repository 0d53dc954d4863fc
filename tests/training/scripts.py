"""Starts the scripts beside this file, which train or write in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def start_script(name, *arguments, **environment):
    """A running script that finds the modules of the tests."""
    paths = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(HERE / name), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"} | environment,
    )


def outputs_of(*processes):
    """What each has printed when all are done; an error where one failed."""
    try:
        outputs = [process.communicate(timeout=570) for process in processes]
    finally:
        for process in processes:  # one that waits for another would wait for ever
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()
    assert [process.returncode for process in processes] == [0] * len(processes), outputs
    return [out for out, _ in outputs]


def run_script(name, *arguments):
    """What a script prints."""
    return outputs_of(start_script(name, *arguments))[0]
