"""Copies of a sample: found by fingerprints, kept in one part of a split, and listed where their labels differ."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from onepeak._core.wording import listed
from onepeak.data.images.store.index import known_of_files
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Items, Manifest
from onepeak.data.splits.split import Indices
from onepeak.errors import InputError

Kind: TypeAlias = Literal["copies", "near copies", "label"]
_MOST_CONFLICTS = 3
"""How many conflicts are notes of their own."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Samples to look at together, and why: copies have the same content, so at most one of their labels is right."""

    kind: Kind
    items: tuple[int, ...]
    """Positions in the data set."""
    names: tuple[str, ...]
    labels: tuple[str, ...]
    """The class of each sample."""
    score: float | None = None
    """Of near copies the lowest similarity that links them, up to 1; of a label its mean distance from the truth."""
    suggested: str | None = None
    """The class that a likely wrong label should have."""

    @property
    def conflict(self) -> bool:
        """Whether the samples have different labels."""
        return len(set(self.labels)) > 1

    def __str__(self) -> str:
        return listed((f"{name} ({label})" for name, label in zip(self.names, self.labels, strict=True)), limit=5)

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        kind: Kind,
        items: Sequence[int],
        *,
        score: float | None = None,
        suggested: str | None = None,
    ) -> "Finding":
        """Makes a finding of samples of a data set."""
        return cls(
            kind=kind,
            items=tuple(items),
            names=tuple(map(manifest.sample_name, items)),
            labels=tuple(manifest.classes[manifest.labels[item]] for item in items),
            score=score,
            suggested=suggested,
        )


def find_copies(manifest: Manifest, digests: Sequence[str]) -> list[Finding]:
    """Returns the groups of copies by fingerprints, of texts by `copy_digests`; those with different labels first."""
    digests = copy_digests(manifest.items) if has_texts(manifest.items) else digests
    return conflicts_first([Finding.of(manifest, "copies", items) for items in copies_of(manifest, digests)])


def conflicts_first(findings: list[Finding]) -> list[Finding]:
    """Returns the findings in the order of their first sample, those with different labels first."""
    return sorted(findings, key=lambda finding: (not finding.conflict, finding.items))


def conflicting_duplicates(manifest: Manifest, digests: Sequence[str]) -> list[Finding]:
    """Returns the exact copies with different labels, in the order of their first sample."""
    return [finding for finding in find_copies(manifest, digests) if finding.conflict]


def copies_of(manifest: Manifest, digests: Sequence[Hashable]) -> list[list[int]]:
    """Returns the positions of the samples that share a fingerprint, for each fingerprint of several samples."""
    check_digests(manifest, digests)
    copies: dict[Hashable, list[int]] = defaultdict(list)
    for index, digest in enumerate(digests):
        copies[digest].append(index)
    return [indices for indices in copies.values() if len(indices) > 1]


def conflict_notes(manifest: Manifest, digests: Sequence[str]) -> list[str]:
    """Returns a note on each image that occurs with different labels; for a table, where this is normal, none."""
    if isinstance(manifest.items, FeatureRows) and not has_texts(manifest.items):
        return []
    conflicts = conflicting_duplicates(manifest, digests)
    notes = [f"exact copies with different labels: {conflict}" for conflict in conflicts[:_MOST_CONFLICTS]]
    rest = len(conflicts) - len(notes)
    return [*notes, f"and {rest:,} more such copies: `onepeak check DATA` shows all"] if rest else notes


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
    check_digests(manifest, digests)
    pairs: list[tuple[int, int]] = []
    for values in (digests, manifest.groups or ()):
        first: dict[str, int] = {}
        pairs += [(first.setdefault(value, index), index) for index, value in enumerate(values)]
    return connected(len(manifest), pairs)


def connected(number: int, pairs: Iterable[Sequence[int]]) -> Indices:
    """Returns, for each of so many samples, the first one that a chain of pairs connects it with."""
    leader = list(range(number))

    def lead(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]  # shortens the path for the next lookup
            index = leader[index]
        return index

    for pair in pairs:
        one, other = map(lead, pair)
        leader[max(one, other)] = min(one, other)
    return np.array([lead(index) for index in range(number)], dtype=np.int64)


def check_digests(manifest: Manifest, digests: Sequence[Hashable]) -> None:
    """Raises an error unless there is one fingerprint per sample."""
    if len(digests) != len(manifest):
        raise InputError(f"`digests` must have one value per sample ({len(manifest)}), got {len(digests)}.")


def item_digests(items: Items) -> tuple[str, ...]:
    """Returns the BLAKE2 fingerprint of every sample, in hexadecimal.

    It hashes the bytes of an image file (unless the items, or a store of the same files, hold the fingerprint), the
    pixels of an image in memory, or the values of a row; all missing values are alike.
    """
    match items:
        case ImageFiles() if items.digests:
            return items.digests
        case ImageFiles():
            known = known_of_files(items, "digests")
            return tuple(
                known[item].tobytes().hex() if item in known else _of_file(items.root / path)
                for item, path in enumerate(items.paths)
            )
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
    digest.update(b"".join(manifest.label_bytes))
    if isinstance(manifest.items, FeatureRows):
        digest.update(json.dumps([manifest.items.plain_columns, manifest.items.categories], sort_keys=True).encode())
    return digest.hexdigest()
