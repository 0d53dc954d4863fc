"""Closes connections without a request: uvicorn itself waits forever for the head of a request."""

from typing import final

import uvicorn


@final
class IdleConnections:
    """Closes connections that have waited for the head of a request since the last call; uvicorn calls it periodically.

    Args:
        server: The server whose connections to check.
    """

    def __init__(self, server: uvicorn.Server) -> None:
        self._server = server
        self._idle: dict[object, object] = {}

    async def __call__(self) -> None:
        """Checks all connections."""
        idle: dict[object, object] = {}
        for connection in list(self._server.server_state.connections):
            last = getattr(connection, "cycle", None)  # the current request, or the last one
            if last is not None and not last.response_complete:
                continue
            if getattr(connection, "timeout_keep_alive_task", None) is not None:
                continue  # answered and idle since: uvicorn closes it itself
            if connection in self._idle and self._idle[connection] is last:
                connection.transport.close()
            else:
                idle[connection] = last
        self._idle = idle
