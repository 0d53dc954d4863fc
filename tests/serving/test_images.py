import os
import re
from pathlib import Path

import numpy as np
import pandas
import pytest
import torch
from PIL import Image

from image_files import write_images
from onepeak.data.images.decode import UnreadableImageError
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.build import build_store
from onepeak.errors import InputError
from onepeak.serving import image_paths
from onepeak.serving.images import Unnamed, images_and_columns, pixels_of
from onepeak.serving.output import PassthroughColumns

SAME = Resize()


def test_a_file_has_the_pixels_of_the_store(tmp_path):
    items, _ = write_images(tmp_path / "pictures", [(50, 40), (30, 64)])
    resize = Resize(short_side=24, scale=0.75)
    store = build_store(items, resize, cache_dir=tmp_path / "cache", workers=1)
    for position, name in enumerate(items.paths):
        expected = store[position].permute(1, 2, 0).numpy()
        assert (pixels_of(items.root / name, resize) == expected).all()


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "1", "CMYK", "I;16"])
def test_an_opened_image_has_the_pixels_of_its_file(mode, tmp_path):
    path = tmp_path / "image.tif"
    values = np.random.default_rng(0).integers(0, 256, (9, 7), np.uint8)
    image = Image.fromarray(values.astype(np.uint16) * 257) if mode == "I;16" else Image.fromarray(values).convert(mode)
    image.save(path)
    with Image.open(path) as opened:
        assert opened.mode == mode
        assert (pixels_of(opened, SAME) == pixels_of(path, SAME)).all()


@pytest.mark.bad_input
def test_colours_may_come_first_or_last_and_grey_is_repeated():
    rng = np.random.default_rng(0)
    colours, grey = rng.integers(0, 256, (5, 4, 3), np.uint8), rng.integers(0, 256, (5, 4, 1), np.uint8)
    narrow = rng.integers(0, 256, (5, 1, 3), np.uint8)
    for last in (colours, grey, narrow):
        first = np.moveaxis(last, -1, 0)
        for image in (last, first, torch.from_numpy(last), torch.from_numpy(first.copy())):
            assert (pixels_of(image, SAME) == np.broadcast_to(last, (*last.shape[:2], 3))).all()
    square = colours[:3, :3]
    assert (pixels_of(square, SAME) == square).all()
    for wrong in (np.zeros((4, 4, 4), np.uint8), np.zeros((0, 4, 3), np.uint8)):
        with pytest.raises(InputError, match=re.escape(f"got {wrong.shape} for one image")):
            pixels_of(wrong, SAME)


@pytest.mark.bad_input
def test_a_cut_off_image_is_refused_when_its_pixels_are_asked_for(tmp_path):
    path = tmp_path / "cut.jpg"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:2000])
    with Image.open(path) as opened, pytest.raises(UnreadableImageError, match="cut off or damaged"):
        pixels_of(opened, SAME)


@pytest.mark.bad_input
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(UnreadableImageError, match="this is a folder or a device, not a file"):
        pixels_of(tmp_path / "pipe.png", SAME)


def test_folders_give_their_images_in_order_and_files_stay_as_named(tmp_path):
    for name in ("b/2.png", "b/1.JPG", "a.tif", "notes.txt", ".hidden.png", "__MACOSX/a.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    given = [tmp_path / "notes.txt", tmp_path, "missing.png"]
    found = [path.relative_to(tmp_path).as_posix() if path.is_absolute() else str(path) for path in image_paths(given)]
    assert found == ["notes.txt", "a.tif", "b/1.JPG", "b/2.png", "missing.png"]
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="`inputs` must name at least one image or folder, got none"):
        image_paths([])
    with pytest.raises(InputError, match=re.escape(f"There are no images below {tmp_path / 'none'}.")):
        image_paths([tmp_path / "none"])


def test_a_list_stands_for_its_images_from_its_own_folder(tmp_path):
    (tmp_path / "b").mkdir()
    first = tmp_path / "b" / "1.png"
    first.write_bytes(b"")
    lines = ["path,scan,age", "b\\1.png,b/1,0", f"{first},{first},1", "gone.png,gone,4O"]  # the age is no number
    (tmp_path / "scans.csv").write_text("\n".join(lines))
    assert image_paths([tmp_path / "scans.csv", "c.png"]) == [first, first, tmp_path / "gone.png", Path("c.png")]
    assert image_paths([tmp_path / "scans.csv"], columns=("image", "scan", "path")) == [first, first, tmp_path / "gone"]


