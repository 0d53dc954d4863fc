"""The log of requests: uvicorn's own, one line per request on stderr, with the time and without the token."""

import logging
from typing import final
from urllib.parse import unquote_plus

_PATH = 2
"""Position of the address in what uvicorn logs: client, method, address, version, status."""


def write_access_log() -> None:
    """Makes uvicorn write its access log to stderr from now on."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
    handler.addFilter(_WithoutToken())
    logger = logging.getLogger("uvicorn.access")
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(logging.INFO)


def without_token(address: str) -> str:
    """Masks the token in an address.

    Example:
        >>> without_token("/samples?sort=error&token=s3cret")
        '/samples?sort=error&token=...'
    """
    path, mark, query = address.partition("?")
    parts = ("token=..." if unquote_plus(part.partition("=")[0]) == "token" else part for part in query.split("&"))
    return path + mark + "&".join(parts)


@final
class _WithoutToken(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                without_token(str(value)) if place == _PATH else value for place, value in enumerate(record.args)
            )
        return True
