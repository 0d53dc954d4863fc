import re

import pytest

from http_server import asking
from onepeak.serving.http import Limits, create_app
from onepeak.serving.http.limits import Load
from onepeak.serving.http.metrics import Metrics

LINE = re.compile(r'onepeak_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+]+')


def counts(text):
    """All values by name and labels; refuses what is not Prometheus' text form."""
    lines = text.splitlines()
    assert text.endswith("\n")
    assert all(LINE.fullmatch(line) or line.startswith(("# HELP onepeak_", "# TYPE onepeak_")) for line in lines)
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_latencies_are_counted_up_to_each_bound():
    metrics = Metrics(Load(Limits()))
    for seconds in (0.004, 0.02, 0.02, 99):
        metrics.count("/v1/predict", 200, seconds)
    metrics.count("/v1/predict", 503, 0.001)
    found = counts(metrics.text())
    buckets = [
        found[f'onepeak_request_seconds_bucket{{path="/v1/predict",le="{bound}"}}'] for bound in (0.005, 0.025, 60.0)
    ]
    assert buckets == [2, 4, 4]
    for name in ('bucket{path="/v1/predict",le="+Inf"}', 'count{path="/v1/predict"}'):
        assert found[f"onepeak_request_seconds_{name}"] == 5
    assert found['onepeak_request_seconds_sum{path="/v1/predict"}'] == pytest.approx(99.045)
    assert found['onepeak_requests_total{path="/v1/predict",status="200"}'] == 4
    assert found['onepeak_refused_total{status="503"}'] == 1


def test_requests_refusals_and_samples_unlike_the_training_are_counted(table):
    with asking(create_app(table, limits=Limits(max_rows=3))) as client:
        usual, unlike = {"size": 1, "tone": "1"}, {"size": -999, "tone": "1"}
        for rows in ([usual, unlike], [usual] * 4):
            client.post("/v1/predict", json={"rows": rows})
        client.get("/nowhere/at/all")
        answer = client.get("/metrics")
    found = counts(answer.text)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert found['onepeak_requests_total{path="/v1/predict",status="200"}'] == 1
    assert found['onepeak_requests_total{path="other",status="404"}'] == 1
    assert found['onepeak_refused_total{status="413"}'] == 1
    assert (found['onepeak_samples_total{of="usual"}'], found['onepeak_samples_total{of="unlike"}']) == (1, 1)
    assert (found['onepeak_in_progress{of="requests"}'], found['onepeak_limit{of="requests"}']) == (0, 512)


def test_an_address_of_requests_is_that_of_the_route_so_that_nobody_makes_millions_of_them(ask):
    for path in ("/docs", "/static/1", "/%22x"):
        ask.get(path)
    found = {name for name in counts(ask.get("/metrics").text) if name.startswith("onepeak_requests_total")}
    assert {re.search('path="([^"]*)"', name)[1] for name in found} <= {
        *("/docs", "/docs.css", "/", "/openapi.json", "/v1/predict", "/v1/model", "/healthz", "/readyz", "/metrics"),
        "other",
    }
