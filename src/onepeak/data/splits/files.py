"""Saves splits to files, and loads splits made here or by other programs."""

import csv
import io
import json
import posixpath
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from onepeak._core.files import read_text, write_text_in_one_step
from onepeak._core.imports import Frame
from onepeak._core.wording import counted, listed
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.order import label_key
from onepeak.data.splits.split import PARTS, Indices, Part, Split
from onepeak.data.tables.read import read_table
from onepeak.errors import InputError

SUFFIXES = (".csv", ".json")
FORMAT = "onepeak-splits-1"


def save_splits(splits: Sequence[Split], manifest: Manifest, path: Path) -> None:
    """Writes splits as CSV or JSON, depending on the suffix of the file; missing folders are created.

    The CSV has the columns `item`, `path` (for image files), `label`, `group` (if there are groups) and one column per
    run (`split0-fold0`) with `train`, `valid`, `test`, or nothing for a sample left out. The JSON also holds the
    protocol and the seed.
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
    except OSError as error:
        raise InputError(f"The splits cannot be written to {path}: {error.strerror}.") from error
    write_text_in_one_step(path, text)


def load_splits(path: Path, manifest: Manifest) -> list[Split]:
    """Reads splits made here or by other programs, and matches them with a data set.

    A CSV needs a column `path` (relative to the data set's root) or `item` (positions from 0), and one column per run:
    `split0-fold0` and so on, or a single one named `part`. JSON is an object with `runs`, a list of objects with
    `train`, `valid` and `test`, each a list of paths or positions. Other common names of the valid part are accepted.

    Args:
        path: A file that ends in `.csv` or `.json`.
        manifest: The data set; a path or position that it does not have is an error. Samples that the file puts into no
            part are not used: `onepeak.data.splits.split_notes` reports them. A file of positions that does not name
            all samples must show that it was made for this data set: a CSV by a column `label`, JSON by a list `labels`
            with one label per sample, or by the number of `items`.

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
    """Returns the table that `save_splits` describes."""
    columns = {"item": [str(index) for index in range(len(manifest))]}
    if isinstance(manifest.items, ImageFiles):
        columns["path"] = list(manifest.items.paths)
    columns["label"] = [manifest.classes[label] for label in manifest.labels]
    if manifest.groups is not None:
        columns["group"] = list(manifest.groups)
    for split in splits:
        cells = np.full(len(manifest), "", dtype="<U5")
        for part, indices in split.parts.items():
            cells[indices] = part
        columns[split.name] = cells.tolist()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def splits_from_csv(file: Path, manifest: Manifest) -> list[Split]:
    """Reads the runs of such a table, whatever program wrote it."""
    table = read_table(file)
    for line, misfit in table.misfits.items():
        raise InputError(f"{file}, row {line} {misfit}.")
    frame = table.frame.apply(lambda column: column.str.strip())
    # a path means the same image on every machine, a position may not
    by_path = "path" in frame and (isinstance(manifest.items, ImageFiles) or "item" not in frame)
    if by_path:
        indices = match_paths(frame["path"].tolist(), positions_of_paths(manifest, file), manifest, file=file)
    elif "item" not in frame:
        raise InputError(f"{file} must have a column `path` or `item`, got {', '.join(frame.columns)}.")
    else:
        for line, cell in frame["item"].items():
            if not cell.isdecimal():
                raise InputError(f"{file}, row {line}: `item` must be a position from 0, got {cell!r}.")
        indices = _within([int(cell) for cell in frame["item"]], len(manifest), str(file))
    if len(np.unique(indices)) < len(indices):
        twice = np.flatnonzero(np.bincount(indices) > 1)
        first = manifest.sample_name(int(twice[0]))
        raise InputError(f"{file} must have one row per sample, got several for {len(twice)}, such as {first}.")
    agree = "label" in frame and check_labels_agree(indices, frame["label"].tolist(), manifest, file=file)
    if not (agree or by_path):
        fix, end = f"Give each row its `label`, one of {listed(manifest.classes)}", ", or add a row for every sample"
        _check_all_named(len(indices), manifest, file, fix, "path", end=f"{end}; an empty cell leaves it out")

    runs = {name: (int(run[1]), int(run[2])) for name in frame.columns if (run := _RUN_COLUMN.fullmatch(name))}
    if not runs and "part" in frame:
        runs = {"part": (0, 0)}
    if not runs:
        raise InputError(
            f"{file} must have a column `part`, or one per run, named like `split0-fold0`, "
            f"got {', '.join(frame.columns)}."
        )
    return [_split(indices, frame, name, file, split=split, fold=fold) for name, (split, fold) in runs.items()]


def _split(indices: Indices, frame: Frame, column: str, file: Path, *, split: int, fold: int) -> Split:
    parts = frame[column].str.lower().map(_PART_NAMES)
    for line, cell in frame[column][parts.isna() & (frame[column] != "")].items():
        raise InputError(
            f"{file}, row {line}: `{column}` must be train, valid or test, or empty to leave the sample out, "
            f"got {cell!r}."
        )
    members = {part: indices[(parts == part).to_numpy()] for part in PARTS}
    for part, found in members.items():
        if not len(found):
            raise InputError(f"{file}: `{column}` must put at least one sample into {part}, got none.")
    return Split(**members, split=split, fold=fold, seed=0, protocol=file.name, notes=())


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
        + "".join(f',\n  "{part}": {json.dumps(indices.tolist())}' for part, indices in split.parts.items())
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
            raise InputError(
                f"{file} must have a label for each of its {counted(len(numbering), 'sample')}, got {len(labels):,}."
            )
        texts = ["" if label is None else str(label) for label in labels]
        check_labels_agree(numbering, texts, manifest, file=file)
    splits = [_split_of_run(run, index, numbering, manifest, file) for index, run in enumerate(runs)]
    has_length = "items" in content or any(isinstance(content.get(key), list) for key in ("labels", "paths"))
    by_position = any(
        type(key) is int for run in runs for keys in run.values() if isinstance(keys, list) for key in keys
    )
    if by_position and not has_length:
        named = np.unique(np.concatenate([indices for split in splits for indices in split.parts.values()]))
        fix = f"Add `labels`, the class of each of the {len(manifest):,} samples of {manifest.name!r}"
        _check_all_named(len(named), manifest, file, fix, "paths")
    return splits


def _numbering(content: dict[str, object], manifest: Manifest, file: Path) -> Indices:
    """Maps each position in the file to a sample of the data set, by the file's list of paths if it has one."""
    paths = content.get("paths")
    if isinstance(paths, list) and isinstance(manifest.items, ImageFiles):
        return match_paths([str(path) for path in paths], positions_of_paths(manifest, file), manifest, file=file)
    count = content.get("items", len(paths) if isinstance(paths, list) else len(manifest))
    if count != len(manifest):
        raise InputError(f"{file} was made for {count} samples, but {manifest.name!r} has {len(manifest)}.")
    return np.arange(len(manifest), dtype=np.int64)


def _check_all_named(num_named: int, manifest: Manifest, file: Path, fix: str, key: str, *, end: str = "") -> None:
    """Raises an error if a file of positions, without labels, names only some samples."""
    if num_named < len(manifest):
        paths = f", or its `{key}`" if isinstance(manifest.items, ImageFiles) else ""
        raise InputError(
            f"{file} must name every sample, because it goes by position and no label shows that it was made for this "
            f"data set, got {num_named:,} of {len(manifest):,}. {fix}{paths}{end}."
        )


def _split_of_run(run: object, index: int, numbering: Indices, manifest: Manifest, file: Path) -> Split:
    if not isinstance(run, dict):
        raise InputError(f"{file}, `runs[{index}]` must be an object with train, valid and test.")
    members: dict[Part, Indices] = {}
    for part in PARTS:
        where = f"{file}, `runs[{index}].{part}`"
        keys = run.get(part, run.get("val") if part == "valid" else None)
        if not isinstance(keys, list) or not keys:
            raise InputError(f"{where} must be a non-empty list of paths or positions.")
        if all(isinstance(key, str) for key in keys):
            members[part] = match_paths(keys, positions_of_paths(manifest, file), manifest, file=file)
        elif all(type(key) is int for key in keys):
            members[part] = numbering[_within(keys, len(numbering), where)]
        else:
            raise InputError(f"{where} must hold paths only or positions only.")
    return Split(
        **members,
        split=run.get("split", 0 if "fold" in run else index),
        fold=run.get("fold", 0),
        seed=run.get("seed", 0),
        protocol=str(run.get("protocol", file.name)),
        notes=(),
    )


_FOLDER = re.compile(r"split_(\d+)/fold_(\d+)")


def splits_from_folder(folder: Path, manifest: Manifest) -> list[Split]:
    """Reads one run from each folder `split_i/fold_j`.

    Each of its files `train_s_i_f_j.csv`, `valid_s_i_f_j.csv` and `test_s_i_f_j.csv` names an image per row, in the
    first column; further columns are ignored. A path may begin with folders above the data set's root. A first row that
    names no image is a header. (The published code drops the first row of every file, though its files have no header.)
    """
    runs = sorted(
        (int(match[1]), int(match[2]))
        for path in folder.glob("split_*/fold_*")
        if path.is_dir() and (match := _FOLDER.fullmatch(path.relative_to(folder).as_posix()))
    )
    if not runs:
        raise InputError(
            f"`protocol` {folder} must be a folder with split_0/fold_0/train_s_0_f_0.csv and so on, "
            "or the name of a protocol, or a CSV or JSON file of splits."
        )
    positions, splits = positions_of_paths(manifest, folder), []
    for split, fold in runs:
        members: dict[Part, Indices] = {}
        for part in PARTS:
            file = folder / f"split_{split}/fold_{fold}/{part}_s_{split}_f_{fold}.csv"
            names = [row[0] for row in csv.reader(io.StringIO(read_text(file))) if row and row[0].strip()]
            if names and _position(names[0], positions) is None:
                del names[0]
            if not names:
                raise InputError(f"{file} must name images of {manifest.name!r} in its first column, got no row.")
            members[part] = match_paths(names, positions, manifest, file=file)
        splits.append(Split(**members, split=split, fold=fold, seed=0, protocol=folder.name, notes=()))
    return splits


def positions_of_paths(manifest: Manifest, file: Path) -> dict[str, int]:
    """Returns the position of every sample by its path; `file` is what needs them, for messages."""
    if not isinstance(manifest.items, ImageFiles):
        raise InputError(f"{file} goes by path, but {manifest.name!r} has no files: give a column `item`.")
    position = {plain_path(path): index for index, path in enumerate(manifest.items.paths)}
    if len(position) < len(manifest):
        raise InputError(f"{file} goes by path, but {manifest.name!r} has a path twice: give a column `item`.")
    return position


def _position(name: str, positions: Mapping[str, int]) -> int | None:
    """Returns the position of a path, if need be without its leading folders, which may belong to another machine."""
    steps = PurePosixPath(plain_path(name)).parts
    return next((positions[end] for start in range(len(steps)) if (end := "/".join(steps[start:])) in positions), None)


def match_paths(paths: Sequence[str], positions: Mapping[str, int], manifest: Manifest, *, file: Path) -> Indices:
    """Returns the positions of the samples with these paths (slashes or backslashes); an unknown path is an error."""
    found = [_position(path, positions) for path in paths]
    if unknown := [path for path, index in zip(paths, found, strict=True) if index is None]:
        raise InputError(
            f"{file} must name samples of {manifest.name!r}, whose paths look like {next(iter(positions))!r}; "
            f"it has no {_first(unknown)}."
        )
    return np.array(found, dtype=np.int64)


def _within(indices: list[int], number: int, where: str) -> Indices:
    """Checks positions in a file."""
    if wrong := [str(index) for index in indices if not 0 <= index < number]:
        raise InputError(
            f"{where} must hold positions from 0 to {number - 1}, got {_first(wrong)}: made for another data set."
        )
    return np.array(indices, dtype=np.int64)


def check_labels_agree(indices: Indices, labels: Sequence[str], manifest: Manifest, *, file: Path) -> bool:
    """Raises an error if the labels of a file differ from those of the data set; integers are compared as numbers.

    Returns whether they show that the file was made for this data set: not if none is a known class or one is empty.
    """
    known = {label_key(name) for name in manifest.classes}
    foreign = sorted({label for label in labels if label and label_key(label) not in known})
    if not any(label_key(label) in known for label in labels):
        return False
    here = [manifest.classes[label] for label in manifest.labels[indices]]
    wrong = [
        f"{manifest.sample_name(int(index))} ({theirs} there, {ours} here)"
        for index, theirs, ours in zip(indices, labels, here, strict=True)
        if theirs and label_key(theirs) != label_key(ours)
    ]
    if wrong:
        lacks = f"; {manifest.name!r} has no class {listed(map(repr, foreign), limit=5)}" if foreign else ""
        raise InputError(
            f"{file} has other labels than {manifest.name!r} for {_first(wrong)}{lacks}: it was made for other data, "
            "or its labels must be written like those of the data set."
        )
    return all(labels)


def plain_path(path: str) -> str:
    """Normalises a relative path: forward slashes, no `./`, no `..` where avoidable."""
    return posixpath.normpath(path.strip().replace("\\", "/"))


def _first(names: Sequence[str]) -> str:
    """Returns how many there are, and the first few."""
    return f"{counted(len(names), 'sample')}: {listed(names, limit=5)}"
