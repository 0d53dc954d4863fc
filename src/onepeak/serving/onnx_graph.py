"""Translates a served network into the bytes of an ONNX file."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from onepeak._extras import require
from onepeak.errors import OnepeakError
from onepeak.serving.input_layers import PictureInput
from onepeak.serving.onnx_operators import exact_operators
from onepeak.serving.served_network import ServedNetwork

OPSET = 18


class ExportError(OnepeakError):
    """A model could not be exported, or the file disagrees with the model."""


def onnx_bytes(served: ServedNetwork, properties: dict[str, str]) -> bytes:
    """Translates a network for batches and images of any size, or for the fixed size of `served`.

    Args:
        served: The complete network, on the CPU.
        properties: The file's metadata.

    Raises:
        ExportError: A part of the network has no ONNX translation.
    """
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


def _translated(served: ServedNetwork) -> Any:
    """Decomposes first: `torch.onnx.export` alone writes some operators with too few digits."""
    passes = require("onnx_ir.passes.common", extra="export", purpose="An ONNX file")
    axes = dict(enumerate(served.inputs.axes))
    any_size = (dict.fromkeys(axes, torch.export.Dim.DYNAMIC),)
    program = torch.export.export(served.eval(), (_example(served),), dynamic_shapes=any_size, strict=False)
    translated = torch.onnx.export(
        program.run_decompositions(exact_operators()),
        (),
        dynamo=True,
        input_names=[served.inputs.name],
        output_names=list(served.outputs),
        dynamic_shapes={served.inputs.name: axes},
        opset_version=OPSET,
        verbose=False,
    )
    assert translated is not None  # only the exporter with dynamo=False returns None
    passes.ClearMetadataAndDocStringPass()(translated.model)  # they hold source paths of this machine
    translated.model.producer_name = "onepeak"
    return translated.model_proto


def _example(served: ServedNetwork) -> Tensor:
    """Only its shape matters. Lengths 0 and 1 would be taken as fixed, and equal lengths as the same axis."""
    if isinstance(served.inputs, PictureInput):
        return torch.zeros(2, *(served.inputs.size or (224, 256)), 3, dtype=torch.uint8)
    return torch.zeros(3, served.inputs.num_columns, dtype=served.inputs.dtype)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the exporter's developer messages on versions, decompositions and renamed values."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _reason(error: BaseException) -> str:
    """Returns the first line of the innermost error; the exporter's own summary fills a screen."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}"
