import os
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from onepeak.data.images.decode import known_formats
from onepeak.data.images.folder import (
    IMAGE_SUFFIXES,
    find_images,
    image_files,
    on_disk,
    read_folder,
    refuse_names,
    scan,
)
from onepeak.errors import InputError


def test_the_folder_is_the_label(plant):
    data = read_folder(plant("mild/b.png", "none/x/a.jpg", "mild/a.png"), order=["none", "mild", "severe"])
    assert data.items.paths == ("mild/a.png", "mild/b.png", "none/x/a.jpg")
    assert data.labels.tolist() == [1, 1, 0]
    assert data.classes == ("none", "mild", "severe")
    assert data.notes[1:] == ("1 class of the order without a sample: severe",)
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


def test_what_is_left_out_is_said(plant):
    root = plant("1/a.png", "2/b.png", "stray.jpg", "1/Thumbs.db")
    (root / "3").mkdir()
    notes = read_folder(root).notes
    assert notes[1:] == (
        "ignored 1 file that is not an image (Thumbs.db)",
        "left out 1 image beside the class folders (stray.jpg)",
        "1 folder without an image, not used as a class (3)",
    )


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


def listed(paths, root, rows=None):
    """The items and notes of a list without a fault."""
    found, faults = find_images(paths, root=root, rows=range(len(paths)) if rows is None else rows)
    assert faults == []
    return image_files(found, root=root, written=paths)


def test_paths_are_kept_from_the_root_with_forward_slashes(plant):
    root = plant("a/1.jpg", "b.jpg", "c/d.jpg")
    files, notes = listed(["./a//1.jpg", str(root / "b.jpg"), "c\\d.jpg"], root)
    assert files.paths == ("a/1.jpg", "b.jpg", "c/d.jpg")
    assert notes == ()


def test_absolute_paths_elsewhere_are_kept_and_noted(plant, tmp_path_factory):
    root = plant("b.jpg")
    files, notes = listed([str(root / "b.jpg")], tmp_path_factory.mktemp("list"))
    assert (files.root / files.paths[0]).is_file()
    assert notes == ("1 image with an absolute path: the list works on this machine only",)


def test_every_missing_image_is_counted_and_five_are_shown(plant):
    root = plant("here.jpg")
    paths = ["here.jpg", *(f"{number:02}.jpg" for number in range(12))]
    found, (fault,) = find_images(paths, root=root, rows=range(2, 15))
    assert (found[0].name, found[1:]) == ("here.jpg", [None] * 12)
    assert fault.indices == tuple(range(1, 13))
    shown = ", ".join(f"{number:02}.jpg (row {number + 3})" for number in range(5))
    told = f"12 of 13 images do not exist in {root}: {shown} and 7 more"
    assert str(fault) == f"{told}. Check the column `path` (--path) and the folder (--root)."
    assert fault.reason == "no such image, 00.jpg, 01.jpg, 02.jpg, 03.jpg, 04.jpg and 7 more"


@pytest.mark.parametrize("name", ["b" * 300, "c\0.jpg", "folder"])
def test_a_name_that_no_image_can_have_is_a_missing_image(plant, name):
    _, (fault,) = find_images(["a.jpg", name], root=plant("a.jpg", "folder/1.jpg"), rows=[2, 3])
    assert fault.indices == (1,)


def test_a_image_listed_twice_is_a_fault_of_the_list(plant):
    root = plant("a.jpg", "b.jpg")
    _, (fault,) = find_images(["a.jpg", "b.jpg", "./a.jpg"], root=root, rows=[2, 3, 4])
    assert (fault.indices, fault.sentence) == ((), "`path` must name every image once, got a.jpg (rows 2, 4)")
    (root / "s").mkdir()
    _, (fault,) = find_images(["a.jpg", "s/../a.jpg"], root=root, rows=[2, 3])
    assert fault.sentence.endswith("got a.jpg (rows 2, 3)")


def test_rows_without_a_path_are_named_and_are_no_missing_images(plant):
    paths = [Path("a.jpg"), None, " ", float("nan"), 1]  # a number may be a name
    _, (fault,) = find_images(paths, root=plant("a.jpg", "1.jpg"), rows=[2, 3, 4, 5, 6], column="scan")
    assert fault.indices == (1, 2, 3)
    assert fault.sentence == "Every row must have a `scan`, 3 rows without one: 3, 4, 5"


def test_a_name_without_extension_stands_for_the_one_image_that_has_it(plant):
    root = plant("a.PNG", "b/10_left.jpeg", "b/10_left.txt", "c", "c.png", "v1.2.tif")
    files, notes = listed(["a", "b\\10_left", "c", " v1.2 "], root)
    assert files.paths == ("a.PNG", "b/10_left.jpeg", "c", "v1.2.tif")
    assert notes == ("3 paths written otherwise than on disk, such as a for a.PNG",)
    assert listed([str(root / "a")], root)[0].paths == ("a.PNG",)


def test_a_name_without_extension_that_fits_several_images_or_none_is_a_missing_image(plant):
    root = plant("a.png", "a.jpg", "b.txt", "c.png/d.txt")
    found, (fault,) = find_images(["a", "b", "c", "no/d"], root=root, rows=[2, 3, 4, 5], column="id")
    assert (found, fault.indices) == ([None] * 4, (0, 1, 2, 3))
    assert fault.advice == (
        "Check the column `id` (--path) and the folder (--root); a name without a file extension must match "
        "exactly one image; a may be a.jpg, a.png there"
    )


