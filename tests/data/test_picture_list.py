import pytest

from onepeak.data.picture_list import check_pictures, missing_pictures, unnamed_pictures
from onepeak.errors import InputError

WAY_OUT = "Say where they lie with `root` (--root), or leave them out with skip_bad=True."


def test_paths_are_kept_from_the_root_with_forward_slashes(plant):
    root = plant("a/1.jpg", "b.jpg", "c/d.jpg")
    files, _, notes = check_pictures(["./a//1.jpg", str(root / "b.jpg"), "c\\d.jpg"], root=root, rows=[0, 1, 2])
    assert files.paths == ("a/1.jpg", "b.jpg", "c/d.jpg")
    assert notes == ()


def test_absolute_paths_elsewhere_are_kept_and_noted(plant, tmp_path_factory):
    root = plant("b.jpg")
    files, _, notes = check_pictures([str(root / "b.jpg")], root=tmp_path_factory.mktemp("list"), rows=[0])
    assert (files.root / files.paths[0]).is_file()
    assert notes == ("1 picture by absolute path: the list works on this machine only",)


@pytest.mark.bad_input
def test_every_missing_picture_is_counted_and_ten_are_shown(plant):
    root = plant("here.jpg")
    paths = ["here.jpg", *(f"{number:02}.jpg" for number in range(12))]
    with pytest.raises(InputError) as caught:
        check_pictures(paths, root=root, rows=range(2, 15))
    shown = ", ".join(f"{number:02}.jpg (row {number + 3})" for number in range(10))
    assert str(caught.value) == f"12 of 13 pictures do not exist in {root}: {shown} and 2 more. " + WAY_OUT


def test_missing_pictures_are_left_out_where_asked_and_named(plant):
    root = plant("a.jpg", "c.jpg")
    files, kept, notes = check_pictures(["a.jpg", "b.jpg", "c.jpg"], root=root, rows=[2, 3, 4], skip_bad=True)
    assert files.paths == ("a.jpg", "c.jpg")
    assert kept == [0, 2]
    assert notes == ("left out 1 picture of the list that cannot be found: b.jpg (row 3)",)


def test_a_name_that_no_file_can_have_is_a_missing_picture(plant):
    root, names = plant("a.jpg"), ["a.jpg", "b" * 300, "c\0.jpg"]
    files, _, (note,) = check_pictures(names, root=root, rows=[2, 3, 4], skip_bad=True)
    assert files.paths == ("a.jpg",)
    assert note.startswith("left out 2 pictures of the list that cannot be found: bbb")


@pytest.mark.bad_input
def test_leaving_out_is_not_advised_where_a_class_would_be_lost(plant):
    root, asked = plant("a.jpg"), []

    def lost(missing):
        asked.append(list(missing))
        return {"2": "2"} if len(missing) == 2 else {}

    with pytest.raises(InputError, match=r"\(row 5\)\. Say where they lie with `root` \(--root\)\.$"):
        check_pictures(["b.jpg", "a.jpg", "c.jpg"], root=root, rows=[3, 4, 5], lost=lost)
    with pytest.raises(InputError, match=r"`root` \(--root\), or leave them out with skip_bad=True\.$"):
        check_pictures(["a.jpg", "c.jpg"], root=root, rows=[3, 4], lost=lost)
    assert asked == [[0, 2], [1]]


def test_missing_pictures_are_those_that_are_named(plant):
    assert missing_pictures(["b.jpg", "a.jpg", None, " ", "c.jpg"], root=plant("a.jpg")) == [0, 4]


@pytest.mark.bad_input
def test_a_list_without_any_picture_is_refused_all_the_same(plant):
    with pytest.raises(
        InputError, match=r"2 of 2 pictures do not exist .* Say where they lie with `root` \(--root\)\.$"
    ):
        check_pictures(["a.jpg", "b.jpg"], root=plant("c.jpg"), rows=[2, 3], skip_bad=True)


@pytest.mark.bad_input
def test_a_folder_is_no_picture(plant):
    root = plant("a/1.jpg")
    with pytest.raises(InputError, match=r"1 of 1 picture does not exist in .*: a \(row 0\)"):
        check_pictures(["a"], root=root, rows=[0])


@pytest.mark.bad_input
def test_a_picture_listed_twice_is_refused_with_its_rows(plant):
    root = plant("a.jpg", "b.jpg")
    with pytest.raises(InputError, match=r"every picture once, 1 picture stands there more often: a.jpg \(rows 2, 4\)"):
        check_pictures(["a.jpg", "b.jpg", "./a.jpg"], root=root, rows=[2, 3, 4])
    (root / "s").mkdir()
    with pytest.raises(InputError, match=r"more often: a.jpg \(rows 2, 3\)"):
        check_pictures(["a.jpg", "s/../a.jpg"], root=root, rows=[2, 3])


@pytest.mark.bad_input
def test_a_row_without_a_path_is_refused(plant):
    with pytest.raises(InputError, match="Every row must have a `path`, 2 rows without one: 3, 4"):
        check_pictures(["a.jpg", " ", None], root=plant("a.jpg"), rows=[2, 3, 4])


def test_rows_without_a_path_are_told_by_their_names():
    fault = unnamed_pictures(["a.jpg", None, " ", float("nan")], rows=[2, 3, 4, 5], column="scan")
    assert fault.places == (1, 2, 3)
    assert fault.sentence == "Every row must have a `scan`, 3 rows without one: 3, 4, 5"
    assert unnamed_pictures(["a.jpg"], rows=[2]) is None
