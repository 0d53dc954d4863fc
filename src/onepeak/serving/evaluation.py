"""How good a trained model is on data it is shown now."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from onepeak.data.declared_order import Order
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Manifest
from onepeak.data.open import open_data
from onepeak.data.order import shown_order
from onepeak.errors import InputError
from onepeak.serving.model import PICTURES_A_BATCH, Model
from onepeak.serving.pictures import Picture
from onepeak.serving.prediction import Prediction, Row
from onepeak.serving.stream import stream
from onepeak.serving.table_rows import recoded
from onepeak.training.evaluate import Predictions, measure


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """What a model says of a data set, and how good that is."""

    metrics: dict[str, float]
    """Every metric of the catalog, over the items that could be read; NaN where one is not defined."""
    class_counts: tuple[int, ...]
    """How many items of each class were measured."""
    prediction: Prediction
    """What the model says of them."""
    labels: torch.Tensor
    """Their true labels."""
    failed: tuple[Row, ...] = ()
    """The pictures that could not be read, with their errors."""
    notes: tuple[str, ...] = ()
    """What was done on the user's behalf, to be shown."""


def evaluate(model: Model, data: Manifest, *, batch_size: int | None = None) -> Evaluation:
    """Measures a model on a data set, all of it.

    Args:
        model: The model.
        data: Its classes must be the model's; classes without an item may be left out.
        batch_size: The most samples computed at once; 32 pictures or 4096 rows where not given.
    """
    data, notes = with_classes_of(model, data)
    labels = torch.from_numpy(data.labels.copy())
    failed: tuple[Row, ...] = ()
    if isinstance(data.items, FeatureRows):
        prediction = _predict_rows(model, data.items, batch_size)
    else:
        prediction, good, failed = _predict_pictures(model, data.items, batch_size)
        labels = labels[good]
    predictions = Predictions(
        indices=np.arange(len(labels)), labels=labels, predicted=prediction.labels, log_probs=prediction.log_probs
    )
    return Evaluation(
        metrics=measure(predictions),
        class_counts=tuple(labels.bincount(minlength=len(model.classes)).tolist()),
        prediction=prediction,
        labels=labels,
        failed=failed,
        notes=(*data.notes, *notes, *prediction.notes),
    )


def open_for(
    model: Model,
    data: str | Path,
    *,
    root: str | Path | None = None,
    order: Order | None = None,
    label: str | None = None,
    group: str | None = None,
) -> Manifest:
    """Opens data as `onepeak.data.open_data` does; where it states no order of its own, the model's is taken.

    Args:
        model: The model to be measured.
        data: See `open_data`, as for the others.
        root: Where a known set, or the pictures of a list, lie.
        order: The classes, lowest first.
        label: The column of labels.
        group: The column of groups.
    """
    try:
        return open_data(data, root=root, order=order, label=label, group=group)
    except InputError as error:
        if order is not None:
            raise
        try:  # most often the order is what is missing: text has none
            return open_data(data, root=root, order=model.classes, label=label, group=group)
        except InputError as other:
            if str(other) == str(error):
                raise error from None
            raise InputError(f"No order was given, so the model's was taken: {other}") from other


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
    labels = np.array(places, dtype=np.int64)[data.labels]
    note = f"the data has {len(data.classes)} of the model's {len(model.classes)} classes"
    return replace(data, labels=labels, classes=model.classes, true_log_probs=None), (note,)


def _predict_rows(model: Model, items: FeatureRows, batch_size: int | None) -> Prediction:
    if model.description.table is None:
        raise InputError("The data must be pictures, as the model was trained on, got rows of a table.")
    rows, notes = recoded(items, model.description.table)
    return model.predict_rows(rows, notes=notes, batch_size=batch_size)


def _predict_pictures(
    model: Model, items: ImageFiles | ImageArrays, batch_size: int | None
) -> tuple[Prediction, list[int], tuple[Row, ...]]:
    """What the model says of the pictures that can be read, their positions, and the rows of the others."""
    if model.reads_tables:
        raise InputError("The data must be rows of a table, as the model was trained on, got pictures.")
    pictures: Iterable[Picture]
    pictures = items.pixels if isinstance(items, ImageArrays) else (items.root / path for path in items.paths)
    rows = list(stream(model, pictures, batch_size=PICTURES_A_BATCH if batch_size is None else batch_size))
    good = [place for place, row in enumerate(rows) if row.error is None]
    failed = tuple(row for row in rows if row.error is not None)
    if not good:
        raise InputError(f"No picture of the data can be read; the first, {failed[0].source}: {failed[0].error}.")
    prediction = Prediction(
        classes=model.classes,
        labels=torch.tensor([rows[place].label for place in good]),
        log_probs=torch.tensor([rows[place].log_probs for place in good]),
        sources=tuple(rows[place].source for place in good),
        source_name="path" if isinstance(items, ImageFiles) else "item",
    )
    return prediction, good, failed
