"""Decodes one image file to 8-bit RGB; refuses truncated files and decompression bombs, and notes unused bits.

Imports neither torch nor, at module level, NumPy, so that the decoding workers start fast.
"""

import functools
import importlib
import io
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from onepeak._core.imports import require
from onepeak._core.wording import counted, listed
from onepeak.data.images.dicom import SUFFIXES, first_frame, is_dicom, size_of_dicom
from onepeak.errors import InputError, MissingExtraError

require("PIL", extra="data", purpose="Reading images")  # a clearer error than that of the import below

from PIL import Image as Image  # noqa: E402 (all other files import it from here)
from PIL import ImageFile, ImageOps, UnidentifiedImageError  # noqa: E402

MAX_PIXELS = 89_478_485
"""Images with more pixels are treated as decompression bombs; Pillow warns above the same number."""

# Formats for which Pillow detects truncated files, with their plugins. Left out: JPEG 2000, whose truncated files pass
# as whole ones, and EPS, which would run another program.
_FORMATS = {
    "AVIF": "AvifImagePlugin",
    "BMP": "BmpImagePlugin",
    "GIF": "GifImagePlugin",
    "JPEG": "JpegImagePlugin",
    "PNG": "PngImagePlugin",
    "PPM": "PpmImagePlugin",
    "TIFF": "TiffImagePlugin",
    "WEBP": "WebPImagePlugin",
}
_MIN_IS_WHITE = 0  # TIFF 6.0, section 3: PhotometricInterpretation
_PHOTOMETRIC = 262
_BITS_PER_SAMPLE = 258
_ORIENTATION = 274
_ON_ITS_SIDE = (5, 6, 7, 8)
_SAMPLE = 16
"""How many images are checked for unused bits."""
_HIGHEST_OF_12_BITS = 4095
_pillow = threading.Lock()
_switched = ExitStack()
_decoding: list[int] = []
"""The pixel limits of all decodings in progress."""


class UnreadableImageError(InputError):
    """A file that cannot be decoded to a whole image; the message is the reason, without the file's name."""


class TooManyPixelsError(UnreadableImageError):
    """An image so large that it is treated as a decompression bomb."""


def decode_image(data: bytes, *, max_pixels: int = MAX_PIXELS, bits: int | None = None) -> Image.Image:
    """Decodes an image file to 8-bit RGB, upright; raises `UnreadableImageError` unless it is whole.

    - Only the first page or frame is read.
    - EXIF orientation is applied; a damaged EXIF block is ignored.
    - 16-bit greyscale is scaled by its full range (65535 becomes 255), by the range of `bits`, or by 12 bits in a TIFF
      that declares 12 (4095 becomes 255); never by the values in the image. 16-bit colours keep their high byte.
    - Transparent pixels are placed on white.
    - CMYK and YCCK are converted without colour management; embedded ICC profiles are ignored.
    - 32-bit and floating-point images have no agreed range of values and are refused.
    - DICOM: see `onepeak.data.images.dicom.first_frame`.

    Args:
        data: The bytes of the file.
        max_pixels: An image with more pixels than this is refused before it is decoded.
        bits: How many bits of 16-bit greyscale images are used, such as 12; by default what a TIFF declares, else 16.
            Pixels that exceed it are refused; below 16, so are 16-bit colours.
    """
    if not data:
        raise UnreadableImageError("the file is empty (0 bytes)")
    with _strict_pillow(max_pixels):
        try:
            if is_dicom(data):
                shades = first_frame(data, max_pixels=max_pixels)
                if isinstance(shades, int):
                    raise _too_many(shades, max_pixels)
                return Image.fromarray(shades).convert("RGB")
            image = Image.open(io.BytesIO(data), formats=known_formats())
            if image.width * image.height > max_pixels:
                raise _too_many(image.width * image.height, max_pixels)
            if bits is not None and bits < 16 and _is_16_bit_colour(image):
                raise UnreadableImageError(
                    f"only the high byte of 16-bit colours is read, so `bits` {bits} cannot apply: save it with 8 "
                    f"bits, mapping {2**bits - 1:,} to 255"
                )
            image.load()
            return upright_rgb(image, bits=bits)
        except (UnreadableImageError, MissingExtraError):
            raise
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            found = re.search(r"\d+", str(error))
            raise _too_many(found.group() if found else "too many", max_pixels) from None
        except UnidentifiedImageError:
            known = ", ".join([*known_formats(), "DICOM"])
            raise UnreadableImageError(f"not an image in a known format ({known})") from None
        except MemoryError:
            raise
        except NotImplementedError as error:  # of DICOM
            raise UnreadableImageError(str(error)) from error
        except Exception as error:  # decoders raise OSError, SyntaxError, struct.error, ... on damaged files
            raise UnreadableImageError(f"cut off or damaged: {error}") from error


