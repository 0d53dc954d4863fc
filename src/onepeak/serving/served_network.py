"""A model as one module, from raw inputs to the outputs of `predict`."""

from typing import final

from torch import Tensor, nn

from onepeak.metrics.functional.order import side_order_index
from onepeak.serving.input_layers import PictureInput, RowInput
from onepeak.serving.model import Model
from onepeak.serving.reading import Reading


@final
class ServedNetwork(nn.Module):
    """Input preparation, network, posterior, calibration and decision in one module, ready for `torch.export`.

    Args:
        model: A trained model.
        reading: How to read its posteriors.
        size: Height and width of the images; any size if left out.

    Example:
        >>> import torch
        >>> from onepeak.data.resize import Resize
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
        >>> served = ServedNetwork(Model(description, network, torch.device("cpu")), Reading(decide="median"))
        >>> log_probs, label, soi = served(torch.zeros(2, 48, 32, 3, dtype=torch.uint8))
        >>> served.outputs, log_probs.shape
        (('log_probs', 'label', 'soi'), torch.Size([2, 3]))
    """

    def __init__(self, model: Model, reading: Reading, *, size: tuple[int, int] | None = None) -> None:
        super().__init__()
        table = model.description.table
        self.inputs = PictureInput(size) if table is None else RowInput(table)
        self.network = model.network
        self.reading = reading
        self.calibration = model.description.calibration

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs of `forward`."""
        has_intervals = self.reading.used_alpha(self.calibration) is not None
        return ("log_probs", "label", "soi", *(("interval",) if has_intervals else ()))

    def forward(self, inputs: Tensor) -> tuple[Tensor, ...]:
        """Returns posteriors, labels, side order index and, if the model has them, intervals; as in `Prediction`."""
        outputs = self.network(self.inputs(inputs))
        method = self.network.method
        read = self.reading.read(method.log_probs(outputs).float(), method.predict(outputs).long(), self.calibration)
        answers = (read.log_probs, read.labels, side_order_index(read.log_probs, read.labels))
        return answers if read.intervals is None else (*answers, read.intervals)
