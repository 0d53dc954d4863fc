"""Images as files bring them: long because every format and depth has a way to be read, and to be refused."""

import ast
import importlib
import io
import struct
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

import onepeak
from onepeak.data.images.decode import (
    MAX_PIXELS,
    UnreadableImageError,
    _strict_pillow,
    decode_image,
    highest_of_16_bits,
)
from onepeak.errors import MissingExtraError

SMOOTH = np.asarray(
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (5, 6, 3), np.uint8)).resize((24, 20), Image.BICUBIC)
)
WHOLE = [
    ("JPEG", {}),
    ("JPEG", {"progressive": True}),
    ("PNG", {}),
    ("TIFF", {}),
    ("TIFF", {"compression": "tiff_lzw"}),
    ("TIFF", {"compression": "tiff_adobe_deflate"}),
    ("TIFF", {"compression": "jpeg"}),
    ("BMP", {}),
    ("GIF", {}),
    ("PPM", {}),
    ("WEBP", {"lossless": True}),
]


def encoded(image, kind, **options):
    file = io.BytesIO()
    (Image.fromarray(image) if isinstance(image, np.ndarray) else image).save(file, kind, **options)
    return file.getvalue()


def decoded(data, **options):
    return np.asarray(decode_image(data, **options))


@pytest.mark.parametrize(("kind", "options"), WHOLE)
def test_a_whole_file_comes_back_and_every_cut_off_one_is_refused_or_whole(kind, options):
    data = encoded(SMOOTH, kind, **options)
    whole = decoded(data)
    lossy = kind in ("JPEG", "GIF") or "jpeg" in options.values()
    assert np.abs(whole.astype(int) - SMOOTH).mean() <= (12 if lossy else 0)
    refused = 0
    lengths = [*range(0, len(data) - 40, 3), *range(len(data) - 40, len(data))]
    for length in lengths:
        try:
            image = decoded(data[:length])
        except UnreadableImageError:
            refused += 1
        else:
            assert (image == whole).all(), f"{length} of {len(data)} bytes gave another image"
    assert refused > 0.9 * len(lengths)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"the file is empty \(0 bytes\)"),
        (b"path,label\na.png,3\n", r"not an image in a known format \(.*JPEG.*TIFF.*\)"),
        (encoded(SMOOTH, "JPEG")[:-20], "cut off or damaged: .*truncated"),
        (encoded(Image.new("I", (2, 2)), "TIFF"), "no agreed range of values; save it with 8 or 16 bits"),
        (encoded(Image.new("F", (2, 2)), "TIFF"), "no agreed range of values; save it with 8 or 16 bits"),
        (encoded(Image.new("LAB", (2, 2)), "TIFF"), "CIELAB colours are not supported; save it as RGB"),
    ],
)
def test_unreadable_files_say_why(data, message):
    with pytest.raises(UnreadableImageError, match=message):
        decode_image(data)


