"""Reads the rows of an estimator, with errors that name the columns that are not finite numbers and the fix."""
# ruff: noqa: N803 - `X` is scikit-learn's name for the rows

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from onepeak._core.imports import require
from onepeak._core.wording import counted, listed
from onepeak.errors import InputError

_FIXES = {
    "text": "encode it: make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore', "
    "sparse_output=False), {columns}), remainder='passthrough'), OrdinalClassifier(...))",
    "dates": "give year, month or age in days as numbers",
    "NaN": "fill in missing values: make_pipeline(SimpleImputer(), OrdinalClassifier(...))",
    "infinity": "replace it or leave the rows out",
}
"""What to do about everything that is no finite number."""

_OF_NAMES = ("The feature names should match", "Feature names are only supported")
"""How scikit-learn's errors about the names of columns begin. Others may quote the user's data."""


def read_rows(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True) -> Any:
    """Returns what `validate_data` returns; an error about values that are no finite numbers names all columns."""
    try:
        return validate_data(estimator, X, y, dtype=(np.float64, np.float32), reset=reset)
    except (ValueError, TypeError) as error:
        if str(error).startswith(_OF_NAMES):  # other columns than those of fit: scikit-learn names them
            raise
        faults = list(_faults(X))
        if not faults:
            raise
        raise InputError(
            f"`X` must be finite numbers, got {'; '.join(faults)}. `onepeak train` reads text and missing values "
            "itself.",
            page="table",
        ) from error


def _faults(X: Any) -> Iterator[str]:
    """Yields a sentence about each kind of value that is no finite number, with its columns."""
    table = X if hasattr(X, "iloc") or isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if getattr(table, "ndim", 0) != 2:
        return
    frame = require("pandas", extra="sklearn", purpose="The rows of an estimator").DataFrame(table)
    kinds = [_kinds(frame.iloc[:, index]) for index in range(frame.shape[1])]  # names may occur twice
    for kind, fix in _FIXES.items():
        names = [repr(name) for name, found in zip(frame.columns, kinds, strict=True) if kind in found]
        if names:
            columns = f"[{', '.join(names[:10])}{', ...' * (len(names) > 10)}]"
            yield f"{kind} in column{'s' * (len(names) > 1)} {listed(names)}: {fix.format(columns=columns)}"


def _kinds(values: Any) -> set[str | None]:
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iubf":
        values = values[~np.isfinite(values)]  # the others need no look at every value
    return set(values.astype(object).map(_kind))


def _kind(value: Any) -> str | None:
    """Returns what a value is if it is no finite number; None for finite numbers and for what is unknown."""
    if value is None or repr(value) in ("<NA>", "NaT"):
        return "NaN"
    if hasattr(value, "isoformat") or isinstance(value, np.datetime64 | np.timedelta64):
        return "dates"
    try:
        number = float(value)
    except (TypeError, ValueError):
        return "text" if isinstance(value, str | bytes) else None
    return None if math.isfinite(number) else "NaN" if math.isnan(number) else "infinity"


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledRows:
    """Rows, the positions of their labels in the order, their weights and, if given, their groups."""

    rows: npt.NDArray[np.floating]
    labels: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    groups: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, indices: npt.NDArray[np.int64]) -> "LabelledRows":
        """Returns some of the samples."""
        groups = None if self.groups is None else self.groups[indices]
        return LabelledRows(
            rows=self.rows[indices], labels=self.labels[indices], weights=self.weights[indices], groups=groups
        )


def sorted_samples(samples: LabelledRows) -> LabelledRows:
    """Returns the samples of positive weight, in an order that depends only on their content.

    Groups are renumbered by the samples they hold, so their labels do not matter either.
    """
    kept = samples.take(np.flatnonzero(samples.weights > 0))
    if not len(kept):
        raise InputError("`sample_weight` must leave some sample a weight above zero, all are zero.")
    in_order = kept.take(np.lexsort((kept.weights, kept.labels, *kept.rows.T)))
    return in_order if in_order.groups is None else _with_groups_by_content(in_order, in_order.groups)


def _with_groups_by_content(samples: LabelledRows, groups: npt.NDArray[np.int64]) -> LabelledRows:
    """Numbers groups in the order of their samples, and puts equal samples in the order of their groups."""
    new = ~(_same_as_before(samples) & (samples.weights[1:] == samples.weights[:-1]))
    ranks = np.concatenate([[0], np.cumsum(new)])
    content: dict[int, list[int]] = {}
    for group, rank in zip(groups.tolist(), ranks.tolist(), strict=True):
        content.setdefault(group, []).append(rank)
    number = {group: rank for rank, group in enumerate(sorted(content, key=content.__getitem__))}
    numbers = np.array([number[group] for group in groups.tolist()], dtype=np.int64)
    return replace(samples, groups=numbers).take(np.lexsort((numbers, ranks)))


