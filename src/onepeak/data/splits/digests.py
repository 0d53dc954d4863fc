"""Fingerprints of the items: equal fingerprints mean exact copies."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Items, Manifest
from onepeak.errors import InputError


def item_digests(items: Items) -> tuple[str, ...]:
    """Returns the BLAKE2 fingerprint of every item, in hexadecimal.

    It hashes the bytes of an image file (unless the items already hold the fingerprint), the pixels of an image in
    memory, or the values of a row; all missing values are alike.

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
    """Returns a hash of all items, labels and classes; it does not depend on where the data are or how they were read.

    For a table it includes the names of columns and categories, which give the values their meaning.

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
        raise InputError(f"The image {path} cannot be read: {error.strerror}.") from error


def _of_bytes(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
