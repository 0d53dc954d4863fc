"""A model as one module, from raw inputs to the outputs of `predict`, and its translation to an ONNX file."""

import logging
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from onepeak._core.imports import require
from onepeak.data.texts import known_encoder
from onepeak.errors import OnepeakError
from onepeak.metrics.functional.side_order_index import side_order_index
from onepeak.networks.inputs import ImageInput
from onepeak.posterior.isotonic import NO_PROBABILITY, add_in_log, scan
from onepeak.serving.model import Model
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.training.table_encoder import TableEncoder

OPSET = 18


class ExportError(OnepeakError):
    """A model could not be exported, or the file disagrees with the model."""


MOST_DEVIATIONS = 1000
"""How many deviations a column's mean may lie from 0: beyond that, float32 leaves a z-score fewer than 4 digits."""


@final
class ServedNetwork(nn.Module):
    """Input layer, network, posterior, calibration and decision in one module, ready for `torch.export`."""

    def __init__(
        self, model: Model, posterior_options: PosteriorOptions, *, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__()
        self.table, self.size = model.description.table, size
        self.row_input = None if self.table is None else self.table.layer
        self.image_input = ImageInput(model.description.network.mean, model.description.network.std)
        self.network = model.network
        self.posterior_options = posterior_options
        self.calibration = model.description.calibration
        self.familiarity = model.familiarity

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """The inputs by name, and the leading axes of each that may have any length."""
        if self.table is not None:
            return {"rows": ("batch",)}
        return {"pictures": ("batch", "height", "width") if self.size is None else ("batch",)}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs of `forward`."""
        has_intervals = self.posterior_options.used_alpha(self.calibration) is not None
        distance = () if self.familiarity is None else ("distance",)
        return ("log_probs", "label", "soi", *(("interval",) if has_intervals else ()), *distance)

    def example(self) -> tuple[Tensor, ...]:
        """Returns inputs: only shapes matter, and lengths 0 and 1 or equal ones would be taken as fixed."""
        if self.table is None:
            return (torch.zeros(2, *(self.size or (224, 256)), 3, dtype=torch.uint8),)
        return (torch.zeros(3, len(self.table.columns), dtype=row_dtype(self.table)),)

    def forward(self, inputs: Tensor) -> tuple[Tensor, ...]:
        """Returns posteriors, labels, side order index and, if the model has them, intervals; as in `Prediction`."""
        rows = self.row_input
        given = self.image_input(inputs.permute(0, 3, 1, 2)) if rows is None else rows(inputs)
        (outputs, features), method = self.network.with_features(given), self.network.method
        read = self.posterior_options.read(
            method.log_probs(outputs).float(), method.predict(outputs).long(), self.calibration
        )
        answers = [read.log_probs, read.labels, side_order_index(read.log_probs, read.labels)]
        if read.intervals is not None:
            answers.append(read.intervals)
        if self.familiarity is not None:
            answers.append(self.familiarity.distance(self.familiarity.seen(given, features)))
        return tuple(answers)


@final
class ServedTexts(nn.Module):
    """The encoder of texts in front of a served network: from tokens, and further columns, to its outputs."""

    def __init__(self, served: ServedNetwork, table: TableEncoder) -> None:
        super().__init__()
        assert table.texts is not None
        assert table.texts.encoding is not None
        self.served, self.outputs, self.table = served, served.outputs, table
        self.encoder = known_encoder(table.texts.encoding).module()

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """The inputs by name, and the leading axes of each that may have any length."""
        tokens = {"input_ids": ("batch", "tokens"), "attention_mask": ("batch", "tokens")}
        return tokens | ({"rows": ("batch",)} if self.table.plain_columns else {})

    def example(self) -> tuple[Tensor, ...]:
        """Returns inputs of three texts."""
        tokens, mask = torch.ones(2, 3, 7, dtype=torch.int64).unbind()
        mask = mask.clone().tril(4)  # a mask that hides nothing would be left out of the graph
        rows = torch.zeros(3, len(self.table.plain_columns), dtype=row_dtype(self.table))
        return (tokens, mask, *((rows,) if self.table.plain_columns else ()))

    def rows(self, input_ids: Tensor, attention_mask: Tensor, rows: Tensor | None = None) -> Tensor:
        """Returns the rows that the network on top reads."""
        features = self.encoder(input_ids, attention_mask)
        return features if rows is None else torch.cat([rows, features.to(rows.dtype)], dim=1)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, rows: Tensor | None = None) -> tuple[Tensor, ...]:
        """Returns what `ServedNetwork` returns."""
        answers: tuple[Tensor, ...] = self.served(self.rows(input_ids, attention_mask, rows))
        return answers


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


def onnx_bytes(served: ServedNetwork | ServedTexts, properties: dict[str, str]) -> bytes:
    """Translates a network for batches and images of any size, or for the fixed size of `served`."""
    onnx = require("onnx", extra="export", purpose="An ONNX file")
    require("onnxscript", extra="export", purpose="An ONNX file")
    try:
        with _quiet():
            graph = _translated(served)
        onnx.helper.set_model_props(graph, properties)
        content: bytes = graph.SerializeToString()
    except Exception as error:  # torch.export, torch.onnx and protobuf raise many types of their own
        raise ExportError(f"This model cannot be written as ONNX: {_reason(error)}") from error
    return content


def _translated(served: ServedNetwork | ServedTexts) -> Any:
    """Decomposes first: `torch.onnx.export` alone writes some operators with too few digits."""
    passes = require("onnx_ir.passes.common", extra="export", purpose="An ONNX file")
    axes = {name: dict(enumerate(each)) for name, each in served.axes.items()}
    any_size = tuple(dict.fromkeys(each, torch.export.Dim.DYNAMIC) for each in axes.values())
    program = torch.export.export(served.eval(), served.example(), dynamic_shapes=any_size, strict=False)
    translated = torch.onnx.export(
        program.run_decompositions(exact_operators()),
        (),
        dynamo=True,
        input_names=list(axes),
        output_names=list(served.outputs),
        dynamic_shapes=axes,
        opset_version=OPSET,
        verbose=False,
    )
    assert translated is not None  # only the exporter with dynamo=False returns None
    passes.ClearMetadataAndDocStringPass()(translated.model)  # they hold source paths of this machine
    translated.model.producer_name = "onepeak"
    return translated.model_proto


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the exporter's developer messages on versions, decompositions and renamed values."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(action="ignore"), torch.no_grad():
            yield
    finally:
        logger.setLevel(level)


def _reason(error: BaseException) -> str:
    """Returns the first line of the innermost error; the exporter's own summary fills a screen."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}"


def exact_operators() -> dict[Any, Callable[..., Any]]:
    """Returns replacements for torch operators, for `torch.export.ExportedProgram.run_decompositions`.

    Left to the exporter, `expm1` and `log1p` would lose small numbers to rounding, `log_sigmoid`, `logaddexp` and
    `logcumsumexp` would overflow in the tails, and the others could not be exported at all.
    """
    aten = torch.ops.aten
    return {
        aten.cummax.default: partial(_running, combine=torch.maximum),
        aten.cummin.default: partial(_running, combine=torch.minimum),
        aten.expm1.default: expm1,
        aten.lgamma.default: lgamma,
        aten.log1p.default: log1p,
        aten.log_sigmoid.default: log_sigmoid,
        # the second output is only for gradients
        aten.log_sigmoid_forward.default: lambda x: (log_sigmoid(x), torch.zeros_like(x)),
        aten.logaddexp.default: logaddexp,
        aten.logcumsumexp.default: logcumsumexp,
        aten.searchsorted.Tensor: searchsorted,
        aten.special_erfcx.default: erfcx,
    }


def expm1(x: Tensor) -> Tensor:
    r""":math:`e^x - 1 = \tanh(x / 2) (e^x + 1)`, where nothing cancels."""
    return (x / 2).tanh() * (x.exp() + 1)


def log1p(x: Tensor) -> Tensor:
    r""":math:`\log(1 + x)`: the logarithm of the rounded sum, times how much of x the rounding left (Kahan)."""
    rounded = 1 + x
    left = rounded - 1
    nothing_left = left == 0
    return torch.where(nothing_left, x, rounded.log() * (x / torch.where(nothing_left, 1, left)))


def log_sigmoid(x: Tensor) -> Tensor:
    """The logarithm of the logistic function, which is x far below zero."""
    return x.clamp(max=0) - log1p((-x.abs()).exp())


def logaddexp(first: Tensor, second: Tensor) -> Tensor:
    """log(exp(first) + exp(second)), minus infinity where both are."""
    return _infinite_again(add_in_log(_finite(first), _finite(second)))


def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """The logarithm of cumulative sums of exponentials; small first terms survive large later ones."""
    return _infinite_again(scan(_finite(x).movedim(dim, -1), add_in_log)).movedim(-1, dim)


def searchsorted(
    rows: Tensor,
    values: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Returns where values would be inserted in sorted rows, by counting the smaller entries in O(row x values)."""
    if sorter is not None:
        raise NotImplementedError("a sorter")
    before = torch.le if right or side == "right" else torch.lt
    places = before(rows.unsqueeze(-2), values.unsqueeze(-1)).sum(dim=-1)
    return places.to(torch.int32) if out_int32 else places


def lgamma(x: Tensor) -> Tensor:
    r"""The logarithm of the gamma function for x > 0: Stirling's series at x + 8, then recursion down."""
    shift = 8
    z = x + shift
    series = 1 / (12 * z) - 1 / (360 * z**3) + 1 / (1260 * z**5) - 1 / (1680 * z**7)
    skipped = sum((x + step).log() for step in range(shift))
    return (z - 0.5) * z.log() - z + math.log(2 * math.pi) / 2 + series - skipped


def erfcx(x: Tensor) -> Tensor:
    r""":math:`e^{x^2} \mathrm{erfc}(x) = \frac2{\sqrt\pi} \int_0^\infty e^{-t^2 - 2xt} dt` for x >= 0.

    Gauss-Legendre quadrature on steps of 1 / (1 + x), up to 20 steps, beyond which the rest is negligible; 13 digits.
    """
    nodes, weights = (torch.from_numpy(numbers) for numbers in np.polynomial.legendre.leggauss(40))
    wide = x.double()
    step = 1 / (1 + wide)
    t = step.unsqueeze(-1) * 10 * (nodes + 1)
    integral = step * 10 * (weights * (-t * (t + 2 * wide.unsqueeze(-1))).exp()).sum(dim=-1)
    return (2 / math.sqrt(math.pi) * integral).to(x.dtype)


def _running(x: Tensor, dim: int, combine: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Running extremes and their positions: the last position so far that holds the extreme."""
    x = x.movedim(dim, -1)
    values = scan(x, combine)
    found = scan(torch.where(x == values, torch.arange(x.shape[-1], device=x.device), 0), torch.maximum)
    return values.movedim(-1, dim), found.movedim(-1, dim)


def _finite(x: Tensor) -> Tensor:
    return x.clamp(min=NO_PROBABILITY)


def _infinite_again(x: Tensor) -> Tensor:
    return torch.where(x > NO_PROBABILITY / 2, x, -torch.inf)
