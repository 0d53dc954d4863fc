import concurrent.futures
import contextlib
import http.client
import logging
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import APIRouter
from starlette.responses import Response

from http_server import commanded, running
from onepeak.errors import InputError
from onepeak.serving.http import Limits, check_address, create_app, serve_app
from onepeak.serving.http.limits import Load
from onepeak.serving.http.metrics import without_token
from onepeak.serving.http.routes import HeldAnswer
from onepeak.serving.http.server import Connection, address_of, first_page, listen, write_access_log
from trained_models import image_run


@pytest.mark.bad_input
def test_an_address_that_others_reach_needs_a_token_that_fits_into_a_header():
    for host in ("0.0.0.0", "::", "192.168.1.2", "example.org", "", "127.0.0.1.example.org"):
        with pytest.raises(
            InputError, match=r"which other machines can reach: set a token \(--token, or ONEPEAK_TOKEN"
        ):
            serve_app(create_app(None), host=host, port=0)
        check_address(host, token="secret")
    for token in ("", "  ", "geheim\n", "schlüssel"):
        with pytest.raises(InputError, match="`token` must be printable ASCII text"):
            check_address("127.0.0.1", token=token)
    for host in ("127.0.0.1", "127.5.5.5", "localhost", "LocalHost", "::1", "[::1]"):
        check_address(host, token=None)


@pytest.mark.bad_input
def test_an_address_that_cannot_be_listened_on_is_told_in_a_sentence():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"`port` must be free, and {port} is in use: give another, or 0"):
            serve_app(create_app(None), port=port)
    for host in ("192.0.2.1", "no such name.invalid"):
        with pytest.raises(InputError, match=f"`host` must be an address of this machine, got '{host}'"):
            listen(host, 0)
    for port in (-1, 65536, 1.5):
        with pytest.raises(InputError, match="`port` must be"):
            listen("127.0.0.1", port)


def test_the_address_can_be_typed_into_a_browser():
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert address_of(listening, None) == f"http://127.0.0.1:{port}/"
        assert address_of(listening, "a&b c") == f"http://127.0.0.1:{port}/?token=a%26b%20c"
    with listen("0.0.0.0", 0) as listening:
        assert address_of(listening, None).startswith("http://127.0.0.1:")
    if socket.has_dualstack_ipv6():
        with listen("::1", 0) as listening:
            assert address_of(listening, None) == f"http://[::1]:{listening.getsockname()[1]}/"


def test_a_browser_is_opened_without_the_token_in_its_arguments():
    address = "http://127.0.0.1:8000/?token=a%26b"
    with first_page(address) as page:
        path = Path(urlsplit(page).path)
        assert "token" not in page
        assert f"url={address}" in path.read_text()
        assert path.parent.stat().st_mode & 0o077 == 0, "only its owner can read it"
    assert not path.exists()
    with first_page("http://127.0.0.1:8000/") as page:
        assert page == "http://127.0.0.1:8000/"


@pytest.fixture
def logger():
    """The log of requests, as it was before at the end."""
    found = logging.getLogger("onepeak.access")
    before = found.handlers, found.propagate, found.level
    yield found
    found.handlers, found.propagate, found.level = before


def test_a_request_is_a_line_with_time_client_address_and_status_and_without_the_token(logger, capsys):
    write_access_log()
    write_access_log()  # a second server in a process: still one line
    with running(create_app(None, token="s3cret")) as address:
        urllib.request.urlopen(f"{address}/healthz?a=1&token=s3cret").close()
    (line,) = capsys.readouterr().err.splitlines()
    when = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}"
    assert re.fullmatch(rf'{when} 127\.0\.0\.1:\d+ - "GET /healthz\?a=1&token=\.\.\. HTTP/1\.1" 200', line)


def test_no_spelling_of_the_token_is_told():
    for usual in ("/docs", "/?", "/token?alpha=0.1"):
        assert without_token(usual) == usual
    assert without_token("/?token=a%26b&x=1&token=c") == "/?token=...&x=1&token=..."
    assert without_token("/?%74oken=secret") == without_token("/?TOKEN=secret") == "/?token=..."


LOAD = Load(Limits())


@pytest.fixture(scope="module")
def place():
    """A server that looks at its connections every second, with an answer that takes longer."""
    router = APIRouter()

    @router.get("/slow")
    def slow() -> str:
        time.sleep(2.2)
        return "done"

    @router.get("/large")
    def large() -> Response:
        held = contextlib.ExitStack()
        share = held.enter_context(LOAD.request())
        share.take("bytes", 50_000_000)
        return HeldAnswer(b"x" * 50_000_000, held)

    with running(create_app(None, extra_routers=[router]), idle_seconds=0) as address:
        yield urlsplit(address).hostname, urlsplit(address).port


def test_a_head_that_does_not_come_is_not_waited_for_and_a_request_under_way_is(place):
    connection = http.client.HTTPConnection(*place, timeout=20)
    connection.request("GET", "/slow")
    with socket.create_connection(place, timeout=20) as silent, socket.create_connection(place, timeout=20) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
        with socket.create_connection(place, timeout=20) as half:  # after a whole request
            half.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal")
            data = b""
            while piece := half.recv(1000):
                data += piece
        assert data.startswith(b"HTTP/1.1 200 ")
        assert data.count(b"HTTP/1.1") == 1
        assert silent.recv(100) == slow.recv(100) == b""
    assert connection.getresponse().read() == b'"done"'
    connection.close()


