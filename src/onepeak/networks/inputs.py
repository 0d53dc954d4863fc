"""What a network reads, from pixels or from the values of a table: one definition for training, serving and ONNX."""

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from onepeak.errors import InputError


def normalise(batch: Tensor) -> Tensor:
    """Maps uint8 images, batch x 3 x height x width, from 0..255 to -1..1, as the paper does for all data sets."""
    _check_pixels(batch)
    return batch.float().mul_(1 / 127.5).sub_(1)


def _check_pixels(batch: Tensor) -> None:
    if batch.dtype != torch.uint8 or batch.ndim != 4 or batch.shape[1] != 3:
        raise InputError(
            "`batch` must be uint8 of shape (batch, 3, height, width), "
            f"got {batch.dtype} of shape {tuple(batch.shape)}."
        )


@final
class ImageInput(nn.Module):
    """From uint8 images, batch x 3 x height x width, to what a backbone reads.

    `mean` and `std` are those of each colour, from 0 to 1; without them it is `normalise`, where both are .5.
    """

    def __init__(self, mean: Sequence[float] | None = None, std: Sequence[float] | None = None) -> None:
        super().__init__()
        self.scale: Tensor | None
        self.shift: Tensor | None
        pairs = None if mean is None or std is None else list(zip(mean, std, strict=True))
        scale = None if pairs is None else torch.tensor([1 / (255 * std) for _, std in pairs]).view(3, 1, 1)
        shift = None if pairs is None else torch.tensor([mean / std for mean, std in pairs]).view(3, 1, 1)
        self.register_buffer("scale", scale)
        self.register_buffer("shift", shift)

    def forward(self, batch: Tensor) -> Tensor:
        """Returns float32 of the same shape."""
        if self.scale is None or self.shift is None:
            return normalise(batch)
        _check_pixels(batch)
        return batch.float().mul_(self.scale).sub_(self.shift)


@final
class RowInput(nn.Module):
    """From the values of a table, batch x columns, to features.

    A number becomes its standard score, or 0 if it is missing; a category becomes one feature per code. Columns that
    were incomplete in training add a flag each for a missing value, NaN. Features are float32, computed in float64.
    `num_codes` has None for a column of numbers; `flags` are the indices of the columns with a flag.

    Example:
        >>> layer = RowInput((40.0, 0.0), (10.0, 1.0), num_codes=(None, 2), flags=(0,))
        >>> layer(torch.tensor([[60.0, 1.0], [torch.nan, torch.nan]]))
        tensor([[2., 0., 1., 0.],
                [0., 0., 0., 1.]])
    """

    source: Tensor
    is_code: Tensor
    is_flag: Tensor
    centre: Tensor
    scale: Tensor

    def __init__(
        self, means: Sequence[float], stds: Sequence[float], *, num_codes: Sequence[int | None], flags: Sequence[int]
    ) -> None:
        super().__init__()
        # One entry per feature: its column, its kind, and the centre, which is the code of a category's feature.
        features = [
            (column, count is not None, False, float(centre), stds[column])
            for column, count in enumerate(num_codes)
            for centre in ([means[column]] if count is None else range(count))
        ]
        features += [(column, False, True, 0.0, 1.0) for column in flags]
        source, is_code, is_flag, centre, scale = zip(*features, strict=True) if features else ((),) * 5
        self.register_buffer("source", torch.tensor(source, dtype=torch.int64))
        self.register_buffer("is_code", torch.tensor(is_code, dtype=torch.bool))
        self.register_buffer("is_flag", torch.tensor(is_flag, dtype=torch.bool))
        self.register_buffer("centre", torch.tensor(centre, dtype=torch.float64))
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float64))

    def forward(self, values: Tensor) -> Tensor:
        """Returns the features of each row."""
        values = values[:, self.source].double()
        missing = values.isnan()
        scores = torch.where(missing, 0.0, (values - self.centre) / self.scale)
        codes = (values == self.centre).double()
        features = torch.where(self.is_flag, missing.double(), torch.where(self.is_code, codes, scores))
        return features.float()  # z-scores need fewer digits than the values they are made of
