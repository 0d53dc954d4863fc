"""Access control: requests need the token or, without one, must come from this machine and from no other site."""

import hashlib
import hmac
import ipaddress
from typing import final
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import URL
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from onepeak.serving.http.failures import RequestError, failure

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Paths that need no token: health checks ask there, and learn only that the server runs or is full."""
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@final
class Access:
    """Passes a request on, or answers with the reason for refusing it.

    With a token, a request sends it as `Authorization: Bearer TOKEN`; a browser opens any page once with
    `?token=TOKEN`, receives a cookie, and is redirected to the address without the token. Without a token, the
    request's host must name this machine: otherwise any web page could point its own host name here and read the
    answers (DNS rebinding). In both cases, pages of other sites may not send anything.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer: Response | None
        try:
            answer = self._entered(scope)
        except RequestError as error:
            answer = failure(scope["path"], error.status, str(error), headers=error.headers)
        await (answer or self.app)(scope, receive, send)

    def _entered(self, scope: Scope) -> RedirectResponse | None:
        """Returns the redirect that sets the browser's cookie, or None if the request may pass."""
        request = HTTPConnection(scope)
        _refuse_other_sites(request, scope["method"])
        if self.token is None:
            _refuse_other_names(request)
            return None
        if scope["path"] in OPEN_PATHS:
            return None
        if scope["method"] == "GET" and _same(request.query_params.get("token", ""), self.token):
            return _with_cookie(request, self.token)
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        cookie = request.cookies.get(cookie_name(self.token), "")
        if (scheme.lower() == "bearer" and _same(given.strip(), self.token)) or _same(cookie, _cookie(self.token)):
            return None
        raise RequestError(
            401,
            "This server needs its token: send the header `Authorization: Bearer TOKEN`, or open the address with "
            "?token=TOKEN in a browser.",
            headers={"WWW-Authenticate": "Bearer"},
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    Example:
        >>> [is_loopback(host) for host in ("127.0.0.2", "localhost", "::1", "0.0.0.0", "192.168.0.2", "example.org")]
        [True, True, True, False, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def cookie_name(token: str) -> str:
    """The cookie's name, unique to the server: browsers share cookies among the ports of a machine."""
    return f"onepeak-{hashlib.sha256(token.encode()).hexdigest()[:12]}"


def _cookie(token: str) -> str:
    """The cookie's value: grants access to this server without revealing the token."""
    return hmac.new(token.encode(), b"onepeak cookie", hashlib.sha256).hexdigest()


def _with_cookie(request: HTTPConnection, token: str) -> RedirectResponse:
    rest = URL(scope=request.scope).remove_query_params("token")
    # By path alone: the browser stays on whatever host name it used. Exactly one leading slash, as two would begin
    # another host.
    path = "/" + rest.path.lstrip("/\\")
    answer = RedirectResponse(f"{path}?{rest.query}" if rest.query else path, status_code=303)
    answer.set_cookie(cookie_name(token), _cookie(token), httponly=True, samesite="lax")
    return answer


def _refuse_other_names(request: HTTPConnection) -> None:
    given = request.headers.get("host", "")
    if not is_loopback(_split(f"//{given}").hostname or ""):
        raise RequestError(
            421, f"Without a token this server answers to localhost only, got the host {given[:100]!r}: set a token."
        )


def _refuse_other_sites(request: HTTPConnection, method: str) -> None:
    origin = request.headers.get("origin")
    if origin is not None and method not in _SAFE_METHODS:
        own, other = request.headers.get("host", "").lower(), _split(origin).netloc.lower()
        if not other or other != own:
            raise RequestError(403, f"A page of {origin[:100]!r} may not send anything to this server.")


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:  # an unclosed bracket
        return SplitResult("", "", "", "", "")


def _same(given: str, wanted: str) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
