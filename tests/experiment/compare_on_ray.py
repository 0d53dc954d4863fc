"""Comparisons on a real Ray cluster of two nodes, of which one is lost: run by `test_ray_cluster.py`."""

import contextlib
import io
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from unittest import mock

import lightning.fabric  # noqa: F401 - imported here, so that no forked worker has to
import pandas  # noqa: F401
import pyarrow.parquet  # noqa: F401
import safetensors.torch  # noqa: F401
import torch
import torchmetrics  # noqa: F401

from experiment.tiny import tiny
from onepeak.cli import main
from onepeak.errors import InputError
from onepeak.experiment.compare import compare
from onepeak.experiment.events import Elsewhere, EpochDone, Lost
from onepeak.experiment.executors import ray as ray_fleet
from onepeak.experiment.executors.local import LocalExecutor
from onepeak.experiment.executors.ray import QUIET, RayExecutor
from onepeak.experiment.folder import begin, claim
from onepeak.experiment.grid import grid
from onepeak.experiment.plan import MethodEntry

LONG = 120
"""Epochs of a run that is to be caught at work, also on a quick machine, and is then given up."""
LONGISH = 35
"""Epochs of runs that are caught at work and done again: there are four of them, so that one always is at work."""


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


def recorded(events):
    def report(event):
        events.append([type(event).__name__, event.run.name])

    return report


def outcome_of(outcome):
    return {
        "finished": [run.name for run in outcome.finished],
        "failed": {event.run.name: event.message for event in outcome.failed},
    }


def a_run_fails_and_one_is_elsewhere(cache, folder):
    """Of two runs one runs away; the other is claimed by somebody else until that was told."""
    prepared_experiment = tiny(cache, MethodEntry(name="ce", recipe={"lr": 1e30}, label="wild"), "elb", num_splits=1)
    _, other = grid(prepared_experiment.experiment.methods, prepared_experiment.splits)
    events = []
    begin(folder, prepared_experiment)
    with contextlib.ExitStack() as claimed:
        claimed.enter_context(claim(other.folder(folder)))

        def report(event):
            events.append(type(event).__name__)
            if isinstance(event, Elsewhere):
                claimed.close()

        outcome = compare(prepared_experiment, folder, executor=RayExecutor(), report=report)
    return outcome_of(outcome) | {"events": events}


def interrupted(prepared_experiment, folder, nodes):
    """Ctrl-C at the first epoch."""

    def report(event):
        if isinstance(event, EpochDone):
            raise KeyboardInterrupt

    passed_on = False
    try:
        compare(prepared_experiment, folder, executor=RayExecutor(), report=report)
    except KeyboardInterrupt:
        passed_on = True
    free = []
    for run in grid(prepared_experiment.experiment.methods, prepared_experiment.splits):
        with claim(run.folder(folder)) as ours:
            free.append(ours)
    return {"passed on": passed_on, "free": free, "at work": [len(at_work(node)) for node in nodes]}


def images_that_are_too_many(prepared_experiment, folder):
    try:
        with mock.patch.object(ray_fleet, "MOST_SENT", 1000):
            compare(prepared_experiment, folder, executor=RayExecutor(), report=ignore)
    except InputError as error:
        return str(error)
    return None


def a_process_and_a_node_are_lost(prepared_experiment, folder, cluster, node):
    """One process of a node is killed, then the node."""
    lost, told = [], []

    def report(event):
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
    return outcome_of(outcome) | {"lost": lost, "told": told, "workers": [before, RayExecutor().workers]}


def a_process_is_lost_for_good(prepared_experiment, folder, node):
    def report(event):
        if isinstance(event, EpochDone):
            for process in at_work(node):
                os.kill(process, signal.SIGKILL)

    with mock.patch.object(ray_fleet, "RETRIES", 0):
        return outcome_of(compare(prepared_experiment, folder, executor=RayExecutor(), report=report))


def the_command(place, *flags):
    """What `onepeak compare` does with a table, in this process, and what it prints."""
    sys.argv = ["onepeak", "compare", str(place / "table.csv"), "--methods", "ce", "--epochs", "2", "--folds", "1"]
    sys.argv += ["--device", "cpu", "--json", *flags]
    printed, status = io.StringIO(), 0
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
    cache = place / "cache"
    prepared_experiment, long = tiny(cache), tiny(cache, epochs=LONGISH)
    rows = "".join(f"{number % 3 + 0.1 * (number % 7)},{number % 3}\n" for number in range(60))
    (place / "table.csv").write_text(f"size,label\n{rows}")
    for name, each in (("local", prepared_experiment), ("long-local", long)):
        compare(each, place / name, executor=LocalExecutor(device="cpu", workers=2, start="fork"), report=ignore)
    cluster, second = two_nodes()
    try:
        first = cluster.head_node
        executor = RayExecutor(address=cluster.address, device="cpu")
        events = []
        facts = {
            "outcome": outcome_of(
                compare(prepared_experiment, place / "ray", executor=executor, report=recorded(events))
            )
        }
        facts |= {"events": events, "workers": executor.workers, "devices": executor.devices}
        facts["failing"] = a_run_fails_and_one_is_elsewhere(cache, place / "failing")
        facts["command"] = the_command(place, "--out", str(place / "table"), "--executor", "ray", "--address", "auto")
        own = ("--backbone", "nets_on_ray:wide", "--out", str(place / "own"), "--executor", "ray")
        facts["own network"] = the_command(place, *own, "--address", "auto")
        facts["interrupt"] = interrupted(long, place / "lossy", [first, second])
        facts["left behind"] = [path.name for path in scratch.glob("onepeak-*")]
        prepared_experiment.prepared.store.folder.rename(place / "hidden")  # from here on no node sees the images
        facts["too many"] = images_that_are_too_many(prepared_experiment, place / "too-many")
        facts["losing"] = a_process_and_a_node_are_lost(long, place / "lossy", cluster, second)
        prepared_experiment = tiny(cache, "ce", num_splits=1, epochs=LONG)
        facts["given up"] = a_process_is_lost_for_good(prepared_experiment, place / "given-up", first)
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
