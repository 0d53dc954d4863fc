import logging
import re
import threading

import pytest
from fastapi import APIRouter
from starlette.responses import PlainTextResponse, StreamingResponse

from http_server import asking
from onepeak.serving.http import create_app
from onepeak.serving.http.app import HEADERS


def test_the_first_page_is_that_of_a_router_or_the_description():
    app = create_app(None)
    assert asking(app).head("/healthz").status_code == 200
    assert asking(app).get("/").headers["location"] == "/docs"
    assert list(asking(app).get("/openapi.json").json()["paths"]) == ["/healthz", "/readyz", "/metrics"]
    assert asking(app).post("/v1/predict").status_code == 404
    router = APIRouter(include_in_schema=False)
    router.get("/")(lambda: "a page")
    assert asking(create_app(None, extra_routers=[router])).get("/").json() == "a page"


@pytest.mark.parametrize(("kind", "method"), [("model", "answers"), ("table", "row_answers")])
def test_the_model_is_warm_before_anybody_asks(kind, method, request, monkeypatch):
    served, asked = request.getfixturevalue(kind), []
    whole = getattr(served, method)
    monkeypatch.setattr(served, method, lambda items: (asked.append(len(items)), whole(items))[1])
    with asking(create_app(served)):
        pass
    assert asked == [1]

    def fail(_):
        raise RuntimeError("too small")

    monkeypatch.setattr(served, method, fail)
    with asking(create_app(served)) as client:
        assert client.get("/healthz").status_code == 200, "it is served all the same"


def test_the_threads_end_with_the_server(model, images):
    before = _threads()
    with asking(create_app(model)) as client:
        client.post("/v1/predict", content=images[0], headers={"Content-Type": "image/png"})
        assert _threads() > before
    assert _threads() == before


def _threads():
    return {thread.ident for thread in threading.enumerate() if thread.name.startswith("onepeak-")}


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
    assert client.get("/own").headers["cache-control"] == "max-age=60", "its own header stays"
    refused = client.get("/healthz", headers={"Host": "other.example"}).headers["content-security-policy"]
    policy = dict(part.split(" ", 1) for part in refused.split("; "))
    assert policy["default-src"] == policy["object-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert not [sources for sources in policy.values() if "http" in sources or "*" in sources or "unsafe" in sources]


def test_a_failure_is_told_to_the_log_and_not_to_the_client(client, caplog):
    with caplog.at_level(logging.ERROR):
        answer = client.get("/v1/fails")
        page = client.get("/fails")
        assert client.get("/half").content == b"begun", "an answer that breaks off is not begun anew"
    assert answer.json() == {
        "error": {"code": "internal_error", "message": "The server failed on this request; see its log."}
    }
    assert "secret" not in page.text + answer.text
    assert "Traceback" not in page.text + answer.text
    assert "a secret path" in caplog.text
    assert "'/half' failed" in caplog.text


def test_the_page_shows_every_address_and_option_as_text(ask, table):
    page = ask.get("/docs").text
    for shown in ("GET /healthz", "GET /v1/model", "POST /v1/predict", "alpha", "evidence", "multipart/form-data"):
        assert f"<code>{shown}</code>" in page
    assert "Too many bytes, images, rows or pixels." in page
    assert "{&#34;rows&#34;: [" in asking(create_app(table)).get("/docs").text
    records = ask.get("/openapi.json").json()["components"]["schemas"]
    for field in (field for record in records.values() for field in record["properties"]):
        assert f"<code>{field}</code>" in page


@pytest.mark.parametrize("kind", ["ask", "ask_table"])
def test_nothing_is_left_without_a_description(kind, request):
    described = request.getfixturevalue(kind).get("/openapi.json").json()
    untold = [
        f"{name}.{field}"
        for name, record in described["components"]["schemas"].items()
        for field, said in {"": record, **record["properties"]}.items()
        if not said.get("description")
    ]
    for path, methods in described["paths"].items():
        for operation in methods.values():
            bodies = operation.get("requestBody", {}).get("content", {})
            told = {
                "summary": operation.get("summary"),
                "description": operation.get("description"),
                **{f"option {option['name']}": option.get("description") for option in operation.get("parameters", ())},
                **{f"body {kind}": body["schema"].get("description") for kind, body in bodies.items()},
                **{status: answer["description"] for status, answer in operation["responses"].items()},
            }
            untold += [f"{path}: {name}" for name, text in told.items() if not text]
    assert untold == []


def test_the_page_needs_nothing_from_elsewhere(ask):
    page = ask.get("/docs").text
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert loaded == ["/docs.css", "/openapi.json"]
    assert "<script" not in page
    style = ask.get("/docs.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "url(" not in style.text
