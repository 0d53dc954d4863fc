from pathlib import Path

import numpy as np
import pytest

from onepeak.data.splits import Split
from onepeak.experiment.grid import Run, Work, grid, work_of
from onepeak.experiment.plan import MethodEntry
from onepeak.training.feed import RowFeed
from onepeak.training.loop import Loop
from onepeak.training.recipe import Recipe


def split_of(train, valid=3, test=2, **numbers):
    ends = np.cumsum([train, valid, test])
    items = np.arange(ends[-1])
    return Split(
        train=items[:train], valid=items[train : ends[1]], test=items[ends[1] :], protocol="planted", **numbers
    )


def test_every_method_is_on_every_split_and_fold_once_split_by_split():
    entries = [MethodEntry(name="ce"), MethodEntry(name="elb")]
    splits = [split_of(9, split=split, fold=fold) for split in range(2) for fold in range(2)]
    names = [run.name for run in grid(entries, splits)]
    assert names[:4] == ["ce/split0-fold0", "elb/split0-fold0", "ce/split0-fold1", "elb/split0-fold1"]
    assert len(names) == len(set(names)) == 8


def test_a_run_lies_where_the_layout_says():
    run = Run(entry=MethodEntry(name="ld", variant="as_published"), split=1, fold=2)
    assert run.folder(Path("D")) == Path("D/runs/ld-as_published/split1-fold2")


@pytest.mark.parametrize(
    ("train", "batch", "steps", "trained"),
    [(9, 4, 2, 8), (10, 4, 3, 10), (8, 4, 2, 8), (3, 4, 1, 3), (1, 4, 1, 1), (3, 1, 3, 3)],
)
def test_the_work_is_counted_as_the_loop_does_it(train, batch, steps, trained, fabric):
    recipe = Recipe(epochs=5, batch_size=batch)
    split = split_of(train)
    assert work_of(split, recipe) == Work(epochs=5, steps=5 * steps, trained=5 * trained, evaluated=5 * 3 + 3 + 2)

    loop = object.__new__(Loop)  # of which only the batches are asked for
    loop.split, loop.recipe, loop.fabric, loop.seed, loop.epoch = split, recipe, fabric, 0, 0
    loop.feed = object.__new__(RowFeed)
    loop.labels = np.zeros(len(np.concatenate(list(split.parts.values()))), dtype=np.int64)
    batches = list(loop.batches())
    assert (len(batches), sum(map(len, batches))) == (steps, trained)
