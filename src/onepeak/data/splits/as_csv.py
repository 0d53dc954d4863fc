"""Splits as a CSV that opens in a spreadsheet: one row per item, one column per run."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onepeak._listing import listed
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.splits.matching import check_labels_agree, item_name, match_paths, match_positions
from onepeak.data.splits.split import Indices, Part, Split
from onepeak.data.table_file import csv_rows
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
