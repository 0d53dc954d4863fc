"""Leaks between the parts of a split: the same group, the same path or the same bytes in two parts."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from onepeak._core.wording import counted, listed
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Items, Manifest
from onepeak.data.splits.catalog import PROTOCOLS
from onepeak.data.splits.matching import item_name, plain_path
from onepeak.data.splits.split import PARTS, Indices, Part, Split
from onepeak.data.splits.splitters import codes
from onepeak.errors import InputError

Kind: TypeAlias = Literal["group", "path", "bytes", "row"]
_NOUNS: dict[Kind, tuple[str, str]] = {
    "group": ("group", "groups"),
    "path": ("path", "paths"),
    "bytes": ("image, byte for byte", "images, byte for byte"),
    "row": ("row, value for value", "rows, value for value"),
}


class LeakError(InputError):
    """Two parts of a split share groups, paths or contents."""


@dataclass(frozen=True, kw_only=True)
class Leak:
    """Something that two parts of one run share."""

    kind: Kind
    parts: tuple[Part, Part]
    count: int
    """How many groups, paths or contents are in both parts."""
    items: int
    """How many items of the later part (the one that is evaluated on) are affected."""
    examples: tuple[str, ...]
    """A few of the groups, or of the items of the later part."""

    @property
    def harmful(self) -> bool:
        """Whether it invalidates the test. Equal rows of a table do not: two persons may have the same values."""
        return self.kind != "row"

    def __str__(self) -> str:
        more = ", ..." if self.count > len(self.examples) else ""
        noun = _NOUNS[self.kind][self.count > 1]
        return (
            f"{self.parts[0]} and {self.parts[1]} share {self.count:,} {noun} "
            f"({counted(self.items, 'item')} of {self.parts[1]}): "
            f"{', '.join(self.examples)}{more}"
        )


def find_leaks(manifest: Manifest, split: Split, *, digests: Sequence[str] | None = None) -> list[Leak]:
    """Finds what two parts of a split share.

    Args:
        manifest: The data set.
        split: The parts.
        digests: The fingerprint of every item, to find copies under other names; by default only groups and paths are
            compared.

    Returns:
        One record for each kind and pair of parts that share something.

    Example:
        >>> from pathlib import Path
        >>> images = ImageFiles(root=Path("faces"), paths=("a1.jpg", "a2.jpg", "b1.jpg", "c1.jpg"))
        >>> labels, people = np.array([0, 1, 0, 1]), ("a", "a", "b", "c")
        >>> data = Manifest(name="faces", items=images, labels=labels, classes=("young", "old"), groups=people)
        >>> split = Split(train=np.array([0]), valid=np.array([2]), test=np.array([1, 3]), protocol="mine")
        >>> print(*find_leaks(data, split))
        train and test share 1 group (1 item of test): a
    """
    split.check_within(len(manifest))
    return _leaks_between(manifest, split, _compared(manifest, digests))


def refuse_leaks(
    manifest: Manifest, splits: Sequence[Split], *, digests: Sequence[str] | None = None, allow: bool = False
) -> list[Leak]:
    """Checks all splits of a series, and raises an error if one of them leaks.

    Args:
        manifest: The data set.
        splits: The runs.
        digests: The fingerprint of every item.
        allow: Whether to return harmful leaks instead of raising an error. They should then be recorded with every run.

    Returns:
        What was found: harmful leaks, if they are allowed, and equal rows of a table.

    Raises:
        LeakError: If a harmful leak is found and not allowed.
    """
    compared = _compared(manifest, digests)
    found = []
    leaking: list[tuple[Split, list[Leak]]] = []
    for split in splits:
        split.check_within(len(manifest))
        leaks = _leaks_between(manifest, split, compared)
        found += leaks
        if harmful := [leak for leak in leaks if leak.harmful]:
            leaking.append((split, harmful))
    if leaking and not allow:
        first, leaks = leaking[0]
        in_folds = len({split.split for split in splits}) < len(splits)
        raise LeakError(
            f"{len(leaking)} of {counted(len(splits), 'fold' if in_folds else 'split')} "
            f"leak{'s' if len(leaking) == 1 else ''}. In {first.name}: {'; '.join(str(leak) for leak in leaks)}. "
            f"{_advice(manifest, first.protocol, leaks)} To continue anyway, give `--allow-leak`.",
            page="images",
        )
    return found


def _advice(manifest: Manifest, protocol: str, leaks: Sequence[Leak]) -> str:
    """Returns advice on how to remove the leak."""
    if all(leak.kind != "group" for leak in leaks):
        return (
            "Delete the copies, or give them one name in a `group` column "
            "(in Python: `onepeak.data.splits.keep_copies_together`)."
        )
    if protocol in PROTOCOLS and PROTOCOLS[protocol].readings == ("paper",) and manifest.name == "fgnet":
        return (
            "The paper's text does not mention subjects, and this protocol follows it; its published code keeps every "
            "subject in one part: give `--protocol code`."
        )
    return "Keep groups together: give `--protocol kfold`."


def _compared(manifest: Manifest, digests: Sequence[str] | None) -> Mapping[Kind, Indices]:
    """Returns a code for every item and each kind; items with equal codes share the group, path or bytes."""
    compared: dict[Kind, Indices] = {}
    if manifest.groups is not None:
        compared["group"] = codes(manifest.groups)
    if isinstance(manifest.items, ImageFiles):
        compared["path"] = codes([plain_path(path) for path in manifest.items.paths])
    if digests is not None:
        check_digests(manifest, digests)
        compared["row" if isinstance(manifest.items, FeatureRows) else "bytes"] = codes(digests)
    return compared


def _leaks_between(manifest: Manifest, split: Split, compared: Mapping[Kind, Indices]) -> list[Leak]:
    leaks = []
    for kind, numbers in compared.items():
        for first, second in combinations(PARTS, 2):
            judged = split.parts[second]
            shared = judged[np.isin(numbers[judged], numbers[split.parts[first]])]
            if len(shared):
                _, firsts = np.unique(numbers[shared], return_index=True)
                leaks.append(
                    Leak(
                        kind=kind,
                        parts=(first, second),
                        count=len(firsts),
                        items=len(shared),
                        examples=tuple(_example(manifest, kind, int(shared[place])) for place in np.sort(firsts)[:3]),
                    )
                )
    return leaks


def _example(manifest: Manifest, kind: Kind, item: int) -> str:
    return manifest.groups[item] if kind == "group" and manifest.groups is not None else item_name(manifest, item)


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
        digests: The fingerprint of every item (`onepeak.data.splits.leaks.item_digests`, or the image store's).
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
            return tuple(_of_bytes(image.tobytes()) for image in items.pixels)
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
