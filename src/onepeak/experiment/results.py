"""Reads the records of runs from the folder of `onepeak compare` or of a single `onepeak train`."""

from pathlib import Path
from typing import Any

import numpy as np

from onepeak._core.imports import Frame, require
from onepeak.data.datasets import DATASETS
from onepeak.errors import InputError
from onepeak.experiment.published import FULL_PRECISION
from onepeak.experiment.run_files import RunResult, classes_of_model, read_run, result_files
from onepeak.methods.catalog import METHODS, SMOOTH, method
from onepeak.training.out_folder import read_history as read_history  # public here
from onepeak.training.predictions_file import read_predictions as read_predictions  # public here

CALIBRATED = ("rps", "nll")
"""The metrics that are also read for calibrated posteriors."""
INTERVALS = {"coverage": "interval_coverage", "interval_size": "interval_size"}
"""The metrics of intervals: their keys in a result, and their names in tables."""


def read_results(*folders: str | Path) -> Frame:
    """Reads one row per finished run, from one or more folders; failed and unfinished runs are skipped.

    Args:
        folders: The `--out` folders of `onepeak compare` or `onepeak train`.

    Returns:
        A table with the columns experiment (the folder), label (the row's name in tables), method, variant, settings
        (the given settings of the method, a dictionary), recipe (also a dictionary; for older results only the epochs),
        precision, dataset, protocol, split, fold, seed, epochs, best_epoch, seconds, most_epochs (those of the recipe;
        more than epochs if patience ended a run), num_train, num_valid, num_test, num_valid_groups (num_valid without
        groups), off_by_class (whether the mean probability of some class differs from its share of the validation
        part), num_classes, temperature, constant_mae and constant_test_mae, the validation and test errors of the best
        constant answer (NaN if not known), folder (the run's own), and one column per metric, such as `test_mae`.
        `test_rps_calibrated` and `test_nll_calibrated` are for calibrated posteriors; `test_interval_coverage` and
        `test_interval_size` are the share of true labels within 90 % intervals and their mean number of labels. A
        metric that no run has is left out. `decision` is how the method's label follows from its posterior ("mode",
        "median", "mean", ...), empty for a method outside the catalog. `tuned` holds the settings that a run chose on
        its validation part. `network` holds its backbone and pooling, empty for older results, and `weights` the name
        of the file of initial weights, empty for random ones and "unknown" for older results. The table is sorted
        within a folder, with methods as in the catalog, independently of the order in which runs finished.
    """
    if not folders or len({Path(folder).resolve() for folder in folders}) < len(folders):
        raise InputError(f"`folders` must name one or more different folders, got {[str(each) for each in folders]}.")
    pandas = require("pandas", extra="data", purpose="Reading results")
    frames = [pandas.DataFrame([_row(run, Path(folder)) for run in result_files(Path(folder))]) for folder in folders]
    found: Frame = pandas.concat([_sorted(frame) for frame in frames], ignore_index=True)
    return found


def _sorted(frame: Frame) -> Frame:
    """Sorts by data set, method (a plain one before its variants), split and fold."""
    known = {record.name: place for place, record in enumerate(METHODS)}
    base = frame["method"].str.removeprefix(SMOOTH).str.partition("+")[0].map(known).fillna(len(known))
    keyed = frame.assign(_base=base, _varied=frame["label"] != frame["method"])
    order = keyed.sort_values(["dataset", "_base", "_varied", "method", "label", "split", "fold"], kind="stable").index
    return frame.loc[order]


def _row(path: Path, experiment: Path) -> dict[str, Any]:
    run = read_run(path)
    num_classes = _num_classes(run, path.parent)
    calibrated = run.calibration.test
    same = ("method", "variant", "dataset", "protocol", "split", "fold", "seed", "epochs", "best_epoch", "seconds")
    return {
        "experiment": str(experiment),
        "label": run.label or run.method,
        **{name: getattr(run, name) for name in same},
        "most_epochs": run.most_epochs,
        **{f"num_{part}": run.sizes[part] for part in ("train", "valid", "test")},
        "num_valid_groups": (run.num_groups or run.sizes)["valid"],
        "selected_by": run.selected_by or "mae",
        "settings": run.method_settings,
        "tuned": run.tuned,
        "recipe": run.recipe or {"epochs": run.epochs},
        "precision": run.precision or FULL_PRECISION,
        "network": run.network,
        "weights": run.weights or "",
        "num_classes": num_classes,
        "temperature": run.calibration.temperature,
        "constant_mae": run.constant.valid_mae,
        "constant_test_mae": run.constant.test_mae,
        "off_by_class": bool(run.frequency_gap),
        "decision": _decision(run, num_classes),
        "folder": str(path.parent),
        **{f"{part}_{name}": value for part, metrics in run.metrics.items() for name, value in metrics.items()},
        **{f"test_{name}_calibrated": value for name, value in calibrated.items() if name in CALIBRATED},
        **{f"test_{INTERVALS[name]}": value for name, value in calibrated.items() if name in INTERVALS},
    }


def _num_classes(run: RunResult, folder: Path) -> float:
    """From the result, the model next to it, or the known data set; NaN if none of them has it."""
    if run.num_classes is not None:
        return run.num_classes
    if classes := classes_of_model(folder):
        return len(classes)
    return len(DATASETS[run.dataset].classes) if run.dataset in DATASETS else np.nan


def _decision(run: RunResult, num_classes: float) -> str:
    """The rule by which a method decides; empty for a user's own method outside the catalog."""
    if run.decision is not None:
        return run.decision
    classes, variant = 2 if np.isnan(num_classes) else int(num_classes), run.variant
    try:
        return method(run.method, num_classes=classes, variant=variant, **run.method_settings).decision
    except InputError:
        return ""
