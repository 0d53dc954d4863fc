import logging

import pytest
from fastapi import APIRouter
from starlette.responses import PlainTextResponse, StreamingResponse

from http_server import asking
from onepeak.serving.http import create_app
from onepeak.serving.http.secure import HEADERS


@pytest.fixture
def client():
    router = APIRouter()

    @router.get("/fails")
    @router.get("/v1/fails")
    def fails() -> None:
        raise KeyError("a secret path")

    @router.get("/half")
    def half() -> StreamingResponse:
        def pieces():
            yield b"begun"
            raise KeyError("a secret path")

        return StreamingResponse(pieces())

    @router.get("/own")
    def own() -> PlainTextResponse:
        return PlainTextResponse("kept", headers={"Cache-Control": "max-age=60"})

    return asking(create_app(None, extra_routers=[router]))


def test_every_answer_has_the_headers_whatever_happened(client):
    for path, status in {"/healthz": 200, "/docs": 200, "/nowhere": 404, "/v1/nowhere": 404, "/fails": 500}.items():
        answer = client.get(path)
        assert answer.status_code == status
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    refused = client.get("/healthz", headers={"Host": "other.example"})
    assert refused.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_the_policy_lets_a_page_load_nothing_from_elsewhere_and_run_nothing_inline():
    policy = dict(part.split(" ", 1) for part in HEADERS["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["object-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert not [sources for sources in policy.values() if "http" in sources or "*" in sources]
    assert "unsafe-eval" not in HEADERS["Content-Security-Policy"]


def test_a_header_of_the_answer_itself_stays(client):
    assert client.get("/own").headers["cache-control"] == "max-age=60"


def test_a_failure_is_told_to_the_log_and_not_to_the_client(client, caplog):
    with caplog.at_level(logging.ERROR):
        answer = client.get("/v1/fails")
        page = client.get("/fails")
    assert answer.json() == {
        "error": {"code": "internal_error", "message": "The server failed on this request; see its log."}
    }
    assert "secret" not in page.text + answer.text
    assert "Traceback" not in page.text + answer.text
    assert "a secret path" in caplog.text


def test_an_answer_that_breaks_off_is_not_begun_anew(client, caplog):
    with caplog.at_level(logging.ERROR):
        assert client.get("/half").content == b"begun"
    assert "'/half' failed" in caplog.text
