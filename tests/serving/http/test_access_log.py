import logging
import re
import urllib.request

import pytest

from http_server import running
from onepeak.serving.http import create_app
from onepeak.serving.http.access_log import without_token, write_access_log


@pytest.fixture
def logger():
    """The log of requests, as it was before at the end."""
    found = logging.getLogger("uvicorn.access")
    before = found.handlers, found.propagate, found.level
    yield found
    found.handlers, found.propagate, found.level = before


def test_a_request_is_a_line_with_time_client_address_and_status_and_without_the_token(logger, capsys):
    write_access_log()
    write_access_log()  # a second server in a process: still one line
    with running(create_app(None, token="s3cret")) as address:
        urllib.request.urlopen(f"{address}/healthz?a=1&token=s3cret").close()
    (line,) = capsys.readouterr().err.splitlines()
    when = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}"
    assert re.fullmatch(rf'{when} 127\.0\.0\.1:\d+ - "GET /healthz\?a=1&token=\.\.\. HTTP/1\.1" 200', line)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("/docs", "/docs"),
        ("/?", "/?"),
        ("/token?alpha=0.1", "/token?alpha=0.1"),
        ("/?token=a%26b&x=1&token=c", "/?token=...&x=1&token=..."),
        ("/?%74oken=secret", "/?token=..."),
    ],
)
def test_no_spelling_of_the_token_is_told(address, told):
    assert without_token(address) == told
