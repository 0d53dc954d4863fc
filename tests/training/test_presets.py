from dataclasses import replace

import pytest
from PIL import Image

from onepeak.data.images.augment import Augment
from onepeak.data.images.decode import decode_image, size_of_file
from onepeak.data.images.resize import Resize
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.errors import InputError
from onepeak.networks.build import NetworkSettings
from onepeak.training.prepare import prepare
from onepeak.training.presets import (
    IMAGES,
    LARGE_TABLE,
    MANY_ROWS,
    PAPER,
    SMALL_IMAGES,
    TABLE,
    preset,
    rows_per_step,
)
from onepeak.training.run import RunSettings, train_run
from training.planted import planted_images, planted_table, split_of

JITTER = (0.5, 0.5, 0.5, 0.05)


def paper(name):
    """The paper's recipe for a data set of that name."""
    return preset("paper", replace(planted_table(4), name=name))


@pytest.mark.parametrize(
    ("name", "lr", "epochs", "batch_size"),
    [
        ("iciar", 1e-3, 1000, 8),
        ("hci", 1e-4, 1000, 8),
        ("fgnet", 1e-3, 1000, 8),
        ("afad-lite", 1e-3, 100, 64),
        ("afad-full", 1e-3, 100, 64),
    ],
)
def test_the_papers_optimiser_is_one_and_its_rate_length_and_batch_are_those_of_each_set(name, lr, epochs, batch_size):
    recipe = paper(name)
    assert (recipe.lr, recipe.epochs, recipe.batch_size) == (lr, epochs, batch_size)
    assert (recipe.optimizer, recipe.momentum, recipe.weight_decay) == ("sgd", 0.9, 1e-5)
    assert (recipe.schedule, recipe.step_every, recipe.step_factor, recipe.lr_floor) == ("step", 100, 0.1, 1e-7)
    assert (recipe.warmup_epochs, recipe.clip_norm, recipe.ema, recipe.patience) == (0, None, None, None)
    assert not recipe.balanced
    assert paper("mine") == PAPER


@pytest.mark.parametrize(
    ("name", "sizes", "resize", "augment"),
    [
        # 512-pixel crops halved are 256-pixel crops of the halved image, and biopsies are halved once
        (
            "iciar",
            {(1536, 2048): (768, 1024), (768, 1024): (768, 1024), (2048, 1536): (1024, 768)},
            Resize(short_side=768),
            Augment(crop=256, vertical_flip=True, colour_jitter=JITTER),
        ),
        ("hci", {(1536, 2048): (1536, 2048)}, Resize(), Augment(crop=256, vertical_flip=True)),
        # small faces are enlarged until the crop fits
        *(
            (
                name,
                {(1536, 2048): (768, 1024), (300, 300): (266, 266)},
                Resize(short_side=532, only_enlarge=True, scale=0.5),
                Augment(crop=256),
            )
            for name in ("fgnet", "afad-full")
        ),
    ],
)
def test_the_papers_geometry_and_augmentation_are_those_of_each_set(name, sizes, resize, augment):
    assert (paper(name).resize, paper(name).augment) == (resize, augment)
    assert {size: resize.size_of(*size) for size in sizes} == sizes


def test_what_suits_depends_on_whether_there_are_rows_small_images_or_files(tmp_path):
    files = Manifest(
        name="files",
        items=ImageFiles(root=tmp_path, paths=("a.png", "b.png")),
        labels=planted_images(2).labels,
        classes=("low", "high"),
    )
    small, large = planted_images(4, size=16), planted_images(4, size=97)
    assert preset("auto", planted_table(4)).evaluation_batch_size == 4096
    assert preset("auto", small).augment.crop is None
    assert preset("auto", large) == preset("auto", files)
    assert preset("auto", files).augment.crop == 224


