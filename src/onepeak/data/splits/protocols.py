"""Split protocols by name, general ones and the paper's, and the splits that they or a file make of a data set."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from onepeak._core.registry import Registry, unknown_name
from onepeak._core.values import check_integer
from onepeak._core.wording import counted, listed
from onepeak.data.manifest import Manifest
from onepeak.data.splits import paper
from onepeak.data.splits.copies import copy_digests, first_copies, has_texts
from onepeak.data.splits.files import SUFFIXES, load_splits, splits_from_folder
from onepeak.data.splits.split import PARTS, Indices, Parts, Split
from onepeak.data.splits.splitters import codes, deal, deal_groups
from onepeak.errors import InputError


def kfold(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Tests on every sample once and validates on every sample once: one fold is the test part, another the valid part.

    The valid part is the fold after the next one. Samples dealt one after another are then never the test and the valid
    part of the same run, so a class with two or more samples always has one to train on (without groups, and with four
    folds or more).
    """
    _check_units(manifest)
    dealt = _deal(manifest, parts=folds, seed=seed, stream=(split,))
    runs = []
    for fold in range(folds):
        tested, validated = dealt == fold, dealt == (fold + 2) % folds
        runs.append((np.flatnonzero(~tested & ~validated), np.flatnonzero(validated), np.flatnonzero(tested)))
    return runs


def holdout(manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:  # noqa: ARG001
    """Uses a fifth of the samples as the test part, and a fifth of the rest as the valid part."""
    _check_units(manifest)
    tested = _deal(manifest, parts=min(5, num_units(manifest)), seed=seed, stream=(split, 0)) == 0
    rest = np.flatnonzero(~tested)
    left = manifest.take(rest)
    validated = _deal(left, parts=min(5, num_units(left)), seed=seed, stream=(split, 1)) == 0
    return [(rest[~validated], rest[validated], np.flatnonzero(tested))]


def num_units(manifest: Manifest) -> int:
    """Returns the number of units that can be assigned separately: groups if there are groups, else samples."""
    return len(manifest) if manifest.groups is None else len(set(manifest.groups))


def _check_units(manifest: Manifest) -> None:
    if (units := num_units(manifest)) < 3:
        what = "samples" if manifest.groups is None else "groups (none may be in two parts)"
        raise InputError(f"at least 3 {what} are needed, found {units}.")


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
Recipe: TypeAlias = Callable[..., list[Parts]]
"""Makes all folds of one split of a manifest from `seed`, `split` (its number) and `folds`; a longer series extends a
shorter one. Raises `InputError` for data that it cannot split."""


@dataclass(frozen=True, kw_only=True)
class SplitProtocol:
    """A way to split a data set, by name."""

    name: str
    title: str
    recipe: Recipe
    num_splits: int = 10
    """The protocol's own number of splits; more splits continue the same series."""
    num_folds: int = 1
    """The number of folds per split."""
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
            any_folds=True,
        ),
        SplitProtocol(
            name="holdout",
            title="test 20 %, valid 20 % of the rest, by group if there are groups, else by class",
            num_splits=5,
            recipe=holdout,
        ),
        SplitProtocol(
            name="iciar",
            title="test 50 % of each class, 5 folds of the rest",
            num_splits=2,
            num_folds=5,
            recipe=paper.iciar,
            datasets=("iciar",),
            readings=("paper",),
        ),
        SplitProtocol(
            name="iciar-code",
            title="test 50 % of each class, the same in all splits; 5 folds of the rest",
            num_splits=2,
            num_folds=5,
            recipe=paper.iciar_as_coded,
            datasets=("iciar",),
            readings=("code",),
            default=True,
        ),
        SplitProtocol(
            name="hci",
            title="test 50 of each decade, 10 folds of the rest",
            num_folds=10,
            recipe=paper.hci,
            datasets=("hci",),
            readings=("paper",),
        ),
        SplitProtocol(
            name="hci-code",
            title="test 50 of each decade, 10 folds of the rest, the last one smaller",
            num_folds=10,
            recipe=paper.hci_as_coded,
            datasets=("hci",),
            readings=("code",),
            default=True,
        ),
        SplitProtocol(
            name="fgnet-code",
            title="by subject: test 20 %, valid 20 % of the rest",
            recipe=paper.fgnet_as_coded,
            datasets=("fgnet",),
            readings=("code",),
            default=True,
        ),
        SplitProtocol(
            name="fgnet-authors",
            title="by subject: the splits of the published code (53, 13 and 16 of 82 subjects)",
            recipe=paper.fgnet_by_its_authors,
            datasets=("fgnet",),
            readings=("authors",),
        ),
        SplitProtocol(
            name="fgnet-paper",
            title="test 20 % of the images, 5 folds of the rest; a subject may be in several parts",
            num_folds=5,
            recipe=paper.ages_as_written,
            datasets=("fgnet",),
            readings=("paper",),
        ),
        SplitProtocol(
            name="afad",
            title="as afad-code, but all copies of an image are in one part",
            recipe=paper.afad_as_coded,
            datasets=AFAD,
            default=True,
            copies_together=True,
        ),
        SplitProtocol(
            name="afad-code",
            title="by gender and age: test 20 %, valid 20 % of the rest, rounded down",
            recipe=paper.afad_as_coded,
            datasets=AFAD,
            readings=("code",),
        ),
        SplitProtocol(
            name="afad-paper",
            title="test 20 % of the images, 5 folds of the rest",
            num_folds=5,
            recipe=paper.ages_as_written,
            datasets=AFAD,
            readings=("paper",),
        ),
    ],
)

