"""Makes the splits of a data set from a protocol or a file."""

from pathlib import Path

import numpy as np

from onepeak._core.registry import unknown_name
from onepeak._core.values import check_integer
from onepeak._core.wording import counted, listed
from onepeak.data.manifest import Manifest
from onepeak.data.splits.catalog import PROTOCOLS, SplitProtocol, num_units
from onepeak.data.splits.files import SUFFIXES, load_splits, splits_from_folder
from onepeak.data.splits.leaks import copy_digests, first_copies, has_texts
from onepeak.data.splits.split import PARTS, Indices, Parts, Split
from onepeak.errors import InputError

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
    if reason := record.refusal(manifest):
        raise InputError(f"Protocol {record.name!r} {reason}.")
    num_folds = _num_folds(record, manifest, folds)
    first: Indices | None = None
    notes: tuple[str, ...] = ()
    if record.copies_together or has_texts(manifest.items):
        first = first_copies(manifest, copy_digests(manifest.items))
        notes = _copies_note(first, "text" if has_texts(manifest.items) else "image")
    runs = []
    for split in range(splits or record.num_splits):
        series = record.recipe(manifest, seed=seed, split=split, folds=num_folds)[: folds or num_folds]
        for fold, parts in enumerate(series):
            chosen = parts if first is None else _with_copies(parts, first)
            named = dict(zip(PARTS, chosen, strict=True))
            runs.append(Split(**named, split=split, fold=fold, seed=seed, protocol=record.name, notes=notes))
    return runs


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
            own = [record for record in published if record.default and record.refusal(manifest) is None]
            return own[0] if own else PROTOCOLS["kfold"]
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
