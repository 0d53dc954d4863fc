"""Which data a model is evaluated on: opened with its columns and class order, all of it or what training held out."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from onepeak._core.check import check_choice
from onepeak._core.files import expanded
from onepeak._core.wording import counted, listed
from onepeak.data.datasets import DATASETS
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest, Texts
from onepeak.data.order import classes_file, shown_order
from onepeak.data.source import DataSource
from onepeak.data.splits.copies import item_digests
from onepeak.data.tables.columns import PATH, label_columns
from onepeak.data.tables.read import Table
from onepeak.data.texts import encode_texts
from onepeak.errors import InputError
from onepeak.serving.model import Model
from onepeak.training.model_files import HELD_OUT_ITEMS, load_held_out_items, short
from onepeak.training.predictions_file import PREDICTIONS, read_predictions


def open_for(model: Model, source: DataSource) -> Manifest:
    """Opens data to evaluate a model on; settings left out are taken from the model where they fit.

    From a table, only the model's columns are read, in the same way as by `predict`.
    """
    table = source.table()
    columns = None if table is None else [str(name) for name in table.frame.columns]
    if columns is not None:
        trained = model.description
        if not (source.label or source.raters or source.label_probs):
            label: dict[str, Any] = {trained.label_as: _known(trained.label, columns)}
            source = replace(source, **label)
        source = replace(
            source,
            group=source.group or _known(trained.group, columns),
            path=source.path or _known(trained.path, columns),
        )
    if columns is not None or source.is_known or expanded(source.data).is_dir():
        images = columns is None or source.path is not None or PATH in columns
        if columns is not None and not images and model.description.table is None:
            raise InputError(
                "The data must be images, as the model was trained on, got a table without a column "
                f"`{model.description.path or PATH}`: {source.data} has {listed(columns)}. If one of them names the "
                "images, name it with --path."
            )
        check_kind(model, images=images)
    order_is_the_models = source.order is None and not _states_an_order(source.data, table)
    if order_is_the_models:
        source = replace(source, order=model.classes)
    try:
        # the classes are the model's, whatever the data hold
        return _with_texts(source.open(like=_like(model), keep_classes=False, table=table), model)
    except InputError as error:
        if not order_is_the_models or "`order`" not in error.message:
            raise
        fix = f"{error.fix} The order is the model's, because `order` was not given.".lstrip()
        raise InputError(error.message, argument="order", fix=fix, file=error.file, page=error.page) from error


def check_kind(model: Model, *, images: bool) -> None:
    """Refuses images for a table model, and rows for an image model."""
    if images == model.reads_tables:
        kinds = ("images", "rows of a table") if images else ("rows of a table", "images")
        raise InputError(f"The data must be {kinds[1]}, as the model was trained on, got {kinds[0]}.")


def check_rows(model: Model, rows: FeatureRows) -> None:
    """Refuses rows whose columns or codes differ from the model's: they would mean something else."""
    table = model.description.table
    if table is None or (rows.columns, rows.categories) != (table.columns, table.categories):
        raise InputError(
            "The rows must have the columns and codes that the model was trained with, got others: open their file "
            "with `onepeak.serving.evaluation_data.open_for(model, DataSource(file))`."
        )


def _like(model: Model) -> FeatureRows | None:
    """An empty table with the model's columns and codes; None for an image model."""
    table = model.description.table
    if table is None:
        return None
    values = np.empty((0, len(table.plain_columns)), dtype=np.float64)
    texts = table.texts and Texts(column=table.texts.column)
    return FeatureRows(columns=table.plain_columns, values=values, categories=table.categories, texts=texts)


def _with_texts(manifest: Manifest, model: Model) -> Manifest:
    """Returns the data with the features of their texts, by the model's encoder."""
    rows, table = manifest.items, model.description.table
    if table is None or table.texts is None or not isinstance(rows, FeatureRows) or rows.texts is None:
        return manifest
    return replace(manifest, items=encode_texts(rows, rows.texts.values, table.texts))


def _states_an_order(data: str | Path, table: Table | None) -> bool:
    """Whether the data states the order of its classes. Integers do not: the highest may mean the lowest class."""
    path = expanded(data)
    beside = classes_file(path if path.is_dir() else path.parent)
    return data in DATASETS or beside is not None or (table is not None and table.order is not None)


def _known(name: str | None, columns: Collection[str]) -> str | None:
    return name if name is not None and set(label_columns(name, columns)) <= set(columns) else None


