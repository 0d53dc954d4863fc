import pytest

from onepeak.data import DataSource
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
    data = DataSource("iciar", root=root).open()
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
    data = DataSource("iciar", root=plant(*names)).open()
    assert data.notes == (
        "found 400 of 400 images",
        "no file names the patients: one may be in several parts of a split",
    )


@pytest.mark.parametrize("spelling", ["In Situ", "in_situ", "Insitu", "InSitu carcinoma"])
def test_folders_are_known_by_any_spelling(plant, spelling):
    data = DataSource("iciar", root=plant("normal/n001.TIF", f"{spelling}/is001.tiff")).open()
    assert sorted(data.labels.tolist()) == [0, 2]
    assert "2 classes without an image, kept in the order: Benign, Invasive" in data.notes


def test_images_in_other_places_are_left_out(plant):
    data = DataSource("iciar", root=plant("Normal/n001.tif", "WSI/thumbnail.png")).open()
    assert data.items.paths == ("Normal/n001.tif",)
    assert "left out 1 image not part of the set (in WSI)" in data.notes


def test_images_may_have_been_saved_in_another_format(plant):
    data = DataSource("iciar", root=plant("Normal/n001.jpg", "Benign/b001.PNG", "Invasive/iv001.tif")).open()
    assert dict(zip(data.items.paths, data.labels.tolist(), strict=True)) == {
        "Normal/n001.jpg": 0,
        "Benign/b001.PNG": 1,
        "Invasive/iv001.tif": 3,
    }


@pytest.mark.parametrize("place", ["Photos", "."])
@pytest.mark.parametrize("columns", ["n001.tif,17\nN002,17\nb001.tif,4\n", "patient,image\n17,n001\n17,n002\n4,b001\n"])
def test_a_list_of_patients_makes_them_the_groups(plant, place, columns):
    names = ("Normal/n001.jpg", "Normal/n002.jpg", "Benign/b001.jpg", "Invasive/iv001.jpg")
    root = plant(*(f"Photos/{name}" for name in names))
    (root / place / "Patients of A.csv").write_text(columns)
    data = DataSource("iciar", root=root).open()
    assert dict(zip(data.items.paths, data.groups, strict=True)) == {
        "Normal/n001.jpg": "17",
        "Normal/n002.jpg": "17",
        "Benign/b001.jpg": "4",
        "Invasive/iv001.jpg": "only iv001",  # not in the list: a patient of its own
    }
    assert "Patients of A.csv names 3 patients" in data.notes
    assert not any("no file names the patients" in note for note in data.notes)


@pytest.mark.bad_input
def test_a_list_that_names_no_image_is_refused(plant):
    root = plant("Normal/n001.tif")
    (root / "patients.csv").write_text("image,patient\nx001,3\n")
    with pytest.raises(InputError, match=r"patients\.csv must name an image and its patient in each row, such as"):
        DataSource("iciar", root=root).open()


@pytest.mark.bad_input
def test_folders_without_an_image_are_refused(plant):
    with pytest.raises(InputError, match=r"There are no images of iciar in .* Expected the images in Normal/, Benign/"):
        DataSource("iciar", root=plant("Normal/n001.txt")).open()


@pytest.mark.bad_input
def test_a_root_without_the_folders_is_refused(plant):
    with pytest.raises(InputError, match=r"no images of the set in .* Expected the images in Normal/, Benign/"):
        DataSource("iciar", root=plant("something/else.tif")).open()
