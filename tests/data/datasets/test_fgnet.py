import numpy as np
import pytest

from onepeak.data import DataSource
from onepeak.errors import InputError


@pytest.mark.parametrize("inside", ["", "images/", "FGNET/images/"])
def test_the_name_says_who_and_how_old(plant, inside):
    names = ("001A02.JPG", "001A43a.JPG", "001A43b.JPG", "082A00.jpg")
    data = DataSource("fgnet", root=plant(*(inside + name for name in names))).open()
    assert data.items.paths == names
    assert data.labels.tolist() == [2, 43, 43, 0]
    assert data.groups == ("001", "001", "001", "082")
    assert data.num_classes == 70
    assert data.notes[0] == "found 4 of 1,002 images and 2 of 82 subjects"
    assert data.notes[1].startswith("67 classes without an image, kept in the order: 1, 3, 4")


def test_other_images_and_files_are_left_out_with_a_note(plant):
    data = DataSource(
        "fgnet",
        root=plant("images/001A02.JPG", "images/001A71.JPG", "images/logo.png", "images/points.txt", "other.jpg"),
    ).open()
    assert len(data) == 1
    assert data.notes[2:] == (
        "ignored 1 file that is not an image (points.txt)",
        "left out 2 images not named like 001A02.JPG with an age up to 69: 001A71.JPG, logo.png",
    )


def test_the_real_set_is_complete(shared_data):
    data = DataSource("fgnet", root=shared_data / "fgnet266").open()
    assert len(data) == 1002
    assert len(set(data.groups)) == 82
    assert data.labels.min() == 0
    assert data.labels.max() == 69
    for path, label, group in zip(data.items.paths, data.labels, data.groups, strict=True):
        assert path.startswith(f"{group}A{label:02}")
    assert data.notes == (
        "found 1,002 of 1,002 images and 82 of 82 subjects",
        "7 classes without an image, kept in the order: 56, 57, 59, 64, 65, 66, 68",
    )
    assert np.bincount(data.labels)[18] == 47


def test_originals_are_read_from_their_own_folder(shared_data):
    folder = shared_data / "fgnet-originals"
    data = DataSource("fgnet", root=folder).open()
    assert len(data) == len(list(folder.glob("*.JPG"))) > 0
    assert "001A43a.JPG" in data.items.paths


@pytest.mark.bad_input
def test_a_root_without_faces_is_refused(plant):
    with pytest.raises(InputError, match=r"no images of the set in .* Expected images/001A02.JPG"):
        DataSource("fgnet", root=plant("images/face1.jpg")).open()


@pytest.mark.bad_input
def test_faces_all_too_old_are_none_of_the_set(plant):
    with pytest.raises(InputError, match="There are no images of fgnet in"):
        DataSource("fgnet", root=plant("images/001A80.JPG")).open()
