"""Turns any form of image into the pixels a model was trained on: 8-bit RGB, upright, resized by its recipe."""

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from torch import Tensor

from onepeak.data.decode import UnreadablePictureError, decode_picture, upright_rgb
from onepeak.data.pillow import Image
from onepeak.data.resize import Resize
from onepeak.errors import InputError

Pixels: TypeAlias = npt.NDArray[np.uint8]
"""One image: uint8, height x width x 3."""
Picture: TypeAlias = str | Path | Image.Image | npt.NDArray[np.generic] | Tensor

_WANTED = "images: paths, PIL images, or uint8 arrays (height, width, 3) or (3, height, width)"


def separate(inputs: object) -> list[Picture]:
    """Splits one image, a sequence of images or a batch in one array into single images.

    Example:
        >>> len(separate(np.zeros((5, 8, 8, 3), np.uint8))), len(separate("scan.png"))
        (5, 1)
    """
    match inputs:
        case str() | Path() | Image.Image():
            return [inputs]
        case np.ndarray() | Tensor() if inputs.ndim == 4:
            return list(inputs)
        case np.ndarray() | Tensor():
            return [inputs]
        case Sequence():
            return list(inputs)
    raise InputError(f"`inputs` must be {_WANTED}, or a sequence of them, got {type(inputs).__name__}.")


def pixels_of(picture: Picture, resize: Resize, *, bits: int | None = None) -> Pixels:
    """Returns the image as in training.

    Args:
        picture: A path, a PIL image, or an array of one image. If both the first and the last axis of an array have
            length 3, the last one is the channels.
        resize: The model's resizing.
        bits: How many bits of 16-bit images the model uses.

    Raises:
        UnreadablePictureError: A file or PIL image is not a complete image; the message gives the reason.
        InputError: The input is not an image at all.
    """
    match picture:
        case str() | Path():
            image = decode_picture(_read(Path(picture)), bits=bits)
        case Image.Image():
            image = _whole(picture, bits)
        case np.ndarray():
            image = Image.fromarray(_colours_last(picture))
        case Tensor():
            image = Image.fromarray(_colours_last(picture.detach().cpu().numpy()))
        case _:
            raise InputError(f"`inputs` must be {_WANTED}, got one that is {type(picture).__name__}.")
    return np.asarray(resize.apply(image))


def _read(path: Path) -> bytes:
    try:
        if stat.S_ISREG(path.stat().st_mode):  # opening a named pipe would block forever
            return path.read_bytes()
    except FileNotFoundError:
        raise UnreadablePictureError("there is no such file") from None
    except OSError as error:
        raise UnreadablePictureError(f"the file may not be read: {error.strerror}") from None
    except ValueError as error:  # not a valid file name
        raise UnreadablePictureError(f"there is no such file: {error}") from None
    raise UnreadablePictureError("this is a folder or a device, not a file")


def _whole(image: Image.Image, bits: int | None) -> Image.Image:
    try:
        return upright_rgb(image, bits=bits)
    except (OSError, SyntaxError) as error:  # Pillow decodes lazily
        raise UnreadablePictureError(f"cut off or damaged: {error}") from error


def _colours_last(array: npt.NDArray[np.generic]) -> Pixels:
    if array.ndim != 3 or not {1, 3} & {array.shape[0], array.shape[-1]} or 0 in array.shape:
        raise InputError(
            "An array of images must have shape (n, height, width, 3) or (n, 3, height, width), and one image "
            "(height, width, 3) or (3, height, width), with 1 instead of 3 if it is grey, "
            f"got {array.shape} for one image."
        )
    if array.dtype != np.uint8:
        raise InputError(f"An array of images must be uint8, 0 to 255, got {array.dtype}: scale and convert it.")
    is_last = array.shape[-1] == 3 or (array.shape[-1] == 1 and array.shape[0] != 3)
    last = array if is_last else np.moveaxis(array, 0, -1)
    return np.ascontiguousarray(np.broadcast_to(last, (*last.shape[:2], 3)), dtype=np.uint8)
