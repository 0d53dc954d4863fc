"""Exports a trained model as one ONNX file, for programs without Python or torch."""

import copy
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.check import check_integer
from onepeak._core.files import expanded, link_or_copy, write_in_one_step
from onepeak._core.imports import require
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError, first_line
from onepeak.metrics.functional.side_order_index import side_order_index
from onepeak.posterior.predictions import Predictions
from onepeak.serving.model import Model
from onepeak.serving.onnx.graph import ExportError, ServedNetwork, ServedTexts, onnx_bytes, row_dtype
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.training.model_files import ModelDescription
from onepeak.training.run import versions
from onepeak.training.table_encoder import TableEncoder


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
        alpha: The share of samples whose interval may miss the true label, as in `Model.predict`.
        decide: How labels follow from the posteriors, as there.
        cost: What each mistake costs, as there.
        project: Whether to return the nearest posteriors that have one peak.
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
    _check_path(path, force)
    for module in ("onnx", "onnxscript", "onnxruntime"):  # fail before minutes are spent
        require(module, extra="export", purpose="An ONNX file")
    cpu = torch.device("cpu")
    here = (
        model
        if model.device == cpu
        else Model(model.description, copy.deepcopy(model.network), cpu, familiarity=model.familiarity)
    )
    network, table = ServedNetwork(here, posterior_options, size=size), model.description.table
    served = ServedTexts(network, table) if table is not None and table.texts is not None else network
    content = onnx_bytes(served, metadata(here, posterior_options, served.outputs, size=size))
    session = open_session(content)
    check_same_answers(session, here, posterior_options, size=size, served=served)
    write_in_one_step(path, lambda part: part.write_bytes(content))
    if isinstance(served, ServedTexts):
        _write_tokenizer(served.table, path)
    return OnnxFile(
        path=path,
        num_bytes=len(content),
        inputs={each.name: _in_words(each) for each in session.get_inputs()},
        outputs={each.name: _in_words(each) for each in session.get_outputs()},
        notes=posterior_options.notes(model.description.calibration),
    )


def _write_tokenizer(table: TableEncoder, path: Path) -> None:
    """Puts the tokenizer of texts beside the file."""
    assert table.texts is not None
    assert table.texts.encoding is not None
    tokenizer = Path(table.texts.encoding.folder) / "tokenizer.json"
    if tokenizer.is_file():
        link_or_copy(tokenizer, path.with_suffix(".tokenizer.json"))


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


def _check_path(path: Path, force: bool) -> None:
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
    "distance": "How far the image lies from those of the training in the network's features; do not rely on "
    "predictions beyond 1, which one in 20 usual images reaches.",
}


def metadata(
    model: Model, posterior_options: PosteriorOptions, outputs: tuple[str, ...], *, size: tuple[int, int] | None = None
) -> dict[str, str]:
    """Returns the file's `metadata_props`."""
    about = model.description
    calibration = about.calibration
    own_labels = posterior_options.keeps_labels(calibration)
    entries = {
        "classes": about.classes,
        "preprocessing": _of_images(about, about.resize, size)
        if about.resize is not None
        else _of_rows(about.table) | _of_texts(about.table),
        "outputs": {name: _OUTPUTS[name] for name in outputs},
        "method": {"name": about.method, "variant": about.variant, "settings": about.method_settings},
        "network": about.network.backbone,
        "temperature": 1.0 if calibration is None or posterior_options.raw else calibration.temperature,
        "projected": posterior_options.project,
        "decision": {
            "name": model.network.method.decision if own_labels else posterior_options.decide,
            "of": "the method's own outputs" if own_labels else "the posterior in log_probs",
            **({} if posterior_options.cost is None else {"costs": posterior_options.cost}),
        },
        "alpha": posterior_options.used_alpha(calibration),
        "notes": posterior_options.notes(calibration),
        "data": about.data,
        "version": versions()["onepeak"],
    }
    return {name: json.dumps(value) for name, value in entries.items()}


def _of_images(about: ModelDescription, resize: Resize, size: tuple[int, int] | None) -> dict[str, object]:
    only = {} if size is None else {"size": {"height": size[0], "width": size[1]}}
    scaled = "the whole range" if about.bits is None else f"0 to {2**about.bits - 1}"
    mean, std = (
        0.5 if each is None else f"({', '.join(map(str, each))})" for each in (about.network.mean, about.network.std)
    )
    return {
        "input": "pictures: uint8, batch x height x width x 3, the colours red, green, blue",
        "decode": f"first frame or page, turned upright by its EXIF orientation, 8 bits per channel (16-bit images: "
        f"{scaled} is scaled), transparent pixels on white, no colour management",
        "resize": {**asdict(resize), "filter": "Pillow's BILINEAR, which widens its support when it shrinks"},
        "resize_in_words": _resize_in_words(resize),
        **only,
        "inside_the_file": f"(x / 255 - {mean}) / {std}",
    }


def _resize_in_words(resize: Resize) -> str:
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


def _of_rows(encoder: TableEncoder | None) -> dict[str, object]:
    assert encoder is not None  # a model without a resize is of a table
    dtype = str(row_dtype(encoder)).removeprefix("torch.")
    return {
        "input": f"rows: {dtype}, batch x columns; numbers as they are, a category as the position of its name in "
        "`categories`, from 0; missing values and unknown names NaN",
        "columns": encoder.columns,
        "categories": encoder.categories,
        "inside_the_file": "standard scores of numbers, a column for each category, flags for missing values",
    }


