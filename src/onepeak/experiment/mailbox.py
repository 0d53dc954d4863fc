"""Where runs on other machines tell how they go on, until somebody asks."""


class Mailbox:
    """Keeps messages in the order in which they come.

    They are bytes, so that the process that keeps them need not import what they are about.

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
        """Keeps a message."""
        self._messages.append(message)

    def take(self) -> list[bytes]:
        """All messages since the last call."""
        messages, self._messages = self._messages, []
        return messages
