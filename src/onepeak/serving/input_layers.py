"""The first layer of an exported model: turns raw pixels or rows into the network's input."""

from typing import final

import torch
from torch import Tensor, nn

from onepeak.data.batches import normalise
from onepeak.training.table import TableEncoder

MOST_DEVIATIONS = 1000
"""How many deviations a column's mean may lie from 0: beyond that, float32 leaves a z-score fewer than 4 digits."""


@final
class PictureInput(nn.Module):
    """Turns pixels, uint8 batch x height x width x 3, into the network's batch x 3 x height x width.

    Args:
        size: Height and width of all images; any size if left out.

    Example:
        >>> PictureInput()(torch.full((1, 2, 4, 3), 255, dtype=torch.uint8)).shape
        torch.Size([1, 3, 2, 4])
    """

    name = "pictures"

    def __init__(self, size: tuple[int, int] | None = None) -> None:
        super().__init__()
        self.size = size

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that may have any length."""
        return ("batch",) if self.size is not None else ("batch", "height", "width")

    def forward(self, pictures: Tensor) -> Tensor:
        """Moves the channels first and scales to -1 to 1."""
        return normalise(pictures.permute(0, 3, 1, 2))


@final
class RowInput(nn.Module):
    """Turns rows of values, batch x columns of `row_dtype`, into the features that the encoder makes.

    Numbers are given as in the table, a category as the position of its name in `TableEncoder.categories`, and a
    missing value as NaN.

    Args:
        encoder: The model's encoder.

    Example:
        >>> encoder = TableEncoder(
        ...     columns=("age", "tone"),
        ...     categories={"tone": ("pale", "dark")},
        ...     means=(40.0, 0.0),
        ...     stds=(10.0, 1.0),
        ...     missing=("age",),
        ... )
        >>> RowInput(encoder)(torch.tensor([[60.0, 1.0], [torch.nan, torch.nan]]))
        tensor([[2., 0., 1., 0.],
                [0., 0., 0., 1.]])
    """

    name = "rows"
    axes = ("batch",)

    source: Tensor
    is_code: Tensor
    is_flag: Tensor
    centre: Tensor
    scale: Tensor

    def __init__(self, encoder: TableEncoder) -> None:
        super().__init__()
        # One entry per feature: its source column, its kind, and for codes the category.
        source, is_code, centre, scale = [], [], [], []
        for place, name in enumerate(encoder.columns):
            codes = range(len(encoder.categories[name])) if name in encoder.categories else None
            for value in [encoder.means[place]] if codes is None else codes:
                source.append(place)
                is_code.append(codes is not None)
                centre.append(float(value))
                scale.append(encoder.stds[place])
        flags = [encoder.columns.index(name) for name in encoder.missing]
        self.num_columns, self.dtype = len(encoder.columns), row_dtype(encoder)
        self.register_buffer("source", torch.tensor([*source, *flags]))
        self.register_buffer("is_code", torch.tensor(is_code + [False] * len(flags)))
        self.register_buffer("is_flag", torch.tensor([False] * len(source) + [True] * len(flags)))
        self.register_buffer("centre", torch.tensor(centre + [0.0] * len(flags), dtype=torch.float64))
        self.register_buffer("scale", torch.tensor(scale + [1.0] * len(flags), dtype=torch.float64))

    def forward(self, rows: Tensor) -> Tensor:
        """Returns the features of each row, as `TableEncoder.encode` does."""
        values = rows[:, self.source].double()
        missing = values.isnan()
        scores = torch.where(missing, 0.0, (values - self.centre) / self.scale)
        codes = (values == self.centre).double()
        features = torch.where(self.is_flag, missing.double(), torch.where(self.is_code, codes, scores))
        return features.float()  # z-scores need fewer digits than the values they are made of


def row_dtype(encoder: TableEncoder) -> torch.dtype:
    """Returns the type of a row's values: float32, as in most tools, or float64 if a column needs more digits.

    Example:
        >>> seconds = TableEncoder(columns=("time",), categories={}, means=(1.7e9,), stds=(3600.0,), missing=())
        >>> row_dtype(seconds)
        torch.float64
    """
    pairs = zip(encoder.columns, encoder.means, encoder.stds, strict=True)
    numbers = [(mean, std) for name, mean, std in pairs if name not in encoder.categories]
    return torch.float64 if any(abs(mean) > MOST_DEVIATIONS * std for mean, std in numbers) else torch.float32
