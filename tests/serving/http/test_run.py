import socket
import urllib.request

import pytest

from http_server import running
from onepeak.errors import InputError
from onepeak.serving.http import check_address, create_app, serve_app
from onepeak.serving.http.access import is_loopback
from onepeak.serving.http.run import address_of, listen


@pytest.mark.bad_input
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org", "", "127.0.0.1.example.org"])
def test_an_address_that_others_reach_needs_a_token(host):
    with pytest.raises(InputError, match=r"which other machines can reach: set a token \(--token, or ONEPEAK_TOKEN\)"):
        serve_app(create_app(None), host=host, port=0)
    check_address(host, token="secret")


@pytest.mark.bad_input
@pytest.mark.parametrize("token", ["", "  ", "geheim\n", "schlüssel"])
def test_a_token_is_a_text_that_fits_into_a_header(token):
    with pytest.raises(InputError, match="`token` must be printable ASCII text"):
        check_address("127.0.0.1", token=token)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.5.5.5", "localhost", "LocalHost", "::1", "[::1]"])
def test_names_of_this_machine_need_none(host):
    assert is_loopback(host)
    check_address(host, token=None)


@pytest.mark.bad_input
def test_a_port_in_use_is_told_in_a_sentence():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"`port` must be free, and {port} is in use: give another, or 0"):
            serve_app(create_app(None), port=port)


@pytest.mark.bad_input
def test_an_address_of_another_machine_cannot_be_listened_on():
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


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_the_address_of_the_new_protocol_has_brackets():
    with listen("::1", 0) as listening:
        assert address_of(listening, None) == f"http://[::1]:{listening.getsockname()[1]}/"


def test_a_socket_answers_with_the_headers_of_the_app_and_without_the_servers_name():
    with running(create_app(None)) as address, urllib.request.urlopen(f"{address}/healthz") as answer:
        assert answer.read() == b'{"status":"ok"}'
        assert answer.headers["x-frame-options"] == "DENY"
