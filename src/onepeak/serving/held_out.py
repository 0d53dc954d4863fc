"""Finds the items of a model's validation or test part again in the data, from the records of its run."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from onepeak._check import check_choice
from onepeak._listing import counted
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.data.splits.digests import item_digests
from onepeak.errors import InputError
from onepeak.experiment.records import PREDICTIONS, read_predictions
from onepeak.serving.evaluation import with_classes_of
from onepeak.serving.model import Model
from onepeak.serving.opening import check_rows
from onepeak.training.trained_items import HELD_OUT_ITEMS, load_held_out_items, short

HeldOut: TypeAlias = Literal["valid", "test"]
_TITLES: dict[HeldOut, str] = {"valid": "validation", "test": "test"}


def held_out(data: Manifest, model: Model, folder: Path, part: HeldOut) -> Manifest:
    """Keeps only the items of one part of the model's own split, wherever they are in the data now.

    Items are matched by content and label, so the data may have been moved, sorted or extended since. Of rows equal in
    features and label, as many are kept as the part has; which of them makes no difference to any metric.

    Args:
        data: What the model was trained on, opened again.
        model: The model.
        folder: Its folder, which holds the run's predictions for the part.
        part: "test" for items the model never saw, "valid" for those its epoch and calibration were chosen on.

    Raises:
        InputError: The folder does not record what was in the part, or the data has none of it.
    """
    check_choice("part", part, get_args(HeldOut))
    missing = _recorded(folder, part)
    size, kept = missing.total(), []
    if isinstance(data.items, FeatureRows):
        check_rows(model, data.items)
    digests = item_digests(data.items)
    for place, (digest, label) in enumerate(zip(digests, _labels(data, model), strict=True)):
        if missing[item := (short(digest), label)]:
            missing[item] -= 1
            kept.append(place)
    gone, title = missing.total(), _TITLES[part]
    if not kept:
        raise InputError(
            f"`part` (--part {part}) needs the data that the model was trained on, got data with none of the "
            f"{counted(size, 'item')} of its {title} part: leave it out to measure on all items."
        )
    notes = [f"only the {title} part of the model's training: {len(kept):,} of {counted(len(data), 'item')}"]
    if gone:
        notes.append(f"{gone:,} of the {counted(size, 'item')} of the {title} part are no longer in the data")
    if part == "valid":
        notes.append("the model's epoch and calibration were chosen on the validation part: its figures flatter it")
    items = replace(data.items, digests=digests) if isinstance(data.items, ImageFiles) else data.items
    chosen = replace(data, items=items).take(kept)  # keeps the hashes, so that no file is read again
    return replace(chosen, notes=(*chosen.notes, *notes))


def _recorded(folder: Path, part: HeldOut) -> Counter[tuple[str, int]]:
    """Counts how often each content and label is in the part."""
    why = f"`part` (--part) needs to know what was held out when the model was trained, which {folder}"
    if not (folder / PREDICTIONS).is_file():
        raise InputError(f"{why} does not say without {PREDICTIONS}: copy the folder of the training whole.")
    rows = read_predictions(folder, columns=["part", "label"])
    items = load_held_out_items(folder)
    if len(items) != len(rows["part"]):
        raise InputError(
            f"{why} does not say without its own {HELD_OUT_ITEMS}: copy the folder of the training whole, or train "
            "again if an earlier version wrote it."
        )
    told = zip(rows["part"].tolist(), items, rows["label"].tolist(), strict=True)
    return Counter((item, label) for name, item, label in told if name == part)


def _labels(data: Manifest, model: Model) -> list[int]:
    labels: list[int] = with_classes_of(model, data)[0].labels.tolist()
    return labels
