"""All split protocols by name: the general ones, and the paper's, in both readings where text and code differ."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, runtime_checkable
from typing import Protocol as Callback

from onepeak._registry import Registry
from onepeak.data.manifest import Manifest
from onepeak.data.splits import general, paper
from onepeak.data.splits.split import Parts

Reading: TypeAlias = Literal["paper", "code"]


@runtime_checkable
class Recipe(Callback):
    """Makes all folds of one split from the seed and the split's number; a longer series extends a shorter one."""

    def __call__(self, manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
        """Returns train, valid and test of each fold."""


@runtime_checkable
class Refusal(Callback):
    """Explains why a protocol cannot split a data set, as the predicate of a sentence; None if it can."""

    def __call__(self, manifest: Manifest) -> str | None:
        """Returns the reason, or None."""


@dataclass(frozen=True, kw_only=True)
class SplitProtocol:
    """A way to split a data set, by name."""

    name: str
    title: str
    num_splits: int
    """The protocol's own number of splits; more splits continue the same series."""
    num_folds: int
    """The number of folds per split."""
    recipe: Recipe
    refusal: Refusal
    datasets: tuple[str, ...] = ()
    """The data sets it was published for; empty for a general protocol."""
    readings: tuple[Reading, ...] = ()
    """Whether it follows the paper's text, its published code, or both."""
    any_folds: bool = False
    """Whether more than `num_folds` folds are possible."""


BOTH: tuple[Reading, ...] = ("paper", "code")
AFAD = ("afad-lite", "afad-full")

PROTOCOLS: Registry[SplitProtocol] = Registry(
    "protocol",
    [
        SplitProtocol(
            name="kfold",
            title="every item is tested on once, by group if there are groups, else by class",
            num_splits=1,
            num_folds=5,
            recipe=general.kfold,
            refusal=general.too_few_units,
            any_folds=True,
        ),
        SplitProtocol(
            name="holdout",
            title="test 20 %, valid 20 % of the rest, by group if there are groups, else by class",
            num_splits=5,
            num_folds=1,
            recipe=general.holdout,
            refusal=general.too_few_units,
        ),
        SplitProtocol(
            name="iciar",
            title="test 50 % of each class, 5 folds of the rest",
            num_splits=2,
            num_folds=5,
            recipe=paper.iciar,
            refusal=paper.without_fold_items,
            datasets=("iciar",),
            readings=BOTH,
        ),
        SplitProtocol(
            name="hci",
            title="test 50 of each decade, 10 folds of the rest",
            num_splits=10,
            num_folds=10,
            recipe=paper.hci,
            refusal=paper.without_fifty_a_class,
            datasets=("hci",),
            readings=BOTH,
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
        ),
        SplitProtocol(
            name="fgnet-paper",
            title="test 20 % of the images, 5 folds of the rest; a subject may be in several parts",
            num_splits=10,
            num_folds=5,
            recipe=paper.ages_as_written,
            refusal=paper.without_ten_items,
            datasets=("fgnet",),
            readings=("paper",),
        ),
        SplitProtocol(
            name="afad-code",
            title="by gender and age: test 20 %, valid 20 % of the rest",
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
            refusal=paper.without_ten_items,
            datasets=AFAD,
            readings=("paper",),
        ),
    ],
)
