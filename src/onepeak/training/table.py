"""From the columns of a table to numbers that suit a network, learnt on the training part alone."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class TableEncoder:
    """Numbers become standard scores, categories one column each, missing values the mean and a column that says so."""

    columns: tuple[str, ...]
    categories: dict[str, tuple[str, ...]]
    means: tuple[float, ...]
    """Of each column in the training part; 0 for categories."""
    stds: tuple[float, ...]
    """Of each column in the training part; 1 where a column does not vary, and for categories."""
    missing: tuple[str, ...]
    """The number columns in which the training part has missing values."""
    lowest: tuple[float, ...] = ()
    """Of each column in the training part; NaN without a value there, 0 for categories; none in older models."""
    highest: tuple[float, ...] = ()

    @staticmethod
    def learn(rows: FeatureRows) -> "TableEncoder":
        """Takes means and deviations from these rows, which should be those of the training part."""
        means, stds, missing, lowest, highest = [], [], [], [], []
        for name, column in zip(rows.columns, rows.values.T.astype(np.float64), strict=True):
            known = column[~np.isnan(column)]
            categorical = name in rows.categories
            means.append(0.0 if categorical or not known.size else float(known.mean()))
            varies = not categorical and known.size and known.min() < known.max()  # rounding makes std > 0 of equals
            stds.append((float(known.std()) if varies else 0.0) or 1.0)  # squares of tiny numbers may be 0
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
            lowest=tuple(lowest),
            highest=tuple(highest),
        )

    @property
    def num_features(self) -> int:
        """How many numbers a row becomes."""
        return sum(len(self.categories.get(name, ("",))) for name in self.columns) + len(self.missing)

    def far_outside(self, rows: FeatureRows) -> npt.NDArray[np.bool_]:
        """Which numbers lie beyond either end of the training part's range by more than its width: rows x columns.

        Where the training part has one number alone, its last digits do not count; where it has none, nothing is far.
        """
        if not self.lowest:
            return np.zeros(rows.values.shape, dtype=np.bool_)
        lowest, highest = np.array(self.lowest), np.array(self.highest)
        numbers = np.array([name not in self.categories for name in self.columns])
        beyond = np.maximum(rows.values - highest, lowest - rows.values)
        same = (highest == lowest) & np.isclose(rows.values, highest)
        found: npt.NDArray[np.bool_] = (beyond > highest - lowest) & ~same & numbers  # False where a value is missing
        return found

    def encode(self, rows: FeatureRows) -> npt.NDArray[np.float32]:
        """The rows as the network sees them: rows x num_features, narrowed when they are standard scores.

        A number too far away for float32 becomes infinite, and its row has no posterior.
        """
        if rows.columns != self.columns:
            raise InputError(f"`rows` must have the columns {', '.join(self.columns)}, got {', '.join(rows.columns)}.")
        parts = []
        for name, column, mean, std in zip(self.columns, rows.values.T, self.means, self.stds, strict=True):
            if name in self.categories:
                parts.append(column[:, None] == np.arange(len(self.categories[name])))
            else:
                parts.append(np.nan_to_num((column[:, None] - mean) / std, nan=0.0))
        parts += [np.isnan(rows.values[:, [self.columns.index(name)]]) for name in self.missing]
        with np.errstate(over="ignore"):
            return np.concatenate(parts, axis=1).astype(np.float32)
