"""DICOM files: their first frame as an 8-bit image, and the patient of each.

pydicom (extra `dicom`) is imported when the first such file is read, so that decoding workers start fast.
"""

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onepeak._core.imports import require
from onepeak._core.wording import counted, listed

SUFFIXES = (".dcm", ".dicom")
_DEFLATED = b"1.2.840.10008.1.2.1.99"
"""A transfer syntax that is inflated before the size of the image is known."""


def is_dicom(data: bytes) -> bool:
    """Whether the bytes are a DICOM file: a preamble of any content, then `DICM`."""
    return data[128:132] == b"DICM"


def first_frame(data: bytes, *, max_pixels: int) -> Any:
    """Returns the first frame as uint8, rows x columns (x 3), or the number of its pixels if that exceeds the limit.

    Values are rescaled as the file says (CT: to Hounsfield units) and mapped by its look-up table or its first window.
    Without either, the whole range of the bits stored becomes 0 to 255; never the range of the values in the image.
    MONOCHROME1, whose lowest value is white, is inverted. Colours become RGB.
    """
    require("pydicom", extra="dicom", purpose="Reading DICOM")
    import numpy as np
    from pydicom import dcmread
    from pydicom.pixels import processing
    from pydicom.pixels.utils import pixel_array

    if _DEFLATED in data[:4096]:
        raise ValueError("deflated DICOM is not supported; save it uncompressed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd values in the header, which are not read here
        file = dcmread(io.BytesIO(data))
        if (number := int(file.Rows) * int(file.Columns)) > max_pixels:
            return number
        values = pixel_array(file, index=0)
        if file.PhotometricInterpretation == "PALETTE COLOR":
            values = processing.apply_color_lut(values, file)
            values = (values >> 8).astype(np.uint8) if values.dtype == np.uint16 else values
        if values.ndim == 3:
            if values.dtype != np.uint8:
                raise ValueError("colours of more than 8 bits are not supported")
            return values
        signed = 2 ** (file.BitsStored - 1) if file.PixelRepresentation else 0
        ends = processing.apply_rescale(np.array([-signed, 2**file.BitsStored - 1 - signed]), file)
        if "ModalityLUTSequence" in file:
            ends = np.array([0, _last(file.ModalityLUTSequence)])
        values = processing.apply_modality_lut(values, file)
        if file.get("VOILUTSequence"):
            values, ends = (
                processing.apply_voi(values.astype(np.int64), file),
                np.array([0, _last(file.VOILUTSequence)]),
            )
        elif "WindowWidth" in file:
            values = processing.apply_windowing(values, file)  # to the same ends
        low, high = sorted(ends.astype(np.float64).tolist())
        shades = np.clip((values - low) / (high - low) * 255 + 0.5, 0, 255).astype(np.uint8)
        return 255 - shades if file.PhotometricInterpretation == "MONOCHROME1" else shades


def _last(tables: Any) -> int:
    """Returns the highest value that a look-up table gives."""
    return int(2 ** tables[0].LUTDescriptor[2] - 1)


def size_of_dicom(path: Path) -> tuple[int, int]:
    """Returns width and height from the header of a file."""
    header = _header(path, ["Rows", "Columns"])
    return int(header.Columns), int(header.Rows)


def patients_of(root: Path, paths: Sequence[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Returns the patient of every image, if all are DICOM files whose headers name one, and a note."""
    if not paths or not all(path.lower().endswith(SUFFIXES) for path in paths):
        return None, ()
    found = [_patient(root / path) for path in paths]
    if without := [path for path, patient in zip(paths, found, strict=True) if not patient]:
        return None, (
            f"{counted(len(without), 'DICOM file')} without a patient id ({listed(without, limit=3)}): "
            "patients are not groups",
        )
    return tuple(found), (f"{counted(len(set(found)), 'patient')} by the DICOM headers, whose images stay together",)


def _patient(path: Path) -> str:
    try:
        return str(_header(path, ["PatientID"]).get("PatientID", "")).strip()
    except Exception:  # a damaged file is reported when it is decoded
        return ""


def _header(path: Path, tags: list[str]) -> Any:
    pydicom = require("pydicom", extra="dicom", purpose="Reading DICOM")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pydicom.dcmread(path, stop_before_pixels=True, specific_tags=tags)
