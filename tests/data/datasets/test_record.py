import pytest

from onepeak.data.datasets.record import locate
from onepeak.errors import InputError


def find(root):
    return locate(root, inside=("in", "deep/in"), holds=lambda place: (place / "1.jpg").is_file(), layout="1.jpg")


def test_the_root_itself_comes_first(plant):
    root = plant("1.jpg", "in/1.jpg")
    assert find(root) == root


def test_the_only_place_inside_is_taken(plant):
    root = plant("deep/in/1.jpg")
    assert find(root) == root / "deep/in"


@pytest.mark.bad_input
def test_two_places_inside_are_refused(plant):
    with pytest.raises(InputError, match=r"`root` must hold the set once, .* in .*in, .*deep/in: give one of them"):
        find(plant("in/1.jpg", "deep/in/1.jpg"))


@pytest.mark.bad_input
def test_no_place_is_refused_with_the_layout(plant):
    with pytest.raises(
        InputError, match=r"no images of the set in .* Expected 1.jpg there, or in one of its folders in, deep/in"
    ):
        find(plant("2.jpg"))


@pytest.mark.bad_input
def test_a_root_that_is_no_folder_is_refused(plant):
    root = plant("1.jpg")
    with pytest.raises(InputError, match=r"`root` must be a folder, .*1.jpg is a file"):
        find(root / "1.jpg")
    with pytest.raises(InputError, match=r"`root` must be a folder, .*nowhere is not there"):
        find(root / "nowhere")
