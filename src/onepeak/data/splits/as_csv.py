"""Splits as a CSV that opens in a spreadsheet: one row an item, one column a run."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.splits.matching import check_labels_agree, item_name, match_paths, match_positions
from onepeak.data.splits.split import Indices, Part, Split
from onepeak.errors import InputError

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
    """The table: `item`, `path` and `group` where there are such, `label`, and a column a run."""
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


def splits_from_csv(text: str, manifest: Manifest, *, file: Path) -> list[Split]:
    """The runs of such a table, made here or elsewhere."""
    header, rows = _read(text, file)
    items = _items(header, rows, manifest, file)
    if len(np.unique(items)) < len(items):
        twice = np.flatnonzero(np.bincount(items) > 1)
        first = item_name(manifest, int(twice[0]))
        raise InputError(f"{file} must have one row an item, got several for {len(twice)}, such as {first}.")
    if "label" in header:
        check_labels_agree(items, _column(header, rows, "label"), manifest, file=file)

    runs = {name: (int(run[1]), int(run[2])) for name in header if (run := _RUN_COLUMN.fullmatch(name))}
    if not runs and "part" in header:
        runs = {"part": (0, 0)}
    if not runs:
        raise InputError(
            f"{file} must have a column `part`, or one a run named as `split0-fold0`, got {', '.join(header)}."
        )
    return [
        _split(items, _column(header, rows, name), name, split=split, fold=fold, file=file)
        for name, (split, fold) in runs.items()
    ]


def _read(text: str, file: Path) -> tuple[list[str], list[list[str]]]:
    """The header and the rows, whichever separator the spreadsheet wrote."""
    first = text.partition("\n")[0]
    table = [row for row in csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count)) if any(row)]
    if len(table) < 2:
        raise InputError(f"{file} must have a header and at least one row, got {len(table)} lines.")
    header = [name.strip() for name in table[0]]
    if len(set(header)) < len(header):
        raise InputError(f"{file} must have columns of different names, got {', '.join(header)}.")
    for number, row in enumerate(table[1:], start=2):
        if len(row) != len(header):
            raise InputError(f"{file}, row {number} must have {len(header)} columns as the header has, got {len(row)}.")
    return header, table[1:]


def _column(header: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> list[str]:
    at = header.index(name)
    return [row[at].strip() for row in rows]


def _items(header: Sequence[str], rows: Sequence[Sequence[str]], manifest: Manifest, file: Path) -> Indices:
    # a path means the same picture on every machine, a position need not
    if "path" in header and (isinstance(manifest.items, ImageFiles) or "item" not in header):
        return match_paths(_column(header, rows, "path"), manifest, file=file)
    if "item" not in header:
        raise InputError(f"{file} must have a column `path` or `item`, got {', '.join(header)}.")
    cells = _column(header, rows, "item")
    for number, cell in enumerate(cells, start=2):
        if not cell.isdecimal():
            raise InputError(f"{file}, row {number}: `item` must be a position from 0, got {cell!r}.")
    return match_positions([int(cell) for cell in cells], manifest, file=file)


def _split(items: Indices, cells: Sequence[str], column: str, *, split: int, fold: int, file: Path) -> Split:
    chosen: dict[Part, list[int]] = {"train": [], "valid": [], "test": []}
    for number, (item, cell) in enumerate(zip(items, cells, strict=True), start=2):
        part = _PART_NAMES.get(cell.lower())
        if part is not None:
            chosen[part].append(int(item))
        elif cell:
            raise InputError(
                f"{file}, row {number}: `{column}` must be train, valid or test, or empty to leave the item out, "
                f"got {cell!r}."
            )
    parts = {part: np.array(members, dtype=np.int64) for part, members in chosen.items()}
    for part, members in parts.items():
        if not len(members):
            raise InputError(f"{file}: `{column}` must put at least one item into {part}, got none.")
    return Split(
        train=parts["train"], valid=parts["valid"], test=parts["test"], split=split, fold=fold, protocol=file.name
    )