def test_an_answer_that_is_not_read_is_held_for_a_while_and_given_up(place):
    with socket.create_connection(place, timeout=20) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: LOAD.held["bytes"] == 50_000_000)
        until(lambda: LOAD.held["bytes"] == 0)
    with urllib.request.urlopen(f"http://{place[0]}:{place[1]}/large") as answer:
        assert len(answer.read()) == 50_000_000
    until(lambda: LOAD.held["bytes"] == 0)


def until(holds):
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_of_too_many_connections_the_longest_idle_are_closed_for_new_ones(monkeypatch):
    monkeypatch.setattr(Connection, "most", 20)
    begun, go = threading.Event(), threading.Event()
    router = APIRouter()

    @router.get("/slow")
    def slow() -> bool:
        begun.set()
        return go.wait(30)

    with running(create_app(None, extra_routers=[router])) as address, contextlib.ExitStack() as sockets:
        place = urlsplit(address).hostname, urlsplit(address).port
        under_way = sockets.enter_context(contextlib.closing(http.client.HTTPConnection(*place, timeout=20)))
        under_way.request("GET", "/slow")
        assert begun.wait(20)
        idle = [sockets.enter_context(socket.create_connection(place, timeout=20)) for _ in range(60)]
        assert urllib.request.urlopen(f"{address}/healthz").status == 200
        with contextlib.suppress(ConnectionError):
            assert idle[0].recv(1) == b""
        idle[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle[-1].recv(100).startswith(b"HTTP/1.1 200")
        go.set()
        with under_way.getresponse() as answer:
            assert answer.read() == b"true", "a request under way is left alone"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize("hard", [1024, 2000, 100_000])
def test_the_soft_limit_on_files_is_raised_and_connections_stay_below_it(hard):
    code = (
        "import resource as r; most = r.getrlimit(r.RLIMIT_NOFILE)[1]\n"
        f"hard = min({hard}, most); r.setrlimit(r.RLIMIT_NOFILE, (min(300, hard), hard))\n"
        "from onepeak.serving.http.server import most_connections\n"
        "print(hard, most_connections(), r.getrlimit(r.RLIMIT_NOFILE)[0])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    hard, connections, soft = map(int, printed.split())
    assert soft == min(hard, 4096 + 256 + 128)
    assert connections == soft - 256 - 128


PNG = {"Content-Type": "image/png"}
UPLOAD_SECONDS = 2


@pytest.fixture(scope="module")
def server():
    """The process and its address."""
    with commanded("serve", image_run().folder, "--device", "cpu", "--upload-seconds", str(UPLOAD_SECONDS)) as found:
        yield found


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


def test_many_clients_at_once_all_have_their_answers(server, model, arrays, images):
    wanted = model.predict(arrays[:10]).predicted_index.tolist()

    def ask(number):
        files = [("images", ("a.png", images[(number + place) % 10])) for place in range(3)]
        answer = web.post(f"{server[1]}/v1/predict", files=files)
        return answer.status_code, [item["label"] for item in answer.json()["predictions"]]

    with httpx.Client(timeout=60) as web, concurrent.futures.ThreadPoolExecutor(40) as clients:
        said = list(clients.map(ask, range(50)))
    assert said == [(200, [wanted[(number + place) % 10] for place in range(3)]) for number in range(50)]


def test_slow_clients_do_not_hold_up_others_and_are_sent_away(server, images):
    slow = [connected(server[1]) for _ in range(30)]
    for connection in slow[:15]:
        connection.sendall(head(10_000) + b"a few bytes")
    for connection in slow[15:]:
        connection.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: local")  # not even its head
    begun = time.monotonic()
    with httpx.Client(timeout=30) as web:
        for data in images:
            assert web.post(f"{server[1]}/v1/predict", content=data, headers=PNG).status_code == 200
    assert time.monotonic() - begun < UPLOAD_SECONDS, "they did not wait for the slow ones"
    for connection in slow[:15]:
        assert received(connection).startswith(b"HTTP/1.1 408 ")
    for connection in slow:
        connection.close()


def test_clients_that_leave_harm_nobody(server, images):
    for number in range(30):
        with connected(server[1]) as connection:
            data = images[number % 10]
            connection.sendall(head(len(data)) + data[: len(data) // 2 if number % 2 else len(data)])
    assert httpx.post(f"{server[1]}/v1/predict", content=images[0], headers=PNG, timeout=30).status_code == 200


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


def test_sigterm_loses_no_request_that_is_under_way(server, images):
    """The last test of this server."""
    process, address = server
    sizes = [len(data) for data in images]
    with contextlib.ExitStack() as sockets:
        under_way = [sockets.enter_context(connected(address)) for _ in images]
        for connection, data, size in zip(under_way, images, sizes, strict=True):
            connection.sendall(head(size) + data[: size // 2])
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        for connection, data, size in zip(under_way, images, sizes, strict=True):
            connection.sendall(data[size // 2 :])
        answers = [received(connection) for connection in under_way]
    assert [answer[:12] for answer in answers] == [b"HTTP/1.1 200"] * 10
    assert all(b'"predictions":[{' in answer for answer in answers)
    assert process.wait(30) in (0, -signal.SIGTERM)
    assert process.stderr.read() == ""
    with pytest.raises(ConnectionRefusedError):
        connected(address)
