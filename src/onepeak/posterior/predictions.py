"""What a model predicted for some samples, in columns: the one record behind training, run folders, pages and HTTP."""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from onepeak._core.imports import Frame, require
from onepeak._core.wording import counted
from onepeak.constraints.gaps import pairs_in_order
from onepeak.posterior.shape import is_paradoxical, is_unimodal

SourceName: TypeAlias = Literal["path", "line", "row", "item", "group"]
"""How a sample is identified: by the path of its file; by its line in a text file, as an editor counts (the header is
line 1); by its row in another table (the index of a DataFrame, from 1 in a parquet file); by its position among the
inputs, from 0; or, of several samples together, by their group, such as a patient."""
Combine: TypeAlias = Literal["worst", "mean", "median"]
Unlike: TypeAlias = tuple[str, ...] | None
"""How a sample is unlike the training samples: statistics of an image, such as its contrast, or columns of a row with
numbers far outside the training's range or with new names; "features" if the network's own features lie far from those
of the training. Empty if it is usual, None if that is not known."""

_MOST_NAMED = 3
"""Samples shown in the repr."""


def called(source: str | int, source_name: SourceName) -> str:
    """Returns how messages name a sample: a file by its name, anything else by its kind and number.

    Example:
        >>> called("a.png", "path"), called("a.png", "item"), called(3, "item"), called(3, "line")
        ('a.png', 'a.png', 'item 3', 'line 3')
    """
    file = source_name == "path" or (source_name == "item" and isinstance(source, str))
    return str(source) if file else f"{source_name} {source}"


def unlike_text(unlike: Unlike) -> str | None:
    """Joins the entries into one table cell.

    Example:
        >>> unlike_text(("contrast", "grain"))
        'contrast; grain'
    """
    return None if unlike is None else "; ".join(unlike)


def headline_of(predicted: str | None, lower: str | None, upper: str | None) -> str | None:
    """Returns the predicted class if the interval holds no other, or if there is none; otherwise the interval."""
    return predicted if lower == upper else f"between {lower} and {upper}"


