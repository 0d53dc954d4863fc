"""The two requests that once stopped a server, while others ask: they are refused at once and cost next to nothing."""

import concurrent.futures
import contextlib
import socket
import statistics
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

from http_server import commanded, encoded
from trained_models import image_run, table_run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc").is_dir(), reason="memory is read from /proc")]
SECONDS = 8
CLIENTS = 8


def memory(process, line):
    """Megabytes in use, or at most so far."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(each.split()[1]) / 1e3 for each in status.splitlines() if each.startswith(line))


def asked(address, request, seconds, clients=CLIENTS):
    """What clients that ask one after another wait for their answers, and for /healthz; all must be answered."""
    end = time.monotonic() + seconds
    waits, lives = [], []

    def client(path, found, pause):
        with httpx.Client(base_url=address, timeout=60) as web:
            while (begun := time.monotonic()) < end:
                answer = web.get(path) if path == "/healthz" else web.post(path, **request)
                assert answer.status_code == 200, answer.text
                found.append(time.monotonic() - begun)
                time.sleep(pause)

    with concurrent.futures.ThreadPoolExecutor(clients + 1) as threads:
        work = [threads.submit(client, "/v1/predict", waits, 0.01) for _ in range(clients)]
        work.append(threads.submit(client, "/healthz", lives, 0.02))
        for each in work:
            each.result()
    return waits, lives


def late(waits):
    """The wait that one in a hundred exceeds."""
    return statistics.quantiles(waits, n=100)[-1]


def sent(address, body, kind, *, leaves_after=None):
    """Sends a request as it is; gives the status, or None if its sender leaves before."""
    place = urlsplit(address)
    head = (
        f"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with contextlib.suppress(ConnectionError), socket.create_connection((place.hostname, place.port), 60) as connection:
        connection.sendall(head.encode())
        connection.sendall(body)
        if leaves_after is not None:
            time.sleep(leaves_after)
            return None
        return int(connection.recv(100).split()[1])
    return None


def form_of_bombs():
    """256 images of 49 million pixels in half a megabyte."""
    bomb = encoded(np.zeros((7000, 7000, 3), np.uint8), "WEBP", lossless=True)
    head = b'--x\r\nContent-Disposition: form-data; name="images"; filename="a.webp"\r\n\r\n'
    return (head + bomb + b"\r\n") * 256 + b"--x--\r\n"


def rows_without_end():
    """32 megabytes of rows of one value."""
    return b'{"rows":[' + b'{"":0},' * 4_500_000 + b"{}]}"


ROWS = {"json": {"rows": [{"size": 0.5, "tone": "1"}] * 10}}


@pytest.mark.parametrize(
    ("folder", "request_of_others", "body", "kind", "senders", "leaves_after"),
    [
        (
            lambda: image_run().folder,
            lambda: {"files": [("images", ("a.png", encoded(image_run().manifest.items.pixels[0])))]},
            form_of_bombs,
            "multipart/form-data; boundary=x",
            1,
            0.5,
        ),
        (lambda: table_run().folder, lambda: ROWS, rows_without_end, "application/json", 15, None),
    ],
    ids=["images", "rows"],
)
def test_others_hardly_notice_the_worst_request_and_its_memory_is_given_back(
    folder, request_of_others, body, kind, senders, leaves_after
):
    request, attack = request_of_others(), body()
    with commanded("serve", folder(), "--device", "cpu") as (process, address):
        usual, lives_before = asked(address, request, SECONDS)
        ordinary = memory(process, "VmHWM")
        statuses = []

        def attacks():
            time.sleep(1)
            with concurrent.futures.ThreadPoolExecutor(senders) as threads:
                answers = [
                    threads.submit(sent, address, attack, kind, leaves_after=leaves_after) for _ in range(senders)
                ]
                statuses.extend(each.result() for each in answers)

        attacker = threading.Thread(target=attacks)
        attacker.start()
        waits, lives = asked(address, request, SECONDS)
        attacker.join()
        most = memory(process, "VmHWM")
        time.sleep(31)
        after = memory(process, "VmRSS")
    assert set(statuses) <= {None, 413, 503}
    # A machine that is busy with other work is slower by the same factor.
    assert late(lives) < 0.1 + 2 * late(lives_before)
    assert late(waits) < 1 + 2 * late(usual)
    assert most < 1.5 * ordinary
    assert after < 1.2 * ordinary
