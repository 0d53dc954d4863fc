"""Security headers on every response, including errors."""

import logging
from typing import final

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onepeak.serving.http.failures import failure

CONTENT_SECURITY_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "object-src": "'none'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
"""What a page may load: its own files, and images that it created itself. Nothing from other sites."""

HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in CONTENT_SECURITY_POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Set unless the response sets them itself."""


@final
class SecureAnswers:
    """Adds `HEADERS` to every response, and answers if the app fails: the reason goes to the log, not to the client.

    Args:
        app: The app to protect.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_secured(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, send_secured)
        except ClientDisconnect:
            return  # the client has disconnected
        except Exception:
            logging.getLogger(__name__).exception("%s %r failed", scope["method"], scope["path"])
            if not started:
                answer = failure(scope["path"], 500, "The server failed on this request; see its log.")
                await answer(scope, receive, send_secured)