READINGS = ("auto", "paper", "code", "authors")
"""Names that stand for another protocol with each data set."""


def make_splits(
    manifest: Manifest,
    *,
    protocol: str = "auto",
    splits: int | None = None,
    folds: int | None = None,
    seed: int = 0,
) -> list[Split]:
    """Splits a data set by a protocol.

    Args:
        manifest: The data set.
        protocol: The name of a protocol; `"auto"` (for a data set of the paper that of its published code, for AFAD
            with all copies of an image in one part; `kfold` for all others); `"paper"` or `"code"` for a data set of
            the paper, `"authors"` for FG-NET; a CSV or JSON file of splits; or a folder of them in the layout of the
            paper's code (`split_0/fold_0/train_s_0_f_0.csv`).
        splits: The number of splits, by default the protocol's own. Fewer splits are the first of its series, more
            continue it.
        folds: The number of folds to use of each split, by default all. Only `kfold` can make more than its own five.
        seed: The seed of the series. Ignored for a file.

    Returns:
        The runs, ordered by split and fold.

    Example:
        >>> import numpy as np
        >>> from onepeak.data.manifest import FeatureRows
        >>> rows = FeatureRows(columns=("x",), values=np.zeros((20, 1)))
        >>> data = Manifest(name="mine", items=rows, labels=np.arange(20) % 4, classes=("a", "b", "c", "d"))
        >>> [(split.name, split.sizes) for split in make_splits(data, folds=2)]
        [('split0-fold0', {'train': 12, 'valid': 4, 'test': 4}), ('split0-fold1', {'train': 12, 'valid': 4, 'test': 4})]
    """
    check_integer("seed", seed, minimum=0)
    if splits is not None:
        check_integer("splits", splits, minimum=1)
    if folds is not None:
        check_integer("folds", folds, minimum=1)
    if protocol.lower().endswith(SUFFIXES):
        return _first_of(load_splits(Path(protocol), manifest), protocol, splits=splits, folds=folds)
    if protocol not in READINGS and protocol not in PROTOCOLS and Path(protocol).is_dir():
        return _first_of(splits_from_folder(Path(protocol), manifest), protocol, splits=splits, folds=folds)

    record = find_protocol(manifest, protocol)
    num_folds = _num_folds(record, manifest, folds)
    first: Indices | None = None
    notes: tuple[str, ...] = ()
    if record.copies_together or has_texts(manifest.items):
        first = first_copies(manifest, copy_digests(manifest.items))
        notes = _copies_note(first, "text" if has_texts(manifest.items) else "image")
    runs = []
    for split in range(splits or record.num_splits):
        series = _series(record, manifest, seed=seed, split=split, folds=num_folds)[: folds or num_folds]
        for fold, parts in enumerate(series):
            chosen = parts if first is None else _with_copies(parts, first)
            named = dict(zip(PARTS, chosen, strict=True))
            runs.append(Split(**named, split=split, fold=fold, seed=seed, protocol=record.name, notes=notes))
    return runs


