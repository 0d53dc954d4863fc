"""One picture file to 8-bit RGB, whatever it holds: never half a picture, never a bomb.

Imports neither torch nor, at its top, NumPy: the workers that decode a data set start from here, and start fast.
"""

import functools
import importlib
import io
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from onepeak.data.pillow import Image, ImageFile, ImageOps, UnidentifiedImageError
from onepeak.errors import InputError

MAX_PIXELS = 89_478_485
"""More pixels than this are taken for a decompression bomb: the number at which Pillow begins to warn."""

# Formats whose cut-off files Pillow refuses or decodes whole, and where it keeps them. Left out: JPEG 2000, of which a
# cut file passes for a whole one, and EPS, which would run another program.
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
_pillow = threading.Lock()
_switched = ExitStack()
_decoding: list[int] = []
"""How many pixels each of those allows that decode at this moment."""


class UnreadablePictureError(InputError):
    """A file that gives no whole picture; the message is the reason, without the file's name."""


class TooManyPixelsError(UnreadablePictureError):
    """A picture so large that it is taken for a decompression bomb."""


def decode_picture(data: bytes, *, max_pixels: int = MAX_PIXELS, bits: int | None = None) -> Image.Image:
    """Decodes a picture file to 8-bit RGB, upright.

    - The first page or frame of several is taken.
    - EXIF orientation is applied; a damaged EXIF block is ignored.
    - 16-bit values are scaled by the whole range (65535 becomes 255), that of `bits`, or, in a TIFF that says it holds
      12, by that of 12 (4095 becomes 255); never by the picture's own values. Of 16-bit colours the high byte is kept.
    - Transparent pixels lie on white, as on a page or a slide.
    - CMYK and YCCK are converted without colour management; embedded ICC profiles are ignored.
    - 32-bit and floating-point pictures have no agreed range of values and are refused.

    Args:
        data: The bytes of the file.
        max_pixels: A picture with more pixels than this is refused before it is decoded.
        bits: How many bits 16-bit pictures hold, such as 12; a higher value is refused, and where it is fewer than 16
            so are 16-bit colours. What a TIFF says, else all 16, where not given.

    Raises:
        UnreadablePictureError: The bytes give no whole picture; the message says why.

    Example:
        >>> file = io.BytesIO()
        >>> Image.new("LA", (1, 1), (0, 128)).save(file, "PNG")
        >>> decode_picture(file.getvalue()).getpixel((0, 0))
        (127, 127, 127)
    """
    if not data:
        raise UnreadablePictureError("the file is empty (0 bytes)")
    with _strict_pillow(max_pixels):
        try:
            image = Image.open(io.BytesIO(data), formats=known_formats())
            if image.width * image.height > max_pixels:
                raise _too_many(image.width * image.height, max_pixels)
            if bits is not None and bits < 16 and _is_16_bit_colour(image):
                raise UnreadablePictureError(
                    f"of 16-bit colours only the high byte is read, not `bits` {bits}: save it with 8 bits, "
                    f"{2**bits - 1:,} as 255"
                )
            image.load()
            return upright_rgb(image, bits=bits)
        except UnreadablePictureError:
            raise
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            found = re.search(r"\d+", str(error))
            raise _too_many(found.group() if found else "too many", max_pixels) from None
        except UnidentifiedImageError:
            raise UnreadablePictureError(f"no picture in a known format ({', '.join(known_formats())})") from None
        except MemoryError:
            raise
        except (
            Exception
        ) as error:  # decoders raise OSError, SyntaxError, ValueError, struct.error, ... on damaged files
            raise UnreadablePictureError(f"cut off or damaged: {error}") from error


