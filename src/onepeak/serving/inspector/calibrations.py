"""The calibration of a run: that of its model or, where no model was kept, learnt from its validation part again."""

import torch

from onepeak.errors import InputError
from onepeak.experiment.records import read_predictions
from onepeak.serving.inspector.runs import Run
from onepeak.training.calibration import Calibration, calibration_of
from onepeak.training.evaluate import Predictions
from onepeak.training.file_names import DESCRIPTION
from onepeak.training.model_files import load_description


def read_calibration(run: Run) -> Calibration | None:
    """None where neither a model nor a validation part is there."""
    try:
        if (run.folder / DESCRIPTION).exists():
            return load_description(run.folder).calibration
        found = read_predictions(run.folder, columns=("item", "label", "predicted", "log_probs"), part="valid")
    except InputError:
        return None  # the page says that there is no interval
    if not len(found["item"]):
        return None
    return calibration_of(
        Predictions(
            indices=found["item"],
            labels=torch.tensor(found["label"]),
            predicted=torch.tensor(found["predicted"]),
            log_probs=torch.tensor(found["log_probs"]),
        )
    )
