"""The common form of all data: samples, integer labels, the classes in order, and groups."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from onepeak._core.values import check_integer
from onepeak._core.wording import counted
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ImageFiles:
    """Image files: paths relative to a root, with forward slashes on every system."""

    root: Path
    paths: tuple[str, ...]
    digests: tuple[str, ...] | None = field(default=None, compare=False, repr=False)
    """The fingerprint of every file, if already known (`onepeak.data.splits.leaks`)."""

    def __len__(self) -> int:
        return len(self.paths)

    def take(self, indices: Sequence[int] | npt.NDArray[np.int64]) -> "ImageFiles":
        """The samples at these positions, in this order."""
        digests = None if self.digests is None else tuple(self.digests[i] for i in indices)
        return replace(self, paths=tuple(self.paths[i] for i in indices), digests=digests)


@dataclass(frozen=True, kw_only=True, eq=False)
class ImageArrays:
    """Images in memory, all of the same size: uint8, samples x height x width x 3."""

    pixels: npt.NDArray[np.uint8]

    def __post_init__(self) -> None:
        if self.pixels.dtype != np.uint8 or self.pixels.ndim != 4 or self.pixels.shape[-1] != 3:
            raise InputError(
                "`pixels` must be uint8 of shape (samples, height, width, 3), "
                f"got {self.pixels.dtype} of shape {self.pixels.shape}."
            )

    def __len__(self) -> int:
        return len(self.pixels)

    def take(self, indices: Sequence[int] | npt.NDArray[np.int64]) -> "ImageArrays":
        """The samples at these positions, in this order."""
        return ImageArrays(pixels=self.pixels[np.asarray(indices, dtype=np.int64)])


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """What turned texts into features: an encoder, see `onepeak.networks.text_encoder`."""

    folder: str
    digest: str
    """A hash of the encoder's files."""
    num_features: int


@dataclass(frozen=True, kw_only=True)
class Texts:
    """A column of texts."""

    column: str
    values: tuple[str, ...] = ()
    encoding: Encoding | None = None
    """The encoder whose features are the last columns of the rows; None before the texts are encoded."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureRows:
    """Rows of a table: float64, samples x columns; missing values are NaN, categories are codes."""

    columns: tuple[str, ...]
    values: npt.NDArray[np.float64]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each categorical column, the name of every code."""
    texts: Texts | None = None
    """The text of every row, if the rows have one."""

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.columns):
            raise InputError(
                f"`values` must have one column for each of the {len(self.columns)} names, "
                f"got shape {self.values.shape}."
            )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def plain_columns(self) -> tuple[str, ...]:
        """The columns other than the features of texts."""
        return plain_columns(self.columns, self.texts)

    def take(self, indices: Sequence[int] | npt.NDArray[np.int64]) -> "FeatureRows":
        """The samples at these positions, in this order."""
        texts = self.texts and replace(self.texts, values=tuple(self.texts.values[index] for index in indices))
        return replace(self, values=self.values[np.asarray(indices, dtype=np.int64)], texts=texts)


def plain_columns(columns: tuple[str, ...], texts: Texts | None) -> tuple[str, ...]:
    """Returns the columns of rows, or of their encoder, without the features of texts."""
    return columns if texts is None or texts.encoding is None else columns[: len(columns) - texts.encoding.num_features]


