"""The parts of one run: the samples to train, validate and test on; their counts, and notes on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._core.values import check_integer
from onepeak._core.wording import counted, listed
from onepeak.data.manifest import Manifest
from onepeak.errors import InputError

Indices: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Part: TypeAlias = Literal["train", "valid", "test"]
Parts: TypeAlias = tuple[Indices, Indices, Indices]
PARTS: tuple[Part, ...] = ("train", "valid", "test")
ALL = "all samples"
"""The protocol of a split without validation and test part."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """The three parts of one run, as positions in a manifest.

    The parts are sorted, read-only, disjoint and not empty. A sample may be in no part.
    """

    train: Indices
    valid: Indices
    test: Indices
    split: int = 0
    """The number of the draw of the test part, from 0."""
    fold: int = 0
    """The number of the division of the rest, from 0."""
    seed: int = 0
    """The seed of the whole series; `split` and `fold` give the position in it."""
    protocol: str
    """The name of the protocol or file that the parts come from."""
    notes: tuple[str, ...] = ()
    """Notes for the user on how the parts were made."""

    @classmethod
    def all_of(cls, num_samples: int) -> "Split":
        """Returns the one split whose other parts are empty: all samples are trained on."""
        none = np.empty(0, np.int64)
        return cls(train=np.arange(num_samples), valid=none, test=none, protocol=ALL)

    def __post_init__(self) -> None:
        for field in ("split", "fold", "seed"):
            object.__setattr__(self, field, check_integer(field, getattr(self, field), minimum=0))
        where = f"(protocol {self.protocol!r}, split {self.split}, fold {self.fold})"
        for part in PARTS:
            may_be_empty = self.protocol == ALL and part != "train"
            object.__setattr__(self, part, _ascending(part, getattr(self, part), where, may_be_empty=may_be_empty))
        for first, second in combinations(PARTS, 2):
            shared = np.intersect1d(getattr(self, first), getattr(self, second), assume_unique=True)
            if len(shared):
                raise InputError(
                    f"`{first}` and `{second}` must share no sample, got {len(shared)} in both {where}: "
                    f"{listed(shared, limit=5)}."
                )

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return f"split{self.split}-fold{self.fold}"

    @property
    def parts(self) -> dict[Part, Indices]:
        """The three parts by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}

    @property
    def sizes(self) -> dict[Part, int]:
        """The number of samples in every part."""
        return {part: len(indices) for part, indices in self.parts.items()}

    def check_within(self, num_samples: int) -> None:
        """Raises an error if the split points past the end of a data set of this size."""
        for part, indices in self.parts.items():
            if len(indices) and indices[-1] >= num_samples:
                raise InputError(
                    f"`{part}` of {self.name} must hold positions from 0 to {num_samples - 1}, got {indices[-1]}: "
                    "the split was made for another data set."
                )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Split):
            return NotImplemented
        return self._key() == other._key() and all(
            np.array_equal(self.parts[part], other.parts[part]) for part in PARTS
        )

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, int, int, int]:
        return self.protocol, self.seed, self.split, self.fold


def _ascending(part: str, indices: Indices, where: str, *, may_be_empty: bool) -> Indices:
    """Returns the positions sorted and read-only; raises an error if they are invalid."""
    given = np.asarray(indices)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise InputError(
            f"`{part}` must be a flat array of integer positions, got {given.dtype} of shape {given.shape} {where}."
        )
    if not given.size:
        if may_be_empty:
            return given
        raise InputError(f"`{part}` must hold at least one sample, got none {where}: the data set is too small for it.")
    ordered = np.sort(given.astype(np.int64))
    if ordered[0] < 0:
        raise InputError(f"`{part}` must hold positions >= 0, got {ordered[0]} {where}.")
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise InputError(
            f"`{part}` must hold every sample once, got {listed(np.unique(twice), limit=5)} more than once {where}."
        )
    ordered.flags.writeable = False
    return ordered


def class_counts(manifest: Manifest, split: Split) -> dict[Part, Indices]:
    """Returns the number of samples of each class in every part."""
    return {
        part: np.bincount(manifest.labels[indices], minlength=manifest.num_classes)
        for part, indices in split.parts.items()
    }


def group_counts(manifest: Manifest, split: Split) -> dict[Part, int] | None:
    """Returns the number of groups (persons, patients, slides) in every part; None if the data have no groups."""
    names = group_names(manifest, split)
    return None if names is None else {part: len(groups) for part, groups in names.items()}


def group_names(manifest: Manifest, split: Split) -> dict[Part, list[str]] | None:
    """Returns the sorted names of the groups in every part; None if the data have no groups."""
    groups = manifest.groups
    if groups is None:
        return None
    return {part: sorted({groups[index] for index in indices}) for part, indices in split.parts.items()}


def split_notes(manifest: Manifest, splits: Sequence[Split], *, parts: Sequence[Part] = PARTS) -> list[str]:
    """Returns the notes of the splits, and notes on samples in no part and on classes missing from a part.

    Classes without samples in the whole data set are not mentioned. A file of splits may leave samples out.
    """
    one, notes = len(splits) == 1, list(dict.fromkeys(note for split in splits for note in split.notes))
    everything = np.arange(len(manifest))
    unused = max((np.setdiff1d(everything, np.concatenate(list(run.parts.values()))) for run in splits), key=len)
    if len(unused):
        names = listed((manifest.sample_name(int(index)) for index in unused), limit=5)
        are = f"{len(unused):,} of {counted(len(manifest), 'sample')} {'is' if len(unused) == 1 else 'are'}"
        notes.append(f"{are} in no part{'' if one else ' of some run'}, and not used: {names}")
    present = np.bincount(manifest.labels, minlength=manifest.num_classes) > 0
    counts = [class_counts(manifest, split) for split in splits]
    for part in parts:
        runs_without = np.sum([count[part] == 0 for count in counts], axis=0)
        absent = np.flatnonzero(present & (runs_without > 0))
        if len(absent):
            names = listed(
                (
                    manifest.classes[label] + ("" if one else f" ({runs_without[label]} of {len(splits)} runs)")
                    for label in absent
                ),
                limit=5,
            )
            notes.append(
                f"{part} lacks {len(absent)} of the {np.count_nonzero(present)} classes that have samples"
                f"{'' if one else ', in some run'}: {names}"
            )
    return notes
