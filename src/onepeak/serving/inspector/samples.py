"""The samples of all runs with their predictions: read on demand, cached within a memory bound, filtered, sorted."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from onepeak.errors import InputError
from onepeak.posterior import likely_label_errors, temper
from onepeak.posterior.predictions import Predictions
from onepeak.report.source import Source
from onepeak.serving.inspector.inspection import Filter
from onepeak.serving.inspector.runs import FinishedRun
from onepeak.training.calibration import ALPHA, Calibration, calibration_of
from onepeak.training.model_files import load_description
from onepeak.training.out_folder import DESCRIPTION
from onepeak.training.predictions_file import part_predictions


@dataclass(frozen=True, kw_only=True, eq=False)
class RunPredictions:
    """The predictions of a run or a model, with what the pages say of each."""

    predictions: Predictions
    """`items` are positions in the run's data, `sources` the paths of images relative to its root."""
    trained_on: npt.NDArray[np.bool_] | None = None
    """Whether the model was trained on each sample; None for the test part of a run, which it was not trained on."""
    calibrated: bool = False
    """Whether the posteriors are calibrated, as `predict` shows them; those of runs are raw."""

    def __len__(self) -> int:
        return len(self.predictions)

    @property
    def num_bytes(self) -> int:
        """Approximate memory use."""
        return self.predictions.log_probs.nbytes + 100 * len(self)

    def learnt(self, place: int) -> bool:
        """Whether the model was trained on a sample."""
        return self.trained_on is not None and bool(self.trained_on[place])

    def known_by(self, place: int) -> tuple[int, str | None, int]:
        """Item, path and label of a sample, with which `Source` finds it in the data."""
        found = self.predictions
        path = str(found.sources[place]) if found.sources else None
        return int(found.items[place]), path, int(found.truth[place])

    def name(self, place: int, source: Source) -> str:
        """Returns the name of a sample: its path, row or number, with its group if known."""
        name = source.name(*self.known_by(place))
        groups = None if source.manifest is None else source.manifest.groups
        where = None if groups is None else source.place(*self.known_by(place))
        return name if groups is None or where is None else f"{name} · {groups[where]}"

    def place(self, item: int) -> int | None:
        """Returns the position of a sample here; None if the run did not test it."""
        places = np.flatnonzero(self.predictions.items == item)
        return int(places[0]) if len(places) else None


def read_run_predictions(run: FinishedRun, num_classes: int) -> RunPredictions:
    """Reads the predictions for the test part of a run; an error tells of a file with other classes."""
    found = part_predictions(run.folder, "test")
    if len(found) and found.log_probs.shape[1] != num_classes:
        raise InputError(
            f"{run.folder} must hold posteriors over {num_classes} classes, got some over {found.log_probs.shape[1]}."
        )
    return RunPredictions(predictions=found)


Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Choice = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """One entry per sample and part: a sample that was tested in two splits appears twice."""

    parts: tuple[str, ...]
    """The parts of the runs, in order."""
    part: Integers
    """A position in `parts`."""
    place: Integers
    """The sample's position in its run's predictions."""
    item: Integers
    label: Integers
    predicted: Integers
    soi: Floats
    """With respect to the predicted label."""
    paradoxical: Choice
    sure: Floats
    """The probability of the predicted label."""
    distance: Floats
    """From the training samples, usually within 1; NaN where a run did not record it."""

    def __len__(self) -> int:
        return len(self.item)

    def part_of(self, index: int) -> str:
        """The split and fold of an entry."""
        return self.parts[int(self.part[index])]

    def is_of(self, part: str) -> Choice:
        """Whether each entry is of a split and fold."""
        return np.array([each == part for each in self.parts], dtype=bool)[self.part]


def samples_of(predictions: Mapping[str, RunPredictions]) -> Samples:
    """Combines the runs of one row, given by part."""
    columns: dict[str, list[npt.NDArray[np.generic]]] = {}
    for number, each in enumerate(predictions.values()):
        own = each.predictions
        found: dict[str, npt.NDArray[np.generic]] = {
            "part": np.full(len(own), number, dtype=np.int64),
            "place": np.arange(len(own), dtype=np.int64),
            "item": own.items,
            "label": own.truth.numpy(),
            "predicted": own.predicted_index.numpy(),
            "soi": own.soi.numpy(),
            "paradoxical": own.paradoxical.numpy(),
            "sure": own.log_probs.gather(1, own.predicted_index[:, None]).squeeze(1).exp().numpy(),
            "distance": np.full(len(own), np.nan, np.float32) if own.distance is None else own.distance.numpy(),
        }
        for name, column in found.items():
            columns.setdefault(name, []).append(column)
    return Samples(parts=tuple(predictions), **{name: np.concatenate(column) for name, column in columns.items()})


