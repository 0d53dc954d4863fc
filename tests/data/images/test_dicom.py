"""DICOM files, written as scanners write them."""

import io

import numpy as np
import pytest

from onepeak.data.images.decode import MAX_PIXELS, Image, UnreadableImageError, decode_image, size_of_file
from onepeak.data.images.folder import read_folder
from onepeak.data.source import DataSource

pytest.importorskip("pydicom")
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.uid import DeflatedExplicitVRLittleEndian, ExplicitVRLittleEndian

GREY = np.array([[0, 1024, 2048, 4095]], dtype=np.uint16)


def dicom(pixels=GREY, *, stored=12, photometric="MONOCHROME2", syntax=ExplicitVRLittleEndian, **tags):
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = syntax
    meta.MediaStorageSOPClassUID = meta.MediaStorageSOPInstanceUID = "1.2.3"
    file = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    file.Rows, file.Columns = pixels.shape[:2]
    file.SamplesPerPixel = 3 if pixels.ndim == 3 else 1
    file.PhotometricInterpretation = photometric
    file.BitsAllocated, file.BitsStored, file.HighBit = pixels.itemsize * 8, stored, stored - 1
    file.PixelRepresentation = int(np.issubdtype(pixels.dtype, np.signedinteger))
    if pixels.ndim == 3:
        file.PlanarConfiguration = 0
    for name, value in tags.items():
        setattr(file, name, value)
    file.PixelData = pixels.tobytes()
    written = io.BytesIO()
    file.save_as(written, enforce_file_format=True)
    return written.getvalue()


def shades(data):
    return np.asarray(decode_image(data))[0, :, 0].tolist()


def test_without_a_window_the_bits_that_are_stored_are_the_range():
    assert shades(dicom()) == [0, 64, 128, 255]
    assert shades(dicom(stored=16)) == [0, 4, 8, 16]
    assert shades(dicom(photometric="MONOCHROME1")) == [255, 191, 127, 0]


def test_a_window_maps_hounsfield_units():
    values = np.array([[-2048, 0, 40, 240, 2047]], dtype=np.int16)
    ct = {"RescaleSlope": 1, "RescaleIntercept": 0, "WindowCenter": [40, 400], "WindowWidth": [401, 2000]}
    assert shades(dicom(values, **ct)) == [0, 102, 128, 255, 255]  # -160.5 to 240: 0 lies at 160 / 400
    raw = (values + 1024).clip(0).astype(np.uint16)
    assert shades(dicom(raw, **ct | {"RescaleIntercept": -1024})) == [0, 102, 128, 255, 255]


@pytest.mark.parametrize(
    "window",
    [
        {"WindowCenter": None, "WindowWidth": None},
        {"WindowCenter": 40, "WindowWidth": 0},
        {"WindowWidth": 400},
        {"WindowCenter": 40},
        {"WindowCenter": [40, 50], "WindowWidth": [0, 400]},
        {"WindowCenter": 40, "WindowWidth": 0, "VOILUTFunction": "SIGMOID"},
    ],
)
def test_an_empty_or_odd_window_is_none(window):
    assert shades(dicom(**window)) == [0, 64, 128, 255]


def test_an_empty_function_of_the_window_is_linear():
    window = {"WindowCenter": 2048, "WindowWidth": 2048}
    assert shades(dicom(**window, VOILUTFunction=None)) == shades(dicom(**window))


def test_a_table_of_values_of_interest_goes_before_a_window():
    table = Dataset()
    table.LUTDescriptor, table.LUTData = [4096, 0, 12], [*range(4096)][::-1]
    table["LUTData"].VR = "US"
    assert shades(dicom(VOILUTSequence=[table], WindowCenter=1, WindowWidth=2)) == [255, 191, 127, 0]


def test_colours_are_read_and_the_first_frame_of_several():
    colours = np.random.default_rng(0).integers(0, 256, (4, 6, 3), np.uint8)
    assert (np.asarray(decode_image(dicom(colours, stored=8, photometric="RGB"))) == colours).all()
    two = dicom(np.concatenate([GREY, GREY[:, ::-1]]), Rows=1, NumberOfFrames=2)
    assert shades(two) == [0, 64, 128, 255]


@pytest.mark.bad_input
def test_what_cannot_be_read_is_refused():
    with pytest.raises(UnreadableImageError, match=f"pixels exceed the limit of {MAX_PIXELS}"):
        decode_image(dicom(Rows=60_000, Columns=60_000))
    with pytest.raises(UnreadableImageError, match=r"^deflated DICOM is not supported"):
        decode_image(dicom(syntax=DeflatedExplicitVRLittleEndian))
    for length in (200, len(dicom()) - 4):
        with pytest.raises(UnreadableImageError, match="cut off or damaged"):
            decode_image(dicom()[:length])


def write_scans(folder, patients):
    """One scan of each patient, of two classes by turns."""
    for number, patient in enumerate(patients):
        path = folder / str(number % 2) / f"{number}.dcm"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(dicom(PatientID=patient))


def test_the_patients_of_the_headers_are_the_groups(tmp_path):
    write_scans(tmp_path, ["P0", "P0", "P1", "P1", "P2", "P2"])
    data = read_folder(tmp_path)
    assert data.groups == ("P0", "P1", "P2", "P0", "P1", "P2")
    assert data.notes[-1] == "3 patients by the DICOM headers, whose images stay together"
    assert size_of_file(tmp_path / data.items.paths[0]) == (4, 1)
    rows = "".join(f"{path},{label},{path[0]}\n" for path, label in zip(data.items.paths, data.labels, strict=True))
    (tmp_path / "list.csv").write_text(f"path,label,scanner\n{rows}")
    assert DataSource(tmp_path / "list.csv").open().groups == data.groups
    assert DataSource(tmp_path / "list.csv", group="scanner").open().groups == tuple("000111")


def test_images_without_a_patient_are_groups_of_their_own(tmp_path):
    write_scans(tmp_path, ["P0", "P0", "P1", "P1", "P2", "P2"])
    (tmp_path / "0" / "0.dcm").write_bytes(dicom())
    Image.new("L", (4, 4)).save(tmp_path / "1" / "9.png")
    data = read_folder(tmp_path)
    assert data.groups == ("0/0.dcm", "P1", "P2", "P0", "P1", "P2", "1/9.png")
    assert "2 images without a patient id, each a group of its own: 0/0.dcm, 1/9.png" in data.notes


@pytest.mark.parametrize(("patient", "note"), [("ANON", "all DICOM files have the same patient id"), ("", "no DICOM")])
def test_a_patient_id_that_all_share_is_none(tmp_path, patient, note):
    write_scans(tmp_path, [patient] * 4)
    data = read_folder(tmp_path)
    assert data.groups is None
    assert data.notes[-1].startswith(note)
