import numpy as np
import pytest

from onepeak.data import DATASETS, DataSource
from onepeak.errors import InputError

GRADES = ("Normal", "Benign", "InSitu", "Invasive")
DECADES = ("1930s", "1940s", "1950s", "1960s", "1970s")
ICIAR = ("Normal/n001.tif", "Normal/n002.jpg", "Benign/b001.PNG", "InSitu/is001.tif", "Invasive/iv001.tif")
FGNET = ("001A02.JPG", "001A43a.JPG", "001A43b.JPG", "082A00.jpg")
PHOTOGRAPHS = [f"{decade}/{number}.jpg" for decade in DECADES for number in range(265)]
AFAD = ("20/111/a-0.jpg", "20/112/b-0.jpg", "39/111/c-0.jpg", "39/111/c-1.jpg")


@pytest.mark.parametrize(
    ("name", "inside", "images", "classes"),
    [
        ("iciar", "", ICIAR, [0, 0, 1, 2, 3]),
        ("iciar", "ICIAR2018_BACH_Challenge/Photos/", ICIAR, [0, 0, 1, 2, 3]),
        ("hci", "HistoricalColor-ECCV2012/data/imgs/decade_database/", [f"{d}/1.jpg" for d in DECADES], range(5)),
        ("fgnet", "images/", FGNET, [2, 43, 43, 0]),
        ("fgnet", "FGNET/images/", FGNET, [2, 43, 43, 0]),
        ("afad-lite", "", AFAD, [2, 2, 21, 21]),
        ("afad-lite", "tarball-lite-master/AFAD-Lite/", AFAD, [2, 2, 21, 21]),
        ("afad-full", "tarball/AFAD-Full/", AFAD, [5, 5, 24, 24]),
    ],
)
def test_a_set_is_read_wherever_its_archive_was_unpacked(plant, name, inside, images, classes):
    root = plant(*(inside + path for path in (*images, "Thumbs.db", "index.txt")))
    data = DataSource(name, root=root).open()
    labels = dict(zip(data.items.paths, data.labels.tolist(), strict=True))
    assert labels == dict(zip(images, classes, strict=True))
    assert all((data.items.root / path).is_file() for path in data.items.paths)
    assert data.classes == DATASETS[name].classes
    assert data.notes[0].startswith(f"found {len(images)} of {DATASETS[name].num_items:,} images")
    assert "ignored 2 files that are not images (Thumbs.db, index.txt)" in data.notes
    assert data.groups == (("001", "001", "001", "082") if name == "fgnet" else None)
    assert data.strata == (("male", "female", "male", "male") if "afad" in name else None)
    assert data.take([1]).strata == (data.strata and ("female",))


@pytest.mark.parametrize(
    ("name", "images", "notes"),
    [
        ("iciar", [f"{grade}/{i:03}.tif" for grade in GRADES for i in range(100)], ("no file names the patients",)),
        ("hci", PHOTOGRAPHS, ()),
        ("hci", PHOTOGRAPHS[:-1], ("classes that do not have 265 images: 1970s (264)",)),
        ("fgnet", FGNET, ("67 classes without an image, kept in the order: 1, 3, 4",)),
        ("afad-lite", AFAD, ("20 classes without an image, kept in the order: 18", "3 male, 1 female")),
        (
            "iciar",
            ("Normal/n001.tif", "WSI/thumbnail.png"),
            ("classes that", "3 classes", "left out 1 image not part of the set: WSI/thumbnail.png", "no file"),
        ),
        (
            "fgnet",
            ("images/001A02.JPG", "images/001A71.JPG", "images/logo.png", "other.jpg"),
            ("69 classes", "left out 2 images not part of the set: 001A71.JPG, logo.png"),
        ),
        (
            "afad-lite",
            ("18/111/a.jpg", "15/111/b.jpg", "20/113/c.jpg", "18/d.jpg", "75/112/e.jpg"),
            ("21 classes", "left out 4 images not part of the set: 15/111/b.jpg, 18/d.jpg, 20/113/c.jpg, 75", "1 male"),
        ),
    ],
)
def test_what_a_set_lacks_and_what_is_left_out_is_noted(plant, name, images, notes):
    found = DataSource(name, root=plant(*images)).open().notes[1:]
    assert len(found) == len(notes)
    assert all(map(str.startswith, found, notes))


