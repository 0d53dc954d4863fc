"""Data sets from arrays in memory: images or features, with their labels."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from onepeak._core.wording import counted
from onepeak.data.manifest import FeatureRows, ImageArrays, Items, Manifest
from onepeak.data.order import Order, OrderedLabels, declared_order, order_labels
from onepeak.errors import InputError


def from_arrays(
    images_or_features: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    classes: Order | None = None,
    groups: npt.ArrayLike | None = None,
    strata: npt.ArrayLike | None = None,
    name: str = "arrays",
) -> Manifest:
    """Makes a data set from arrays (NumPy arrays, or anything `numpy.asarray` accepts).

    Args:
        images_or_features: Images as uint8, samples x height x width (x 1 or 3), or samples x 3 x height x width; or
            numeric features, samples x columns, with NaN for missing values.
        labels: One label per sample: names, integers, or positions 0, 1, ... in `classes` if these are not integers.
        classes: Names of the classes, lowest first. Not needed for integer labels, which are sorted.
        groups: The person, patient or slide of each sample.
        strata: A property to balance across the parts of a split, such as gender.
        name: The name of the data set.
    """
    items = _items(np.asarray(images_or_features))
    if not len(items):
        raise InputError("`images_or_features` must have at least one sample, got none.")
    ordered = _ordered(_one_per_sample("labels", labels, len(items)), classes)
    return Manifest(
        name=name,
        items=items,
        labels=ordered.labels,
        classes=ordered.classes,
        groups=None if groups is None else _group_names(groups, len(items)),
        strata=None if strata is None else tuple(map(str, _one_per_sample("strata", strata, len(items)))),
        notes=ordered.notes,
    )


def _items(values: npt.NDArray[np.generic]) -> Items:
    numeric = np.issubdtype(values.dtype, np.number) or values.dtype == np.bool_
    if values.ndim == 2 and numeric and not np.iscomplexobj(values):
        return _features(values)
    if values.ndim in (3, 4) and values.dtype == np.uint8:
        return ImageArrays(pixels=_pixels(values.astype(np.uint8, copy=False)))
    if values.ndim in (3, 4) and numeric:
        raise InputError(
            f"Images must be uint8, from 0 to 255, got {values.dtype}. If the values are from 0 to 1, convert them: "
            "(images * 255).round().astype('uint8')."
        )
    raise InputError(
        "`images_or_features` must be features (samples x columns, numbers) or images (samples x height x width x 3, "
        f"uint8), got {values.dtype} of shape {values.shape}."
    )


def _features(values: npt.NDArray[np.generic]) -> FeatureRows:
    with np.errstate(over="ignore"):  # the networks use float32; values that overflow it are reported below
        infinite = int(np.isinf(values.astype(np.float32)).sum())
    if infinite:
        raise InputError(
            "`images_or_features` must be finite and fit into float32 (NaN for missing values), "
            f"got {counted(infinite, 'infinite value')}."
        )
    columns = tuple(f"x{position}" for position in range(1, values.shape[1] + 1))
    return FeatureRows(columns=columns, values=values.astype(np.float64))


def _pixels(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Returns the images with three channels, last; greyscale is repeated, as for image files."""
    if values.ndim == 3:
        values = values[..., None]
    if values.shape[-1] not in (1, 3):
        if values.shape[1] not in (1, 3):
            raise InputError(
                f"Images must have 1 or 3 channels, last (or first, as in torch), got shape {values.shape}."
            )
        values = np.moveaxis(values, 1, -1)
    return np.ascontiguousarray(np.broadcast_to(values, (*values.shape[:-1], 3)))


def _ordered(labels: Sequence[object], classes: Order | None) -> OrderedLabels:
    if classes is None:
        return order_labels(labels, argument="classes", rows=range(len(labels)))
    names = declared_order(classes, argument="classes")
    positions = all(isinstance(label, int) and not isinstance(label, bool) for label in labels)
    if not positions or any(name.lstrip("+-").isdigit() for name in names):
        return order_labels(labels, order=names, argument="classes", rows=range(len(labels)))
    wrong = sorted({label for label in labels if isinstance(label, int) and not 0 <= label < len(names)})
    if wrong:
        raise InputError(f"`labels` must be positions in `classes`, 0 to {len(names) - 1}, got {wrong[0]}.")
    return order_labels([names[label] for label in labels if isinstance(label, int)], order=names, argument="classes")


def _one_per_sample(argument: str, values: npt.ArrayLike, number: int) -> list[object]:
    array = np.asarray(values)
    if array.shape != (number,):
        raise InputError(f"`{argument}` must have one value per sample ({number:,}), got shape {array.shape}.")
    objects: list[object] = array.tolist()
    return objects


_NO_GROUP = {"", "None", "nan", "NaN", "NaT", "<NA>"}
"""Missing values of NumPy, pandas and Python, converted to text."""


def _group_names(groups: npt.ArrayLike, number: int) -> tuple[str, ...]:
    """Returns the group names as text; refuses missing ones, because unknown groups are not one group."""
    as_objects = np.asarray(groups, dtype=object)  # otherwise NaN would become the name 'nan'
    names = _one_per_sample("groups", as_objects, number)
    missing = [index for index, name in enumerate(names) if str(name).strip() in _NO_GROUP]
    if missing:
        raise InputError(
            f"`groups` must have a name for every sample, got none for {counted(len(missing), 'sample')}, the first at "
            f"position {missing[0]:,}: give each sample that belongs to no group a unique name."
        )
    return tuple(map(str, names))