def highest_of_16_bits(data: bytes) -> int | None:
    """The highest value that a 16-bit picture holds; None for what cannot be read, and for other pictures.

    A TIFF that says it holds 12 bits is another. Of 16-bit colours only the high byte is known: it is about as high.

    Args:
        data: The bytes of the file.
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
        except Exception:  # as in `decode_picture`, which says what is wrong
            return None


def upright_rgb(image: Image.Image, *, bits: int | None = None) -> Image.Image:
    """An opened picture by the rules of `decode_picture`; what `Image.open` gives is upright 8-bit RGB only by luck.

    Pillow decodes when the pixels are first asked for, so a damaged file may raise here what Pillow makes of it.
    """
    return _as_rgb(_upright(image), image, bits)


@functools.cache
def known_formats() -> list[str]:
    """The formats above that this Pillow was built with."""
    for module in _FORMATS.values():
        with suppress(ImportError):
            importlib.import_module(f"PIL.{module}")
    return [name for name in _FORMATS if name in Image.OPEN]


def _too_many(pixels: int | str, max_pixels: int) -> TooManyPixelsError:
    return TooManyPixelsError(
        f"{pixels} pixels are more than the {max_pixels} that are decoded: make the picture smaller"
    )


@contextmanager
def _strict_pillow(max_pixels: int) -> Iterator[None]:
    """Pillow's process-wide switches as they must be here, put back by the last of all that decode at one time.

    Pillow's own bound is the highest that any of them allows; each looks at its own picture besides.
    """
    with _pillow:
        if not _decoding:
            _switched.enter_context(_switches())
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


@contextmanager
def _switches() -> Iterator[None]:
    before = Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd metadata, which nobody here reads
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        ImageFile.LOAD_TRUNCATED_IMAGES = False
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES = before


def _upright(image: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # a damaged EXIF block says nothing against the pixels
        return image


def _as_rgb(image: Image.Image, opened: Image.Image, bits: int | None) -> Image.Image:
    """Converts any mode that Pillow opens; `opened` still knows the format of the file."""
    match image.mode:
        case _ if _has_16_bits(image, opened):
            image = _eight_bits(image, bits or _own_bits(opened), inverted=_min_is_white(opened))
        case "I" | "F":
            raise UnreadablePictureError("32 bits a pixel have no agreed range of values; save it with 8 or 16 bits")
        case "LAB":
            raise UnreadablePictureError("CIELAB colours are not supported; save it as RGB")
        case _ if image.has_transparency_data:
            white = Image.new("RGBA", image.size, "white")
            image = Image.alpha_composite(white, image.convert("RGBA"))
    return image.convert("RGB")


def _has_16_bits(image: Image.Image, opened: Image.Image) -> bool:
    """Also where Pillow widened them."""
    return image.mode in ("I;16", "I;16L", "I;16B", "I;16N") or (image.mode == "I" and opened.format in ("PNG", "PPM"))


def _is_16_bit_colour(opened: Image.Image) -> bool:
    """Whether Pillow will make one byte of each value; what it will do is known until it has done it."""
    parts = getattr(opened, "tile", ())
    if opened.format == "PPM":  # scaled by what the file says is its highest value
        return opened.mode == "RGB" and any(part[0] != "raw" and part[3][-1] > 255 for part in parts)
    return opened.mode in ("RGB", "RGBA") and any(";16" in str(part) for part in parts)


def _eight_bits(image: Image.Image, bits: int, *, inverted: bool) -> Image.Image:
    import numpy as np  # half of a worker's start, for the few pictures that need it

    values, white = np.asarray(image).astype(np.uint32), 2**bits - 1
    if (found := int(values.max())) > white:
        raise UnreadablePictureError(f"a value of {found:,} is more than `bits` {bits} allows, which is {white:,}")
    scaled = ((values * 255 + white // 2) // white).astype(np.uint8)
    return Image.fromarray(255 - scaled if inverted else scaled)


def _own_bits(opened: Image.Image) -> int:
    """How many bits a picture that is opened as one of 16 says that it holds: a TIFF may say 12."""
    tags = getattr(opened, "tag_v2", None)
    return 12 if tags is not None and tags.get(_BITS_PER_SAMPLE) == (12,) else 16


def _min_is_white(opened: Image.Image) -> bool:
    """Whether a TIFF counts downwards from white: Pillow turns 8-bit ones round, but not 16-bit ones."""
    tags = getattr(opened, "tag_v2", None)
    return tags is not None and tags.get(_PHOTOMETRIC) == _MIN_IS_WHITE
