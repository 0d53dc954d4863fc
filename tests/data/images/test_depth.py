import numpy as np
import pytest
from PIL import Image

from onepeak.data.images.depth import depth_notes


@pytest.fixture
def files(tmp_path):
    """Writes images of one value each; gives their paths."""

    def write(values, dtype=np.uint16):
        for number, value in enumerate(values):
            Image.fromarray(np.full((4, 4), value, dtype)).save(tmp_path / f"{number:02}.png")
        return [tmp_path / f"{number:02}.png" for number in range(len(values))]

    return write


def test_twelve_bits_in_files_of_sixteen_are_told_once_with_what_to_do(files):
    (note,) = depth_notes(files([4095, 100, 3871]), None)
    assert note.startswith("no value above 4,095 of 65,535 in 3 16-bit images checked")
    assert note.endswith(
        "checked, which leaves few of 256 shades: if they hold 12 bits, train with `bits` 12 (--bits 12)"
    )


def test_nothing_is_said_where_somebody_has_said_it_or_there_is_no_image(files):
    assert depth_notes(files([1000, 2000]), 12) == ()
    assert depth_notes([], None) == ()


def test_bits_of_images_that_have_no_sixteen_are_told_to_do_nothing(files):
    (note,) = depth_notes(files([10, 20, 30], np.uint8), 12)
    assert note == "`bits` 12 has no effect: none of 3 images checked has 16 bits"


def test_images_that_are_no_files_are_looked_at_too(files):
    paths = files([1000, 2000])
    assert depth_notes([path.read_bytes() for path in paths], None) == depth_notes(paths, None) != ()


def test_no_more_than_some_are_read_whatever_their_number(files):
    (note,) = depth_notes(files([1000] * 40), None)
    assert "in 16 16-bit images checked" in note


def test_dark_ones_among_others_are_named(files):
    (note,) = depth_notes(files([60_000, 3600, 100, 0]), None)
    assert note.startswith("no value above 3,600 of 65,535 in 2 16-bit images checked (01.png, 02.png), which")
    (note,) = depth_notes(files([60_000, *[10] * 5]), None)
    assert "in 5 16-bit images checked (01.png, 02.png, 03.png and 2 more), which" in note


def test_images_are_called_as_is_said(files):
    (note,) = depth_notes([path.read_bytes() for path in files([60_000, 20])], None, names=["a.tif", "b.tif"])
    assert "in 1 16-bit image checked (b.tif), which" in note


def test_who_asks_a_model_is_told_what_the_answers_are_worth(files):
    (note,) = depth_notes(files([1000]), None, asked=True)
    assert (
        "predictions mean little unless the model was trained on images as dark. If they hold 12 bits, rescale" in note
    )
    assert note.endswith("trained with `bits` 12 (onepeak train --bits 12)")


def colours(value):
    return b"P6 2 2 65535\n" + np.full(12, value, ">u2").tobytes()


def test_dark_colours_are_reported_with_the_others(files, tmp_path):
    (tmp_path / "colours.ppm").write_bytes(colours(4095))
    (note,) = depth_notes([*files([3000, 60_000]), tmp_path / "colours.ppm"], None)
    assert note.startswith("no value above 4,080 of 65,535 in 2 16-bit images checked (00.png, colours.ppm), which")
    assert depth_notes([colours(5000)], None) == ()


@pytest.mark.parametrize(("values", "dtype"), [([4096], np.uint16), ([0, 0], np.uint16), ([10, 20], np.uint8)])
def test_nothing_is_said_of_others(files, values, dtype):
    assert depth_notes(files(values, dtype), None) == ()


def test_what_cannot_be_read_is_passed_over(files):
    items = files([1000, 2000, 3000])
    items[0].unlink()
    items[1].write_bytes(b"no image")
    (note,) = depth_notes(items, None)
    assert "3,000 of 65,535 in 1 16-bit image checked (02.png)" in note
