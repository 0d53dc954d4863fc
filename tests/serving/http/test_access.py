import pytest

from http_server import asking
from onepeak.serving.http import create_app
from onepeak.serving.http.access import cookie_name

TOKEN = "s3cret&more"


@pytest.fixture
def guarded():
    return asking(create_app(None, token=TOKEN))


@pytest.fixture
def open_one():
    return asking(create_app(None))


@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/docs.css", "/nowhere", "/v1/model", "/v1/predict"])
def test_nothing_is_told_without_the_token(guarded, path):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": ""}):
        answer = guarded.get(path, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "Authorization: Bearer TOKEN" in answer.text
    assert guarded.get("/healthz").json() == {"status": "ok"}
    assert guarded.get(f"{path}?token=wrong").status_code == 401
    assert guarded.post(path, params={"token": TOKEN}).status_code == 401


def test_the_token_opens_as_a_header_under_any_name_of_the_server(guarded):
    for scheme in ("Bearer", "bearer"):
        headers = {"Host": "models.example", "Authorization": f"{scheme} {TOKEN}"}
        assert guarded.get("/docs", headers=headers).status_code == 200


def test_a_browser_gets_a_cookie_once_and_an_address_without_the_token(guarded):
    entered = guarded.get("/docs", params={"token": TOKEN, "method": "elb"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/docs?method=elb")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert TOKEN not in cookie
    assert guarded.get("/docs").status_code == 200, "by the cookie"
    guarded.cookies.clear()
    assert guarded.get("/docs", headers={"Cookie": f"{cookie_name(TOKEN)}={TOKEN}"}).status_code == 401


@pytest.mark.parametrize("path", ["//evil.example/x", "/\\evil.example/x", "/%2F/evil.example"])
def test_no_address_sends_a_browser_to_another_site(guarded, path):
    entered = guarded.get(f"http://127.0.0.1:8000{path}", params={"token": TOKEN})
    assert entered.status_code == 303
    assert not entered.headers["location"].startswith(("//", "/\\", "http"))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "127.0.0.2:8000", "[::1]:8000", "LOCALHOST:1"])
def test_without_a_token_this_machine_is_served(open_one, host):
    assert open_one.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "[::1", "", "a b"]
)
def test_without_a_token_another_name_is_refused(open_one, host):
    answer = open_one.get("/v1/model", headers={"Host": host})
    assert answer.status_code == 421
    assert "answers to localhost only" in answer.json()["error"]["message"]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9", "http://[", ""])
def test_a_page_of_another_site_may_not_send_anything(open_one, origin):
    assert open_one.post("/v1/predict", headers={"Origin": origin}).status_code == 403
    assert open_one.get("/docs", headers={"Origin": origin}).status_code == 200, "what it may not read anyway"
    assert open_one.post("/docs", headers={"Origin": "http://127.0.0.1:8000"}).status_code == 405, "its own page may"
