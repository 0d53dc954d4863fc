"""The CUDA streams of this process: each lane has its own, which never changes.

torch has 32 streams per device and hands them out in turn, so a newly requested stream may already be in use. A stream
that is being recorded must have no other work, and concurrent lanes must not share a stream.
"""

import threading

import torch

_IN_ALL = 32
"""Number of streams that torch has per device."""

MOST_STREAMS = _IN_ALL - 1
"""Most streams for lanes; one is reserved for recordings outside of lanes."""

_KEPT: dict[int, list[torch.cuda.Stream]] = {}
"""Streams by device number; the first is for recordings outside of lanes."""
_KEEPING = threading.Lock()


def lane_stream(device: torch.device, lane: int) -> torch.cuda.Stream:
    """Returns the stream of a lane.

    Args:
        device: A CUDA device.
        lane: The lane, from 0 to below `MOST_STREAMS`.
    """
    return _kept(device, 1 + lane)


def stream_to_record_on(device: torch.device) -> torch.cuda.Stream:
    """Returns this thread's stream if it is not the default one, which cannot be recorded; otherwise a reserved one.

    A recording refers to working memory that the libraries keep per stream, so two recordings of one stream must not be
    replayed at once.

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
    """Returns a stream that is not among the others; torch hands one out within a full turn."""
    taken = {stream.cuda_stream for stream in others}
    given = (torch.cuda.Stream(device) for _ in range(_IN_ALL))
    return next(stream for stream in given if stream.cuda_stream not in taken)
