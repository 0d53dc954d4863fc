"""Lanes: threads that train side by side, each as if it were alone."""

import threading

import pytest
import timm
import torch
from torch import nn

from onepeak.training.pack import MOST_LANES, draws_at_random, lanes, lanes_that_fit

CPU = torch.device("cpu")


def test_lanes_work_at_the_same_time_and_are_left_when_all_are_done():
    meeting = threading.Barrier(3)  # passed only by three at once
    with lanes(3, CPU) as pool:
        waits = [pool.submit(meeting.wait, 20) for _ in range(3)]
    assert sorted(each.result() for each in waits) == [0, 1, 2]


def test_in_all_lanes_and_nowhere_else_algorithms_give_the_same_bits():
    with lanes(2, CPU) as pool:
        assert all(pool.map(lambda _: torch.are_deterministic_algorithms_enabled(), range(4)))
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(
    ("free", "reserved", "shared", "lanes"),
    [(80, 10, 0, 7), (80, 30, 20, 7), (100, 60, 0, 2), (7, 10, 0, 1), (10**6, 10, 0, MOST_LANES)],
)
def test_as_many_fit_as_there_is_memory_for(monkeypatch, free, reserved, shared, lanes):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (free, 2 * free))
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda _: reserved)
    assert lanes_that_fit(torch.device("cuda"), shared=shared) == lanes


@pytest.mark.parametrize(
    ("network", "draws"),
    [
        (nn.Sequential(nn.Conv2d(3, 3, 1), nn.Dropout2d(0.1)), True),
        (nn.Sequential(nn.Conv2d(3, 3, 1), nn.Dropout2d(0.0)), False),
        (timm.create_model("resnet18", drop_path_rate=0.1), True),
        (timm.create_model("resnet18"), False),
        (timm.create_model("resnet18", drop_block_rate=0.1), True),
        (timm.layers.PatchDropout(0.1), True),
        (nn.MultiheadAttention(4, 2, dropout=0.1), True),
        (nn.MultiheadAttention(4, 2), False),
        (nn.RReLU(), True),
    ],
    ids=[
        "dropout",
        "no dropout",
        "drop path",
        "plain",
        "drop block",
        "patches",
        "attention",
        "plain attention",
        "rrelu",
    ],
)
def test_layers_that_draw_random_numbers_are_found(network, draws):
    assert draws_at_random(network) is draws
