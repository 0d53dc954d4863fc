"""Which items a model was trained on and which were held out, as short hashes beside it.

So that nobody takes the ones for new data, and the others are found again.
"""

from collections.abc import Iterable
from pathlib import Path

from onepeak._one_step import write_text_in_one_step
from onepeak.errors import InputError

TRAINED_ITEMS = "trained_items.txt"
HELD_OUT_ITEMS = "held_out_items.txt"
"""Not in the file of predictions, which people publish: rows with few possible values could be guessed from a hash."""

_LENGTH = 16
"""Hexadecimal digits kept of a hash: among a million items two would share them once in thirty million sets."""


def save_trained_items(folder: Path, digests: Iterable[str]) -> None:
    """Writes one short hash a line, sorted, each once.

    Args:
        folder: The model's folder.
        digests: The hash of every item of the training part (`onepeak.data.splits.digests.item_digests`).
    """
    text = "".join(f"{digest}\n" for digest in sorted({short(digest) for digest in digests}))
    write_text_in_one_step(folder / TRAINED_ITEMS, text)


def save_held_out_items(folder: Path, digests: Iterable[str]) -> None:
    """Writes one short hash a line, in the order of the rows of the predictions."""
    text = "".join(f"{short(digest)}\n" for digest in digests)
    write_text_in_one_step(folder / HELD_OUT_ITEMS, text)


def load_trained_items(folder: Path) -> frozenset[str]:
    """The short hashes; none where the folder does not say."""
    return frozenset(_lines(folder / TRAINED_ITEMS))


def load_held_out_items(folder: Path) -> list[str]:
    """The short hashes, a row of the predictions each; none where the folder does not say."""
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
    """A hash as the list holds it."""
    return digest[:_LENGTH]
