import functools
import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.experiment.ray_connection import ClusterError, Share, connect, places

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
