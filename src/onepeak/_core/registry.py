"""A catalog of named records that suggests the closest name when a name is unknown."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar, runtime_checkable

from onepeak._core.wording import did_you_mean
from onepeak.errors import InputError, UnknownNameError

_CITATION = re.compile(r"^Reference: ([^;]+?)\.?(;|\Z)", re.MULTILINE)


@runtime_checkable
class Named(Protocol):
    """A record with a name."""

    @property
    def name(self) -> str:
        """The key of the record in its catalog."""


RecordT = TypeVar("RecordT", bound=Named)


class Registry(Generic[RecordT]):
    """Records by name, in the order in which they were added.

    Args:
        kind: What a record is called in messages ("method", "metric").
        records: The built-in records.

    Example:
        >>> from types import SimpleNamespace
        >>> colours = Registry("colour", [SimpleNamespace(name="red"), SimpleNamespace(name="green")])
        >>> colours["gren"]
        Traceback (most recent call last):
        onepeak.errors.UnknownNameError: Unknown colour 'gren'. Did you mean 'green'? Known: red, green.
    """

    def __init__(self, kind: str, records: Iterable[RecordT] = ()) -> None:
        self.kind = kind
        self._records: dict[str, RecordT] = {}
        self.built_in: frozenset[str] = frozenset()
        for record in records:
            self.add(record)
        self.built_in = frozenset(self._records)

    def add(self, record: RecordT, *, replace: bool = False) -> RecordT:
        """Adds a record. A name that is already taken is an error, so nothing is replaced by accident."""
        if record.name in self.built_in:
            raise InputError(f"The {self.kind} {record.name!r} comes with onepeak: give yours another name.")
        if record.name in self._records and not replace:
            raise InputError(
                f"The {self.kind} {record.name!r} is already in the catalog: choose another name, or pass replace=True "
                "to replace it."
            )
        self._records[record.name] = record
        return record

    def __getitem__(self, name: str) -> RecordT:
        try:
            return self._records[name]
        except KeyError:
            raise unknown_name(self.kind, name, self._records) from None

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[RecordT]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)


def unknown_name(kind: str, name: str, known: Iterable[str], *, argument: str | None = None) -> UnknownNameError:
    """The error for an unknown name, with a suggestion if a known name is close."""
    names = list(known)
    message = f"Unknown {kind} {name!r}.{did_you_mean(name, names)} Known: {', '.join(names)}."
    return UnknownNameError(message, argument=argument)


def first_citation(described: Callable[..., object]) -> str:
    """The first citation after "Reference:" in a docstring, on one line; empty if there is none."""
    found = _CITATION.search(inspect.getdoc(getattr(described, "func", described)) or "")
    return " ".join(found[1].split()) if found else ""
