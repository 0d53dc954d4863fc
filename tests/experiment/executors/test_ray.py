"""A real cluster of two nodes, which `compare_on_ray.py` starts once, and a stand-in for it in this process."""

import contextlib
import functools
import hashlib
import json
import socket
import time
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.tiny import assert_same_runs, made_once, tiny
from onepeak.errors import InputError
from onepeak.experiment.compare import compare
from onepeak.experiment.events import Elsewhere
from onepeak.experiment.executors import ray as ray_fleet
from onepeak.experiment.executors.ray import RETRIES, ClusterError, RayExecutor, Share, connect, places
from onepeak.experiment.folder import begin, claim
from onepeak.experiment.plan import MethodEntry, grid

pytest.importorskip("ray", reason="the executor ray needs ray: pip install 'onepeak[ray]'")


@pytest.fixture(scope="module")
def compared(tmp_path_factory, worker_id):
    """The folder of all comparisons on a cluster, and what was seen while they were made."""
    return made_once("compare_on_ray.py", tmp_path_factory, worker_id)


def test_on_a_cluster_control_c_ends_the_tasks_and_frees_their_runs(compared):
    _, facts = compared
    assert (facts["workers"], facts["devices"]) == (2, ["2 nodes of a Ray cluster (cpu)"])
    assert facts["interrupt"] == {"passed on": True, "free": [True] * 4, "at work": [0, 0]}
    assert facts["left behind"] == []


def test_after_control_c_a_killed_process_and_a_lost_node_all_bits_are_those_of_this_machine(compared):
    place, facts = compared
    losing = facts["losing"]
    assert len(losing["lost"]) == len(losing["told"]) == 2
    assert losing["workers"] == [2, 1]
    assert losing["failed"] == 0
    assert_same_runs(place / "lossy", place / "local")


def test_what_happens_on_the_nodes_is_told_here(compared):
    _, facts = compared
    for run in {name for _, name in facts["losing"]["events"]}:
        told = [kind for kind, name in facts["losing"]["events"] if name == run]
        assert told[-1] == "Finished"
        assert told.count("Finished") == 1
        assert "EpochDone" in told or len(told) == 1  # a run that was finished before


def test_the_command_trains_a_table_by_a_network_of_the_users_own_and_prints_nothing_of_rays(compared):
    place, facts = compared
    assert facts["command"] == {"status": 0, "printed": ""}
    folder = place / "own" / "runs" / "ce" / "split0-fold0"
    known = json.loads((folder / "onepeak.json").read_text())
    assert known["network"]["backbone"] == "nets_on_ray:wide"
    assert known["backbone_source"] == hashlib.sha256((place / "nets_on_ray.py").read_bytes()).hexdigest()
    assert (folder / "model.safetensors").exists()


class LostError(Exception):
    """A process or a node is gone."""


class InOneProcess(ModuleType):
    """As much of Ray as a fleet asks for: a task is done when it is asked for its result."""

    exceptions = SimpleNamespace(RayError=LostError, RayTaskError=type("TaskError", (LostError,), {}))

    def __init__(self, losses=()):
        super().__init__("ray")
        self.losses, self.cancelled, self.killed = list(losses), [], []

    def nodes(self):
        return [{"Alive": True, "Resources": {"CPU": 1.0}}]

    def put(self, value):
        return value

    def remote(self, thing):
        def call(work):
            return SimpleNamespace(remote=lambda *args, **given: functools.partial(work, *args, **given))

        if isinstance(thing, type):
            actor = thing()
            posted = SimpleNamespace(remote=actor.post)
            made = SimpleNamespace(remote=lambda: SimpleNamespace(post=posted, take=call(actor.take)))
        else:
            made = call(thing)
        made.options = lambda **_: made
        return made

    def get(self, task, **_):
        if task.func.__name__ == "train_on_node" and self.losses and self.losses.pop(0):
            raise LostError("The worker died. Much more is said of it.")
        return task()

    def wait(self, tasks, num_returns=1, **_):
        return tasks[:num_returns], tasks[num_returns:]

    def cancel(self, _, *, force):
        self.cancelled.append(force)

    def kill(self, actor):
        self.killed.append(actor)