def _same_as_before(samples: LabelledRows) -> npt.NDArray[np.bool_]:
    """Returns, for all samples except the first, whether row and label equal those of the sample before."""
    rows, labels = samples.rows, samples.labels
    same: npt.NDArray[np.bool_] = (rows[1:] == rows[:-1]).all(axis=1) & (labels[1:] == labels[:-1])
    return same


def weighed(samples: LabelledRows, class_weights: npt.NDArray[np.float64] | None) -> LabelledRows:
    """Returns the samples with class weights applied, without samples of weight zero."""
    if class_weights is None:
        return samples
    weights = samples.weights * class_weights[samples.labels]
    return replace(samples, weights=weights).take(np.flatnonzero(weights > 0))


def merged(samples: LabelledRows) -> LabelledRows:
    """Merges equal rows with equal labels into one sample with the sum of their weights; the samples must be sorted.

    Groups are dropped. A sample of weight 3 and three samples of weight 1 then give the same bits, and a table with few
    distinct rows trains faster.
    """
    first = np.flatnonzero(np.concatenate([[True], ~_same_as_before(samples)]))
    weights = np.add.reduceat(samples.weights, first)
    return LabelledRows(rows=samples.rows[first], labels=samples.labels[first], weights=weights)


def hold_out(
    samples: LabelledRows, share: float, *, seed: int, fewest_groups: int = 1
) -> tuple[LabelledRows, LabelledRows]:
    """Splits sorted samples into training samples and a random share, drawn from every class in proportion.

    Every sample has the same chance of being held out, even in small classes. If samples have groups, whole groups are
    drawn at random until the share is reached, at least `fewest_groups`, regardless of classes. Groups that alone
    exceed the share come last, smallest first. At least one group is not held out.
    """
    chance = np.random.default_rng(seed)
    count = round(share * len(samples))
    if samples.groups is None:
        held_out = _of_every_class(samples.labels, count, chance)
    else:
        held_out = _whole_groups(samples.groups, count, chance, fewest_groups)
    return samples.take(np.flatnonzero(~held_out)), samples.take(np.flatnonzero(held_out))


def _of_every_class(labels: npt.NDArray[np.int64], count: int, chance: np.random.Generator) -> npt.NDArray[np.bool_]:
    by_class = np.lexsort((chance.random(len(labels)), labels))
    # Systematic sampling: `count` equal steps through the samples in class order, from a random start.
    steps = (np.arange(count) + chance.random()) * len(labels) / max(1, count)
    held_out = np.zeros(len(labels), dtype=bool)
    held_out[by_class[steps.astype(np.int64)]] = True
    return held_out


def _whole_groups(
    groups: npt.NDArray[np.int64], count: int, chance: np.random.Generator, fewest: int
) -> npt.NDArray[np.bool_]:
    if not count:
        return np.zeros(len(groups), dtype=bool)
    names, sizes = np.unique(groups, return_counts=True)
    if len(names) <= fewest:
        raise InputError(
            f"`groups` must be at least {fewest + 1} if whole groups are held out of training, got {len(names)}: "
            "give rows of more groups, or `validation_fraction=0` to hold out none."
        )
    drawn = np.lexsort((chance.random(len(names)), np.where(sizes > count, sizes, 0)))
    enough = 1 + int(np.searchsorted(np.cumsum(sizes[drawn]), count))
    return np.isin(groups, names[drawn[: min(max(enough, fewest), len(names) - 1)]])


def numbers_of_groups(groups: object, num_rows: int) -> npt.NDArray[np.int64]:
    """Returns a group number for every row, from 0 in the order of first appearance."""
    pandas = require("pandas", extra="sklearn", purpose="A fit with groups")
    if not hasattr(groups, "__array__") and (isinstance(groups, str) or not isinstance(groups, Sequence)):
        raise InputError(f"`groups` must be a sequence or an array with a label for each row, got {groups!r}.")
    given: Any = np.asarray(groups) if hasattr(groups, "__array__") else groups  # tuples would become columns
    shape = given.shape if isinstance(given, np.ndarray) else (len(given),)
    if shape != (num_rows,):
        raise InputError(f"`groups` must have one label for each of the {num_rows:,} rows, got shape {shape}.")
    labels = np.empty(num_rows, dtype=object)
    labels[:] = list(given)
    try:
        numbers, _ = pandas.factorize(labels)
    except TypeError as error:
        raise InputError(f"`groups` must have labels that can be hashed, such as text or numbers: {error}.") from error
    missing = np.flatnonzero(numbers < 0)
    if len(missing):
        raise InputError(
            f"`groups` must have no missing value, got {counted(len(missing), 'row')} without a group, at positions "
            f"{listed(missing.tolist())}: give each row that belongs to no group a group of its own."
        )
    return np.asarray(numbers, dtype=np.int64)