def highest_of_16_bits(data: bytes) -> int | None:
    """Returns the highest value in a 16-bit image; None for unreadable files and for other images.

    A TIFF that declares 12 bits does not count as 16-bit. For 16-bit colours the value is an estimate from the high
    byte.
    """
    with _strict_pillow(MAX_PIXELS):
        try:
            image = Image.open(io.BytesIO(data), formats=known_formats())
            if image.width * image.height > MAX_PIXELS:
                return None
            if _is_16_bit_colour(image):
                return 255 * max(image.convert("RGB").tobytes())
            if not _has_16_bits(image, image) or _own_bits(image) < 16:
                return None
            import numpy as np

            return int(np.asarray(image).max())
        except MemoryError:
            raise
        except Exception:  # `decode_image` reports the reason
            return None


def num_pixels_of(data: bytes) -> int:
    """Returns how many pixels an image file has by its header, of its first page or frame; 0 if that is unreadable."""
    with _strict_pillow(MAX_PIXELS):
        try:
            if is_dicom(data):
                width, height = size_of_dicom(io.BytesIO(data))
            else:
                width, height = Image.open(io.BytesIO(data), formats=known_formats()).size
            return width * height
        except MemoryError:
            raise
        except Exception:  # `decode_image` reports the reason
            return 0


def size_of_file(path: Path) -> tuple[int, int] | None:
    """Returns width and height of the upright image, from the header of its file; None if the header is unreadable."""
    with _strict_pillow(MAX_PIXELS):
        try:
            if path.suffix.lower() in SUFFIXES:
                return size_of_dicom(path)
            with Image.open(path, formats=known_formats()) as image:
                turned = image.getexif().get(_ORIENTATION) in _ON_ITS_SIDE
                if turned and image.format == "TIFF":  # Pillow turns it: before or after loading depends on the version
                    image.load()
                    turned = False
                width, height = image.size
                return (height, width) if turned else (width, height)
        except MemoryError:
            raise
        except Exception:  # `decode_image` reports the reason
            return None


def upright_rgb(image: Image.Image, *, bits: int | None = None) -> Image.Image:
    """Converts an opened image to upright 8-bit RGB by the rules of `decode_image`.

    Pillow decodes lazily, so a damaged file may raise any of Pillow's errors here.
    """
    opened = image  # which knows the file format
    with suppress(Exception):  # the pixels may be fine even if the EXIF block is damaged
        image = ImageOps.exif_transpose(image)
    match image.mode:
        case _ if _has_16_bits(image, opened):
            image = _eight_bits(image, bits or _own_bits(opened), inverted=_tag(opened, _PHOTOMETRIC) == _MIN_IS_WHITE)
        case "I" | "F":
            raise UnreadableImageError("32-bit pixels have no agreed range of values; save it with 8 or 16 bits")
        case "LAB":
            raise UnreadableImageError("CIELAB colours are not supported; save it as RGB")
        case _ if image.has_transparency_data:
            white = Image.new("RGBA", image.size, "white")
            image = Image.alpha_composite(white, image.convert("RGBA"))
    return image.convert("RGB")


@functools.cache
def known_formats() -> list[str]:
    """Returns the supported formats that this build of Pillow can read."""
    for module in _FORMATS.values():
        with suppress(ImportError):
            importlib.import_module(f"PIL.{module}")
    return [name for name in _FORMATS if name in Image.OPEN]


def _too_many(pixels: int | str, max_pixels: int) -> TooManyPixelsError:
    return TooManyPixelsError(f"{pixels} pixels exceed the limit of {max_pixels}: make the image smaller")


@contextmanager
def _strict_pillow(max_pixels: int) -> Iterator[None]:
    """Sets Pillow's process-wide switches; the last of several concurrent decodings restores them.

    Pillow's own pixel limit is the highest of the concurrent limits; each decoding also checks its own.
    """
    with _pillow:
        if not _decoding:
            _switched.callback(setattr, Image, "MAX_IMAGE_PIXELS", Image.MAX_IMAGE_PIXELS)
            _switched.callback(setattr, ImageFile, "LOAD_TRUNCATED_IMAGES", ImageFile.LOAD_TRUNCATED_IMAGES)
            _switched.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")  # about odd metadata, which is not read here
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            ImageFile.LOAD_TRUNCATED_IMAGES = False
        _decoding.append(max_pixels)
        Image.MAX_IMAGE_PIXELS = max(_decoding)
    try:
        yield
    finally:
        with _pillow:
            _decoding.remove(max_pixels)
            Image.MAX_IMAGE_PIXELS = max(_decoding, default=None)
            if not _decoding:
                _switched.close()


