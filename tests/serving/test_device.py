import pytest
import torch

from onepeak.errors import InputError
from onepeak.serving.device import find_device


def test_auto_is_a_gpu_only_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert find_device("auto") == torch.device("mps")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert find_device("auto") == torch.device("cuda")
    assert find_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(InputError, match="got 'cuda:2' on a machine with 2 CUDA GPUs"):
        find_device("cuda:2")


@pytest.mark.bad_input
def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match=r"Unknown `device` 'gpu'. Did you mean 'cpu'"):
        find_device("gpu")
    with pytest.raises(InputError, match="got 'cuda' and this machine has no CUDA GPU: use cpu"):
        find_device("cuda")
    with pytest.raises(InputError, match="got 'mps' and this machine has none: use cpu"):
        find_device("mps")
    for name in ("cuda:0", "cpu:1", "cuda:", "cuda:x"):
        with pytest.raises(InputError, match=f"got '{name}' on a machine with 0 CUDA GPUs"):
            find_device(name)
