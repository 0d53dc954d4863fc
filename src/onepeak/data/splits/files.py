"""Saves splits to files, and loads splits made here or by other programs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from onepeak.data.manifest import Manifest
from onepeak.data.splits.as_csv import splits_from_csv, splits_to_csv
from onepeak.data.splits.as_json import splits_from_json, splits_to_json
from onepeak.data.splits.split import Split
from onepeak.errors import InputError

SUFFIXES = (".csv", ".json")


def save_splits(splits: Sequence[Split], manifest: Manifest, path: Path) -> None:
    """Writes splits as CSV or JSON, depending on the suffix of the file.

    The CSV has the columns `item`, `path` (for image files), `label`, `group` (if there are groups) and one column per
    run (`split0-fold0`) with `train`, `valid`, `test`, or nothing for an item left out. The JSON also holds the
    protocol and the seed.

    Args:
        splits: The runs to write.
        manifest: The data set they belong to.
        path: A file that ends in `.csv` or `.json`; missing folders are created.
    """
    suffix = _suffix(path)
    if not splits:
        raise InputError("`splits` must hold at least one split, got none.")
    for split in splits:
        split.check_within(len(manifest))
    _check_different(splits, "`splits`")
    text = splits_to_json(splits, manifest) if suffix == ".json" else splits_to_csv(splits, manifest)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"The splits cannot be written to {path}: {error.strerror}.") from error


def load_splits(path: Path, manifest: Manifest) -> list[Split]:
    """Reads splits made here or by other programs, and matches them with a data set.

    A CSV needs a column `path` (relative to the data set's root) or `item` (positions from 0), and one column per run:
    `split0-fold0` and so on, or a single one named `part`. JSON is an object with `runs`, a list of objects with
    `train`, `valid` and `test`, each a list of paths or positions. Other common names of the valid part are accepted.

    Args:
        path: A file that ends in `.csv` or `.json`.
        manifest: The data set; a path or position that it does not have is an error. Items that the file puts into no
            part are not used: `onepeak.data.splits.counts.unused_items` reports them. A file of positions that does not
            name all items must show that it was made for this data set: a CSV by a column `label`, JSON by a list
            `labels` with one label per item, or by the number of `items`.

    Returns:
        The runs, ordered by split and fold; for a CSV, their protocol is the name of the file.
    """
    splits = splits_from_json(path, manifest) if _suffix(path) == ".json" else splits_from_csv(path, manifest)
    _check_different(splits, str(path))
    return sorted(splits, key=lambda split: (split.split, split.fold))


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"`path` must end in .csv or .json, got {str(path)!r}.")
    return suffix


def _check_different(splits: Sequence[Split], where: str) -> None:
    name, count = Counter(split.name for split in splits).most_common(1)[0]
    if count > 1:
        raise InputError(f"{where} must hold every run once, got {name} {count} times.")
