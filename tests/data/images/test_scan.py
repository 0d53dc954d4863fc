import pytest
from PIL import Image

from onepeak.data.images.decode import known_formats
from onepeak.data.images.scan import IMAGE_SUFFIXES, scan
from onepeak.errors import InputError


def test_images_are_found_at_any_depth_in_sorted_order(plant):
    root = plant("b/2.PNG", "a/x/1.tif", "a/0.JPG", "3.webp")
    assert scan(root).images == ("3.webp", "a/0.JPG", "a/x/1.tif", "b/2.PNG")
    assert scan(root).folders == ("a", "b")


def test_every_format_that_is_decoded_is_found():
    formats = Image.registered_extensions()
    found = {formats[suffix] for suffix in IMAGE_SUFFIXES}
    assert found >= set(known_formats())


def test_what_systems_and_archives_leave_behind_is_ignored_and_counted(plant):
    root = plant(
        "a/1.jpg", "a/.DS_Store", "a/Thumbs.db", "a/._1.jpg", "__MACOSX/a/1.jpg", "a/notes.txt", ".git/logo.png"
    )
    found = scan(root)
    assert found.images == ("a/1.jpg",)
    assert found.folders == ("a",)
    assert found.notes() == ("ignored 6 files that are not images (.DS_Store, ._1.jpg, 1.jpg, Thumbs.db and 2 more)",)


def test_files_that_were_of_use_are_not_reported(plant):
    assert scan(plant("a/1.jpg", "classes.txt")).notes(used=("classes.txt",)) == ()


def test_links_to_other_folders_are_followed_and_circles_are_not(plant, tmp_path_factory):
    root = plant("a/1.jpg")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "2.jpg").write_bytes(b"")
    (root / "b").symlink_to(elsewhere)
    (root / "a" / "round").symlink_to(root)
    assert scan(root).images == ("a/1.jpg", "b/2.jpg")


def test_folders_that_link_to_each_other_count_once_and_under_their_own_names(plant):
    root = plant("a/p.png", "b/q.png")
    (root / "a" / "other").symlink_to(root / "b")
    (root / "b" / "other").symlink_to(root / "a")
    assert scan(root).images == ("a/p.png", "b/q.png")


def test_a_folder_elsewhere_that_two_links_lead_to_counts_once(plant, tmp_path_factory):
    root, elsewhere = plant("a/1.jpg"), tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "inner").mkdir()
    (elsewhere / "inner" / "2.jpg").write_bytes(b"")
    (elsewhere / "inner" / "home").symlink_to(root.parent)
    (root / "b").symlink_to(elsewhere)
    (root / "c").symlink_to(elsewhere / "inner")
    assert scan(root).images == ("a/1.jpg", "c/2.jpg")


@pytest.mark.bad_input
def test_a_file_or_nothing_is_no_folder(plant):
    root = plant("a.jpg")
    with pytest.raises(InputError, match=r"a.jpg must be a folder, got a file"):
        scan(root / "a.jpg")
    with pytest.raises(InputError, match=r"There is no folder .*nowhere"):
        scan(root / "nowhere")
