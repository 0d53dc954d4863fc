"""Comparisons on a real Ray cluster of two nodes, of which one is lost: run by `test_ray.py`."""

import contextlib
import io
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import torch

from experiment.tiny import tiny
from onepeak.cli import main
from onepeak.experiment.compare import compare
from onepeak.experiment.events import EpochDone, Lost
from onepeak.experiment.executors.local import LocalExecutor
from onepeak.experiment.executors.ray import QUIET, RayExecutor
from onepeak.experiment.folder import claim
from onepeak.experiment.plan import grid

EPOCHS = 30
"""Of runs that are caught at work and done again: there are four of them, so that one always is at work."""


def ignore(event):
    pass


def two_nodes():
    """A cluster of two nodes with one CPU each, small and quick to notice a loss."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "num_gpus": 0, "object_store_memory": 80 * 2**20}
    node |= {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}  # so that it starts sooner
    config = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}
    cluster = Cluster(initialize_head=True, head_node_args=node | {"_system_config": config})
    return cluster, cluster.add_node(**node)


def at_work(node):
    """The processes of a node that train."""
    raylet = node.all_processes["raylet"][0].process.pid
    found = []
    for child in Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended while it was looked at
            if b"train_on_node" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def interrupted(prepared_experiment, folder, nodes, executor):
    """Ctrl-C at the first epoch."""

    def report(event):
        if isinstance(event, EpochDone):
            raise KeyboardInterrupt

    passed_on = False
    try:
        compare(prepared_experiment, folder, executor=executor, report=report)
    except KeyboardInterrupt:
        passed_on = True
    free = []
    for run in grid(prepared_experiment.experiment.methods, prepared_experiment.splits):
        with claim(run.folder(folder)) as ours:
            free.append(ours)
    return {"passed on": passed_on, "free": free, "at work": [len(at_work(node)) for node in nodes]}


def a_process_and_a_node_are_lost(prepared_experiment, folder, cluster, node):
    """One process of a node is killed, then the node; how all runs ended, and what was told of them."""
    lost, told, events = [], [], []

    def report(event):
        events.append([type(event).__name__, event.run.name])
        if isinstance(event, Lost):
            told.append(event.run.name)
        at_once = len(lost) == len(told) < 2  # the second loss comes after the first was noticed
        if isinstance(event, EpochDone) and at_once and (processes := at_work(node)):
            if lost:
                cluster.remove_node(node, allow_graceful=False)
            else:
                os.kill(processes[0], signal.SIGKILL)
            lost.append(event.run.name)

    before = RayExecutor().workers
    outcome = compare(prepared_experiment, folder, executor=RayExecutor(), report=report)
    workers = [before, RayExecutor().workers]
    return {"failed": len(outcome.failed), "lost": lost, "told": told, "events": events, "workers": workers}


def the_command(place, *flags):
    """What `onepeak compare` does with a table, in this process, and what it prints."""
    rows = "".join(f"{number % 3 + 0.1 * (number % 7)},{number % 3}\n" for number in range(60))
    (place / "table.csv").write_text(f"size,label\n{rows}")
    sys.argv = ["onepeak", "compare", str(place / "table.csv"), "--methods", "ce", "--epochs", "2", "--folds", "1"]
    sys.argv += ["--device", "cpu", *flags]
    printed, status = io.StringIO(), 0
    sys.modules["jinja2"] = None  # figures and pages, which take seconds, are left out
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    return {"status": status, "printed": printed.getvalue()}


NETS = """
from torch import nn


def wide(num_features):
    return nn.Sequential(nn.Linear(num_features, 9), nn.GELU())
"""


def facts_of(place, scratch):
    os.chdir(place)  # where the user's file is
    Path("nets_on_ray.py").write_text(NETS)
    runs = tiny(place / "cache", epochs=EPOCHS)
    compare(runs, place / "local", executor=LocalExecutor(device="cpu", workers=2, start="fork"), report=ignore)
    cluster, second = two_nodes()
    try:
        executor = RayExecutor(address=cluster.address, device="cpu")
        facts = {"workers": executor.workers, "devices": executor.devices}
        own = ("--backbone", "nets_on_ray:wide", "--out", str(place / "own"), "--executor", "ray")
        facts["command"] = the_command(place, *own, "--address", "auto")
        facts["interrupt"] = interrupted(runs, place / "lossy", [cluster.head_node, second], executor)
        facts["left behind"] = [path.name for path in scratch.glob("onepeak-*")]
        runs.prepared.store.folder.rename(place / "hidden")  # from here on no node sees the images
        facts["losing"] = a_process_and_a_node_are_lost(runs, place / "lossy", cluster, second)
        return facts
    finally:
        import ray

        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    torch.set_num_threads(1)
    short = Path(tempfile.mkdtemp(prefix="opr-"))  # Ray's sockets must have short names
    os.environ |= QUIET | {
        "RAY_TMPDIR": str(short),
        "RAY_memory_monitor_refresh_ms": "0",
        "ONEPEAK_CACHE": str(short / "cache"),
        "TMPDIR": str(short / "scratch"),
    }
    (short / "scratch").mkdir()
    try:
        sys.stdout.write(json.dumps(facts_of(Path(sys.argv[1]), short / "scratch")))
    finally:
        shutil.rmtree(short, ignore_errors=True)
