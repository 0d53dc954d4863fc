"""Splits as JSON: the content of the CSV, plus the protocol and the seed of each run."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.splits.matching import check_labels_agree, match_paths
from onepeak.data.splits.split import PARTS, Indices, Part, Split
from onepeak.data.text_file import read_text
from onepeak.errors import InputError

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
    splits = [_split(run, place, numbering, manifest, file) for place, run in enumerate(runs)]
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


def _split(run: object, place: int, numbering: Indices, manifest: Manifest, file: Path) -> Split:
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
