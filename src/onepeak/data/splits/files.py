"""Saves splits to files, and loads splits made here or by other programs."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from onepeak._core.files import read_text
from onepeak._core.wording import listed
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.splits.matching import check_labels_agree, item_name, match_paths, match_positions, plain_path
from onepeak.data.splits.split import PARTS, Indices, Part, Split
from onepeak.data.tables.read import csv_rows
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


_RUN_COLUMN = re.compile(r"split(\d+)-fold(\d+)")
_PART_NAMES: dict[str, Part] = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "val": "valid",
    "validation": "valid",
    "dev": "valid",
    "test": "test",
    "testing": "test",
}


def splits_to_csv(splits: Sequence[Split], manifest: Manifest) -> str:
    """Returns the table: `item`, `path` (for files), `label`, `group` (if there are groups), and one column per run."""
    columns = {"item": [str(item) for item in range(len(manifest))]}
    if isinstance(manifest.items, ImageFiles):
        columns["path"] = list(manifest.items.paths)
    columns["label"] = [manifest.classes[label] for label in manifest.labels]
    if manifest.groups is not None:
        columns["group"] = list(manifest.groups)
    for split in splits:
        cells = np.full(len(manifest), "", dtype="<U5")
        for part, items in split.parts.items():
            cells[items] = part
        columns[split.name] = cells.tolist()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def splits_from_csv(file: Path, manifest: Manifest) -> list[Split]:
    """Reads the runs of such a table, whatever program wrote it."""
    table = _Table.read(file)
    items = _items(table, manifest)
    if len(np.unique(items)) < len(items):
        twice = np.flatnonzero(np.bincount(items) > 1)
        first = item_name(manifest, int(twice[0]))
        raise InputError(f"{file} must have one row per item, got several for {len(twice)}, such as {first}.")
    labels = table.column("label") if "label" in table.header else None
    agreed = labels is not None and check_labels_agree(items, labels, manifest, file=file)
    if not (agreed or len(items) == len(manifest) or _by_path(table, manifest)):
        raise InputError(
            f"{file} must name every item, because it goes by position and no label shows that it was made for this "
            f"data set, got {len(items):,} of {len(manifest):,}. Give each row its `label`, one of "
            f"{listed(manifest.classes)}"
            f"{', or its `path`' if isinstance(manifest.items, ImageFiles) else ''}, or add a row for every item; an "
            "empty cell leaves it out."
        )

    runs = {name: (int(run[1]), int(run[2])) for name in table.header if (run := _RUN_COLUMN.fullmatch(name))}
    if not runs and "part" in table.header:
        runs = {"part": (0, 0)}
    if not runs:
        raise InputError(
            f"{file} must have a column `part`, or one per run, named like `split0-fold0`, "
            f"got {', '.join(table.header)}."
        )
    return [_split(items, table, name, split=split, fold=fold) for name, (split, fold) in runs.items()]


@dataclass(frozen=True, kw_only=True)
class _Table:
    """The cells of a file."""

    file: Path
    header: list[str]
    lines: list[int]
    """The line on which each row ends."""
    rows: list[list[str]]

    @staticmethod
    def read(file: Path) -> "_Table":
        (_, *lines), (first, *rows), _ = csv_rows(file)
        header = [name.strip() for name in first]
        if not rows:
            raise InputError(f"{file} must have a header and at least one row, got no row.")
        if len(set(header)) < len(header):
            raise InputError(f"{file} must have columns of different names, got {', '.join(header)}.")
        for line, row in zip(lines, rows, strict=True):
            if len(row) != len(header):
                raise InputError(
                    f"{file}, row {line} must have {len(header)} columns, like the header, got {len(row)}."
                )
        return _Table(file=file, header=header, lines=lines, rows=rows)

    def column(self, name: str) -> list[str]:
        at = self.header.index(name)
        return [row[at].strip() for row in self.rows]


def _by_path(table: _Table, manifest: Manifest) -> bool:
    # a path means the same image on every machine, a position may not
    return "path" in table.header and (isinstance(manifest.items, ImageFiles) or "item" not in table.header)


def _items(table: _Table, manifest: Manifest) -> Indices:
    if _by_path(table, manifest):
        return match_paths(table.column("path"), manifest, file=table.file)
    if "item" not in table.header:
        raise InputError(f"{table.file} must have a column `path` or `item`, got {', '.join(table.header)}.")
    cells = table.column("item")
    for line, cell in zip(table.lines, cells, strict=True):
        if not cell.isdecimal():
            raise InputError(f"{table.file}, row {line}: `item` must be a position from 0, got {cell!r}.")
    return match_positions([int(cell) for cell in cells], manifest, file=table.file)


def _split(items: Indices, table: _Table, column: str, *, split: int, fold: int) -> Split:
    chosen: dict[Part, list[int]] = {"train": [], "valid": [], "test": []}
    for item, line, cell in zip(items, table.lines, table.column(column), strict=True):
        part = _PART_NAMES.get(cell.lower())
        if part is not None:
            chosen[part].append(int(item))
        elif cell:
            raise InputError(
                f"{table.file}, row {line}: `{column}` must be train, valid or test, or empty to leave the item out, "
                f"got {cell!r}."
            )
    parts = {part: np.array(members, dtype=np.int64) for part, members in chosen.items()}
    for part, members in parts.items():
        if not len(members):
            raise InputError(f"{table.file}: `{column}` must put at least one item into {part}, got none.")
    return Split(
        train=parts["train"], valid=parts["valid"], test=parts["test"], split=split, fold=fold, protocol=table.file.name
    )


FORMAT = "onepeak-splits-1"


def splits_to_json(splits: Sequence[Split], manifest: Manifest) -> str:
    """Returns the text, with one line per part, so that a diff shows changes."""
    head = {
        "format": FORMAT,
        "dataset": manifest.name,
        "items": len(manifest),
        "labels": [manifest.classes[label] for label in manifest.labels],
        "paths": manifest.items.paths if isinstance(manifest.items, ImageFiles) else None,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    runs = [
        json.dumps({"protocol": split.protocol, "seed": split.seed, "split": split.split, "fold": split.fold})[:-1]
        + "".join(f',\n  "{part}": {json.dumps(items.tolist())}' for part, items in split.parts.items())
        + "}"
        for split in splits
    ]
    return "{" + ",\n".join([*lines, '"runs": [\n' + ",\n".join(runs) + "\n]"]) + "}\n"


def splits_from_json(file: Path, manifest: Manifest) -> list[Split]:
    """Reads the runs of such a file, whatever program wrote it."""
    try:
        content = json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise InputError(f"{file} must be valid JSON: {error}.") from None
    runs = content.get("runs") if isinstance(content, dict) else None
    if not isinstance(runs, list) or not runs:
        raise InputError(f"{file} must be an object with a non-empty list `runs`.")

    numbering = _numbering(content, manifest, file)
    if isinstance(labels := content.get("labels"), list):
        if len(labels) != len(numbering):
            raise InputError(f"{file} must have a label for each of its {len(numbering):,} items, got {len(labels):,}.")
        texts = ["" if label is None else str(label) for label in labels]
        check_labels_agree(numbering, texts, manifest, file=file)
    splits = [_split_as_json(run, place, numbering, manifest, file) for place, run in enumerate(runs)]
    says_how_many = "items" in content or any(isinstance(content.get(key), list) for key in ("labels", "paths"))
    if not says_how_many and _goes_by_position(runs):
        _check_all_named(splits, manifest, file)
    return splits


def _numbering(content: dict[str, object], manifest: Manifest, file: Path) -> Indices:
    """Maps each position in the file to an item of the data set, by the file's list of paths if it has one."""
    paths = content.get("paths")
    if isinstance(paths, list) and isinstance(manifest.items, ImageFiles):
        return match_paths([str(path) for path in paths], manifest, file=file)
    count = content.get("items", len(paths) if isinstance(paths, list) else len(manifest))
    if count != len(manifest):
        raise InputError(f"{file} was made for {count} items, but {manifest.name!r} has {len(manifest)}.")
    return np.arange(len(manifest), dtype=np.int64)


