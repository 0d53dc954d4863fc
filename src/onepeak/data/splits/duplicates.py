"""Exact copies inside a data set: those whose labels disagree, and keeping copies together."""

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
    """Items with the same bytes and different labels: at least one label is wrong, or the answer is not in the item."""

    items: tuple[int, ...]
    names: tuple[str, ...]
    """The path of each item, or its position."""
    labels: tuple[str, ...]
    """The class of each item."""

    def __str__(self) -> str:
        return listed((f"{name} ({label})" for name, label in zip(self.names, self.labels, strict=True)), limit=5)


def conflicting_duplicates(manifest: Manifest, digests: Sequence[str]) -> list[Conflict]:
    """The exact copies whose labels disagree, in the order of their first item.

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
    """A sentence on each picture that is there twice with different labels; equal rows of a table may well have them.

    Args:
        manifest: The data set.
        digests: As for `conflicting_duplicates`.
    """
    if isinstance(manifest.items, FeatureRows):
        return []
    found = conflicting_duplicates(manifest, digests)
    notes = [f"exact copies with different labels: {conflict}" for conflict in found[:_MOST_TOLD]]
    rest = len(found) - len(notes)
    return [*notes, f"and {rest:,} more such copies: `onepeak splits DATA --json` shows all"] if rest else notes


def keep_copies_together(manifest: Manifest, digests: Sequence[str]) -> Manifest:
    """The same data set with groups such that exact copies are never on two sides of a split.

    Items are in one group if they were before, or if they are copies, or if a chain of such items joins them. The name
    of a group is that of its first item's old group, or of the item.

    Args:
        manifest: The data set.
        digests: The fingerprint of every item.
    """
    check_digests(manifest, digests)
    leader = list(range(len(manifest)))

    def lead(item: int) -> int:
        while leader[item] != item:
            leader[item] = leader[leader[item]]  # shorter next time
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
    """Refuses fingerprints that are not one per item."""
    if len(digests) != len(manifest):
        raise InputError(f"`digests` must be one per item ({len(manifest)}), got {len(digests)}.")
