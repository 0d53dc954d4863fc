"""All split protocols by name: the general ones, and the paper's, in both readings where text and code differ."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from onepeak._core.registry import Registry
from onepeak.data.manifest import Manifest
from onepeak.data.splits import paper
from onepeak.data.splits.split import Indices, Parts
from onepeak.data.splits.splitters import codes, deal, deal_groups


def kfold(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Tests on every sample once and validates on every sample once: one fold is the test part, another the valid part.

    The valid part is the fold after the next one. Samples dealt one after another are then never the test and the valid
    part of the same run, so a class with two or more samples always has one to train on (without groups, and with four
    folds or more).
    """
    dealt = _deal(manifest, parts=folds, seed=seed, stream=(split,))
    runs = []
    for fold in range(folds):
        tested, validated = dealt == fold, dealt == (fold + 2) % folds
        runs.append((np.flatnonzero(~tested & ~validated), np.flatnonzero(validated), np.flatnonzero(tested)))
    return runs


def holdout(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:  # noqa: ARG001
    """Uses a fifth of the samples as the test part, and a fifth of the rest as the valid part."""
    tested = _deal(manifest, parts=min(5, num_units(manifest)), seed=seed, stream=(split, 0)) == 0
    rest = np.flatnonzero(~tested)
    left = manifest.take(rest)
    validated = _deal(left, parts=min(5, num_units(left)), seed=seed, stream=(split, 1)) == 0
    return [(rest[~validated], rest[validated], np.flatnonzero(tested))]


def too_few_units(manifest: Manifest) -> str | None:
    """Explains why the data set cannot be split into three parts; None if it can."""
    units = num_units(manifest)
    if units >= 3:
        return None
    if manifest.groups is None:
        return f"needs at least 3 samples; {manifest.name!r} has {units}"
    return f"needs at least 3 groups, because a group must not be in two parts; {manifest.name!r} has {units}"


def num_units(manifest: Manifest) -> int:
    """Returns the number of units that can be assigned separately: groups if there are groups, else samples."""
    return len(manifest) if manifest.groups is None else len(set(manifest.groups))


def _deal(manifest: Manifest, *, parts: int, seed: int, stream: tuple[int, ...]) -> Indices:
    """Returns the part of every sample: dealt by group if there are groups, else by class and stratum."""
    if manifest.groups is not None:
        return deal_groups(manifest.labels, codes(manifest.groups), parts=parts, seed=seed, stream=stream)
    if manifest.strata is None:
        return deal(manifest.labels, parts=parts, seed=seed, stream=stream)
    strata = codes(manifest.strata)
    # class first: strata are balanced within each class, and the classes stay in order
    return deal(manifest.labels * (strata.max() + 1) + strata, parts=parts, seed=seed, stream=stream)


Reading: TypeAlias = Literal["paper", "code", "authors"]


@runtime_checkable
class Splitter(Protocol):
    """Makes all folds of one split from the seed and the split's number; a longer series extends a shorter one."""

    def __call__(self, manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
        """Returns train, valid and test of each fold."""


@dataclass(frozen=True, kw_only=True)
class SplitProtocol:
    """A way to split a data set, by name."""

    name: str
    title: str
    num_splits: int
    """The protocol's own number of splits; more splits continue the same series."""
    num_folds: int
    """The number of folds per split."""
    recipe: Splitter
    refusal: Callable[[Manifest], str | None]
    """Explains why the protocol cannot split a data set, as the predicate of a sentence; None if it can."""
    datasets: tuple[str, ...] = ()
    """The data sets it was published for; empty for a general protocol."""
    readings: tuple[Reading, ...] = ()
    """Whether it follows the paper's text or its published code, or makes the authors' own splits."""
    default: bool = False
    """Whether `auto` stands for it with these data sets."""
    any_folds: bool = False
    """Whether more than `num_folds` folds are possible."""
    copies_together: bool = False
    """Whether all exact copies of an image are moved to the part of the first of them, which costs reading every file.
    The parts are those of the recipe where no image has a copy."""


AFAD = ("afad-lite", "afad-full")

PROTOCOLS: Registry[SplitProtocol] = Registry(
    "protocol",
    [
        SplitProtocol(
            name="kfold",
            title="every sample is tested on once, by group if there are groups, else by class",
            num_splits=1,
            num_folds=5,
            recipe=kfold,
            refusal=too_few_units,
            any_folds=True,
        ),
        SplitProtocol(
            name="holdout",
            title="test 20 %, valid 20 % of the rest, by group if there are groups, else by class",
            num_splits=5,
            num_folds=1,
            recipe=holdout,
            refusal=too_few_units,
        ),
        SplitProtocol(
            name="iciar",
            title="test 50 % of each class, 5 folds of the rest",
            num_splits=2,
            num_folds=5,
            recipe=paper.iciar,
            refusal=paper.without_fold_samples,
            datasets=("iciar",),
            readings=("paper",),
        ),
        SplitProtocol(
            name="iciar-code",
            title="test 50 % of each class, the same in all splits; 5 folds of the rest",
            num_splits=2,
            num_folds=5,
            recipe=paper.iciar_as_coded,
            refusal=paper.without_fold_samples,
            datasets=("iciar",),
            readings=("code",),
            default=True,
        ),
        SplitProtocol(
            name="hci",
            title="test 50 of each decade, 10 folds of the rest",
            num_splits=10,
            num_folds=10,
            recipe=paper.hci,
            refusal=paper.without_fifty_a_class,
            datasets=("hci",),
            readings=("paper",),
        ),
        SplitProtocol(
            name="hci-code",
            title="test 50 of each decade, 10 folds of the rest, the last one smaller",
            num_splits=10,
            num_folds=10,
            recipe=paper.hci_as_coded,
            refusal=paper.without_a_last_fold,
            datasets=("hci",),
            readings=("code",),
            default=True,
        ),
        SplitProtocol(
            name="fgnet-code",
            title="by subject: test 20 %, valid 20 % of the rest",
            num_splits=10,
            num_folds=1,
            recipe=paper.fgnet_as_coded,
            refusal=paper.without_subjects,
            datasets=("fgnet",),
            readings=("code",),
            default=True,
        ),
        SplitProtocol(
            name="fgnet-authors",
            title="by subject: the splits of the published code (53, 13 and 16 of 82 subjects)",
            num_splits=10,
            num_folds=1,
            recipe=paper.fgnet_by_its_authors,
            refusal=paper.without_the_subjects_of_fgnet,
            datasets=("fgnet",),
            readings=("authors",),
        ),
        SplitProtocol(
            name="fgnet-paper",
            title="test 20 % of the images, 5 folds of the rest; a subject may be in several parts",
            num_splits=10,
            num_folds=5,
            recipe=paper.ages_as_written,
            refusal=paper.without_ten_samples,
            datasets=("fgnet",),
            readings=("paper",),
        ),
        SplitProtocol(
            name="afad",
            title="as afad-code, but all copies of an image are in one part",
            num_splits=10,
            num_folds=1,
            recipe=paper.afad_as_coded,
            refusal=paper.without_gender,
            datasets=AFAD,
            default=True,
            copies_together=True,
        ),
        SplitProtocol(
            name="afad-code",
            title="by gender and age: test 20 %, valid 20 % of the rest, rounded down",
            num_splits=10,
            num_folds=1,
            recipe=paper.afad_as_coded,
            refusal=paper.without_gender,
            datasets=AFAD,
            readings=("code",),
        ),
        SplitProtocol(
            name="afad-paper",
            title="test 20 % of the images, 5 folds of the rest",
            num_splits=10,
            num_folds=5,
            recipe=paper.ages_as_written,
            refusal=paper.without_ten_samples,
            datasets=AFAD,
            readings=("paper",),
        ),
    ],
)
