"""The metadata of an exported file, for users who have only the file: JSON texts by name."""

import json
from dataclasses import asdict

from onepeak.data.resize import Resize
from onepeak.serving.input_layers import row_dtype
from onepeak.serving.model import Model
from onepeak.serving.reading import Reading
from onepeak.training.run import versions
from onepeak.training.table import TableEncoder

_OUTPUTS = {
    "log_probs": "The posterior: natural logarithms of the probabilities of the classes, in their order.",
    "label": "The class decided on: its position in `classes`, from 0.",
    "soi": "Side order index: the share of adjacent classes whose probability falls away from the label; 1 is best.",
    "interval": "Lowest and highest class of an interval that misses the true class in a share `alpha` of samples.",
}


def metadata(
    model: Model, reading: Reading, outputs: tuple[str, ...], *, size: tuple[int, int] | None = None
) -> dict[str, str]:
    """Returns the file's `metadata_props`.

    Args:
        model: The exported model.
        reading: How its posteriors are read.
        outputs: The names of the file's outputs.
        size: Height and width of the images, if the file takes only one size.
    """
    about = model.description
    calibration = about.calibration
    entries = {
        "classes": about.classes,
        "preprocessing": _of_pictures(about.resize, about.bits, size)
        if about.resize is not None
        else _of_rows(_encoder(model)),
        "outputs": {name: _OUTPUTS[name] for name in outputs},
        "method": {"name": about.method, "variant": about.variant, "settings": about.method_settings},
        "network": about.network.backbone,
        "temperature": 1.0 if calibration is None or reading.raw else calibration.temperature,
        "projected": reading.project,
        "decision": {
            "name": reading.decide or model.network.method.decision,
            "of": "the method's own outputs" if reading.decide is None else "the posterior in log_probs",
            **({} if reading.cost is None else {"costs": reading.cost}),
        },
        "alpha": reading.used_alpha(calibration),
        "notes": reading.notes(calibration),
        "data": about.data,
        "version": versions()["onepeak"],
    }
    return {name: json.dumps(value) for name, value in entries.items()}


def _encoder(model: Model) -> TableEncoder:
    assert model.description.table is not None
    return model.description.table


def _of_pictures(resize: Resize, bits: int | None, size: tuple[int, int] | None) -> dict[str, object]:
    only = {} if size is None else {"size": {"height": size[0], "width": size[1]}}
    scaled = "the whole range" if bits is None else f"0 to {2**bits - 1}"
    return {
        "input": "pictures: uint8, batch x height x width x 3, the colours red, green, blue",
        "decode": f"first frame or page, turned upright by its EXIF orientation, 8 bits per channel (16-bit images: "
        f"{scaled} is scaled), transparent pixels on white, no colour management",
        "resize": {**asdict(resize), "filter": "Pillow's BILINEAR, which widens its support when it shrinks"},
        "resize_in_words": _in_words(resize),
        **only,
        "inside_the_file": "(x / 255 - 0.5) / 0.5",
    }


def _in_words(resize: Resize) -> str:
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
