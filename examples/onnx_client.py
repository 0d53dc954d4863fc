"""Runs an exported model on images with only onnxruntime, NumPy and Pillow: neither torch nor onepeak.

onepeak export out/try/model --onnx out/try/grades.onnx          (own_images.py trains the model)
python examples/onnx_client.py out/try/grades.onnx out/try/photos/mild/0.png out/try/photos/severe/0.png
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image, ImageOps

EIGHT_BITS = {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr"}


def decoded(image: Image.Image) -> Image.Image:
    """Upright 8-bit RGB as in onepeak, with transparent pixels on white."""
    if image.mode not in EIGHT_BITS:  # onepeak scales 16 bits, Pillow would clip them
        raise ValueError(f"must be 8-bit grey or RGB, got pixels of mode {image.mode}: convert the image first")
    image = ImageOps.exif_transpose(image)
    if image.has_transparency_data:
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
    return image.convert("RGB")


def resized(image: Image.Image, recipe: dict) -> np.ndarray:
    """The pixels at the size used in training: both sides scaled by one factor, in one resampling."""
    factor = recipe["scale"]
    if recipe["short_side"] is not None:
        to_side = recipe["short_side"] / min(image.size)
        factor *= max(1, to_side) if recipe["only_enlarge"] else to_side
    width, height = (max(1, int(side * factor + 0.5 + 1e-6)) for side in image.size)
    return np.asarray(image.resize((width, height), Image.Resampling.BILINEAR))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("model", type=Path, help="a file written by onepeak export --onnx")
parser.add_argument("images", nargs="+")
given = parser.parse_args()
if not given.model.is_file():
    parser.error(f"there is no file {given.model}")

session = onnxruntime.InferenceSession(given.model, providers=["CPUExecutionProvider"])
about = {name: json.loads(text) for name, text in session.get_modelmeta().custom_metadata_map.items()}
names = [output.name for output in session.get_outputs()]
failed = 0
for path in given.images:
    try:
        with Image.open(path) as image:
            pixels = resized(decoded(image), about["preprocessing"]["resize"])
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:  # Pillow's errors for bad files
        print(f"{path}: cannot be read: {error}", file=sys.stderr)
        failed += 1
        continue
    answers = dict(zip(names, session.run(names, {"pictures": pixels[None]}), strict=True))
    label = answers["label"][0]
    said = f"{path}: {about['classes'][label]}, probability {np.exp(answers['log_probs'][0, label]):.3f}"
    if "interval" in answers:  # the model was calibrated
        lower, upper = (about["classes"][end] for end in answers["interval"][0])
        said += f", from {lower} to {upper} in {1 - about['alpha']:.0%} of cases"
    print(said)
if failed:
    sys.exit(f"{failed} of {len(given.images)} images failed")
