"""Leaks between the parts of a split: the same group, the same path or the same bytes in two parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from onepeak._core.wording import counted
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.data.splits.copies import check_digests, copy_digests, has_texts
from onepeak.data.splits.files import plain_path
from onepeak.data.splits.protocols import PROTOCOLS
from onepeak.data.splits.split import PARTS, Indices, Part, Split
from onepeak.data.splits.splitters import codes
from onepeak.errors import InputError

Kind: TypeAlias = Literal["group", "path", "bytes", "text", "row"]
_NOUNS: dict[Kind, tuple[str, str]] = {
    "group": ("group", "groups"),
    "path": ("path", "paths"),
    "bytes": ("image, byte for byte", "images, byte for byte"),
    "text": ("text", "texts"),
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
    """How many samples of the later part (the one that is evaluated on) are affected."""
    examples: tuple[str, ...]
    """A few of the groups, or of the samples of the later part."""

    @property
    def harmful(self) -> bool:
        """Whether it invalidates the test. Equal rows of a table do not: two persons may have the same values."""
        return self.kind != "row"

    def __str__(self) -> str:
        more = ", ..." if self.count > len(self.examples) else ""
        noun = _NOUNS[self.kind][self.count > 1]
        return (
            f"{self.parts[0]} and {self.parts[1]} share {self.count:,} {noun} "
            f"({counted(self.items, 'sample')} of {self.parts[1]}): {', '.join(self.examples)}{more}"
        )


def find_leaks(manifest: Manifest, split: Split, *, digests: Sequence[str] | None = None) -> list[Leak]:
    """Finds what two parts of a split share: one record for each kind and pair of parts.

    Copies under other names are found by `digests`, the fingerprint of every sample; by default only groups and paths
    are compared.
    """
    return refuse_leaks(manifest, [split], digests=digests, allow=True)


def refuse_leaks(
    manifest: Manifest, splits: Sequence[Split], *, digests: Sequence[str] | None = None, allow: bool = False
) -> list[Leak]:
    """Checks all splits of a series, and raises an error if one of them leaks.

    With `allow`, harmful leaks are returned instead; they should then be recorded with every run. Equal rows of a table
    are always returned.
    """
    compared = _compared(manifest, digests)
    every: list[Leak] = []
    leaking: list[tuple[Split, list[Leak]]] = []
    for split in splits:
        split.check_within(len(manifest))
        leaks = _leaks_between(manifest, split, compared)
        every += leaks
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
    return every


def _advice(manifest: Manifest, protocol: str, leaks: Sequence[Leak]) -> str:
    """Returns advice on how to remove the leak."""
    if all(leak.kind != "group" for leak in leaks):
        for record in PROTOCOLS:
            if record.copies_together and manifest.name in record.datasets:
                return f"To keep the copies of an image in one part, give `--protocol {record.name}`."
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
    """Returns a code for every sample and each kind; samples with equal codes share the group, path or bytes."""
    compared: dict[Kind, Indices] = {}
    if manifest.groups is not None:
        compared["group"] = codes(manifest.groups)
    if isinstance(manifest.items, ImageFiles):
        compared["path"] = codes([plain_path(path) for path in manifest.items.paths])
    if digests is not None:
        check_digests(manifest, digests)
        if has_texts(manifest.items):
            compared["text"] = codes(copy_digests(manifest.items))
        else:
            compared["row" if isinstance(manifest.items, FeatureRows) else "bytes"] = codes(digests)
    return compared


def _leaks_between(manifest: Manifest, split: Split, compared: Mapping[Kind, Indices]) -> list[Leak]:
    leaks = []
    for kind, numbers in compared.items():
        name = manifest.groups.__getitem__ if kind == "group" and manifest.groups is not None else manifest.sample_name
        for first, second in combinations(PARTS, 2):
            later = split.parts[second]
            shared = later[np.isin(numbers[later], numbers[split.parts[first]])]
            if len(shared):
                _, firsts = np.unique(numbers[shared], return_index=True)
                examples = tuple(name(int(shared[index])) for index in np.sort(firsts)[:3])
                leaks.append(
                    Leak(kind=kind, parts=(first, second), count=len(firsts), items=len(shared), examples=examples)
                )
    return leaks
