"""Labels of a scikit-learn target as positions in their order."""

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._listing import counted, listed
from onepeak._values import check_number
from onepeak.errors import InputError

Classes: TypeAlias = npt.NDArray[Any]
Positions: TypeAlias = npt.NDArray[np.int64]

_INTEGER = re.compile(r"[+-]?\d+")

_ENCODED = (
    " Stacking, voting, bagging, cross_val_predict and other meta-estimators of scikit-learn replace text by places in "
    "alphabetical order before they fit. Give them places in the right order as `y`, and no `order`: those of an "
    "ordered pandas column are `y.cat.codes`, those of other text are made by OrdinalEncoder(categories=[order])."
)


class UnknownOrderWarning(UserWarning):
    """Text labels came without their order, and scikit-learn's contract is that they are then sorted."""


def declared_classes(order: object, y: object) -> Classes | None:
    """The classes in the order the user has declared: by `order`, or by an ordered pandas categorical.

    Args:
        order: Labels, lowest first; None where they are not declared so.
        y: The target as the user gave it.

    Example:
        >>> declared_classes(["low", "middle", "high"], y=None)
        array(['low', 'middle', 'high'], dtype='<U6')
    """
    if order is None:
        dtype = getattr(y, "dtype", None)
        if getattr(dtype, "ordered", False) is not True:
            return None
        return _at_least_two(np.asarray(dtype.categories))  # type: ignore[union-attr]
    if isinstance(order, str | set | frozenset) or not isinstance(order, Sequence | np.ndarray):
        raise InputError(f"`order` must be a sequence of labels, lowest first, got {order!r}.")
    classes = np.asarray(order)
    labels = classes.tolist()
    if classes.ndim != 1 or len(labels) < 2:
        raise InputError(f"`order` must be a sequence of at least 2 labels, lowest first, got {order!r}.")
    twice = [label for label in dict.fromkeys(labels) if labels.count(label) > 1]
    if twice:
        raise InputError(f"`order` must name each class once, got {listed(map(repr, twice))} more than once.")
    return classes


def _at_least_two(classes: Classes) -> Classes:
    if len(classes) < 2:
        found = ", ".join([counted(len(classes), "class"), *map(repr, classes.tolist())])
        raise InputError(
            f"`y` must have at least 2 classes, got {found}: if others exist, name them all in `order`, lowest first."
        )
    return classes


def found_classes(y: Classes) -> Classes:
    """The labels that occur, in their own order: numbers, and text that is integers, order themselves.

    Other text cannot. Two classes have no order to get wrong; for more, scikit-learn's contract is that they are
    sorted, so they are, and `UnknownOrderWarning` says so.

    Args:
        y: Labels, one a sample.

    Example:
        >>> found_classes(np.array(["10", "9", "10", "2"]))
        array(['2', '9', '10'], dtype='<U2')
    """
    classes = _at_least_two(np.unique(y))
    labels = classes.tolist()
    if not all(isinstance(label, str) for label in labels):
        return classes
    if all(_INTEGER.fullmatch(label) for label in labels):
        return classes[np.argsort([int(label) for label in labels], kind="stable")]
    if len(labels) > 2:
        warnings.warn(
            f"The order of the text labels is not known; sorted, as scikit-learn does, it is {' < '.join(labels)}. "
            "If that is wrong, so is the model: give `order`, lowest first, or an ordered pandas categorical.",
            UnknownOrderWarning,
            stacklevel=3,
        )
    return classes


def positions_of(y: Classes, classes: Classes) -> Positions:
    """The position of every label in the order.

    Args:
        y: Labels, one a sample.
        classes: All labels there can be, lowest first.

    Example:
        >>> positions_of(np.array(["high", "low"]), np.array(["low", "middle", "high"]))
        array([2, 0])
    """
    place = {label: position for position, label in enumerate(classes.tolist())}
    found, inverse = np.unique(y, return_inverse=True)
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        raise InputError(
            f"`y` must have only labels of the order {listed(map(repr, place))}, got {listed(map(repr, unknown))}."
            + (_ENCODED if _are_codes(found, classes) else "")
        )
    return np.array([place[label] for label in found.tolist()], dtype=np.int64)[inverse]


def _are_codes(found: Classes, classes: Classes) -> bool:
    """Whether integers came that may be places in a sorted list of the classes, which are text."""
    texts = all(isinstance(label, str) for label in classes.tolist())
    return (
        texts and np.issubdtype(found.dtype, np.integer) and bool((found >= 0).all() and (found < len(classes)).all())
    )


def weights_of_classes(given: Mapping[Any, float], classes: Classes) -> npt.NDArray[np.float64]:
    """The weight of every class, in their order: 1 where none is given.

    Args:
        given: A weight of some labels or all, not negative.
        classes: All labels there can be, lowest first.

    Example:
        >>> weights_of_classes({"high": 3}, np.array(["low", "middle", "high"]))
        array([1., 1., 3.])
    """
    known = classes.tolist()
    unknown = [label for label in given if label not in known]
    if unknown and not set(known) <= set(given):  # else a fold may lack a rare class that has its weight
        raise InputError(
            f"`class_weight` must have only labels of the order {listed(map(repr, known))}, "
            f"got {listed(map(repr, unknown))}."
        )
    return np.array([check_number("class_weight", float(given.get(label, 1)), minimum=0) for label in known])
