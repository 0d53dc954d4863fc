"""Benchmarks are scripts beside the package; those that are more than a script are tested."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from run_folders import write_predictions, write_run

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def _load(name, file):
    """Makes one importable; with their folder on the path, its `training.py` would hide the tests' `training/`."""
    spec = spec_from_file_location(name, BENCHMARKS / file)
    sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


_load("reproduction", "reproduction/__init__.py")
_load("figure_names", "figure_names.py")
_load("paper", "paper.py")
_load("beyond", "beyond.py")
_load("deep_stem", "deep_stem.py")
_load("keep_records", "keep_records.py")
_load("catalog", "catalog.py")
_load("benchmark_page", "benchmark_page.py")
_load("benchmark", "benchmark.py")
_load("fit", "fit.py")


@pytest.fixture
def write_fgnet_run():
    """Writes a run as `keep_records.py` keeps it: the result, every tenth epoch and the chosen one, posteriors."""

    def write(root, method, split=0, *, epochs=300, chosen=53, predictions=False, **changes):
        record = {
            "dataset": "fgnet",
            "num_classes": 70,
            "sizes": (649, 145, 208),
            "epochs": epochs,
            "best_epoch": chosen,
            "selected_by": "mae",
            "calibration": {
                "temperature": 2.0,
                "test": {"rps": 3.0, "nll": 2.5, "interval_size": 20.0, "coverage": 0.9},
            },
            "method_settings": {},
        }
        if changes.get("variant") == "as_published":
            changes["label"] = f"{method}-as_published"
        place = write_run(root, method=method, split=split, **{**record, **changes})
        kept = np.array([epoch for epoch in range(epochs) if epoch % 10 == 0 or epoch == chosen])
        history = {
            "epoch": kept,
            "valid_loss": np.abs(kept - 20.0),  # lowest at epoch 20
            "valid_mae": np.where(kept == chosen, 4.0, 5.0 + kept / 100),
            "valid_soi_predicted": 0.5 + kept / 10_000,
        }
        pd.DataFrame(history).to_csv(place / "history.csv", index=False)
        if predictions:
            rng = np.random.default_rng(split)
            scores = rng.standard_normal((30, 70))
            log_probs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
            write_predictions(place, log_probs, rng.integers(0, 70, 30))
        return place

    return write


@pytest.fixture
def records(tmp_path, write_fgnet_run):
    """Three methods on three splits, of which ELB has two; LD in both forms."""
    for split, mae in enumerate((5.0, 6.0, 7.0)):
        write_fgnet_run(tmp_path, "ce", split, mae=mae, soi_predicted=0.53, unimodal=0.0, predictions=split == 0)
        write_fgnet_run(tmp_path, "mv", split, mae=mae - 1, soi_predicted=0.57, predictions=split == 0)
        write_fgnet_run(tmp_path, "pn", split, mae=mae, soi_predicted=0.6)
    write_fgnet_run(tmp_path, "elb", 0, mae=4.0, soi_predicted=0.99, unimodal=0.7, chosen=197)
    write_fgnet_run(tmp_path, "elb", 1, mae=4.5, soi_predicted=0.98, unimodal=0.8, chosen=210)
    write_fgnet_run(tmp_path, "ld", 0, mae=18.0, soi_predicted=0.52, variant="as_published", selected_by="loss")
    write_fgnet_run(tmp_path, "ld", 0, mae=4.0, soi_predicted=0.6)
    return tmp_path


@pytest.fixture
def runs(records):
    from reproduction.records import read_runs

    return read_runs(records)