def _series(record: SplitProtocol, manifest: Manifest, *, seed: int, split: int, folds: int) -> list[Parts]:
    """Returns the parts of each fold; raises an error for data that the protocol cannot split."""
    try:
        series = record.recipe(manifest, seed=seed, split=split, folds=folds)
        if not all(len(part) for parts in series for part in parts):
            raise InputError("a part would have no sample.")
    except InputError as error:
        raise InputError(f"Protocol {record.name!r} cannot split {manifest.name!r}: {error.message}") from None
    return series


def _can_split(record: SplitProtocol, manifest: Manifest) -> bool:
    try:
        return bool(_series(record, manifest, seed=0, split=0, folds=record.num_folds))
    except InputError:
        return False


def _with_copies(parts: Parts, first: Indices) -> Parts:
    """Moves all copies of a sample to the part of the first of them; `first` is its position, for every sample."""
    part_of = np.full(len(first), len(PARTS))
    for number, indices in enumerate(parts):
        part_of[indices] = number
    train, valid, test = (np.flatnonzero(part_of[first] == number) for number in range(len(PARTS)))
    return train, valid, test


def _copies_note(first: Indices, noun: str) -> tuple[str, ...]:
    counts = np.bincount(first)
    copied = counts[counts > 1]
    if not len(copied):
        return () if noun == "text" else ("no image has an exact copy",)
    kept = f"the copies of {'an image' if noun == 'image' else 'a text'} are in the part of the first of them"
    exact, each = ("copies", "sample") if noun == "text" else ("exact copies", "file")
    return (f"{counted(len(copied), noun)} with {exact}, {counted(int(copied.sum()), each)} in all: {kept}",)


def find_protocol(manifest: Manifest, protocol: str) -> SplitProtocol:
    """Returns the protocol that a name stands for with this data set."""
    published = [record for record in PROTOCOLS if manifest.name in record.datasets]
    match protocol:
        case "auto":
            # the name does not prove that the data are that set, or complete
            own = (record for record in published if record.default and _can_split(record, manifest))
            return next(own, PROTOCOLS["kfold"])
        case "paper" | "code" | "authors":
            for record in published:
                if protocol in record.readings:
                    return record
            known = sorted({name for record in PROTOCOLS if protocol in record.readings for name in record.datasets})
            raise InputError(
                f"`protocol` {protocol!r} is for {listed(known)} of the paper's data sets, got {manifest.name!r}. "
                "Use 'auto', 'kfold' or 'holdout'."
            )
        case _ if protocol in PROTOCOLS:
            return PROTOCOLS[protocol]
        case _:
            raise unknown_name("protocol", protocol, [*READINGS, *(record.name for record in PROTOCOLS)])


def _num_folds(record: SplitProtocol, manifest: Manifest, folds: int | None) -> int:
    """Returns the number of folds that the protocol makes; the first `folds` of them are used."""
    if not record.any_folds:
        if folds is not None and folds > record.num_folds:
            raise InputError(
                f"`folds` must be at most {record.num_folds} for protocol {record.name!r}, got {folds}. "
                "More runs come from more `splits`."
            )
        return record.num_folds
    units = num_units(manifest)
    if folds is not None and folds > units:
        what = "samples" if manifest.groups is None else "groups"
        raise InputError(f"`folds` must be at most the number of {what} ({units}), got {folds}.")
    return min(max(record.num_folds, folds or 0), units)


def _first_of(runs: list[Split], protocol: str, *, splits: int | None, folds: int | None) -> list[Split]:
    """Returns the first splits of a file, and the first folds of each."""
    numbers = sorted({run.split for run in runs})[:splits]
    chosen = [run for split in numbers for run in [run for run in runs if run.split == split][:folds]]
    if splits is not None and len(numbers) < splits:
        raise InputError(f"`splits` must be at most the {len(numbers)} in {protocol}, got {splits}.")
    if folds is not None and len(chosen) < folds * len(numbers):
        raise InputError(f"`folds` must be at most what each split of {protocol} has, got {folds}.")
    return chosen