@pytest.fixture
def on_ray(monkeypatch, tmp_path):
    """Compares in a cluster that is this process; gives its stand-in, the outcome and the kinds of all events."""
    monkeypatch.setenv("ONEPEAK_CACHE", str(tmp_path / "there"))
    monkeypatch.setattr(ray_fleet, "_ASK_AGAIN", 0.0)
    monkeypatch.setattr(ray_fleet, "_LISTEN", 0.0)

    def run(prepared_experiment, *, losses=(), act=lambda _: None):
        ray, events = InOneProcess(losses), []
        monkeypatch.setattr(ray_fleet, "connect", lambda _: ray)

        def report(event):
            events.append(type(event).__name__)
            act(event)

        outcome = compare(prepared_experiment, tmp_path / "out", executor=RayExecutor(device="cpu"), report=report)
        return ray, outcome, events

    return run


def test_a_run_that_fails_on_a_node_is_written_down_here_and_one_that_another_has_is_waited_for(on_ray, tmp_path):
    wild = MethodEntry(name="ce", recipe={"lr": 1e30}, label="wild")
    prepared_experiment = tiny(tmp_path / "cache", wild, "elb", num_splits=1, epochs=1)
    _, other = grid(prepared_experiment.experiment.methods, prepared_experiment.splits)
    begin(tmp_path / "out", prepared_experiment)
    with contextlib.ExitStack() as claimed:
        claimed.enter_context(claim(other.folder(tmp_path / "out")))
        _, outcome, events = on_ray(
            prepared_experiment, act=lambda event: claimed.close() if isinstance(event, Elsewhere) else None
        )
    assert [run.name for run in outcome.finished] == ["elb/split0-fold0"]
    assert events[0] == "Elsewhere"
    error = json.loads((tmp_path / "out" / "runs" / "wild" / "split0-fold0" / "error.json").read_text())
    assert "loss is not a number at epoch 0" in error["message"] == outcome.failed[0].message
    assert (error["kind"], "Traceback" in error["traceback"]) == ("DivergedError", True)


@pytest.mark.parametrize(("times", "ends"), [(RETRIES, ["Finished"]), (RETRIES + 1, ["Failed"])])
def test_a_run_starts_again_until_it_was_lost_too_often(on_ray, tmp_path, times, ends):
    _, outcome, events = on_ray(tiny(tmp_path / "cache", "ce", num_splits=1, epochs=1), losses=[True] * times)
    assert [event for event in events if event not in ("Started", "EpochDone")] == ["Lost"] * RETRIES + ends
    if outcome.failed:
        message = f"Its process was lost {times} times, the last time with: The worker died."
        error = json.loads((tmp_path / "out" / "runs" / "ce" / "split0-fold0" / "error.json").read_text())
        assert outcome.failed[0].message == error["message"] == message


def test_images_that_no_node_sees_are_sent_unless_they_are_too_many(on_ray, tmp_path, monkeypatch):
    prepared_experiment = tiny(tmp_path / "cache", "ce", num_splits=1, epochs=1)
    prepared_experiment.prepared.store.folder.rename(tmp_path / "hidden")
    with monkeypatch.context() as small:
        small.setattr(ray_fleet, "MOST_SENT", 1000)
        with pytest.raises(InputError, match=r"more than the .* under the same path on every node"):
            on_ray(prepared_experiment)
    monkeypatch.setattr(ray_fleet, "_fetched", iter)
    _, outcome, _ = on_ray(prepared_experiment)
    assert [run.name for run in outcome.finished] == ["ce/split0-fold0"]


