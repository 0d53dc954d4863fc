import pytest

from onepeak.data.folder import read_folder
from onepeak.errors import InputError


def test_the_folder_is_the_label(plant):
    data = read_folder(plant("mild/b.png", "none/x/a.jpg", "mild/a.png"), order=["none", "mild"])
    assert data.items.paths == ("mild/a.png", "mild/b.png", "none/x/a.jpg")
    assert data.labels.tolist() == [1, 1, 0]
    assert data.classes == ("none", "mild")
    assert all((data.items.root / path).is_file() for path in data.items.paths)


def test_folders_named_by_integers_order_themselves(plant):
    data = read_folder(plant("9/a.png", "10/b.png", "12/c.png"))
    assert data.classes == ("9", "10", "12")
    assert data.labels.tolist() == [1, 2, 0]
    assert any("(11); --order 9..12 keeps them" in note for note in data.notes)


def test_classes_txt_gives_the_order_and_is_not_reported_as_ignored(plant, write):
    root = plant("low/a.png", "high/b.png")
    write("classes.txt", "low\nhigh\n")
    data = read_folder(root)
    assert data.labels.tolist() == [1, 0]
    assert data.notes == ("order from classes.txt: low < high",)


def test_an_order_given_goes_before_classes_txt(plant, write):
    root = plant("low/a.png", "high/b.png")
    write("classes.txt", "low\nhigh\n")
    assert read_folder(root, order="high,low").classes == ("high", "low")


def test_what_is_left_out_is_said(plant):
    root = plant("1/a.png", "2/b.png", "stray.jpg", "1/Thumbs.db")
    (root / "3").mkdir()
    notes = read_folder(root).notes
    assert notes[1:] == (
        "ignored 1 file that is not an image (Thumbs.db)",
        "left out 1 image beside the class folders (stray.jpg)",
        "1 folder without an image, not used as a class (3)",
    )


def test_an_empty_folder_the_order_names_is_a_class(plant):
    root = plant("low/a.png", "high/b.png")
    (root / "top").mkdir()
    data = read_folder(root, order="low,high,top")
    assert data.num_classes == 3
    assert data.notes[1:] == ("1 class of the order without an item: top",)


def test_the_data_set_is_called_like_the_folder(plant):
    root = plant("eyes/1/a.png", "eyes/2/b.png")
    assert read_folder(root / "eyes").name == "eyes"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["low/a.png", "high/b.png"], r"never guessed. Found, .* 'high' \(1\), 'low' \(1\). Give `order` \(--order"),
        (["a.png", "b.jpg"], "has 2 images but no class folders. Expected .*/<class>/<image>"),
        (["notes.txt"], "There are no images below"),
        (["train/a/1.png", "test/a/2.png"], r"\(test, train\) look like parts of a split, not classes"),
        (["data/a/1.png", "data/b/2.png"], r"has the one folder data, .* \(a, b\).*Did you mean .*data\?"),
        (["only/1.png"], "There must be at least 2 classes"),
    ],
)
def test_other_layouts_are_refused_with_what_to_do(plant, names, message):
    with pytest.raises(InputError, match=message):
        read_folder(plant(*names))
