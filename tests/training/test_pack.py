"""Lanes: threads that train side by side, each as if it were alone."""

import threading
import time
import warnings
from dataclasses import replace

import pytest
import timm
import torch
from torch import nn

from onepeak.networks.own_backbone import OwnBackbone
from onepeak.training import loop
from onepeak.training.devices import make_fabric
from onepeak.training.evaluate import loss_or_nan
from onepeak.training.graphs import Graph
from onepeak.training.pack import MOST_LANES, draws_at_random, lanes, lanes_that_fit
from onepeak.training.run import train_run
from training.planted import RECIPE, settings_of

CPU = torch.device("cpu")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


def test_lanes_work_at_the_same_time_and_are_left_when_all_are_done():
    meeting = threading.Barrier(3)  # passed only by three at once
    with lanes(3, CPU) as pool:
        waits = [pool.submit(meeting.wait, 20) for _ in range(3)]
    assert sorted(each.result() for each in waits) == [0, 1, 2]


def test_in_all_lanes_and_nowhere_else_algorithms_give_the_same_bits():
    with lanes(2, CPU) as pool:
        assert all(pool.map(lambda _: torch.are_deterministic_algorithms_enabled(), range(4)))
    assert not torch.are_deterministic_algorithms_enabled()


def test_warnings_are_silent_no_longer_than_the_lanes_last():
    meeting = threading.Barrier(2)
    before = list(warnings.filters)

    def silence(first):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            meeting.wait(20)
            if not first:
                time.sleep(0.05)  # the first to come is the first to go, and the second puts back what it found

    with lanes(2, CPU) as pool:
        list(pool.map(silence, (True, False)))
    assert list(warnings.filters) == before


def test_in_mixed_precision_one_lane_may_end_its_backward_pass_within_that_of_another(
    table, split, tmp_path, monkeypatch
):
    def lasting(*given, **settings):
        loss = loss_or_nan(*given, **settings)
        if loss.requires_grad:
            loss.register_hook(lambda _: time.sleep(0.02))
        return loss

    monkeypatch.setattr(loop, "loss_or_nan", lasting)

    def train(name):
        settings = settings_of("ce", replace(RECIPE, epochs=1))
        fabric = make_fabric(device="cpu", precision="bf16")
        return train_run(settings, table, split, tmp_path / name, fabric=fabric, alone=False)

    with lanes(2, CPU) as pool:
        first, second = pool.map(train, ("first", "second"))
    assert first["metrics"] == second["metrics"]


@gpu
@pytest.mark.gpu
def test_lanes_record_while_others_work_however_many_streams_were_made_before():
    device = torch.device("cuda")
    for _ in range(40):
        torch.cuda.Stream(device)

    def record(number, meeting):
        weight = torch.randn(256, 256, generator=torch.Generator().manual_seed(number)).to(device)
        expected = weight @ weight
        meeting.wait(60)
        for _ in range(20):
            graph = Graph(lambda: weight @ weight)
            for _ in range(10):
                assert torch.equal(weight @ weight, expected)
                assert torch.equal(graph(), expected)
        return torch.cuda.current_stream().cuda_stream

    used = []
    for _ in range(5):  # as many comparisons in one process
        meeting = threading.Barrier(MOST_LANES)
        with lanes(MOST_LANES, device) as pool:
            used.append(set(pool.map(lambda number, meeting=meeting: record(number, meeting), range(MOST_LANES))))
    assert all(len(streams) == MOST_LANES and streams == used[0] for streams in used)


@gpu
@pytest.mark.gpu
def test_eight_lanes_in_mixed_precision_give_the_bits_of_one(table, split, tmp_path):
    def train(name):
        settings = settings_of("elb", replace(RECIPE, epochs=6))
        fabric = make_fabric(device="cuda:0", precision="bf16")
        train_run(settings, table, split, tmp_path / name, fabric=fabric, alone=False)
        return (tmp_path / name / "model.safetensors").read_bytes()

    alone = train("alone")
    with lanes(8, torch.device("cuda", 0)) as pool:
        assert all(weights == alone for weights in pool.map(train, map(str, range(24))))


@pytest.mark.parametrize(
    ("free", "reserved", "shared", "lanes"),
    [(80, 10, 0, 7), (80, 30, 20, 7), (100, 60, 0, 2), (7, 10, 0, 1), (10**6, 10, 0, MOST_LANES)],
)
def test_as_many_fit_as_there_is_memory_for(monkeypatch, free, reserved, shared, lanes):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (free, 2 * free))
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda _: reserved)
    assert lanes_that_fit(torch.device("cuda"), shared=shared) == lanes


def test_layers_that_draw_random_numbers_are_found():
    for network, draws in [
        (nn.Sequential(nn.Conv2d(3, 3, 1), nn.Dropout2d(0.1)), True),
        (nn.Sequential(nn.Conv2d(3, 3, 1), nn.Dropout2d(0.0)), False),
        (timm.create_model("resnet18", drop_path_rate=0.1), True),
        (timm.create_model("resnet18"), False),
        (timm.create_model("resnet18", drop_block_rate=0.1), True),
        (timm.layers.PatchDropout(0.1), True),
        (nn.MultiheadAttention(4, 2, dropout=0.1), True),
        (nn.MultiheadAttention(4, 2), False),
        (nn.RReLU(), True),
        (nn.Sequential(OwnBackbone("torch.nn:Identity")), True),
    ]:
        assert draws_at_random(network) is draws
