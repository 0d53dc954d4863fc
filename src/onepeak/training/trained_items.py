"""Which items a model was trained on and which were held out, as short hashes next to the model.

They reveal training items in supposedly new data, and identify the held-out items.
"""

from collections.abc import Iterable
from pathlib import Path

from onepeak._one_step import write_text_in_one_step
from onepeak.errors import InputError

TRAINED_ITEMS = "trained_items.txt"
HELD_OUT_ITEMS = "held_out_items.txt"
"""Kept apart from the predictions, which people publish: a table row with few possible values could be guessed from its
hash."""

_LENGTH = 16
"""Hexadecimal digits kept of a hash: two of a million items share them in one of thirty million data sets."""


def save_trained_items(folder: Path, digests: Iterable[str]) -> None:
    """Writes one short hash per line, sorted and without duplicates.

    Args:
        folder: The model's folder.
        digests: The hash of every item of the training part (`onepeak.data.splits.digests.item_digests`).
    """
    text = "".join(f"{digest}\n" for digest in sorted({short(digest) for digest in digests}))
    write_text_in_one_step(folder / TRAINED_ITEMS, text)


def save_held_out_items(folder: Path, digests: Iterable[str]) -> None:
    """Writes one short hash per line, in the order of the predictions."""
    text = "".join(f"{short(digest)}\n" for digest in digests)
    write_text_in_one_step(folder / HELD_OUT_ITEMS, text)


def load_trained_items(folder: Path) -> frozenset[str]:
    """Returns the short hashes; empty if the folder has none."""
    return frozenset(_lines(folder / TRAINED_ITEMS))


def load_held_out_items(folder: Path) -> list[str]:
    """Returns the short hashes, one per row of the predictions; empty if the folder has none."""
    return _lines(folder / HELD_OUT_ITEMS)


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    try:
        return path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} must be the list that onepeak wrote, got a file that cannot be read: {error}."
        ) from error


def short(digest: str) -> str:
    """Returns a hash in the short form of the lists."""
    return digest[:_LENGTH]
