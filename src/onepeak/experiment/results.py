"""Reads the records of runs from the folder of `onepeak compare` or of a single `onepeak train`."""

from pathlib import Path
from typing import Any

import numpy as np

from onepeak._core.formats import numbers
from onepeak._core.imports import Frame, require
from onepeak.data.datasets import DATASETS
from onepeak.errors import InputError
from onepeak.experiment.published import FULL_PRECISION, UNKNOWN_WEIGHTS
from onepeak.experiment.run_files import read_json, result_files
from onepeak.methods.catalog import METHODS, SMOOTH, method
from onepeak.training.out_folder import DESCRIPTION, HISTORY, file_of_a_run
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


def read_history(run: str | Path) -> Frame:
    """Reads the history of one run: one row per epoch."""
    pandas = require("pandas", extra="data", purpose="Reading a history")
    path = file_of_a_run(Path(run), HISTORY)
    try:
        history: Frame = pandas.read_csv(path)
    except (ValueError, OSError) as error:  # pandas' own errors are ValueErrors
        raise InputError(
            f"{path} must be a history that onepeak wrote, got one that cannot be read: {error}"
        ) from error
    return history


def _sorted(frame: Frame) -> Frame:
    """Sorts by data set, method (a plain one before its variants), split and fold."""
    known = {record.name: place for place, record in enumerate(METHODS)}
    base = frame["method"].str.removeprefix(SMOOTH).str.partition("+")[0].map(known).fillna(len(known))
    keyed = frame.assign(_base=base, _varied=frame["label"] != frame["method"])
    order = keyed.sort_values(["dataset", "_base", "_varied", "method", "label", "split", "fold"], kind="stable").index
    return frame.loc[order]


def _row(path: Path, experiment: Path) -> dict[str, Any]:
    result = read_json(path)
    try:
        num_classes = _num_classes(result, path.parent)
        calibrated = numbers(result.get("calibration", {}).get("test", {}))
        constant = result.get("constant", {})
        same = ("method", "variant", "dataset", "protocol", "split", "fold", "seed", "epochs", "best_epoch", "seconds")
        return {
            "experiment": str(experiment),
            "label": result.get("label", result["method"]),
            **{name: result[name] for name in same},
            "most_epochs": result.get("recipe", {}).get("epochs", result["epochs"]),
            **{f"num_{part}": result["sizes"][part] for part in ("train", "valid", "test")},
            "num_valid_groups": (result.get("num_groups") or result["sizes"])["valid"],
            "selected_by": result.get("selected_by", "mae"),
            "settings": result.get("method_settings", {}),
            "tuned": result.get("tuned", {}),
            "recipe": result.get("recipe", {"epochs": result["epochs"]}),
            "precision": result.get("precision", FULL_PRECISION),
            "network": result.get("network", {}),
            "weights": result.get("weights", UNKNOWN_WEIGHTS) or "",
            "num_classes": num_classes,
            "temperature": result.get("calibration", {}).get("temperature", np.nan),
            **numbers({"constant_mae": constant.get("valid_mae"), "constant_test_mae": constant.get("test_mae")}),
            "off_by_class": bool(result.get("frequency_gap")),
            "decision": _decision(result, num_classes),
            "folder": str(path.parent),
            **{
                f"{part}_{name}": value
                for part, metrics in result["metrics"].items()
                for name, value in numbers(metrics).items()
            },
            **{f"test_{name}_calibrated": value for name, value in calibrated.items() if name in CALIBRATED},
            **{f"test_{INTERVALS[name]}": value for name, value in calibrated.items() if name in INTERVALS},
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} must be a result that onepeak wrote, got one that lacks {error}.") from error


def _num_classes(result: dict[str, Any], run: Path) -> float:
    """From the result, the model next to it, or the known data set; NaN if none of them has it."""
    if "num_classes" in result:
        return int(result["num_classes"])
    if (run / DESCRIPTION).exists():
        return len(read_json(run / DESCRIPTION).get("classes", ())) or np.nan
    dataset = result["dataset"]
    return len(DATASETS[dataset].classes) if dataset in DATASETS else np.nan


def _decision(result: dict[str, Any], num_classes: float) -> str:
    """The rule by which a method decides; empty for a user's own method outside the catalog."""
    if "decision" in result:
        return str(result["decision"])
    classes, settings = 2 if np.isnan(num_classes) else int(num_classes), result.get("method_settings", {})
    try:
        return method(result["method"], num_classes=classes, variant=result["variant"], **settings).decision
    except InputError:
        return ""
