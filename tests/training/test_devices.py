import os
import threading

import pytest
import torch
import torch._inductor.config as inductor

from onepeak.errors import InputError
from onepeak.training import devices
from onepeak.training.devices import find_device, make_fabric, same_bits


@pytest.mark.parametrize(("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
def test_the_precision_is_that_of_the_arithmetic_and_nothing_is_said_of_it(precision, dtype, caplog):
    fabric = make_fabric(device="cpu", precision=precision)
    assert not caplog.records
    with fabric.autocast():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == dtype


def test_auto_is_a_gpu_only_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert find_device("auto") == torch.device("mps")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert find_device("auto") == find_device("gpu") == torch.device("cuda")
    assert find_device("cuda:1") == find_device("gpu:1") == torch.device("cuda", 1)
    with pytest.raises(InputError, match="got 'cuda:2' on a machine with 2 CUDA GPUs"):
        find_device("cuda:2")


@pytest.mark.bad_input
def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="got 'gpu' on a machine without a CUDA GPU: use cpu"):
        find_device("gpu")
    with pytest.raises(InputError, match="got 'cuda' on a machine without a CUDA GPU: use cpu"):
        find_device("cuda")
    with pytest.raises(InputError, match="got 'mps' on a machine without it: use cpu"):
        find_device("mps")
    with pytest.raises(InputError, match="Did you mean 'cpu'"):
        make_fabric(device="cpx")
    for name in ("cuda:0", "cpu:1", "cuda:", "cuda:x"):
        with pytest.raises(InputError, match=f"got '{name}' on a machine with 0 CUDA GPUs"):
            find_device(name)


@pytest.mark.bad_input
@pytest.mark.parametrize("precision", ["fp64", "fp16"])
def test_a_precision_that_is_unknown_or_not_for_a_cpu_is_refused(precision):
    with pytest.raises(InputError, match=rf"`precision`.*'{precision}'"):
        make_fabric(device="cpu", precision=precision)


@pytest.mark.parametrize(
    ("variables", "processes", "nodes"),
    [
        ({}, 1, 1),
        ({"WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}, 8, 2),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_NNODES": "2", "SLURM_JOB_NAME": "train"}, 8, 2),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_NNODES": "2", "SLURM_JOB_NAME": "bash"}, 1, 1),
    ],
)
def test_processes_and_nodes_are_those_the_launcher_says(monkeypatch, variables, processes, nodes):
    for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_NNODES", "SLURM_JOB_NAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (devices._num_processes(), devices._num_nodes()) == (processes, nodes)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("before", ["default", "warn", "error"])
def test_deterministic_algorithms_are_used_within_and_only_there(monkeypatch, compiled, before):
    monkeypatch.setitem(os.environ, "CUBLAS_WORKSPACE_CONFIG", ":16:8")
    torch.set_deterministic_debug_mode(before)
    found = torch.get_deterministic_debug_mode(), torch.backends.cudnn.benchmark, inductor.deterministic
    try:
        with same_bits(compiled=compiled):
            assert torch.are_deterministic_algorithms_enabled()
            assert torch.is_deterministic_algorithms_warn_only_enabled()
            assert inductor.deterministic == compiled
            assert not torch.backends.cudnn.benchmark
        assert (torch.get_deterministic_debug_mode(), torch.backends.cudnn.benchmark) == found[:2]
    finally:
        torch.set_deterministic_debug_mode("default")
        inductor.deterministic = found[2]
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"  # the user's choice stays


def test_the_last_thread_out_puts_the_switches_back():
    inside, may_leave = threading.Event(), threading.Event()

    def stay():
        with same_bits():
            inside.set()
            may_leave.wait(10)

    thread = threading.Thread(target=stay)
    with same_bits(compiled=False):
        thread.start()
        assert inside.wait(10)
    assert torch.are_deterministic_algorithms_enabled()  # the thread is still within
    may_leave.set()
    thread.join()
    assert not torch.are_deterministic_algorithms_enabled()
    assert not inductor.deterministic
