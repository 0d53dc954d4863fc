"""Comparisons on a real cluster of two nodes; `compare_on_ray.py` makes them, once."""

import functools
import hashlib
import json
import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.made_once import made_once
from experiment.same_runs import assert_same_runs
from onepeak.errors import InputError
from onepeak.experiment.executors.ray import ClusterError, RayExecutor, Share, connect, places

pytest.importorskip("ray", reason="the executor ray needs ray: pip install 'onepeak[ray]'")

RUNS = ["ce/split0-fold0", "elb/split0-fold0", "ce/split1-fold0", "elb/split1-fold0"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory, worker_id):
    """The folder of all comparisons on a cluster, and what was seen while they were made."""
    return made_once("compare_on_ray.py", tmp_path_factory, worker_id)


def test_a_cluster_gives_the_same_bits_as_this_machine(compared):
    place, facts = compared
    assert facts["outcome"] == {"finished": RUNS, "failed": {}}
    assert (facts["workers"], facts["devices"]) == (2, ["2 nodes of a Ray cluster (cpu)"])
    assert_same_runs(place / "ray", place / "local")


def test_what_happens_on_the_nodes_is_told_here(compared):
    _, facts = compared
    for run in RUNS:
        told = [kind for kind, name in facts["events"] if name == run]
        assert told[0] == "Started"
        assert told[-1] == "Finished"
        assert 1 <= told.count("EpochDone") <= 4
        assert len(told) == 2 + told.count("EpochDone")


def test_a_run_that_fails_on_a_node_is_written_down_here_and_the_others_are_done(compared):
    place, facts = compared
    assert facts["failing"]["finished"] == ["elb/split0-fold0"]
    error = json.loads((place / "failing" / "runs" / "wild" / "split0-fold0" / "error.json").read_text())
    assert facts["failing"]["failed"] == {"wild/split0-fold0": error["message"]}
    assert "loss is not a number at epoch 0" in error["message"]
    assert error["kind"] == "DivergedError"
    assert "Traceback" in error["traceback"]


def test_a_run_that_another_process_has_is_waited_for(compared):
    _, facts = compared
    events = facts["failing"]["events"]
    assert "Elsewhere" in events
    assert "Started" in events[events.index("Elsewhere") :]


def test_the_command_trains_a_table_on_a_cluster_and_prints_nothing_of_rays(compared):
    place, facts = compared
    assert facts["command"]["status"] == 0
    printed = json.loads(facts["command"]["printed"])
    assert {(row["method"], row["n"]) for row in printed["summary"] if row["metric"] == "mae"} == {("ce", 1)}
    assert (place / "table" / "runs" / "ce" / "split0-fold0" / "model.safetensors").exists()


def test_a_network_of_the_users_own_is_trained_on_a_cluster(compared):
    place, facts = compared
    assert facts["own network"]["status"] == 0
    known = json.loads((place / "own" / "runs" / "ce" / "split0-fold0" / "onepeak.json").read_text())
    assert known["network"]["backbone"] == "nets_on_ray:wide"
    assert known["backbone_source"] == hashlib.sha256((place / "nets_on_ray.py").read_bytes()).hexdigest()


def test_control_c_ends_the_tasks_and_frees_their_runs(compared):
    _, facts = compared
    assert facts["interrupt"] == {"passed on": True, "free": [True] * 4, "at work": [0, 0]}
    assert facts["left behind"] == []


def test_after_control_c_a_killed_process_and_a_lost_node_all_bits_are_the_same(compared):
    place, facts = compared
    losing = facts["losing"]
    assert len(losing["lost"]) == 2
    assert len(losing["told"]) == 2
    assert losing["workers"] == [2, 1]
    assert losing["failed"] == {}
    assert_same_runs(place / "lossy", place / "long-local")


def test_a_run_that_is_lost_too_often_has_failed(compared):
    place, facts = compared
    assert facts["given up"]["finished"] == []
    message = facts["given up"]["failed"]["ce/split0-fold0"]
    assert message == (
        "Its process was lost 1 time, the last time with: The worker died unexpectedly while executing this task."
    )
    error = json.loads((place / "given-up" / "runs" / "ce" / "split0-fold0" / "error.json").read_text())
    assert error["message"] == message


def test_images_that_no_node_sees_and_that_are_too_many_to_be_sent_are_refused(compared):
    _, facts = compared
    assert "more than the" in facts["too many"]
    assert "under the same path on every node" in facts["too many"]


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


pytest.importorskip("ray", reason="the executor ray needs ray: pip install 'onepeak[ray]'")

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
