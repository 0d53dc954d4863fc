"""Labels of a scikit-learn target as positions in the order of the classes."""

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

from onepeak._core.values import check_number
from onepeak._core.wording import counted, listed
from onepeak.data.order import declared_order
from onepeak.errors import InputError

Classes: TypeAlias = npt.NDArray[Any]
Positions: TypeAlias = npt.NDArray[np.int64]

_INTEGER = re.compile(r"[+-]?\d+")

_UNKNOWN = ": if they are classes too, name all labels in the estimator's `order=`, lowest first."
_ENCODED = (
    ". Stacking, voting, bagging, cross_val_predict and other meta-estimators of scikit-learn replace text by "
    "positions in alphabetical order before they fit. Give them positions in the correct order as `y`, and no `order`: "
    "for an ordered pandas column use `y.cat.codes`, for other text OrdinalEncoder(categories=[order])."
)


class UnknownOrderWarning(UserWarning):
    """Text labels have no declared order, so they are sorted, as scikit-learn's contract requires."""


class LabelGapWarning(UserWarning):
    """Integers between the labels occur in no sample, so they are not classes of the model."""


def check_labels(y: Classes, declared: Classes | None) -> None:
    """Raises if the labels are measurements: half stars can only be told from them by a declared order."""
    if declared is not None and np.issubdtype(y.dtype, np.floating):
        return  # `positions_of` names those that the order does not have
    try:
        check_classification_targets(y)
    except ValueError as error:
        raise InputError(
            f"{error} If numbers with fractions, such as half stars, are labels, name them all in `order`, lowest "
            "first."
        ) from None


def declared_classes(order: object, y: object) -> Classes | None:
    """Returns the classes in the order that the user has declared, by `order` or by an ordered pandas categorical."""
    if order is None:
        dtype = getattr(y, "dtype", None)
        if getattr(dtype, "ordered", False) is not True:
            return None
        return _at_least_two(np.asarray(dtype.categories))  # type: ignore[union-attr]
    if isinstance(order, str) or not isinstance(order, Sequence | np.ndarray) or np.ndim(order) != 1:
        raise InputError(f"`order` must be a sequence of labels, lowest first, got {order!r}.")
    declared_order(list(map(str, order)))  # refuses fewer than two classes, and a class named twice
    return np.asarray(order)


def _at_least_two(classes: Classes) -> Classes:
    if len(classes) < 2:
        found = ", ".join([counted(len(classes), "class"), *map(repr, classes.tolist())])
        raise InputError(
            f"`y` must have at least 2 classes, got {found}: if others exist, name them all in `order`, lowest first."
        )
    return classes


def occurring_classes(y: Classes) -> Classes:
    """Returns the labels that occur, in order: numbers, and integers in text, are in numerical order.

    Other text is sorted, as scikit-learn's contract requires. With more than two classes that order may be wrong, so
    there is an `UnknownOrderWarning`.
    """
    classes = _at_least_two(np.unique(y))
    labels = classes.tolist()
    if not all(isinstance(label, str) for label in labels):
        _warn_of_gaps(labels)
        return classes
    if all(_INTEGER.fullmatch(label) for label in labels):
        _warn_of_gaps(sorted(map(int, labels)))
        return classes[np.argsort([int(label) for label in labels], kind="stable")]
    if len(labels) > 2:
        warnings.warn(
            f"The order of the text labels is not known; sorted, as scikit-learn does, it is {' < '.join(labels)}. "
            "If that is wrong, so is the model: give `order`, lowest first, or an ordered pandas categorical.",
            UnknownOrderWarning,
            stacklevel=3,
        )
    return classes


def _warn_of_gaps(labels: list[Any]) -> None:
    """Warns if a few integers are missing in a scale of three or more labels; codes such as 10, 20, 30 are no scale."""
    if len(labels) < 3 or not all(isinstance(label, int) for label in labels):
        return
    lowest, highest, known = labels[0], labels[-1], set(labels)
    if 0 < highest - lowest + 1 - len(labels) < len(labels):
        gaps = (label for label in range(lowest, highest) if label not in known)
        warnings.warn(
            f"No sample has the label {listed(map(str, gaps))}, so the model has no such class. If it is possible, "
            "name all labels in `order`, lowest first.",
            LabelGapWarning,
            stacklevel=4,
        )


def positions_of(y: Classes, classes: Classes) -> Positions:
    """Returns the position of every label in the order of the classes."""
    position_of = {label: position for position, label in enumerate(classes.tolist())}
    found, inverse = np.unique(y, return_inverse=True)
    unknown = [label for label in found.tolist() if label not in position_of]
    if unknown:
        raise InputError(
            f"`y` must have only labels of the order {listed(map(repr, position_of))}, got {listed(map(repr, unknown))}"
            + (_ENCODED if _are_codes(found, classes) else _UNKNOWN)
        )
    return np.array([position_of[label] for label in found.tolist()], dtype=np.int64)[inverse]


def _are_codes(found: Classes, classes: Classes) -> bool:
    """Returns whether the labels are integers that may be positions in a sorted list of text classes."""
    texts = all(isinstance(label, str) for label in classes.tolist())
    return (
        texts and np.issubdtype(found.dtype, np.integer) and bool((found >= 0).all() and (found < len(classes)).all())
    )


def weights_of_classes(given: Mapping[Any, float], classes: Classes) -> npt.NDArray[np.float64]:
    """Returns the weight of every class, in their order; 1 by default."""
    known = classes.tolist()
    unknown = [label for label in given if label not in known]
    if unknown and not set(known) <= set(given):  # if all are given, this fold may lack a rare class
        raise InputError(
            f"`class_weight` must have only labels of the order {listed(map(repr, known))}, "
            f"got {listed(map(repr, unknown))}."
        )
    return np.array([check_number("class_weight", float(given.get(label, 1)), minimum=0) for label in known])
