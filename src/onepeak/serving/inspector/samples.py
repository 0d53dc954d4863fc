"""All test samples of one row of the table, as columns that can be filtered and sorted in a moment."""

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
    """One entry per sample and part: who was tested on in two splits is here twice."""

    parts: tuple[str, ...]
    """Of the runs, in their order."""
    part: Integers
    """A position in `parts`."""
    place: Integers
    """Where the sample stands in what its run said."""
    item: Integers
    label: Integers
    predicted: Integers
    soi: Floats
    """To the label predicted."""
    paradoxical: Choice
    sure: Floats
    """The probability of the label predicted."""

    def __len__(self) -> int:
        return len(self.item)

    def part_of(self, index: int) -> str:
        """The split and fold of an entry."""
        return self.parts[int(self.part[index])]


def samples_of(said: Mapping[str, Said]) -> Samples:
    """Puts the runs of one row together.

    Args:
        said: What each run said, by part.
    """
    columns: dict[str, list[npt.NDArray[np.generic]]] = {}
    for number, each in enumerate(said.values()):
        log_probs = torch.tensor(each.log_probs)  # a copy: what is read from disk may not be written to
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
    """The positions of the samples asked for, in the order asked for; of equals, in the order of the data.

    Args:
        samples: All of the row.
        wanted: What is asked for.
        names: What the samples of each part are called, for the search.
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
