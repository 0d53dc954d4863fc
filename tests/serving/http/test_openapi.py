"""The server against its own description: schemathesis makes requests from it, right ones and wrong ones."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import CHECKS, load_all_checks

from http_server import running
from onepeak.serving.http import create_app

load_all_checks()
CANNOT_HOLD = [CHECKS.get_one("positive_data_acceptance")]
"""Bytes that the description allows need not be a image, values may be unknown to the model, and a small alpha may be
one that its validation does not allow."""


def check(app, examples):
    """Every address, with data that fits its description and with data that does not."""
    seen = set()
    with running(app) as address:
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
        for operation in (found.ok() for found in schema.get_all_operations()):
            plain = operation.path != "/v1/predict"  # without options or body nothing can be wrong
            for mode in schemathesis.GenerationMode if not plain else [schemathesis.GenerationMode.POSITIVE]:

                @settings(max_examples=1 if plain else examples, suppress_health_check=list(HealthCheck), database=None)
                @given(case=operation.as_strategy(generation_mode=mode))
                def answers_as_described(case):
                    answer = case.call()
                    seen.add((case.operation.path, answer.status_code))
                    assert answer.status_code < 500
                    case.validate_response(answer, excluded_checks=CANNOT_HOLD)

                answers_as_described()
    return seen


@pytest.mark.parametrize("kind", ["model", "table"])
def test_answers_are_as_described_and_none_is_a_failure_of_the_server(kind, request):
    seen = check(create_app(request.getfixturevalue(kind)), 20)
    assert {("/healthz", 200), ("/v1/model", 200), ("/v1/predict", 200), ("/v1/predict", 422)} <= seen


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["model", "table"])
def test_a_thousand_requests_find_no_failure_of_the_server(kind, request):
    assert ("/v1/predict", 200) in check(create_app(request.getfixturevalue(kind)), 500)
