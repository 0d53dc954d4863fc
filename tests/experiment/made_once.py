"""What a script makes once for all processes that test."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from onepeak._core.files import locked

HERE = Path(__file__).parent


def made_once(script, tmp_path_factory, worker_id, *, timeout=570):
    """The folder that a script of this folder filled, and the facts that it printed."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / Path(script).stem
    place.mkdir(exist_ok=True)
    facts = place / "facts.json"
    with locked(place / "lock"):
        if not facts.exists():
            facts.write_text(_printed(script, place, timeout))
    return place, json.loads(facts.read_text())


def _printed(script, place, timeout):
    paths = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    printed, errors = place / "printed.json", place / "errors.txt"  # a pipe would be held open by what it leaves behind
    with printed.open("w") as output, errors.open("w") as complaints:
        process = subprocess.Popen(
            [sys.executable, str(HERE / script), str(place)],
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            stdout=output,
            stderr=complaints,
        )
        try:
            process.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)  # so that it takes down what it has started
            process.wait()
    assert process.returncode == 0, errors.read_text()
    return printed.read_text()
