import threading

import pytest
from fastapi import APIRouter

from http_server import asking
from onepeak.serving.http import create_app


def test_the_server_says_that_it_lives():
    answer = asking(create_app(None)).get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert asking(create_app(None)).head("/healthz").status_code == 200


def test_the_first_page_is_that_of_a_router_or_the_description():
    assert asking(create_app(None)).get("/").headers["location"] == "/docs"
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def first() -> str:
        return "a page"

    assert asking(create_app(None, extra_routers=[router])).get("/").json() == "a page"


def test_the_description_holds_the_limits_and_columns_of_the_model(ask, ask_table):
    body = ask.get("/openapi.json").json()["paths"]["/v1/predict"]["post"]["requestBody"]["content"]
    assert list(body) == ["image/*", "application/octet-stream", "multipart/form-data"]
    assert body["multipart/form-data"]["schema"]["description"].startswith("Up to 256 files")
    body = ask_table.get("/openapi.json").json()["paths"]["/v1/predict"]["post"]["requestBody"]["content"]
    row = body["application/json"]["schema"]["properties"]["rows"]["items"]
    assert row["required"] == ["size", "tone"]
    assert "string" not in row["properties"]["size"]["type"]
    assert "string" in row["properties"]["tone"]["type"]


@pytest.mark.parametrize(("kind", "method"), [("model", "answers"), ("table", "row_answers")])
def test_the_model_is_warm_before_anybody_asks(kind, method, request, monkeypatch):
    served, asked = request.getfixturevalue(kind), []
    whole = getattr(served, method)
    monkeypatch.setattr(served, method, lambda items: (asked.append(len(items)), whole(items))[1])
    with asking(create_app(served)):
        pass
    assert asked == [1]


def test_a_model_that_cannot_take_the_first_picture_is_served_all_the_same(model, monkeypatch):
    def fail(_):
        raise RuntimeError("too small")

    monkeypatch.setattr(model, "answers", fail)
    with asking(create_app(model)) as client:
        assert client.get("/healthz").status_code == 200


def test_the_threads_end_with_the_server(model, pictures):
    before = _threads()
    with asking(create_app(model)) as client:
        client.post("/v1/predict", content=pictures[0], headers={"Content-Type": "image/png"})
        assert _threads() > before
    assert _threads() == before


def _threads():
    return {thread.ident for thread in threading.enumerate() if thread.name.startswith("onepeak-")}
