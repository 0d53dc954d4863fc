"""A model's predictions for some samples: label, posterior, interval, and whether they are consistent."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, SupportsIndex, TypeAlias, overload

from torch import Tensor

from onepeak._core.imports import Frame, require
from onepeak._core.wording import counted
from onepeak.metrics.functional.side_order_index import side_order_index
from onepeak.posterior import is_paradoxical, is_unimodal

SourceName: TypeAlias = Literal["path", "line", "row", "item"]
"""How a sample is identified: by the path of its file; by its line in a text file, as an editor counts (the header is
line 1); by its row in another table (the index of a DataFrame, from 1 in a parquet file); or by its position among the
inputs, from 0."""
Unlike: TypeAlias = tuple[str, ...] | None
"""How a sample is unlike the training samples: statistics of an image, such as its contrast, or columns of a row with
numbers far outside the training's range or with new names. Empty if it is usual, None if that is not known."""

NO_POSTERIOR = "the model has no posterior for it, as with numbers far beyond those it was trained on"
"""Why a readable sample has no prediction."""
NO_VALUE = (
    "it has no value in any column of the model (names that the model has not seen do not count), so that the "
    "prediction would say nothing about it"
)
"""Why an empty row has no prediction."""
_MOST_NAMED = 3
"""Samples shown in the repr of a prediction."""


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


@dataclass(frozen=True, kw_only=True)
class Row:
    """One sample as plain values. Either `error` says why there is no prediction, or all other fields are set."""

    source: str | int
    """The identifier of the sample; see `SourceName`."""
    label: int | None = None
    """The label decided on, counted from 0."""
    name: str | None = None
    """The class of that label."""
    lower: int | None = None
    """The lowest label of the interval; None if the model has no intervals."""
    upper: int | None = None
    lower_name: str | None = None
    upper_name: str | None = None
    log_probs: tuple[float, ...] | None = None
    soi: float | None = None
    """Share of adjacent classes whose probability falls away from the label."""
    unimodal: bool | None = None
    paradoxical: bool | None = None
    """Whether the second most probable class is not adjacent to the most probable one."""
    unlike: Unlike = None
    """How the sample is unlike the training samples."""
    error: str | None = None

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


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """A model's predictions for some samples, in the order given; tensors are on the CPU.

    Example:
        >>> import torch
        >>> said = Prediction(
        ...     classes=("low", "middle", "high"),
        ...     labels=torch.tensor([1, 0]),
        ...     log_probs=torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log(),
        ...     sources=(0, 1),
        ... )
        >>> said
        Prediction(2 samples, 3 classes: middle (0.60), low (0.40))
        >>> said.names, said.soi, said.unimodal
        (('middle', 'low'), tensor([1.0000, 0.5000]), tensor([ True, False]))
        >>> said.paradoxical, said[0].name, said[1:].names
        (tensor([False,  True]), 'middle', ('low',))
    """

    classes: tuple[str, ...]
    """The classes in their order."""
    labels: Tensor
    """int64, one per sample: the label decided on, a position in `classes`."""
    log_probs: Tensor
    """float32, samples x classes."""
    intervals: Tensor | None = None
    """int64, samples x 2: the lowest and the highest label of an interval that contains the true label for a share of
    1 - alpha of all samples, and always the predicted label; None if the model has no intervals."""
    alpha: float | None = None
    """The share of samples whose interval may miss the true label."""
    sources: tuple[str | int, ...]
    """The identifier of each sample; see `source_name`."""
    source_name: SourceName = "item"
    unlike: tuple[Unlike, ...] = ()
    """How each sample is unlike the training samples; empty if that was not checked."""
    notes: tuple[str, ...] = ()
    """What was done on the user's behalf; to be shown."""

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        first = self[:_MOST_NAMED]
        probs = first.probs.gather(1, first.labels.unsqueeze(1)).squeeze(1).tolist()
        text = ", ".join(f"{name} ({prob:.2f})" for name, prob in zip(first.names, probs, strict=True))
        text += ", ..." if len(self) > _MOST_NAMED else ""
        return f"Prediction({counted(len(self), 'sample')}, {counted(len(self.classes), 'class')}: {text})"

    def __iter__(self) -> Iterator[Row]:
        return self.rows()

    @overload
    def __getitem__(self, place: SupportsIndex) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> "Prediction": ...

    def __getitem__(self, place: SupportsIndex | slice) -> "Row | Prediction":
        """Returns one sample as a record, or several as a prediction."""
        if isinstance(place, slice):
            return replace(
                self,
                labels=self.labels[place],
                log_probs=self.log_probs[place],
                intervals=None if self.intervals is None else self.intervals[place],
                sources=self.sources[place],
                unlike=self.unlike[place],
            )
        position = range(len(self))[place]  # raises IndexError past the end; handles negative positions
        return next(self[position : position + 1].rows())

    @property
    def probs(self) -> Tensor:
        """float32, samples x classes: the probabilities."""
        return self.log_probs.exp()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each sample's predicted class."""
        return tuple(self.classes[label] for label in self.labels.tolist())

    @cached_property
    def soi(self) -> Tensor:
        """The side order index of each sample: the share of adjacent classes that fall away from its label."""
        return side_order_index(self.log_probs, self.labels)

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

    def rows(self) -> Iterator[Row]:
        """Yields one record per sample."""
        columns = (self.labels, self.log_probs, self.soi, self.unimodal, self.paradoxical)
        ends = [(None, None)] * len(self) if self.intervals is None else self.intervals.tolist()
        end_names = self.interval_names or [(None, None)] * len(self)
        names = zip(self.sources, self.names, self._unlike, strict=True)
        values = zip(names, ends, end_names, *(column.tolist() for column in columns), strict=True)
        for named, (lower, upper), (lower_name, upper_name), label, log_probs, soi, unimodal, paradox in values:
            source, name, unlike = named
            yield Row(
                source=source,
                label=label,
                name=name,
                lower=lower,
                upper=upper,
                lower_name=lower_name,
                upper_name=upper_name,
                log_probs=tuple(log_probs),
                soi=round(soi, 7),  # float32 precision
                unimodal=unimodal,
                paradoxical=paradox,
                unlike=unlike,
            )

    @property
    def _unlike(self) -> tuple[Unlike, ...]:
        return self.unlike or (None,) * len(self)

    def to_frame(self) -> Frame:
        """Returns a pandas DataFrame with one row per sample, including each class's probability and its logarithm."""
        pandas = require("pandas", extra="data", purpose="A table of predictions")
        ends = {}
        if self.intervals is not None and self.interval_names is not None:
            lower, upper = self.intervals.numpy().T
            lower_names, upper_names = zip(*self.interval_names, strict=True) if len(self) else ((), ())
            ends = {"lower_name": lower_names, "upper_name": upper_names, "lower": lower, "upper": upper}
        frame: Frame = pandas.DataFrame(
            {
                self.source_name: list(self.sources),
                "name": list(self.names),
                "label": self.labels.numpy(),
                **ends,
                "soi": self.soi.numpy(),
                "unimodal": self.unimodal.numpy(),
                "paradoxical": self.paradoxical.numpy(),
                "unlike": pandas.Series([unlike_text(each) for each in self._unlike], dtype=object),
                **{f"p_{name}": self.probs[:, label].numpy() for label, name in enumerate(self.classes)},
                **{f"log_prob_{name}": self.log_probs[:, label].numpy() for label, name in enumerate(self.classes)},
            }
        )
        return frame
