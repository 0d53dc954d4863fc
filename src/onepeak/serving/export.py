"""Exports a trained model as one ONNX file, for programs without Python or torch."""

import copy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from onepeak._check import check_integer
from onepeak._extras import require
from onepeak._home import expanded
from onepeak._one_step import write_in_one_step
from onepeak.errors import InputError
from onepeak.serving.model import Model
from onepeak.serving.onnx_check import check_same_answers, open_session
from onepeak.serving.onnx_graph import onnx_bytes
from onepeak.serving.onnx_metadata import metadata
from onepeak.serving.served_network import ServedNetwork


@dataclass(frozen=True, kw_only=True)
class OnnxFile:
    """The file that was written."""

    path: Path
    num_bytes: int
    inputs: dict[str, str]
    """Type and axes of each input, such as "uint8 batch x height x width x 3"."""
    outputs: dict[str, str]
    notes: tuple[str, ...]
    """What the user should know about the outputs."""


def export_onnx(
    model: Model,
    path: str | Path,
    *,
    alpha: float | None = None,
    decide: str | None = None,
    cost: object = None,
    project: bool = False,
    size: tuple[int, int] | None = None,
    force: bool = False,
) -> OnnxFile:
    """Writes the model with everything that `predict` does after decoding and resizing.

    The file takes `pictures` (uint8, batch x height x width x 3, any sizes) and normalises them itself; or `rows`
    (batch x columns, float32, or float64 where a column needs more digits) and standardises them itself. Decoding and
    resizing stay outside. The file's metadata describes them, and lists the classes and the options chosen here. The
    outputs are `log_probs`, `label`, `soi` and, if the model has intervals, `interval`.

    Before the file is put in place, onnxruntime must agree with the model on random samples: the same labels, and
    log-probabilities to 1e-4. Convolutional networks and plain transformers take images of any size. Windowed
    transformers (swin) need a `size`, because `torch.export` cannot trace them for any size.

    Args:
        model: From `onepeak.load`.
        path: The file to write; missing folders are created.
        alpha: The share of samples whose interval may miss the true label; by default 0.1, if the model allows it.
        decide: "mode", "median", "mean" or "cost" of the calibrated posterior; by default the method's own decision.
        cost: What each mistake costs, for the decision "cost", as in `Model.predict`.
        project: Whether to return the nearest posteriors that have one peak, as in `Model.predict`.
        size: Height and width of the input, if the file need not take any size: images must then be resized to it. A
            windowed transformer needs it.
        force: Whether to replace an existing file.

    Raises:
        InputError: The file exists or cannot be written, or the model has no calibration for `alpha`.
        ExportError: The network has no ONNX translation, or onnxruntime disagrees with the model.
    """
    reading = model.reading(alpha=alpha, decide=decide, cost=cost, project=project)
    _check_size(model, size)
    path = expanded(path)
    _check_place(path, force)
    for module in ("onnx", "onnxscript", "onnxruntime"):  # fail before minutes are spent
        require(module, extra="export", purpose="An ONNX file")
    cpu = torch.device("cpu")
    here = model if model.device == cpu else Model(model.description, copy.deepcopy(model.network), cpu)
    served = ServedNetwork(here, reading, size=size)
    content = onnx_bytes(served, metadata(here, reading, served.outputs, size=size))
    session = open_session(content)
    check_same_answers(session, here, reading, size=size)
    write_in_one_step(path, lambda part: part.write_bytes(content))
    return OnnxFile(
        path=path,
        num_bytes=len(content),
        inputs={each.name: _in_words(each) for each in session.get_inputs()},
        outputs={each.name: _in_words(each) for each in session.get_outputs()},
        notes=reading.notes(model.description.calibration),
    )


def _check_size(model: Model, size: tuple[int, int] | None) -> None:
    if size is not None and model.reads_tables:
        raise InputError("`size` (--size) must be left out for a model of a table, which reads no images.")
    for side in size or ():
        check_integer("size", side, minimum=1)
    if size is None and any(hasattr(module, "window_size") for module in model.network.modules()):
        raise InputError(
            f"`size` (--size) must be given for a network with windows such as {model.description.network.backbone}, "
            "which cannot be exported for any size: give the height and width of your images, as in --size 224x224."
        )


def _check_place(path: Path, force: bool) -> None:
    """Fails early on what would otherwise fail at the end."""
    if path.is_dir():
        raise InputError(f"The ONNX file must be a file to write, got the folder {path}.")
    if path.exists() and not force:
        raise InputError(
            f"The ONNX file must be a new one, got {path}, which exists: replace it with --force (force=True)."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise InputError(f"The ONNX file must be one that can be written, got {path}: {error.strerror}.") from None


def _in_words(value: Any) -> str:
    """Type and axes of an input or output of onnxruntime."""
    kind = str(value.type).removeprefix("tensor(").removesuffix(")")
    name = {"float": "float32", "double": "float64"}.get(kind, kind)
    return f"{name} {' x '.join(str(axis) for axis in value.shape)}"