def test_the_images_of_lists_start_from_the_root_where_one_is_given(tmp_path):
    for folder in ("lists", "scans/b"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "scans" / "b" / "1.png").write_bytes(b"")
    (tmp_path / "lists" / "a.csv").write_text(f"path\nb\\1.png\n{tmp_path / '2.png'}\n")
    (tmp_path / "lists" / "b.csv").write_text("path\ngone.png\n")
    lists = [tmp_path / "lists" / "a.csv", tmp_path / "lists" / "b.csv"]
    found = images_and_columns(lists, root=tmp_path / "scans")
    assert found.paths == [tmp_path / "scans" / "b" / "1.png", tmp_path / "2.png", tmp_path / "scans" / "gone.png"]


def test_a_name_that_no_file_can_have_is_kept_for_its_row(tmp_path):
    names = ["0.png", "a" * 300, "a\0b.png"]
    (tmp_path / "0.png").write_bytes(b"")
    (tmp_path / "a.csv").write_text("\n".join(["path", *names]))
    assert images_and_columns([tmp_path / "a.csv"]).paths == [tmp_path / name for name in names]


def test_columns_of_lists_are_kept_as_they_are_written(tmp_path):
    (tmp_path / "a.csv").write_text("path,id,grade\na.png,01,low\nb.png,,high\n")
    (tmp_path / "b.csv").write_text("grade;path;id\nlow;c.png;7\n")
    found = images_and_columns([tmp_path / "a.csv", tmp_path / "b.csv"], keep=["id,grade"])
    assert found.paths == [tmp_path / "a.png", tmp_path / "b.png", tmp_path / "c.png"]
    assert found.passthrough == PassthroughColumns(
        names=("id", "grade"), rows=(("01", "low"), (None, "high"), ("7", "low"))
    )


def test_a_row_of_a_list_that_names_no_image_stops_no_other(tmp_path):
    lists = tmp_path / "a.csv", tmp_path / "b.parquet"
    lists[0].write_text("path,id\na.png,1\n ,2\n,\nb.png\nc.png,5\n")
    pandas.DataFrame({"path": ["d.png", None], "id": ["6", "7"]}).to_parquet(lists[1])
    found = images_and_columns(lists, keep=["id"])
    assert found.paths == [
        tmp_path / "a.png",
        Unnamed(source=f"{lists[0]} line 3", error="must have a `path`, got none"),
        Unnamed(source=f"{lists[0]} line 4", error="must have a `path`, got none"),
        Unnamed(source=f"{lists[0]} line 5", error="must have 2 fields, like the header, got 1"),
        tmp_path / "c.png",
        tmp_path / "d.png",
        Unnamed(source=f"{lists[1]} row 2", error="must have a `path`, got none"),
    ]
    assert found.passthrough.rows == (("1",), ("2",), (None,), (None,), ("5",), ("6",), ("7",))


@pytest.mark.bad_input
def test_columns_and_a_root_are_for_lists_that_have_them(tmp_path):
    (tmp_path / "a.csv").write_text("path,id\na.png,1\n")
    (tmp_path / "b.csv").write_text("path\nb.png\n")
    for other in (tmp_path, tmp_path / "a.png"):
        for flag, given in (("--keep", {"keep": ["id"]}), ("--root", {"root": tmp_path})):
            with pytest.raises(InputError, match=re.escape(f"got {other}")) as error:
                images_and_columns([tmp_path / "a.csv", other], **given)
            assert str(error.value).startswith(f"`{flag}`")
    with pytest.raises(InputError, match=r"Unknown `--keep` column 'id'\. Known: path"):
        images_and_columns([tmp_path / "a.csv", tmp_path / "b.csv"], keep=["id"])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size\n1\n", r"lists with a column `path`, got a table without one: .*rows\.csv has size\. .* with --path"),
        ("paths\na.png\n", r"rows\.csv has paths\. Did you mean 'paths'\? If one of them"),
        (
            "path,size\na.png,1\n,2\n",
            r"Every row of a list must name an image, but .*rows\.csv line 3 does not: must have a `path`, got none\.",
        ),
    ],
)
def test_a_table_that_lists_no_images_is_refused(tmp_path, text, message):
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        image_paths([tmp_path / "rows.csv"])
