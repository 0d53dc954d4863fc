"""Leaks between the parts of a split: the same group, the same path or the same bytes in two parts."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from onepeak._core.wording import counted, listed
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Items, Manifest
from onepeak.data.splits.catalog import PROTOCOLS
from onepeak.data.splits.files import plain_path
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
        _check_digests(manifest, digests)
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


_MOST_CONFLICTS = 3
"""How many conflicts are notes of their own."""


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Samples with the same bytes but different labels: a label is wrong, or the sample does not determine it."""

    items: tuple[int, ...]
    names: tuple[str, ...]
    """The path of each sample, or its position."""
    labels: tuple[str, ...]
    """The class of each sample."""

    def __str__(self) -> str:
        return listed((f"{name} ({label})" for name, label in zip(self.names, self.labels, strict=True)), limit=5)


def conflicting_duplicates(manifest: Manifest, digests: Sequence[str]) -> list[Conflict]:
    """Returns the exact copies with different labels, in the order of their first sample."""
    _check_digests(manifest, digests)
    copies: dict[str, list[int]] = defaultdict(list)
    for index, digest in enumerate(digests):
        copies[digest].append(index)
    return [
        Conflict(
            items=tuple(indices),
            names=tuple(map(manifest.sample_name, indices)),
            labels=tuple(manifest.classes[manifest.labels[index]] for index in indices),
        )
        for indices in copies.values()
        if len({int(manifest.labels[index]) for index in indices}) > 1
    ]


def conflict_notes(manifest: Manifest, digests: Sequence[str]) -> list[str]:
    """Returns a note on each image that occurs with different labels; for a table, where this is normal, none."""
    if isinstance(manifest.items, FeatureRows) and not has_texts(manifest.items):
        return []
    conflicts = conflicting_duplicates(manifest, digests)
    notes = [f"exact copies with different labels: {conflict}" for conflict in conflicts[:_MOST_CONFLICTS]]
    rest = len(conflicts) - len(notes)
    return [*notes, f"and {rest:,} more such copies: `onepeak splits DATA --json` shows all"] if rest else notes


def keep_copies_together(manifest: Manifest, digests: Sequence[str]) -> Manifest:
    """Returns the data set with groups that keep exact copies in the same part of a split.

    Samples share a group if they did before, if they are copies, or if a chain of such samples connects them. A group
    is named after the old group of its first sample, or after the sample.
    """
    unnamed = replace(manifest, rows=None)  # a row may have the name of another one
    names = manifest.groups or [unnamed.sample_name(index) for index in range(len(manifest))]
    return replace(manifest, groups=tuple(names[index] for index in first_copies(manifest, digests)))


def first_copies(manifest: Manifest, digests: Sequence[str]) -> Indices:
    """Returns, for each sample, the first one that copies and groups connect it with; see `keep_copies_together`."""
    _check_digests(manifest, digests)
    leader = list(range(len(manifest)))

    def lead(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]  # shortens the path for the next lookup
            index = leader[index]
        return index

    for values in (digests, manifest.groups or ()):
        first: dict[str, int] = {}
        for index, value in enumerate(values):
            one, other = lead(first.setdefault(value, index)), lead(index)
            leader[max(one, other)] = min(one, other)
    return np.array([lead(index) for index in range(len(manifest))], dtype=np.int64)


def _check_digests(manifest: Manifest, digests: Sequence[str]) -> None:
    if len(digests) != len(manifest):
        raise InputError(f"`digests` must have one value per sample ({len(manifest)}), got {len(digests)}.")


def item_digests(items: Items) -> tuple[str, ...]:
    """Returns the BLAKE2 fingerprint of every sample, in hexadecimal.

    It hashes the bytes of an image file (unless the items already hold the fingerprint), the pixels of an image in
    memory, or the values of a row; all missing values are alike.
    """
    match items:
        case ImageFiles():
            return items.digests or tuple(_of_file(items.root / path) for path in items.paths)
        case ImageArrays():
            return tuple(_blake2(image.tobytes()).hexdigest() for image in items.pixels)
        case FeatureRows():
            # NaN has many bit patterns, and zero has two
            plain = items.values[:, : len(items.plain_columns)]
            values = [row.tobytes() for row in np.where(np.isnan(plain), np.nan, plain + 0.0)]
            if items.texts is not None:
                values = [_of_text(text) + row for text, row in zip(items.texts.values, values, strict=True)]
            return tuple(_blake2(row).hexdigest() for row in values)


def copy_digests(items: Items) -> tuple[str, ...]:
    """Returns what copies share: the fingerprint of a sample, of a text without the columns beside it."""
    if isinstance(items, FeatureRows) and items.texts is not None:
        return tuple(_of_text(text).hex() for text in items.texts.values)
    return item_digests(items)


def has_texts(items: Items) -> bool:
    """Whether the items are texts."""
    return isinstance(items, FeatureRows) and items.texts is not None


_blake2 = partial(hashlib.blake2b, digest_size=16)


def _of_text(text: str) -> bytes:
    """Returns a fingerprint of a text that does not see capitals and spaces: near copies have the same."""
    return _blake2(" ".join(text.casefold().split()).encode()).digest()


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, _blake2).hexdigest()
    except OSError as error:
        raise InputError(f"The image {path} cannot be read: {error.strerror}.") from error


def data_digest(manifest: Manifest, digests: Iterable[str]) -> str:
    """Returns a hash of samples, labels and classes; it depends neither on where the data are nor on how they are read.

    For a table it includes the names of columns and categories, which give the values their meaning.
    """
    digest = hashlib.sha256("\n".join([*manifest.classes, "", *digests]).encode())
    digest.update(manifest.labels.tobytes())
    if isinstance(manifest.items, FeatureRows):
        digest.update(json.dumps([manifest.items.plain_columns, manifest.items.categories], sort_keys=True).encode())
    return digest.hexdigest()
