"""The page of recipes, held to the code: every key, and what `auto` and `paper` choose for it."""

import re
import tomllib
from dataclasses import fields

import pytest

import onepeak
from docs.pages import DOCS, blocks
from onepeak.data.images.augment import Augment
from onepeak.data.images.resize import Resize
from onepeak.experiment.plan import plan_from
from onepeak.networks.build import NetworkSettings
from onepeak.training.prepare import NETWORK_NAMES
from onepeak.training.presets import (
    IMAGES,
    LARGEST_SMALL,
    LEAST_BATCH,
    LEAST_STEPS,
    PAPER,
    SMALL_FILES,
    STEPS_AN_EPOCH,
    TABLE,
    preset,
)
from onepeak.training.recipe import SETTING_NAMES, Recipe, changed
from training.planted import planted_images

PAGE = DOCS / "recipes.md"
TEXT = PAGE.read_text(encoding="utf-8")
FEW = (DOCS / "tuning.md").read_text(encoding="utf-8")
NETWORKS = [
    NetworkSettings(),
    NetworkSettings(backbone="small"),
    NetworkSettings(backbone="mlp", num_features=1),
]


def table(heading):
    """The cells of each row of the table under a heading, by key."""
    section = TEXT.partition(f"## `[{heading}]`\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| `.*$", section, re.M)]
    return {row[0].strip("`"): row[1:] for row in rows}


def written(value):
    """A value as the page has it."""
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case tuple():
            return str(list(value))
        case _:
            return str(value)


def shown(records, name):
    return [written(getattr(record, name)) for record in records]


def test_every_key_of_a_recipe_with_what_each_base_chooses():
    rows = table("recipe")
    assert tuple(rows) == SETTING_NAMES
    for name, cells in rows.items():
        assert cells[:4] == shown([IMAGES, SMALL_FILES, TABLE, PAPER], name), name


@pytest.mark.parametrize(("part", "kind"), [("resize", Resize), ("augment", Augment)])
def test_every_key_of_the_images_geometry(part, kind):
    rows = table(f"recipe.{part}")
    assert list(rows) == [field.name for field in fields(kind)]
    for name, cells in rows.items():
        assert cells[:3] == shown([getattr(recipe, part) for recipe in (IMAGES, SMALL_FILES, PAPER)], name), name


def test_every_key_of_a_network_where_it_does_something():
    rows = table("network")
    assert tuple(rows) == NETWORK_NAMES
    of_tables = {"hidden", "dropout"}
    for name, cells in rows.items():
        images, small, mlp = shown(NETWORKS, name)
        wanted = ["", "", mlp] if name in of_tables else [images, small, mlp if name == "backbone" else ""]
        assert cells[:3] == wanted, name


def test_the_sizes_are_those_of_the_recipes():
    assert f"no side longer than {LARGEST_SMALL} pixels" in TEXT
    assert f"the short side becomes {IMAGES.resize.short_side} pixels" in TEXT
    assert f"a random square of {IMAGES.augment.crop} pixels" in TEXT


def test_what_few_images_get_is_what_auto_chooses():
    assert STEPS_AN_EPOCH == 10
    assert "fewer than ten steps" in FEW
    assert f"down to {LEAST_BATCH} at the least" in FEW
    assert f"until the training has {LEAST_STEPS} steps" in FEW
    few = preset("auto", planted_images(72))
    assert f"of 72 small images about 44 are trained on, in batches of {few.batch_size} for {few.epochs}" in FEW
    assert preset("auto", planted_images(530)).batch_size < preset("auto", planted_images(540)).batch_size
    assert preset("auto", planted_images(260, size=97)) != preset("auto", planted_images(270, size=97)) == IMAGES


def test_the_files_on_the_page_are_taken():
    recipe, experiment, of_settings = (
        tomllib.loads(block.text)
        for page in (PAGE, DOCS / "experiments.md")
        for block in blocks(page)
        if block.language == "toml"
    )
    assert changed(IMAGES, recipe, source="recipe.toml").resize.short_side == 512
    assert plan_from(experiment, name="experiment", source="experiment.toml").network["pooling"] == "average"
    _, short, long, published, other = plan_from(of_settings, name="settings", source="settings.toml").methods
    assert (short.settings, short.label) == (long.settings, "elb-growth-1.017")
    assert (long.label, other.label) == ("elb-as-far-as-the-paper", "rps-steeper")
    assert (published.variant, other.recipe) == ("as_published", {"lr": 1e-4})


def test_keys_have_a_meaning():
    for heading in ("recipe", "recipe.resize", "recipe.augment", "network"):
        assert all(len(cells[-1]) > 5 for cells in table(heading).values())
    assert {field.name for field in fields(Recipe)} == {*SETTING_NAMES, "resize", "augment"}


def test_the_growths_of_the_page_end_where_the_paper_ends():
    section = (DOCS / "tuning.md").read_text(encoding="utf-8").partition("## The barrier's t")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", section, re.MULTILINE)
    assert len(rows) == 5

    def end(epochs, **settings):
        barrier = onepeak.LogBarrier(num_classes=3, **settings)
        for _ in range(epochs):
            barrier.tighten()
        return barrier.t.item()

    for epochs, default, growth in rows:
        assert f"{end(int(epochs)):.3f}" == default
        assert end(int(epochs), growth=float(growth)) == pytest.approx(end(1000), rel=1e-3)
