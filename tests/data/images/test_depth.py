import numpy as np
import pytest
from PIL import Image

from onepeak.data.images.decode import depth_notes

COLOURS = b"P6 2 2 65535\n"


@pytest.fixture
def files(tmp_path):
    """Writes images of one value each; gives their paths."""

    def write(values, dtype=np.uint16):
        for number, value in enumerate(values):
            Image.fromarray(np.full((4, 4), value, dtype)).save(tmp_path / f"{number:02}.png")
        return [tmp_path / f"{number:02}.png" for number in range(len(values))]

    return write


@pytest.mark.parametrize(
    ("values", "highest", "which"),
    [
        ([4095, 100, 3871], "4,095", "3 16-bit images checked,"),
        ([1000] * 40, "1,000", "16 16-bit images checked,"),  # no more are read
        ([60_000, 3600, 100, 0], "3,600", "2 16-bit images checked (01.png, 02.png),"),
        ([60_000, *[10] * 5], "10", "5 16-bit images checked (01.png, 02.png, 03.png and 2 more),"),
    ],
)
def test_twelve_bits_in_files_of_sixteen_are_told_once_with_what_to_do(files, values, highest, which):
    (note,) = depth_notes(files(values), None)
    assert note.startswith(f"no value above {highest} of 65,535 in {which}")
    assert note.endswith("if they hold 12 bits, train with `bits` 12 (--bits 12)")


@pytest.mark.parametrize(("values", "dtype"), [([4096], np.uint16), ([0, 0], np.uint16), ([10, 20], np.uint8)])
def test_nothing_is_said_of_others_or_where_somebody_has_said_it(files, values, dtype):
    assert depth_notes(files(values, dtype), None) == depth_notes([], None) == ()
    assert depth_notes(files([1000, 2000]), 12) == ()
    assert depth_notes(files([1], np.uint8), 12) == ("`bits` 12 has no effect: none of 1 image checked has 16 bits",)


def test_images_in_memory_are_looked_at_too_and_called_as_is_said(files):
    paths = files([1000, 2000])
    assert depth_notes([path.read_bytes() for path in paths], None) == depth_notes(paths, None) != ()
    (note,) = depth_notes([path.read_bytes() for path in files([60_000, 20])], None, names=["a.tif", "b.tif"])
    assert "in 1 16-bit image checked (b.tif), which" in note


def test_who_asks_a_model_is_told_what_the_answers_are_worth(files):
    (note,) = depth_notes(files([1000]), None, asked=True)
    assert "predictions mean little unless the model was trained on images as dark. If they hold 12 bits" in note
    assert note.endswith("trained with `bits` 12 (onepeak train --bits 12)")


def test_dark_colours_are_reported_with_the_others_and_what_cannot_be_read_is_passed_over(files, tmp_path):
    (tmp_path / "dark.ppm").write_bytes(COLOURS + np.full(12, 4095, ">u2").tobytes())
    items = files([3000, 60_000, 2000, 1000])
    items[2].unlink()
    items[3].write_bytes(b"no image")
    (note,) = depth_notes([*items, tmp_path / "dark.ppm"], None)
    assert note.startswith("no value above 4,080 of 65,535 in 2 16-bit images checked (00.png, dark.ppm), which")
    assert depth_notes([COLOURS + np.full(12, 5000, ">u2").tobytes()], None) == ()
