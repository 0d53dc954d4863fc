"""A fingerprint of every item's bytes: equal ones are exact copies."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Items, Manifest
from onepeak.errors import InputError


def item_digests(items: Items) -> tuple[str, ...]:
    """The BLAKE2 fingerprint of every item, in hexadecimal.

    Of a picture on disk it is that of the file as it is, read in pieces unless the items know it; of one in memory
    that of its pixels; of a row that of its values, where every missing value is alike.

    Args:
        items: The items of a manifest.

    Example:
        >>> pixels = np.zeros((3, 2, 2, 3), dtype=np.uint8)
        >>> pixels[1] = 255
        >>> first, second, third = item_digests(ImageArrays(pixels=pixels))
        >>> first == third, first == second
        (True, False)
    """
    match items:
        case ImageFiles():
            return items.digests or tuple(_of_file(items.root / path) for path in items.paths)
        case ImageArrays():
            return tuple(_of_bytes(picture.tobytes()) for picture in items.pixels)
        case FeatureRows():
            # NaN has many bit patterns, and zero has two
            values = np.where(np.isnan(items.values), np.nan, items.values + 0.0)
            return tuple(_of_bytes(row.tobytes()) for row in values)


def data_digest(manifest: Manifest, digests: Iterable[str]) -> str:
    """A hash of all items, labels and classes: data that are elsewhere, or came another way, are the same data.

    Values of a table mean what its columns and categories are called, so these count too.

    Args:
        manifest: The data.
        digests: The fingerprint of every item.
    """
    found = hashlib.sha256("\n".join([*manifest.classes, "", *digests]).encode())
    found.update(manifest.labels.tobytes())
    if isinstance(manifest.items, FeatureRows):
        found.update(json.dumps([manifest.items.columns, manifest.items.categories], sort_keys=True).encode())
    return found.hexdigest()


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise InputError(f"The picture {path} cannot be read: {error.strerror}.") from error


def _of_bytes(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
