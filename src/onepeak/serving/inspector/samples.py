"""All test samples of one row of the table, as columns for fast filtering and sorting."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.errors import InputError
from onepeak.posterior.predictions import Predictions
from onepeak.report.source import Source
from onepeak.serving.inspector.inspection import Filter
from onepeak.serving.inspector.runs import FinishedRun
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
    """Reads the predictions for the test part of a run.

    Raises:
        InputError: The file is missing, damaged, or has other classes.
    """
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

    def __len__(self) -> int:
        return len(self.item)

    def part_of(self, index: int) -> str:
        """The split and fold of an entry."""
        return self.parts[int(self.part[index])]

    def is_of(self, part: str) -> Choice:
        """Whether each entry is of a split and fold."""
        return np.array([each == part for each in self.parts], dtype=bool)[self.part]


def samples_of(predictions: Mapping[str, RunPredictions]) -> Samples:
    """Combines the runs of one row.

    Args:
        predictions: The predictions of each run, by part.
    """
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
    flagged: Collection[tuple[str, int]] = (),
) -> Integers:
    """Returns the positions of the matching samples, in the requested order; ties keep the order of the data.

    Args:
        samples: All samples of the row.
        wanted: The filter.
        names: The names of the samples of each part, for the search and for groups.
        others: The predictions of the other row; -1 where it has none.
        widths: Classes in the interval of each sample; 0 where there is none.
        flagged: Parts and items of flagged samples.
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
    if wanted.flagged:
        keep &= np.array(
            [(samples.part_of(index), item) in flagged for index, item in enumerate(samples.item.tolist())]
        )
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
    raise ValueError(wanted.sort)
