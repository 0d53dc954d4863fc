"""Every address of the inspector, asked in process: right ones, wrong ones, and nonsense."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from onepeak.serving.http import create_app
from onepeak.serving.inspector import inspector_router, open_inspection
from onepeak.serving.inspector.posteriors import PAGE_SIZE
from onepeak.serving.inspector.router import plotly_file, static_files


@pytest.fixture(scope="module")
def client(make_app):
    with TestClient(make_app(), base_url="http://localhost") as opened:
        yield opened


def test_every_page_and_its_figures_answer(client):
    for path in ("/", "/samples", "/map", "/sample/0-0/20", "/confusion", "/labels", "/try"):
        assert client.get(path).status_code == 200
    one = ("sample/0-0/20", "evidence/0-0/20?method=ce&label=1", "labels?label=2")
    for path in ("about", "overview", "curves", "findings", "samples", "map", "confusion", *one):
        answer = client.get(f"/v1/inspect/{path}")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        assert answer.json()


def test_what_scripts_are_told_of_the_comparison(client):
    about = client.get("/v1/inspect/about").json()
    assert about["classes"] == [f"g{grade}" for grade in range(1, 9)]
    assert about["actions"][2] == "treatment 3"
    assert about["parts"] == {"0-0": "split 0", "1-0": "split 1"}
    assert about["looks"]["elb"] == {"colour": "#d55e00", "dash": "solid", "symbol": "circle"}


def test_filters_of_the_address_reach_the_list(client):
    answer = client.get("/v1/inspect/samples?method=elb&part=1-0&error=2&soi=0.9&sort=error").json()
    entries = answer["entries"]
    assert answer["total"] == len(entries) > 0
    assert all(entry["part"] == "1-0" and entry["soi"] < 0.9 for entry in entries)
    errors = [abs(entry["truth"] - entry["predicted"]) for entry in entries]
    assert errors == sorted(errors, reverse=True)
    assert min(errors) >= 2


def test_a_note_is_put_on_a_sample_and_exported(client):
    posted = client.post("/v1/inspect/sample/0-0/20", json={"flag": True, "note": " look again "})
    assert posted.json() == {"flag": True, "note": "look again"}
    shown = client.get("/v1/inspect/sample/0-0/20").json()
    assert (shown["flag"], shown["note"]) == (True, "look again")
    exported = client.get("/v1/inspect/samples.csv?flagged=true")
    assert exported.headers["content-type"] == "text/csv; charset=utf-8"
    assert exported.text.splitlines()[1].endswith(",yes,look again")
    client.post("/v1/inspect/sample/0-0/20", json={})
    assert client.post("/v1/inspect/sample/0-0/20", content="flag=1").status_code == 422


def test_a_page_that_is_not_there_is_a_page(client):
    answer = client.get("/sample/9-9/1")
    assert answer.status_code == 404
    assert '<link rel="stylesheet" href="/static/inspector.css">' in answer.text


def test_the_list_of_a_sample_may_be_of_all_parts(client):
    """The address names the sample's own part, and that is no filter."""
    both = client.get("/v1/inspect/sample/0-0/20?method=ce").json()
    one = client.get("/v1/inspect/sample/0-0/20?method=ce&part=0-0").json()
    assert (both["surroundings"]["total"], one["surroundings"]["total"]) == (50, 25)


def test_images_come_as_images(client):
    for path, kind in {
        "/thumbnail/0-0/20": "image/jpeg",
        "/image/0-0/20": "image/png",
        "/static/icon.svg": "image/svg+xml",
        "/static/plotly.min.js": "text/javascript; charset=utf-8",
    }.items():
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert len(answer.content) > 200


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("samples?method=nobody", 404, "`method` must be one of ce, elb, got 'nobody'."),
        ("samples?part=9-9", 404, "`part` must be one of 0-0, 1-0, got '9-9'."),
        ("samples?sort=best", 422, "sort"),
        ("samples?error=-1", 422, "error"),
        ("samples?soi=nan", 422, "soi"),
        ("samples?page=0", 422, "page"),
        ("samples?search=" + "x" * 300, 422, "search"),
        ("sample/0-0/0", 422, "Sample 0 is not in the test set of split 0-0."),
        ("sample/0-0/99999999999999999999", 422, "item"),
        ("sample/a-b/1", 422, "tested"),
        ("labels?label=8", 422, "`label` must be below 8, got 8."),
        ("labels", 422, "label"),
    ],
)
def test_a_wrong_address_is_answered_with_a_sentence(client, path, status, message):
    answer = client.get(f"/v1/inspect/{path}")
    assert answer.status_code == status
    assert message in answer.json()["error"]["message"]


def test_what_is_not_there_is_not_found(client):
    for path in [
        "/thumbnail/0-0/0",
        "/image/9-9/20",
        "/v1/inspect/evidence/0-0/0?method=ce&label=1",
        "/v1/inspect/words/0-0/20?method=ce",
        "/static/nothing.js",
        "/static/../router.py",
        "/static/%2e%2e%2frouter.py",
        "/static/..%5crouter.py",
        "/static/%2fetc%2fpasswd",
        "/thumbnail/0-0/..%2f..%2fresult.json",
    ]:
        assert client.get(path).status_code in (404, 422), path


PLACES = ("/", "/sample/", "/thumbnail/", "/image/", "/static/", "/v1/inspect/", "/v1/inspect/samples?")
PIECES = ("..", "/", "%2e", "%00", "0-0", "20", "-1", "&", "method=ce", "page=", "label=", "truth=", "\u00e9", "%ff")


@given(st.sampled_from(PLACES), st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=6))
def test_nonsense_never_breaks_the_server(client, place, pieces):
    try:
        request = client.build_request("GET", place + "".join(pieces))
    except Exception:  # no client can send it
        return
    answer = client.send(request)
    assert answer.status_code < 500
    assert b"Traceback" not in answer.content


def test_without_a_model_there_is_no_page_to_try_it(compared):
    app = create_app(None, extra_routers=[inspector_router(open_inspection(compared))])
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/try").status_code == 404
        assert "/try" not in client.get("/").text
        assert client.get("/v1/inspect/about").json()["actions"] == []


def test_pages_and_figures_are_behind_the_token(compared):
    app = create_app(None, token="secret", extra_routers=[inspector_router(open_inspection(compared))])
    with TestClient(app, base_url="http://localhost") as client:
        paths = ("/", "/samples", "/v1/inspect/overview", "/thumbnail/0-0/20", "/static/page.js")
        assert {client.get(path).status_code for path in paths} == {401}
        assert {client.get(path, headers={"Authorization": "Bearer secret"}).status_code for path in paths} == {200}


SCRIPTS = sorted(name for name in static_files() if name.endswith(".js"))


def test_the_charts_script_is_the_one_of_the_package():
    plotly = pytest.importorskip("plotly.offline")
    assert plotly_file().read_text(encoding="utf-8") == plotly.get_plotlyjs()


def test_scripts_import_only_what_is_there_and_ask_nobody_else():
    for name in SCRIPTS:
        text = static_files()[name][0].decode()
        assert set(re.findall(r'from "\./([\w.]+)"', text)) <= set(SCRIPTS)
        assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}  # the name of SVG, no address
        assert not re.search(r"\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write", text)
    assert not re.search(r"@import|url\(", static_files()["inspector.css"][0].decode())


def test_a_page_of_samples_is_as_long_for_the_browser_as_for_the_server():
    assert f"PAGE_SIZE = {PAGE_SIZE};" in static_files()["address.js"][0].decode()
