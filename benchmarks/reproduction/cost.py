"""The cost of the paper's five experiments: steps from the experiment files, hours from measured speed."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onepeak._core.wording import counted
from onepeak.data.datasets import DATASETS
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.splits import make_splits
from onepeak.data.splits.protocols import find_protocol
from onepeak.experiment.estimate import Work, work_of
from onepeak.experiment.plan import read_plan
from onepeak.experiment.prepared import recipe_of
from onepeak.training.presets import recipe_for
from reproduction.text import table

STEPS_PER_SECOND = {
    "float32": {8: (468.5, 0.08), 64: (87.0, 0.11)},
    "bfloat16": {8: (730.7, 0.10), 64: (138.7, 0.11)},
}
"""By precision and batch size: steps per second packed on one H200, and the share of time for validation
(results/speed)."""
CROP = 256 * 256
FORWARD = 1 / 3
"""Relative cost of a pixel that is only evaluated; the shares above imply .29 and .36 for images of FG-NET's sizes."""
PIXELS = {
    "iciar": 1024 * 768,  # 2048 x 1536, halved
    "hci": 400 * 400,  # sides of 312 to 500
    "afad-lite": 266 * 266,  # near square
    "afad-full": 266 * 266,
    "fgnet": 266 * 330,
}
"""Approximate pixels of an evaluated image."""
SUBJECTS = 82


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of all runs of one experiment."""

    runs: int
    steps: int
    hours: dict[str, float]
    """On one H200, by precision."""
    sizes: str
    """Sizes of the parts of the first run."""


def cost_of(experiment: Path) -> Cost:
    """Counts the steps of an experiment's file on the complete data set, of which only the counts are needed."""
    plan = read_plan(experiment)
    manifest = counted_manifest(str(plan.source.data))
    recipe = recipe_for(manifest, plan.recipe, source=str(experiment), prefix="recipe.")
    num_splits = plan.splits or find_protocol(manifest, plan.protocol).num_splits
    first = make_splits(manifest, protocol=plan.protocol, splits=1, folds=plan.folds)  # the others have the same size
    works = [work_of(fold, recipe_of(entry, recipe)) for fold in first for entry in plan.methods]
    pixels = PIXELS[str(plan.source.data)]
    seconds = {
        precision: sum(seconds_of(work, recipe.batch_size, pixels=pixels, precision=precision) for work in works)
        for precision in STEPS_PER_SECOND
    }
    return Cost(
        runs=num_splits * len(works),
        steps=num_splits * sum(work.steps for work in works),
        hours={precision: num_splits * each / 3600 for precision, each in seconds.items()},
        sizes=" / ".join(f"{size:,}" for size in first[0].sizes.values()),
    )


def seconds_of(work: Work, batch_size: int, *, pixels: int, precision: str) -> float:
    """From the measured training speed, plus a third of the time per evaluated pixel."""
    speed, validation = STEPS_PER_SECOND[precision][batch_size]
    step = (1 - validation) / speed
    return step * (work.steps + FORWARD * work.evaluated * pixels / CROP / batch_size)


def counted_manifest(name: str) -> Manifest:
    """As many images as in the complete data set, evenly over classes, genders and persons; without files."""
    record = DATASETS[name]
    count = record.num_items
    labels = np.arange(count) % len(record.classes)
    turns = np.arange(count) // len(record.classes)
    return Manifest(
        name=name,
        items=ImageFiles(root=Path(name), paths=tuple(f"{item}.jpg" for item in range(count))),
        labels=labels.astype(np.int64),
        classes=record.classes,
        groups=tuple(f"{item % SUBJECTS}" for item in range(count)) if name == "fgnet" else None,
        strata=tuple("mf"[turn % 2] for turn in turns) if name.startswith("afad") else None,
    )


def cost_table(experiments: Path) -> str:
    """The paper's five experiments."""
    rows = []
    for name in PIXELS:
        cost = cost_of(experiments / f"{name}-paper.toml")
        record = DATASETS[name]
        rows.append(
            (
                f"`{name}`, {counted(len(record.classes), 'class')}",
                f"{record.num_items:,}",
                cost.sizes,
                f"{cost.runs:,}",
                f"{cost.steps / 1e6:.1f}",
                *(f"{hours:.0f}" for hours in cost.hours.values()),
            )
        )
    hours = (f"hours on one H200, {precision}" for precision in STEPS_PER_SECOND)
    return table(("data", "images", "train / valid / test", "runs, all rows", "million steps", *hours), rows)
