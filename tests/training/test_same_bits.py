import os
import threading

import pytest
import torch
import torch._inductor.config as inductor

from onepeak.training.same_bits import same_bits


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
