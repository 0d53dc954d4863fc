"""All test samples of one row of the table, as columns for fast filtering and sorting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from onepeak.metrics.functional.order import side_order_index
from onepeak.posterior import is_paradoxical
from onepeak.serving.inspector.filters import Filter
from onepeak.serving.inspector.said import Said

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


def samples_of(said: Mapping[str, Said]) -> Samples:
    """Combines the runs of one row.

    Args:
        said: The predictions of each run, by part.
    """
    columns: dict[str, list[npt.NDArray[np.generic]]] = {}
    for number, each in enumerate(said.values()):
        log_probs = torch.tensor(each.log_probs)  # a copy: arrays read from disk may be read-only
        predicted = torch.tensor(each.predicted)
        found: dict[str, npt.NDArray[np.generic]] = {
            "part": np.full(len(each.item), number, dtype=np.int64),
            "place": np.arange(len(each.item), dtype=np.int64),
            "item": each.item,
            "label": each.label,
            "predicted": each.predicted,
            "soi": side_order_index(log_probs, predicted).numpy().astype(np.float32),
            "paradoxical": is_paradoxical(log_probs).numpy(),
            "sure": log_probs.gather(1, predicted[:, None]).squeeze(1).exp().numpy(),
        }
        for name, column in found.items():
            columns.setdefault(name, []).append(column)
    return Samples(parts=tuple(said), **{name: np.concatenate(column) for name, column in columns.items()})


def chosen(samples: Samples, wanted: Filter, names: Mapping[str, Sequence[str]]) -> Integers:
    """Returns the positions of the matching samples, in the requested order; ties keep the order of the data.

    Args:
        samples: All samples of the row.
        wanted: The filter.
        names: The names of the samples of each part, for the search.
    """
    error = np.abs(samples.label - samples.predicted)
    keep: Choice = error >= wanted.min_error
    if wanted.part is not None:
        keep &= np.array([part == wanted.part for part in samples.parts], dtype=bool)[samples.part]
    if wanted.truth is not None:
        keep &= samples.label == wanted.truth
    if wanted.predicted is not None:
        keep &= samples.predicted == wanted.predicted
    if wanted.soi_below is not None:
        keep &= samples.soi < wanted.soi_below
    if wanted.paradoxical:
        keep &= samples.paradoxical
    if wanted.search.strip():
        sought = wanted.search.strip().casefold()
        keep &= np.concatenate([[sought in name.casefold() for name in names[part]] for part in samples.parts])
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