def _of_texts(encoder: TableEncoder | None) -> dict[str, object]:
    if encoder is None or encoder.texts is None:
        return {}
    return {
        "columns": encoder.plain_columns,
        "input": "input_ids and attention_mask: int64, batch x tokens, as the tokenizer beside the file makes them, "
        "with its special tokens and shorter texts filled up; rows, if there are further columns, as for a table",
        "text": encoder.texts.column,
        "inside_the_file": "the encoder, the mean of its tokens, and standard scores",
    }


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
_FAR = 0.02
"""Tolerance of distances: near a training image, the rounding of a cosine is magnified."""
_NEAR_TIES = 1
"""Samples whose label or interval may differ: rounding decides near ties, and runtimes round differently."""


def open_session(content: bytes) -> Any:
    """Opens the file in onnxruntime, on the CPU."""
    onnxruntime = require("onnxruntime", extra="export", purpose="Checking an ONNX file")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has its own exception types
        raise ExportError(f"The file was not kept: onnxruntime cannot open it: {first_line(error)}") from error


def check_same_answers(
    session: Any,
    model: Model,
    posterior_options: PosteriorOptions,
    *,
    size: tuple[int, int] | None = None,
    served: ServedNetwork | ServedTexts | None = None,
) -> None:
    """Compares file and model on random images, rows or texts."""
    wrong = {"label": 0, "interval": 0}
    for inputs, expected in _questions(model, posterior_options, size, served):
        answers = _run(session, *inputs)
        _check_posteriors(answers["log_probs"], expected.log_probs.numpy())
        own = side_order_index(torch.from_numpy(answers["log_probs"]), torch.from_numpy(answers["label"]))
        if not np.allclose(answers["soi"], own):
            raise ExportError("The file was not kept: its `soi` does not match its own `log_probs` and `label`.")
        if expected.distance is not None and not np.allclose(answers["distance"], expected.distance, atol=_FAR):
            raise ExportError("The file was not kept: its `distance` differs from the model's.")
        wrong["label"] += int((answers["label"] != expected.predicted_index.numpy()).sum())
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


def _run(session: Any, *inputs: npt.NDArray[np.generic]) -> dict[str, npt.NDArray[Any]]:
    names = [output.name for output in session.get_outputs()]
    try:
        given = {each.name: values for each, values in zip(session.get_inputs(), inputs, strict=True)}
        answers = session.run(names, given)
    except Exception as error:
        shape = " x ".join(map(str, inputs[0].shape))
        raise ExportError(
            f"The file was not kept: onnxruntime cannot run it on {inputs[0].dtype} {shape}: {first_line(error)}"
        ) from error
    return dict(zip(names, answers, strict=True))


def _questions(
    model: Model,
    posterior_options: PosteriorOptions,
    fixed: tuple[int, int] | None,
    served: ServedNetwork | ServedTexts | None,
) -> Iterator[tuple[tuple[npt.NDArray[np.generic], ...], Predictions]]:
    """Yields inputs as the file takes them, with the model's predictions."""
    rng = np.random.default_rng(0)
    resize, encoder = model.description.resize, model.description.table
    for count, size in zip(BATCHES, _SIZES, strict=True):
        inputs: tuple[npt.NDArray[np.generic], ...]
        if encoder is not None:
            values = torch.from_numpy(_random_rows(rng, encoder, count)).to(row_dtype(encoder))
            inputs = (values.numpy(),)
            if isinstance(served, ServedTexts):
                tokens = _random_tokens(rng, served, count)
                plain = (values[:, : len(encoder.plain_columns)],) if encoder.plain_columns else ()
                inputs = tuple(each.numpy() for each in (*tokens, *plain))
                with torch.inference_mode():
                    values = served.rows(*tokens, *plain)
            rows = FeatureRows(
                columns=encoder.columns, values=values.double().numpy(), categories=dict(encoder.categories)
            )
            raw = model.row_answers(rows)
        else:
            assert resize is not None
            images = _random_images(rng, count, *(fixed or resize.size_of(*size)))
            inputs, raw = (images,), model.answers(list(images))
        yield inputs, model.read(raw, posterior_options)


def _random_tokens(rng: np.random.Generator, served: ServedTexts, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens of texts of different lengths, and their mask."""
    size = int(served.encoder.model.config.vocab_size)  # type: ignore[union-attr, arg-type]
    lengths = rng.integers(3, 10, count)
    mask = torch.from_numpy((np.arange(lengths.max()) < lengths[:, None]).astype(np.int64))
    return torch.from_numpy(rng.integers(0, size, mask.shape)), mask


def _random_images(rng: np.random.Generator, count: int, height: int, width: int) -> npt.NDArray[np.uint8]:
    """Noise around a different colour in each image, so that the labels vary."""
    colours = rng.uniform(0, 255, (count, 1, 1, 3))
    noise = rng.normal(0, 40, (count, height, width, 3))
    return (colours + noise).clip(0, 255).astype(np.uint8)


def _random_rows(rng: np.random.Generator, encoder: TableEncoder, count: int) -> npt.NDArray[np.float64]:
    """Rows distributed like the training part, with a tenth of the values missing."""
    values = rng.normal(encoder.means, encoder.stds, (count, len(encoder.columns)))
    for column, name in enumerate(encoder.columns):
        if name in encoder.categories:
            values[:, column] = rng.integers(0, max(1, len(encoder.categories[name])), count)
    values[rng.random(values.shape) < 0.1] = np.nan
    return values
