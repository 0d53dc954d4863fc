import pytest

from onepeak.data import open_data
from onepeak.errors import InputError

PHOTOS = (
    "Normal/n001.tif",
    "Normal/n002.tif",
    "Normal/Thumbs.db",
    "Benign/b001.tif",
    "InSitu/is001.tif",
    "Invasive/iv001.tif",
    "microscopy_ground_truth.csv",
)


@pytest.mark.parametrize("inside", ["", "Photos", "ICIAR2018_BACH_Challenge/Photos"])
def test_the_grades_have_their_order_wherever_the_archive_was_unpacked(plant, inside):
    root = plant(*(f"{inside}/{name}" if inside else name for name in PHOTOS))
    data = open_data("iciar", root=root)
    assert data.classes == ("Normal", "Benign", "InSitu", "Invasive")
    assert dict(zip(data.items.paths, data.labels.tolist(), strict=True)) == {
        "Normal/n001.tif": 0,
        "Normal/n002.tif": 0,
        "Benign/b001.tif": 1,
        "InSitu/is001.tif": 2,
        "Invasive/iv001.tif": 3,
    }
    assert all((data.items.root / path).is_file() for path in data.items.paths)
    assert data.notes[0] == "found 5 of 400 images"
    assert "classes that do not have 100 images: Normal (2), Benign (1), InSitu (1), Invasive (1)" in data.notes
    assert "ignored 2 files that are not images (Thumbs.db, microscopy_ground_truth.csv)" in data.notes


def test_a_complete_set_has_nothing_to_report_but_itself(plant):
    names = [f"{folder}/{i:03}.tif" for folder in ("Normal", "Benign", "InSitu", "Invasive") for i in range(100)]
    data = open_data("iciar", root=plant(*names))
    assert data.notes == (
        "found 400 of 400 images",
        "the folders do not name the patients: one may be in several parts of a split",
    )


@pytest.mark.parametrize("spelling", ["In Situ", "in_situ", "Insitu", "InSitu carcinoma"])
def test_folders_are_known_by_any_spelling(plant, spelling):
    data = open_data("iciar", root=plant("normal/n001.TIF", f"{spelling}/is001.tiff"))
    assert sorted(data.labels.tolist()) == [0, 2]
    assert "2 classes without an image, kept in the order: Benign, Invasive" in data.notes


def test_pictures_of_other_kinds_and_places_are_left_out(plant):
    data = open_data("iciar", root=plant("Normal/n001.tif", "Normal/n001.png", "WSI/thumbnail.png"))
    assert data.items.paths == ("Normal/n001.tif",)
    assert "left out 2 images not part of the set (in Normal, WSI)" in data.notes


@pytest.mark.bad_input
def test_folders_without_a_tiff_are_refused(plant):
    with pytest.raises(InputError, match=r"There are no images of iciar in .* Expected Normal/\*.tif"):
        open_data("iciar", root=plant("Normal/n001.png"))


@pytest.mark.bad_input
def test_a_root_without_the_folders_is_refused(plant):
    with pytest.raises(InputError, match=r"no images of the set in .* Expected Normal/\*.tif, Benign/\*.tif"):
        open_data("iciar", root=plant("something/else.tif"))