def _goes_by_position(runs: list[dict[str, object]]) -> bool:
    return any(type(key) is int for run in runs for keys in run.values() if isinstance(keys, list) for key in keys)


def _check_all_named(splits: Sequence[Split], manifest: Manifest, file: Path) -> None:
    named = np.unique(np.concatenate([items for split in splits for items in split.parts.values()]))
    if len(named) < len(manifest):
        raise InputError(
            f"{file} must name every item, because it goes by position and no label shows that it was made for this "
            f"data set, got {len(named):,} of {len(manifest):,}. Add `labels`, the class of each of the "
            f"{len(manifest):,} items of {manifest.name!r}"
            f"{', or `paths`' if isinstance(manifest.items, ImageFiles) else ''}."
        )


def _split_as_json(run: object, place: int, numbering: Indices, manifest: Manifest, file: Path) -> Split:
    if not isinstance(run, dict):
        raise InputError(f"{file}, `runs[{place}]` must be an object with train, valid and test.")
    members: dict[Part, Indices] = {}
    for part in PARTS:
        where = f"{file}, `runs[{place}].{part}`"
        keys = run.get(part, run.get("val") if part == "valid" else None)
        if not isinstance(keys, list) or not keys:
            raise InputError(f"{where} must be a non-empty list of paths or positions.")
        if all(isinstance(key, str) for key in keys):
            members[part] = match_paths(keys, manifest, file=file)
        elif all(type(key) is int for key in keys):
            outside = [key for key in keys if not 0 <= key < len(numbering)]
            if outside:
                raise InputError(f"{where} must hold positions from 0 to {len(numbering) - 1}, got {outside[0]}.")
            members[part] = numbering[np.array(keys)]
        else:
            raise InputError(f"{where} must hold paths only or positions only.")
    return Split(
        train=members["train"],
        valid=members["valid"],
        test=members["test"],
        split=run.get("split", 0 if "fold" in run else place),
        fold=run.get("fold", 0),
        seed=run.get("seed", 0),
        protocol=str(run.get("protocol", file.name)),
    )


