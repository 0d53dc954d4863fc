"""Near copies: images of a data set that look alike; for exact copies see `onepeak.data.splits.copies`."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from torch.nn import functional

from onepeak.data.images.store.images import ImageStore
from onepeak.data.manifest import Manifest
from onepeak.data.splits.copies import Finding, conflicts_first, connected, copies_of

SIMILAR = 0.97
"""From this similarity on, images are near copies."""
_SIDE = 16
_FEWEST = 20
"""The mean of fewer images is hardly what they have in common."""
_AT_ONCE = 256


def thumbnails(store: ImageStore) -> npt.NDArray[np.float32]:
    """Returns a small version of each image as a row, without its brightness, colour cast and contrast."""
    rows = np.empty((len(store), 3, _SIDE * _SIDE), dtype=np.float32)
    for position in range(len(store)):
        rows[position] = functional.adaptive_avg_pool2d(store[position].float(), _SIDE).flatten(1).numpy()
    rows -= rows.mean(axis=2, keepdims=True)
    rows /= rows.std(axis=2, keepdims=True) + 1  # an image of one shade is no copy of another one
    return rows.reshape(len(rows), -1)


def find_near_copies(
    manifest: Manifest, values: npt.NDArray[np.float32], digests: Sequence[str], *, least: float = SIMILAR
) -> list[Finding]:
    """Returns the groups of samples that a chain of similar ones links, those with different labels first.

    Two samples are as similar as the cosine of their rows of `values`, less the mean row: images of the same organ have
    much in common. Exact copies are not near copies.
    """
    values = values - values.mean(axis=0) if len(values) >= _FEWEST else values
    unit = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-6)
    lead, lowest = np.arange(len(unit)), np.ones(len(unit))
    for start in range(0, len(unit), _AT_ONCE):
        likeness = unit[start : start + _AT_ONCE] @ unit[start:].T
        one, other = np.nonzero(np.triu(likeness >= least, k=1))  # each pair once
        pairs = lead[start + np.stack([one, other], axis=1)]
        np.minimum.at(lowest, pairs[:, 0], likeness[one, other])
        # Of a group that is linked already no pair is kept: in frames of a video there would be millions.
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        leaders, numbers = np.unique(pairs, return_inverse=True)
        follows = np.arange(len(unit))
        follows[leaders] = leaders[connected(len(leaders), numbers.reshape(-1, 2).tolist())]
        lead = follows[lead]
    return conflicts_first(
        [
            Finding.of(manifest, "near copies", items, score=round(float(lowest[items].min()), 4))
            for items in copies_of(manifest, lead.tolist())
            if len({digests[item] for item in items}) > 1
        ]
    )
