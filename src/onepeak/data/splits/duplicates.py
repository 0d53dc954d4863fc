"""Exact copies within a data set: finds those with different labels, and keeps copies together in splits."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from onepeak._listing import listed
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.splits.matching import item_name
from onepeak.errors import InputError

_MOST_TOLD = 3


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Items with the same bytes but different labels: a label is wrong, or the item does not determine it."""

    items: tuple[int, ...]
    names: tuple[str, ...]
    """The path of each item, or its position."""
    labels: tuple[str, ...]
    """The class of each item."""

    def __str__(self) -> str:
        return listed((f"{name} ({label})" for name, label in zip(self.names, self.labels, strict=True)), limit=5)


def conflicting_duplicates(manifest: Manifest, digests: Sequence[str]) -> list[Conflict]:
    """Returns the exact copies with different labels, in the order of their first item.

    Args:
        manifest: The data set.
        digests: The fingerprint of every item (`onepeak.data.splits.digests.item_digests`, or the image store's).
    """
    check_digests(manifest, digests)
    copies: dict[str, list[int]] = defaultdict(list)
    for item, digest in enumerate(digests):
        copies[digest].append(item)
    return [
        Conflict(
            items=tuple(items),
            names=tuple(item_name(manifest, item) for item in items),
            labels=tuple(manifest.classes[manifest.labels[item]] for item in items),
        )
        for items in copies.values()
        if len({int(manifest.labels[item]) for item in items}) > 1
    ]


def conflict_notes(manifest: Manifest, digests: Sequence[str]) -> list[str]:
    """Returns a note on each image that occurs with different labels; for a table, where this is normal, none.

    Args:
        manifest: The data set.
        digests: See `conflicting_duplicates`.
    """
    if isinstance(manifest.items, FeatureRows):
        return []
    found = conflicting_duplicates(manifest, digests)
    notes = [f"exact copies with different labels: {conflict}" for conflict in found[:_MOST_TOLD]]
    rest = len(found) - len(notes)
    return [*notes, f"and {rest:,} more such copies: `onepeak splits DATA --json` shows all"] if rest else notes


def keep_copies_together(manifest: Manifest, digests: Sequence[str]) -> Manifest:
    """Returns the data set with groups that keep exact copies in the same part of a split.

    Items share a group if they did before, if they are copies, or if a chain of such items connects them. A group is
    named after the old group of its first item, or after the item.

    Args:
        manifest: The data set.
        digests: The fingerprint of every item.
    """
    check_digests(manifest, digests)
    leader = list(range(len(manifest)))

    def lead(item: int) -> int:
        while leader[item] != item:
            leader[item] = leader[leader[item]]  # shortens the path for the next lookup
            item = leader[item]
        return item

    for values in (digests, manifest.groups or ()):
        first: dict[str, int] = {}
        for item, value in enumerate(values):
            one, other = lead(first.setdefault(value, item)), lead(item)
            leader[max(one, other)] = min(one, other)
    names = manifest.groups or [item_name(manifest, item) for item in range(len(manifest))]
    return replace(manifest, groups=tuple(names[lead(item)] for item in range(len(manifest))))


def check_digests(manifest: Manifest, digests: Sequence[str]) -> None:
    """Raises an error unless there is one fingerprint per item."""
    if len(digests) != len(manifest):
        raise InputError(f"`digests` must have one value per item ({len(manifest)}), got {len(digests)}.")
