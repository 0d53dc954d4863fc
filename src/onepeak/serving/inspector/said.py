"""The predictions of one run's model for its test samples, from disk or from a model run now."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from onepeak.errors import InputError
from onepeak.experiment.records import read_predictions
from onepeak.report.source import Source
from onepeak.serving.inspector.runs import Run


@dataclass(frozen=True, kw_only=True, eq=False)
class Said:
    """One posterior per sample."""

    item: npt.NDArray[np.int64]
    """The position of each sample in the run's data."""
    path: npt.NDArray[Any]
    """The path of each image, relative to the data's root; None for other data."""
    label: npt.NDArray[np.int64]
    predicted: npt.NDArray[np.int64]
    log_probs: npt.NDArray[np.float32]
    trained_on: npt.NDArray[np.bool_] | None = None
    """Whether the model was trained on each sample; None for the test part of a run, which it was not trained on."""
    calibrated: bool = False
    """Whether the posteriors are calibrated, as `predict` shows them; those of runs are raw."""

    @property
    def num_bytes(self) -> int:
        """Approximate memory use."""
        return int(self.log_probs.nbytes) + 100 * len(self.item)

    def learnt(self, place: int) -> bool:
        """Whether the model was trained on a sample."""
        return self.trained_on is not None and bool(self.trained_on[place])

    def known_by(self, place: int) -> tuple[int, str | None, int]:
        """Item, path and label of a sample, with which `Source` finds it in the data."""
        return int(self.item[place]), self.path[place], int(self.label[place])

    def name(self, place: int, source: Source) -> str:
        """Returns the name of a sample: its path, row or number, with its group if known."""
        name = source.name(*self.known_by(place))
        groups = None if source.manifest is None else source.manifest.groups
        where = None if groups is None else source.place(*self.known_by(place))
        return name if groups is None or where is None else f"{name} · {groups[where]}"

    def place(self, item: int) -> int | None:
        """Returns the position of a sample here; None if the run did not test it."""
        places = np.flatnonzero(self.item == item)
        return int(places[0]) if len(places) else None


def read_said(run: Run, num_classes: int) -> Said:
    """Reads the predictions for the test part of a run.

    Raises:
        InputError: The file is missing, damaged, or has other classes.
    """
    columns = ("item", "path", "label", "predicted", "log_probs")
    found = read_predictions(run.folder, columns=columns, part="test")
    said = Said(
        item=found["item"],
        path=found["path"],
        label=found["label"],
        predicted=found["predicted"],
        log_probs=found["log_probs"],
    )
    if len(said.item) and said.log_probs.shape[1] != num_classes:
        raise InputError(
            f"{run.folder} must hold posteriors over {num_classes} classes, got some over {said.log_probs.shape[1]}."
        )
    return said