NEARLY_HALF = 0.5 - 1e-5
"""A cumulative probability of one half, of which rounding to float32 took a little."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelDistribution:
    """How probable each label of each sample is, where several raters labelled it or its label is uncertain."""

    probs: npt.NDArray[np.float64]
    """Samples x classes; every row sums to 1."""
    columns: tuple[str, ...]
    """The columns of a table that it comes from: one per rater, or one per class."""
    ratings: npt.NDArray[np.int64] | None = None
    """Samples x raters: the label that each rater gave, -1 for none; None for probabilities of the classes."""

    @staticmethod
    def of(
        votes: npt.NDArray[np.float64], *, columns: tuple[str, ...], ratings: npt.NDArray[np.int64] | None = None
    ) -> "LabelDistribution":
        """Returns the distribution in proportion to votes; a sample without one has probability 0 everywhere."""
        return LabelDistribution(
            probs=votes / votes.sum(axis=1, keepdims=True).clip(min=1e-300), columns=columns, ratings=ratings
        )

    @property
    def medians(self) -> npt.NDArray[np.int64]:
        """The lowest label of each sample at which the cumulative probability reaches one half."""
        return np.asarray((self.probs.cumsum(axis=1) < NEARLY_HALF).sum(axis=1), dtype=np.int64)

    def take(self, indices: npt.NDArray[np.int64]) -> "LabelDistribution":
        """The samples at these positions, in this order."""
        ratings = None if self.ratings is None else self.ratings[indices]
        return replace(self, probs=self.probs[indices], ratings=ratings)


T = TypeVar("T")
Items: TypeAlias = ImageFiles | ImageArrays | FeatureRows


@dataclass(frozen=True, kw_only=True, eq=False)
class Manifest:
    """A data set: samples, their labels, and the classes in order."""

    name: str
    items: Items
    labels: npt.NDArray[np.int64]
    """One integer per sample, from 0 to num_classes - 1: a position in `classes`."""
    classes: tuple[str, ...]
    """Names of the classes, lowest first. A class may have no samples."""
    groups: tuple[str, ...] | None = None
    """The person, patient or slide of each sample; a group must not be in two parts of a split."""
    strata: tuple[str, ...] | None = None
    """Another property to balance across the parts of a split, such as gender; one value per sample."""
    subgroups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns by whose values figures are given, such as sex or site; one value per sample."""
    rows: tuple[Hashable, ...] | None = None
    """The name of each sample's row in its table: the line of a CSV, the number in a parquet file, or the index."""
    label_column: str | None = None
    """The column of the labels in a table or list."""
    group_column: str | None = None
    """The column of the groups."""
    path_column: str | None = None
    """The column of the image paths in a list."""
    distribution: LabelDistribution | None = None
    """The distribution over labels, of which `labels` are then the medians."""
    true_log_probs: npt.NDArray[np.float64] | None = None
    """The true log-posterior of each sample (samples x classes), known only for generated data."""
    num_left_out: int = 0
    """How many rows of a list or table were left out because of missing images or bad cells."""
    notes: tuple[str, ...] = ()
    """Notes for the user on how the data were read."""

    def __post_init__(self) -> None:
        check_integer("number of classes", len(self.classes), minimum=2)
        if len(set(self.classes)) != len(self.classes):
            raise InputError(f"`classes` must be different names, got {', '.join(self.classes)}.")
        if self.labels.shape != (len(self.items),):
            raise InputError(
                f"`labels` must have one value per sample ({len(self.items)}), got shape {self.labels.shape}."
            )
        if len(self.labels) and not 0 <= self.labels.min() <= self.labels.max() < len(self.classes):
            raise InputError(
                f"`labels` must be integers from 0 to {len(self.classes) - 1}, "
                f"got {self.labels.min()} to {self.labels.max()}."
            )
        for name in ("groups", "strata", "rows"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.items):
                raise InputError(f"`{name}` must have one value per sample ({len(self.items)}), got {len(given)}.")

    @property
    def num_classes(self) -> int:
        """The number of classes, including those without samples."""
        return len(self.classes)

    @property
    def label_as(self) -> Literal["label", "raters", "label_probs"]:
        """The field of `DataSource` that names the columns of the labels."""
        if self.distribution is None:
            return "label"
        return "label_probs" if self.distribution.ratings is None else "raters"

    @property
    def label_bytes(self) -> list[bytes]:
        """What tells these labels from others: for the digests of the data."""
        distributions = [] if self.distribution is None else [self.distribution.probs]
        return [each.tobytes() for each in (self.labels, *distributions)]

    def __len__(self) -> int:
        return len(self.items)

    def sample_name(self, index: int) -> str:
        """Returns the name of a sample for messages: its path, its row, or its position."""
        if isinstance(self.items, ImageFiles):
            return self.items.paths[index]
        return f"sample {index}" if self.rows is None else f"row {self.rows[index]}"

    def take(self, indices: Sequence[int] | npt.NDArray[np.int64]) -> "Manifest":
        """Returns the data set with only these samples, in this order; the classes stay the same."""
        chosen = np.asarray(indices, dtype=np.int64)

        def of_chosen(values: tuple[T, ...] | None) -> tuple[T, ...] | None:
            return None if values is None else tuple(values[index] for index in chosen)

        groups = of_chosen(self.groups)
        earlier, now = group_note(self.groups, self.group_column), group_note(groups, self.group_column)
        return replace(
            self,
            items=self.items.take(chosen),
            labels=self.labels[chosen],
            groups=groups,
            strata=of_chosen(self.strata),
            subgroups={name: tuple(values[index] for index in chosen) for name, values in self.subgroups.items()},
            rows=of_chosen(self.rows),
            distribution=self.distribution and self.distribution.take(chosen),
            true_log_probs=None if self.true_log_probs is None else self.true_log_probs[chosen],
            notes=tuple(now[0] if note in earlier else note for note in self.notes),
        )


def group_note(groups: Collection[str] | None, column: str | None) -> tuple[str, ...]:
    """A note on the number of groups from a column; none without one."""
    if groups is None or column is None:
        return ()
    return (f"{counted(len(set(groups)), 'group')} from the column {column!r}",)
