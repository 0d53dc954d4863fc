"""Checks that an exported file, run by onnxruntime, agrees with the model."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.imports import require
from onepeak.data.manifest import FeatureRows
from onepeak.errors import first_line
from onepeak.metrics.functional.side_order_index import side_order_index
from onepeak.serving.model import Model
from onepeak.serving.onnx.graph import ExportError
from onepeak.serving.onnx.network import row_dtype
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.prediction import Prediction
from onepeak.training.table import TableEncoder

TOLERANCE = 1e-4
"""Absolute and relative tolerance of log-probabilities."""
_WITHIN = 0.95
"""Share of a batch's log-probabilities that must be within the tolerance: a method that subtracts nearly equal levels
magnifies the rounding of its network, which differs between runtimes."""
_WORST = 1e-3
"""The largest allowed error of any probability."""
BATCHES = (1, 5, 10)
"""Batch sizes of the random samples; images have another size in each batch."""
_SIZES = ((128, 160), (192, 144), (160, 160))
"""Height and width of the images before the model's resizing."""
_NEAR_TIES = 1
"""Samples whose label or interval may differ: rounding decides near ties, and runtimes round differently."""


def open_session(content: bytes) -> Any:
    """Opens the file in onnxruntime, on the CPU.

    Raises:
        ExportError: The installed onnxruntime does not support the file.
    """
    onnxruntime = require("onnxruntime", extra="export", purpose="Checking an ONNX file")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has its own exception types
        raise ExportError(f"The file was not kept: onnxruntime cannot open it: {first_line(error)}") from error


def check_same_answers(
    session: Any, model: Model, posterior_options: PosteriorOptions, *, size: tuple[int, int] | None = None
) -> None:
    """Compares file and model on random images or rows.

    Args:
        session: The file in onnxruntime.
        model: The exported model, on the CPU.
        posterior_options: How its posteriors are read.
        size: Height and width of the images, if the file takes only one size.

    Raises:
        ExportError: The file does not run, or its outputs are not the model's.
    """
    wrong = {"label": 0, "interval": 0}
    for inputs, expected in _questions(model, posterior_options, size):
        answers = _run(session, inputs)
        _check_posteriors(answers["log_probs"], expected.log_probs.numpy())
        own = side_order_index(torch.from_numpy(answers["log_probs"]), torch.from_numpy(answers["label"]))
        if not np.allclose(answers["soi"], own):
            raise ExportError("The file was not kept: its `soi` does not match its own `log_probs` and `label`.")
        wrong["label"] += int((answers["label"] != expected.labels.numpy()).sum())
        if expected.intervals is not None:
            wrong["interval"] += int((answers["interval"] != expected.intervals.numpy()).any(axis=-1).sum())
    for name, count in wrong.items():
        if count > _NEAR_TIES:
            raise ExportError(
                f"The file was not kept: its `{name}` differs from the model's in {count} of {sum(BATCHES)} samples."
            )


def _check_posteriors(found: npt.NDArray[np.float32], expected: npt.NDArray[np.float32]) -> None:
    within = np.isclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE).mean()
    off = np.abs(np.exp(found) - np.exp(expected)).max()
    if not (within >= _WITHIN and off <= _WORST):  # written so that NaN fails
        raise ExportError(
            f"The file was not kept: {1 - within:.0%} of its log_probs differ from the model's by more than "
            f"{TOLERANCE:g}, probabilities by up to {off:.3g}."
        )


def _run(session: Any, inputs: npt.NDArray[np.generic]) -> dict[str, npt.NDArray[Any]]:
    names = [output.name for output in session.get_outputs()]
    try:
        answers = session.run(names, {session.get_inputs()[0].name: inputs})
    except Exception as error:
        shape = " x ".join(map(str, inputs.shape))
        raise ExportError(
            f"The file was not kept: onnxruntime cannot run it on {inputs.dtype} {shape}: {first_line(error)}"
        ) from error
    return dict(zip(names, answers, strict=True))


def _questions(
    model: Model, posterior_options: PosteriorOptions, fixed: tuple[int, int] | None
) -> Iterator[tuple[npt.NDArray[np.generic], Prediction]]:
    """Yields inputs as the file takes them, with the model's predictions."""
    rng = np.random.default_rng(0)
    resize, encoder = model.description.resize, model.description.table
    for count, size in zip(BATCHES, _SIZES, strict=True):
        if encoder is not None:
            values = torch.from_numpy(_random_rows(rng, encoder, count)).to(row_dtype(encoder)).numpy()
            rows = FeatureRows(
                columns=encoder.columns, values=values.astype(np.float64), categories=dict(encoder.categories)
            )
            inputs, answers = values, model.row_answers(rows)
        else:
            assert resize is not None
            inputs = _random_images(rng, count, *(fixed or resize.size_of(*size)))
            answers = model.answers(list(inputs))
        yield inputs, model.prediction(*answers, tuple(range(count)), posterior_options)


def _random_images(rng: np.random.Generator, count: int, height: int, width: int) -> npt.NDArray[np.uint8]:
    """Noise around a different colour in each image, so that the labels vary."""
    colours = rng.uniform(0, 255, (count, 1, 1, 3))
    noise = rng.normal(0, 40, (count, height, width, 3))
    return (colours + noise).clip(0, 255).astype(np.uint8)


def _random_rows(rng: np.random.Generator, encoder: TableEncoder, count: int) -> npt.NDArray[np.float64]:
    """Rows distributed like the training part, with a tenth of the values missing."""
    values = rng.normal(encoder.means, encoder.stds, (count, len(encoder.columns)))
    for place, name in enumerate(encoder.columns):
        if name in encoder.categories:
            values[:, place] = rng.integers(0, max(1, len(encoder.categories[name])), count)
    values[rng.random(values.shape) < 0.1] = np.nan
    return values