@pytest.mark.parametrize("spelling", ["In Situ", "in_situ", "Insitu", "InSitu carcinoma"])
def test_grades_are_known_by_any_spelling(plant, spelling):
    data = DataSource("iciar", root=plant("normal/n001.TIF", f"{spelling}/is001.tiff")).open()
    assert sorted(data.labels.tolist()) == [0, 2]
    assert "2 classes without an image, kept in the order: Benign, Invasive" in data.notes


@pytest.mark.parametrize("place", ["Photos", "."])
@pytest.mark.parametrize("columns", ["n001.tif,17\nN002,17\nb001.tif,4\n", "patient,image\n17,n001\n17,n002\n4,b001\n"])
def test_a_list_of_patients_makes_them_the_groups(plant, place, columns):
    root = plant(*(f"Photos/{name}" for name in ICIAR))
    (root / place / "Patients of A.csv").write_text(columns)
    data = DataSource("iciar", root=root).open()
    assert dict(zip(data.items.paths, data.groups, strict=True)) == {
        "Normal/n001.tif": "17",
        "Normal/n002.jpg": "17",
        "Benign/b001.PNG": "4",
        "InSitu/is001.tif": "only is001",  # not in the list: a patient of its own
        "Invasive/iv001.tif": "only iv001",
    }
    assert "Patients of A.csv names 4 patients" in data.notes
    assert not any("no file names the patients" in note for note in data.notes)


@pytest.mark.bad_input
def test_a_list_that_names_no_image_is_refused(plant):
    root = plant("Normal/n001.tif")
    (root / "patients.csv").write_text("image,patient\nx001,3\n")
    with pytest.raises(InputError, match=r"patients\.csv must name an image and its patient in each row, such as"):
        DataSource("iciar", root=root).open()


def test_the_real_faces_are_complete(shared_data):
    data = DataSource("fgnet", root=shared_data / "fgnet266").open()
    for path, label, group in zip(data.items.paths, data.labels, data.groups, strict=True):
        assert path.startswith(f"{group}A{label:02}")
    assert data.notes == (
        "found 1,002 of 1,002 images and 82 of 82 subjects",
        "7 classes without an image, kept in the order: 56, 57, 59, 64, 65, 66, 68",
    )
    assert np.bincount(data.labels)[18] == 47
    originals = DataSource("fgnet", root=shared_data / "fgnet-originals").open()
    assert len(originals) == len(list((shared_data / "fgnet-originals").glob("*.JPG"))) > 0


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "image", "message"),
    [
        ("iciar", "something/else.tif", r"no images of the set in .* Expected the images in Normal/, Benign/"),
        ("iciar", "Normal/n001.txt", r"There are no images of iciar in .* Expected the images in Normal/, Benign/"),
        ("hci", "1980s/a.jpg", r"no images of the set in .* Expected 1930s/\*.jpg to 1970s/\*.jpg there"),
        ("fgnet", "images/face1.jpg", r"no images of the set in .* Expected images/001A02.JPG"),
        ("fgnet", "images/001A80.JPG", "There are no images of fgnet in"),  # too old, all of them
        ("afad-lite", "111/18/a.jpg", r"Expected <age>/111/\*.jpg \(male\) .* in one of its folders AFAD-Lite"),
    ],
)
def test_a_root_without_the_set_is_refused(plant, name, image, message):
    with pytest.raises(InputError, match=message):
        DataSource(name, root=plant(image)).open()
