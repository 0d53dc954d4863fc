"""Which streams lanes get, with torch's pool of 32 in turn played by hand; `test_pack.py` has real ones on a GPU."""

from itertools import count
from unittest.mock import Mock

import pytest
import torch

from onepeak.training import streams
from onepeak.training.streams import MOST_STREAMS, lane_stream, stream_to_record_on

GPU = torch.device("cuda", 0)


@pytest.fixture
def asked_before(monkeypatch):
    """Somebody has asked for so many streams before the first lane does."""
    default, *pool = [Mock(spec=torch.cuda.Stream, cuda_stream=number) for number in range(1 + 32)]

    def ask(number):
        turn = count(number)
        monkeypatch.setattr(streams, "_KEPT", {})
        monkeypatch.setattr(torch.cuda, "Stream", lambda _: pool[next(turn) % 32])
        monkeypatch.setattr(torch.cuda, "default_stream", lambda _: default)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda _: default)

    return ask


@pytest.mark.parametrize("number", [0, 31, 40])
def test_no_two_lanes_have_the_same_stream_and_none_that_of_a_recording_elsewhere(asked_before, number):
    asked_before(number)
    given = [stream_to_record_on(GPU), *(lane_stream(GPU, lane) for lane in range(MOST_STREAMS))]
    assert {stream.cuda_stream for stream in given} == set(range(1, 33))


def test_a_lane_has_the_same_stream_whenever_it_is_asked_for(asked_before):
    asked_before(0)
    first = [lane_stream(GPU, lane) for lane in range(8)]
    for _ in range(50):
        torch.cuda.Stream(GPU)
    assert [lane_stream(GPU, lane) for lane in range(8)] == first


def test_a_lane_records_on_its_own_stream_and_what_has_only_the_default_one_on_another(asked_before, monkeypatch):
    asked_before(0)
    mine, elsewhere = lane_stream(GPU, 3), stream_to_record_on(GPU)
    assert elsewhere.cuda_stream not in (0, mine.cuda_stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: mine)
    assert stream_to_record_on(GPU) is mine
