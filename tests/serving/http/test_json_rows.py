import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.json_rows import rows_of_body


def rows(body, columns=("age", "tone"), max_rows=3):
    return rows_of_body(body, columns=columns, categories=["tone"], max_rows=max_rows)


def test_rows_come_out_with_the_columns_asked_for():
    body = '{"rows": [{"tone": "dark", "age": 1.5, "id": {"a": []}}, {"age": null, "tone": true}]}'
    wanted = [{"age": 1.5, "tone": "dark"}, {"age": None, "tone": True}]
    assert rows(body.encode()) == wanted
    assert rows(body.encode("utf-8-sig")) == wanted


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "must be JSON"),
        (b"\xff\xfe", 400, "must be JSON"),
        (b"rows", 400, "must be JSON"),
        (b'{"rows": [{"age": NaN, "tone": 1}]}', 400, "NaN is not JSON: write null for a missing value"),
        (b'{"rows": [{"age": -Infinity, "tone": 1}]}', 400, "Infinity is not JSON"),
        (b"[" * 100_000, 400, "must be JSON"),
        (b'{"rows":' * 100_000, 400, "must be JSON"),
        (b'{"rows": [{"age": ' + b"9" * 5000 + b', "tone": 1}]}', 400, "must be JSON"),
        (b'{"rows": [{"age": ' + b"9" * 400 + b', "tone": 1}]}', 422, r"`rows\[0\]`: 'age' must be within \+-1e\+30"),
        (b'{"rows": [{"age": 1e400, "tone": 1}]}', 422, r"`rows\[0\]`: 'age' must be within"),
        (b"[]", 400, 'must be {"rows"'),
        (b"null", 400, 'must be {"rows"'),
        (b'{"rows": {}}', 400, 'must be {"rows"'),
        (b'{"rows": [], "alpha": 0.1}', 400, "nothing beside the rows"),
        (b'{"rows": []}', 400, "must hold at least one row, got none"),
        (b'{"rows": [{}, {}, {}, {}]}', 413, "at most 3 rows, got 4"),
        (b'{"rows": [[1, 2]]}', 400, r"`rows\[0\]` must be an object with one value per column, got a list"),
        (b'{"rows": [7]}', 400, "got a single value"),
        (b'{"rows": [null]}', 400, "got null"),
        (
            b'{"rows": [{"age": 1, "tone": 1}, {"age": 1}]}',
            422,
            r"`rows\[1\]` must have the columns age, tone, it lacks tone: send null for a value that is missing",
        ),
        (b'{"rows": [{"age": [1], "tone": 1}]}', 400, "'age' must be one value, got a list"),
        (b'{"rows": [{"age": "41", "tone": 1}]}', 422, "'age' must be a number or null, got a string"),
        (b'{"rows": [{"age": {}, "tone": 1}]}', 400, "'age' must be one value, got an object"),
    ],
)
def test_anything_else_is_refused_with_the_reason(body, status, message):
    with pytest.raises(RequestError, match=message) as refused:
        rows(body)
    assert refused.value.status == status


NUMBERS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e30, 1e30)
VALUES = NUMBERS | st.text(max_size=9)


@given(st.lists(st.fixed_dictionaries({"age": NUMBERS, "tone": VALUES}), min_size=1, max_size=3))
def test_rows_come_back_as_they_were_written(written):
    assert rows(json.dumps({"rows": written}).encode()) == written