def test_each_folder_is_listed_once(plant, monkeypatch):
    root = plant(*(f"{folder}/{number}.png" for folder in "ab" for number in range(20)))
    seen, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: (seen.append(folder), scandir(folder))[1])
    assert None not in list(on_disk(root, [f"{folder}/{number}" for number in range(20) for folder in "ab"]))
    assert seen == [root / "a", root / "b"]


@pytest.mark.bad_input
def test_a_column_that_names_images_of_a_folder_is_refused(plant):
    root = plant("a.png", "b.jpg", "c.txt")
    frame = pd.DataFrame({"size": [1.5, 2.5], "my id": ["a", " b.jpg"]})
    with pytest.raises(InputError, match=r"'my id' names images, such as 'a': give it as `path` \(--path 'my id'\)"):
        refuse_names(frame, folder=root)
    refuse_names(frame, folder=root / "elsewhere")
    for cells in (["a", "a"], ["a", "c"], ["a", "c.txt"], ["a", None], ["a", ""]):
        refuse_names(pd.DataFrame({"tone": cells}), folder=root)


def test_images_are_found_at_any_depth_in_sorted_order(plant):
    root = plant("b/2.PNG", "a/x/1.tif", "a/0.JPG", "3.webp")
    assert scan(root).images == ("3.webp", "a/0.JPG", "a/x/1.tif", "b/2.PNG")
    assert scan(root).folders == ("a", "b")
    with pytest.raises(InputError, match=r"3.webp must be a folder, got a file"):
        scan(root / "3.webp")
    with pytest.raises(InputError, match=r"There is no folder .*nowhere"):
        scan(root / "nowhere")


def test_every_format_that_is_decoded_is_found():
    formats = Image.registered_extensions()
    found = {formats.get(suffix) for suffix in IMAGE_SUFFIXES}
    assert found >= set(known_formats())


def test_what_systems_and_archives_leave_behind_is_ignored_and_counted(plant):
    root = plant(
        "a/1.jpg", "a/.DS_Store", "a/Thumbs.db", "a/._1.jpg", "__MACOSX/a/1.jpg", "a/notes.txt", ".git/logo.png"
    )
    found = scan(root)
    assert found.images == ("a/1.jpg",)
    assert found.folders == ("a",)
    assert found.notes() == ("ignored 6 files that are not images (.DS_Store, ._1.jpg, 1.jpg, Thumbs.db and 2 more)",)


def test_links_to_other_folders_are_followed_and_circles_are_not(plant, tmp_path_factory):
    root = plant("a/1.jpg")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "2.jpg").write_bytes(b"")
    (root / "b").symlink_to(elsewhere)
    (root / "a" / "round").symlink_to(root)
    assert scan(root).images == ("a/1.jpg", "b/2.jpg")


def test_a_folder_elsewhere_that_two_links_lead_to_counts_once(plant, tmp_path_factory):
    root, elsewhere = plant("a/1.jpg"), tmp_path_factory.mktemp("elsewhere") / "inner"
    elsewhere.mkdir()
    (elsewhere / "2.jpg").write_bytes(b"")
    (elsewhere / "home").symlink_to(root.parent)
    (root / "b").symlink_to(elsewhere.parent)
    (root / "c").symlink_to(elsewhere)
    assert scan(root).images == ("a/1.jpg", "c/2.jpg")


def test_images_below_other_folders_are_found_by_the_end_of_their_path(plant):
    root = plant("scans/1/left.jpg", "scans/2/left.jpg", "scans/2/right.JPG", "other/x.png")
    files, notes = listed(["\\eyes\\1\\left.jpg", "C:\\eyes\\2\\LEFT.jpg", "right", "x.png"], root)
    assert files.paths == ("scans/1/left.jpg", "scans/2/left.jpg", "scans/2/right.JPG", "other/x.png")
    assert notes == ("4 paths written otherwise than on disk, such as /eyes/1/left.jpg for scans/1/left.jpg",)


@pytest.mark.bad_input
def test_an_image_that_fits_several_or_lacks_in_a_folder_that_is_there_is_not_found_elsewhere(plant):
    root = plant("a/1.png", "b/1.png", "b/2.png")
    found, (fault,) = find_images(["1.png", "a/2.png", "../2.png"], root=root, rows=[2, 3, 4])
    assert found == [None] * 3
    assert fault.advice.endswith("; 1.png may be a/1.png, b/1.png there")


@pytest.mark.bad_input
def test_many_folders_of_a_few_images_may_be_patients_and_are_asked_about(plant):
    root = plant(*(f"{patient}/{eye}.png" for patient in range(1, 31) for eye in range(4)))
    with pytest.raises(InputError, match=r"30 folders with 4 images each\. If they are patients, .* path,label,group"):
        read_folder(root)
    assert read_folder(root, order="1..30").num_classes == 30


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_pipes_and_devices_are_no_images_and_links_out_of_the_folder_are_told(plant, tmp_path_factory):
    root, elsewhere = plant("1/a.png", "2/b.png"), tmp_path_factory.mktemp("elsewhere")
    os.mkfifo(root / "1" / "pipe.png")
    (root / "1" / "endless.png").symlink_to("/dev/zero")
    (elsewhere / "c.png").write_bytes(b"")
    (root / "2" / "c.png").symlink_to(elsewhere / "c.png")
    found = scan(root)
    assert found.images == ("1/a.png", "2/b.png", "2/c.png")
    assert found.notes() == (
        "ignored 2 files that are not images (endless.png, pipe.png)",
        "2 links lead out of the folder: 1/endless.png, 2/c.png",
    )
    _, (fault,) = find_images(["1/a.png", "1/pipe.png"], root=root, rows=[2, 3])
    assert fault.indices == (1,)
