import http.client
import socket
import time
from urllib.parse import urlsplit

import pytest
from fastapi import APIRouter

from http_server import running
from onepeak.serving.http import create_app


@pytest.fixture(scope="module")
def place():
    """A server that looks at its connections every second, with an answer that takes longer."""
    router = APIRouter()

    @router.get("/slow")
    def slow() -> str:
        time.sleep(3)
        return "done"

    with running(create_app(None, extra_routers=[router]), idle_seconds=0) as address:
        yield urlsplit(address).hostname, urlsplit(address).port


def test_a_head_that_does_not_come_is_not_waited_for(place):
    with socket.create_connection(place, timeout=20) as silent, socket.create_connection(place, timeout=20) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
        assert silent.recv(100) == b""
        assert slow.recv(100) == b""


def test_half_a_head_after_a_whole_request_is_not_waited_for_either(place):
    with socket.create_connection(place, timeout=20) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal")
        data = b""
        while piece := connection.recv(1000):
            data += piece
    assert data.startswith(b"HTTP/1.1 200 ")
    assert data.count(b"HTTP/1.1") == 1


def test_a_request_under_way_is_left_alone(place):
    connection = http.client.HTTPConnection(*place, timeout=20)
    connection.request("GET", "/slow")
    assert connection.getresponse().read() == b'"done"'
    connection.close()
