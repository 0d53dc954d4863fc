"""A model as one module, from raw inputs to the outputs of `predict`."""

from typing import final

import torch
from torch import Tensor, nn

from onepeak.data.images.batches import normalise
from onepeak.metrics.functional.side_order_index import side_order_index
from onepeak.serving.model import Model
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.training.table import TableEncoder


@final
class ServedNetwork(nn.Module):
    """Input preparation, network, posterior, calibration and decision in one module, ready for `torch.export`.

    Args:
        model: A trained model.
        posterior_options: How to read its posteriors.
        size: Height and width of the images; any size if left out.

    Example:
        >>> import torch
        >>> from onepeak.data.images.resize import Resize
        >>> from onepeak.methods.catalog import method
        >>> from onepeak.networks import NetworkSettings, build_network
        >>> from onepeak.training.model_files import ModelDescription
        >>> settings = NetworkSettings(backbone="small")
        >>> description = ModelDescription(
        ...     classes=("low", "middle", "high"),
        ...     method="elb",
        ...     variant="corrected",
        ...     method_settings={},
        ...     network=settings,
        ...     resize=Resize(short_side=32),
        ...     table=None,
        ... )
        >>> network = build_network(method("elb", num_classes=3), settings)
        >>> served = ServedNetwork(Model(description, network, torch.device("cpu")), PosteriorOptions(decide="median"))
        >>> log_probs, label, soi = served(torch.zeros(2, 48, 32, 3, dtype=torch.uint8))
        >>> served.outputs, log_probs.shape
        (('log_probs', 'label', 'soi'), torch.Size([2, 3]))
    """

    def __init__(
        self, model: Model, posterior_options: PosteriorOptions, *, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__()
        table = model.description.table
        self.inputs = ImageInput(size) if table is None else RowInput(table)
        self.network = model.network
        self.posterior_options = posterior_options
        self.calibration = model.description.calibration

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs of `forward`."""
        has_intervals = self.posterior_options.used_alpha(self.calibration) is not None
        return ("log_probs", "label", "soi", *(("interval",) if has_intervals else ()))

    def forward(self, inputs: Tensor) -> tuple[Tensor, ...]:
        """Returns posteriors, labels, side order index and, if the model has them, intervals; as in `Prediction`."""
        outputs = self.network(self.inputs(inputs))
        method = self.network.method
        read = self.posterior_options.read(
            method.log_probs(outputs).float(), method.predict(outputs).long(), self.calibration
        )
        answers = (read.log_probs, read.labels, side_order_index(read.log_probs, read.labels))
        return answers if read.intervals is None else (*answers, read.intervals)


MOST_DEVIATIONS = 1000
"""How many deviations a column's mean may lie from 0: beyond that, float32 leaves a z-score fewer than 4 digits."""


@final
class ImageInput(nn.Module):
    """Turns pixels, uint8 batch x height x width x 3, into the network's batch x 3 x height x width.

    Args:
        size: Height and width of all images; any size if left out.

    Example:
        >>> ImageInput()(torch.full((1, 2, 4, 3), 255, dtype=torch.uint8)).shape
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

    def forward(self, images: Tensor) -> Tensor:
        """Moves the channels first and scales to -1 to 1."""
        return normalise(images.permute(0, 3, 1, 2))


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
