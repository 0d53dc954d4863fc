"""Collects progress messages of runs on other machines until they are fetched."""


class Mailbox:
    """Keeps messages in the order of arrival.

    Messages are bytes, so that the process that keeps them need not import their classes.

    Example:
        >>> mailbox = Mailbox()
        >>> mailbox.post(b"first")
        >>> mailbox.post(b"second")
        >>> mailbox.take(), mailbox.take()
        ([b'first', b'second'], [])
    """

    def __init__(self) -> None:
        self._messages: list[bytes] = []

    def post(self, message: bytes) -> None:
        """Adds a message."""
        self._messages.append(message)

    def take(self) -> list[bytes]:
        """Returns all messages since the last call."""
        messages, self._messages = self._messages, []
        return messages