def _has_16_bits(image: Image.Image, opened: Image.Image) -> bool:
    """Whether the file has 16-bit greyscale; Pillow widens some of these to 32 bits."""
    return image.mode in ("I;16", "I;16L", "I;16B", "I;16N") or (image.mode == "I" and opened.format in ("PNG", "PPM"))


def _is_16_bit_colour(opened: Image.Image) -> bool:
    """Whether Pillow will reduce 16-bit colours to one byte each; known only before the pixels are loaded."""
    parts = getattr(opened, "tile", ())
    if opened.format == "PPM":  # scaled by the highest value that the file declares
        return opened.mode == "RGB" and any(part[0] != "raw" and part[3][-1] > 255 for part in parts)
    return opened.mode in ("RGB", "RGBA") and any(";16" in str(part) for part in parts)


def _eight_bits(image: Image.Image, bits: int, *, inverted: bool) -> Image.Image:
    import numpy as np  # would double a worker's start time, and few images need it

    values, white = np.asarray(image).astype(np.uint32), 2**bits - 1
    if (found := int(values.max())) > white:
        raise UnreadableImageError(f"a value of {found:,} exceeds {white:,}, the highest that `bits` {bits} allows")
    scaled = ((values * 255 + white // 2) // white).astype(np.uint8)
    return Image.fromarray(255 - scaled if inverted else scaled)


def _own_bits(opened: Image.Image) -> int:
    """Returns the number of bits that a 16-bit image declares: a TIFF may declare 12."""
    return 12 if _tag(opened, _BITS_PER_SAMPLE) == (12,) else 16


def _tag(opened: Image.Image, number: int) -> object:
    """Returns the value of a TIFF's tag. Pillow inverts images whose 0 is white with 8 bits, but not with 16."""
    return getattr(opened, "tag_v2", {}).get(number)


def evenly_spread(number: int) -> list[int]:
    """Returns the positions of the images, among so many, that are checked for unused bits."""
    chosen = min(number, _SAMPLE)
    return sorted({round(step * (number - 1) / max(chosen - 1, 1)) for step in range(chosen)})


def depth_notes(
    images: Sequence[Path | bytes], bits: int | None, *, asked: bool = False, names: Sequence[str] = ()
) -> tuple[str, ...]:
    """Returns a note if the 16-bit images in a sample of the data hold no value of more than 12 bits.

    Scanners often write 12 bits, which then look nearly black. With `bits`, how many bits 16-bit images hold, it
    returns a note if no image of the sample has 16 bits. `asked` says that the images are for prediction, when it is
    too late to change the training. Without `names`, files are named if the note does not concern the whole sample.
    """
    if not images:
        return ()
    sample = evenly_spread(len(images))
    highest = {}
    for index in sample:
        with suppress(OSError, ValueError):  # both are reported when the images are decoded
            image = images[index]
            highest[index] = highest_of_16_bits(image if isinstance(image, bytes) else image.read_bytes())
    known = {index: value for index, value in highest.items() if value is not None}
    if bits is not None:
        checked = counted(len(sample), "image")
        return () if known else (f"`bits` {bits} has no effect: none of {checked} checked has 16 bits",)
    # An all-zero image is black with any number of bits.
    dark = {index: value for index, value in known.items() if 0 < value <= _HIGHEST_OF_12_BITS}
    if not dark:
        return ()
    if not names and len(dark) < len(sample):
        names = [image.name if isinstance(image, Path) else "" for image in images]
    which = [name for index in dark if names and (name := names[index])]
    fix = (
        "predictions mean little unless the model was trained on images as dark. If they hold 12 bits, rescale them to "
        "fill 16, or use a model that was trained with `bits` 12 (onepeak train --bits 12)"
        if asked
        else "if they hold 12 bits, train with `bits` 12 (--bits 12)"
    )
    return (
        f"no value above {max(dark.values()):,} of 65,535 in {counted(len(dark), '16-bit image')} checked"
        f"{f' ({listed(which, limit=3)})' if which else ''}, which leaves few of 256 shades: {fix}",
    )
