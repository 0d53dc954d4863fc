"""The first layer of an exported model: from what an integrator has to what the network was trained on."""

from typing import final

import torch
from torch import Tensor, nn

from onepeak.data.batches import normalise
from onepeak.training.table import TableEncoder

MOST_DEVIATIONS = 1000
"""Of a column's mean from 0: beyond, the seven digits of float32 leave a standard score fewer than four."""


@final
class PictureInput(nn.Module):
    """From pixels, uint8 batch x height x width x 3, to the network's batch x 3 x height x width.

    Args:
        size: Height and width that all pictures have; any, if left out.

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
        """Those that may have any length."""
        return ("batch",) if self.size is not None else ("batch", "height", "width")

    def forward(self, pictures: Tensor) -> Tensor:
        """Colours first, from -1 to 1."""
        return normalise(pictures.permute(0, 3, 1, 2))


@final
class RowInput(nn.Module):
    """From a row's values, batch x columns of `row_dtype`, to what the encoder makes of it.

    Numbers are as they stand in the table, a category is the position of its name in `TableEncoder.categories`, and
    what is missing is NaN.

    Args:
        encoder: Of the model.

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
        # One entry per feature: the column it is taken from, what it is, and for codes which one.
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
        """The features of each row, as `TableEncoder.encode` gives them."""
        values = rows[:, self.source].double()
        missing = values.isnan()
        scores = torch.where(missing, 0.0, (values - self.centre) / self.scale)
        codes = (values == self.centre).double()
        features = torch.where(self.is_flag, missing.double(), torch.where(self.is_code, codes, scores))
        return features.float()  # standard scores need fewer digits than what they are made of


def row_dtype(encoder: TableEncoder) -> torch.dtype:
    """What a row's values are given as: float32, as most tools do, or float64 where a column needs more digits.

    Example:
        >>> seconds = TableEncoder(columns=("time",), categories={}, means=(1.7e9,), stds=(3600.0,), missing=())
        >>> row_dtype(seconds)
        torch.float64
    """
    pairs = zip(encoder.columns, encoder.means, encoder.stds, strict=True)
    numbers = [(mean, std) for name, mean, std in pairs if name not in encoder.categories]
    return torch.float64 if any(abs(mean) > MOST_DEVIATIONS * std for mean, std in numbers) else torch.float32
