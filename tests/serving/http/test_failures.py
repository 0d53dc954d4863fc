import json

from fastapi import FastAPI
from starlette.exceptions import HTTPException

from http_server import asking
from onepeak.errors import InputError
from onepeak.serving.http.failures import RequestError, answer_failures, failure


def test_a_failure_below_v1_is_json_and_elsewhere_a_page():
    answer = failure("/v1/x", 413, "too much", headers={"Retry-After": "3"})
    assert (answer.status_code, answer.headers["retry-after"]) == (413, "3")
    assert json.loads(answer.body) == {"error": {"code": "too_large", "message": "too much"}}
    page = failure("/x", 404, "gone")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert b"<h1>Not found</h1>" in page.body
    assert b">gone</p>" in page.body
    assert b"&lt;script&gt;" in failure("/x", 400, "<script>").body
    for path in ("/x", "/v1/x"):
        assert b"got" in failure(path, 400, "got \ud800 \x00 \u2028").body


def test_all_that_a_route_raises_is_answered():
    app = FastAPI()
    answer_failures(app)
    raised = {
        "/v1/refused": RequestError(503, "busy", headers={"Retry-After": "7"}),
        "/v1/input": InputError("`alpha` must be smaller."),
        "/v1/odd": HTTPException(418, "a teapot"),
    }

    @app.get("/v1/{name}")
    def fail(name: str) -> None:
        raise raised[f"/v1/{name}"]

    @app.get("/v1/count/{number}")
    def count(number: int) -> int:
        return number

    said = {path: asking(app).get(path) for path in raised}
    assert {path: answer.status_code for path, answer in said.items()} == {
        "/v1/refused": 503,
        "/v1/input": 422,
        "/v1/odd": 400,
    }
    assert said["/v1/refused"].headers["retry-after"] == "7"
    assert said["/v1/input"].json()["error"]["message"] == "`alpha` must be smaller."
    wrong = asking(app).get("/v1/count/many")
    assert wrong.status_code == 422
    assert wrong.json()["error"]["message"].startswith("`number`: Input should be a valid integer")
    assert asking(app).post("/v1/count/1").json()["error"]["code"] == "method_not_allowed"
    assert asking(app).get("/elsewhere").status_code == 404
