"""Runs an app: binds with care, says where it is, and on the way out finishes what was begun."""

import contextlib
import errno
import logging
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI

from onepeak._values import check_integer
from onepeak.errors import InputError
from onepeak.serving.http.access import is_loopback
from onepeak.serving.http.access_log import write_access_log
from onepeak.serving.http.idle import IdleConnections

DRAIN_SECONDS = 30
"""For requests under way to be finished when the server is told to stop."""
KEEP_ALIVE_SECONDS = 65
"""That a connection stays open after an answer: longer than clients keep theirs, so that none is closed while it is
being used again."""
IDLE_SECONDS = 30
"""That the head of a request may take, at least, and twice that at most."""


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
    """Serves until it is told to stop by Ctrl-C or SIGTERM; requests under way are answered before it ends.

    Args:
        app: What `create_app` made, with the same token.
        host: The address to listen on. Other machines reach any but that of this machine itself, so it needs a token.
        port: Where; 0 takes any that is free.
        token: The secret of the app.
        access_log: Whether to write one line per request to stderr.
        open_browser: Whether to show the first page in a browser.
        on_ready: Told the address, without the token, once connections are accepted.

    Raises:
        InputError: The address is open to others without a token, or cannot be listened on.
    """
    check_address(host, token=token)
    listening = listen(host, port)
    for name in ("uvicorn.error", "python_multipart"):  # what is wrong with a request is told to who sent it
        logging.getLogger(name).setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http="h11",  # bounds the head of a request; the other one that uvicorn would take if it is installed does not
        log_config=None,
        access_log=access_log,
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
    server = uvicorn.Server(config)
    config.callback_notify = IdleConnections(server)
    on_ready(address_of(listening, None))  # who has the token knows it; a log need not
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address_of(listening, token),), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how it ends; uvicorn has drained before it raises this
        server.run(sockets=[listening])


def check_address(host: str, *, token: str | None) -> None:
    """Refuses an address that other machines can reach where there is no token.

    Args:
        host: The address to listen on.
        token: The secret, if there is one.
    """
    if token is not None and (not token.strip() or not token.isascii() or not token.isprintable()):
        raise InputError("`token` must be a text of plain letters, digits and signs, got one that is empty or is not.")
    if token is None and not is_loopback(host):
        raise InputError(
            f"`host` must be 127.0.0.1 where there is no token, got {host!r}, which other machines can reach: "
            "set a token (--token, or ONEPEAK_TOKEN).",
            page="serve",
        )


def listen(host: str, port: int) -> socket.socket:
    """A socket that connections can be made to from now on; who connects before the app runs, waits.

    Args:
        host: A name or an address.
        port: 0 for any that is free.
    """
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
    """What to type into a browser."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/" + ("" if token is None else f"?token={quote(token, safe='')}")


def _reason(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"`port` must be free, and {port} is in use: give another, or 0 for any that is free."
        case errno.EACCES:
            return f"`port` must be one that this user may use, got {port}: give one above 1023."
        case _:
            return f"`host` must be an address of this machine, got {host!r}: {error.strerror}."
