import re

import pytest

from http_server import asking
from onepeak.serving.http import create_app
from onepeak.serving.http.docs import operations


def test_the_page_shows_every_address_and_option(ask):
    page = ask.get("/docs").text
    for shown in ("GET /healthz", "GET /v1/model", "POST /v1/predict", "alpha", "evidence", "multipart/form-data"):
        assert f"<code>{shown}</code>" in page
    assert "Too many bytes, items or pixels." in page


def test_the_page_tells_every_field_of_an_answer(ask):
    page = ask.get("/docs").text
    records = ask.get("/openapi.json").json()["components"]["schemas"]
    for field in (field for record in records.values() for field in record["properties"]):
        assert f"<code>{field}</code>" in page
    assert "Side order index: the share of adjacent classes that fall away from the label." in page


@pytest.mark.parametrize("kind", ["ask", "ask_table"])
def test_nothing_is_left_without_a_description(kind, request):
    described = request.getfixturevalue(kind).get("/openapi.json").json()
    untold = [
        f"{name}.{field}"
        for name, record in described["components"]["schemas"].items()
        for field, said in {"": record, **record["properties"]}.items()
        if not said.get("description")
    ]
    for operation in operations(described):
        told = {
            "summary": operation.summary,
            "description": operation.description,
            **{f"option {option['name']}": option.get("description") for option in operation.options},
            **{f"body {kind}": body["schema"].get("description") for kind, body in operation.bodies.items()},
            **operation.answers,
        }
        untold += [f"{operation.path}: {name}" for name, text in told.items() if not text]
    assert untold == []


def test_the_page_needs_nothing_from_elsewhere(ask):
    page = ask.get("/docs").text
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert loaded == ["/docs.css", "/openapi.json"]
    assert "<script" not in page
    style = ask.get("/docs.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "url(" not in style.text


def test_without_a_model_there_is_nothing_to_predict():
    description = asking(create_app(None)).get("/openapi.json").json()
    assert [operation.path for operation in operations(description)] == ["/healthz"]
    assert asking(create_app(None)).post("/v1/predict").status_code == 404


def test_what_the_page_says_is_text(table):
    page = asking(create_app(table)).get("/docs").text
    assert "{&#34;rows&#34;: [" in page
