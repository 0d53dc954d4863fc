"""The server as a process of its own, behind a real socket, among clients that misbehave."""

import concurrent.futures
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import httpx
import pytest

from trained_models import picture_run

PNG = {"Content-Type": "image/png"}
UPLOAD_SECONDS = 3


@pytest.fixture(scope="module")
def server():
    """The process and its address."""
    code = "from onepeak.cli import main; main()"
    flags = ["--port", "0", "--device", "cpu", "--quiet", "--upload-seconds", str(UPLOAD_SECONDS)]
    command = [sys.executable, "-c", code, "serve", str(picture_run().folder), *flags]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield process, process.stdout.readline().strip().rstrip("/")
        finally:
            process.kill()


def connected(address):
    place = urlsplit(address)
    return socket.create_connection((place.hostname, place.port), timeout=30)


def head(length, path="/v1/predict"):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: image/png", f"Content-Length: {length}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def received(connection):
    """All that comes until the server closes or is done with one answer."""
    data = b""
    while b"\r\n\r\n" not in data or len(data.partition(b"\r\n\r\n")[2]) < _length(data):
        piece = connection.recv(65536)
        if not piece:
            break
        data += piece
    return data


def _length(data):
    for line in data.partition(b"\r\n\r\n")[0].lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def test_many_clients_at_once_all_have_their_answers(server, model, arrays, pictures):
    wanted = model.predict(arrays[:10]).labels.tolist()

    def ask(number):
        files = [("images", ("a.png", pictures[(number + place) % 10])) for place in range(3)]
        answer = web.post(f"{server[1]}/v1/predict", files=files)
        return answer.status_code, [item["label"] for item in answer.json()["predictions"]]

    with httpx.Client(timeout=60) as web, concurrent.futures.ThreadPoolExecutor(40) as clients:
        said = list(clients.map(ask, range(50)))
    assert said == [(200, [wanted[(number + place) % 10] for place in range(3)]) for number in range(50)]


def test_slow_clients_do_not_hold_up_others_and_are_sent_away(server, pictures):
    slow = [connected(server[1]) for _ in range(30)]
    for connection in slow[:15]:
        connection.sendall(head(10_000) + b"a few bytes")
    for connection in slow[15:]:
        connection.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: local")  # not even its head
    begun = time.monotonic()
    with httpx.Client(timeout=30) as web:
        for data in pictures:
            assert web.post(f"{server[1]}/v1/predict", content=data, headers=PNG).status_code == 200
    assert time.monotonic() - begun < UPLOAD_SECONDS, "they did not wait for the slow ones"
    for connection in slow[:15]:
        assert received(connection).startswith(b"HTTP/1.1 408 ")
    for connection in slow:
        connection.close()


def test_clients_that_leave_harm_nobody(server, pictures):
    for number in range(30):
        with connected(server[1]) as connection:
            data = pictures[number % 10]
            connection.sendall(head(len(data)) + data[: len(data) // 2 if number % 2 else len(data)])
    assert httpx.post(f"{server[1]}/v1/predict", content=pictures[0], headers=PNG, timeout=30).status_code == 200


@pytest.mark.bad_input
def test_a_body_that_is_too_large_is_refused_and_its_sender_sees_why(server):
    answer = httpx.post(f"{server[1]}/v1/predict", content=b"x" * 33_000_000, headers=PNG, timeout=30)
    assert answer.status_code == 413
    assert "at most 32000000 bytes" in answer.json()["error"]["message"]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/docs/../../onepeak.json", "/..%5c..%5cx"],
)
def test_no_address_reaches_a_file(server, path):
    with connected(server[1]) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"root:" not in answer


@pytest.mark.bad_input
def test_what_is_no_http_is_refused_and_the_server_lives(server):
    rng = random.Random(0)
    starts = [
        b"",
        b"GET ",
        b"POST /v1/predict HTTP/1.1\r\n",
        b"\x16\x03\x01",
        b"GET / HTTP/9.9\r\n\r\n",
        head(-1),
        head(5),
    ]
    for number in range(150):
        with connected(server[1]) as connection:
            connection.sendall(starts[number % len(starts)] + rng.randbytes(rng.randrange(1, 300)) + b"\r\n\r\n")
            connection.shutdown(socket.SHUT_WR)
            status = received(connection)[9:12]
        assert not status or b"400" <= status < b"500"
    assert httpx.get(f"{server[1]}/healthz").json() == {"status": "ok"}


@pytest.mark.bad_input
def test_a_head_that_does_not_end_is_cut_off(server):
    with connected(server[1]) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        for _ in range(1000):
            connection.sendall(b"X-More: " + b"x" * 60_000 + b"\r\n")
        pytest.fail("60 MB were read")
    assert httpx.get(f"{server[1]}/healthz").status_code == 200


def test_sigterm_loses_no_request_that_is_under_way(server, pictures):
    """The last test of this server."""
    process, address = server
    sizes = [len(data) for data in pictures]
    with contextlib.ExitStack() as sockets:
        under_way = [sockets.enter_context(connected(address)) for _ in pictures]
        for connection, data, size in zip(under_way, pictures, sizes, strict=True):
            connection.sendall(head(size) + data[: size // 2])
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        for connection, data, size in zip(under_way, pictures, sizes, strict=True):
            connection.sendall(data[size // 2 :])
        answers = [received(connection) for connection in under_way]
    assert [answer[:12] for answer in answers] == [b"HTTP/1.1 200"] * 10
    assert all(b'"predictions":[{' in answer for answer in answers)
    assert process.wait(30) in (0, -signal.SIGTERM)
    assert process.stderr.read() == ""
    with pytest.raises(ConnectionRefusedError):
        connected(address)