def _renamed(old: str, new: str) -> None:
    warnings.warn(f"`{old}` of a prediction is now `{new}`.", DeprecationWarning, stacklevel=3)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One sample as plain values. Either `error` says why there is no prediction, or all other fields are set."""

    source: str | int
    """The identifier of the sample; see `SourceName`."""
    predicted_class: str | None = None
    """The class decided on."""
    predicted_index: int | None = None
    """Its position in the order of the classes, from 0."""
    lower: int | None = None
    """The lowest position of the interval; None if the model has no intervals."""
    upper: int | None = None
    lower_name: str | None = None
    upper_name: str | None = None
    log_probs: tuple[float, ...] | None = None
    soi: float | None = None
    """Share of adjacent classes whose probability falls away from the prediction."""
    unimodal: bool | None = None
    paradoxical: bool | None = None
    """Whether the second most probable class is not adjacent to the most probable one."""
    unlike: Unlike = None
    """How the sample is unlike the training samples."""
    distance: float | None = None
    """How far it lies from the training samples in the network's features; usual samples lie within 1."""
    refer: str | None = None
    """Why a person should be asked, by the model's policy; None if not, or without a policy."""
    error: str | None = None

    @property
    def headline(self) -> str | None:
        """What may be acted on: the class where the interval is that class, otherwise between which it lies.

        Example:
            >>> Row(source=0, predicted_class="II", lower_name="I", upper_name="III").headline
            'between I and III'
        """
        return headline_of(self.predicted_class, self.lower_name, self.upper_name)

    @property
    def probs(self) -> tuple[float, ...] | None:
        """The probabilities, to float32 precision."""
        return None if self.log_probs is None else tuple(float(f"{math.exp(value):.7g}") for value in self.log_probs)

    @property
    def finite_log_probs(self) -> tuple[float | None, ...] | None:
        """For JSON, which has no infinity: None instead of the logarithm of a zero probability."""
        if self.log_probs is None:
            return None
        return tuple(value if math.isfinite(value) else None for value in self.log_probs)

    @property
    def name(self) -> str | None:
        """The former name of `predicted_class`."""
        _renamed("name", "predicted_class")
        return self.predicted_class

    @property
    def label(self) -> int | None:
        """The former name of `predicted_index`."""
        _renamed("label", "predicted_index")
        return self.predicted_index


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """A model's predictions for some samples, one entry per sample in each column; tensors are on the CPU.

    The first two columns are always there; the others are empty, or None, where they are not known.

    Example:
        >>> import torch
        >>> found = Predictions(
        ...     classes=("low", "middle", "high"),
        ...     predicted_index=torch.tensor([1, 0]),
        ...     log_probs=torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log(),
        ...     sources=(0, 1),
        ... )
        >>> found
        Predictions(2 samples, 3 classes: middle (0.60), low (0.40))
        >>> found.predicted_class, found.soi, found.unimodal
        (('middle', 'low'), tensor([1.0000, 0.5000]), tensor([ True, False]))
        >>> found.paradoxical, found[0].predicted_class, found[1:].predicted_class
        (tensor([False,  True]), 'middle', ('low',))
    """

    predicted_index: Tensor
    """int64, one per sample: the class decided on, as a position in the order of the classes."""
    log_probs: Tensor
    """float32, samples x classes."""
    truth: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.int64))
    """int64, one per sample: the true label."""
    items: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The position of each sample in the data."""
    groups: tuple[str, ...] = ()
    """The group of each sample, such as a patient; empty if they have none."""
    intervals: Tensor | None = None
    """int64, samples x 2: the lowest and the highest label of an interval that contains the true label for a share of
    1 - alpha of all samples, and always the predicted one; None if the model has no intervals."""
    alpha: float | None = None
    """The share of samples whose interval may miss the true label."""
    classes: tuple[str, ...] = ()
    """The classes in their order."""
    sources: tuple[str | int, ...] = ()
    """The identifier of each sample; see `source_name`."""
    source_name: SourceName = "item"
    distance: Tensor | None = None
    """float32, one per sample: how far it lies from the training samples in the network's own features; usual samples
    lie within 1. None if the model does not know."""
    coordinates: Tensor | None = None
    """float32, samples x axes: where each lies on the axes along which the training differs most in these features."""
    unlike: tuple[Unlike, ...] = ()
    """How each sample is unlike the training samples; empty if that was not checked."""
    refer: tuple[str | None, ...] = ()
    """Why a person should be asked, by the model's policy; None for a sample that may be answered."""
    notes: tuple[str, ...] = ()
    """What was done on the user's behalf; to be shown."""

    def __len__(self) -> int:
        return len(self.predicted_index)

    def __repr__(self) -> str:
        first = self[:_MOST_NAMED]
        probs = first.log_probs.exp().gather(1, first.predicted_index.unsqueeze(1)).squeeze(1).tolist()
        text = ", ".join(f"{name} ({prob:.2f})" for name, prob in zip(first.predicted_class, probs, strict=True))
        text += ", ..." if len(self) > _MOST_NAMED else ""
        return f"Predictions({counted(len(self), 'sample')}, {counted(self.log_probs.shape[-1], 'class')}: {text})"

    def __iter__(self) -> Iterator[Row]:
        return self.rows()

    @overload
    def __getitem__(self, place: SupportsIndex) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> "Predictions": ...

    def __getitem__(self, place: SupportsIndex | slice) -> "Row | Predictions":
        """Returns one sample as a record, or several in columns."""
        chosen = range(len(self))[place]  # raises IndexError past the end; handles negative positions
        return self.take(chosen) if isinstance(chosen, range) else next(self.take([chosen]).rows())

    def take(self, places: Sequence[int]) -> "Predictions":
        """Returns the samples at these positions."""
        chosen = list(places)
        columns: dict[str, Any] = {}
        for name in _COLUMNS:
            column = getattr(self, name)
            if column is not None and len(column):
                taken = isinstance(column, tuple)
                columns[name] = tuple(column[place] for place in chosen) if taken else column[chosen]
        return replace(self, **columns)

    @staticmethod
    def joined(parts: Sequence["Predictions"]) -> "Predictions":
        """Returns the samples of all parts, which have the same columns, one part after the other."""
        columns: dict[str, Any] = {}
        for name in _COLUMNS:
            each = [getattr(part, name) for part in parts]
            match each[0]:
                case Tensor():
                    columns[name] = torch.cat(each)
                case np.ndarray():
                    columns[name] = np.concatenate(each)
                case tuple():
                    columns[name] = tuple(value for column in each for value in column)
        return replace(parts[0], **columns)

    def combined(self, groups: Sequence[str], how: Combine) -> "Predictions":
        """Returns one prediction per group, such as a patient with several images, in the order in which groups come.

        "worst" is the sample with the highest predicted class (of several, the highest expected class), "median" the
        middle one in that order (the higher of two), and "mean" the mean of the probabilities, whose mode is predicted.
        Intervals are joined: from the lowest to the highest class of any sample; for "worst" from the highest lower
        end. They hold the group's class at least where those of all its samples do, and always the predicted one;
        `Model.read_groups` replaces them by calibrated ones. A group is as far from the training as its farthest
        sample, and referred if any of its samples is. Its true class is the highest of its samples' for "worst", and
        otherwise their median (the higher of two).

        Example:
            >>> probs = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.1, 0.6, 0.3]])
            >>> found = Predictions(predicted_index=probs.argmax(1), log_probs=probs.log(), sources=(0, 1, 2))
            >>> [found.combined(["ann", "ann", "ann"], how)[0].predicted_index for how in ("worst", "mean", "median")]
            [2, 2, 1]
        """
        members: dict[str, list[int]] = {}
        for place, group in enumerate(groups):
            members.setdefault(group, []).append(place)
        worst, places = how == "worst", list(members.values())
        expected = self.probs.double() @ torch.arange(self.log_probs.shape[-1], dtype=torch.float64)
        rank = list(zip(self.predicted_index.tolist(), expected.tolist(), strict=True))
        in_order = [sorted(own, key=rank.__getitem__) for own in places]
        one = self.take([own[-1] if worst else own[len(own) // 2] for own in in_order])

        def by_group(column: Tensor, join: Callable[[Tensor], Tensor]) -> Tensor:
            return torch.stack([join(column[own]) for own in places])

        columns: dict[str, Any] = {"items": np.empty(0, dtype=np.int64), "groups": ()}
        if how == "mean":
            columns["log_probs"] = by_group(self.probs, lambda own: own.mean(dim=0)).log()
            columns["predicted_index"] = columns["log_probs"].argmax(dim=-1)
        if self.intervals is not None:
            predicted = columns.get("predicted_index", one.predicted_index)  # the mode of a mean may lie outside
            lower = by_group(self.intervals[:, 0], torch.amax if worst else torch.amin).minimum(predicted)
            columns["intervals"] = torch.stack(
                [lower, by_group(self.intervals[:, 1], torch.amax).maximum(predicted)], 1
            )
        if len(self.truth):
            columns["truth"] = by_group(
                self.truth, torch.amax if worst else lambda own: own.sort().values[len(own) // 2]
            )
        if self.distance is not None:
            columns["distance"] = by_group(self.distance, torch.amax)
        if self.unlike:
            marks = [dict.fromkeys(name for place in own for name in self.unlike[place] or ()) for own in places]
            columns["unlike"] = tuple(map(tuple, marks))
        if self.refer:
            columns["refer"] = tuple(next(filter(None, [self.refer[place] for place in own]), None) for own in places)
        return replace(one, sources=tuple(members), source_name="group", **columns)

    @property
    def probs(self) -> Tensor:
        """float32, samples x classes: the probabilities."""
        return self.log_probs.exp()

    @cached_property
    def predicted_class(self) -> tuple[str, ...]:
        """The class decided on for each sample; its number where classes have no names."""
        names = self.classes or tuple(map(str, range(self.log_probs.shape[-1])))
        return tuple(names[index] for index in self.predicted_index.tolist())

    @property
    def headline(self) -> tuple[str, ...]:
        """What may be acted on: the class where the interval is that class, otherwise between which it lies."""
        ends = self.interval_names or [(None, None)] * len(self)
        return tuple(str(headline_of(name, *pair)) for name, pair in zip(self.predicted_class, ends, strict=True))

    @property
    def labels(self) -> Tensor:
        """The former name of `predicted_index`."""
        _renamed("labels", "predicted_index")
        return self.predicted_index

    @property
    def names(self) -> tuple[str, ...]:
        """The former name of `predicted_class`."""
        _renamed("names", "predicted_class")
        return self.predicted_class

    @cached_property
    def soi(self) -> Tensor:
        """The side order index of each sample: the share of adjacent classes that fall away from the predicted one."""
        return pairs_in_order(self.log_probs, self.predicted_index).to(self.log_probs.dtype) / (
            self.log_probs.shape[-1] - 1
        )

    @cached_property
    def unimodal(self) -> Tensor:
        """Whether each posterior has exactly one peak, strictly."""
        return is_unimodal(self.log_probs)

    @cached_property
    def paradoxical(self) -> Tensor:
        """Whether each sample's second most probable class is not adjacent to the most probable one."""
        return is_paradoxical(self.log_probs)

    @property
    def interval_names(self) -> tuple[tuple[str, str], ...] | None:
        """The classes at both ends of each interval."""
        if self.intervals is None:
            return None
        return tuple((self.classes[lower], self.classes[upper]) for lower, upper in self.intervals.tolist())

    @property
    def with_unlike(self) -> list[tuple[str | int, Unlike]]:
        """The identifier of each sample, and how it is unlike the training samples."""
        return list(zip(self.sources, self.unlike or [None] * len(self), strict=True))

    def _ends(self) -> dict[str, npt.NDArray[Any]]:
        """Returns both ends of each interval, as classes and as positions; nothing without intervals."""
        if self.intervals is None:
            return {}
        lower, upper = self.intervals.numpy().T
        names = np.array(self.classes, dtype=object)
        return {"lower_name": names[lower], "upper_name": names[upper], "lower": lower, "upper": upper}

    def rows(self) -> Iterator[Row]:
        """Yields one record per sample."""
        columns: dict[str, Iterable[Any]] = {
            "source": self.sources or range(len(self)),
            "predicted_class": self.predicted_class,
            "predicted_index": self.predicted_index.tolist(),
            "log_probs": map(tuple, self.log_probs.tolist()),
            "soi": [round(share, 7) for share in self.soi.tolist()],  # float32 precision
            "unimodal": self.unimodal.tolist(),
            "paradoxical": self.paradoxical.tolist(),
        }
        columns |= {name: ends.tolist() for name, ends in self._ends().items()}
        if self.distance is not None:
            columns["distance"] = [round(distance, 4) for distance in self.distance.tolist()]
        columns |= {name: column for name in ("unlike", "refer") if (column := getattr(self, name))}
        for values in zip(*columns.values(), strict=True):
            yield Row(**dict(zip(columns, values, strict=True)))

    def to_frame(self) -> Frame:
        """Returns a pandas DataFrame with one row per sample, including each class's probability and its logarithm."""
        pandas = require("pandas", extra="data", purpose="A table of predictions")
        names, numbers = list(self.predicted_class), self.predicted_index.numpy()
        unlike = [unlike_text(each) for each in self.unlike] or [None] * len(self)
        frame: Frame = pandas.DataFrame(
            {
                self.source_name: list(self.sources),
                "predicted_class": names,
                "predicted_index": numbers,
                "name": names,  # the former names of both
                "label": numbers,
                "headline": list(self.headline),
                **self._ends(),
                "soi": self.soi.numpy(),
                "unimodal": self.unimodal.numpy(),
                "paradoxical": self.paradoxical.numpy(),
                "unlike": pandas.Series(unlike, dtype=object),
                "distance": None if self.distance is None else self.distance.numpy(),
                "refer": pandas.Series(self.refer or [None] * len(self), dtype=object),
                **{f"p_{name}": self.probs[:, label].numpy() for label, name in enumerate(self.classes)},
                **{f"log_prob_{name}": self.log_probs[:, label].numpy() for label, name in enumerate(self.classes)},
            }
        )
        return frame


Prediction = Predictions
"""The former name of `Predictions`."""

_SCALARS = {"alpha", "classes", "source_name", "notes"}
_COLUMNS = [each.name for each in fields(Predictions) if each.name not in _SCALARS]
