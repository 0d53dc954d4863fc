"""Makes biopsies.png: ten pictures of every grade, and below some pictures with their true posteriors.

Run it from anywhere: `python docs/pictures/biopsies.py`.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from onepeak.data.datasets.biopsies import IMAGES_PER_PATIENT, bayes_error, biopsies
from onepeak.data.manifest import ImageArrays, Manifest

ZOOM, GAP, MARGIN, EXAMPLES = 2, 4, 44, 10
INK, BAR, GIVEN = (40, 32, 48), (190, 180, 200), (112, 62, 140)


def main() -> None:
    """Draws the sheet beside this file."""
    data = biopsies()
    pixels = pixels_of(data)
    cell = ZOOM * pixels.shape[1] + GAP
    width, grades_height = MARGIN + EXAMPLES * cell, data.num_classes * cell
    sheet = Image.new("RGB", (width, grades_height + cell + 56), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=18)
    for grade, name in enumerate(data.classes):
        pen.text((8, grade * cell + cell // 2 - 12), name, fill=INK, font=font)
        # One picture a patient, so that no stain is shown twice.
        given = [i for i in np.nonzero(data.labels == grade)[0] if i % IMAGES_PER_PATIENT == 0][:EXAMPLES]
        for column, picture in enumerate(pixels[given]):
            sheet.paste(enlarged(picture), (MARGIN + column * cell, grade * cell))
    best = bayes_error(data)
    pen.text(
        (MARGIN, grades_height + 8),
        "True posteriors given the severity; dark: the grade that was given. "
        f"Over all {len(data):,} pictures no one can do better than MAE {best.mae:.2f}, accuracy {best.accuracy:.0%}.",
        fill=INK,
        font=ImageFont.load_default(size=15),
    )
    for pair in range(EXAMPLES // 2):
        item, left, top = 200 * pair, MARGIN + 2 * pair * cell, grades_height + 36
        sheet.paste(enlarged(pixels[item]), (left, top))
        sheet.paste(posterior(data, item, cell - GAP), (left + cell, top))
    sheet.quantize().save(Path(__file__).with_suffix(".png"), optimize=True)  # 256 colours: half of the bytes


def pixels_of(data: Manifest) -> npt.NDArray[np.uint8]:
    """The pictures, which are in memory."""
    assert isinstance(data.items, ImageArrays)
    return data.items.pixels


def enlarged(picture: npt.NDArray[np.uint8]) -> Image.Image:
    """The picture with each pixel as a square."""
    return Image.fromarray(picture.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1))


def posterior(data: Manifest, item: int, side: int) -> Image.Image:
    """The true posterior of one picture as bars."""
    assert data.true_log_probs is not None
    plot = Image.new("RGB", (side, side), "white")
    pen, font = ImageDraw.Draw(plot), ImageFont.load_default(size=10)
    step, floor = side / data.num_classes, side - 14
    for grade, log_prob in enumerate(data.true_log_probs[item]):
        left, height = grade * step, float(np.exp(log_prob)) * floor
        colour = GIVEN if grade == data.labels[item] else BAR
        pen.rectangle((left + 1, floor - height, left + step - 2, floor), fill=colour)
        pen.text((left + 2, floor + 1), data.classes[grade], fill=INK, font=font)
    return plot


if __name__ == "__main__":
    main()