def test_a_cut_off_file_is_refused_even_where_pillow_was_told_to_accept_it(monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    with pytest.raises(UnreadableImageError, match="cut off or damaged"):
        decode_image(encoded(SMOOTH, "PNG")[:-200])
    assert ImageFile.LOAD_TRUNCATED_IMAGES, "the user's own switch is put back"


@pytest.mark.bad_input
@pytest.mark.parametrize("side", [10_000, 20_000])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(side):
    bomb = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    with pytest.raises(UnreadableImageError, match=f"{side**2} pixels exceed the limit of {MAX_PIXELS}"):
        decode_image(bomb + _chunk(b"IDAT", b"") + _chunk(b"IEND", b""))


def test_images_are_decoded_at_once_each_within_its_own_limit(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    data = encoded(SMOOTH, "PNG")
    with ThreadPoolExecutor(1) as other, _strict_pillow(MAX_PIXELS):  # as while a large image is decoded here
        assert other.submit(decoded, data, max_pixels=480).result(timeout=30).shape == (20, 24, 3)
        with pytest.raises(UnreadableImageError, match="480 pixels exceed the limit of 479: make the image smaller"):
            other.submit(decoded, data, max_pixels=479).result(timeout=30)
        assert Image.MAX_IMAGE_PIXELS == MAX_PIXELS
    assert Image.MAX_IMAGE_PIXELS == 10, "the user's own limit is put back"


def test_greyscale_becomes_three_equal_colours():
    grey = SMOOTH[..., 0]
    assert (decoded(encoded(grey, "PNG")) == grey[..., None]).all()


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bits_are_scaled_by_their_whole_range(kind):
    values = np.array([[0, 128, 129, 257, 32768, 65535]], np.uint16)
    assert decoded(encoded(values, kind))[0, :, 0].tolist() == [0, 0, 1, 1, 128, 255]
    assert decoded(b"P5 2 1 65535\n" + struct.pack(">HH", 65535, 257))[0, :, 1].tolist() == [255, 1]


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_twelve_bits_are_scaled_by_theirs_where_that_is_said(kind):
    values = encoded(np.array([[0, 8, 9, 2048, 4095]], np.uint16), kind)
    assert decoded(values, bits=12)[0, :, 0].tolist() == [0, 0, 1, 128, 255]
    assert (decoded(encoded(SMOOTH, kind), bits=12) == SMOOTH).all()


def test_a_tiff_that_says_it_holds_twelve_bits_is_scaled_by_them():
    values = b"".join(int(f"{dark:03x}{light:03x}", 16).to_bytes(3) for dark, light in [(0, 8), (9, 2048), (4095, 0)])
    tags = {256: 6, 257: 1, 258: 12, 259: 1, 262: 1, 273: 8, 277: 1, 278: 1, 279: len(values)}  # TIFF 6.0, section 4
    entries = b"".join(struct.pack("<HHII", number, 4, 1, value) for number, value in tags.items())
    head = struct.pack("<2sHI", b"II", 42, 8 + len(values) + len(values) % 2)
    file = head + values + bytes(len(values) % 2) + struct.pack("<H", len(tags)) + entries + bytes(4)
    for bits in (None, 12):
        assert decoded(file, bits=bits)[0, :, 0].tolist() == [0, 0, 1, 128, 255, 0]
    assert highest_of_16_bits(file) is None
    assert decoded(file, bits=16)[0, :, 0].tolist() == [0, 0, 0, 8, 16, 0]


def test_a_value_of_more_bits_than_was_said_is_refused():
    with pytest.raises(UnreadableImageError, match=r"^a value of 4,096 exceeds 4,095, the highest that `bits` 12"):
        decoded(encoded(np.array([[0, 4096]], np.uint16), "PNG"), bits=12)


def test_sixteen_bit_tiffs_that_count_down_from_white_are_turned_round():
    values = np.array([[0, 65535]], np.uint16)
    assert decoded(encoded(values, "TIFF", tiffinfo={262: 0}))[0, :, 0].tolist() == [255, 0]
    assert decoded(encoded(values // 16, "TIFF", tiffinfo={262: 0}), bits=12)[0, :, 0].tolist() == [255, 0]


@pytest.mark.parametrize(("mode", "colour"), [("RGBA", (200, 0, 0, 128)), ("LA", (200, 128))])
def test_transparent_pixels_lie_on_white(mode, colour):
    red, green, _ = decode_image(encoded(Image.new(mode, (1, 1), colour), "PNG")).getpixel((0, 0))
    assert red == pytest.approx(255 - 55 * 128 / 255, abs=1)
    assert green == (red if mode == "LA" else pytest.approx(127, abs=1))


def test_a_palette_gives_its_colours_and_its_transparent_entry_white():
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 40, 50, 60])
    image.putpixel((1, 0), 1)
    assert decoded(encoded(image, "PNG")).tolist() == [[[10, 20, 30], [40, 50, 60]]]
    assert decoded(encoded(image, "PNG", transparency=1)).tolist() == [[[10, 20, 30], [255, 255, 255]]]


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_becomes_rgb_and_is_not_inverted(kind):
    orange = Image.new("RGB", (16, 16), (250, 130, 10)).convert("CMYK")
    assert np.abs(decoded(encoded(orange, kind))[8, 8].astype(int) - (250, 130, 10)).max() <= 6


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_exif_orientation_is_applied(kind):
    for orientation in range(1, 9):
        # 16 x 8 with a bright upper left corner as it should be seen; stored as the orientation says
        seen = np.zeros((16, 32, 3), np.uint8)
        seen[:8, :8] = 255
        undo = {
            1: lambda a: a,
            2: np.fliplr,
            3: lambda a: np.rot90(a, 2),
            4: np.flipud,
            5: lambda a: a.transpose(1, 0, 2),
            6: np.rot90,
            7: lambda a: np.rot90(a, 2).transpose(1, 0, 2),
            8: lambda a: np.rot90(a, -1),
        }
        exif = Image.Exif()
        exif[0x0112] = orientation
        stored = np.ascontiguousarray(undo[orientation](seen))
        image = decoded(encoded(stored, kind, exif=exif))
        assert image.shape == seen.shape
        assert (image[2:6, 2:6] > 200).all()
        assert image[12:, 12:].max() < 50


def test_a_damaged_exif_block_does_not_hide_the_image():
    data = encoded(SMOOTH, "JPEG", exif=b"Exif\x00\x00II*\x00\xff\xff\xff\xff")
    assert decoded(data).shape == (20, 24, 3)


def test_the_first_page_of_several_is_taken():
    pages = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    for kind in ("TIFF", "GIF", "MPO"):
        data = encoded(pages[0], kind, save_all=True, append_images=pages[1:])
        assert np.abs(decoded(data).astype(int) - (255, 0, 0)).max() <= 2


def _chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


COLOURS_OF_16_BITS = {"RGB": 2, "RGBA": 6, "LA": 4}  # PNG's colour types


def png_of_16_bits(value, mode):
    """A image of two by two pixels, all of one value; Pillow does not write such ones."""
    rows = (b"\0" + value.to_bytes(2) * 2 * len(mode)) * 2
    header = bytes([0, 0, 0, 2, 0, 0, 0, 2, 16, COLOURS_OF_16_BITS[mode], 0, 0, 0])
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


@pytest.mark.parametrize("mode", COLOURS_OF_16_BITS)
def test_of_16_bit_colours_the_high_byte_is_read_and_fewer_bits_are_refused(mode):
    whole, dark = png_of_16_bits(65535, mode), png_of_16_bits(4095, mode)
    assert decoded(whole).max() == 255
    assert decoded(whole, bits=16).max() == 255
    assert highest_of_16_bits(whole) == 65025
    if mode == "RGB":  # the others are dark and transparent, on white
        assert decoded(dark).max() == 15
        assert highest_of_16_bits(dark) == 15 * 255
        assert highest_of_16_bits(png_of_16_bits(0, mode)) == 0
    with pytest.raises(UnreadableImageError, match=r"high byte .*, so `bits` 12 cannot apply: .* 4,095 to 255$"):
        decoded(dark, bits=12)


def ppm(value, white, kind):
    """Two by two pixels, all of one value, of `white` at most."""
    values = np.full(12, value)
    body = " ".join(map(str, values)).encode() if kind == "P3" else values.astype(">u2" if white > 255 else "u1")
    return f"{kind}\n2 2\n{white}\n".encode() + bytes(body)


@pytest.mark.parametrize("kind", ["P3", "P6"])
def test_colours_of_a_ppm_are_scaled_by_the_highest_value_that_it_allows(kind):
    dark = ppm(4095, 65535, kind)
    assert decoded(dark).max() == 16  # rounded, where a PNG's byte is cut off
    assert highest_of_16_bits(dark) == 16 * 255
    with pytest.raises(UnreadableImageError, match="only the high byte of 16-bit colours is read, so `bits` 12"):
        decoded(dark, bits=12)
    assert decoded(ppm(4095, 4095, kind)).max() == 255
    assert highest_of_16_bits(ppm(4095, 4095, kind)) == 65025
    assert highest_of_16_bits(ppm(100, 200, kind)) is None
    assert decoded(ppm(100, 200, kind), bits=12).max() == 128


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM"])
def test_the_highest_value_is_told_of_16_bit_images_alone(kind):
    assert highest_of_16_bits(encoded(np.array([[0, 4095]], np.uint16), kind)) == 4095
    assert highest_of_16_bits(encoded(SMOOTH, kind)) is None
    assert highest_of_16_bits(encoded(np.array([[0, 4095]], np.uint16), kind)[:16]) is None


def test_where_pillow_is_missing_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)  # as on a machine without the extra
    monkeypatch.delitem(sys.modules, "onepeak.data.images.decode")
    with pytest.raises(MissingExtraError, match=r"Reading images needs PIL: pip install 'onepeak\[data\]'"):
        importlib.import_module("onepeak.data.images.decode")


def test_no_other_file_imports_pillow_itself():
    package, found = Path(onepeak.__file__).parent, set()
    for path in package.rglob("*.py"):
        if "PIL" not in (source := path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(ast.parse(source)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] == "PIL" for name in names):
                found.add(path.relative_to(package).as_posix())
    assert found == {"data/images/decode.py"}
