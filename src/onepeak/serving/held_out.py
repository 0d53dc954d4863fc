"""The items of a part that a model was not trained on, found again in the data by what its run wrote down."""

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
    """Only the items of one part of the model's own split, wherever they lie in the data now.

    They are known by content and label, so the data may have been moved, sorted or added to since. Of rows that are
    equal in features and label as many are kept as the part has: which of them, no figure can tell.

    Args:
        data: What the model was trained on, opened again.
        model: The model.
        folder: Its folder, where its run keeps what it said of the part.
        part: "test" for what it never saw, "valid" for what its epoch and its calibration were chosen on.

    Raises:
        InputError: The folder does not say what was in the part, or the data have nothing of it.
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
            f"`part` (--part {part}) must be asked for with the data that the model was trained on, got data with none "
            f"of the {counted(size, 'item')} of its {title} part: leave it out to measure on all of them."
        )
    notes = [f"only the {title} part of the model's training: {len(kept):,} of {counted(len(data), 'item')}"]
    if gone:
        notes.append(f"{gone:,} of the {counted(size, 'item')} of the {title} part are no longer in the data")
    if part == "valid":
        notes.append("the model's epoch and calibration were chosen on the validation part: its figures flatter it")
    items = replace(data.items, digests=digests) if isinstance(data.items, ImageFiles) else data.items
    chosen = replace(data, items=items).take(kept)  # who measures them need not read every file once more
    return replace(chosen, notes=(*chosen.notes, *notes))


def _recorded(folder: Path, part: HeldOut) -> Counter[tuple[str, int]]:
    """How often each content and label is in the part."""
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
