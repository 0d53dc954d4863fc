"""Exports a trained model as one ONNX file, for programs without Python or torch."""

import copy
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from onepeak._core.check import check_integer
from onepeak._core.files import expanded, write_in_one_step
from onepeak._core.imports import require
from onepeak.data.images.resize import Resize
from onepeak.errors import InputError
from onepeak.serving.model import Model
from onepeak.serving.onnx.check import check_same_answers, open_session
from onepeak.serving.onnx.graph import onnx_bytes
from onepeak.serving.onnx.network import ServedNetwork, row_dtype
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.training.run import versions
from onepeak.training.table import TableEncoder


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

    The file takes `images` (uint8, batch x height x width x 3, any sizes) and normalises them itself; or `rows`
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
    posterior_options = model.posterior_options(alpha=alpha, decide=decide, cost=cost, project=project)
    _check_size(model, size)
    path = expanded(path)
    _check_place(path, force)
    for module in ("onnx", "onnxscript", "onnxruntime"):  # fail before minutes are spent
        require(module, extra="export", purpose="An ONNX file")
    cpu = torch.device("cpu")
    here = model if model.device == cpu else Model(model.description, copy.deepcopy(model.network), cpu)
    served = ServedNetwork(here, posterior_options, size=size)
    content = onnx_bytes(served, metadata(here, posterior_options, served.outputs, size=size))
    session = open_session(content)
    check_same_answers(session, here, posterior_options, size=size)
    write_in_one_step(path, lambda part: part.write_bytes(content))
    return OnnxFile(
        path=path,
        num_bytes=len(content),
        inputs={each.name: _in_words(each) for each in session.get_inputs()},
        outputs={each.name: _in_words(each) for each in session.get_outputs()},
        notes=posterior_options.notes(model.description.calibration),
    )


def _check_size(model: Model, size: tuple[int, int] | None) -> None:
    if size is not None and model.reads_tables:
        raise InputError("`size` must be left out for a model of a table, which reads no images.", argument="size")
    for side in size or ():
        check_integer("size", side, minimum=1)
    if size is None and any(hasattr(module, "window_size") for module in model.network.modules()):
        raise InputError(
            f"`size` must be given for a network with windows such as {model.description.network.backbone}, which "
            "cannot be exported for any size: give the height and width of your images, such as 224x224.",
            argument="size",
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


_OUTPUTS = {
    "log_probs": "The posterior: natural logarithms of the probabilities of the classes, in their order.",
    "label": "The class decided on: its position in `classes`, from 0.",
    "soi": "Side order index: the share of adjacent classes whose probability falls away from the label; 1 is best.",
    "interval": "Lowest and highest class of an interval that misses the true class in a share `alpha` of samples.",
}


def metadata(
    model: Model, posterior_options: PosteriorOptions, outputs: tuple[str, ...], *, size: tuple[int, int] | None = None
) -> dict[str, str]:
    """Returns the file's `metadata_props`.

    Args:
        model: The exported model.
        posterior_options: How its posteriors are read.
        outputs: The names of the file's outputs.
        size: Height and width of the images, if the file takes only one size.
    """
    about = model.description
    calibration = about.calibration
    entries = {
        "classes": about.classes,
        "preprocessing": _of_images(about.resize, about.bits, size)
        if about.resize is not None
        else _of_rows(_encoder(model)),
        "outputs": {name: _OUTPUTS[name] for name in outputs},
        "method": {"name": about.method, "variant": about.variant, "settings": about.method_settings},
        "network": about.network.backbone,
        "temperature": 1.0 if calibration is None or posterior_options.raw else calibration.temperature,
        "projected": posterior_options.project,
        "decision": {
            "name": posterior_options.decide or model.network.method.decision,
            "of": "the method's own outputs" if posterior_options.decide is None else "the posterior in log_probs",
            **({} if posterior_options.cost is None else {"costs": posterior_options.cost}),
        },
        "alpha": posterior_options.used_alpha(calibration),
        "notes": posterior_options.notes(calibration),
        "data": about.data,
        "version": versions()["onepeak"],
    }
    return {name: json.dumps(value) for name, value in entries.items()}


def _encoder(model: Model) -> TableEncoder:
    assert model.description.table is not None
    return model.description.table


def _of_images(resize: Resize, bits: int | None, size: tuple[int, int] | None) -> dict[str, object]:
    only = {} if size is None else {"size": {"height": size[0], "width": size[1]}}
    scaled = "the whole range" if bits is None else f"0 to {2**bits - 1}"
    return {
        "input": "images: uint8, batch x height x width x 3, the colours red, green, blue",
        "decode": f"first frame or page, turned upright by its EXIF orientation, 8 bits per channel (16-bit images: "
        f"{scaled} is scaled), transparent pixels on white, no colour management",
        "resize": {**asdict(resize), "filter": "Pillow's BILINEAR, which widens its support when it shrinks"},
        "resize_in_words": _in_words_onnx_metadata(resize),
        **only,
        "inside_the_file": "(x / 255 - 0.5) / 0.5",
    }


def _in_words_onnx_metadata(resize: Resize) -> str:
    if resize == Resize():
        return "Images keep their size; those of one batch have one size."
    factor = f"{resize.scale:g}"
    if resize.short_side is not None:
        ratio = f"{resize.short_side} / min(height, width)"
        ratio = f"max(1, {ratio})" if resize.only_enlarge else ratio
        factor = ratio if resize.scale == 1 else f"{ratio} * {factor}"
    return (
        f"Both sides are multiplied by {factor} and rounded, halves up, to at least 1 pixel; in one resampling. "
        "Images of one batch have one size."
    )


def _of_rows(encoder: TableEncoder) -> dict[str, object]:
    dtype = str(row_dtype(encoder)).removeprefix("torch.")
    return {
        "input": f"rows: {dtype}, batch x columns; numbers as they are, a category as the position of its name in "
        "`categories`, from 0; missing values and unknown names NaN",
        "columns": encoder.columns,
        "categories": encoder.categories,
        "inside_the_file": "standard scores of numbers, a column for each category, flags for missing values",
    }
