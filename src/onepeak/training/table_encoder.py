"""Encodes the columns of a table for a network; fitted to the training part only."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from onepeak.data.manifest import FeatureRows, Texts, plain_columns
from onepeak.errors import InputError
from onepeak.networks.inputs import RowInput

_ROWS_AT_ONCE = 2**16
"""Most rows that are encoded together, so that memory is bounded."""


@dataclass(frozen=True, kw_only=True)
class TableEncoder:
    """Standardises numbers, one-hot encodes categories, and replaces missing values by the mean plus an indicator."""

    columns: tuple[str, ...]
    categories: dict[str, tuple[str, ...]]
    means: tuple[float, ...]
    """Mean of each column in the training part; 0 for categories."""
    stds: tuple[float, ...]
    """Standard deviation of each column in the training part; 1 for constant columns and for categories."""
    missing: tuple[str, ...]
    """The number columns with missing values in the training part."""
    lowest: tuple[float, ...] = ()
    """Lowest value of each column in the training part; NaN for columns without values, 0 for categories; empty in
    older models."""
    highest: tuple[float, ...] = ()
    texts: Texts | None = None
    """The column of texts and its encoder, if the last columns are features of texts."""

    @staticmethod
    def learn(rows: FeatureRows) -> "TableEncoder":
        """Fits an encoder to these rows, which should be the training part."""
        means, stds, missing, lowest, highest = [], [], [], [], []
        plain = len(rows.plain_columns)
        for name, column in zip(rows.columns, rows.values.T.astype(np.float64), strict=True):
            known = column[~np.isnan(column)]
            categorical = name in rows.categories
            means.append(0.0 if categorical or not known.size else float(known.mean()))
            varies = (
                not categorical and known.size and known.min() < known.max()
            )  # equal values can have std > 0 by rounding
            stds.append((float(known.std()) if varies else 0.0) or 1.0)  # squares of tiny numbers can underflow to 0
            lowest.append(0.0 if categorical else float(known.min()) if known.size else math.nan)
            highest.append(0.0 if categorical else float(known.max()) if known.size else math.nan)
            if not categorical and known.size < column.size:
                missing.append(name)
        return TableEncoder(
            columns=rows.columns,
            categories=dict(rows.categories),
            means=tuple(means),
            stds=tuple(stds),
            missing=tuple(missing),
            # No single feature of a text says that it is unlike the others.
            lowest=tuple(lowest[:plain] + [math.nan] * (len(lowest) - plain)),
            highest=tuple(highest[:plain] + [math.nan] * (len(highest) - plain)),
            texts=rows.texts and replace(rows.texts, values=()),
        )

    @property
    def plain_columns(self) -> tuple[str, ...]:
        """The columns other than the features of texts."""
        return plain_columns(self.columns, self.texts)

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns whose values are names or texts."""
        return (*self.categories, *([] if self.texts is None else [self.texts.column]))

    @property
    def given_columns(self) -> tuple[str, ...]:
        """The columns that a user gives: those of a table, and that of the texts."""
        return self.plain_columns if self.texts is None else (*self.plain_columns, self.texts.column)

    @property
    def text_features(self) -> tuple[int, int] | None:
        """Where the features of texts begin and end in an encoded row."""
        if self.texts is None:
            return None
        first = sum(len(self.categories.get(name, ("",))) for name in self.plain_columns)
        return first, self.num_features - len(self.missing)

    @property
    def num_features(self) -> int:
        """Number of features of an encoded row."""
        return sum(len(self.categories.get(name, ("",))) for name in self.columns) + len(self.missing)

    def far_outside(self, rows: FeatureRows) -> npt.NDArray[np.bool_]:
        """Marks the numbers that lie beyond the training part's range by more than its width: rows x columns.

        If a column has a single value in the training part, differences in the last digits do not count. If it has no
        value there, nothing is marked.
        """
        if not self.lowest:
            return np.zeros(rows.values.shape, dtype=np.bool_)
        lowest, highest = np.array(self.lowest), np.array(self.highest)
        numbers = np.array([name not in self.categories for name in self.columns])
        beyond = np.maximum(rows.values - highest, lowest - rows.values)
        same = (highest == lowest) & np.isclose(rows.values, highest)
        found: npt.NDArray[np.bool_] = (beyond > highest - lowest) & ~same & numbers  # False for a missing value
        return found

    @cached_property
    def layer(self) -> RowInput:
        """The layer from a row's values, in the order of the columns, to features."""
        num_codes = [len(self.categories[name]) if name in self.categories else None for name in self.columns]
        flags = [self.columns.index(name) for name in self.missing]
        return RowInput(self.means, self.stds, num_codes=num_codes, flags=flags)

    def encode(self, rows: FeatureRows) -> npt.NDArray[np.float32]:
        """Encodes rows for the network: rows x num_features, converted to float32 after standardising.

        A number too large for float32 becomes infinite, and its row has no posterior.
        """
        if rows.columns != self.columns:
            raise InputError(f"`rows` must have the columns {', '.join(self.columns)}, got {', '.join(rows.columns)}.")
        starts = range(0, max(1, len(rows)), _ROWS_AT_ONCE)
        parts = [self.layer(torch.tensor(rows.values[start : start + _ROWS_AT_ONCE])) for start in starts]
        return torch.cat(parts).numpy()
