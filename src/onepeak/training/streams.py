"""The CUDA streams of this process: each lane has one of its own, the same one all the time.

torch has 32 streams a device and hands them out in turn, so one that is asked for anew may well be one that is at work.
A stream that is being recorded must have no other work, and streams at work together must not be the same.
"""

import threading

import torch

_IN_ALL = 32
"""How many streams torch has for a device."""

MOST_STREAMS = _IN_ALL - 1
"""For lanes; the last one is for recordings outside of lanes."""

_KEPT: dict[int, list[torch.cuda.Stream]] = {}
"""By the device's number; the first is the one outside of lanes."""
_KEEPING = threading.Lock()


def lane_stream(device: torch.device, lane: int) -> torch.cuda.Stream:
    """The stream of a lane.

    Args:
        device: A CUDA device.
        lane: The lane, from 0 to below `MOST_STREAMS`.
    """
    return _kept(device, 1 + lane)


def stream_to_record_on(device: torch.device) -> torch.cuda.Stream:
    """This thread's stream where it has one of its own, as lanes have; the default one cannot be recorded.

    A recording refers to the working memory of the libraries, which they keep by stream: two recordings of one stream
    must not be replayed at once.

    Args:
        device: A CUDA device.
    """
    current = torch.cuda.current_stream(device)
    return _kept(device, 0) if current == torch.cuda.default_stream(device) else current


def _kept(device: torch.device, number: int) -> torch.cuda.Stream:
    index = torch.cuda.current_device() if device.index is None else device.index
    with _KEEPING:
        streams = _KEPT.setdefault(index, [])
        while len(streams) <= number:
            streams.append(_one_more(torch.device("cuda", index), streams))
        return streams[number]


def _one_more(device: torch.device, others: list[torch.cuda.Stream]) -> torch.cuda.Stream:
    """A stream that is none of the others: within a turn there is one."""
    taken = {stream.cuda_stream for stream in others}
    given = (torch.cuda.Stream(device) for _ in range(_IN_ALL))
    return next(stream for stream in given if stream.cuda_stream not in taken)
