"""Leaks between the parts of a split: the same group, the same path or the same bytes in two parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from onepeak._listing import counted
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.data.splits.catalog import PROTOCOLS
from onepeak.data.splits.duplicates import check_digests
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
        >>> pictures = ImageFiles(root=Path("faces"), paths=("a1.jpg", "a2.jpg", "b1.jpg", "c1.jpg"))
        >>> labels, people = np.array([0, 1, 0, 1]), ("a", "a", "b", "c")
        >>> data = Manifest(name="faces", items=pictures, labels=labels, classes=("young", "old"), groups=people)
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
