"""Errors of image stores, and their messages."""

from collections.abc import Sequence
from typing import NamedTuple

from onepeak.errors import InputError, OnepeakError


class BadImage(NamedTuple):
    """An image file that cannot be decoded."""

    item: int
    """Its position in the items that the store was built from."""
    path: str
    reason: str


class StoreError(OnepeakError):
    """The store could not be written or read: disk full, no permission, a worker that died, or damage."""


class UnreadableImagesError(InputError):
    """Some images of a data set cannot be read; `bad` lists all of them."""

    def __init__(self, bad: Sequence[BadImage], num_items: int) -> None:
        self.bad = tuple(bad)
        self.num_items = num_items
        fix = "Repair or remove them, or leave them out with skip_bad=True."
        super().__init__(f"{described(bad, num_items)}\n", fix=fix)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return UnreadableImagesError, (self.bad, self.num_items)


class UnreadableImagesWarning(UserWarning):
    """Some images of a data set were left out because they cannot be read."""


def described(bad: Sequence[BadImage], num_items: int) -> str:
    """Returns a message with the number of bad images, and every file with its reason."""
    lines = [f"  {image.path}: {image.reason}" for image in bad]
    return "\n".join([f"{len(bad)} of {num_items} images cannot be read:", *lines])