def with_classes_of(model: Model, data: Manifest) -> tuple[Manifest, tuple[str, ...]]:
    """The data with its labels counted as the model counts them; and a note where it lacks classes of the model."""
    if data.classes == model.classes:
        return data, ()
    positions = {name: position for position, name in enumerate(model.classes)}
    places = [positions.get(name, -1) for name in data.classes]
    if -1 in places or places != sorted(places):
        raise InputError(
            "The classes of the data must be those of the model, in the same order: the model has "
            f"{shown_order(model.classes)}, the data {shown_order(data.classes)}."
        )
    labels, distribution = np.array(places, dtype=np.int64)[data.labels], data.distribution
    if distribution is not None:
        probs = np.zeros((len(data), len(model.classes)))
        probs[:, places] = distribution.probs
        known = distribution.ratings
        ratings = None if known is None else np.array([*places, -1], dtype=np.int64)[known]
        distribution = replace(distribution, probs=probs, ratings=ratings)
    note = f"the data has {len(data.classes)} of the model's {len(model.classes)} classes"
    mapped = replace(data, labels=labels, distribution=distribution, classes=model.classes, true_log_probs=None)
    return mapped, (note,)


HeldOut: TypeAlias = Literal["valid", "test"]
_TITLES: dict[HeldOut, str] = {"valid": "validation", "test": "test"}


def held_out(data: Manifest, model: Model, folder: Path, part: HeldOut, *, allow_leak: bool = True) -> Manifest:
    """Keeps only the items of one part of the model's own split, wherever they are in the data now.

    Items are matched by content and label, so the data may have been moved, sorted or extended since. Of rows equal in
    features and label, as many are kept as the part has; which of them makes no difference to any metric.

    The folder is the model's, with the run's predictions for the part: "test" for samples it never saw, "valid" for
    those its epoch and calibration were chosen on. That groups of the part were trained on too is noted, or refused.
    """
    check_choice("part", part, get_args(HeldOut))
    missing = _recorded(folder, part)
    size, chosen_items = missing.total(), []
    if isinstance(data.items, FeatureRows):
        check_rows(model, data.items)
    digests = item_digests(data.items)
    labels = with_classes_of(model, data)[0].labels.tolist()
    for place, (digest, label) in enumerate(zip(digests, labels, strict=True)):
        if missing[item := (short(digest), label)]:
            missing[item] -= 1
            chosen_items.append(place)
    gone, title = missing.total(), _TITLES[part]
    if not chosen_items:
        raise InputError(
            f"`part` needs the data that the model was trained on, got data with none of the "
            f"{counted(size, 'sample')} of its {title} part: leave it out to measure on all samples."
        )
    notes = [f"only the {title} part of the model's training: {len(chosen_items):,} of {counted(len(data), 'sample')}"]
    if gone:
        notes.append(f"{gone:,} of the {counted(size, 'sample')} of the {title} part are no longer in the data")
    if part == "valid":
        notes.append("the model's epoch and calibration were chosen on the validation part: its figures flatter it")
    if leak := _leak(data, model, digests, chosen_items, title):
        if not allow_leak:
            raise InputError(f"The data must be of groups that the model has not seen, but {leak}.")
        notes.append(f"Warning: {leak}, so that all figures are too good: train with these groups (--group)")
    items = replace(data.items, digests=digests) if isinstance(data.items, ImageFiles) else data.items
    chosen = replace(data, items=items).take(chosen_items)  # keeps the hashes, so that no file is read again
    return replace(chosen, notes=(*chosen.notes, *notes))


def _leak(data: Manifest, model: Model, digests: Sequence[str], chosen: Sequence[int], title: str) -> str:
    """Says how many groups of the chosen samples also have samples in the training; empty if none has."""
    if data.groups is None:
        return ""
    pairs = zip(data.groups, digests, strict=True)
    trained = {group for group, digest in pairs if short(digest) in model.trained_items}
    held = {data.groups[item] for item in chosen}
    if not (both := held & trained):
        return ""
    return f"{len(both):,} of the {counted(len(held), 'group')} of the {title} part also have samples in the training"


def _recorded(folder: Path, part: HeldOut) -> Counter[tuple[str, int]]:
    """Counts how often each content and label is in the part."""
    why = f"`part` needs to know what was held out when the model was trained, which {folder}"
    if not (folder / PREDICTIONS).is_file():
        raise InputError(f"{why} does not say without {PREDICTIONS}: copy the folder of the training whole.")
    rows = read_predictions(folder, columns=["part", "label"])
    items = load_held_out_items(folder)
    if len(items) != len(rows["part"]):
        raise InputError(
            f"{why} does not say without its own {HELD_OUT_ITEMS}: copy the folder of the training whole, or train "
            "again if an earlier version wrote it."
        )
    text = zip(rows["part"].tolist(), items, rows["label"].tolist(), strict=True)
    return Counter((item, label) for name, item, label in text if name == part)