_FOLDER = re.compile(r"split_(\d+)/fold_(\d+)")


def splits_from_folder(folder: Path, manifest: Manifest) -> list[Split]:
    """Reads one run from each folder `split_i/fold_j`.

    Each of its files `train_s_i_f_j.csv`, `valid_s_i_f_j.csv` and `test_s_i_f_j.csv` names an image per row, in the
    first column; further columns are ignored. A path may begin with folders above the data set's root. A first row that
    names no image is a header. (The published code drops the first row of every file, though its files have no header.)

    Args:
        folder: The folder of the splits.
        manifest: The data set, of image files.
    """
    if not isinstance(manifest.items, ImageFiles):
        raise InputError(f"`protocol` {folder} goes by path, but {manifest.name!r} has no files.")
    runs = sorted(
        (int(found[1]), int(found[2]))
        for path in folder.glob("split_*/fold_*")
        if path.is_dir() and (found := _FOLDER.fullmatch(path.relative_to(folder).as_posix()))
    )
    if not runs:
        raise InputError(
            f"`protocol` {folder} must be a folder with split_0/fold_0/train_s_0_f_0.csv and so on, "
            "or the name of a protocol, or a CSV or JSON file of splits."
        )
    positions = {path: item for item, path in enumerate(manifest.items.paths)}
    splits = []
    for split, fold in runs:
        train, valid, test = (
            _items_as_folder(folder / f"split_{split}/fold_{fold}/{part}_s_{split}_f_{fold}.csv", manifest, positions)
            for part in PARTS
        )
        splits.append(Split(train=train, valid=valid, test=test, split=split, fold=fold, protocol=folder.name))
    return splits


def _items_as_folder(file: Path, manifest: Manifest, positions: dict[str, int]) -> Indices:
    names = [row[0] for row in csv.reader(io.StringIO(read_text(file))) if row and row[0].strip()]
    found = [_position(name, positions) for name in names]
    if found and found[0] is None:
        names, found = names[1:], found[1:]
    unknown = [name for name, item in zip(names, found, strict=True) if item is None]
    if unknown or not found:
        raise InputError(
            f"{file} must name images of {manifest.name!r} in its first column, whose paths look like "
            f"{next(iter(positions))!r}, got {listed(unknown, limit=3) if unknown else 'no row'}."
        )
    return np.array(found, dtype=np.int64)


def _position(name: str, positions: dict[str, int]) -> int | None:
    """Returns the item of a path, if need be without its leading folders, which may belong to another machine."""
    steps = PurePosixPath(plain_path(name)).parts
    return next((positions[end] for start in range(len(steps)) if (end := "/".join(steps[start:])) in positions), None)
