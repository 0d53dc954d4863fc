"""The runs of an experiment: every method on every split and fold, with their work."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onepeak.data.splits import Split
from onepeak.experiment.plan import MethodEntry
from onepeak.training.feed import batch_slices
from onepeak.training.out_folder import RUNS
from onepeak.training.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class Run:
    """One training: a method on one split and fold."""

    entry: MethodEntry
    split: int
    fold: int

    @property
    def name(self) -> str:
        """The run's name in lists and messages: "elb/split0-fold0"."""
        return f"{self.entry.label}/split{self.split}-fold{self.fold}"

    def folder(self, experiment: Path) -> Path:
        """Returns the run's folder within an experiment's folder."""
        return experiment / RUNS / self.name


def grid(entries: Sequence[MethodEntry], splits: Sequence[Split]) -> tuple[Run, ...]:
    """Returns all runs, split by split, so that every method soon has a first result."""
    return tuple(Run(entry=entry, split=split.split, fold=split.fold) for split in splits for entry in entries)


@dataclass(frozen=True, kw_only=True)
class Work:
    """The amount of work in a run."""

    epochs: int
    steps: int
    """Optimiser steps, over all epochs."""
    trained: int
    """Samples trained on, over all epochs."""
    evaluated: int
    """Samples evaluated, over all epochs and at the end."""


def work_of(split: Split, recipe: Recipe) -> Work:
    """Computes the amount of work in a run without early stopping."""
    sizes = split.sizes
    batches = batch_slices(sizes["train"], recipe.batch_size)
    return Work(
        epochs=recipe.epochs,
        steps=recipe.epochs * len(batches),
        trained=recipe.epochs * (batches[-1].stop if batches else 0),
        evaluated=recipe.epochs * sizes["valid"] + sizes["valid"] + sizes["test"],
    )
