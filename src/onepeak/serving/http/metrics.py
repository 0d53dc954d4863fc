"""What the server did, counted for Prometheus and, if asked for, logged line by line."""

import logging
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import final
from urllib.parse import quote, unquote_plus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onepeak.serving.http.limits import Load

ACCESS_LOG = logging.getLogger("onepeak.access")
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the latencies that are counted together, in seconds."""
_REFUSALS = (408, 413, 503)


@final
class Metrics:
    """The counts of one server."""

    def __init__(self, load: Load) -> None:
        self.samples = Counter(usual=0, unlike=0, failed=0)
        """Images and rows, by what became of them."""
        self._load = load
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: dict[str, list[float]] = {}

    def count(self, path: str, status: int, seconds: float) -> None:
        """Counts a request that was answered."""
        self._requests[path, status] += 1
        row = self._seconds.setdefault(path, [0.0] * (len(BUCKETS) + 2))
        for place, bound in enumerate((*BUCKETS, math.inf)):
            row[place] += seconds <= bound
        row[-1] += seconds

    def text(self) -> str:
        """Returns all counts in Prometheus' text form."""
        requests, refused = sorted(self._requests.items()), Counter[int]()
        for (_, status), number in requests:
            refused[status] += number
        seconds: list[tuple[str, float]] = []
        for path, (*counts, everything, total) in sorted(self._seconds.items()):
            bounds = zip((*map(str, BUCKETS), "+Inf"), (*counts, everything), strict=True)
            seconds += [(f'_bucket{{path="{path}",le="{bound}"}}', number) for bound, number in bounds]
            seconds += [(f'_sum{{path="{path}"}}', total), (f'_count{{path="{path}"}}', everything)]
        by_status = [(f'{{path="{path}",status="{status}"}}', number) for (path, status), number in requests]
        refusals = [(f'{{status="{status}"}}', refused[status]) for status in _REFUSALS]
        families = (
            ("requests_total", "counter", "Requests, by address and status; 0 if the client had gone.", by_status),
            ("request_seconds", "histogram", "Time until a request is answered and read.", seconds),
            (
                "refused_total",
                "counter",
                "Requests that were too slow (408), too large (413) or too many (503).",
                refusals,
            ),
            ("samples_total", "counter", "Images and rows; those unlike the training.", _by(self.samples)),
            ("in_progress", "gauge", "What the requests in progress hold.", _by(self._load.held)),
            ("limit", "gauge", "The most that they may hold.", _by(self._load.most)),
        )
        return "".join(_family(*family) for family in families)


def _by(amounts: Mapping[str, int]) -> list[tuple[str, float]]:
    return [(f'{{of="{name}"}}', amount) for name, amount in amounts.items()]


def _family(name: str, kind: str, description: str, values: Iterable[tuple[str, float]]) -> str:
    head = f"# HELP onepeak_{name} {description}\n# TYPE onepeak_{name} {kind}\n"
    return head + "".join(f"onepeak_{name}{labels} {value:.12g}\n" for labels, value in values)


@final
class Observed:
    """Counts every request and its answer, and logs it."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, begun = 0, time.monotonic()  # 0: the client had gone

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            route = scope.get("route")
            self.metrics.count(getattr(route, "path", "other"), status, time.monotonic() - begun)
            if ACCESS_LOG.isEnabledFor(logging.INFO):
                host, port = scope.get("client") or ("", 0)
                query = scope["query_string"].decode("latin-1")
                address = without_token(quote(scope["path"]) + (f"?{query}" if query else ""))
                method, version = scope["method"], scope["http_version"]
                ACCESS_LOG.info('%s:%d - "%s %s HTTP/%s" %d', host, port, method, address, version, status)


def without_token(address: str) -> str:
    """Masks the token in an address.

    Example:
        >>> without_token("/samples?sort=error&token=s3cret")
        '/samples?sort=error&token=...'
    """
    path, mark, query = address.partition("?")
    parts = (
        "token=..." if unquote_plus(part.partition("=")[0]).lower() == "token" else part for part in query.split("&")
    )
    return path + mark + "&".join(parts)
