"""The predictions of all runs, read from disk on demand and cached within a memory bound."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, final

import numpy as np
from torch import Tensor

from onepeak.errors import InputError
from onepeak.posterior import temper
from onepeak.report.source import Source
from onepeak.serving.inspector.runs import FinishedRun
from onepeak.serving.inspector.samples import Integers, RunPredictions, Samples, read_run_predictions, samples_of
from onepeak.training.calibration import ALPHA, Calibration, calibration_of
from onepeak.training.model_files import load_description
from onepeak.training.out_folder import DESCRIPTION
from onepeak.training.predictions_file import part_predictions

MOST_BYTES = 256 * 2**20
"""Memory for posteriors; those of fifty runs on ten thousand samples and seventy classes take 200 MB."""
_MOST_CALIBRATIONS = 1000


@final
class Archive:
    """Cached predictions of runs; thread-safe.

    Args:
        runs: All runs.
        num_classes: The number of classes of their posteriors.
        given: Predictions that are not on disk, by row and part.
    """

    def __init__(
        self, runs: Sequence[FinishedRun], num_classes: int, given: Mapping[tuple[str, str], RunPredictions]
    ) -> None:
        self.runs = {(run.row, run.part): run for run in runs}
        self.num_classes = num_classes
        self._given = given
        self._predictions: BoundedCache[RunPredictions] = BoundedCache(
            most=MOST_BYTES, size=lambda predictions: predictions.num_bytes
        )
        self._calibrations: BoundedCache[Calibration | None] = BoundedCache(most=_MOST_CALIBRATIONS, size=lambda _: 1)
        self._samples: dict[str, Samples] = {}
        self._names: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def predictions(self, run: FinishedRun) -> RunPredictions | None:
        """Returns the predictions of a run; None if they cannot be read, so that the other runs can be shown."""
        key = run.row, run.part
        if key in self._given:
            return self._given[key]
        try:
            return self._predictions.get(key, lambda: read_run_predictions(run, self.num_classes))
        except InputError:
            return None

    def of_part(self, part: str, item: int) -> Iterator[tuple[FinishedRun, RunPredictions, int]]:
        """Yields the runs that tested a sample in one part, their predictions, and the sample's position in them."""
        for (_, own), run in self.runs.items():
            predictions = self.predictions(run) if own == part else None
            place = None if predictions is None else predictions.place(item)
            if predictions is not None and place is not None:
                yield run, predictions, place

    def of_row(self, row: str, part: str | None = None) -> dict[str, RunPredictions]:
        """Returns the predictions of the runs of a row, by part; for one part or for all."""
        runs = [run for (own, each), run in self.runs.items() if own == row and part in (None, each)]
        return {run.part: predictions for run in runs if (predictions := self.predictions(run)) is not None}

    def samples(self, row: str) -> Samples:
        """Returns all samples of a row, ready to be filtered.

        Raises:
            InputError: None of its runs can be read.
        """
        with self._lock:
            if row not in self._samples:
                predictions = self.of_row(row)
                if not predictions:
                    raise InputError(f"`{row}` must have runs whose predictions can be read, got none.")
                self._samples[row] = samples_of(predictions)
            return self._samples[row]

    def names(self, row: str, source: Source) -> dict[str, list[str]]:
        """Returns the names of the samples of each part of a row; a part's names are the same for every row."""
        for part, predictions in self.of_row(row).items():
            if part not in self._names:  # at worst made twice, with the same result
                self._names[part] = [predictions.name(place, source) for place in range(len(predictions))]
        return self._names

    def others(self, row: str, other: str) -> Integers:
        """Returns the prediction of another row for each sample of a row; -1 where it has none."""
        samples, rows = self.samples(row), self.of_row(other)
        found = np.full(len(samples), -1, dtype=np.int64)
        for number, part in enumerate(samples.parts):
            theirs = rows[part].predictions if part in rows else None
            if theirs is None or not len(theirs):
                continue
            own = np.flatnonzero(samples.part == number)
            order = np.argsort(theirs.items, kind="stable")
            places = order[np.searchsorted(theirs.items, samples.item[own], sorter=order).clip(max=len(order) - 1)]
            same = theirs.items[places] == samples.item[own]
            found[own[same]] = theirs.predicted_index.numpy()[places[same]]
        return found

    def widths(self, row: str) -> Integers:
        """Returns how many classes the interval of each sample of a row holds; 0 where there is no interval."""
        found = []
        for part, predictions in self.of_row(row).items():
            ends = interval_ends(predictions, self.calibration(self.runs[row, part]))
            nothing = np.zeros(len(predictions), dtype=np.int64)
            found.append(nothing if ends is None else (ends[:, 1] - ends[:, 0] + 1).numpy())
        return np.concatenate(found)

    def parts_with(self, item: int) -> tuple[str, ...]:
        """Returns the parts that tested a sample; all rows agree, so one run per part is read."""
        tested: dict[str, bool] = {}
        for (_, part), run in self.runs.items():
            predictions = None if part in tested else self.predictions(run)
            if predictions is not None:
                tested[part] = predictions.place(item) is not None
        return tuple(part for part, here in tested.items() if here)

    def calibration(self, run: FinishedRun) -> Calibration | None:
        """Returns the calibration of a run's model."""
        return self._calibrations.get((run.row, run.part), lambda: read_calibration(run))


def read_calibration(run: FinishedRun) -> Calibration | None:
    """Reads the calibration of a run's model, or learns it from its validation part; None without either."""
    try:
        if (run.folder / DESCRIPTION).exists():
            return load_description(run.folder).calibration
        valid = part_predictions(run.folder, "valid")
    except InputError:
        return None  # the page says that there is no interval
    return calibration_of(valid) if len(valid) else None


def interval_ends(predictions: RunPredictions, calibration: Calibration | None) -> Tensor | None:
    """Returns the lowest and the highest class of each interval; None if the model was not calibrated."""
    if calibration is None or not calibration.allows(ALPHA):
        return None
    own = predictions.predictions
    raw = temper(own.log_probs, 1 / calibration.temperature) if predictions.calibrated else own.log_probs
    return calibration.intervals(raw, own.predicted_index, ALPHA)


Value = TypeVar("Value")


@final
class BoundedCache(Generic[Value]):
    """Values by key, up to a total size; the least recently used go first. Thread-safe.

    Args:
        most: The most that all values may take together; a single value may be larger.
        size: The size of a value.

    Example:
        >>> cache = BoundedCache(most=10, size=len)
        >>> cache.get("a", lambda: "six...") + cache.get("a", lambda: "never made")
        'six...six...'
        >>> _ = cache.get("b", lambda: "seven..")
        >>> cache.get("a", lambda: "again")
        'again'
    """

    def __init__(self, *, most: int, size: Callable[[Value], int]) -> None:
        self.most = most
        self.size = size
        self.total = 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Returns the value at a key, made if missing; two threads may make it at once, which does no harm."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self.total += self.size(value)
            while self.total > self.most and len(self._values) > 1:
                _, oldest = self._values.popitem(last=False)
                self.total -= self.size(oldest)
        return value
