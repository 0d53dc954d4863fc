"""The parts of one run: the items to train, validate and test on."""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._core.values import check_integer
from onepeak._core.wording import listed
from onepeak.errors import InputError

Indices: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Part: TypeAlias = Literal["train", "valid", "test"]
Parts: TypeAlias = tuple[Indices, Indices, Indices]
PARTS: tuple[Part, ...] = ("train", "valid", "test")


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """The three parts of one run, as positions in a manifest.

    The parts are sorted, read-only, disjoint and not empty. An item may be in no part.

    Example:
        >>> split = Split(train=np.array([4, 0, 1]), valid=np.array([2]), test=np.array([3]), protocol="mine")
        >>> split.name, split.sizes, split.train
        ('split0-fold0', {'train': 3, 'valid': 1, 'test': 1}, array([0, 1, 4]))
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

    def __post_init__(self) -> None:
        for field in ("split", "fold", "seed"):
            object.__setattr__(self, field, check_integer(field, getattr(self, field), minimum=0))
        where = f"(protocol {self.protocol!r}, split {self.split}, fold {self.fold})"
        for part in PARTS:
            object.__setattr__(self, part, _ascending(part, getattr(self, part), where))
        for first, second in combinations(PARTS, 2):
            shared = np.intersect1d(getattr(self, first), getattr(self, second), assume_unique=True)
            if len(shared):
                raise InputError(
                    f"`{first}` and `{second}` must share no item, got {len(shared)} in both {where}: "
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
        """The number of items in every part."""
        return {part: len(items) for part, items in self.parts.items()}

    def check_within(self, num_items: int) -> None:
        """Raises an error if the split points past the end of a data set of `num_items` items."""
        for part, items in self.parts.items():
            if items[-1] >= num_items:
                raise InputError(
                    f"`{part}` of {self.name} must hold positions from 0 to {num_items - 1}, got {items[-1]}: "
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


def _ascending(part: str, items: Indices, where: str) -> Indices:
    """Returns the positions sorted and read-only; raises an error if they are invalid."""
    given = np.asarray(items)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise InputError(
            f"`{part}` must be a flat array of integer positions, got {given.dtype} of shape {given.shape} {where}."
        )
    if not given.size:
        raise InputError(f"`{part}` must hold at least one item, got none {where}: the data set is too small for it.")
    ordered = np.sort(given.astype(np.int64))
    if ordered[0] < 0:
        raise InputError(f"`{part}` must hold positions >= 0, got {ordered[0]} {where}.")
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise InputError(
            f"`{part}` must hold every item once, got {listed(np.unique(twice), limit=5)} more than once {where}."
        )
    ordered.flags.writeable = False
    return ordered
