"""DICOM files: their first frame as an 8-bit image, and the patient of each.

pydicom (extra `dicom`) is imported when the first such file is read, so that decoding workers start fast.
"""

import io
import warnings
from collections.abc import MutableSequence, Sequence
from pathlib import Path
from typing import Any

from onepeak._core.imports import require
from onepeak._core.wording import counted, listed
from onepeak.errors import first_line

SUFFIXES = (".dcm", ".dicom")
_DEFLATED = b"1.2.840.10008.1.2.1.99"
"""A transfer syntax that is inflated before the size of the image is known."""


def is_dicom(data: bytes) -> bool:
    """Whether the bytes are a DICOM file: a preamble of any content, then `DICM`."""
    return data[128:132] == b"DICM"


def first_frame(data: bytes, *, max_pixels: int) -> Any:
    """Returns the first frame as uint8, rows x columns (x 3), or the number of its pixels if that exceeds the limit.

    Values are rescaled as the file says (CT: to Hounsfield units) and mapped by its look-up table or its first window.
    Without either, or with a window without a centre or a width, the whole range of the bits stored becomes 0 to 255;
    never the range of the values in the image. MONOCHROME1, whose lowest value is white, is inverted. Colours become
    RGB.

    Raises:
        NotImplementedError: The file may be whole, but cannot be read here.
    """
    require("pydicom", extra="dicom", purpose="Reading DICOM")
    import numpy as np
    from pydicom import dcmread
    from pydicom.pixels import processing
    from pydicom.pixels.utils import pixel_array

    if _DEFLATED in data[:4096]:
        raise NotImplementedError("deflated DICOM is not supported; save it uncompressed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd values in the header, which are not read here
        file = dcmread(io.BytesIO(data))
        if (number := int(file.Rows) * int(file.Columns)) > max_pixels:
            return number
        try:
            values = pixel_array(file, index=0)
        except RuntimeError as error:
            if "missing dependencies" in str(error):
                raise NotImplementedError(first_line(error)) from error
            raise
        if file.PhotometricInterpretation == "PALETTE COLOR":
            values = processing.apply_color_lut(values, file)
            values = (values >> 8).astype(np.uint8) if values.dtype == np.uint16 else values
        if values.ndim == 3:
            if values.dtype != np.uint8:
                raise NotImplementedError("colours of more than 8 bits are not supported")
            return values
        signed = 2 ** (file.BitsStored - 1) if file.PixelRepresentation else 0
        ends = processing.apply_rescale(np.array([-signed, 2**file.BitsStored - 1 - signed]), file)
        if file.get("ModalityLUTSequence"):
            ends = np.array([0, _last(file.ModalityLUTSequence)])
        values = processing.apply_modality_lut(values, file)
        if file.get("VOILUTSequence"):
            values, ends = (
                processing.apply_voi(values.astype(np.int64), file),
                np.array([0, _last(file.VOILUTSequence)]),
            )
        elif _has_window(file):
            values = processing.apply_windowing(values, file)  # to the same ends
        low, high = sorted(ends.astype(np.float64).tolist())
        shades = np.clip((values - low) / (high - low) * 255 + 0.5, 0, 255).astype(np.uint8)
        return 255 - shades if file.PhotometricInterpretation == "MONOCHROME1" else shades


def _has_window(file: Any) -> bool:
    """Whether the first window has a centre and a valid width: in many files they are empty or 0."""
    if not file.get("VOILUTFunction"):
        file.VOILUTFunction = "LINEAR"
    given = [file[name].value for name in ("WindowCenter", "WindowWidth") if name in file and file[name].VM]
    first = [value[0] if isinstance(value, MutableSequence) else value for value in given]
    if len(first) < 2 or "" in first:
        return False
    return bool(first[1] >= 1 if file.VOILUTFunction.upper() == "LINEAR" else first[1] > 0)


def _last(tables: Any) -> int:
    """Returns the highest value that a look-up table gives."""
    return int(2 ** tables[0].LUTDescriptor[2] - 1)


def size_of_dicom(file: Path | io.BytesIO) -> tuple[int, int]:
    """Returns width and height from the header of a file."""
    header = _header(file, ["Rows", "Columns"])
    return int(header.Columns), int(header.Rows)


def patients_of(root: Path, paths: Sequence[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Returns the patient that the header of each DICOM file names, else the path of the image itself, and notes.

    Returns no patients if no header names one, or if all images are of the same, as some anonymisers write.
    """
    if not any(path.lower().endswith(SUFFIXES) for path in paths):
        return None, ()
    found = [_patient(root / path) if path.lower().endswith(SUFFIXES) else "" for path in paths]
    patients, without = set(found) - {""}, [path for path, patient in zip(paths, found, strict=True) if not patient]
    if not patients:
        return None, (f"no DICOM file has a patient id ({listed(without, limit=3)}): patients are not groups",)
    if len(patients) == 1 and not without and len(paths) > 1:
        return None, ("all DICOM files have the same patient id: patients are not groups",)
    notes = [
        f"{counted(len(without), 'image')} without a patient id, each a group of its own: {listed(without, limit=3)}"
    ]
    return tuple(patient or path for path, patient in zip(paths, found, strict=True)), (
        *(notes if without else []),
        f"{counted(len(patients), 'patient')} by the DICOM headers, whose images stay together",
    )


def _patient(path: Path) -> str:
    try:
        return str(_header(path, ["PatientID"]).get("PatientID", "")).strip()
    except Exception:  # a damaged file is reported when it is decoded
        return ""


def _header(file: Path | io.BytesIO, tags: list[str]) -> Any:
    pydicom = require("pydicom", extra="dicom", purpose="Reading DICOM")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pydicom.dcmread(file, stop_before_pixels=True, specific_tags=tags)
