"""Connections on which nothing is asked: uvicorn waits for the head of a request for ever, and this does not."""

from typing import final

import uvicorn


@final
class IdleConnections:
    """Closes those on which the head of a request is awaited since the last call; uvicorn calls it from time to time.

    Args:
        server: Whose connections they are.
    """

    def __init__(self, server: uvicorn.Server) -> None:
        self._server = server
        self._idle: dict[object, object] = {}

    async def __call__(self) -> None:
        """Looks at all connections."""
        idle: dict[object, object] = {}
        for connection in list(self._server.server_state.connections):
            last = getattr(connection, "cycle", None)  # the request under way, or the last one
            if last is not None and not last.response_complete:
                continue
            if getattr(connection, "timeout_keep_alive_task", None) is not None:
                continue  # answered and silent since: uvicorn itself closes it in time
            if connection in self._idle and self._idle[connection] is last:
                connection.transport.close()
            else:
                idle[connection] = last
        self._idle = idle