def test_an_interruption_cancels_all_tasks_gently_first_and_frees_their_runs(on_ray, tmp_path, monkeypatch):
    prepared_experiment = tiny(tmp_path / "cache", num_splits=1, epochs=1)
    stand_in = InOneProcess()

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(stand_in, "wait", lambda tasks, **_: ([], tasks))
    monkeypatch.setattr(stand_in, "get", stopped)
    monkeypatch.setattr(ray_fleet, "connect", lambda _: stand_in)
    with pytest.raises(KeyboardInterrupt):
        compare(prepared_experiment, tmp_path / "out", executor=RayExecutor(device="cpu"), report=print)
    assert stand_in.cancelled == [False, False, True, True]
    assert len(stand_in.killed) == 1
    for run in grid(prepared_experiment.experiment.methods, prepared_experiment.splits):
        with claim(run.folder(tmp_path / "out")) as ours:
            assert ours


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cpus_per_run": 0}, "`cpus_per_run` must be a finite number > 0, got 0"),
        ({"gpus_per_run": -1}, "`gpus_per_run` must be a finite number >= 0, got -1"),
        ({"gpus_per_run": 1.5}, "`gpus_per_run` must be a fraction of one GPU or a whole number, got 1.5"),
        (
            {"gpus_per_run": 0.5, "device": "cpu"},
            "`gpus_per_run` must be 0 on a CPU and above 0 on a GPU, got 0.5 on cpu",
        ),
        (
            {"gpus_per_run": 0, "device": "cuda"},
            "`gpus_per_run` must be 0 on a CPU and above 0 on a GPU, got 0 on cuda",
        ),
        ({"device": "cuda:1"}, "Unknown `device` 'cuda:1'"),
        ({"workers": 0}, "`workers` must be an integer >= 1, got 0"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_any_cluster_is_looked_for(settings, message):
    with pytest.raises(InputError, match=message):
        RayExecutor(**settings)


NODES = st.fixed_dictionaries({"CPU": st.integers(0, 8).map(float), "GPU": st.integers(0, 4).map(float)})


def packed_one_by_one(nodes, cpus, gpus):
    """Puts runs on nodes as long as there is one with room, each part of a GPU on one GPU."""
    count = 0
    for node in nodes:
        free_cpu, free_gpus = node["CPU"], [1.0] * int(node["GPU"])
        while free_cpu + 1e-9 >= cpus:
            if gpus >= 1:
                whole = [place for place, free in enumerate(free_gpus) if free == 1.0][: int(gpus)]
                if len(whole) < gpus:
                    break
                for place in whole:
                    free_gpus[place] = 0.0
            elif gpus:
                room = [place for place, free in enumerate(free_gpus) if free + 1e-9 >= gpus]
                if not room:
                    break
                free_gpus[room[0]] -= gpus
            free_cpu -= cpus
            count += 1
    return count


@given(
    st.lists(NODES, max_size=4),
    st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0]),
    st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.4, 0.5, 0.6, 1.0, 2.0, 3.0]),
)
def test_the_places_are_as_many_as_runs_can_be_packed(nodes, cpus, gpus):
    assert places(nodes, Share(cpus=cpus, gpus=gpus)) == packed_one_by_one(nodes, cpus, gpus)


def test_a_run_computes_where_its_share_is_with_as_many_threads_as_cpus():
    shares = [Share(cpus=cpus, gpus=gpus) for cpus, gpus in ((0.5, 0.0), (1.0, 0.25), (4.0, 1.0))]
    assert [(share.device, share.threads) for share in shares] == [("cpu", 1), ("cuda", 1), ("cuda", 4)]


@pytest.mark.bad_input
@pytest.mark.parametrize("address", ["nonsense", "host:", ":6379", "ray://host", "http://host:port"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InputError, match=r"`address` must be auto, local, host:port or ray://host:port, got"):
        connect(address)


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}"])
def test_an_address_where_nobody_listens_is_told_at_once(form):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = form.format(server.getsockname()[1])
    start = time.monotonic()
    with pytest.raises(ClusterError, match="Nothing listens at"):
        connect(address)
    assert time.monotonic() - start < 10


def test_an_address_in_the_environment_is_meant_by_auto(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "elsewhere")
    with pytest.raises(InputError, match="got 'elsewhere'"):
        connect("auto")


def test_without_any_cluster_auto_says_how_to_start_one(monkeypatch, tmp_path):
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    # There may be one of somebody else's on this machine.
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", functools.cache(set), raising=False)
    with pytest.raises(ClusterError, match=r"No Ray cluster could be joined at 'auto' .*: start one with"):
        connect("auto")
