"""What predictions rest on: the columns of a table, and the words of a text."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.check import check_integer
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.errors import InputError
from onepeak.posterior.predictions import Predictions
from onepeak.serving.evaluation_data import check_rows, with_classes_of
from onepeak.serving.model import Model
from onepeak.serving.posterior_options import PosteriorOptions

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MOST_NAMES = 10
_MOST_ROWS = 2000


@dataclass(frozen=True, kw_only=True)
class ColumnImportance:
    """What one column does to the predictions of a model."""

    column: str
    rise: float
    """How much the mean absolute error rises if the column's values are shuffled among the rows; about 0 for a column
    that does not matter. Of two columns that say the same, neither seems to matter."""
    deviation: float
    """The standard deviation of that over the shuffles."""
    values: tuple[float | str, ...] = ()
    """Values of the column: quantiles of a number, the most frequent names of a category; none for a text."""
    above: tuple[tuple[float, ...], ...] = ()
    """For each value, P(y > k) for every class k but the highest: the mean over the rows with all set to that value."""

    def strongest_cut(self) -> int | None:
        """Returns the class k whose P(y > k) the column moves most; None for a text.

        Example:
            >>> above = ((0.9, 0.1), (0.8, 0.7))
            >>> ColumnImportance(column="age", rise=0.3, deviation=0.1, values=(40, 60), above=above).strongest_cut()
            1
        """
        return int(np.ptp(np.array(self.above), axis=0).argmax()) if self.above else None


def column_importance(
    model: Model,
    data: Manifest,
    *,
    options: PosteriorOptions = PosteriorOptions(),  # noqa: B008 - immutable
    shuffles: int = 5,
    seed: int = 0,
) -> tuple[ColumnImportance, ...]:
    """Measures every column, the most important first; the features of texts count as one column.

    Args:
        model: A model of a table.
        data: Rows with labels, as `onepeak.serving.evaluation_data.open_for` reads them; of more than 2,000 a random
            selection is measured.
        options: How posteriors are read and labels decided.
        shuffles: How often each column is shuffled.
        seed: Of the shuffles.

    Reference: Breiman 2001, Random forests (shuffled columns); Friedman 2001, Greedy function approximation (the mean
    over the rows with a column set to a value, partial dependence).
    """
    check_integer("shuffles", shuffles, minimum=1)
    if not isinstance(data.items, FeatureRows):
        raise InputError("`data` must be rows of a table, got images: inspect shows what their predictions rest on.")
    data, _ = with_classes_of(model, data)
    rng = np.random.default_rng(seed)
    if len(data) > _MOST_ROWS:
        data = data.take(rng.choice(len(data), _MOST_ROWS, replace=False))
    rows = data.items
    assert isinstance(rows, FeatureRows)
    check_rows(model, rows)
    labels = torch.from_numpy(data.labels)

    def read(values: npt.NDArray[np.float64]) -> Predictions:
        return model.read(model.row_answers(replace(rows, values=values)), options)

    def error(values: npt.NDArray[np.float64]) -> float:
        return float((read(values).predicted_index - labels).abs().double().mean())

    before, found = error(rows.values), []
    plain = rows.plain_columns
    places = {name: [place] for place, name in enumerate(plain)}
    if rows.texts is not None:
        places[rows.texts.column] = list(range(len(plain), len(rows.columns)))
    for name, columns in places.items():
        rises = []
        for _ in range(shuffles):
            values = rows.values.copy()
            values[:, columns] = values[rng.permutation(len(values))][:, columns]
            rises.append(error(values) - before)
        at, above = _values(rows, name) if name in plain else ([], []), []
        for value, _ in at:
            values = rows.values.copy()
            values[:, columns] = value
            above.append(tuple((1 - read(values).probs.double().cumsum(dim=1).mean(dim=0))[:-1].clamp(0, 1).tolist()))
        shown = tuple(shown for _, shown in at)
        rise, deviation = float(np.mean(rises)), float(np.std(rises))
        found.append(ColumnImportance(column=name, rise=rise, deviation=deviation, values=shown, above=tuple(above)))
    return tuple(sorted(found, key=lambda each: -each.rise))


def _values(rows: FeatureRows, name: str) -> list[tuple[float, float | str]]:
    """Values to set a column to, as in the rows and as they are shown."""
    column = rows.values[:, rows.columns.index(name)]
    known = column[~np.isnan(column)]
    if name in rows.categories:
        codes, counts = np.unique(known.astype(np.int64), return_counts=True)
        most = sorted(codes[np.argsort(-counts, kind="stable")][:_MOST_NAMES].tolist())
        return [(code, rows.categories[name][code]) for code in most]
    quantiles = np.unique(np.quantile(known, QUANTILES, method="nearest")) if known.size else known
    return [(value, value) for value in quantiles.tolist()]


@dataclass(frozen=True, kw_only=True)
class WordWeights:
    """What each word of a text does to the prediction: how far the expected class falls when it is left out."""

    words: list[str]
    weights: list[float]
    """In classes; shorter than `words` where the time was not enough for all."""


SECONDS = 5.0
"""For the words of one text."""
_WORDS_AT_ONCE = 16


def word_weights(
    probs_of: Callable[[list[dict[str, Any]]], torch.Tensor],
    row: Mapping[str, Any],
    column: str,
    *,
    seconds: float = SECONDS,
) -> WordWeights:
    """Leaves out one word after the other of the text in a column, and measures how far the expected class falls.

    `probs_of` gives the posteriors of rows such as this one.
    """
    words = str(row[column]).split()
    others = {name: None if value == "missing" else value for name, value in row.items()}

    def expected(texts: Sequence[str]) -> list[float]:
        probs = probs_of([{**others, column: text} for text in texts])
        found: list[float] = (probs @ torch.arange(probs.shape[1], dtype=probs.dtype)).tolist()
        return found

    (whole,), weights = expected([" ".join(words)]), list[float]()
    end = time.monotonic() + seconds  # the encoder is loaded by now
    while len(weights) < len(words) > 1 and time.monotonic() < end:
        first = len(weights)
        last = min(first + _WORDS_AT_ONCE, len(words))
        left = expected([" ".join(words[:each] + words[each + 1 :]) for each in range(first, last)])
        weights += [round(whole - each, 4) for each in left]
    return WordWeights(words=words, weights=weights)
