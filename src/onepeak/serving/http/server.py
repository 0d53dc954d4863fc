"""Runs an app: binds the socket, reports the address, and finishes pending requests when it stops."""

import asyncio
import contextlib
import errno
import html
import logging
import os
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from onepeak._core.values import check_integer
from onepeak.errors import InputError
from onepeak.serving.http.access import is_loopback
from onepeak.serving.http.limits import give_memory_back, keep_no_large_memory
from onepeak.serving.http.metrics import ACCESS_LOG

DRAIN_SECONDS = 30
"""Time to finish pending requests when the server stops."""
KEEP_ALIVE_SECONDS = 65
"""How long a connection stays open after an answer: longer than clients keep theirs, so that none is closed while it is
being reused."""
IDLE_SECONDS = 30
"""Time for the head of a request to arrive, or for more of an answer to be read: at least this, at most twice that."""


def serve_app(
    app: FastAPI,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    access_log: bool = False,
    open_browser: bool = False,
    on_ready: Callable[[str], None] = print,
) -> None:
    """Serves until Ctrl-C or SIGTERM; pending requests are answered first.

    Args:
        app: From `create_app`, with the same token.
        host: The address to listen on. Any address other than loopback is reachable by other machines and needs a
            token.
        port: The port; 0 takes any free one.
        token: The app's secret.
        access_log: Whether to write one line per request to stderr.
        open_browser: Whether to open the first page in a browser.
        on_ready: Called with the address, without the token, once connections are accepted.

    Raises:
        InputError: The address is open to others without a token, or cannot be bound.
    """
    check_address(host, token=token)
    listening = listen(host, port)
    for name in ("uvicorn.error", "python_multipart"):  # errors in a request are reported to its sender
        logging.getLogger(name).setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=Connection,  # of h11, which limits the head of a request; httptools does not
        log_config=None,
        access_log=False,
        backlog=BACKLOG,
        ws="none",
        lifespan="on",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_notify=IDLE_SECONDS,
    )
    if access_log:
        write_access_log()
    Connection.most = most_connections()
    keep_no_large_memory()
    server = uvicorn.Server(config)
    config.callback_notify = Housekeeping(server)
    on_ready(address_of(listening, None))  # without the token: it should not appear in logs
    with contextlib.ExitStack() as until_the_end:
        if open_browser:
            page = until_the_end.enter_context(first_page(address_of(listening, token)))
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        until_the_end.enter_context(contextlib.suppress(KeyboardInterrupt))  # uvicorn has drained before it raises this
        server.run(sockets=[listening])


def check_address(host: str, *, token: str | None) -> None:
    """Refuses an address that other machines can reach if there is no token."""
    if token is not None and (not token.strip() or not token.isascii() or not token.isprintable()):
        raise InputError("`token` must be printable ASCII text, got one that is blank or has other characters.")
    if token is None and not is_loopback(host):
        raise InputError(
            f"`host` must be 127.0.0.1 without a token, got {host!r}, which other machines can reach: "
            "set a token (--token, or ONEPEAK_TOKEN).",
            page="serve",
        )


def listen(host: str, port: int) -> socket.socket:
    """Returns a listening socket; clients that connect before the app runs wait."""
    check_integer("port", port, minimum=0)
    if port > 65535:
        raise InputError(f"`port` must be at most 65535, got {port}.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"`host` must be an address of this machine, got {host!r}: {error.strerror}.") from None
    if os.name == "posix":  # elsewhere the flag would let two servers share a port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise InputError(_reason(error, host, port)) from None
    return listening


def address_of(listening: socket.socket, token: str | None) -> str:
    """Returns the address to open in a browser."""
    host, port = listening.getsockname()[:2]
    host_text = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{host_text}:{port}/" + ("" if token is None else f"?token={quote(token, safe='')}")


@contextlib.contextmanager
def first_page(address: str) -> Iterator[str]:
    """Yields an address for a browser's arguments, which every user of the machine can see: a token is not in it.

    An address with a token is in a page that only this user can read, and that leads there.
    """
    if "?" not in address:
        yield address
        return
    with tempfile.TemporaryDirectory(prefix="onepeak-") as folder:
        page = Path(folder) / "open.html"
        leads = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={html.escape(address)}">'
        page.write_text(leads, encoding="utf-8")
        yield page.as_uri()


def _reason(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"`port` must be free, and {port} is in use: give another, or 0 for any free one."
        case errno.EACCES:
            return f"`port` must be one that this user may use, got {port}: give one above 1023."
        case _:
            return f"`host` must be an address of this machine, got {host!r}: {error.strerror}."


def write_access_log() -> None:
    """Writes a line per request to stderr from now on."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))
    ACCESS_LOG.handlers = [handler]
    ACCESS_LOG.propagate = False
    ACCESS_LOG.setLevel(logging.INFO)


BACKLOG = 256
"""Connections that wait to be accepted; asyncio accepts as many at once."""
MOST_CONNECTIONS = 4096
_OTHER_FILES = 128


def most_connections() -> int:
    """Raises the soft limit on open files, and returns how many connections there may be: more would flood the log."""
    if sys.platform == "win32":  # has no such limit
        return MOST_CONNECTIONS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + BACKLOG + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(soft, wanted) - BACKLOG - _OTHER_FILES)


@final
class Connection(H11Protocol):
    """A connection; where there are too many, the one that has done nothing for longest is closed for a new one."""

    most = MOST_CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins a connection."""
        super().connection_made(transport)
        self.begun = time.monotonic()
        others: set[Any] = self.connections
        if len(others) > self.most:
            idle = [each for each in others if is_idle(each)]  # the new one is idle itself
            min(idle, key=lambda each: each.begun).transport.abort()


def is_idle(connection: Any) -> bool:
    """Whether no request is in progress."""
    return connection.cycle is None or connection.cycle.response_complete


@final
class Housekeeping:
    """Closes connections that wait for the head of a request, or for an answer to be read; uvicorn calls it regularly.

    Waits at least as long as the time between two calls, and at most twice as long. Gives freed memory back, too.
    """

    def __init__(self, server: uvicorn.Server) -> None:
        self._server = server
        self._waiting: dict[object, tuple[object, int]] = {}

    async def __call__(self) -> None:
        """Checks all connections."""
        waiting: dict[object, tuple[object, int]] = {}
        connections: set[Any] = self._server.server_state.connections
        for connection in list(connections):
            unread = connection.transport.get_write_buffer_size()
            if not unread:
                if not is_idle(connection):
                    continue
                if getattr(connection, "timeout_keep_alive_task", None) is not None:
                    continue  # answered and idle since: uvicorn closes it itself
            state = (connection.cycle, unread)
            if self._waiting.get(connection) == state:
                connection.transport.abort()
            else:
                waiting[connection] = state
        self._waiting = waiting
        await asyncio.get_running_loop().run_in_executor(None, give_memory_back)
