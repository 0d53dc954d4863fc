"""What a model says of some samples: the label, the whole posterior, and whether that has one peak."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from torch import Tensor

from onepeak._extras import require
from onepeak.data.frame_types import Frame
from onepeak.metrics.functional.order import side_order_index
from onepeak.posterior import is_unimodal

SourceName: TypeAlias = Literal["path", "row", "item"]
"""What a sample is called by: the path of its file, its row in a table, its position among the inputs."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One sample as plain values. Either `error` says why there is no answer, or all the others are there."""

    source: str | int
    """The path of the file, the row of the table, or the position among the inputs."""
    label: int | None = None
    """The label that the method decided on, counted from 0."""
    name: str | None = None
    """The class of that label."""
    log_probs: tuple[float, ...] | None = None
    soi: float | None = None
    """Share of adjacent classes that fall away from the label."""
    unimodal: bool | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """What a model says of some samples, in the order in which they were given; tensors are on the CPU.

    Example:
        >>> import torch
        >>> said = Prediction(
        ...     classes=("low", "middle", "high"),
        ...     labels=torch.tensor([1, 0]),
        ...     log_probs=torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log(),
        ...     sources=(0, 1),
        ... )
        >>> said.names, said.soi, said.unimodal
        (('middle', 'low'), tensor([1.0000, 0.5000]), tensor([ True, False]))
    """

    classes: tuple[str, ...]
    """The classes in their order."""
    labels: Tensor
    """int64, one a sample: the label that the method decided on, a position in `classes`."""
    log_probs: Tensor
    """float32, samples x classes."""
    sources: tuple[str | int, ...]
    """What each sample is called by; see `source_name`."""
    source_name: SourceName = "item"
    notes: tuple[str, ...] = ()
    """What was done on the user's behalf, to be shown."""

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Prediction({len(self)} samples, {len(self.classes)} classes)"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The class of each sample."""
        return tuple(self.classes[label] for label in self.labels.tolist())

    @cached_property
    def soi(self) -> Tensor:
        """The side order index of each sample: the share of adjacent classes that fall away from its label."""
        return side_order_index(self.log_probs, self.labels)

    @cached_property
    def unimodal(self) -> Tensor:
        """Whether each posterior has one peak, strictly."""
        return is_unimodal(self.log_probs)

    def rows(self) -> Iterator[Row]:
        """One record a sample."""
        columns = (self.labels, self.log_probs, self.soi, self.unimodal)
        values = zip(self.sources, self.names, *(column.tolist() for column in columns), strict=True)
        for source, name, label, log_probs, soi, unimodal in values:
            yield Row(
                source=source,
                label=label,
                name=name,
                log_probs=tuple(log_probs),
                soi=round(soi, 7),  # as many digits as float32 has
                unimodal=unimodal,
            )

    def to_frame(self) -> Frame:
        """A pandas DataFrame with a row a sample and a column of log-probabilities a class."""
        pandas = require("pandas", extra="data", purpose="A table of predictions")
        frame: Frame = pandas.DataFrame(
            {
                self.source_name: list(self.sources),
                "label": self.labels.numpy(),
                "name": list(self.names),
                "soi": self.soi.numpy(),
                "unimodal": self.unimodal.numpy(),
                **{f"log_prob_{name}": self.log_probs[:, label].numpy() for label, name in enumerate(self.classes)},
            }
        )
        return frame
