"""A cache with a bound on its total size."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar, final

Value = TypeVar("Value")


@final
class BoundedCache(Generic[Value]):
    """Values by key, up to a total size; the least recently used go first. Thread-safe.

    Args:
        most: The most that all values may take together; a single value may be larger.
        size: The size of a value.

    Example:
        >>> cache = BoundedCache(most=10, size=len)
        >>> cache.get("a", lambda: "six...") + cache.get("a", lambda: "never made")
        'six...six...'
        >>> _ = cache.get("b", lambda: "seven..")
        >>> cache.get("a", lambda: "again")
        'again'
    """

    def __init__(self, *, most: int, size: Callable[[Value], int]) -> None:
        self.most = most
        self.size = size
        self.total = 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Returns the value at a key, made if missing; two threads may make it at once, which does no harm."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self.total += self.size(value)
            while self.total > self.most and len(self._values) > 1:
                _, oldest = self._values.popitem(last=False)
                self.total -= self.size(oldest)
        return value