def chosen(
    samples: Samples,
    wanted: Filter,
    names: Mapping[str, Sequence[str]],
    *,
    others: Integers | None = None,
    widths: Integers | None = None,
    marked: Sequence[Choice] = (),
) -> Integers:
    """Returns the positions of the matching samples, in the requested order; ties keep the order of the data.

    `names` are by part, for the search and for groups; `others` are predictions of the other row, -1 where it has none;
    `widths` are classes in each interval, 0 where there is none; every sample must have each mark in `marked`.
    """
    error = np.abs(samples.label - samples.predicted)
    keep: Choice = error >= wanted.min_error
    if wanted.part is not None:
        keep &= samples.is_of(wanted.part)
    if wanted.truth is not None:
        keep &= samples.label == wanted.truth
    if wanted.predicted is not None:
        keep &= samples.predicted == wanted.predicted
    if wanted.soi_below is not None:
        keep &= samples.soi < wanted.soi_below
    if wanted.paradoxical:
        keep &= samples.paradoxical
    if others is not None and (wanted.beaten or wanted.differ):
        keep &= (others >= 0) & (np.abs(samples.predicted - others) >= wanted.differ)
        if wanted.beaten:
            keep &= (error > 0) & (others == samples.label)
    if widths is not None and wanted.min_width:
        keep &= widths >= wanted.min_width
    if wanted.min_distance:
        keep &= samples.distance >= wanted.min_distance  # false where it is not known
    for mark in marked:
        keep &= mark
    if wanted.search.strip():
        sought = wanted.search.strip().casefold()
        keep &= np.concatenate([[sought in name.casefold() for name in names[part]] for part in samples.parts])
    if wanted.group.strip():
        end = f" · {wanted.group.strip()}".casefold()
        keep &= np.concatenate([[name.casefold().endswith(end) for name in names[part]] for part in samples.parts])
    found = np.flatnonzero(keep)
    return found[np.lexsort((samples.item[found], _key(samples, wanted, error)[found]))]


def _key(samples: Samples, wanted: Filter, error: Integers) -> npt.NDArray[np.generic]:
    match wanted.sort:
        case "item":
            return samples.part
        case "error":
            return -error
        case "disorder":
            return samples.soi
        case "order":
            return -samples.soi
        case "unsure":
            return samples.sure
        case "sure":
            return -samples.sure
        case "distance":
            return -np.nan_to_num(samples.distance, nan=-1)
    raise ValueError(wanted.sort)


MOST_BYTES = 256 * 2**20
"""Memory for posteriors; those of fifty runs on ten thousand samples and seventy classes take 200 MB."""
_MOST_CALIBRATIONS = 1000


@final
class Archive:
    """Cached predictions of runs; thread-safe. `given` are predictions that are not on disk, by row and part."""

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
        self._marks: BoundedCache[Choice] = BoundedCache(most=MOST_BYTES, size=lambda mark: mark.nbytes)
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
        """Returns all samples of a row, ready to be filtered; an error if none of its runs can be read."""
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
        samples, known = self.samples(row), dict[tuple[str, int], int]()
        for part, theirs in self.of_row(other).items():
            pairs = zip(theirs.predictions.items.tolist(), theirs.predictions.predicted_index.tolist(), strict=True)
            known |= {(part, item): predicted for item, predicted in pairs}
        keys = zip((samples.parts[part] for part in samples.part), samples.item.tolist(), strict=True)
        return np.array([known.get(key, -1) for key in keys], dtype=np.int64)

    def widths(self, row: str) -> Integers:
        """Returns how many classes the interval of each sample of a row holds; 0 where there is no interval."""
        found = []
        for part, predictions in self.of_row(row).items():
            ends = interval_ends(predictions, self.calibration(self.runs[row, part]))
            nothing = np.zeros(len(predictions), dtype=np.int64)
            found.append(nothing if ends is None else (ends[:, 1] - ends[:, 0] + 1).numpy())
        return np.concatenate(found)

    def doubtful(self, row: str) -> Choice:
        """Returns whether the label of each sample of a row is likely wrong, by the posteriors of its test parts."""

        def find() -> Choice:
            found = [each.predictions for each in self.of_row(row).values() if len(each)]
            log_probs, truth = torch.cat([each.log_probs for each in found]), torch.cat([each.truth for each in found])
            return likely_label_errors(log_probs, truth).likely.numpy()

        return self._marks.get(("doubtful", row), find)

    def twins(self, row: str) -> Choice:
        """Returns whether each sample of a row nearly coincides with another of its part, as the network sees them."""

        def find() -> Choice:
            found = (each.predictions for each in self.of_row(row).values())
            return np.concatenate([near_duplicates(each.coordinates, len(each)) for each in found])

        return self._marks.get(("twins", row), find)

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


NEAR = 0.1
"""Samples are near-duplicates up to this share of the median distance of a sample from its nearest one."""
_AT_ONCE = 1000


def near_duplicates(coordinates: Tensor | None, number: int) -> Choice:
    """Returns which of so many samples lie far closer to another one than samples usually do.

    Example:
        >>> near_duplicates(torch.tensor([[0.0], [1.0], [2.0], [3.0], [3.01]]), 5)
        array([False, False, False,  True,  True])
        >>> near_duplicates(torch.tensor([[0.0], [0.0], [0.0], [1.0]]), 4)
        array([ True,  True,  True, False])
    """
    if coordinates is None or number < 2:
        return np.zeros(number, dtype=bool)
    nearest = torch.cat(
        [torch.cdist(each, coordinates).topk(2, largest=False).values[:, 1] for each in coordinates.split(_AT_ONCE)]
    )
    return (nearest <= NEAR * nearest.median()).numpy()


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
    """Values by key, up to a total size or a single larger one; the least recently used go first. Thread-safe."""

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
