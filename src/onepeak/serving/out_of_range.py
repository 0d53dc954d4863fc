"""Notes on images and rows that are unlike the training samples."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from onepeak._core.wording import counted, listed
from onepeak.data.manifest import FeatureRows
from onepeak.posterior.predictions import SourceName, Unlike, called
from onepeak.training.model_files import ModelDescription
from onepeak.training.table_encoder import TableEncoder


def unlike_rows(
    rows: FeatureRows, encoder: TableEncoder, *, new: npt.NDArray[np.bool_] | None = None
) -> tuple[Unlike, ...]:
    """Returns the columns in which each row is unlike the training rows.

    Example:
        >>> encoder = TableEncoder.learn(FeatureRows(columns=("age", "size"), values=np.array([[40.0, 1], [60, 2]])))
        >>> unlike_rows(FeatureRows(columns=("age", "size"), values=np.array([[50.0, 1], [999, -9]])), encoder)
        ((), ('age', 'size'))
    """
    found = encoder.far_outside(rows)
    if new is not None:
        found |= new
    names: list[Unlike] = [() if encoder.lowest else None] * len(rows)
    for place in np.flatnonzero(found.any(axis=1)).tolist():
        names[place] = tuple(rows.columns[column] for column in np.flatnonzero(found[place]))
    return tuple(names)


def with_distance(unlike: Unlike, distance: float | None) -> Unlike:
    """Adds "features" to how a sample is unlike the training samples if it lies farther from them than 1.

    Example:
        >>> with_distance(("contrast",), 1.2), with_distance((), 0.9), with_distance(None, None)
        (('contrast', 'features'), (), None)
    """
    return unlike if distance is None else (*(unlike or ()), *(("features",) if distance > 1 else ()))


def unlike_notes(
    samples: Iterable[tuple[str | int, Unlike]], total: int, *, source_name: SourceName
) -> tuple[str, ...]:
    """Returns a note that counts and names samples far outside the training's range; empty if there are none.

    Example:
        >>> unlike_notes([("a.png", ("contrast",)), ("b.png", ("contrast", "grain"))], 9, source_name="path")[0][:72]
        'unlike the training data, do not rely on such predictions: 2 of 9 images'
    """
    found = [(source, by) for source, by in samples if by]
    if not found:
        return ()
    noun = {"path": "image", "item": "image", "group": "group"}.get(source_name, "row")
    counts = Counter(name for _, by in found for name in by)
    by = listed(f"{name} ({count:,})" for name, count in counts.items())
    which = listed(called(source, source_name) for source, _ in found)
    return (
        "unlike the training data, do not rely on such predictions: "
        f"{len(found):,} of {counted(total, noun)}, by {by}: {which}",
    )


def unknown_notes(description: ModelDescription) -> tuple[str, ...]:
    """Returns a note if a model cannot tell what is unlike its training."""
    if description.table is None and description.image_range is None:
        return (
            "cannot check whether images are unlike the training: the model is from an earlier version, or was "
            "trained on too few",
        )
    if description.table is not None and not description.table.lowest:
        return ("cannot check whether numbers are unlike the training: the model is from an earlier version",)
    return ()