@pytest.mark.parametrize(
    ("sizes", "crop", "short_side"),
    [
        ([(64, 64), (64, 64)], None, 64),
        ([(64, 48), (64, 48)], None, 48),
        ([(64, 64), (48, 48)], 224, 256),
        ([(97, 97), (97, 97)], 224, 256),
    ],
)
def test_files_of_one_small_size_stay_as_they_are_and_later_ones_become_like_them(tmp_path, sizes, crop, short_side):
    paths = [f"{i}.png" for i in range(len(sizes))]
    for path, size in zip(paths, sizes, strict=True):
        Image.new("RGB", size).save(tmp_path / path)
    (tmp_path / "broken.png").write_bytes(b"no image")
    files = Manifest(
        name="files",
        items=ImageFiles(root=tmp_path, paths=("broken.png", *paths)),
        labels=planted_images(3).labels,
        classes=("low", "middle", "high"),
    )
    recipe = preset("auto", files)
    assert recipe.augment.crop == crop
    assert recipe.resize == Resize(short_side=short_side)
    assert not recipe.augment.vertical_flip


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "webp"])
@pytest.mark.parametrize("orientation", [None, 3, 6])
def test_the_size_in_a_header_is_that_of_the_upright_image(tmp_path, suffix, orientation):
    exif, path = Image.Exif(), tmp_path / f"image.{suffix}"
    if orientation is not None:
        exif[274] = orientation
    Image.new("RGB", (40, 20)).save(path, exif=exif)
    assert size_of_file(path) == decode_image(path.read_bytes()).size == ((20, 40) if orientation == 6 else (40, 20))
    path.write_bytes(path.read_bytes()[:10])
    assert size_of_file(path) is None


@pytest.mark.parametrize(
    ("num_items", "batch_size", "epochs"),
    [
        (12, 8, 300),  # 8 are trained on, a step an epoch
        (72, 8, 50),  # 44, six steps
        (180, 8, 22),  # 108, 14 steps
        (400, 16, 20),  # 240, 15 steps
        (531, 16, 15),  # 319: not quite ten steps of 32
        (532, 32, 15),
        (800, 32, 15),
    ],
)
def test_few_images_come_in_smaller_batches_and_for_300_steps_at_least(num_items, batch_size, epochs):
    recipe = preset("auto", planted_images(num_items))
    assert (recipe.batch_size, recipe.epochs) == (batch_size, epochs)
    assert replace(recipe, batch_size=32, epochs=15) == SMALL_IMAGES


@pytest.mark.bad_input
def test_few_large_images_too_but_neither_rows_nor_the_papers_recipe():
    large = planted_images(24, size=97)
    assert preset("auto", large) == replace(IMAGES, batch_size=8, epochs=150)
    assert preset("auto", planted_table(24)) == TABLE
    assert preset("auto", planted_table(1000)) == TABLE
    assert preset("auto", planted_table(MANY_ROWS - 1)) == replace(TABLE, batch_size=256)
    assert preset("auto", planted_table(MANY_ROWS)) == replace(LARGE_TABLE, batch_size=256)
    assert preset("paper", large) == PAPER
    with pytest.raises(InputError, match=r"`recipe`.*'papr'.*paper"):
        preset("papr", large)


def test_batches_of_rows_grow_with_the_square_root_of_a_table():
    assert rows_per_step(1) == rows_per_step(1900) == 64
    assert [rows_per_step(1000 * 4**power) for power in range(5)] == [64, 128, 256, 512, 1024]
    assert rows_per_step(10**9) == 1024


@pytest.mark.slow
def test_few_images_are_learnt_by_what_auto_chooses_and_not_by_one_step_an_epoch(tmp_path, fabric):
    images, split = planted_images(40), split_of(40)

    def errors(recipe):
        settings = RunSettings(method="elb", network=NetworkSettings(backbone="small"), recipe=recipe)
        folder = tmp_path / f"batches of {recipe.batch_size}"
        metrics = train_run(settings, prepare(images, recipe), split, folder, fabric=fabric)["metrics"]
        return metrics["valid"]["mae"], metrics["test"]["mae"]

    # 24 to train on: one step an epoch in batches of 32. The best constant answer has an error of 0.875.
    assert max(errors(replace(preset("auto", images), epochs=30))) <= 0.15
    assert max(errors(SMALL_IMAGES)) >= 0.5
