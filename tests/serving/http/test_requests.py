import asyncio
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from onepeak.serving.http import Limits
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Load, Share
from onepeak.serving.http.requests import read_body, rows_of_body, size_of_json, uploads_of

FORM = "multipart/form-data; boundary=x"


def form(*parts, end=b"--x--\r\n"):
    head = b'Content-Disposition: form-data; name="images"; filename="%s"\r\nContent-Type: image/png\r\n\r\n'
    return b"".join(b"--x\r\n" + head % name + data + b"\r\n" for name, data in parts) + end


def files(body, content_type=FORM, max_items=9):
    return [(upload.name, upload.data) for upload in uploads_of(body, content_type, max_items=max_items)]


def test_a_form_gives_its_files_in_order():
    tricky = b"\r\n--x no boundary\r\n--y\r\n" + bytes(range(256)) * 40
    assert files(form((b"a.png", b"one"), (b"b.png", tricky), (b"", b""))) == [
        ("a.png", b"one"),
        ("b.png", tricky),
        (None, b""),
    ]
    assert files(form((b"../../etc/passwd", b""), (b"\xc3\xa4\xff", b""))) == [("../../etc/passwd", b""), ("ä�", b"")]
    for kind in ("image/png", "application/octet-stream", ""):
        assert files(b"bytes", kind) == [(None, b"bytes")], "what is no form is one file"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("body", "content_type", "status", "message"),
    [
        (form((b"a", b"1"), end=b""), FORM, 400, "got a truncated one"),
        (form((b"a", b"1"), (b"b", b"2"))[:-40], FORM, 400, "got a truncated one"),
        (form(), FORM, 400, "must hold at least one file, got none"),
        (b"nothing of the kind", FORM, 400, "well-formed"),
        (form((b"a", b"1")), "multipart/form-data", 400, "well-formed|truncated"),
        (form((b"a", b"1")), "multipart/form-data; boundary=" + "y" * 300, 400, "well-formed"),
        (b'--x\r\nContent-Disposition: form-data; name="alpha"\r\n\r\n0.1\r\n--x--\r\n', FORM, 400, "must be a file"),
        (b"--x\r\n\r\nno header\r\n--x--\r\n", FORM, 400, "well-formed"),
        (form(*[(b"a", b"")] * 10), FORM, 413, "at most 9 images, got more"),
    ],
)
def test_a_wrong_form_is_refused_with_the_reason(body, content_type, status, message):
    with pytest.raises(RequestError, match=message) as refused:
        files(body, content_type)
    assert refused.value.status == status


@given(st.lists(st.tuples(st.from_regex(rb"[a-z]{0,8}", fullmatch=True), st.binary(max_size=300)), min_size=1))
def test_every_file_comes_back_as_it_was_sent(parts):
    sent = [(name, data.replace(b"--x", b"--y")) for name, data in parts]
    assert files(form(*sent), max_items=999) == [(name.decode() or None, data) for name, data in sent]


@given(st.binary(max_size=200), st.integers(0, 200), st.integers(0, 255))
def test_damage_never_comes_out_as_another_error(noise, place, byte):
    whole = bytearray(form((b"a.png", b"one"), (b"b.png", b"two")))
    whole[place % len(whole)] = byte
    for body in (bytes(whole), noise, b"--x\r\n" + noise, bytes(whole[:place])):
        try:
            files(body)
        except RequestError as error:
            assert error.status == 400  # noqa: PT017 - either is right, but nothing else


LIMITS = Limits(max_bytes=100, upload_seconds=0.2, max_buffered_bytes=1000)


def read(pieces, *, endless=False):
    """Reads a body that arrives in pieces, a pause being a number; gives it and how many pieces were taken."""
    taken = 0

    async def receive():
        nonlocal taken
        if taken == len(pieces):
            await asyncio.sleep(10)
        piece = pieces[taken]
        taken += 1
        if isinstance(piece, float):
            await asyncio.sleep(piece)
            return await receive()
        return {"type": "http.request", "body": piece, "more_body": endless or taken < len(pieces)}

    async def run():
        with Load(LIMITS).request() as share:
            body = await read_body(Request({"type": "http", "headers": []}, receive), LIMITS, share)
            return body, share.held["bytes"]

    return asyncio.run(run()), taken


def test_a_body_is_put_together_and_counted():
    assert read([b"a" * 60, b"", 0.01, b"b" * 40]) == ((b"a" * 60 + b"b" * 40, 100), 4)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("pieces", "endless", "status", "message"),
    [
        ([b""], False, 400, "The file is empty"),
        ([b"x" * 101], False, 413, "at most 100 bytes, got more"),
        ([b"x" * 60] * 5, False, 413, "at most 100 bytes, got more"),
        ([b"x" * 60] * 7, True, 413, "at most 100 bytes"),
        ([b"x" * 60] * 3, True, 413, "at most 100 bytes"),  # and then nothing comes any more
        ([b"x"], True, 408, r"must arrive within 0\.2 s, got 1 bytes in that time"),
        ([b"xxx", 0.05] * 3, True, 408, "got 9 bytes in that time"),
    ],
)
def test_a_body_that_is_empty_too_large_or_too_slow_is_refused(pieces, endless, status, message):
    with pytest.raises(RequestError, match=message) as refused:
        read(pieces, endless=endless)
    assert refused.value.status == status
    assert refused.value.headers == ({} if status == 400 else {"Connection": "close"})


@pytest.mark.bad_input
def test_a_body_with_a_length_and_in_chunks_is_refused_as_proxies_may_read_it_otherwise():
    headers = [(b"content-length", b"5"), (b"transfer-encoding", b"chunked")]
    with pytest.raises(RequestError, match="not both") as refused:
        asyncio.run(read_body(Request({"type": "http", "headers": headers}), LIMITS, Share(Load(LIMITS))))
    assert refused.value.status == 400


@pytest.mark.parametrize("value", ["0", "0.5", '""', "[]", "{}", '{"":0}', "null", "[[0]]"])
@pytest.mark.parametrize("form", ["list", "object"])
def test_the_values_of_json_take_no_more_memory_than_is_counted(value, form):
    many = ",".join([value] * 20_000) if form != "object" else ",".join(f'"k{n}":{value}' for n in range(20_000))
    body = (f"[{many}]" if form != "object" else f"{{{many}}}").encode()
    tracemalloc.start()
    content = json.loads(body)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(content) == 20_000
    assert used <= size_of_json(body) + len(body)


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
