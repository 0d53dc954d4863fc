import os

import pytest
import torch

from onepeak.errors import InputError
from onepeak.training import devices
from onepeak.training.devices import make_fabric, same_bits

without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA GPU")


def test_one_process_on_the_cpu_is_what_is_asked_for():
    fabric = make_fabric(device="cpu")
    assert (fabric.device, fabric.world_size, fabric.is_global_zero) == (torch.device("cpu"), 1, True)


@without_gpu
def test_auto_is_a_device_that_is_there():
    assert make_fabric().device.type in ("cpu", "mps")


@pytest.mark.parametrize(("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
def test_the_precision_is_that_of_the_arithmetic(precision, dtype):
    with make_fabric(device="cpu", precision=precision).autocast():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == dtype


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("gpu", r"`device`.*'gpu'.*cpu"),
        ("cpu:1", r"`device` must be one of the \d+ CUDA devices, got 'cpu:1'"),
        pytest.param("cuda", r"got 'cuda' and this machine has no CUDA GPU: use cpu", marks=without_gpu),
        pytest.param("cuda:0", r"got 'cuda' and this machine has no CUDA GPU: use cpu", marks=without_gpu),
    ],
)
def test_a_device_that_is_not_there_is_refused(device, message):
    with pytest.raises(InputError, match=message):
        make_fabric(device=device)


@pytest.mark.bad_input
def test_an_unknown_precision_is_refused():
    with pytest.raises(InputError, match=r"`precision`.*'fp64'.*fp32"):
        make_fabric(device="cpu", precision="fp64")


def test_deterministic_algorithms_are_used_within_and_only_there(monkeypatch):
    monkeypatch.setitem(os.environ, "CUBLAS_WORKSPACE_CONFIG", ":16:8")
    before = torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark
    with same_bits():
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.backends.cudnn.benchmark
    assert (torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark) == before
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"  # the user's choice stays


@pytest.mark.bad_input
def test_fp16_is_refused_on_a_cpu():
    with pytest.raises(InputError, match="`precision` must be fp32 or bf16 on a CPU, got 'fp16'"):
        make_fabric(device="cpu", precision="fp16")


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
