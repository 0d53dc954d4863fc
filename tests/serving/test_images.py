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
from onepeak.serving.images import Unnamed, images_and_columns, pixels_of, separate
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


def test_colours_may_come_first_or_last():
    last = np.random.default_rng(0).integers(0, 256, (5, 4, 3), np.uint8)
    first = np.moveaxis(last, -1, 0)
    for image in (last, first, torch.from_numpy(last), torch.from_numpy(first.copy())):
        assert (pixels_of(image, SAME) == last).all()
    square = np.random.default_rng(0).integers(0, 256, (3, 3, 3), np.uint8)
    assert (pixels_of(square, SAME) == square).all()


def test_grey_is_repeated_as_a_files_grey_is():
    grey = np.random.default_rng(0).integers(0, 256, (5, 4, 1), np.uint8)
    for image in (grey, np.moveaxis(grey, -1, 0), torch.from_numpy(grey)):
        assert (pixels_of(image, SAME) == grey.repeat(3, axis=-1)).all()
    first = np.random.default_rng(0).integers(0, 256, (3, 5, 1), np.uint8)  # one pixel wide
    assert (pixels_of(first, SAME) == np.moveaxis(first, 0, -1)).all()


def test_a_batch_is_separated_and_one_image_is_not():
    batch = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
    assert [image.tolist() for image in separate(batch)] == batch.tolist()
    assert len(separate(torch.zeros(5, 3, 4, 4, dtype=torch.uint8))) == 5
    assert len(separate(batch[0])) == 1
    assert separate(("a.png", "b.png")) == ["a.png", "b.png"]


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


@pytest.mark.bad_input
def test_arrays_that_are_no_images_are_refused():
    with pytest.raises(InputError, match=r"got \(4, 4, 4\) for one image"):
        pixels_of(np.zeros((4, 4, 4), np.uint8), SAME)
    with pytest.raises(InputError, match=r"got \(0, 4, 3\) for one image"):
        pixels_of(np.zeros((0, 4, 3), np.uint8), SAME)
    with pytest.raises(InputError, match="must be uint8, 0 to 255, got float32"):
        pixels_of(torch.zeros(4, 4, 3), SAME)


def test_folders_give_their_images_in_order_and_files_stay_as_named(tmp_path):
    for name in ("b/2.png", "b/1.JPG", "a.tif", "notes.txt", ".hidden.png", "__MACOSX/a.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    given = [tmp_path / "notes.txt", tmp_path, "missing.png"]
    found = [path.relative_to(tmp_path).as_posix() if path.is_absolute() else str(path) for path in image_paths(given)]
    assert found == ["notes.txt", "a.tif", "b/1.JPG", "b/2.png", "missing.png"]


@pytest.mark.bad_input
def test_nothing_to_look_at_is_refused(tmp_path):
    with pytest.raises(InputError, match="`inputs` must name at least one image or folder, got none"):
        image_paths([])
    with pytest.raises(InputError, match=re.escape(f"There are no images below {tmp_path}.")):
        image_paths([tmp_path])


def test_a_list_stands_for_its_images_from_its_own_folder(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "1.png").write_bytes(b"")
    (tmp_path / "scans.csv").write_text(f"path,grade\nb\\1.png,0\n{tmp_path / 'b' / '1.png'},1\ngone.png,\n")
    first, missing = tmp_path / "b" / "1.png", tmp_path / "gone.png"
    assert image_paths([tmp_path / "scans.csv", "c.png"]) == [first, first, missing, Path("c.png")]


def test_names_without_extension_are_read_as_in_training(tmp_path):
    (tmp_path / "1.png").write_bytes(b"")
    (tmp_path / "ids.csv").write_text("path\n1\n2\n")
    assert image_paths([tmp_path / "ids.csv"]) == [tmp_path / "1.png", tmp_path / "2"]


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


@pytest.mark.bad_input
def test_a_root_is_for_lists_alone(tmp_path):
    (tmp_path / "a.csv").write_text("path\na.png\n")
    for other in (tmp_path, tmp_path / "a.png"):
        message = f"`--root` is the folder of the images of a list, got {other}, which is not a list: leave it out"
        with pytest.raises(InputError, match=re.escape(message)):
            images_and_columns([tmp_path / "a.csv", other], root=tmp_path)


def test_the_column_of_a_list_is_the_first_that_is_there(tmp_path):
    (tmp_path / "scans.csv").write_text("path,scan\na.png,b.png\n")
    for columns, name in ((("scan", "path"), "b.png"), (("image", "path"), "a.png")):
        assert image_paths([tmp_path / "scans.csv"], columns=columns) == [tmp_path / name]


def test_what_stands_in_other_columns_of_a_list_stops_nothing(tmp_path):
    rows = [f"{number}.png,{number}" for number in range(40)]
    (tmp_path / "scans.csv").write_text("\n".join(["path,age", *rows, "40.png,4O"]))
    assert len(image_paths([tmp_path / "scans.csv"])) == 41


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
def test_columns_cannot_be_kept_of_what_is_no_list_or_lacks_them(tmp_path):
    (tmp_path / "a.csv").write_text("path,id\na.png,1\n")
    (tmp_path / "b.csv").write_text("path\nb.png\n")
    for other in (tmp_path, tmp_path / "a.png"):
        message = f"`--keep` copies columns of a list or table, got {other}: give a CSV"
        with pytest.raises(InputError, match=re.escape(message)):
            images_and_columns([tmp_path / "a.csv", other], keep=["id"])
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
