"""How uncertain figures are that were measured on few samples: the percentile bootstrap, over groups or samples."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from onepeak._core.check import check_integer, check_number
from onepeak.errors import InputError

Figures: TypeAlias = Callable[[Tensor], Mapping[str, Tensor]]
"""Returns figures, one number each, for samples that count as often as their weights say."""
Interval: TypeAlias = tuple[float, float]
"""The lower and the upper end."""

FEWEST = 10
"""Fewest units to resample: with fewer, the intervals are far too short."""
_MOST_UNDEFINED = 0.05


def confidence_intervals(
    figures: Figures,
    units: npt.NDArray[np.int64],
    *,
    num_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    at_once: int = 1000,
) -> dict[str, Interval | None]:
    r"""The range in which each figure would lie, had other samples of the same kind been measured.

    Draws as many units as there are, with replacement, again and again. The interval of a figure goes from the
    :math:`(1 - \text{level}) / 2` quantile of its values to the :math:`(1 + \text{level}) / 2` quantile. A unit is a
    sample, or all samples of a group such as a patient: they resemble each other, and are drawn together. The figures
    need not be means.

    Args:
        figures: All figures of weighted samples. It is called under `torch.func.vmap`, which computes what does not
            depend on the weights only once. Every metric of the catalog can be called so.
        units: For each sample the number of its unit; numbers may be left out.
        num_resamples: Number of times that units are drawn.
        level: The probability of the interval.
        seed: The same seed gives the same intervals.
        at_once: Most resamples that are computed together; memory grows with it, the intervals do not depend on it.

    Returns:
        An interval for each figure; None if there are fewer than `FEWEST` units, if more than 5 % of the resamples have
        no finite value, or if both ends are equal: resampling cannot tell how often something happens that did not.

    Example:
        >>> errors = torch.tensor([0.0, 1.0] * 50)
        >>> mean_error = lambda weights: {"mae": (weights * errors).sum() / weights.sum()}
        >>> confidence_intervals(mean_error, np.arange(100))
        {'mae': (0.4, 0.6)}

    Reference: Efron, Tibshirani 1993, An introduction to the bootstrap, chapter 13; Field, Welsh 2007, Bootstrapping
    clustered data.
    """
    check_integer("num_resamples", num_resamples, minimum=1)
    check_integer("at_once", at_once, minimum=1)
    check_number("level", level, above=0, below=1)
    _check_units(units)
    names, units = np.unique(units, return_inverse=True)
    num_units = len(names)
    if num_units < FEWEST:
        return dict.fromkeys(_values(figures, torch.ones(1, len(units), dtype=torch.float64)))
    random = np.random.default_rng(seed)
    sizes = [min(at_once, num_resamples - start) for start in range(0, num_resamples, at_once)]
    drawn = [_figures_of_some(figures, units, num_units, size, random) for size in sizes]
    return {name: _interval(np.concatenate([some[name] for some in drawn]), level) for name in drawn[0]}


def _check_units(units: npt.NDArray[np.int64]) -> None:
    if not isinstance(units, np.ndarray) or units.ndim != 1 or not np.issubdtype(units.dtype, np.integer):
        shown = f"{units.dtype} of shape {units.shape}" if isinstance(units, np.ndarray) else type(units).__name__
        raise InputError(f"`units` must be a NumPy array of integers, one per sample, got {shown}.")
    if len(units) and units.min() < 0:
        raise InputError(f"`units` must be integers >= 0, got {units.min()}.")


def _figures_of_some(
    figures: Figures, units: npt.NDArray[np.int64], num_units: int, size: int, random: np.random.Generator
) -> dict[str, npt.NDArray[np.float64]]:
    """Draws `size` resamples, and returns every figure of each."""
    draws = (random.integers(num_units, size=num_units) for _ in range(size))
    counts = np.stack([np.bincount(draw, minlength=num_units) for draw in draws])
    weights = torch.from_numpy(counts[:, units].astype(np.float64))
    values = _values(figures, weights)
    return {name: value.double().numpy().copy() for name, value in values.items()}  # not views of large tables


def _values(figures: Figures, weights: Tensor) -> dict[str, Tensor]:
    try:
        return torch.func.vmap(lambda each: dict(figures(each)))(weights)
    except RuntimeError as error:
        raise InputError(
            f"`figures` must take {weights.shape[1]} weights, one for each of `units`, under torch.func.vmap, "
            f"got: {error}"
        ) from error


def _interval(values: npt.NDArray[np.float64], level: float) -> Interval | None:
    defined = values[np.isfinite(values)]
    if len(defined) < (1 - _MOST_UNDEFINED) * len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return None if np.isclose(low, high, rtol=1e-9, atol=1e-12) else (float(low), float(high))
