"""Recipes by name: the paper's for its five data sets, and defaults chosen for the data."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from onepeak._core.check import check_choice
from onepeak.data.images.augment import Augment
from onepeak.data.images.decode import size_of_file
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.index import known_of_files
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Manifest
from onepeak.errors import InputError
from onepeak.training.recipe import Recipe, changed

PAPER = Recipe(
    epochs=1000,
    batch_size=8,
    optimizer="sgd",
    lr=1e-3,
    momentum=0.9,
    weight_decay=1e-5,
    schedule="step",
    step_every=100,
    step_factor=0.1,
    lr_floor=1e-7,
    resize=Resize(short_side=532, only_enlarge=True, scale=0.5),
    augment=Augment(crop=256),
    evaluation_batch_size=32,
)
"""Belharbi et al. 2019, section 4, with the geometry of its published code for faces."""

PAPER_BY_SET = {
    "iciar": replace(
        PAPER,
        resize=Resize(short_side=768),  # half of the original's 1536, so images already that small stay as they are
        augment=Augment(crop=256, vertical_flip=True, colour_jitter=(0.5, 0.5, 0.5, 0.05)),
    ),
    "hci": replace(PAPER, lr=1e-4, resize=Resize(), augment=Augment(crop=256, vertical_flip=True)),
    "fgnet": PAPER,
    "afad-lite": replace(PAPER, batch_size=64, epochs=100),
    "afad-full": replace(PAPER, batch_size=64, epochs=100),
}
"""For lack of time the paper trains PN and ELB on AFAD-Full for only 80 epochs; use `--epochs 80` for that."""

IMAGES = Recipe(
    epochs=60,
    batch_size=16,
    lr=3e-4,
    warmup_epochs=1,
    resize=Resize(short_side=256),
    augment=Augment(crop=224),
    evaluation_batch_size=32,
)
"""Images in general, with a pretrained backbone."""

SMALL_IMAGES = Recipe(epochs=15, batch_size=32, lr=2e-3, warmup_epochs=1, augment=Augment(vertical_flip=True))
"""Small images of equal size in arrays, for the small backbone on a CPU."""

SMALL_FILES = replace(SMALL_IMAGES, augment=Augment())
"""Small image files of equal size: the same without vertical flips, as they may show something with a top."""

LEAST_ROWS, MOST_ROWS = 64, 1024
"""Smallest and largest batch of table rows."""

TABLE = Recipe(
    epochs=100, batch_size=LEAST_ROWS, lr=3e-3, weight_decay=1e-3, warmup_epochs=1, evaluation_batch_size=4096
)
"""Tables, for the mlp; `rows_per_step` gives the batch size."""

LARGE_TABLE = replace(TABLE, epochs=40, lr=6e-3)
"""The same errors as with `TABLE`, in a fraction of the time."""

TEXTS = replace(TABLE, epochs=20, lr=1e-3)
"""Features of texts, which are many and alike: fewer epochs, for one hidden layer."""

TEXT_HIDDEN = (128,)

FROZEN = replace(TABLE, epochs=100, lr=1e-2, weight_decay=1e-2, evaluation_batch_size=1024)
"""For the head on the features of a frozen backbone."""

MANY_ROWS = 20_000
"""Number of rows from which a table is large."""

LARGEST_SMALL = 96
"""Images up to this side are small."""

STEPS_AN_EPOCH = 10
"""Batch norm's running statistics average over about this many steps. With fewer steps per epoch they belong to
outdated weights, and a network that has learnt is evaluated as if it had not."""

LEAST_BATCH = 8
LEAST_STEPS = 300
"""Fewest steps of a whole training on few images or texts."""

_TRAINED = 0.6
"""Approximate share of items in the training part, in the protocols for your own data."""

PRESETS = ("auto", "paper")

BASE = "base"
"""The key that names the preset a file starts from."""


def preset(name: str, manifest: Manifest, *, frozen: bool = False, cache: Path | None = None) -> Recipe:
    """Returns the recipe of a name for some data.

    "auto" is chosen for the data, with smaller batches and more epochs for few images. "paper" is the paper's recipe,
    which differs between its five data sets. `cache` is the folder of decoded images, if not the default.
    """
    check_choice("recipe", name, PRESETS)
    if name == "paper":
        return PAPER_BY_SET.get(manifest.name, PAPER)
    if frozen:  # the geometry of the images, and steps as for the rows of a table
        images = preset(name, manifest, cache=cache)
        return replace(FROZEN, batch_size=rows_per_step(len(manifest)), resize=images.resize, augment=images.augment)
    match manifest.items:
        case FeatureRows(texts=texts) if texts is not None:
            batch_size = rows_per_step(len(manifest))
            steps = math.ceil(_TRAINED * len(manifest) / batch_size)
            return replace(TEXTS, batch_size=batch_size, epochs=max(TEXTS.epochs, math.ceil(LEAST_STEPS / steps)))
        case FeatureRows():
            return table_recipe(len(manifest))
        case ImageArrays(pixels=pixels) if max(pixels.shape[1:3]) <= LARGEST_SMALL:
            return _for_few(SMALL_IMAGES, len(manifest))
        case ImageFiles() as files if (side := _one_small_side(files, cache)) is not None:
            # This resizes none of these images, only images of another size that the model later predicts.
            return _for_few(replace(SMALL_FILES, resize=Resize(short_side=side)), len(manifest))
        case _:
            return _for_few(IMAGES, len(manifest))


def recipe_for(
    manifest: Manifest,
    settings: Mapping[str, Any],
    *,
    source: str,
    prefix: str = "",
    frozen: bool = False,
    cache: Path | None = None,
) -> Recipe:
    """Returns the preset that the settings name ("auto" by default), changed by the other settings."""
    try:
        base = preset(settings.get(BASE, "auto"), manifest, frozen=frozen, cache=cache)
    except InputError as error:
        raise error.at(f"{prefix}{BASE}", file=source) from error
    return changed(base, {name: settings[name] for name in settings if name != BASE}, source=source, prefix=prefix)


def table_recipe(num_rows: int) -> Recipe:
    """Returns the recipe for a table, of `onepeak train` and of `OrdinalClassifier`.

    On inner splits of four real tables it has the error of a learning rate of 0.005 with a weight decay of 0.1, the
    estimator's before, and a better likelihood.
    """
    recipe = TABLE if num_rows < MANY_ROWS else LARGE_TABLE
    return replace(recipe, batch_size=rows_per_step(num_rows))


def rows_per_step(num_rows: int) -> int:
    """Returns the batch size for a table: twice the square root of the number of rows, rounded to a power of two.

    A small table needs small batches to get enough steps. A large one has steps to spare, and larger batches take much
    less time per row.

    Example:
        >>> [rows_per_step(count) for count in (100, 1_000, 5_000, 15_000, 50_000, 1_000_000)]
        [64, 64, 128, 256, 512, 1024]
    """
    return min(MOST_ROWS, max(LEAST_ROWS, 1 << round(math.log2(2 * math.sqrt(num_rows)))))


def _for_few(recipe: Recipe, num_items: int) -> Recipe:
    """Returns the recipe; with smaller batches and enough epochs if an epoch would have too few steps."""
    trained = math.ceil(_TRAINED * num_items)
    batch_size = recipe.batch_size
    while batch_size > LEAST_BATCH and trained < STEPS_AN_EPOCH * batch_size:
        batch_size //= 2
    if batch_size == recipe.batch_size:
        return recipe
    epochs = math.ceil(LEAST_STEPS / math.ceil(trained / batch_size))
    return replace(recipe, batch_size=batch_size, epochs=max(recipe.epochs, epochs))


def _one_small_side(files: ImageFiles, cache: Path | None) -> int | None:
    """Returns the short side if all readable images are small and of equal size; None at the first that is not.

    Files that were decoded before, and have not changed, are not read again.
    """
    found: tuple[int, int] | None = None
    known = known_of_files(files, "originals", cache)
    for item, path in enumerate(files.paths):
        size = tuple(known[item].tolist()[::-1]) if item in known else size_of_file(files.root / path)
        if size is None:  # reported when all images are decoded
            continue
        if max(size) > LARGEST_SMALL or size != (found or size):
            return None
        found = size
    return None if found is None else min(found)
